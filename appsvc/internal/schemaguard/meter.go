package schemaguard

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// The library cannot limit its work. It checks the format of a value after its type, and before references and inner
// values. So every subschema gets a format, whose check charges the steps that the subschema takes: for the value, and
// for applying each of its subschemas, since the library skips the format if the type is wrong. The library would
// compare enum and const before the format, so the format compares them too.

// The limits of steps for validating one config, and all configs of a request. pattern.go has the limits of patterns.
const (
	configSteps  = 400_000
	requestSteps = 3 * configSteps
	compileSteps = 40 // of compiling a subschema
)

const (
	// subschemas in a row that apply to one value: each is a frame on the stack, and the library looks for cycles among
	// them
	maxChain   = 200
	applySteps = 2  // of applying a subschema to a value
	metaSteps  = 30 // of applying a standard meta-schema, for each value in a value
)

// meter counts the steps of the validation that is under way.
type meter struct {
	left     int
	patterns time.Duration // time that is left for package regexp2
	deciding bool          // formats decide between alternatives: see oneOf

	schemas     []*jsonschema.Schema        // the subschemas of the configSchema, in the order of their places
	own         map[*jsonschema.Schema]bool // the same, as a set: all others are of meta-schemas
	fixed       map[*jsonschema.Schema]bool // the subschemas with enum or const
	numbers     bool                        // a subschema looks into numbers
	unevaluated bool                        // a subschema has unevaluatedItems or unevaluatedProperties
}

// charge subtracts steps from those that are left. It panics with ErrCostly if there are not so many.
func (m *meter) charge(steps int) {
	if m.left -= steps; m.left < 0 {
		panic(ErrCostly)
	}
}

// start charges for a config. The library writes numbers out, so a number with too many digits is too costly if a
// keyword depends on numbers.
func (m *meter) start(config any) {
	m.charge(1)
	if !m.numbers {
		return
	}
	walk(config, func(v any) {
		if number, ok := v.(json.Number); ok && numberSize(string(number)) > maxNumber {
			panic(ErrCostly)
		}
	})
}

// walk visits v, and all values and names of members in it.
func walk(v any, visit func(any)) {
	visit(v)
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			walk(element, visit)
		}
	case map[string]any:
		for name, member := range v {
			visit(name)
			walk(member, visit)
		}
	}
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

// size returns how many values and names of members v has, including v. Each 64 bytes of a text, and each 64 digits of
// a number, count as one more.
func size(v any) (n int) {
	walk(v, func(v any) {
		n++
		switch v := v.(type) {
		case string:
			n += len(v) / 64
		case json.Number:
			n += numberSize(string(v)) / 64
		}
	})
	return n
}

// install makes the meter charge for all subschemas. It rejects a schema in which a subschema is applied to the value
// that it applies to already. names has the formats of the subschemas.
func (m *meter) install(places map[string]*jsonschema.Schema, names map[string]string, formats Formats) error {
	m.own, m.fixed = map[*jsonschema.Schema]bool{}, map[*jsonschema.Schema]bool{}
	for _, pointer := range slices.Sorted(maps.Keys(places)) {
		m.schemas = append(m.schemas, places[pointer])
		m.own[places[pointer]] = true
	}
	chains := map[*jsonschema.Schema]int{}
	for _, s := range m.schemas {
		if _, err := m.chain(s, chains); err != nil {
			return err
		}
		m.unevaluated = m.unevaluated || s.UnevaluatedItems != nil || s.UnevaluatedProperties != nil
	}
	leads := leadToFormats(places, names, formats)
	for pointer, s := range places {
		m.hook(s, formats.check(names[pointer]), formats.asserts(names[pointer]))
		if leads[pointer+"/oneOf"] { // after hook, which counts its steps
			s.Extensions = append(s.Extensions, &oneOf{m, s.OneOf})
			s.OneOf = nil
		}
	}
	return nil
}

// inPlace returns the subschemas that s applies to the value that it is applied to.
func inPlace(s *jsonschema.Schema) (out []*jsonschema.Schema) {
	if s.DraftVersion < int(draft2019) && s.Ref != nil {
		return []*jsonschema.Schema{s.Ref} // before draft 2019-09 the keywords beside $ref are ignored
	}
	out = slices.Concat([]*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf,
		s.OneOf)
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

// dynamic returns the subschemas that a dynamic reference of s may lead to besides: all that have its anchor.
func (m *meter) dynamic(s *jsonschema.Schema) (out []*jsonschema.Schema) {
	r, d := s.RecursiveRef, s.DynamicRef
	if r == nil && d == nil {
		return nil
	}
	for _, other := range m.schemas {
		if r != nil && r.RecursiveAnchor && other.RecursiveAnchor ||
			d != nil && d.Anchor != "" && d.Anchor == d.Ref.DynamicAnchor && d.Anchor == other.DynamicAnchor {
			out = append(out, other)
		}
	}
	return out
}

// chain returns how many subschemas in a row apply to one value from s on. It rejects a cycle, and a chain that is too
// long. A dynamic reference may lead to every subschema with its anchor. chains has the known results, and 0 for the
// subschemas that lead to s.
func (m *meter) chain(s *jsonschema.Schema, chains map[*jsonschema.Schema]int) (int, error) {
	if n, known := chains[s]; known {
		if n == 0 {
			return 0, reject(pointerOf(s.Location), "it comes back to itself without descending into the config: "+
				"a recursive schema passes through properties or items")
		}
		return n, nil
	}
	chains[s] = 0
	longest := 1
	for _, sub := range append(inPlace(s), m.dynamic(s)...) {
		if !m.own[sub] {
			continue // meta-schemas are known to end
		}
		n, err := m.chain(sub, chains)
		if err != nil {
			return 0, err
		}
		longest = max(longest, n+1)
	}
	if longest > maxChain {
		return 0, reject(pointerOf(s.Location), "%d subschemas in a row apply to the same value, at most %d may",
			longest, maxChain)
	}
	chains[s] = longest
	return longest, nil
}

// mismatch is the error of a value that differs from the constant, or from all values of the enum.
type mismatch struct{ kind jsonschema.ErrorKind }

func (mismatch) Error() string { return "another value" }

// hook gives a subschema a format that charges its steps. own is its own format, nil if it has none that can be
// checked; it is an assertion if asserted, and otherwise while it decides between alternatives.
func (m *meter) hook(s *jsonschema.Schema, own *jsonschema.Format, asserted bool) {
	steps := m.stepsOf(s)
	constant, enum := s.Const, s.Enum
	s.Const, s.Enum = nil, nil
	m.fixed[s] = constant != nil || enum != nil
	var values []any
	if constant != nil {
		values = append(values, *constant)
	}
	if enum != nil {
		values = append(values, enum.Values...)
	}
	compared, numbers := 0, 0
	for _, v := range values {
		compared += comparison(v)
		if _, ok := v.(json.Number); ok {
			numbers++
		}
	}
	s.Format = &jsonschema.Format{Validate: func(v any) error {
		m.charge(steps(v) + compared/64)
		if number, ok := v.(json.Number); ok && numbers > 0 { // it is parsed again for each
			m.charge(numbers * (numberSize(string(number)) / 64))
		}
		if constant != nil && !equal(v, *constant) {
			return mismatch{&kind.Const{Want: *constant}}
		}
		if enum != nil && !slices.ContainsFunc(enum.Values, func(one any) bool { return equal(v, one) }) {
			return mismatch{&kind.Enum{Want: enum.Values}}
		}
		if own == nil || !asserted && !m.deciding {
			return nil
		}
		if text, ok := v.(string); ok {
			m.charge(formatSteps(own.Name, text))
		}
		return own.Validate(v)
	}}
	if own != nil {
		s.Format.Name = own.Name
	}
}

// equal reports whether two values are the same for JSON Schema.
func equal(a, b any) bool {
	same, _ := new(jsonschema.ValidatorContext).Equals(a, b)
	return same
}

// comparison is a measure of the time that it takes to compare a value of an enum: 64 are about a step.
func comparison(v any) int {
	if text, ok := v.(string); ok {
		return 1 + len(text)/64
	}
	return 64 * size(v)
}

// stepsOf returns the steps that a subschema takes for a value, apart from what its subschemas take once their types
// are right.
func (m *meter) stepsOf(s *jsonschema.Schema) func(v any) int {
	count := func(set ...bool) (n int) {
		for _, is := range set {
			if is {
				n++
			}
		}
		return n
	}
	applied, meta := inPlace(s), 0
	for _, sub := range applied {
		meta += metaSteps * count(!m.own[sub])
	}
	names := len(s.Required) + len(s.DependentSchemas)
	for _, needed := range s.DependentRequired {
		names += 1 + len(needed)
	}
	for _, dependency := range s.Dependencies {
		needed, _ := dependency.([]string)
		names += 1 + len(needed)
	}
	once := 1 + applySteps*len(applied) + 16*count(s.RecursiveRef != nil, s.DynamicRef != nil)
	member := applySteps * (1 + len(s.PatternProperties) + 2*count(s.PropertyNames != nil) +
		count(s.UnevaluatedProperties != nil))
	item := applySteps * count(s.Items != nil || s.Items2020 != nil ||
		s.AdditionalItems != nil, s.Contains != nil, s.UnevaluatedItems != nil)
	number := count(s.Minimum != nil, s.Maximum != nil, s.ExclusiveMinimum != nil, s.ExclusiveMaximum != nil) +
		5*count(s.MultipleOf != nil)
	integer := s.Types != nil && slices.Contains(s.Types.ToStrings(), "integer")
	m.numbers = m.numbers || meta > 0 || integer || number > 0 || s.UniqueItems || s.Enum != nil || s.Const != nil
	return func(v any) int {
		steps, length := once, 0
		if meta > 0 {
			steps += meta * size(v)
		}
		switch v := v.(type) {
		case map[string]any:
			length = len(v)
			steps += names/8 + length*member
		case []any:
			length = len(v)
			steps += length * item
			if s.UniqueItems && length <= 20 { // the library compares them pair by pair
				steps += size(v) * length
			} else if s.UniqueItems { // it computes a hash of each
				steps += size(v)
			}
		case string:
			steps += len(v) / 128 * count(s.MinLength != nil || s.MaxLength != nil)
		case json.Number:
			steps += number * (1 + numberSize(string(v))/64)
		}
		if m.unevaluated {
			steps += length * (1 + len(applied)) / 2
		}
		return steps
	}
}
