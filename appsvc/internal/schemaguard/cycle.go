package schemaguard

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// together returns the nodes that n applies in place: those that its keywords name and those that its dynamic
// references may lead to, whatever the way.
func (g *graph) together(n *node) []*node {
	out := append([]*node(nil), n.inPlace...)
	if n.ref != nil {
		out = append(out, n.ref)
	}
	for _, name := range slices.Sorted(maps.Keys(n.dependents)) {
		out = append(out, n.dependents[name])
	}
	if n.recursive != nil {
		out = append(out, n.recursive)
		if n.recursive.schema.RecursiveAnchor {
			out = append(out, g.recursive)
		}
	}
	if n.dynamic != nil {
		out = append(out, n.dynamic)
		if n.dynamicName != "" {
			out = append(out, g.dynamics[n.dynamicName])
		}
	}
	return out
}

// extent is how much a node applies in place, counted along all ways.
type extent struct {
	open  bool // it is still being computed
	chain int  // the longest chain of nodes, with n itself
	total int  // all nodes, each as often as a way leads to it; maxExpansions+1 stands for any higher number
}

// check refuses a schema that applies a node to the same place of a config again, which a validator would do without
// end, and one that applies too many nodes to one place.
func (g *graph) check() error {
	known := map[*node]*extent{}
	for _, n := range g.all {
		if _, err := g.extent(n, known, nil); err != nil {
			return err
		}
	}
	return nil
}

// extent returns the extent of n, from known if it is there. way are the nodes that lead to n. A node that is met again
// while its own extent is being computed closes a cycle.
func (g *graph) extent(n *node, known map[*node]*extent, way []*node) (*extent, error) {
	way = append(way, n)
	// Each node is walked once. If its walk is not over, this way has come back to it.
	if e, ok := known[n]; ok {
		if e.open {
			return nil, cycle(way)
		}
		return e, nil
	}
	// total stops at the limit, since it may double with each node.
	e := &extent{open: true, chain: 1, total: 1}
	known[n] = e
	for _, next := range g.together(n) {
		sub, err := g.extent(next, known, way)
		if err != nil {
			return nil, err
		}
		e.chain = max(e.chain, sub.chain+1)
		e.total = min(e.total+sub.total, maxExpansions+1)
	}
	e.open = false
	if e.chain > maxChain {
		return nil, refuse(pointerOf(n.location), "%d subschemas in a row apply to the same value, at most %d may", e.chain, maxChain)
	}
	if e.total > maxExpansions {
		return nil, refuse(pointerOf(n.location), "more than %d subschemas apply to the same value", maxExpansions)
	}
	return e, nil
}

// cycle returns the error for the loop at the end of way, with the places that it passes, at most six of them.
func cycle(way []*node) error {
	loop := slices.Clone(way[slices.Index(way, way[len(way)-1]):])
	if loop[0].location == "" { // it stands for the places that a dynamic reference may lead to
		loop = append(loop[1:], loop[1])
	}
	last := loop[0]
	const most = 6
	var names []string
	loop = slices.DeleteFunc(loop, func(n *node) bool { return n.location == "" })
	for i, n := range loop {
		if i == most && len(loop) > most+1 {
			names = append(names, "…", fmt.Sprintf("%q", "#"+shorten(pointerOf(last.location))))
			break
		}
		names = append(names, fmt.Sprintf("%q", "#"+shorten(pointerOf(n.location))))
	}
	return refuse(pointerOf(last.location), "it comes back to itself without descending into the config: %s; "+
		"a recursive schema passes through properties or items", strings.Join(names, " → "))
}
