package schemaguard

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// The library has no budget of its own. It checks the format of a value after its type, and before it goes on to references and to
// what is inside. So every subschema gets a format, whose check charges the steps that the subschema takes: for the value, and for
// applying each of its subschemas, since one that finds a wrong type does not come to its format. The comparisons of enum and const
// would come before the format, so they are done in it too.

// maxChain is how many subschemas in a row may apply to one value. Each is a frame on the stack, and the library looks for cycles
// among those before it.
const maxChain = 200

// meter charges the steps of the validation that is under way.
type meter struct {
	left     int
	patterns time.Duration // left for package regexp2

	apply   int // steps of applying a subschema to a value: more if the config is deep or has long numbers
	number  int // steps of reading the longest number of the config
	depth   int // of the config
	dynamic int // steps of following a dynamic reference, for each level of the config

	numbers     bool // the schema looks into numbers
	unevaluated bool // the schema keeps track of what is evaluated
}

// charge takes steps from what is left. It panics with ErrCostly if there are not so many.
func (m *meter) charge(steps int) {
	if m.left -= steps; m.left < 0 {
		panic(ErrCostly)
	}
}

// measure sets what depends on the config.
func (m *meter) measure(config any) {
	longest, depth := extremes(config)
	m.depth = depth
	m.apply, m.number = 2+depth/16, 1
	if m.numbers {
		m.number += min(longest, 1<<20) / 64 * (1 + min(longest, 1<<20)/8192)
		m.apply += m.number - 1
	}
	m.charge(m.apply)
}

// extremes returns the size of the longest number in v, and how deep v is nested.
func extremes(v any) (longest, depth int) {
	switch v := v.(type) {
	case json.Number:
		return numberSize(string(v)), 1
	case []any:
		for _, element := range v {
			n, d := extremes(element)
			longest, depth = max(longest, n), max(depth, d)
		}
	case map[string]any:
		for _, member := range v {
			n, d := extremes(member)
			longest, depth = max(longest, n), max(depth, d)
		}
	}
	return longest, depth + 1
}

// numberSize is the number of decimal digits that a JSON number has when it is written out: 1e5 has six, about.
func numberSize(text string) int {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if exponent == "" {
		return len(mantissa)
	}
	e, err := strconv.Atoi(exponent)
	if err != nil || e < -1_000_000 || e > 1_000_000 {
		return math.MaxInt32
	}
	return len(mantissa) + max(e, -e)
}

// size is how many values v has, with itself. Each 64 bytes of a text count as one more.
func size(v any) int {
	n := 1
	switch v := v.(type) {
	case string:
		n += len(v) / 64
	case []any:
		for _, element := range v {
			n += size(element)
		}
	case map[string]any:
		for name, member := range v {
			n += 1 + len(name)/64 + size(member)
		}
	}
	return n
}

// walk has the subschemas that a schema can reach, also those of meta-schemas.
type walk struct {
	all       []*jsonschema.Schema
	met       map[*jsonschema.Schema]bool
	dynamic   map[string][]*jsonschema.Schema // by their dynamic anchors
	recursive []*jsonschema.Schema            // those with $recursiveAnchor
	chains    map[*jsonschema.Schema]int      // 0 while it is computed
}

// install makes the meter charge for the subschemas at these places and for what they refer to. It refuses a schema in which a
// subschema is applied to the value that it applies to already.
func (m *meter) install(places map[string]*jsonschema.Schema, formats Formats) error {
	w := walk{met: map[*jsonschema.Schema]bool{}, dynamic: map[string][]*jsonschema.Schema{}, chains: map[*jsonschema.Schema]int{}}
	for _, s := range places {
		w.add(s)
	}
	slices.SortFunc(w.all, func(a, b *jsonschema.Schema) int { return strings.Compare(a.Location, b.Location) })
	longest := 0
	for _, s := range w.all {
		n, err := w.chain(s, nil)
		if err != nil {
			return err
		}
		longest = max(longest, n)
	}
	m.dynamic = longest / 16
	for _, s := range w.all {
		m.hook(s, formats.asserted(s.Format))
	}
	return nil
}

// add adds a subschema and those that it applies.
func (w *walk) add(s *jsonschema.Schema) {
	if w.met[s] {
		return
	}
	w.met[s] = true
	w.all = append(w.all, s)
	if s.DynamicAnchor != "" {
		w.dynamic[s.DynamicAnchor] = append(w.dynamic[s.DynamicAnchor], s)
	}
	if s.RecursiveAnchor {
		w.recursive = append(w.recursive, s)
	}
	for _, next := range slices.Concat(inPlace(s), inside(s)) {
		w.add(next)
	}
}

// inPlace returns the subschemas that s applies to the value that it is applied to.
func inPlace(s *jsonschema.Schema) (out []*jsonschema.Schema) {
	if s.DraftVersion < int(draft2019) && s.Ref != nil {
		return []*jsonschema.Schema{s.Ref} // its neighbours are ignored
	}
	out = slices.Concat([]*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf)
	if s.DynamicRef != nil {
		out = append(out, s.DynamicRef.Ref)
	}
	for _, sub := range s.DependentSchemas {
		out = append(out, sub)
	}
	for _, dependency := range s.Dependencies {
		sub, _ := dependency.(*jsonschema.Schema)
		out = append(out, sub)
	}
	return slices.DeleteFunc(out, func(s *jsonschema.Schema) bool { return s == nil })
}

// inside returns the subschemas that s applies to members, their names and elements.
func inside(s *jsonschema.Schema) []*jsonschema.Schema {
	out := slices.Concat([]*jsonschema.Schema{s.PropertyNames, s.UnevaluatedProperties, s.UnevaluatedItems, s.Contains, s.Items2020}, s.PrefixItems)
	for _, sub := range s.Properties {
		out = append(out, sub)
	}
	for _, sub := range s.PatternProperties {
		out = append(out, sub)
	}
	for _, v := range []any{s.AdditionalProperties, s.AdditionalItems, s.Items} {
		switch v := v.(type) {
		case *jsonschema.Schema:
			out = append(out, v)
		case []*jsonschema.Schema:
			out = append(out, v...)
		}
	}
	return slices.DeleteFunc(out, func(s *jsonschema.Schema) bool { return s == nil })
}

// chain returns how many subschemas in a row apply to one value from s on. It refuses a chain that comes back to itself, and one
// that is too long. way are the subschemas that lead to s. A dynamic reference may lead to every subschema with its anchor.
func (w *walk) chain(s *jsonschema.Schema, way []*jsonschema.Schema) (int, error) {
	way = append(way, s)
	if n, known := w.chains[s]; known {
		if n == 0 {
			return 0, cycle(way)
		}
		return n, nil
	}
	w.chains[s] = 0
	next := inPlace(s)
	if s.RecursiveRef != nil && s.RecursiveRef.RecursiveAnchor {
		next = append(next, w.recursive...)
	}
	if d := s.DynamicRef; d != nil && d.Anchor != "" && d.Anchor == d.Ref.DynamicAnchor {
		next = append(next, w.dynamic[d.Anchor]...)
	}
	slices.SortStableFunc(next, func(a, b *jsonschema.Schema) int { return strings.Compare(a.Location, b.Location) })
	longest := 1
	for _, sub := range next {
		n, err := w.chain(sub, way)
		if err != nil {
			return 0, err
		}
		longest = max(longest, n+1)
	}
	if longest > maxChain {
		return 0, refuse(pointerOf(s.Location), "%d subschemas in a row apply to the same value, at most %d may", longest, maxChain)
	}
	w.chains[s] = longest
	return longest, nil
}

// cycle returns the error for the loop at the end of way, with the places that it passes, at most six of them.
func cycle(way []*jsonschema.Schema) error {
	loop := way[slices.Index(way, way[len(way)-1]):]
	const most = 6
	var names []string
	for i, s := range loop {
		if i == most && len(loop) > most+1 {
			names = append(names, "…", strconv.Quote("#"+shorten(pointerOf(loop[0].Location))))
			break
		}
		names = append(names, strconv.Quote("#"+shorten(pointerOf(s.Location))))
	}
	return refuse(pointerOf(loop[0].Location), "it comes back to itself without descending into the config: %s; "+
		"a recursive schema passes through properties or items", strings.Join(names, " → "))
}

// mismatch is the error of a value that differs from the constant, or from all values of the enum.
type mismatch struct{ kind jsonschema.ErrorKind }

func (mismatch) Error() string { return "another value" }

// hook gives a subschema a format that charges its steps. asserted is the format that it has of its own, nil if it has none.
func (m *meter) hook(s *jsonschema.Schema, asserted *jsonschema.Format) {
	p := newPrice(m, s)
	constant, enum := s.Const, s.Enum
	one, many := newValues(constant), newValues(nil)
	if enum != nil {
		many = newValues(nil, enum.Values...)
	}
	s.Const, s.Enum = nil, nil
	name := ""
	if asserted != nil {
		name = asserted.Name
	}
	s.Format = &jsonschema.Format{Name: name, Validate: func(v any) error {
		m.charge(p.of(v))
		if constant != nil && !one.has(m, v) {
			return mismatch{&kind.Const{Got: v, Want: *constant}}
		}
		if enum != nil && !many.has(m, v) {
			return mismatch{&kind.Enum{Got: v, Want: enum.Values}}
		}
		if asserted == nil {
			return nil
		}
		if text, ok := v.(string); ok {
			m.charge(formatSteps(name, text))
		}
		return asserted.Validate(v)
	}}
}

// values are those of an enum or a const.
type values struct {
	strings map[string]bool
	others  []any
	size    int // steps of comparing a value with others
}

// newValues returns the values of an enum, and that of a const if it is not nil.
func newValues(constant *any, enum ...any) values {
	out := values{strings: map[string]bool{}}
	if constant != nil {
		enum = append(enum, *constant)
	}
	for _, v := range enum {
		if text, ok := v.(string); ok {
			out.strings[text] = true
		} else {
			out.others = append(out.others, v)
			out.size += 4 * size(v)
		}
	}
	return out
}

// has reports whether v is one of the values, as the library compares them.
func (vs values) has(m *meter, v any) bool {
	if text, ok := v.(string); ok {
		return vs.strings[text]
	}
	m.charge(vs.size * m.number)
	return slices.ContainsFunc(vs.others, func(one any) bool {
		equal, _ := new(jsonschema.ValidatorContext).Equals(v, one)
		return equal
	})
}

// price is what a subschema takes, apart from what its subschemas take once their types are right.
type price struct {
	m                  *meter
	applied            int // subschemas that are applied in place
	once, member, item int // for an object, for each of its members, for each element of an array
	numeric, text      int // for a number, for each 128 bytes of a text
	unique, dynamic    bool
}

func newPrice(m *meter, s *jsonschema.Schema) *price {
	count := func(set ...bool) (n int) {
		for _, is := range set {
			if is {
				n++
			}
		}
		return n
	}
	p := &price{m: m, applied: len(inPlace(s)), unique: s.UniqueItems, dynamic: s.RecursiveRef != nil || s.DynamicRef != nil}
	names := len(s.Required)
	for _, needed := range s.DependentRequired {
		names += 1 + len(needed)
	}
	for _, dependency := range s.Dependencies {
		needed, _ := dependency.([]string)
		names += 1 + len(needed)
	}
	p.once = (names + len(s.DependentSchemas)) / 8
	p.member = 1 + len(s.PatternProperties) + count(s.PropertyNames != nil, s.PropertyNames != nil, s.UnevaluatedProperties != nil)
	p.item = count(s.Items != nil || s.Items2020 != nil || s.AdditionalItems != nil, s.Contains != nil, s.UnevaluatedItems != nil)
	p.numeric = count(s.Minimum != nil, s.Maximum != nil, s.ExclusiveMinimum != nil, s.ExclusiveMaximum != nil)
	if s.MultipleOf != nil {
		p.numeric += 5
	}
	p.text = count(s.MinLength != nil || s.MaxLength != nil)
	integer := s.Types != nil && slices.Contains(s.Types.ToStrings(), "integer")
	m.numbers = m.numbers || integer || p.numeric > 0 || s.UniqueItems || s.Enum != nil || s.Const != nil
	m.unevaluated = m.unevaluated || s.UnevaluatedItems != nil || s.UnevaluatedProperties != nil
	return p
}

// of returns the steps that the subschema takes for a value.
func (p *price) of(v any) int {
	m := p.m
	steps := 1 + p.applied*m.apply
	if p.dynamic {
		steps += m.dynamic * m.depth
	}
	length := 0
	switch v := v.(type) {
	case map[string]any:
		length = len(v)
		steps += p.once + length*p.member*m.apply
	case []any:
		length = len(v)
		steps += length * p.item * m.apply
		if p.unique {
			steps += unique(v) * m.number
		}
	case string:
		steps += len(v) / 128 * p.text
	case json.Number:
		steps += p.numeric * m.number
	}
	if m.unevaluated {
		steps += length * (1 + p.applied) / 2
	}
	return steps
}

// unique is the steps that uniqueItems takes: the library compares up to 20 elements pair by pair, and computes a hash of each if
// there are more.
func unique(array []any) int {
	if len(array) <= 20 {
		return size(array) * len(array)
	}
	return size(array)
}
