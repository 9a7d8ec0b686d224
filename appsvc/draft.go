package appsvc

import (
	"bytes"
	"slices"
)

// draft is the content of an app before it is stored as a version. CreateApp makes it from the request, Patch from the
// patched document, and Restore from a stored body.
type draft struct {
	title    string
	groups   []string
	elements []draftElement
}

// draftElement is an element of a draft: either a kept one or a written one.
//
//   - A kept element is stored already, in the version before, at any index, with the same component and config. Its text
//     is copied, and nothing in it is checked again.
//   - A written element is new, or has another component or config than before. Its config must conform to the
//     component. It has ref and config at first; complete adds the manifest, a copy of the component's.
type draftElement struct {
	kept     []byte // the stored text after the head; nil if the element is written
	ref      ComponentRef
	config   []byte
	manifest []byte
}

func (e draftElement) written() bool { return e.kept == nil }

// components returns the names of the components in use, sorted, each once, as Head.Components has them.
func (d draft) components() []string {
	names := make([]string, len(d.elements))
	for i, e := range d.elements {
		names[i] = e.ref.Name
		if !e.written() {
			names[i] = member(e.kept, "name")
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// same reports whether d has the content of old, a stored draft. Then a patch has changed nothing. A written element is
// always a change, since judge makes a written element only of one that differs.
func (d draft) same(old draft) bool {
	return d.title == old.title && slices.Equal(d.groups, old.groups) &&
		slices.EqualFunc(d.elements, old.elements, func(e, o draftElement) bool {
			return !e.written() && bytes.Equal(e.kept, o.kept)
		})
}
