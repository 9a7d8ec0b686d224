package schemaguard

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// compare pays for enum and const. A string that one of them lists is found, so there is no fault; every other value
// may be found or not, and counts as a fault.
func (m *meter) compare(n *node, v any) {
	if n.schema.Enum == nil && n.schema.Const == nil {
		return
	}
	c := &n.equal
	switch v := v.(type) {
	case json.Number:
		m.pay(int64(c.numbers)*numberCost(string(v)) + c.numberCost)
	case string:
		m.pay(int64(len(c.strings))*8 + int64(min(c.text, len(c.strings)*len(v)))/8)
		if c.strings[v] {
			return
		}
	case []any, map[string]any:
		if c.composites > 0 {
			m.pay(int64(c.members)*(80+m.maxNumberCost) + c.numberCost + int64(c.text)/8)
		}
	}
	m.fail()
}

// object pays for the keywords of n about the members of object, and for the members. It returns whether the subschemas
// that n applies in place must keep track of the members they evaluate: only if somebody asks, and only if n does not
// evaluate all members itself.
func (m *meter) object(n *node, object map[string]any, chain int, marking bool) bool {
	s := n.schema
	// With additionalProperties n evaluates every member, so nobody has to keep track.
	if n.additional == nil && s.AdditionalProperties == nil && (marking || n.unevaluatedProperties != nil) && len(object) > 0 {
		marking = true
		m.pay(markPrice * int64(len(object)))
	} else {
		marking = false
	}
	// Keywords about names: required, dependentRequired and dependencies.
	m.requires(object, s.Required)
	m.pay(memberPrice * int64(len(s.Dependencies)+len(s.DependentRequired)+len(s.DependentSchemas)))
	for name, need := range s.DependentRequired {
		if has(object, name) {
			m.requires(object, need)
		}
	}
	for name, dependency := range s.Dependencies {
		if need, ok := dependency.([]string); ok && has(object, name) {
			m.requires(object, need)
		}
	}
	if s.MinProperties != nil && len(object) < *s.MinProperties || s.MaxProperties != nil && len(object) > *s.MaxProperties {
		m.fail()
	}
	// Schemas that apply to the object if it has a member.
	for name, sub := range n.dependents {
		if has(object, name) {
			m.visit(sub, object, chain, marking)
		}
	}
	if len(n.properties) > 0 || len(n.patterns) > 0 || s.AdditionalProperties != nil || n.names != nil || n.unevaluatedProperties != nil {
		m.members(n, object)
	} else { // the validator still walks the members once
		m.pay(memberPrice / 2 * int64(len(object)))
	}
	return marking
}

// requires pays for looking names up, and for one fault that lists all those that are missing.
func (m *meter) requires(object map[string]any, names []string) {
	m.pay(memberPrice * int64(len(names)))
	if m.left < 0 {
		return
	}
	for _, name := range names {
		if !has(object, name) {
			m.fail()
			m.pay(memberPrice * int64(len(names)))
			return
		}
	}
}

// has reports whether an object has a member.
func has(object map[string]any, name string) bool {
	_, ok := object[name]
	return ok
}

// members pays for the keywords of n that apply to members: properties, patternProperties, additionalProperties,
// unevaluatedProperties and propertyNames.
func (m *meter) members(n *node, object map[string]any) {
	m.level++
	for name, v := range object {
		if m.left < 0 {
			break
		}
		if !m.member(n, name, v) && n.unevaluatedProperties != nil {
			m.visit(n.unevaluatedProperties, v, 0, false)
		}
		// A name is validated on its own: the way to it does not count for its references.
		if n.names != nil {
			m.pay(visitPrice)
			scope := m.scope
			m.scope = nil
			m.follow(n.names, name, 0, false)
			m.scope = scope
		}
	}
	m.level--
}

// member pays for one member, and reports whether n evaluates it, in the meaning of unevaluatedProperties.
func (m *meter) member(n *node, name string, v any) bool {
	m.pay(memberPrice)
	sub, evaluated := n.properties[name]
	if evaluated {
		m.visit(sub, v, 0, false)
	}
	for _, p := range n.patterns {
		if m.match(p.pattern, name) {
			evaluated = true
			m.visit(p.node, v, 0, false)
		}
	}
	if !evaluated && n.schema.AdditionalProperties != nil {
		evaluated = true
		if n.additional != nil {
			m.visit(n.additional, v, 0, false)
		} else {
			m.faults++
			m.pay(memberPrice) // named in one fault with the others
		}
	}
	return evaluated
}

// array pays for the keywords of n about array, and for its elements. Its result means for elements what that of object
// means for members.
func (m *meter) array(n *node, array []any, marking bool) bool {
	s := n.schema
	// If items applies to every element behind the prefix, n evaluates them all.
	all := n.items != nil || s.AdditionalItems != nil
	if !all && (marking || n.unevaluatedItems != nil) && len(array) > len(n.prefix) {
		marking = true
		m.pay(markPrice * int64(len(array)))
	} else {
		marking = false
	}
	// contains counts as broken: whether it is depends on verdicts that the meter does not compute.
	if s.MinItems != nil && len(array) < *s.MinItems || s.MaxItems != nil && len(array) > *s.MaxItems || n.contains != nil {
		m.fail()
	}
	if s.UniqueItems && len(array) > 1 {
		m.fail()
		m.unique(array)
	}
	m.level++
	for i, v := range array {
		if m.left < 0 {
			break
		}
		if i < len(n.prefix) {
			m.visit(n.prefix[i], v, 0, false)
		} else if n.items != nil {
			m.visit(n.items, v, 0, false)
		} else if n.unevaluatedItems != nil {
			m.visit(n.unevaluatedItems, v, 0, false)
		}
		if n.contains != nil {
			m.pay(memberPrice)
			m.visit(n.contains, v, 0, false)
		}
	}
	m.level--
	return marking
}

// unique pays for uniqueItems. The validator compares up to 20 elements pair by pair; if there are more, it computes a
// hash of each, and compares those whose hashes are equal.
func (m *meter) unique(array []any) {
	times := int64(2)
	if len(array) <= 20 {
		times = int64(len(array))
	}
	m.weigh(array, times)
}

// weigh pays for looking at v, and at everything inside it, so many times. A number costs as much as the most expensive
// one of the config, since numbers are compared exactly.
func (m *meter) weigh(v any, times int64) {
	if m.left < 0 {
		return
	}
	switch v := v.(type) {
	case json.Number:
		m.pay(times * (hashPrice + m.maxNumberCost))
	case string:
		m.pay(times * (hashPrice + int64(len(v))/4))
	case []any:
		m.pay(times * hashPrice)
		for _, element := range v {
			m.weigh(element, times)
		}
	case map[string]any:
		m.pay(times * hashPrice)
		for name, member := range v {
			m.pay(times * (2*hashPrice + int64(len(name))/4))
			m.weigh(member, times)
		}
	default:
		m.pay(times * hashPrice)
	}
}

// text pays for the keywords of n about a string. A format counts as broken: whether it is would cost as much to find
// out.
func (m *meter) text(n *node, text string) {
	s := n.schema
	if s.MinLength != nil || s.MaxLength != nil {
		m.pay(memberPrice + 3*int64(len(text)))
		length := utf8.RuneCountInString(text)
		if s.MinLength != nil && length < *s.MinLength || s.MaxLength != nil && length > *s.MaxLength {
			m.fail()
		}
	}
	if s.Format != nil {
		m.pay(formatCost(s.Format.Name, text))
		m.fail()
	}
	if p, ok := s.Pattern.(*pattern); ok && !m.match(p, text) {
		m.fail()
	}
}

// number pays for the keywords of n about a number. The validator computes with exact fractions, so a long number costs
// more. A number close to a bound counts as one that breaks it.
func (m *meter) number(n *node, text string) {
	if n.bounds == 0 && n.schema.MultipleOf == nil {
		return
	}
	m.pay(numberCost(text))
	if n.bounds > 0 {
		m.pay(int64(n.bounds) * (200 + numberSize(text)))
		if f, err := strconv.ParseFloat(text, 64); err != nil || f <= n.low || f >= n.high {
			m.pay(int64(n.bounds-1) * failPrice)
			m.fail()
		}
	}
	if n.schema.MultipleOf != nil {
		m.pay(2_000 + 5*numberSize(text))
		m.fail()
	}
}

// match pays for looking for p in text, and reports whether it is there. It runs the matcher itself and counts its
// steps, so the price is exact. Each pattern has one matcher for the whole walk, since a matcher needs memory in the
// size of its program.
func (m *meter) match(p *pattern, text string) bool {
	if m.matchers == nil {
		m.matchers = map[*pattern]matcher{}
	}
	run := m.matchers[p]
	if run == nil {
		run = p.matcher()
		m.matchers[p] = run
	}
	most := max(m.left, 0) / stepPrice
	taken, found := run.work(text, most)
	m.pay(200 + stepPrice*taken)
	return found
}
