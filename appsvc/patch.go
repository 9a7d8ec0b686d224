package appsvc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc/internal/jsonpatch"
	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// appPath is where the app is in the document that a patch changes.
const appPath = "/apps/0"

// versionPath is where a patch must test the version that it was made for.
const versionPath = appPath + "/version"

// Patch applies a JSON Patch to the latest version of an app and stores the result as the next
// version (contract, endpoint 4). The patch addresses the document that App answers over HTTP,
// {"apps":[App]}, and must hold a test of /apps/0/version; a patch that changes nothing stores
// nothing and returns the latest version.
//
// ErrInvalid for what is no patch or has no such test, ErrTooLarge beyond 1,000 operations, 1 MiB
// or a document of 4 MiB, ErrConflict when the app has another version or a test fails,
// ErrUnprocessable when an operation does not apply or the result is no app that may follow,
// ErrForbidden where it would add a group that the caller does not moderate.
func (s *Service) Patch(ctx context.Context, by Caller, id string, patch []byte) (App, error) {
	ops, err := s.decodePatch(patch)
	if err != nil {
		return App{}, err
	}
	head, app, err := s.latest(ctx, by, id)
	if err != nil {
		return App{}, err
	}
	d, changed, err := s.patched(app, ops)
	if err != nil || !changed {
		return app, err
	}
	if err := by.mayCreateIn(added(head.Groups, d.groups)); err != nil {
		return App{}, err
	}
	used, err := s.complete(ctx, appPath, d)
	if err != nil {
		return App{}, err
	}
	err = s.store.Update(ctx, func(tx Tx) error {
		now, err := usable(ctx, tx, by, id)
		if err != nil {
			return err
		}
		if now.Version != head.Version {
			return stale(head.Version.String(), now.Version)
		}
		if err := recheck(ctx, tx, used); err != nil {
			return err
		}
		app, err = s.addVersion(ctx, tx, s.next(now, by), d, s.limits.DocumentBytes)
		return err
	})
	return app, err
}

// latest reads what a patch is applied to.
func (s *Service) latest(ctx context.Context, by Caller, id string) (h Head, app App, err error) {
	err = s.store.View(ctx, func(r Reader) error {
		if h, err = usable(ctx, r, by, id); err != nil {
			return err
		}
		app, err = r.App(ctx, id, Latest)
		return err
	})
	return h, app, err
}

func stale(tested string, now Version) error {
	return fmt.Errorf("%w: the patch is for version %q, but the app is at version %q", ErrConflict, tested, now)
}

func (s *Service) decodePatch(patch []byte) ([]jsonpatch.Op, error) {
	if len(patch) > s.limits.PatchBytes {
		return nil, fmt.Errorf("%w: the patch has %d bytes, at most %d", ErrTooLarge, len(patch), s.limits.PatchBytes)
	}
	ops, err := jsonpatch.Decode(patch, s.limits.PatchOps)
	if err != nil {
		return nil, patchError(err)
	}
	for _, op := range ops {
		if _, ok := testedVersion(op); ok {
			return ops, nil
		}
	}
	return nil, fmt.Errorf("%w: the patch needs a test of %s with a string, the version it was made for", ErrInvalid, versionPath)
}

// testedVersion returns the version that op tests for.
func testedVersion(op jsonpatch.Op) (string, bool) {
	version, ok := "", op.Op == "test" && *op.Path == versionPath
	if ok {
		version, ok = rawjson.Text(op.Value)
	}
	if !ok {
		return "", false
	}
	return version, true
}

// patchError gives an error of the patch library its kind.
func patchError(err error) error {
	for from, kind := range map[error]error{
		jsonpatch.ErrMalformed: ErrInvalid,
		jsonpatch.ErrTooLarge:  ErrTooLarge,
		jsonpatch.ErrTest:      ErrConflict,
		jsonpatch.ErrApply:     ErrUnprocessable,
	} {
		if errors.Is(err, from) {
			return fmt.Errorf("%w: %s", kind, strings.TrimPrefix(err.Error(), from.Error()+": "))
		}
	}
	return err
}

// patched applies ops to app and returns the content that results, and whether it is another one.
func (s *Service) patched(app App, ops []jsonpatch.Op) (draft, bool, error) {
	for _, op := range ops {
		if v, ok := testedVersion(op); ok && v != app.Version.String() {
			return draft{}, false, stale(v, app.Version)
		}
	}
	body, elements, err := app.Body.parts()
	if err != nil {
		return draft{}, false, err
	}
	old, err := storedDraft(body, elements)
	if err != nil {
		return draft{}, false, err
	}
	reached := reach(ops, len(elements))
	before := document(app.Meta, body, elements, reached)
	after, err := jsonpatch.Apply(before, ops, jsonpatch.Limits{
		Document: s.limits.DocumentBytes, Looks: 16 * s.limits.DocumentBytes, Moves: 5 * s.limits.DocumentBytes})
	if err != nil {
		return draft{}, false, patchError(err)
	}
	d, err := judge(before, after, old, reached)
	if err != nil {
		return draft{}, false, fmt.Errorf("%w: %w", ErrUnprocessable, err)
	}
	if err := s.limits.checkShape(ErrUnprocessable, appPath, d); err != nil {
		return draft{}, false, err
	}
	return d, !d.same(old), nil
}

// same reports whether two drafts hold the same content.
func (d draft) same(old draft) bool {
	return d.title == old.title && slices.Equal(d.groups, old.groups) &&
		slices.EqualFunc(d.elements, old.elements, func(e, o draftElement) bool {
			return !e.written() && bytes.Equal(e.kept, o.kept)
		})
}

// judge is the rule of what a patch may do: it looks at the result alone, and of the elements only
// at those that were reached. Outside title, groups and elements nothing may differ. It says what is
// wrong by a pointer into the document.
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
		return draft{}, fmt.Errorf("/apps/0%w", err)
	}
	title, ok := rawjson.Text(is.Get("title"))
	if !ok {
		return draft{}, errors.New("/apps/0/title: must be a string")
	}
	groups, ok := texts(is.Get("groups"))
	if !ok {
		return draft{}, errors.New("/apps/0/groups: must be an array of strings")
	}
	elements, err := rawjson.Items(is.Get("elements"))
	if err != nil {
		return draft{}, errors.New(elementsPath + ": must be an array")
	}
	d := draft{title, groups, make([]draftElement, len(elements))}
	for i, raw := range elements {
		if reached != nil && !reached[i] {
			d.elements[i] = old.elements[i]
			continue
		}
		if d.elements[i], err = judgeElement(raw, old); err != nil {
			return draft{}, fmt.Errorf("%s/%d%w", elementsPath, i, err)
		}
	}
	return d, nil
}

// sameMembers reports the first member that one object has and the other has not, or that differs
// and is not among the free ones.
func sameMembers(was, is rawjson.Object, free ...string) error {
	for _, m := range is {
		if was.Get(m.Name) == nil {
			return fmt.Errorf("/%s: there is no such member", m.Name)
		}
	}
	for _, m := range was {
		switch now := is.Get(m.Name); {
		case now == nil:
			return fmt.Errorf("/%s: must not be removed", m.Name)
		case !slices.Contains(free, m.Name) && !jsonpatch.Equal(m.Value, now, jsonpatch.SameText):
			return fmt.Errorf("/%s: is read-only", m.Name)
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
		return nil, errors.New(`the document must stay an object with the one member "apps"`)
	}
	apps, err := rawjson.Items(top[0].Value)
	if err != nil || len(apps) != 1 {
		return nil, errors.New("/apps: must stay an array of one app")
	}
	app, err := rawjson.Members(apps[0])
	if err != nil {
		return nil, errors.New("/apps/0: must stay an object")
	}
	return app, nil
}

// judgeElement reads an element of a result. It is either new, {component:{name,version},config},
// or one of the old ones, named by its id, with at most another config or component.
func judgeElement(raw []byte, old draft) (draftElement, error) {
	members, err := rawjson.Members(raw)
	if err != nil {
		return draftElement{}, errors.New(": must be an object")
	}
	for _, m := range members {
		if m.Name != "id" && m.Name != "component" && m.Name != "config" {
			return draftElement{}, fmt.Errorf("/%s: an element has no such member", m.Name)
		}
	}
	component, config := members.Get("component"), members.Get("config")
	if component == nil {
		return draftElement{}, errors.New("/component: missing")
	}
	if config == nil {
		return draftElement{}, errors.New("/config: missing")
	}
	if id := members.Get("id"); id != nil {
		return keptElement(id, component, config, old)
	}
	e := draftElement{config: config}
	if err := strictjson.Decode(component, &e.ref); err != nil {
		return e, fmt.Errorf("%w: a new element has a component {name, version} and a config, a kept one its id and all that it had", strictjson.Within("/component", err))
	}
	return e, nil
}

func keptElement(rawID, component, config []byte, old draft) (draftElement, error) {
	id, ok := rawjson.Text(rawID)
	if !ok {
		return draftElement{}, errors.New("/id: must be a string")
	}
	index, err := strconv.Atoi(id)
	if err != nil || index < 0 || index >= len(old.elements) || strconv.Itoa(index) != id {
		return draftElement{}, fmt.Errorf("/id: there is no element %q: leave id out of a new element", id)
	}
	was := old.elements[index]
	manifest, wasConfig, err := was.open()
	if err != nil {
		return draftElement{}, err
	}
	ref, err := keptComponent(component, manifest)
	if err != nil {
		return draftElement{}, fmt.Errorf("/component%w", err)
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
		return ref, errors.New(": must be an object")
	}
	was, err := rawjson.Members(manifest)
	if err != nil {
		return ref, fmt.Errorf(": stored manifest: %w", err)
	}
	if err := sameMembers(was, is, "name", "version"); err != nil {
		return ref, err
	}
	if err := strictjson.Decode(is.Get("name"), &ref.Name); err != nil {
		return ref, strictjson.Within("/name", err)
	}
	if err := strictjson.Decode(is.Get("version"), &ref.Version); err != nil {
		return ref, strictjson.Within("/version", err)
	}
	return ref, nil
}
