package schemaguard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/internal/spelling"
	"github.com/vitrine-go/vitrine/internal/top"
)

// Warning is about a part of a schema that has no effect, so that the schema accepts more configs than its author may think.
type Warning struct {
	Pointer string // JSON pointer into the schema
	Message string
}

// maxWarnings is how many warnings there are of one schema. maxNames is how many different names that are no keywords are
// compared with the keywords; further ones get no warning. A comparison takes some microseconds a name.
const (
	maxWarnings = 100
	maxNames    = 1_000
)

// Warnings returns warnings in the order of their pointers, at most maxWarnings: of keywords that the draft of the schema ignores, names
// that look like misspelt keywords, formats that neither JSON Schema nor own knows, and defaults that break their own schemas. There is
// no warning of other annotations. If Compile rejects the schema, Warnings returns that *Error.
func Warnings(schema []byte, own []string) ([]Warning, error) {
	w := warner{own: own, meant: map[string]string{}, first: top.New(maxWarnings, func(a, b Warning) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Message, b.Message))
	})}
	compiled, err := Formats{}.compile(schema, w.schema)
	if err != nil {
		return nil, err
	}
	for pointer, reason := range compiled.BadDefaults() {
		w.first.Add(Warning{pointer + "/default", "the default breaks its own schema and fills nothing: " + reason})
	}
	return append([]Warning{}, w.first.Items()...), nil
}

// warner collects the warnings of one schema.
type warner struct {
	own   []string // formats of the embedding program
	first *top.List[Warning]
	meant map[string]string // the keyword that a name stands for, "" if none
}

// needs are the keywords without which another one has no effect.
var needs = map[string]string{"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains"}

// annotations are the keywords of any draft that assert nothing.
var annotations = map[string]bool{
	"$schema": true, "$id": true, "id": true, "$anchor": true, "$dynamicAnchor": true, "$recursiveAnchor": true, "$vocabulary": true,
	"$comment": true, "$defs": true, "definitions": true, "title": true, "description": true, "default": true, "examples": true,
	"deprecated": true, "readOnly": true, "writeOnly": true, "contentEncoding": true, "contentMediaType": true, "contentSchema": true,
}

// schema adds the warnings of one subschema.
func (w *warner) schema(object map[string]any, pointer string, d draft) {
	for _, keyword := range slices.Sorted(maps.Keys(object)) {
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
	case annotations[keyword]:
		return ""
	case !isKeyword:
		if meant := w.misspelt(keyword); meant != "" {
			return fmt.Sprintf("%q is no keyword and has no effect; is %q meant?", shorten(keyword), meant)
		}
	case ref != "" && keyword != "$ref" && d < draft2019:
		return fmt.Sprintf("%s ignores %q beside $ref; put the $ref into an allOf, or use draft 2019-09 or later", d, keyword)
	case d < known.since:
		return fmt.Sprintf("%s ignores %q; it came with %s", d, keyword, known.since)
	case keyword == "$recursiveRef" && d > draft2019:
		return fmt.Sprintf("%s ignores %q; $dynamicRef has taken its place", d, keyword)
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

// format returns the sentence about a format that is not known, "" for any other. The first drafts had color, which is the type of a
// field in HTML, too.
func (w *warner) format(v any) string {
	name, ok := v.(string)
	if _, known := standard[name]; !ok || known || name == "color" || slices.Contains(w.own, name) {
		return ""
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

// nearest returns the keyword that is nearest to name, "" if none is near. Many short words differ by one letter, so a short name
// counts only if it is the plural of the keyword or has the same letters in another order.
func nearest(name string) string {
	if strings.HasPrefix(name, "x-") || len(name) > 30 {
		return ""
	}
	best, near := "", 3
	for _, keyword := range slices.Sorted(maps.Keys(keywords)) {
		most := 0 // the largest distance at which name counts as this keyword
		switch {
		case annotations[keyword]:
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
