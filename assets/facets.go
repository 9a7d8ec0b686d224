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

// Facet has the most frequent values of a field among all assets that a search finds, on whatever page, at most
// SearchRequest.FacetLimit. The most frequent is the first. Values that are equally frequent are in byte order. Tags
// and keys of attributes that are equal when they are folded, such as Snow and snow, are one value, in the spelling
// that most of the found assets have.
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

// facetSize is the number of values that a facet has at most, if the request does not say it.
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
	name    string
	prefix  string                                // what its terms begin with; see fieldValue
	values  func(assetRecord, parts) []fieldValue // all values of an asset, each once
	spelled bool                                  // the terms may have spellings
	folds   bool                                  // what is shown is a spelling
	rules   rules                                 // of its terms
}

type facetFields []facetField

// facetsOf returns the fields with these names, each once. It returns ErrInvalid if a name is not
// known, or if the key in attribute:<key> is malformed.
func facetsOf(names []string, lim Limits, by rules) (facetFields, error) {
	var out facetFields
	for _, name := range unique(names) {
		f, err := facetOf(name, lim, by)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// facetOf returns the field with this name, as SearchRequest.Facets has it.
func facetOf(name string, lim Limits, by rules) (facetField, error) {
	plain := func(kind rune, values func(assetRecord, parts) []string) facetField {
		return facetField{name: name, prefix: string(kind),
			values: func(r assetRecord, p parts) (out []fieldValue) {
				for _, value := range values(r, p) {
					out = append(out, fieldValue{value: value, shown: value})
				}
				return out
			}}
	}
	integer := func(n *int64) []string {
		if n == nil {
			return nil
		}
		return []string{strconv.FormatInt(*n, 10)}
	}
	names := func(kind rune, names func(parts) []string) facetField {
		return facetField{name: name, prefix: string(kind), spelled: true, folds: true, rules: by,
			values: func(_ assetRecord, p parts) (out []fieldValue) {
				for _, name := range names(p) {
					out = append(out, folded(name, by))
				}
				return unique(out)
			}}
	}
	switch name {
	case "generator":
		return plain(kindGenerator, func(_ assetRecord, p parts) []string { return []string{p.generator} }), nil
	case "via":
		return plain(kindVia, func(_ assetRecord, p parts) []string { return integer(p.Via) }), nil
	case "rights":
		return plain(kindRights, func(_ assetRecord, p parts) []string { return integer(p.Rights) }), nil
	case "folder":
		return plain(kindFolder, func(r assetRecord, _ parts) []string { return r.Folders }), nil
	case "type":
		return plain(kindType, func(_ assetRecord, p parts) []string {
			in, _ := readContent(p.Content)
			types, _ := in.types()
			return types
		}), nil
	case "tags":
		return names(kindTag, func(p parts) []string { return p.Tags }), nil
	case "attribute":
		return names(kindKey, func(p parts) (keys []string) {
			for _, a := range p.Attributes {
				keys = append(keys, a.Key)
			}
			return keys
		}), nil
	}
	key, found := strings.CutPrefix(name, "attribute:")
	switch {
	case !found:
		return facetField{}, fault.Invalid("facets",
			"%q is not known: want generator, tags, via, rights, folder, type, attribute or attribute:<key>", name)
	case key == "":
		return facetField{}, fault.Invalid("facets", "attribute: has an empty key")
	}
	return attributeField(key, by), checkName("facets", key, lim.Name)
}

// attributeField returns the field of the attributes with this key, in whatever spelling.
func attributeField(key string, by rules) facetField {
	return facetField{name: "attribute:" + key, prefix: attributePrefix(key, by), spelled: true, rules: by,
		values: func(_ assetRecord, p parts) (values []fieldValue) {
			for _, a := range p.Attributes {
				if foldName(a.Key, by) == foldName(key, by) {
					values = append(values, attributeValue(a, by))
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
func (req *request) facets(fields facetFields, found *index.Set, limit int) ([]Facet, error) {
	out := fields.empty()
	var few []map[string]facetCount
	untyped := req.old && slices.ContainsFunc(fields, func(f facetField) bool { return f.name == "type" })
	if found != nil && found.Count() <= fewAssets || untyped {
		var err error
		if few, err = req.valuesOf(fields, found); err != nil {
			return nil, err
		}
	}
	for i, f := range fields {
		values := top.New(limit, FacetValue.compare)
		add := func(value string, count int64) {
			if f.name == "type" && value == "" {
				value = "none"
			}
			if n := req.tree.nodes[value]; f.name != "folder" || n != nil && req.sees(n) {
				values.Add(FacetValue{value, count})
			}
		}
		if few == nil {
			if err := req.countValues(f, found, values, add); err != nil {
				return nil, err
			}
		} else {
			for _, c := range few[i] {
				add(c.shown(), c.assets)
			}
		}
		out[i].Values = values.Items()
	}
	return out, nil
}

// facetCount is how many assets have a value, and how many of them have it in which spelling, by the terms of these.
type facetCount struct {
	assets    int64
	spellings map[string]*FacetValue
}

// shown returns the most frequent spelling, of several the one whose term is the first.
func (c facetCount) shown() string {
	most := ""
	for term, s := range c.spellings {
		if best := c.spellings[most]; best == nil || s.Count > best.Count || s.Count == best.Count && term < most {
			most = term
		}
	}
	return c.spellings[most].Value
}

// valuesOf counts the values of fields in the found assets by reading them. It is used when there are few.
func (req *request) valuesOf(fields facetFields, found *index.Set) ([]map[string]facetCount, error) {
	counts := make([]map[string]facetCount, len(fields))
	for i := range counts {
		counts[i] = map[string]facetCount{}
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
			had := map[string]bool{} // values of this asset
			for _, v := range f.values(r, p) {
				c := counts[i][v.value]
				if c.spellings == nil {
					c.spellings = map[string]*FacetValue{}
				}
				if !had[v.value] {
					had[v.value] = true
					c.assets++
				}
				term := f.term(v)
				if c.spellings[term] == nil {
					c.spellings[term] = &FacetValue{Value: v.shown}
				}
				c.spellings[term].Count++
				counts[i][v.value] = c
			}
		}
	}
	return counts, nil
}

// mostKnown is the maximum number of long values that countValues keeps.
const mostKnown = 20_000

// countValues calls fn with each value of a field and the number of found assets that have it. It skips values that are
// too rare to enter most.
func (req *request) countValues(
	f facetField, found *index.Set, most *top.List[FacetValue], fn func(value string, count int64),
) error {
	var last, lastFolded FacetValue // the last one of a full list, and the same with its folded form
	full := false
	least := func() int64 {
		was := last.Value
		if last, full = most.Last(); f.folds && last.Value != was {
			lastFolded.Value = fold(last.Value)
		}
		lastFolded.Count = last.Count
		return last.Count // 0 while the list is not full
	}
	known := map[string]string{} // values that their terms do not have, by these terms
	return req.eachValue(f.prefix, found, least, func(group []index.TermCount, n int64) error {
		// of several the first one, as in facetCount.shown
		first := slices.MaxFunc(group, func(a, b index.TermCount) int { return cmp.Compare(a.Count, b.Count) })
		value, spelling := f.split(first.Term)
		shown := value
		if f.folds && spelling != "" {
			shown = spelling
		}
		if strings.HasPrefix(shown, longMark) {
			// Of spellings that are too long for their terms, equally frequent ones are in the order of their folded
			// forms.
			head, least := value, last
			if rest, long := strings.CutPrefix(value, longMark); long {
				head = rest[:len(rest)-valueDigest]
			}
			if f.folds {
				least = lastFolded
			}
			if full && (FacetValue{head, n}).compare(least) > 0 {
				return nil
			}
			var err error
			if shown, err = req.lookUp(f, first.Term, known); err != nil {
				return err
			}
		}
		fn(shown, n)
		return nil
	})
}

// term returns the term of a value of the field.
func (f facetField) term(v fieldValue) string {
	if f.spelled {
		return v.term(f.prefix, f.rules)
	}
	return valueTerm(f.prefix, v.value)
}

// split returns the value of a field, as it is compared, and the spelling in a term. Either begins with longMark if the
// term has only a digest of it.
func (f facetField) split(term string) (value, spelling string) {
	value, spelling, _ = strings.Cut(term[len(f.prefix):], spellingMark)
	return value, spelling
}

// eachValue calls fn with the terms of each value of a field that found assets have, and with the number of these
// assets. It returns the error of fn. It may skip values with fewer assets than least returns.
func (req *request) eachValue(
	prefix string, found *index.Set, least func() int64, fn func(group []index.TermCount, n int64) error,
) (err error) {
	counted := req.index.CountTerms(req.ctx, found, prefix, spellingMark, least,
		func(group []index.TermCount, n int64) bool {
			err = fn(group, n)
			return err == nil
		})
	return cmp.Or(err, counted)
}

// lookUp returns what a field shows for a term. If known does not have it, lookUp reads an asset with the term and
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
		for _, v := range f.values(r, p) {
			known[f.term(v)] = v.shown
		}
	}
	value, ok := known[term]
	if !ok {
		return "", fmt.Errorf("the index has the term %q, which no asset has", term)
	}
	return value, nil
}
