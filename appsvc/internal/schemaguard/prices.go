package schemaguard

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// compare pays for enum and const.
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
			m.pay(int64(c.members)*(80+m.dearest) + c.numberCost + int64(c.text)/8)
		}
	}
	m.fail()
}

// object pays for what n says about the members of object and reports whether the subschemas that
// n applies to it have to keep track of them.
func (m *meter) object(n *node, object map[string]any, chain int, marking bool) bool {
	s := n.schema
	if n.additional == nil && s.AdditionalProperties == nil && (marking || n.unevaluatedProperties != nil) && len(object) > 0 {
		marking = true
		m.pay(markPrice * int64(len(object)))
	} else {
		marking = false
	}
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
	for name, sub := range n.dependents {
		if has(object, name) {
			m.visit(sub, object, chain, marking)
		}
	}
	if len(n.properties) > 0 || len(n.patterns) > 0 || s.AdditionalProperties != nil || n.names != nil || n.unevaluatedProperties != nil {
		m.members(n, object)
	} else {
		m.pay(memberPrice / 2 * int64(len(object)))
	}
	return marking
}

// requires pays for looking for names and, once, for those that are missing.
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

func has(object map[string]any, name string) bool {
	_, ok := object[name]
	return ok
}

func (m *meter) members(n *node, object map[string]any) {
	m.level++
	for name, v := range object {
		if m.left < 0 {
			break
		}
		if !m.member(n, name, v) && n.unevaluatedProperties != nil {
			m.visit(n.unevaluatedProperties, v, 0, false)
		}
		if n.names != nil { // validated on its own, with a way of its own
			m.pay(visitPrice)
			scope := m.scope
			m.scope = nil
			m.follow(n.names, name, 0, false)
			m.scope = scope
		}
	}
	m.level--
}

// member pays for one member and reports whether n evaluates it.
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

// array is to elements what object is to members.
func (m *meter) array(n *node, array []any, marking bool) bool {
	s := n.schema
	all := n.items != nil || s.AdditionalItems != nil
	if !all && (marking || n.unevaluatedArr != nil) && len(array) > len(n.prefix) {
		marking = true
		m.pay(markPrice * int64(len(array)))
	} else {
		marking = false
	}
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
		} else if n.unevaluatedArr != nil {
			m.visit(n.unevaluatedArr, v, 0, false)
		}
		if n.contains != nil {
			m.pay(memberPrice)
			m.visit(n.contains, v, 0, false)
		}
	}
	m.level--
	return marking
}

// unique pays for uniqueItems: few elements are compared pair by pair, many are hashed first.
func (m *meter) unique(array []any) {
	times := int64(2)
	if len(array) <= 20 {
		times = int64(len(array))
	}
	m.weigh(array, times)
}

func (m *meter) weigh(v any, times int64) {
	if m.left < 0 {
		return
	}
	switch v := v.(type) {
	case json.Number:
		m.pay(times * (hashPrice + m.dearest))
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

// text pays for what n says about a string.
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

// number pays for what n says about a number.
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

// match pays for looking for p in text and reports whether it is there.
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
