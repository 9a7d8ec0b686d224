package assets

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/internal/top"
)

// Facets are the facets of a search. Their JSON is an object with a member for each, in their
// order.
type Facets []Facet

// Facet has the most frequent values of a field among all assets that a search finds, on whatever
// page, at most 20. The most frequent is the first. Values that are equally frequent are in byte
// order.
type Facet struct {
	Name   string // as in SearchRequest.Facets
	Values []FacetValue
}

// FacetValue is a value of a field, and how many of the found assets have it. An asset with several
// values, such as tags, counts for each of them.
type FacetValue struct {
	Value string `json:"value"` // integers in decimal; of the facet folder the id of a folder that the caller sees
	Count int64  `json:"count"`
}

// facetSize is the number of values that a facet has at most.
const facetSize = 20

// compare is negative if v comes before o in a facet: it has more assets, or as many and is less in
// byte order.
func (v FacetValue) compare(o FacetValue) int {
	return cmp.Or(cmp.Compare(o.Count, v.Count), strings.Compare(v.Value, o.Value))
}

// AppendJSON appends the facets as they are over HTTP, such as
// {"tags":[{"value":"approved","count":7}]}.
func (f Facets) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	for i, facet := range f {
		b = append(appendString(appendComma(b, i), facet.Name), ":["...)
		for i, v := range facet.Values {
			b = appendString(append(appendComma(b, i), `{"value":`...), v.Value)
			b = append(strconv.AppendInt(append(b, `,"count":`...), v.Count, 10), '}')
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// MarshalJSON gives the same bytes as AppendJSON.
func (f Facets) MarshalJSON() ([]byte, error) { return f.AppendJSON(nil), nil }

// UnmarshalJSON is the inverse of MarshalJSON.
func (f *Facets) UnmarshalJSON(text []byte) error {
	if err := strictjson.Check(text, strictjson.MaxDepth); err != nil {
		return err
	}
	members, err := strictjson.Members(text)
	if err != nil {
		return err
	}
	*f = Facets{}
	for _, m := range members {
		facet := Facet{Name: m.Name}
		if err := json.Unmarshal(m.Value, &facet.Values); err != nil {
			return err
		}
		if len(facet.Values) == 0 {
			facet.Values = nil
		}
		*f = append(*f, facet)
	}
	return nil
}

// facetField is a field whose values a search counts. Each value of the field has a term in the
// index, so counting values is counting the terms that begin with a prefix of the field.
type facetField struct {
	name  string
	short string // the prefix of the terms that have the value itself, behind this prefix; "" = there are none
	long  string // the prefix of the terms of values that are too long for a term; "" = there are none

	// values and term are for a field with long values. The value of such a term is looked up in an
	// asset that has it.
	values func(parts) []string      // all values of an asset
	term   func(value string) string // the term of a value
}

type facetFields []facetField

// facetsOf returns the fields with these names, each once. It returns ErrInvalid if a name is not
// known, or if the key in attribute:<key> is malformed or has a comma.
func facetsOf(names []string, lim Limits) (facetFields, error) {
	var out facetFields
	for _, name := range unique(names) {
		f, err := facetOf(name, lim)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// facetOf returns the field with this name, as SearchRequest.Facets has it.
func facetOf(name string, lim Limits) (facetField, error) {
	// field is a field whose short values are in terms of this kind, and whose long values are digests
	// in terms of its upper-case letter; see term.
	field := func(kind rune, values func(parts) []string) facetField {
		return facetField{name, string(kind), strings.ToUpper(string(kind)), values, func(value string) string { return term(kind, value) }}
	}
	switch name {
	case "generator":
		return field(kindGenerator, func(p parts) []string { return []string{p.generator} }), nil
	case "tags":
		return field(kindTag, func(p parts) []string { return p.tags }), nil
	case "via":
		return facetField{name: name, short: string(kindVia)}, nil
	case "rights":
		return facetField{name: name, short: string(kindRights)}, nil
	case "folder":
		return facetField{name: name, short: string(kindFolder)}, nil
	case "attribute":
		return field(kindKey, func(p parts) (keys []string) {
			for _, a := range p.attributes {
				keys = append(keys, a.Key)
			}
			return keys
		}), nil
	}
	key, found := strings.CutPrefix(name, "attribute:")
	switch {
	case !found:
		return facetField{}, invalid("facets", "%q is not known: want generator, tags, via, rights, folder, attribute or attribute:<key>", name)
	case key == "":
		return facetField{}, invalid("facets", "attribute: has an empty key")
	case strings.Contains(key, ","):
		return facetField{}, invalid("facets", "the key of an attribute must not have a comma here, where it separates facets")
	}
	// A term of an attribute begins with its key. A key that is nearly as long as a term leaves no room
	// for a value, so all of its terms are long ones.
	f := facetField{name: name, long: longAttributeKey(key), term: func(value string) string { return attributeTerm(Attribute{Key: key, Value: value}) }}
	if text := attributeKey(key); len(text) < MaxTerm {
		f.short = string(kindAttribute) + text
	}
	f.values = func(p parts) (values []string) {
		for _, a := range p.attributes {
			if a.Key == key {
				values = append(values, a.Value)
			}
		}
		return values
	}
	return f, checkName("facets", key, lim.Name)
}

// empty returns the facets of a search that finds nothing. It returns nil if the search asks for no
// facets.
func (fields facetFields) empty() (out Facets) {
	for _, f := range fields {
		out = append(out, Facet{Name: f.name})
	}
	return out
}

// facets counts the values of the fields among the assets that q finds. q has the condition of what
// the caller sees.
func (req *request) facets(fields facetFields, q AssetQuery) (Facets, error) {
	out := fields.empty()
	for i, f := range fields {
		var err error
		if f.name == "folder" {
			out[i].Values, err = req.folderFacet(q)
		} else {
			out[i].Values, err = req.facet(f, q)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// facet counts the values of a field. Terms with short values sort as their values do, so the store
// can pick the most frequent ones. Terms with long values do not, so all of them are counted, and
// the value is looked up of each that may be among the most frequent.
func (req *request) facet(f facetField, q AssetQuery) ([]FacetValue, error) {
	// The most frequent values among the short ones, and then the long ones that are more frequent.
	values := top.New(facetSize, FacetValue.compare)
	if f.short != "" {
		q.Limit = facetSize
		for c, err := range req.r.CountTerms(req.ctx, q, f.short) {
			if err != nil {
				return nil, err
			}
			values.Add(FacetValue{strings.TrimPrefix(c.Term, f.short), c.Count})
		}
		q.Limit = 0
	}
	if f.long == "" {
		return values.Items(), nil
	}
	for c, err := range req.r.CountTerms(req.ctx, q, f.long) {
		if err != nil {
			return nil, err
		}
		if last, full := values.Last(); full && (c.Count < last.Count || c.Count == last.Count && f.comesAfter(c.Term, last.Value)) {
			continue // it is not among the most frequent, so its value need not be looked up
		}
		value, err := req.longValue(f, q, c.Term)
		if err != nil {
			return nil, err
		}
		values.Add(FacetValue{value, c.Count})
	}
	return values.Items(), nil
}

// comesAfter reports whether the value of a long term is certain to come after another value in
// byte order. Terms of attributes have the beginning of their value; if that is greater, so is the
// value. Of other long terms nothing is known.
func (f facetField) comesAfter(term, value string) bool {
	return term[0] == kindLongAttribute && longAttributeHead(term) > value
}

// longValue returns the value of a term that does not have the value itself. It reads an asset that
// has the term and that q finds, which the caller sees, and returns the value of that asset which
// has this term.
func (req *request) longValue(f facetField, q AssetQuery, term string) (string, error) {
	q.All, q.Limit = append(slices.Clip(q.All), AnyOf{term}), 1
	for r, err := range req.r.Assets(req.ctx, q) {
		if err != nil {
			return "", err
		}
		p, err := partsOf(r.Body)
		if err != nil {
			return "", err
		}
		for _, value := range f.values(p) {
			if f.term(value) == term {
				return value, nil
			}
		}
		return "", fmt.Errorf("stored asset %d: it is found by the term %q, which it does not have", r.Ordinal, term)
	}
	return "", fmt.Errorf("the term %q is counted, and no asset has it", term)
}

// folderFacet counts the assets that are in each folder, not counting folders below it. It leaves
// out folders that the caller does not see: an asset that the caller sees may also be in hidden
// ones. Therefore the store cannot pick the most frequent.
func (req *request) folderFacet(q AssetQuery) ([]FacetValue, error) {
	seen := make(map[string]string, len(req.tree.nodes)) // ids by terms
	for n := range req.tree.all {
		if req.sees(n) {
			seen[term(kindFolder, n.ID)] = n.ID
		}
	}
	values := top.New(facetSize, FacetValue.compare)
	// The two prefixes are those that term gives to short and to long ids.
	for _, prefix := range []string{string(kindFolder), strings.ToUpper(string(kindFolder))} {
		for c, err := range req.r.CountTerms(req.ctx, q, prefix) {
			if err != nil {
				return nil, err
			}
			if id, ok := seen[c.Term]; ok {
				values.Add(FacetValue{id, c.Count})
			}
		}
	}
	return values.Items(), nil
}
