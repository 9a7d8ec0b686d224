package schemaguard

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Place is where a value of a config stands: all subschemas that may apply to it. Conditions are not evaluated: both
// branches of an if, all alternatives, and all patternProperties count.
type Place struct {
	schema *Schema
	all    []*jsonschema.Schema
	left   *int // steps
}

// Place returns the place of the config. Finding the places in it charges steps to left; below zero, all are fixed.
func (s *Schema) Place(left *int) Place {
	return Place{schema: s, left: left}.with([]*jsonschema.Schema{s.places[""]})
}

// with returns the place of these subschemas, and of those that apply wherever they do.
func (p Place) with(schemas []*jsonschema.Schema) Place {
	p.all = nil
	for len(schemas) > 0 {
		s := schemas[0]
		if schemas = schemas[1:]; s == nil || slices.Contains(p.all, s) {
			continue
		}
		if *p.left -= 1 + len(p.all)/16; *p.left < 0 {
			break
		}
		p.all = append(p.all, s)
		schemas = append(append(schemas, inPlace(s)...), p.schema.meter.dynamic(s)...)
		for _, x := range s.Extensions {
			if x, ok := x.(*oneOf); ok {
				schemas = append(schemas, x.alternatives...)
			}
		}
	}
	return p
}

// Fixed reports whether a subschema has enum or const.
func (p Place) Fixed() bool {
	return *p.left < 0 || slices.ContainsFunc(p.all, func(s *jsonschema.Schema) bool {
		return p.schema.meter.fixed[s] || s.Enum != nil || s.Const != nil
	})
}

// Member returns the place of the member of this name.
func (p Place) Member(name string) Place {
	var next []*jsonschema.Schema
	for _, s := range p.all {
		more, _ := s.AdditionalProperties.(*jsonschema.Schema)
		if own := s.Properties[name]; own != nil {
			more = own
		}
		next = append(next, more, s.UnevaluatedProperties)
		for _, sub := range s.PatternProperties {
			next = append(next, sub)
		}
	}
	return p.with(next)
}

// Item returns the place of the item at this index.
func (p Place) Item(i int) Place {
	var next []*jsonschema.Schema
	for _, s := range p.all {
		first := s.PrefixItems
		rest := s.Items2020
		switch items := s.Items.(type) { // before draft 2020-12
		case *jsonschema.Schema:
			rest = items
		case []*jsonschema.Schema:
			first = items
			rest, _ = s.AdditionalItems.(*jsonschema.Schema)
		}
		if i < len(first) {
			rest = first[i]
		}
		next = append(next, rest, s.Contains, s.UnevaluatedItems)
	}
	return p.with(next)
}
