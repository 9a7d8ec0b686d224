package reviews

import (
	"slices"
	"strings"
)

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

// rightLine is a record that satisfies every rule.
const rightLine = `{"source":"example.test","title":"Lamp","created":"2019-04-03T00:00:00Z","id":"bGFtcA==",` +
	`"dimensions":["default"],"reviews":[]}`

// Rules returns every rule of the format, in the order of rules.md: first JSON and members in general, then the
// collection, its reviews, and last the rules about the file and the store. The caller may change the slice.
func Rules() []Rule {
	return slices.Clone(rules[:])
}

// ruleID is the index of a rule in the table rules. The code that applies a rule refers to it by its ruleID, and
// ruleID.problem takes the ID and the severity of the problem from the table. The order of the constants is the order
// of Rules and of rules.md.
type ruleID uint8

const (
	ruleJSON ruleID = iota
	ruleUTF8
	ruleDepth
	ruleTooLong
	ruleObject
	ruleMissing
	ruleUnknown
	ruleRepeated
	ruleType
	ruleNUL
	ruleSurrogate
	ruleEmpty
	ruleTimestamp
	ruleIDBase64
	ruleIDLength
	ruleCollectionRepeated
	ruleDimensionsAbsent
	ruleDimensionsNone
	ruleDimensionsMany
	ruleDimensionRepeated
	ruleDimensionSingle
	ruleReviewRepeated
	ruleParent
	ruleRatingsCount
	ruleRatingInteger
	ruleRatingRange
	ruleAuthorMissing
	ruleAuthorConflict
	ruleAuthorLength
	ruleURL
	ruleHTML
	ruleStoredDimensions
	ruleFileKind
	ruleFileEmpty
	ruleScale // this rule and the following ones: one warning for the file, see fileChecker.odd
	ruleIDText
	ruleFuture
	ruleEmail
	ruleOverwrite
	ruleCount
)

// The values of Rule.Source. A rule of the format is part of its description. A rule of RFC 8259 applies to all JSON
// that programs exchange. A rule of Vitrine decides what both leave open, such as a limit.
const (
	sourceFormat  = "format"
	sourceJSON    = "RFC 8259"
	sourceVitrine = "Vitrine"
)

// rules is the list of all rules. rules.md is generated from it, and tests check every example: Wrong breaks the rule
// and no other, and Right satisfies all rules. Each rule is applied by the code that reports its ruleID:
//
//	linechecker.go                      json, utf-8, json-depth, members and types
//	values.go                           texts, times, addresses, body_html
//	collectioncheck.go, reviewcheck.go  the members of a collection and of a review, and the rules between them
//	filechecker.go                      collection-repeated, file-kind, file-empty, scale
//	dimensions.go, import.go            stored-dimensions, overwrite
//
// To add a rule: add a constant and an entry, report it with a message that says what would be right, add cases to
// testdata/rules, and run the tests with -update to generate rules.md. If a JSON Schema can state the rule, add it to
// schema.json too.
var rules = [ruleCount]Rule{
	ruleJSON: {"json", SeverityError, "A line holds one JSON value and nothing after it.", sourceFormat, false,
		`{"source":"example.test","title":"Lamp"`, rightLine},
	ruleUTF8: {"utf-8", SeverityError, "A line is valid UTF-8.", sourceJSON, false, `"title":"Caf\xe9"`,
		`"title":"Café"`},
	ruleDepth: {"json-depth", SeverityError, "Arrays and objects are nested at most 64 deep.", sourceVitrine, false,
		`"subparts":` + strings.Repeat("[", 62) + strings.Repeat("]", 62), `"subparts":{"colour":"red"}`},
	ruleTooLong: {"line-too-long", SeverityError, "A line has at most 32 MiB, or what the options say.",
		sourceVitrine, false, `"title":"a text of 33 MiB"`, `"title":"a text of 31 MiB"`},
	ruleObject: {"record-object", SeverityError, "The record of a line is a JSON object.", sourceFormat, true,
		`"bGFtcA=="`, rightLine},
	ruleMissing: {"member-missing", SeverityError,
		"A collection has source, title, created, id and reviews; a review has id, title, body_html, created and " +
			"ratings.", sourceFormat, true,
		`{"id":"1","title":"Bright","created":"2019-04-03T00:00:00Z","ratings":[80],"author_id":"7"}`,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],"author_id":"7"}`},
	ruleUnknown: {"member-unknown", SeverityError,
		"There are no members but those of the format; extra data belongs in subparts.", sourceVitrine, true,
		`"colour":"red"`, `"subparts":{"colour":"red"}`},
	ruleRepeated: {"member-repeated", SeverityError, "No object has two members of the same name.", sourceVitrine,
		false, `"subparts":{"colour":"red","colour":"blue"}`, `"subparts":{"colour":"red","second colour":"blue"}`},
	ruleType: {"value-type", SeverityError,
		"A value has the JSON type of its field; subparts holds strings only, and only imported_email and " +
			"imported_url may be null.", sourceFormat, true, `"id":17`, `"id":"17"`},
	ruleNUL: {"text-nul", SeverityError, "No string holds U+0000.", sourceVitrine, false,
		`"title":"Bright\u0000"`, `"title":"Bright"`},
	ruleSurrogate: {"text-surrogate", SeverityError, "No string holds half of a surrogate pair.", sourceJSON, false,
		`"title":"Bright \ud83d"`, `"title":"Bright \ud83d\ude00"`},
	ruleEmpty: {"text-empty", SeverityError,
		"source, every id, imported_display_name and the names of dimensions are not empty.", sourceVitrine, true,
		`"source":""`, `"source":"example.test"`},
	ruleTimestamp: {"timestamp", SeverityError,
		"A time is YYYY-MM-DDThh:mm:ss, then a fraction if any, then Z, ±hh:mm or nothing (UTC); the date exists, " +
			"the year is 0001 to 9999, seconds go to 59, hours to 23, the offset is below 24 hours.", sourceFormat,
		false, `"created":"03/04/2019"`, `"created":"2019-04-03T00:00:00Z"`},

	ruleIDBase64: {"collection-id-base64", SeverityError,
		"The id of a collection is Base64 in the standard or the URL alphabet, not in both, padded or not, and " +
			"decodes to at least one byte.", sourceFormat, false, `"id":"article-1"`, `"id":"YXJ0aWNsZS0x"`},
	ruleIDLength: {"collection-id-length", SeverityError,
		"The id of a collection has at most 150 characters.", sourceFormat, true,
		`"id":"` + strings.Repeat("YXJ0aWNsZS0x", 13) + `"`, `"id":"YXJ0aWNsZS0x"`},
	ruleCollectionRepeated: {"collection-repeated", SeverityError, "A file holds a collection (source and id) once.",
		sourceVitrine, false, rightLine + "\n" + rightLine, rightLine},
	ruleDimensionsAbsent: {"dimensions-absent", SeverityWarning,
		"dimensions is given; absent, it is taken as [\"default\"].", sourceFormat, false,
		`{"source":"example.test","title":"Lamp","created":"2019-04-03T00:00:00Z","id":"bGFtcA==","reviews":[]}`,
		rightLine},
	ruleDimensionsNone: {"dimensions-none", SeverityError, "dimensions holds at least one name.", sourceVitrine,
		true, `"dimensions":[]`, `"dimensions":["default"]`},
	ruleDimensionsMany: {"dimensions-many", SeverityError, "dimensions holds at most 1,000 names.", sourceVitrine,
		true, `"dimensions":["1,001 names"]`, `"dimensions":["price","quality"]`},
	ruleDimensionRepeated: {"dimension-repeated", SeverityError, "A dimension is named once.", sourceVitrine, true,
		`"dimensions":["price","price"]`, `"dimensions":["price","quality"]`},
	ruleDimensionSingle: {"dimensions-single", SeverityError, "A single dimension is named default.", sourceFormat,
		true, `"dimensions":["quality"]`, `"dimensions":["default"]`},

	ruleReviewRepeated: {"review-repeated", SeverityError, "A collection holds a review id once.", sourceVitrine, false,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],"author_id":"7"},` +
			`{"id":"1","title":"Heavy","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[20],"author_id":"8"}`,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],"author_id":"7"},` +
			`{"id":"2","title":"Heavy","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[20],` +
			`"author_id":"8"}`},
	ruleParent: {"parent", SeverityError, "parent_id names an earlier, accepted review of the same line.",
		sourceVitrine, false,
		`{"id":"2","parent_id":"1","title":"","body_html":"No.","created":"2019-04-04T00:00:00Z","ratings":[80],` +
			`"author_id":"8"}`,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],"author_id":"7"},` +
			`{"id":"2","parent_id":"1","title":"","body_html":"No.","created":"2019-04-04T00:00:00Z","ratings":[80],` +
			`"author_id":"8"}`},
	ruleRatingsCount: {"ratings-count", SeverityError, "A review has one rating for each dimension.", sourceFormat,
		false, `"ratings":[80,20]`, `"ratings":[80]`},
	ruleRatingInteger: {"rating-integer", SeverityError,
		"A rating is written as a JSON integer: 5, not 5.0 and not 5e0.", sourceFormat, false, `"ratings":[80.0]`,
		`"ratings":[80]`},
	ruleRatingRange: {"rating-range", SeverityError, "A rating is from 1 to 100.", sourceFormat, true,
		`"ratings":[101]`, `"ratings":[100]`},
	ruleAuthorMissing: {"author-missing", SeverityError, "A review has author_id or imported_display_name.",
		sourceFormat, true,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80]}`,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],` +
			`"imported_display_name":"user-1"}`},
	ruleAuthorConflict: {"author-conflict", SeverityError,
		"A review with author_id has no imported_display_name, imported_email or imported_url.", sourceFormat, true,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],"author_id":"7",` +
			`"imported_email":null}`,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],"author_id":"7"}`},
	ruleAuthorLength: {"author-id-length", SeverityError, "author_id has at most 255 characters.", sourceFormat, true,
		`"author_id":"` + strings.Repeat("7", 256) + `"`, `"author_id":"7"`},
	ruleURL: {"url", SeverityError, "imported_url is null, empty, or an http or https address.", sourceFormat, true,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],` +
			`"imported_display_name":"user-1","imported_url":"example.test"}`,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],` +
			`"imported_display_name":"user-1","imported_url":"https://example.test/"}`},
	ruleHTML: {"body-html", SeverityError,
		"body_html is text, entities, <p>, </p>, <a href=\"…\"> and </a>, closed and not nested in themselves or p " +
			"in a; href is a quoted http, https or mailto address.", sourceFormat, false,
		`"body_html":"<p><b>Bright</b>"`, `"body_html":"<p>Bright</p>"`},

	ruleStoredDimensions: {"stored-dimensions", SeverityError,
		"A collection has the dimensions of its stored reviews, in any order: ratings go by name (import only).",
		sourceVitrine, false, `"dimensions":["price","quality"]`, `"dimensions":["default"]`},
	ruleFileKind: {"file-kind", SeverityError,
		"A file is NDJSON: no JSON array, JSON over several lines, table, spreadsheet, UTF-16, archive or other " +
			"binary form. It is said once, at line 1, of a file in a binary form, and of any other file of which no " +
			"line is a record. In a file that begins with [, the first record after a line that is a JSON value and " +
			"a comma is taken for the last element of the array, and does not count as a record.", sourceVitrine, false,
		"[" + rightLine + "]", rightLine},
	ruleFileEmpty: {"file-empty", SeverityWarning, "A file has lines that are not blank.", sourceVitrine, false, "",
		rightLine},

	ruleScale: {"scale", SeverityWarning,
		"Of 20 ratings or more in a file, one is above 10: stars from 1 to 5 become 20 to 100.", sourceVitrine, false,
		`"reviews":["20 reviews with the rating 5"]`, `"reviews":["20 reviews with the rating 100"]`},
	ruleIDText: {"id-text", SeverityWarning,
		"The id of a collection is the Base64 of printable UTF-8. Some ids that were not encoded are Base64 of " +
			"something else by chance.", sourceVitrine, false, `"id":"kettle"`, `"id":"a2V0dGxl"`},
	ruleFuture: {"created-future", SeverityWarning,
		"No time is in the future, beyond the 14 hours by which a local time can be ahead of UTC.", sourceVitrine,
		false, `"created":"9999-01-01T00:00:00Z"`, `"created":"2019-04-03T00:00:00Z"`},
	ruleEmail: {"email", SeverityWarning, "imported_email is null, empty, or looks like an email address.",
		sourceVitrine, false,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],` +
			`"imported_display_name":"user-1","imported_email":"n/a"}`,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],` +
			`"imported_display_name":"user-1","imported_email":"user-1@example.test"}`},
	ruleOverwrite: {"overwrite", SeverityWarning,
		"An import leaves at least half of the stored reviews of the network as they are.", sourceVitrine, false,
		`"title":"another one in more than half of the stored reviews"`,
		`"title":"another one in half of the stored reviews"`},
}
