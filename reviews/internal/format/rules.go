package format

import "strings"

// Rule is one rule of the import format. The fields are those of reviews.Rule. The texts are for people and
// programs that explain problems; the code that applies a rule does not read them.
type Rule struct {
	ID           string
	Text         string
	Source       string
	Schema       bool
	Wrong, Right string
}

// RightLine is a record that satisfies every rule.
const RightLine = `{"source":"example.test","title":"Lamp","created":"2019-04-03T00:00:00Z","id":"bGFtcA==",` +
	`"dimensions":["default"],"reviews":[]}`

// RuleID is the index of a rule in Rules. The code that applies a rule refers to it by its RuleID. The order
// of the constants is the order of the table and of rules.md.
type RuleID uint8

const (
	RuleJSON RuleID = iota
	RuleUTF8
	RuleDepth
	RuleTooLong
	RuleObject
	RuleMissing
	RuleUnknown
	RuleRepeated
	RuleType
	RuleNUL
	RuleSurrogate
	RuleEmpty
	RuleTimestamp
	RuleIDBase64
	RuleIDLength
	RuleCollectionRepeated
	RuleDimensionsAbsent
	RuleDimensionsNone
	RuleDimensionsMany
	RuleDimensionRepeated
	RuleDimensionSingle
	RuleReviewRepeated
	RuleParent
	RuleRatingsCount
	RuleRatingInteger
	RuleRatingRange
	RuleAuthorMissing
	RuleAuthorConflict
	RuleAuthorLength
	RuleURL
	RuleHTML
	RuleStoredDimensions
	RuleFileKind
	RuleFileEmpty
	RuleScale // this rule and the following ones: one warning for the file, see Checker.odd
	RuleIDText
	RuleFuture
	RuleEmail
	RuleOverwrite
)

// Rejects returns whether a problem of the rule rejects its review or its line. All others are warnings.
func (r RuleID) Rejects() bool {
	return r != RuleDimensionsAbsent && r != RuleFileEmpty && r < RuleScale
}

// The values of Rule.Source. A rule of the format is part of its description. A rule of RFC 8259 applies to all JSON
// that programs exchange. A rule of Vitrine decides what both leave open, such as a limit.
const (
	sourceFormat  = "format"
	sourceJSON    = "RFC 8259"
	sourceVitrine = "Vitrine"
)

// Rules is the list of all rules. rules.md is generated from it, and tests check every example: Wrong breaks the rule
// and no other, and Right satisfies all rules. Each rule is applied by the code that reports its RuleID:
//
//	linechecker.go            json, utf-8, json-depth, members and types
//	values.go                 texts, times, addresses, body_html
//	collection.go, review.go  the members of a collection and of a review, and the rules between them
//	checker.go                collection-repeated, file-kind, file-empty, scale
//	package reviews           stored-dimensions, overwrite: dimensions.go, import.go
//
// To add a rule: add a constant and an entry, and report it with a message that says what would be right. In package
// reviews, add cases to testdata/rules, and run the tests with -update to generate rules.md. If a JSON Schema can state
// the rule, add it to schema.json there too.
var Rules = []Rule{
	RuleJSON: {"json", "A line holds one JSON value and nothing after it.", sourceFormat, false,
		`{"source":"example.test","title":"Lamp"`, RightLine},
	RuleUTF8: {"utf-8", "A line is valid UTF-8.", sourceJSON, false, `"title":"Caf\xe9"`,
		`"title":"Café"`},
	RuleDepth: {"json-depth", "Arrays and objects are nested at most 64 deep.", sourceVitrine, false,
		`"subparts":` + strings.Repeat("[", 62) + strings.Repeat("]", 62), `"subparts":{"colour":"red"}`},
	RuleTooLong: {"line-too-long", "A line has at most 32 MiB, or what the options say.",
		sourceVitrine, false, `"title":"a text of 33 MiB"`, `"title":"a text of 31 MiB"`},
	RuleObject: {"record-object", "The record of a line is a JSON object.", sourceFormat, true,
		`"bGFtcA=="`, RightLine},
	RuleMissing: {"member-missing",
		"A collection has source, title, created, id and reviews; a review has id, title, body_html, created and " +
			"ratings.", sourceFormat, true,
		`{"id":"1","title":"Bright","created":"2019-04-03T00:00:00Z","ratings":[80],"author_id":"7"}`,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],"author_id":"7"}`},
	RuleUnknown: {"member-unknown",
		"There are no members but those of the format; extra data belongs in subparts.", sourceVitrine, true,
		`"colour":"red"`, `"subparts":{"colour":"red"}`},
	RuleRepeated: {"member-repeated", "No object has two members of the same name.", sourceVitrine,
		false, `"subparts":{"colour":"red","colour":"blue"}`, `"subparts":{"colour":"red","second colour":"blue"}`},
	RuleType: {"value-type",
		"A value has the JSON type of its field; subparts holds strings only, and only imported_email and " +
			"imported_url may be null.", sourceFormat, true, `"id":17`, `"id":"17"`},
	RuleNUL: {"text-nul", "No string holds U+0000.", sourceVitrine, false,
		`"title":"Bright\u0000"`, `"title":"Bright"`},
	RuleSurrogate: {"text-surrogate", "No string holds half of a surrogate pair.", sourceJSON, false,
		`"title":"Bright \ud83d"`, `"title":"Bright \ud83d\ude00"`},
	RuleEmpty: {"text-empty",
		"source, every id, imported_display_name and the names of dimensions are not empty.", sourceVitrine, true,
		`"source":""`, `"source":"example.test"`},
	RuleTimestamp: {"timestamp",
		"A time is YYYY-MM-DDThh:mm:ss, then a fraction if any, then Z, ±hh:mm or nothing (UTC); the date exists, " +
			"the year is 0001 to 9999, seconds go to 59, hours to 23, the offset is below 24 hours.", sourceFormat,
		false, `"created":"03/04/2019"`, `"created":"2019-04-03T00:00:00Z"`},

	RuleIDBase64: {"collection-id-base64",
		"The id of a collection is Base64 in the standard or the URL alphabet, not in both, padded or not, and " +
			"decodes to at least one byte.", sourceFormat, false, `"id":"article-1"`, `"id":"YXJ0aWNsZS0x"`},
	RuleIDLength: {"collection-id-length",
		"The id of a collection has at most 150 characters.", sourceFormat, true,
		`"id":"` + strings.Repeat("YXJ0aWNsZS0x", 13) + `"`, `"id":"YXJ0aWNsZS0x"`},
	RuleCollectionRepeated: {"collection-repeated", "A file holds a collection (source and id) once.",
		sourceVitrine, false, RightLine + "\n" + RightLine, RightLine},
	RuleDimensionsAbsent: {"dimensions-absent",
		"dimensions is given; absent, it is taken as [\"default\"].", sourceFormat, false,
		`{"source":"example.test","title":"Lamp","created":"2019-04-03T00:00:00Z","id":"bGFtcA==","reviews":[]}`,
		RightLine},
	RuleDimensionsNone: {"dimensions-none", "dimensions holds at least one name.", sourceVitrine,
		true, `"dimensions":[]`, `"dimensions":["default"]`},
	RuleDimensionsMany: {"dimensions-many", "dimensions holds at most 1,000 names.", sourceVitrine,
		true, `"dimensions":["1,001 names"]`, `"dimensions":["price","quality"]`},
	RuleDimensionRepeated: {"dimension-repeated", "A dimension is named once.", sourceVitrine, true,
		`"dimensions":["price","price"]`, `"dimensions":["price","quality"]`},
	RuleDimensionSingle: {"dimensions-single", "A single dimension is named default.", sourceFormat,
		true, `"dimensions":["quality"]`, `"dimensions":["default"]`},

	RuleReviewRepeated: {"review-repeated", "A collection holds a review id once.", sourceVitrine, false,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],"author_id":"7"},` +
			`{"id":"1","title":"Heavy","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[20],"author_id":"8"}`,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],"author_id":"7"},` +
			`{"id":"2","title":"Heavy","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[20],` +
			`"author_id":"8"}`},
	RuleParent: {"parent", "parent_id names an earlier, accepted review of the same line.",
		sourceVitrine, false,
		`{"id":"2","parent_id":"1","title":"","body_html":"No.","created":"2019-04-04T00:00:00Z","ratings":[80],` +
			`"author_id":"8"}`,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],"author_id":"7"},` +
			`{"id":"2","parent_id":"1","title":"","body_html":"No.","created":"2019-04-04T00:00:00Z","ratings":[80],` +
			`"author_id":"8"}`},
	RuleRatingsCount: {"ratings-count", "A review has one rating for each dimension.", sourceFormat,
		false, `"ratings":[80,20]`, `"ratings":[80]`},
	RuleRatingInteger: {"rating-integer",
		"A rating is written as a JSON integer: 5, not 5.0 and not 5e0.", sourceFormat, false, `"ratings":[80.0]`,
		`"ratings":[80]`},
	RuleRatingRange: {"rating-range", "A rating is from 1 to 100.", sourceFormat, true,
		`"ratings":[101]`, `"ratings":[100]`},
	RuleAuthorMissing: {"author-missing", "A review has author_id or imported_display_name.",
		sourceFormat, true,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80]}`,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],` +
			`"imported_display_name":"user-1"}`},
	RuleAuthorConflict: {"author-conflict",
		"A review with author_id has no imported_display_name, imported_email or imported_url.", sourceFormat, true,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],"author_id":"7",` +
			`"imported_email":null}`,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],"author_id":"7"}`},
	RuleAuthorLength: {"author-id-length", "author_id has at most 255 characters.", sourceFormat, true,
		`"author_id":"` + strings.Repeat("7", 256) + `"`, `"author_id":"7"`},
	RuleURL: {"url", "imported_url is null, empty, or an http or https address.", sourceFormat, true,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],` +
			`"imported_display_name":"user-1","imported_url":"example.test"}`,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],` +
			`"imported_display_name":"user-1","imported_url":"https://example.test/"}`},
	RuleHTML: {"body-html",
		"body_html is text, entities, <p>, </p>, <a href=\"…\"> and </a>, closed and not nested in themselves or p " +
			"in a; href is a quoted http, https or mailto address.", sourceFormat, false,
		`"body_html":"<p><b>Bright</b>"`, `"body_html":"<p>Bright</p>"`},

	RuleStoredDimensions: {"stored-dimensions",
		"A collection has the dimensions of its stored reviews, in any order: ratings go by name (import only).",
		sourceVitrine, false, `"dimensions":["price","quality"]`, `"dimensions":["default"]`},
	RuleFileKind: {"file-kind",
		"A file is NDJSON: no JSON array, JSON over several lines, table, spreadsheet, UTF-16, archive or other " +
			"binary form. It is said once, at line 1, of a file in a binary form, and of any other file of which no " +
			"line is a record. In a file that begins with [, the first record after a line that is a JSON value and " +
			"a comma is taken for the last element of the array, and does not count as a record.", sourceVitrine, false,
		"[" + RightLine + "]", RightLine},
	RuleFileEmpty: {"file-empty", "A file has lines that are not blank.", sourceVitrine, false, "",
		RightLine},

	RuleScale: {"scale",
		"Of 20 ratings or more in a file, one is above 10: stars from 1 to 5 become 20 to 100.", sourceVitrine, false,
		`"reviews":["20 reviews with the rating 5"]`, `"reviews":["20 reviews with the rating 100"]`},
	RuleIDText: {"id-text",
		"The id of a collection is the Base64 of printable UTF-8. Some ids that were not encoded are Base64 of " +
			"something else by chance.", sourceVitrine, false, `"id":"kettle"`, `"id":"a2V0dGxl"`},
	RuleFuture: {"created-future",
		"No time is in the future, beyond the 14 hours by which a local time can be ahead of UTC.", sourceVitrine,
		false, `"created":"9999-01-01T00:00:00Z"`, `"created":"2019-04-03T00:00:00Z"`},
	RuleEmail: {"email", "imported_email is null, empty, or looks like an email address.",
		sourceVitrine, false,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],` +
			`"imported_display_name":"user-1","imported_email":"n/a"}`,
		`{"id":"1","title":"Bright","body_html":"","created":"2019-04-03T00:00:00Z","ratings":[80],` +
			`"imported_display_name":"user-1","imported_email":"user-1@example.test"}`},
	RuleOverwrite: {"overwrite",
		"An import leaves at least half of the stored reviews of the network as they are.", sourceVitrine, false,
		`"title":"another one in more than half of the stored reviews"`,
		`"title":"another one in half of the stored reviews"`},
}
