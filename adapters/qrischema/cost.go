package qrischema

import (
	"maps"
	"regexp/syntax"
	"slices"
)

// Prices are in nanoseconds of one core of a small server. budget is what one validation may cost: a tenth of a second.
// The prices are upper bounds: every subschema is counted for every value that it could meet, whether the library
// reaches it or not.
const (
	budget     = 100_000_000
	visitPrice = 2_500 // of applying one subschema to one value
	valuePrice = 300   // of comparing or quoting a value
	stepPrice  = 12    // of one instruction of a pattern at one byte
)

// affordable reports whether the library validates config within the budget. check must have found that the schema has
// no cycles.
func affordable(schema, config any) bool {
	m := meter{root: schema, left: budget, programs: map[string]int64{}}
	m.left -= valuePrice * size(config)
	m.visit(schema, config)
	return m.left >= 0
}

// size counts the values in v, with itself. A string counts as one value more for each 32 bytes.
func size(v any) int64 {
	n := int64(1)
	switch v := v.(type) {
	case string:
		n += int64(len(v)) / 32
	case []any:
		for _, element := range v {
			n += size(element)
		}
	case map[string]any:
		for name, member := range v {
			n += 1 + int64(len(name))/32 + size(member)
		}
	}
	return n
}

// meter walks a config along a schema and subtracts the price of each step from left. Once left is negative the config
// is too expensive, and the walk ends soon.
type meter struct {
	root     any
	left     int64
	programs map[string]int64 // the sizes of compiled patterns
}

// visit pays for applying schema to v. Unlike other validators the library evaluates all keywords of a subschema, even
// if the value has the wrong type.
func (m *meter) visit(schema, v any) {
	object, ok := schema.(map[string]any)
	m.left -= visitPrice
	if !ok || m.left < 0 {
		return
	}
	m.left -= visitPrice / 4 * int64(len(object))
	if ref, ok := object["$ref"].(string); ok {
		target, _ := lookup(m.root, ref[1:])
		m.visit(target, v)
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := object[keyword].([]any)
		for _, part := range parts {
			m.visit(part, v)
		}
	}
	for _, keyword := range []string{"not", "if", "then", "else"} {
		if part, ok := object[keyword]; ok {
			m.visit(part, v)
		}
	}
	for _, part := range named(object["dependentSchemas"]) {
		m.visit(part, v)
	}
	for _, keyword := range []string{"enum", "const"} {
		if given, ok := object[keyword]; ok {
			m.left -= valuePrice * (size(given) + size(v))
		}
	}
	switch v := v.(type) {
	case string:
		m.left -= valuePrice * size(v) // a fault quotes the string
		if pattern, ok := object["pattern"].(string); ok {
			m.match(pattern, v)
		}
	case []any:
		m.array(object, v)
	case map[string]any:
		m.object(object, v)
	}
}

// array pays for the keywords about an array and for its elements. uniqueItems compares each element with all before
// it.
func (m *meter) array(schema map[string]any, array []any) {
	if schema["uniqueItems"] == true {
		m.left -= size(array) * int64(len(array)) * 60 // each is compared with all before it
	}
	positions, _ := schema["items"].([]any)
	for i, v := range array {
		if m.left < 0 {
			return
		}
		if i < len(positions) {
			m.visit(positions[i], v)
		}
		for _, keyword := range []string{"items", "additionalItems", "contains", "unevaluatedItems"} {
			if part, ok := schema[keyword]; ok {
				m.visit(part, v)
			}
		}
	}
}

// object pays for the keywords about an object and for its members.
func (m *meter) object(schema, object map[string]any) {
	properties, patterns := named(schema["properties"]), named(schema["patternProperties"])
	m.left -= int64(len(properties)) * valuePrice
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if m.left < 0 {
			return
		}
		v := object[name]
		if part, ok := properties[name]; ok {
			m.visit(part, v)
		}
		for pattern, part := range patterns {
			m.match(pattern, name)
			m.visit(part, v)
		}
		for _, keyword := range []string{"additionalProperties", "unevaluatedProperties"} {
			if part, ok := schema[keyword]; ok {
				m.visit(part, v)
			}
		}
		if part, ok := schema["propertyNames"]; ok {
			m.visit(part, name)
		}
	}
}

// match pays for looking for pattern in text: at worst, all instructions of its program run at each byte.
func (m *meter) match(pattern, text string) {
	steps, ok := m.programs[pattern]
	if !ok {
		if re, err := syntax.Parse(pattern, syntax.Perl); err == nil {
			if program, err := syntax.Compile(re.Simplify()); err == nil {
				steps = int64(len(program.Inst))
			}
		}
		m.programs[pattern] = steps
	}
	m.left -= valuePrice + steps*int64(len(text))*stepPrice
}

// named returns an object of subschemas, nil if v is no object.
func named(v any) map[string]any {
	object, _ := v.(map[string]any)
	return object
}
