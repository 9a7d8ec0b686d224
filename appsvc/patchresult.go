package appsvc

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsonpatch"
	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// The result of a patch is judged, not its operations: two patches with the same result are both allowed, or neither is.
// The rules are:
//
//   - The document is still {"apps":[app]}, and of the app only title, groups and elements differ.
//   - An element without an id is a new one, without a key: exactly {component:{name,version},config}.
//   - An element with an id is the old element with this id, from whatever index. Only its config, component.name and
//     component.version may differ, and its key may be left out. A copied element may have the same id as the original: both are that old element.
//
// Whatever else is different is ErrUnprocessable. The ids of the result are not stored: an element gets its index as id.

// resultDraft applies these rules to the documents before and after a patch, and returns the draft of the next version. old
// is the draft of the version before. reached marks the elements that the patch may have changed; nil means all. In both
// documents any other element is the number 0, so it is taken from old without being compared.
//
// It returns ErrUnprocessable for the first rule that is broken, with a pointer into the document: CodeReadOnly if the patch
// has changed what only the service writes, and CodeNotApplicable if the result has not the shape of an app. It checks no limits
// and no components; checkDraft and validateDraft do.
func resultDraft(before, after []byte, old draft, reached []bool) (draft, error) {
	oldApp, err := onlyApp(before)
	if err != nil {
		return draft{}, err
	}
	newApp, err := onlyApp(after)
	if err != nil {
		return draft{}, err
	}
	if err := sameMembers(oldApp, newApp, "title", "groups", "elements"); err != nil {
		return draft{}, below(appPath, err)
	}
	// The three members that may differ must still have their types.
	title, ok := rawjson.Text(newApp.Get("title"))
	if !ok {
		return draft{}, unprocessable(vitrine.CodeNotApplicable, appPath+"/title", "must be a string")
	}
	groups, ok := texts(newApp.Get("groups"))
	if !ok {
		return draft{}, unprocessable(vitrine.CodeNotApplicable, appPath+"/groups", "must be an array of strings")
	}
	elements, err := rawjson.Items(newApp.Get("elements"))
	if err != nil {
		return draft{}, unprocessable(vitrine.CodeNotApplicable, elementsPath, "must be an array")
	}
	d := draft{title, groups, make([]draftElement, len(elements))}
	for i, raw := range elements {
		if reached != nil && !reached[i] {
			d.elements[i] = old.elements[i]
			continue
		}
		if d.elements[i], err = resultElement(raw, old); err != nil {
			return draft{}, below(fmt.Sprintf("%s/%d", elementsPath, i), err)
		}
	}
	return d, nil
}

// sameMembers returns ErrUnprocessable for the first member that only one of two objects has, or that differs and is not
// among the free ones. It is called for the app itself, and for the manifest in an element. Values are compared as JSON Patch
// compares them, in which the order of members does not matter, except that numbers must have the same text: 1.0 is not 1.
//
// A free member may have any value, but it may not be removed. The pointer of the error begins at the object.
func sameMembers(before, after rawjson.Object, free ...string) error {
	for _, m := range after {
		if before.Get(m.Name) == nil {
			return unprocessable(vitrine.CodeReadOnly, "/"+jsonpointer.Escape(m.Name), "there is no such member")
		}
	}
	for _, m := range before {
		switch value := after.Get(m.Name); {
		case value == nil && slices.Contains(free, m.Name):
			return unprocessable(vitrine.CodeNotApplicable, "/"+jsonpointer.Escape(m.Name), "must not be removed")
		case value == nil:
			return unprocessable(vitrine.CodeReadOnly, "/"+jsonpointer.Escape(m.Name), "must not be removed")
		case !slices.Contains(free, m.Name) && !jsonpatch.Equal(m.Value, value, jsonpatch.SameText):
			return unprocessable(vitrine.CodeReadOnly, "/"+jsonpointer.Escape(m.Name), "is read-only")
		}
	}
	return nil
}

// onlyApp returns the members of the app in {"apps":[App]}. It returns ErrUnprocessable with CodeNotApplicable for any other
// document: one with further members, with no app or several, or whose app is not an object.
func onlyApp(doc []byte) (rawjson.Object, error) {
	// Unless the patch has replaced the document or the list of apps, it begins and ends as function document wrote it. Then the
	// app can be cut out, and is scanned once less.
	if inside, ok := bytes.CutPrefix(doc, []byte(docBegin)); ok {
		if app, end := rawjson.Cut(inside); string(end) == docEnd && bytes.HasPrefix(app, []byte{'{'}) {
			return rawjson.Members(app)
		}
	}
	top, err := rawjson.Members(doc)
	if err != nil || len(top) != 1 || top[0].Name != "apps" {
		return nil, unprocessable(vitrine.CodeNotApplicable, "", `the document must stay an object with the one member "apps"`)
	}
	apps, err := rawjson.Items(top[0].Value)
	if err != nil || len(apps) != 1 {
		return nil, unprocessable(vitrine.CodeNotApplicable, "/apps", "must stay an array of one app")
	}
	app, err := rawjson.Members(apps[0])
	if err != nil {
		return nil, unprocessable(vitrine.CodeNotApplicable, appPath, "must stay an object")
	}
	return app, nil
}

// resultElement reads an element of a result, by the rules above. With an id it is an old element, which keptElement compares.
// Without an id it is a new one: its component has exactly name and version, as in CreateApp, and no manifest. The element of the
// draft is kept if neither its config nor its component differs from the old one, and written otherwise. The pointer of an error
// begins at the element.
func resultElement(raw []byte, old draft) (draftElement, error) {
	members, err := rawjson.Members(raw)
	if err != nil {
		return draftElement{}, unprocessable(vitrine.CodeNotApplicable, "", "must be an object")
	}
	for _, m := range members {
		if m.Name != "id" && m.Name != "key" && m.Name != "component" && m.Name != "config" {
			return draftElement{}, unprocessable(vitrine.CodeNotApplicable, "/"+jsonpointer.Escape(m.Name), "an element has no such member")
		}
	}
	component, config := members.Get("component"), members.Get("config")
	if component == nil {
		return draftElement{}, unprocessable(vitrine.CodeNotApplicable, "/component", "missing")
	}
	if config == nil {
		return draftElement{}, unprocessable(vitrine.CodeNotApplicable, "/config", "missing")
	}
	if id := members.Get("id"); id != nil {
		return keptElement(id, members.Get("key"), component, config, old)
	}
	if members.Get("key") != nil {
		return draftElement{}, unprocessable(vitrine.CodeReadOnly, "/key", "a new element has no key: the service gives it one")
	}
	// A new element. Whether its component exists, and the config conforms to it, is checked later.
	e := draftElement{config: config}
	if err := strictjson.Decode(component, &e.ref); err != nil {
		wrong, _ := errors.AsType[*vitrine.Error](misshapen("/component", err))
		wrong.Reason += ": a new element has a component {name, version} and a config, a kept one its id and all that it had"
		return e, wrong
	}
	return e, nil
}

// keptElement reads an element of a result that has an id, from its members. The id is the index of the element in the
// version before, so an element that the patch has moved is found again. It returns the old element itself if nothing in it has
// changed, so that its stored text is copied. Otherwise it returns a written element, which gets the present manifest of its
// component.
func keptElement(rawID, rawKey, component, config []byte, old draft) (draftElement, error) {
	id, ok := rawjson.Text(rawID)
	if !ok {
		return draftElement{}, unprocessable(vitrine.CodeNotApplicable, "/id", "must be a string")
	}
	index, err := strconv.Atoi(id)
	if err != nil || index < 0 || index >= len(old.elements) || strconv.Itoa(index) != id {
		return draftElement{}, unprocessable(vitrine.CodeNotApplicable, "/id", "there is no element %q: leave id out of a new element", id)
	}
	was := old.elements[index]
	if rawKey != nil && string(rawKey) != `"`+was.key+`"` {
		return draftElement{}, unprocessable(vitrine.CodeReadOnly, "/key", "the key of element %q is %q: leave it as it is, or out", id, was.key)
	}
	manifest, wasConfig, err := was.split()
	if err != nil {
		return draftElement{}, err
	}
	ref, err := keptComponent(component, manifest)
	if err != nil {
		return draftElement{}, below("/component", err)
	}
	if ref == storedRef(manifest) && jsonpatch.Equal(config, wasConfig, jsonpatch.SameText) {
		return was, nil
	}
	return draftElement{key: was.key, ref: ref, config: config, was: manifest}, nil
}

// keptComponent returns the name and version of the component of an element, which has the manifest of the old element with
// another name or version at most. It returns ErrUnprocessable if anything else in the manifest differs: a patch only names the
// component, and the service copies its manifest.
//
// So a patch that sets another component leaves the members of the old manifest in the document. They are not stored. The pointer
// of an error begins at the component.
func keptComponent(raw, manifest []byte) (ref ComponentRef, err error) {
	if bytes.Equal(raw, manifest) {
		return storedRef(manifest), nil
	}
	after, err := rawjson.Members(raw)
	if err != nil {
		return ref, unprocessable(vitrine.CodeNotApplicable, "", "must be an object")
	}
	before, err := rawjson.Members(manifest)
	if err != nil {
		return ref, fmt.Errorf("stored manifest: %w", err)
	}
	if err := sameMembers(before, after, "name", "version"); err != nil {
		return ref, err
	}
	if err := strictjson.Decode(after.Get("name"), &ref.Name); err != nil {
		return ref, misshapen("/name", err)
	}
	if err := strictjson.Decode(after.Get("version"), &ref.Version); err != nil {
		return ref, misshapen("/version", err)
	}
	return ref, nil
}
