package peers_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vitrine-go/vitrine/reviews"
)

// The schema accepts what Check accepts, and refuses some sample of each rule that it states.
func TestSchemaAgreesWithTheSamples(t *testing.T) {
	schema := compileSchema(t)
	for _, rule := range reviews.Rules() {
		lines := samples(t, rule.ID)
		refused := 0
		for _, line := range lines {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
			if err != nil {
				continue // no JSON
			}
			if schema.Validate(v) == nil {
				continue
			}
			refused++
			if accepted(t, line) {
				t.Errorf("%s: accepted, but not by the schema: %s", rule.ID, line)
			}
		}
		if rule.Schema && refused == 0 {
			t.Errorf("the schema refuses none of %d samples of %s", len(lines), rule.ID)
		}
	}
}

// samples are the lines of testdata that are about a rule, without their marks.
func samples(t *testing.T, rule string) (lines [][]byte) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "rules", rule+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.SplitSeq(bytes.ReplaceAll(data, []byte("⟦"), nil), []byte("\n")) {
		if !bytes.HasPrefix(line, []byte("ok")) && !bytes.HasPrefix(line, []byte("bad ")) && len(line) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

func accepted(t *testing.T, line []byte) bool {
	t.Helper()
	for p, err := range reviews.Check(bytes.NewReader(line), nil).Problems() {
		if err != nil {
			t.Fatal(err)
		}
		if p.Severity == reviews.SeverityError {
			return false
		}
	}
	return true
}
