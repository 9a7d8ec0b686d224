package schemaguard_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
)

// TestPublicSuite runs what the module qri-io/jsonschema carries of the public JSON Schema test
// suite: every schema is taken but those with remote references, and every verdict is right.
func TestPublicSuite(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/qri-io/jsonschema").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		t.Skip("the module is not at hand")
	}
	for folder, draft := range map[string]string{"draft4": draft4, "draft6": draft6, "draft7": draft7,
		"draft2019-09": draft2019} {
		t.Run(folder, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(dir, "testdata", folder, "*.json"))
			if err != nil || len(files) == 0 {
				t.Skip("the module has no suite")
			}
			tests := 0
			for _, file := range files {
				if base := filepath.Base(file); base != "refRemote.json" && !strings.Contains(base, "_modified") {
					tests += runSuite(t, file, draft)
				}
			}
			if tests < 400 {
				t.Errorf("only %d tests ran", tests)
			}
		})
	}
}

func runSuite(t *testing.T, file, draft string) (tests int) {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []struct {
		Description string
		Schema      json.RawMessage
		Tests       []struct {
			Description string
			Data        json.RawMessage
			Valid       bool
		}
	}
	if err := json.Unmarshal(raw, &groups); err != nil {
		t.Fatal(err)
	}
	for _, group := range groups {
		text := bytes.TrimSpace(group.Schema)
		if text[0] == '{' && !bytes.Contains(text, []byte(`"$schema"`)) {
			comma := ","
			if bytes.Equal(bytes.TrimSpace(text[1:]), []byte("}")) {
				comma = ""
			}
			text = []byte("{" + draft + comma + string(text[1:]))
		}
		schema, err := schemaguard.Compile(text)
		if err != nil {
			t.Errorf("%s, %s: %v", filepath.Base(file), group.Description, err)
			continue
		}
		for _, test := range group.Tests {
			tests++
			config, err := jsonschema.UnmarshalJSON(bytes.NewReader(test.Data))
			if err != nil {
				t.Fatal(err)
			}
			found, err := schema.Validate(new(schemaguard.Usage), "", config)
			if err != nil || (len(found) == 0) != test.Valid {
				t.Errorf("%s, %s, %s: have %v, %v, want valid %v", filepath.Base(file), group.Description,
					test.Description, found, err, test.Valid)
			}
		}
	}
	return tests
}
