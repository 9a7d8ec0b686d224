package reviews

import "github.com/vitrine-go/vitrine/reviews/internal/format"

// Rule is one rule of the import format. A file breaks it if a Problem has its ID. The texts are for people and
// programs that explain problems; the code that applies a rule does not read them.
type Rule struct {
	ID       string   `json:"id"`       // stable; the value of Problem.Rule
	Severity Severity `json:"severity"` // of a problem with this rule
	Text     string   `json:"text"`     // what the rule requires
	// where the rule comes from: "format", "RFC 8259", or "Vitrine" for what both leave open
	Source string `json:"source"`
	Schema bool   `json:"schema"` // whether RecordSchema states it too

	// Wrong breaks this rule and no other, and Right satisfies it. Both are lines of a file, or a review, or a member
	// of a review or of a collection. In Wrong of the rule utf-8, \xe9 means that byte. A value that would be too long
	// is replaced by a description, such as "1,001 names".
	Wrong string `json:"wrong"`
	Right string `json:"right"`
}

// Rules returns every rule of the format, in the order of rules.md: first JSON and members in general, then the
// collection, its reviews, and last the rules about the file and the store. The caller may change the slice.
func Rules() []Rule {
	out := make([]Rule, len(format.Rules))
	for i, r := range format.Rules {
		out[i] = Rule{r.ID, severityOf(format.RuleID(i)), r.Text, r.Source, r.Schema, r.Wrong, r.Right}
	}
	return out
}

func severityOf(rule format.RuleID) Severity {
	if rule.Rejects() {
		return SeverityError
	}
	return SeverityWarning
}
