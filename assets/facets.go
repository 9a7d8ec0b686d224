package assets

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/internal/top"
)

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

// appendFacets appends the facets of a search as an object with a member for each.
func appendFacets(b []byte, facets []Facet) []byte {
	b = append(b, '{')
	for i, facet := range facets {
		b = append(strictjson.AppendString(appendComma(b, i), facet.Name), ':')
		b = appendJSON(b, facet.Values)
	}
	return append(b, '}')
}

// readFacets is the inverse of appendFacets. Without text there are no facets.
func readFacets(text []byte) (facets []Facet, err error) {
	if text == nil {
		return nil, nil
	}
	members, err := strictjson.Members(text)
	for _, m := range members {
		facet := Facet{Name: m.Name}
		if err := json.Unmarshal(m.Value, &facet.Values); err != nil {
			return nil, err
		}
		if len(facet.Values) == 0 {
			facet.Values = nil
		}
		facets = append(facets, facet)
	}
	return facets, err
}

// facetField is a field whose values a search counts. Each value of the field has a term in the
// index, so counting values is counting the terms that begin with a prefix of the field.
type facetField struct {
	name   string
	prefix string                            // what its terms begin with; see valueTerm
	values func(assetRecord, parts) []string // all values of an asset, each once
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
	integer := func(n *int64) []string {
		if n == nil {
			return nil
		}
		return []string{strconv.FormatInt(*n, 10)}
	}
	switch name {
	case "generator":
		return facetField{name, string(kindGenerator), func(_ assetRecord, p parts) []string {
			return []string{p.generator}
		}}, nil
	case "tags":
		return facetField{name, string(kindTag), func(_ assetRecord, p parts) []string { return p.Tags }}, nil
	case "via":
		return facetField{name, string(kindVia), func(_ assetRecord, p parts) []string { return integer(p.Via) }}, nil
	case "rights":
		return facetField{name, string(kindRights), func(_ assetRecord, p parts) []string { return integer(p.Rights) }},
			nil
	case "folder":
		return facetField{name, string(kindFolder), func(r assetRecord, _ parts) []string { return r.Folders }}, nil
	case "type":
		return facetField{name, string(kindType), func(_ assetRecord, p parts) []string {
			in, _ := readContent(p.Content)
			types, _ := in.types()
			return types
		}}, nil
	case "attribute":
		return facetField{name, string(kindKey), func(_ assetRecord, p parts) (keys []string) {
			for _, a := range p.Attributes {
				keys = append(keys, a.Key)
			}
			return unique(keys)
		}}, nil
	}
	key, found := strings.CutPrefix(name, "attribute:")
	switch {
	case !found:
		return facetField{}, fault.Invalid("facets",
			"%q is not known: want generator, tags, via, rights, folder, type, attribute or attribute:<key>", name)
	case key == "":
		return facetField{}, fault.Invalid("facets", "attribute: has an empty key")
	case strings.Contains(key, ","):
		return facetField{}, fault.Invalid("facets",
			"the key of an attribute must not have a comma here, where it separates facets")
	}
	return attributeField(key), checkName("facets", key, lim.Name)
}

// attributeField returns the field of the attributes with this key.
func attributeField(key string) facetField {
	return facetField{"attribute:" + key, attributePrefix(key), func(_ assetRecord, p parts) (values []string) {
		for _, a := range p.Attributes {
			if a.Key == key {
				values = append(values, a.Value)
			}
		}
		return values
	}}
}

// empty returns the facets of a search that finds nothing. It returns nil if the search asks for no
// facets.
func (fields facetFields) empty() (out []Facet) {
	for _, f := range fields {
		out = append(out, Facet{Name: f.name})
	}
	return out
}

// fewAssets is the number of found assets up to which facets reads the assets instead of the index. Tests change it.
var fewAssets = 100

// facets counts the values of the fields in the assets that a search has found. A nil found contains all assets. The
// facet folder leaves out folders that the caller does not see, since an asset that the caller sees may also be in
// hidden folders.
func (req *request) facets(fields facetFields, found *index.Set) ([]Facet, error) {
	out := fields.empty()
	var few []map[string]int64
	untyped := req.old && slices.ContainsFunc(fields, func(f facetField) bool { return f.name == "type" })
	if found != nil && found.Count() <= fewAssets || untyped {
		var err error
		if few, err = req.valuesOf(fields, found); err != nil {
			return nil, err
		}
	}
	for i, f := range fields {
		values := top.New(facetSize, FacetValue.compare)
		add := func(value string, count int64) error {
			if f.name == "type" && value == "" {
				value = "none"
			}
			if n := req.tree.nodes[value]; f.name != "folder" || n != nil && req.sees(n) {
				values.Add(FacetValue{value, count})
			}
			return nil
		}
		if few == nil {
			if err := req.countValues(f, found, values, add); err != nil {
				return nil, err
			}
		} else {
			for value, count := range few[i] {
				_ = add(value, count)
			}
		}
		out[i].Values = values.Items()
	}
	return out, nil
}

// valuesOf counts the values of fields in the found assets by reading them. It is used when there are few.
func (req *request) valuesOf(fields facetFields, found *index.Set) ([]map[string]int64, error) {
	counts := make([]map[string]int64, len(fields))
	for i := range counts {
		counts[i] = map[string]int64{}
	}
	for r, err := range req.assetsIn(found, pageRange{}) {
		var p parts
		if err == nil {
			p, err = partsOf(r.Body)
		}
		if err != nil {
			return nil, err
		}
		for i, f := range fields {
			for _, value := range f.values(r, p) {
				counts[i][value]++
			}
		}
	}
	return counts, nil
}

// mostKnown is the maximum number of long values that countValues keeps.
const mostKnown = 20_000

// countValues calls fn with each value of a field and the number of found assets that have it, and returns the error of
// fn. If most is not nil, it skips values that are too rare to enter most.
func (req *request) countValues(
	f facetField, found *index.Set, most *top.List[FacetValue], fn func(value string, count int64) error,
) error {
	var last FacetValue // the last one of a full list
	full := false
	var least func() int64
	if most != nil {
		least = func() int64 {
			last, full = most.Last()
			return last.Count // 0 while the list is not full
		}
	}
	known := map[string]string{} // long values, by their terms
	var err error
	counted := req.index.CountTerms(req.ctx, found, f.prefix, least, func(term string, n int64) bool {
		value, long := strings.CutPrefix(term[len(f.prefix):], longMark)
		if long {
			head := value[:len(value)-valueDigest]
			if full && (FacetValue{head, n}).compare(last) > 0 {
				return true
			}
			value, err = req.lookUp(f, term, known)
		}
		if err == nil {
			err = fn(value, n)
		}
		return err == nil
	})
	return cmp.Or(err, counted)
}

// lookUp returns the value of a field for a term. If known does not have it, lookUp reads an asset with the term and
// adds all values of that asset to known, by their terms.
func (req *request) lookUp(f facetField, term string, known map[string]string) (string, error) {
	if value, ok := known[term]; ok {
		return value, nil
	}
	found, err := req.index.Find(req.ctx, index.Query{All: [][]string{{term}}})
	if err != nil {
		return "", err
	}
	if len(known) > mostKnown {
		clear(known)
	}
	for r, err := range req.assetsIn(found, pageRange{limit: 1}) {
		var p parts
		if err == nil {
			p, err = partsOf(r.Body)
		}
		if err != nil {
			return "", err
		}
		for _, value := range f.values(r, p) {
			known[valueTerm(f.prefix, value)] = value
		}
	}
	value, ok := known[term]
	if !ok {
		return "", fmt.Errorf("the index has the term %q, which no asset has", term)
	}
	return value, nil
}
