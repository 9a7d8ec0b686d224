package reviews

import "slices"

// Rule is one rule of the import format.
type Rule struct {
	ID       string   // stable; what Problem.Rule holds
	Severity Severity // of a problem with this rule
	Text     string   // what must hold
	Source   string   // where the rule comes from
	Schema   bool     // whether RecordSchema states it too
}

// Rules returns every rule of the format, in the order of the documentation.
func Rules() []Rule {
	return slices.Clone(rules[:])
}

// ruleID indexes the table of rules.
type ruleID uint8

const (
	ruleJSON ruleID = iota
	ruleUTF8
	ruleDepth
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
	ruleStoredSize
	ruleCount
)

const (
	sourceFormat  = "contract, section 4.3"
	sourceRule1   = "contract, section 4.3, rule 1"
	sourceRule3   = "contract, section 4.3, rule 3"
	sourceRule4   = "contract, section 4.3, rule 4"
	sourceLimits  = "contract, section 8"
	sourceJSON    = "RFC 8259"
	sourceVitrine = "Vitrine"
)

var rules = [ruleCount]Rule{
	ruleJSON:      {"json", Error, "A line holds one JSON value and nothing after it.", sourceRule1, false},
	ruleUTF8:      {"utf-8", Error, "A line is valid UTF-8.", sourceJSON, false},
	ruleDepth:     {"json-depth", Error, "Arrays and objects are nested at most 64 deep.", sourceVitrine, false},
	ruleObject:    {"record-object", Error, "The record of a line is a JSON object.", sourceFormat, true},
	ruleMissing:   {"member-missing", Error, "A collection has source, title, created, id and reviews; a review has id, title, body_html, created and ratings.", sourceFormat, true},
	ruleUnknown:   {"member-unknown", Error, "There are no members but those of the format; extra data belongs in subparts.", sourceVitrine, true},
	ruleRepeated:  {"member-repeated", Error, "No object has two members of the same name.", sourceVitrine, false},
	ruleType:      {"value-type", Error, "A value has the JSON type of its field; subparts holds strings only, and only imported_email and imported_url may be null.", sourceFormat, true},
	ruleNUL:       {"text-nul", Error, "No string holds U+0000.", sourceVitrine, false},
	ruleSurrogate: {"text-surrogate", Error, "No string holds half of a surrogate pair.", sourceJSON, false},
	ruleEmpty:     {"text-empty", Error, "source, every id, imported_display_name and the names of dimensions are not empty.", sourceVitrine, true},
	ruleTimestamp: {"timestamp", Error, "A time is YYYY-MM-DDThh:mm:ss, then a fraction if any, then Z, ±hh:mm or nothing (UTC); the date exists, the year is 0001 to 9999, seconds go to 59, hours to 23, the offset is below 24 hours.", sourceFormat, false},

	ruleIDBase64:           {"collection-id-base64", Error, "The id of a collection is Base64 in the standard or the URL alphabet, not in both, padded or not, and decodes to at least one byte.", sourceFormat, false},
	ruleIDLength:           {"collection-id-length", Error, "The id of a collection has at most 150 characters.", sourceLimits, true},
	ruleCollectionRepeated: {"collection-repeated", Error, "A file holds a collection (source and id) once.", sourceVitrine, false},
	ruleDimensionsAbsent:   {"dimensions-absent", Warning, "dimensions is given; absent, it is taken as [\"default\"].", sourceFormat, false},
	ruleDimensionsNone:     {"dimensions-none", Error, "dimensions holds at least one name.", sourceVitrine, true},
	ruleDimensionRepeated:  {"dimension-repeated", Error, "A dimension is named once.", sourceVitrine, true},
	ruleDimensionSingle:    {"dimensions-single", Error, "A single dimension is named default.", sourceRule4, true},

	ruleReviewRepeated: {"review-repeated", Error, "A collection holds a review id once.", sourceVitrine, false},
	ruleParent:         {"parent", Error, "parent_id names an earlier, accepted review of the same line.", sourceVitrine, false},
	ruleRatingsCount:   {"ratings-count", Error, "A review has one rating for each dimension.", sourceLimits, false},
	ruleRatingInteger:  {"rating-integer", Error, "A rating is written as a JSON integer: 5, not 5.0 and not 5e0.", sourceLimits, false},
	ruleRatingRange:    {"rating-range", Error, "A rating is from 1 to 100.", sourceLimits, true},
	ruleAuthorMissing:  {"author-missing", Error, "A review has author_id or imported_display_name.", sourceRule3, true},
	ruleAuthorConflict: {"author-conflict", Error, "A review with author_id has no imported_display_name, imported_email or imported_url.", sourceRule3, true},
	ruleAuthorLength:   {"author-id-length", Error, "author_id has at most 255 characters.", sourceLimits, true},
	ruleURL:            {"url", Error, "imported_url is null, empty, or an http or https address.", sourceFormat, true},
	ruleHTML:           {"body-html", Error, "body_html is text, entities, <p>, </p>, <a href=\"…\"> and </a>, closed and not nested in themselves or p in a; href is a quoted http, https or mailto address.", sourceFormat, false},

	ruleStoredDimensions: {"stored-dimensions", Error, "A collection has as many dimensions as its stored reviews (import only).", sourceVitrine, false},
	ruleStoredSize:       {"stored-size", Error, "A review, and a collection without its reviews, is at most 16 MiB of JSON.", sourceVitrine, false},
}
