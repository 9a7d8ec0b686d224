package appsvc

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// elementsPath is the JSON pointer of the elements in the document that a patch is applied to.
const elementsPath = appPath + "/elements"

// document returns this document: {"apps":[app]}, as a read returns it over HTTP. head and elements are what Body.split
// has returned; the elements are not parsed.
func document(app App, head []byte, elements [][]byte) jsontree.Node {
	app.Body = head
	doc := jsontree.New(append(app.AppendJSON([]byte(docBegin)), docEnd...))
	*doc.Get("apps").At(0).Get("elements") = jsontree.Array(elements)
	return doc
}

// docBegin and docEnd are what the document has before and after the app.
const docBegin, docEnd = `{"apps":[`, `]}`

// The rules apply to the result of a patch, not to its operations: two patches with the same result are both allowed,
// or neither is. They are:
//
//   - The document is still {"apps":[app]}, and of the app only title, groups and elements differ.
//   - An element without an id is a new one, without a key: exactly {component:{name,version},config}.
//   - An element with an id is the old element with this id, from whatever index. Only its config, component.name and
//     component.version may differ; its key may be left out, and so may all members of its component but these two. A
//     copied element may have the same id as the original: both are that old element.
//
// Any other difference is ErrUnprocessable. The ids of the result are not stored: an element gets its index as id.

// resultDraft applies these rules to the documents before and after a patch, and returns the draft of the next version.
// old is the draft of the version before, and elements are the texts of its elements.
//
// It returns ErrUnprocessable for the first rule that is broken, with a pointer into the document: CodeReadOnly if the
// patch has changed what only the service writes, and CodeNotApplicable if the result has not the shape of an app. It
// checks no limits and no components; checkDraft and validateDraft do.
func resultDraft(before, after *jsontree.Node, old draft, elements [][]byte) (draft, error) {
	apps := after.Get("apps")
	switch {
	case apps == nil || after.Len() != 1:
		return draft{},
			fault.NotApplicable("", `the document must stay an object with the one member "apps"`)
	case apps.Kind() != '[' || apps.Len() != 1:
		return draft{}, fault.NotApplicable("/apps", "must stay an array of one app")
	case apps.At(0).Kind() != '{':
		return draft{}, fault.NotApplicable(appPath, "must stay an object")
	}
	app := apps.At(0)
	if err := sameMembers(before.Get("apps").At(0), app, "title", "groups", "elements"); err != nil {
		return draft{}, fault.At(appPath, err)
	}
	// The three members that may differ must still have their types.
	title, ok := jsontree.Text(app.Get("title").Bytes())
	if !ok {
		return draft{}, fault.NotApplicable(appPath+"/title", "must be a string")
	}
	groups, ok := texts(app.Get("groups").Bytes())
	if !ok {
		return draft{}, fault.NotApplicable(appPath+"/groups", "must be an array of strings")
	}
	list := app.Get("elements")
	if list.Kind() != '[' {
		return draft{}, fault.NotApplicable(elementsPath, "must be an array")
	}
	d := draft{title: title, groups: groups, elements: make([]draftElement, list.Len())}
	for i := range d.elements {
		if i < len(elements) && list.At(i).Untouched(elements[i]) {
			d.elements[i] = old.elements[i]
			continue
		}
		var err error
		if d.elements[i], err = resultElement(list.At(i), old); err != nil {
			return draft{}, fault.At(fmt.Sprintf("%s/%d", elementsPath, i), err)
		}
	}
	return d, nil
}

// sameMembers returns ErrUnprocessable for the first member that only one of two objects has, or that differs and is
// not among the free ones. It is called for the app itself, and for the manifest in an element. Values are compared as
// JSON Patch compares them, in which the order of members does not matter, except that numbers must have the same text:
// 1.0 is not 1.
//
// A free member may have any value, but it may not be removed. The pointer of the error begins at the object.
func sameMembers(before, after *jsontree.Node, free ...string) error {
	at := func(name string) string { return "/" + jsonpointer.Escape(name) }
	for i := range after.Len() {
		if name := after.Name(i); before.Get(name) == nil {
			return fault.Unprocessable(vitrine.CodeReadOnly, at(name), "there is no such member")
		}
	}
	for i := range before.Len() {
		name := before.Name(i)
		switch value := after.Get(name); {
		case value == nil && slices.Contains(free, name):
			return fault.NotApplicable(at(name), "must not be removed")
		case value == nil:
			return fault.Unprocessable(vitrine.CodeReadOnly, at(name), "must not be removed")
		case !slices.Contains(free, name) && !jsontree.Equal(before.At(i), value, jsontree.SameText):
			return fault.Unprocessable(vitrine.CodeReadOnly, at(name), "is read-only")
		}
	}
	return nil
}

// resultElement reads an element of a result, by the rules above. With an id it is an old element, which keptElement
// compares. Without an id it is a new one: its component has exactly name and version, as in CreateApp, and no
// manifest. The element of the draft is kept if neither its config nor its component differs from the old one, and
// written otherwise. The pointer of an error begins at the element.
func resultElement(element *jsontree.Node, old draft) (draftElement, error) {
	if element.Kind() != '{' {
		return draftElement{}, fault.NotApplicable("", "must be an object")
	}
	for i := range element.Len() {
		if name := element.Name(i); name != "id" && name != "key" && name != "component" && name != "config" {
			return draftElement{},
				fault.NotApplicable("/"+jsonpointer.Escape(name), "an element has no such member")
		}
	}
	component, config := element.Get("component"), element.Get("config")
	if component == nil {
		return draftElement{}, fault.NotApplicable("/component", "missing")
	}
	if config == nil {
		return draftElement{}, fault.NotApplicable("/config", "missing")
	}
	id, key := element.Get("id"), element.Get("key")
	if id != nil {
		return keptElement(id, key, component, config, old)
	}
	if key != nil {
		return draftElement{},
			fault.Unprocessable(vitrine.CodeReadOnly, "/key", "a new element has no key: the service gives it one")
	}
	// A new element. Whether its component exists, and the config conforms to it, is checked later.
	e := draftElement{config: config.Bytes()}
	if err := strictjson.Decode(component.Bytes(), &e.ref); err != nil {
		wrong := misshapen("/component", err)
		wrong.Reason += ": a new element has a component {name, version} and a config, a kept one its id too"
		return e, wrong
	}
	return e, nil
}

// keptElement reads an element of a result that has an id, from its members; key may be nil. The id is the index of the
// element in the version before, so an element that the patch has moved is found again. It returns the old element
// itself if nothing in it has changed, so that its stored text is copied. Otherwise it returns a written element, which
// gets the present manifest of its component.
func keptElement(id, key, component, config *jsontree.Node, old draft) (draftElement, error) {
	text, ok := jsontree.Text(id.Bytes())
	if !ok {
		return draftElement{}, fault.NotApplicable("/id", "must be a string")
	}
	index, err := strconv.Atoi(text)
	if err != nil || index < 0 || index >= len(old.elements) || strconv.Itoa(index) != text {
		return draftElement{},
			fault.NotApplicable("/id", "there is no element %q: leave id out of a new element",
				text)
	}
	was := old.elements[index]
	if key != nil && string(key.Bytes()) != `"`+was.key+`"` {
		return draftElement{},
			fault.Unprocessable(vitrine.CodeReadOnly, "/key",
				"the key of element %q is %q: leave it as it is, or out", text,
				was.key)
	}
	manifest, wasConfig, err := was.split()
	if err != nil {
		return draftElement{}, err
	}
	ref, err := keptComponent(component, manifest)
	if err != nil {
		return draftElement{}, fault.At("/component", err)
	}
	if before := jsontree.New(wasConfig); ref == storedRef(manifest) &&
		jsontree.Equal(config, &before, jsontree.SameText) {
		return was, nil
	}
	return draftElement{key: was.key, ref: ref, config: config.Bytes(), was: manifest}, nil
}

// keptComponent returns the name and version of the component of an element, which has them alone, or the manifest of
// the old element with another name or version at most. It returns ErrUnprocessable if anything else in the manifest
// differs: a patch only names the component, and the service copies its manifest.
//
// So a patch that sets another component leaves the members of the old manifest in the document. They are not stored.
// The pointer of an error begins at the component.
func keptComponent(component *jsontree.Node, manifest []byte) (ref ComponentRef, err error) {
	if component.Untouched(manifest) {
		return storedRef(manifest), nil
	}
	if component.Kind() != '{' {
		return ref, fault.NotApplicable("", "must be an object")
	}
	if name, version := component.Get("name"), component.Get("version"); name == nil || version == nil ||
		component.Len() > 2 {
		before := jsontree.New(manifest)
		if err := sameMembers(&before, component, "name", "version"); err != nil {
			return ref, err
		}
	}
	if err := strictjson.Decode(component.Get("name").Bytes(), &ref.Name); err != nil {
		return ref, misshapen("/name", err)
	}
	if err := strictjson.Decode(component.Get("version").Bytes(), &ref.Version); err != nil {
		return ref, misshapen("/version", err)
	}
	return ref, nil
}

// misshapen returns an error of package strictjson as ErrUnprocessable. pointer is the place of the text in the patched
// document.
func misshapen(pointer string, err error) *vitrine.Error {
	e := fault.Malformed(strictjson.Within(pointer, err))
	return fault.NotApplicable(e.Pointer, "%s", e.Reason)
}
