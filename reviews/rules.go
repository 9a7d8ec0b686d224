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
//
//   - An error in a member of a collection rejects the line with all of its reviews. An error in a review rejects that
//     review. A line that is not JSON, not UTF-8, nested deeper than 64 levels, or longer than 32 MiB, is rejected and
//     has that one problem. Such a line is not counted as a collection, and its reviews are not counted. Reading goes
//     on with the next line.
//   - A value is rejected if its member is unknown or repeated, or if its type is wrong. It is searched for repeated
//     names, U+0000 and halves of surrogate pairs, and for nothing else. Repeated names are found among the first 4,096
//     different unknown names of an object; a later name is compared with these alone.
//   - The rule body-html reports only the first fault of each text. White space inside a tag is allowed where HTML
//     allows it. An href, an imported_url and a time may have 64 KiB.
//   - A repeated id is an error also if the review or the collection that had it first was rejected, unless the line of
//     the first was not JSON. Ids are compared as the text that they decode to, whatever escapes they are written with.
//
// # Warnings about the whole file
//
// Some mistakes break no rule of a value, and show in the file as a whole. A warning rejects nothing. Each of these
// rules gives one warning for a file, after all other problems, once the file was read to its end:
//
//   - scale: the file has 20 ratings or more, and none above 10. They may be stars: 1 to 5 become 20 to 100.
//   - id-text: an id of a collection decodes to bytes that are not printable UTF-8. Then it was probably not encoded:
//     kettle and 8812 are valid Base64 by chance.
//   - created-future: a time is more than 14 hours after the clock (ReadOptions.Now). A local time may be so far ahead
//     of UTC.
//   - email: an imported_email is neither empty nor null, and does not look like an email address.
//   - overwrite: an import, or a dry run, changes more than half of the reviews that were stored in the network. It is
//     compared with the network as a whole, so a network with one review has this warning if the file changes that
//     review.
//
// A warning of id-text, created-future or email is at the first such value of the file, and its message has the number
// of them. The other two are at line 1.
//
// # Files of another kind
//
// A file may look like one JSON array, JSON over several lines or a table. If no line of it is a record, its only
// problem is that it is of this kind (rule file-kind): a table of a million lines has one problem, and not a million.
// The same is said of a file in a binary form: a zip or tar archive, a spreadsheet, UTF-16, a file that is compressed
// with something else than gzip. No line of it is a record, also if it looks like one: an archive that does not
// compress has the lines of its files as they are.
//
// So the problems of a file of text wait until the first record is found, and are reported then. If a thousand of them
// wait and no record was found, file-kind is reported in their place. Problems that follow are dropped until there is a
// record, and reported from there on.
//
// A JSON array may have an element on each line, with a comma after every element but the last. The last element alone
// looks like a record of NDJSON. So in a file that begins with [, the first record after a line that is a JSON value
// and a comma does not count as a record. If a further record follows, the file is not a JSON array, and the line that
// did not count is an error. It is reported unless file-kind was reported before.
//
// A file that is empty, or has only blank lines, gets the warning file-empty.
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
