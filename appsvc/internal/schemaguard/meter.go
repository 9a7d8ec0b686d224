package schemaguard

import "encoding/json"

// Prices in nanoseconds, see the comment of the package.
const (
	visitPrice   = 320 // applying a subschema to a value
	verdictPrice = 260 // applying true or false
	failPrice    = 560 // finding fault with it
	memberPrice  = 70  // looking a property up
	markPrice    = 200 // keeping track of a member for unevaluatedProperties or unevaluatedItems
	valuePrice   = 130 // decoding a value
	stepPrice    = 24  // a step of a pattern: the matcher's and ours, or ours twice
	hashPrice    = 180 // looking at a value for uniqueItems
)

// maxFrames bounds how deep subschemas are nested in one another while a config is validated.
const maxFrames = 4_000

// meter walks a config along a schema as jsonschema/v6 does and subtracts the price of each step from left. It stops at
// a value of the wrong type, as the validator does. Where the validator may stop later, at the first fault of an enum
// for instance, the meter counts the whole way. Once left is negative the config is too expensive, and the walk ends
// soon, since every step looks at left first.
type meter struct {
	left          int64
	scope         []*node // the nodes on the way here
	level         int     // how deep in the config
	maxNumberCost int64   // the price of the most expensive number in the config
	faults        int     // that a validator may have found so far
	matchers      map[*pattern]matcher
}

// pay subtracts a price.
func (m *meter) pay(price int64) { m.left -= price }

// decodeCost is the price of decoding a text. It is computed from the bytes alone, before anything is decoded: so many
// bytes, and so many values as there are commas, colons and opening brackets outside of strings.
func decodeCost(text []byte) int64 {
	values, quoted := int64(1), false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ':' || c == '[' || c == '{'):
			values++
		}
	}
	return values*valuePrice + int64(len(text))*10
}

// visit pays for applying n to v. chain is how many nodes on the way here apply to the same v in place; the validator
// looks at each of them to find cycles. marking is whether a node on the way has to learn which members or elements of
// v are evaluated, for its unevaluatedProperties or unevaluatedItems.
func (m *meter) visit(n *node, v any, chain int, marking bool) {
	if m.left < 0 {
		return
	}
	if n.schema.Bool != nil {
		m.pay(verdictPrice)
		if !*n.schema.Bool {
			m.fail()
		}
		return
	}
	if len(m.scope) >= maxFrames {
		m.left = -1
		return
	}
	m.pay(visitPrice + 3*int64(chain))
	kind := kindOfValue(v)
	if n.accepts&kind == 0 && !(kind == isNumber && n.accepts&isInteger != 0) {
		m.fail()
		return
	}
	m.scope = append(m.scope, n)
	m.apply(n, v, kind, chain+1, marking)
	m.scope = m.scope[:len(m.scope)-1]
}

// fail pays for a fault. The report of a fault has its location in the config, so it costs more the deeper it is.
func (m *meter) fail() {
	m.faults++
	m.pay(failPrice + 30*int64(m.level))
}

// failAbove pays for the fault that a reference, or a keyword such as allOf, reports for the faults found below it.
// before is how many faults there were when it began.
func (m *meter) failAbove(before int) {
	if m.faults > before {
		m.fail()
	}
}

// kindOfValue returns the type of a decoded JSON value.
func kindOfValue(v any) kinds {
	switch v.(type) {
	case nil:
		return isNull
	case bool:
		return isBoolean
	case json.Number:
		return isNumber
	case string:
		return isString
	case []any:
		return isArray
	}
	return isObject
}

// apply pays for the keywords of n, for a value of a type that n accepts.
func (m *meter) apply(n *node, v any, kind kinds, chain int, marking bool) {
	if kind == isNumber && n.accepts&isNumber == 0 {
		m.pay(numberCost(string(v.(json.Number)))) // whether it is an integer
	}
	m.compare(n, v)
	if n.ref != nil {
		m.follow(n.ref, v, chain, marking)
		if n.schema.DraftVersion < int(draft2019) {
			return
		}
	}
	below := false
	switch v := v.(type) {
	case map[string]any:
		below = m.object(n, v, chain, marking)
	case []any:
		below = m.array(n, v, marking)
	case string:
		m.text(n, v)
	case json.Number:
		m.number(n, string(v))
	}
	m.references(n, v, chain, below)
	before := m.faults
	for _, sub := range n.inPlace {
		m.visit(sub, v, chain, below)
	}
	m.failAbove(before)
	if n.schema.Not != nil || len(n.schema.OneOf) > 1 { // fail where others succeed
		m.fail()
	}
}

// follow pays for a reference to target.
func (m *meter) follow(target *node, v any, chain int, marking bool) {
	before := m.faults
	m.visit(target, v, chain, marking)
	m.failAbove(before)
}

// references pays for $recursiveRef and $dynamicRef, whose targets depend on the way to this node: the outermost
// resource that was entered on the way and has the anchor is the one that counts.
func (m *meter) references(n *node, v any, chain int, marking bool) {
	if target := n.recursive; target != nil {
		if target.schema.RecursiveAnchor {
			target = m.outermost(target, func(scope *node) *node {
				if scope.resource.schema.RecursiveAnchor {
					return scope
				}
				return nil
			})
		}
		m.follow(target, v, chain, marking)
	}
	if target := n.dynamic; target != nil {
		if n.dynamicName != "" {
			target = m.outermost(target, func(scope *node) *node { return scope.resource.anchors[n.dynamicName] })
		}
		m.follow(target, v, chain, marking)
	}
}

// outermost returns the first node that pick finds on the way from the root to here, or fallback.
func (m *meter) outermost(fallback *node, pick func(*node) *node) *node {
	m.pay(20 * int64(len(m.scope)))
	for _, scope := range m.scope {
		if found := pick(scope); found != nil {
			return found
		}
	}
	return fallback
}
