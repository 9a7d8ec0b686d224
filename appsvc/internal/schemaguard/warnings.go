package schemaguard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/internal/spelling"
	"github.com/vitrine-go/vitrine/internal/top"
)

// Warning is about a part of a schema that has no effect, or another one than its author may think.
type Warning struct {
	Pointer string // JSON pointer into the schema
	Message string
}

// maxWarnings is how many warnings there are of one schema. maxNames is how many different names that are no keywords
// are compared with the keywords; further ones get no warning. A comparison takes some microseconds a name.
const (
	maxWarnings = 100
	maxNames    = 1_000
)

// Warnings returns warnings in the order of their pointers, at most maxWarnings: of keywords that the draft of the
// schema ignores, names that look like misspelt keywords, nullable, formats that neither JSON Schema nor f knows,
// defaults that break their own schemas or are of required members, alternatives of oneOf that only a format tells
// apart, and keywords of earlier drafts in a schema without $schema. There is no warning of other annotations. If
// Compile rejects the schema, Warnings returns that *Error.
func (f Formats) Warnings(schema []byte) ([]Warning, error) {
	w := warner{formats: f, meant: map[string]string{}, first: top.New(maxWarnings, func(a, b Warning) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Message, b.Message))
	})}
	compiled, err := f.compile(schema, w.schema)
	if err != nil {
		return nil, err
	}
	for pointer, reason := range compiled.BadDefaults() {
		w.first.Add(Warning{pointer + "/default", "the default breaks its own schema and fills nothing: " + reason})
	}
	if w.old != "" {
		const message = `without "$schema" this is %s, and %q is of %s: name the draft in "$schema"`
		w.first.Add(Warning{"", fmt.Sprintf(message, draft2020, w.old, newest[w.old])})
	}
	return append([]Warning{}, w.first.Items()...), nil
}

// warner collects the warnings of one schema.
type warner struct {
	formats Formats
	first   *top.List[Warning]
	meant   map[string]string // the keyword that a name stands for, "" if none
	named   bool              // the schema names its draft
	old     string            // a keyword that only an earlier draft has; "" if there is none
}

// newest are the last drafts that define a keyword.
var newest = map[string]draft{
	"definitions": draft7, "dependencies": draft7, "additionalItems": draft2019, "$recursiveRef": draft2019,
}

// needs are the keywords without which another one has no effect.
var needs = map[string]string{"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains"}

// annotations are the keywords of any draft that assert nothing.
var annotations = strings.Fields(`$schema $id id $anchor $dynamicAnchor $recursiveAnchor $vocabulary $comment $defs
	definitions title description default examples deprecated readOnly writeOnly contentEncoding contentMediaType
	contentSchema`)

// schema adds the warnings of one subschema.
func (w *warner) schema(object map[string]any, pointer string, d draft) {
	if pointer == "" {
		w.named = object["$schema"] != nil
	}
	w.required(object, pointer)
	w.alternatives(object, pointer)
	for _, keyword := range slices.Sorted(maps.Keys(object)) {
		if newest[keyword] != 0 && !w.named && w.old == "" {
			w.old = keyword
		}
		if message := w.keyword(object, keyword, d); message != "" {
			w.first.Add(Warning{pointer + "/" + jsonpointer.Escape(keyword), message})
		}
	}
}

// keyword returns the sentence about a keyword that has no effect, "" if it has one.
func (w *warner) keyword(object map[string]any, keyword string, d draft) string {
	known, isKeyword := keywords[keyword]
	ref, _ := object["$ref"].(string)
	_, needed := object[needs[keyword]]
	switch {
	case slices.Contains(annotations, keyword):
		return ""
	case keyword == "nullable" && object[keyword] == true:
		return `"nullable" is of OpenAPI and has no effect; list "null" in "type"`
	case !isKeyword:
		if meant := w.misspelt(keyword); meant != "" {
			return fmt.Sprintf("%q is no keyword and has no effect; is %q meant?", shorten(keyword), meant)
		}
	case ref != "" && keyword != "$ref" && d < draft2019:
		return fmt.Sprintf("%s ignores %q beside $ref; put the $ref into an allOf, or use draft 2019-09 or later", d,
			keyword)
	case d < known.since:
		return fmt.Sprintf("%s ignores %q; it came with %s", d, keyword, known.since)
	case keyword == "$recursiveRef" && d > draft2019:
		return fmt.Sprintf("%s has no %q: it is followed here, and other validators ignore it; $dynamicRef has "+
			"taken its place", d, keyword)
	case keyword == "additionalItems" && d > draft2019:
		return fmt.Sprintf("%s ignores %q; items beside prefixItems has taken its place", d, keyword)
	case keyword == "additionalItems" && object["items"] == nil:
		return fmt.Sprintf("%q has no effect without %q", keyword, "items")
	case needs[keyword] != "" && !needed:
		return fmt.Sprintf("%q has no effect without %q", keyword, needs[keyword])
	case keyword == "format":
		return w.format(object[keyword])
	}
	return ""
}

// required adds the warnings of members that are required and have a default.
func (w *warner) required(object map[string]any, pointer string) {
	names, _ := object["required"].([]any)
	properties, _ := object["properties"].(map[string]any)
	for _, each := range names {
		name, _ := each.(string)
		property, _ := properties[name].(map[string]any)
		if _, filled := property["default"]; filled {
			w.first.Add(Warning{pointer + "/properties/" + jsonpointer.Escape(name) + "/default",
				fmt.Sprintf("%q is required: an object without it is rejected, although it has a default",
					shorten(name))})
		}
	}
}

// alternatives adds a warning if two alternatives of a oneOf differ in their formats only. Compile has these formats
// decide, and other validators may not.
func (w *warner) alternatives(object map[string]any, pointer string) {
	list, _ := object["oneOf"].([]any)
	first := map[string]int{} // the alternative that has this text without its formats
	for i, alternative := range list {
		formats := map[string]bool{}
		text, _ := json.Marshal(withoutFormats(alternative, formats))
		j, again := first[string(text)]
		if !again {
			first[string(text)] = i
			continue
		}
		withoutFormats(list[j], formats)
		if len(formats) == 0 {
			continue
		}
		message := ""
		for _, name := range slices.Sorted(maps.Keys(formats)) {
			if w.formats.check(name) == nil {
				message = fmt.Sprintf(", and the format %q is not checked: a config that fits both is rejected",
					shorten(name))
			} else if message == "" && !w.formats.asserts(name) {
				message = ": they are checked here, and are annotations elsewhere in the schema"
			}
		}
		if message == "" {
			continue
		}
		message = fmt.Sprintf("alternatives %d and %d are told apart by their formats alone%s", j, i, message)
		w.first.Add(Warning{pointer + "/oneOf", message})
		return
	}
}

// withoutFormats returns a schema without its formats, titles and descriptions, and adds the formats to found.
func withoutFormats(v any, found map[string]bool) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = withoutFormats(element, found)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			text, isText := member.(string)
			switch {
			case name == "format" && isText:
				found[text] = true
			case isText && (name == "title" || name == "description" || name == "$comment"):
			case name == "const" || name == "enum" || name == "default" || name == "examples":
				out[name] = member
			default:
				out[name] = withoutFormats(member, found)
			}
		}
		return out
	}
	return v
}

// format returns the sentence about a format that is not known, "" for any other.
func (w *warner) format(v any) string {
	name, ok := v.(string)
	if !ok || slices.Contains(standard, name) || slices.Contains(unasserted, name) || w.formats.Own[name] != nil {
		return ""
	}
	for _, known := range slices.Concat(standard, unasserted) {
		if len(name) < 30 && spelling.Distance(name, known) <= len(known)/4 {
			return fmt.Sprintf("the format %q is not known and has no effect: %s may be meant", name, known)
		}
	}
	return fmt.Sprintf("the format %q is not known and has no effect", shorten(name))
}

// misspelt returns the keyword that name is probably meant to be, "" if it may well be a name of the author's own. It
// computes this once for each name, and for no more than maxNames names; for any other it returns "".
func (w *warner) misspelt(name string) string {
	meant, known := w.meant[name]
	if !known && len(w.meant) < maxNames {
		meant = nearest(name)
		w.meant[name] = meant
	}
	return meant
}

// nearest returns the keyword that is nearest to name, "" if none is near. Many short words differ by one letter, so a
// short name counts only if it is the plural of the keyword or has the same letters in another order.
func nearest(name string) string {
	if strings.HasPrefix(name, "x-") || len(name) > 30 {
		return ""
	}
	best, near := "", 3
	for _, keyword := range slices.Sorted(maps.Keys(keywords)) {
		most := 0 // the largest distance at which name counts as this keyword
		switch {
		case slices.Contains(annotations, keyword):
			continue
		case strings.EqualFold(name, keyword) || "$"+name == keyword:
			return keyword
		case len(keyword) >= 9:
			most = 2
		case len(keyword) >= 5 || name == keyword+"s" || slices.Equal(letters(name), letters(keyword)):
			most = 1
		}
		if max(len(name)-len(keyword), len(keyword)-len(name)) > most {
			continue
		}
		if distance := spelling.Distance(name, keyword); distance <= most && distance < near {
			best, near = keyword, distance
		}
	}
	return best
}

func letters(s string) []byte { return slices.Sorted(slices.Values([]byte(s))) }
