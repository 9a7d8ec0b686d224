package reviews_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
)

var update = flag.Bool("update", false, "write rules.md anew")

func TestListOfRulesIsCurrent(t *testing.T) {
	if *update {
		if err := os.WriteFile("rules.md", []byte(rulesTable()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile("rules.md"); err != nil || string(have) != rulesTable() {
		t.Errorf("rules.md is not the list of rules: go test ./reviews -run ListOfRules -update writes it (%v)", err)
	}
}

// rulesTable is the list of rules as rules.md has it.
func rulesTable() string {
	var out strings.Builder
	out.WriteString("# The rules of the reviews import format\n\n" +
		"Generated from the table in rules.go. A problem names the rule it is about. “Source” says where a rule comes\n" +
		"from: the format itself, RFC 8259, or Vitrine where both leave it open. “Schema” marks rules that " +
		"RecordSchema\n" +
		"states too, as far as a JSON Schema can.\n\n" +
		"| Rule | Severity | What must hold | Source | Schema |\n|---|---|---|---|---|\n")
	for _, r := range reviews.Rules() {
		schema := ""
		if r.Schema {
			schema = "yes"
		}
		text := strings.NewReplacer("<", "&lt;", "|", "&#124;").Replace(r.Text)
		out.WriteString("| " +
			strings.Join([]string{"`" + r.ID + "`", string(r.Severity), text, r.Source, schema}, " | ") + " |\n")
	}
	out.WriteString("\n## An example of each\n\nWhat is wrong, and behind it what is right: lines, reviews, or " +
		"members of either.\n")
	for _, r := range reviews.Rules() {
		wrong := r.Wrong
		if wrong == "" {
			wrong = "(nothing)"
		}
		out.WriteString("\n`" + r.ID + "`\n\n    " + strings.ReplaceAll(wrong, "\n", "\n    ") + "\n    " + r.Right +
			"\n")
	}
	return out.String()
}

func TestRulesHaveIDsOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range reviews.Rules() {
		if seen[r.ID] || r.ID == "" || r.Text == "" || r.Source == "" || r.Severity != reviews.SeverityError &&
			r.Severity != reviews.SeverityWarning {
			t.Errorf("%+v", r)
		}
		seen[r.ID] = true
	}
	reviews.Rules()[0].ID = "changed"
	if reviews.Rules()[0].ID == "changed" {
		t.Error("the table can be changed from outside")
	}
}
