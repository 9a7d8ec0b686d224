package schemaguard

import (
	"encoding/json"
	"math"
	"math/big"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// node is a compiled subschema together with the nodes that it applies, which jsonschema/v6 keeps in some thirty fields
// of its Schema. A node does not change once newGraph has returned.
//
// The fields fall into two groups, as the specification divides applicators. Those that apply in place look at the same
// value of the config again, so a way through them alone must never come back (see extent). Those that apply to
// children look at a member or an element, so a way through them ends where the config ends.
type node struct {
	schema   *jsonschema.Schema
	location string
	resource *node // the nearest enclosing schema with a base URI of its own
	accepts  kinds

	// Applied to the same place of a config.
	ref, recursive, dynamic *node
	dynamicName             string           // its anchor, if the target of dynamic depends on the way here; otherwise ""
	inPlace                 []*node          // allOf, anyOf, oneOf, not, if, then, else
	dependents              map[string]*node // dependentSchemas, dependencies

	// Applied to what is inside.
	properties                              map[string]*node
	patterns                                []patternNode
	additional, names                       *node
	prefix                                  []*node
	items, contains                         *node
	unevaluatedProperties, unevaluatedItems *node

	anchors map[string]*node // of a resource: its dynamic anchors
	equal   comparison       // what enum and const compare with

	bounds    int     // how many of minimum, maximum and the exclusive ones there are
	low, high float64 // a number between these two surely keeps all of them
}

// patternNode is a member of patternProperties.
type patternNode struct {
	pattern *pattern
	node    *node
}

// kinds is a set of the types of JSON values.
type kinds uint8

const (
	isNull kinds = 1 << iota
	isBoolean
	isNumber
	isString
	isArray
	isObject
	isInteger // of what a schema accepts: numbers that are integers, and no others
	anyKind   = isNull | isBoolean | isNumber | isString | isArray | isObject
)

// comparison is what a value is compared with because of enum and const: how many values there are of each type, how
// long their texts are together, and what reading their numbers costs. A value is only compared with those of its own
// type.
type comparison struct {
	strings                            map[string]bool
	numbers, text, composites, members int
	numberCost                         int64
}

// add counts one value of an enum or a const.
func (c *comparison) add(v any) {
	switch v := v.(type) {
	case json.Number:
		c.numbers++
		c.numberCost += numberCost(string(v))
	case string:
		if c.strings == nil {
			c.strings = map[string]bool{}
		}
		c.strings[v] = true
		c.text += len(v)
	case []any, map[string]any:
		c.composites++
		c.size(v)
	}
}

// size counts a value inside an array or an object: such a value is compared member by member.
func (c *comparison) size(v any) {
	c.members++
	switch v := v.(type) {
	case json.Number:
		c.numberCost += numberCost(string(v))
	case string:
		c.text += len(v)
	case []any:
		for _, element := range v {
			c.size(element)
		}
	case map[string]any:
		for _, member := range v {
			c.size(member)
		}
	}
}

// graph is all nodes that a schema can reach.
type graph struct {
	formats    Formats
	root       *node
	bySchema   map[*jsonschema.Schema]*node
	byLocation map[string]*node
	all        []*node

	// Each stands for all nodes that a dynamic reference may lead to. They have no location.
	dynamics  map[string]*node // by the name of the dynamic anchor
	recursive *node
}

// newGraph makes the graph of a compiled schema. all are the subschemas that were found in its text, also those that
// nothing refers to: the rules hold for them too, so that a schema does not become invalid when a reference is added.
func newGraph(root *jsonschema.Schema, all []*jsonschema.Schema, formats Formats) *graph {
	g := &graph{
		formats:    formats,
		bySchema:   map[*jsonschema.Schema]*node{},
		byLocation: map[string]*node{},
		dynamics:   map[string]*node{},
	}
	g.root = g.node(root)
	for _, s := range all {
		g.node(s)
	}
	// link adds the nodes that it meets for the first time, such as those of a meta-schema, so g.all grows meanwhile.
	for i := 0; i < len(g.all); i++ {
		g.link(g.all[i])
	}
	for _, n := range g.all {
		n.resource = g.resourceOf(n)
	}
	// A $dynamicRef may lead to any node with its anchor. For the search for cycles, one node stands for all of these.
	for _, n := range g.all {
		if name := n.schema.DynamicAnchor; name != "" {
			if n.resource.anchors == nil {
				n.resource.anchors = map[string]*node{}
			}
			n.resource.anchors[name] = n
			if g.dynamics[name] == nil {
				g.dynamics[name] = &node{}
			}
			g.dynamics[name].inPlace = append(g.dynamics[name].inPlace, n)
		}
	}
	g.recursive = &node{inPlace: g.entries()}
	return g
}

// node returns the node of s, and makes it on the first call. It returns nil for nil.
func (g *graph) node(s *jsonschema.Schema) *node {
	if s == nil {
		return nil
	}
	if n, ok := g.bySchema[s]; ok {
		return n
	}
	n := &node{schema: s, location: s.Location}
	g.bySchema[s] = n
	g.byLocation[s.Location] = n
	g.all = append(g.all, n)
	return n
}

// nodes returns the nodes of a list of schemas.
func (g *graph) nodes(schemas []*jsonschema.Schema) []*node {
	var out []*node
	for _, s := range schemas {
		out = append(out, g.node(s))
	}
	return out
}

// named returns the nodes of schemas that have names.
func (g *graph) named(schemas map[string]*jsonschema.Schema) map[string]*node {
	out := make(map[string]*node, len(schemas))
	for name, s := range schemas {
		out[name] = g.node(s)
	}
	return out
}

// link fills in a node from its schema. It meets nodes that were not known before and so makes the graph grow.
func (g *graph) link(n *node) {
	s := n.schema
	s.Format = g.formats.asserted(s.Format)
	n.accepts = accepted(s.Types)
	n.ref = g.node(s.Ref)
	if s.DraftVersion < int(draft2019) && n.ref != nil {
		return // its neighbours are ignored
	}
	n.recursive = g.node(s.RecursiveRef)
	// A $dynamicRef whose target has no $dynamicAnchor of that name is an ordinary reference.
	if s.DynamicRef != nil {
		n.dynamic = g.node(s.DynamicRef.Ref)
		if s.DynamicRef.Anchor != "" && s.DynamicRef.Anchor == s.DynamicRef.Ref.DynamicAnchor {
			n.dynamicName = s.DynamicRef.Anchor
		}
	}
	// then and else are counted both, since which of them applies is only known after if was evaluated.
	for _, group := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, {s.Not, s.If, s.Then, s.Else}} {
		for _, sub := range group {
			if sub != nil {
				n.inPlace = append(n.inPlace, g.node(sub))
			}
		}
	}
	// dependencies, the older keyword, has schemas and lists of names. The lists are counted in meter.object.
	n.dependents = g.named(s.DependentSchemas)
	for name, dependency := range s.Dependencies {
		if sub, ok := dependency.(*jsonschema.Schema); ok {
			n.dependents[name] = g.node(sub)
		}
	}
	g.linkInside(n, s)
	if s.Enum != nil {
		for _, v := range s.Enum.Values {
			n.equal.add(v)
		}
	}
	if s.Const != nil {
		n.equal.add(*s.Const)
	}
	n.bound(s)
}

// bound notes the range of numbers that surely keep all of minimum, maximum and the exclusive ones. A float64 is
// enough: where it is off, the number counts as one that breaks a bound, which costs more.
func (n *node) bound(s *jsonschema.Schema) {
	n.low, n.high = math.Inf(-1), math.Inf(1)
	for _, r := range []*big.Rat{s.Minimum, s.ExclusiveMinimum} {
		if r != nil {
			n.bounds++
			f, _ := r.Float64()
			n.low = max(n.low, f)
		}
	}
	for _, r := range []*big.Rat{s.Maximum, s.ExclusiveMaximum} {
		if r != nil {
			n.bounds++
			f, _ := r.Float64()
			n.high = min(n.high, f)
		}
	}
}

// linkInside fills in the nodes for members and elements. Drafts before 2020-12 write items and additionalItems for
// what prefixItems and items are since; both come into the same fields.
func (g *graph) linkInside(n *node, s *jsonschema.Schema) {
	n.properties = g.named(s.Properties)
	for re, sub := range s.PatternProperties {
		n.patterns = append(n.patterns, patternNode{re.(*pattern), g.node(sub)})
	}
	if sub, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
		n.additional = g.node(sub)
	}
	n.names = g.node(s.PropertyNames)
	n.unevaluatedProperties = g.node(s.UnevaluatedProperties)
	n.unevaluatedItems = g.node(s.UnevaluatedItems)
	n.contains = g.node(s.Contains)
	n.prefix, n.items = g.nodes(s.PrefixItems), g.node(s.Items2020)
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		n.items = g.node(items)
	case []*jsonschema.Schema:
		n.prefix = g.nodes(items)
		if sub, ok := s.AdditionalItems.(*jsonschema.Schema); ok {
			n.items = g.node(sub)
		}
	}
}

// accepted returns the kinds of values that the keyword type allows: all without the keyword.
func accepted(types *jsonschema.Types) kinds {
	if types == nil || types.IsEmpty() {
		return anyKind
	}
	var k kinds
	for _, name := range types.ToStrings() {
		k |= kindNamed(name)
	}
	return k
}

// kindNamed returns the kind that a value of the keyword type names. The meta-schema has refused all others.
func kindNamed(name string) kinds {
	switch name {
	case "null":
		return isNull
	case "boolean":
		return isBoolean
	case "number":
		return isNumber
	case "integer":
		return isInteger
	case "string":
		return isString
	case "array":
		return isArray
	}
	return isObject
}

// everything returns all nodes that n applies, in place and to children, but those behind dynamic references.
func (n *node) everything() []*node {
	out := append([]*node(nil), n.inPlace...)
	out = append(out, n.prefix...)
	for _, next := range []*node{n.ref, n.recursive, n.dynamic, n.additional, n.names, n.items, n.contains, n.unevaluatedProperties, n.unevaluatedItems} {
		if next != nil {
			out = append(out, next)
		}
	}
	for _, group := range []map[string]*node{n.dependents, n.properties} {
		for _, next := range group {
			out = append(out, next)
		}
	}
	for _, p := range n.patterns {
		out = append(out, p.node)
	}
	return out
}
