package schemaguard

import "encoding/json"

// Prices in nanoseconds.
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

// meter walks a config along a schema as a validator would and pays for each step.
type meter struct {
	left     int64
	scope    []*node // the nodes on the way here
	level    int     // how deep in the config
	dearest  int64   // the price of its dearest number
	faults   int     // that a validator may have found so far
	matchers map[*pattern]matcher
}

func (m *meter) pay(price int64) { m.left -= price }

// decodeCost is the price of decoding a text.
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

// visit pays for applying n to v. chain is how many nodes on the way here apply to v, and marking
// whether one of them wants to know what n evaluates.
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

// fail pays for a fault, whose location is copied.
func (m *meter) fail() {
	m.faults++
	m.pay(failPrice + 30*int64(m.level))
}

// failAgain pays for telling of faults found since there were before of them.
func (m *meter) failAgain(before int) {
	if m.faults > before {
		m.fail()
	}
}

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
	for _, sub := range n.here {
		m.visit(sub, v, chain, below)
	}
	m.failAgain(before)
	if n.schema.Not != nil || len(n.schema.OneOf) > 1 { // fail where others succeed
		m.fail()
	}
}

// follow pays for a reference to target. A fault behind it is one of the reference too.
func (m *meter) follow(target *node, v any, chain int, marking bool) {
	before := m.faults
	m.visit(target, v, chain, marking)
	m.failAgain(before)
}

// references pays for the references whose target depends on the way here.
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

// outermost returns what pick finds first on the way here.
func (m *meter) outermost(fallback *node, pick func(*node) *node) *node {
	m.pay(20 * int64(len(m.scope)))
	for _, scope := range m.scope {
		if found := pick(scope); found != nil {
			return found
		}
	}
	return fallback
}
