package schemaguard

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vitrine-go/vitrine/internal/jsonpointer"
)

// errFetch is the error for a reference that would need the network or a file.
var errFetch = errors.New("nothing is fetched")

// noLoader refuses to load any schema. The standard meta-schemas are built into the compiler.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errFetch }

// reference surveys a reference. If it leads to a place that keywords alone do not lead to, such as "#/x-shared/name",
// that place becomes a subschema by the reference, so it is surveyed as one.
func (o *outline) reference(v any, at string, in scope) error {
	text, ok := v.(string)
	if !ok {
		return refuse(at, "a reference is a string, this is %s", kindOf(v))
	}
	if first, again := o.refs[text]; !again || at < first {
		o.refs[text] = at
	}
	address, fragment, _ := strings.Cut(text, "#")
	if pointer, err := url.PathUnescape(fragment); err == nil {
		fragment = pointer
	}
	// An anchor, an address alone, or a pointer along keywords leads to a subschema that is surveyed anyway.
	if !strings.HasPrefix(fragment, "/") {
		return nil
	}
	if address != "" {
		o.across[fragment] = struct{}{}
	}
	switch {
	case address != "" && address != in.id:
		if !draft2020.isSubschema(fragment) {
			return refuse(at, "%q is in another resource, where references lead to subschemas only, and nothing is fetched", shorten(text))
		}
		return nil
	case in.draft.isSubschema(fragment):
		return nil
	}
	// What is left is a pointer to a place that only this reference makes a subschema.
	pointer := in.resource + fragment
	target, ok := lookup(o.doc, pointer)
	if !ok {
		return refuse(at, "there is nothing at %q", shorten(text))
	}
	if _, again := o.met[pointer]; !again {
		o.foreign++
	}
	return o.schema(target, pointer, in)
}

// otherResources surveys the places that a reference from another resource can reach and that keywords do not lead to:
// "#/$defs/name" in a resource of draft 7, where $defs is not a keyword. Which resource a reference leads to is not
// known here, so its fragment is looked up in all whose draft makes a difference.
func (o *outline) otherResources() error {
	lookups := 0
	for before := -1; before != len(o.resources)+len(o.across); {
		before = len(o.resources) + len(o.across) // what is surveyed below may have further ones
		for _, in := range slices.Clone(o.resources) {
			if in.draft == draft2020 {
				continue
			}
			for _, fragment := range slices.Sorted(maps.Keys(o.across)) {
				if in.draft.isSubschema(fragment) {
					continue
				}
				if lookups++; lookups > maxLookups {
					return refuse("", "it has too many references between resources of different drafts")
				}
				if err := o.reached(in.resource+fragment, in); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// reached surveys the place that a reference from another resource may lead to, if there is a schema.
func (o *outline) reached(pointer string, in scope) error {
	target, ok := lookup(o.doc, pointer)
	if !ok {
		return nil
	}
	switch target.(type) {
	case bool, map[string]any:
	default:
		return nil // a reference to it would be refused by the compiler
	}
	if _, again := o.met[pointer]; !again {
		o.foreign++
	}
	return o.schema(target, pointer, in)
}

// lookup returns the value at a JSON pointer (RFC 6901), and false if there is none.
func lookup(v any, pointer string) (any, bool) {
	for _, token := range strings.Split(pointer, "/")[1:] {
		switch parent := v.(type) {
		case map[string]any:
			member, ok := parent[jsonpointer.Unescape(token)]
			if !ok {
				return nil, false
			}
			v = member
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(parent) {
				return nil, false
			}
			v = parent[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// resourceOf returns the nearest node at or above n that has a base URI of its own.
func (g *graph) resourceOf(n *node) *node {
	for at := n.location; ; {
		if m, ok := g.byLocation[at]; ok && (m.schema.ID != "" || strings.HasSuffix(at, "#")) {
			return m
		}
		slash := strings.LastIndexByte(at, '/')
		if hash := strings.IndexByte(at, '#'); slash <= hash {
			at = at[:hash+1]
			if _, ok := g.byLocation[at]; !ok {
				return n
			}
			continue
		}
		at = at[:slash]
	}
}

// entries returns the nodes at which references may enter a resource with $recursiveAnchor: those that a node outside
// of such a resource applies. The first of them on the way decides where a $recursiveRef leads.
func (g *graph) entries() []*node {
	var out []*node
	met := map[*node]bool{}
	for _, n := range append([]*node{{resource: &node{schema: &jsonschema.Schema{}}, inPlace: []*node{g.root}}}, g.all...) {
		for _, next := range n.everything() {
			if next.resource.schema.RecursiveAnchor && !n.resource.schema.RecursiveAnchor && !met[next] {
				met[next] = true
				out = append(out, next)
			}
		}
	}
	return out
}

// referrer returns the pointer of the reference that most likely led to a location that the compiler could not resolve,
// "" if no reference fits. The compiler names the location alone. Of several references that fit, the longest is taken.
func (o *outline) referrer(location string) string {
	best, at := -1, ""
	for text, pointer := range o.refs {
		if fits(text, location) && (len(text) > best || len(text) == best && pointer < at) {
			best, at = len(text), pointer
		}
	}
	return at
}

// fits reports whether a reference may have been resolved to location.
func fits(ref, location string) bool {
	address, frag, _ := strings.Cut(ref, "#")
	target, targetFrag, _ := strings.Cut(location, "#")
	if unescaped, err := url.PathUnescape(targetFrag); err == nil {
		targetFrag = unescaped
	}
	if unescaped, err := url.PathUnescape(frag); err == nil {
		frag = unescaped
	}
	return strings.HasSuffix(target, strings.TrimLeft(address, "./")) && (targetFrag == "" || strings.HasSuffix(targetFrag, frag))
}
