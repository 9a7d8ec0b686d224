package appsvc

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/vitrine-go/vitrine/appsvc/internal/jsonpatch"
	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// The result of a patch is judged, not its operations: two patches with the same result are both allowed, or neither is.
// The rules are:
//
//   - The document is still {"apps":[app]}, and of the app only title, groups and elements differ.
//   - An element without an id is a new one: exactly {component:{name,version},config}.
//   - An element with an id is the old element with this id, from whatever index. Only its config, component.name and
//     component.version may differ. A copied element may have the same id as the original: both are that old element.
//
// Whatever else is different is ErrUnprocessable. The ids of the result are not stored: an element gets its index as id.

// judge applies these rules to the documents before and after a patch, and returns the draft of the next version. old
// is the draft of the version before. Elements that reached does not mark are the old ones; they are not compared. The
// pointer of an error is one into the document.
func judge(before, after []byte, old draft, reached []bool) (draft, error) {
	was, err := onlyApp(before)
	if err != nil {
		return draft{}, err
	}
	is, err := onlyApp(after)
	if err != nil {
		return draft{}, err
	}
	if err := sameMembers(was, is, "title", "groups", "elements"); err != nil {
		return draft{}, below(appPath, err)
	}
	title, ok := rawjson.Text(is.Get("title"))
	if !ok {
		return draft{}, unprocessable(CodeNotApplicable, appPath+"/title", "must be a string")
	}
	groups, ok := texts(is.Get("groups"))
	if !ok {
		return draft{}, unprocessable(CodeNotApplicable, appPath+"/groups", "must be an array of strings")
	}
	elements, err := rawjson.Items(is.Get("elements"))
	if err != nil {
		return draft{}, unprocessable(CodeNotApplicable, elementsPath, "must be an array")
	}
	d := draft{title, groups, make([]draftElement, len(elements))}
	for i, raw := range elements {
		if reached != nil && !reached[i] {
			d.elements[i] = old.elements[i]
			continue
		}
		if d.elements[i], err = judgeElement(raw, old); err != nil {
			return draft{}, below(fmt.Sprintf("%s/%d", elementsPath, i), err)
		}
	}
	return d, nil
}

// sameMembers returns ErrUnprocessable for the first member that only one object has, or that differs and is not
// among the free ones. Values are compared as JSON Patch compares them, except that numbers must have the same text.
func sameMembers(was, is rawjson.Object, free ...string) error {
	for _, m := range is {
		if was.Get(m.Name) == nil {
			return unprocessable(CodeReadOnly, "/"+jsonpointer.Escape(m.Name), "there is no such member")
		}
	}
	for _, m := range was {
		switch now := is.Get(m.Name); {
		case now == nil && slices.Contains(free, m.Name):
			return unprocessable(CodeNotApplicable, "/"+jsonpointer.Escape(m.Name), "must not be removed")
		case now == nil:
			return unprocessable(CodeReadOnly, "/"+jsonpointer.Escape(m.Name), "must not be removed")
		case !slices.Contains(free, m.Name) && !jsonpatch.Equal(m.Value, now, jsonpatch.SameText):
			return unprocessable(CodeReadOnly, "/"+jsonpointer.Escape(m.Name), "is read-only")
		}
	}
	return nil
}

// onlyApp returns the members of the app in {"apps":[App]}. It returns ErrUnprocessable for any other document.
func onlyApp(doc []byte) (rawjson.Object, error) {
	if inside, ok := bytes.CutPrefix(doc, []byte(docBegin)); ok { // as it is unless it was replaced
		if app, end := rawjson.Cut(inside); string(end) == docEnd && bytes.HasPrefix(app, []byte{'{'}) {
			return rawjson.Members(app)
		}
	}
	top, err := rawjson.Members(doc)
	if err != nil || len(top) != 1 || top[0].Name != "apps" {
		return nil, unprocessable(CodeNotApplicable, "", `the document must stay an object with the one member "apps"`)
	}
	apps, err := rawjson.Items(top[0].Value)
	if err != nil || len(apps) != 1 {
		return nil, unprocessable(CodeNotApplicable, "/apps", "must stay an array of one app")
	}
	app, err := rawjson.Members(apps[0])
	if err != nil {
		return nil, unprocessable(CodeNotApplicable, appPath, "must stay an object")
	}
	return app, nil
}

// judgeElement reads an element of a result, by the rules above. The element of the draft is kept if neither its config
// nor its component differs from the old one, and written otherwise. The pointer of an error begins at the element.
func judgeElement(raw []byte, old draft) (draftElement, error) {
	members, err := rawjson.Members(raw)
	if err != nil {
		return draftElement{}, unprocessable(CodeNotApplicable, "", "must be an object")
	}
	for _, m := range members {
		if m.Name != "id" && m.Name != "component" && m.Name != "config" {
			return draftElement{}, unprocessable(CodeNotApplicable, "/"+jsonpointer.Escape(m.Name), "an element has no such member")
		}
	}
	component, config := members.Get("component"), members.Get("config")
	if component == nil {
		return draftElement{}, unprocessable(CodeNotApplicable, "/component", "missing")
	}
	if config == nil {
		return draftElement{}, unprocessable(CodeNotApplicable, "/config", "missing")
	}
	if id := members.Get("id"); id != nil {
		return keptElement(id, component, config, old)
	}
	e := draftElement{config: config}
	if err := strictjson.Decode(component, &e.ref); err != nil {
		wrong, _ := errors.AsType[*Error](misshapen("/component", err))
		wrong.Reason += ": a new element has a component {name, version} and a config, a kept one its id and all that it had"
		return e, wrong
	}
	return e, nil
}

// keptElement reads an element with an id.
func keptElement(rawID, component, config []byte, old draft) (draftElement, error) {
	id, ok := rawjson.Text(rawID)
	if !ok {
		return draftElement{}, unprocessable(CodeNotApplicable, "/id", "must be a string")
	}
	index, err := strconv.Atoi(id)
	if err != nil || index < 0 || index >= len(old.elements) || strconv.Itoa(index) != id {
		return draftElement{}, unprocessable(CodeNotApplicable, "/id", "there is no element %q: leave id out of a new element", id)
	}
	was := old.elements[index]
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
	return draftElement{ref: ref, config: config}, nil
}

// keptComponent compares the component of an element with the manifest that the old element has. It returns
// ErrUnprocessable if more than name and version differ: a patch names the component, and the service copies its manifest.
func keptComponent(raw, manifest []byte) (ref ComponentRef, err error) {
	if bytes.Equal(raw, manifest) {
		return storedRef(manifest), nil
	}
	is, err := rawjson.Members(raw)
	if err != nil {
		return ref, unprocessable(CodeNotApplicable, "", "must be an object")
	}
	was, err := rawjson.Members(manifest)
	if err != nil {
		return ref, fmt.Errorf("stored manifest: %w", err)
	}
	if err := sameMembers(was, is, "name", "version"); err != nil {
		return ref, err
	}
	if err := strictjson.Decode(is.Get("name"), &ref.Name); err != nil {
		return ref, misshapen("/name", err)
	}
	if err := strictjson.Decode(is.Get("version"), &ref.Version); err != nil {
		return ref, misshapen("/version", err)
	}
	return ref, nil
}
