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

// judge applies the rules of what a patch may change. It compares the documents before and after; of the
// elements it compares only those that reached marks. Only title, groups and elements may differ. The
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

// sameMembers returns an error about the first member that only one object has, or that differs and is not
// among the free ones.
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

// onlyApp returns the members of the app in {"apps":[App]}.
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

// judgeElement reads an element of a result. It is either new, {component:{name,version},config},
// or one of the old ones, named by its id, with at most another config or component.
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

// keptComponent compares the component of a kept element with the manifest that it had: name and
// version may differ, nothing else.
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
