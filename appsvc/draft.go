package appsvc

import (
	"bytes"
	"slices"
)

// draft is the content of an app before it is stored as a version.
type draft struct {
	title    string
	groups   []string
	elements []draftElement
}

// draftElement is an element of a draft. It is kept if the version before has it with the same component
// and config, at any index. Otherwise it is written: its config must conform to the component, and the
// component's manifest is copied.
type draftElement struct {
	kept     []byte // the stored text after the head; nil if the element is written
	ref      ComponentRef
	config   []byte
	manifest []byte
}

func (e draftElement) written() bool { return e.kept == nil }

// components returns the names of the components in use, sorted, each once.
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

// same reports whether two drafts hold the same content.
func (d draft) same(old draft) bool {
	return d.title == old.title && slices.Equal(d.groups, old.groups) &&
		slices.EqualFunc(d.elements, old.elements, func(e, o draftElement) bool {
			return !e.written() && bytes.Equal(e.kept, o.kept)
		})
}
