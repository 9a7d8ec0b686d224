package appsvc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/vitrine-go/vitrine/appsvc/internal/jsonpatch"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// versionPath is where a patch must test the version that it was made for.
const versionPath = "/apps/0/version"

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
	used, err := s.complete(ctx, d)
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
		app, err = s.addVersion(ctx, tx, s.next(now, by), d)
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
	var version *string
	ok := op.Op == "test" && *op.Path == versionPath && json.Unmarshal(op.Value, &version) == nil && version != nil
	if !ok {
		return "", false
	}
	return *version, true
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
			return fmt.Errorf("%w: %w", kind, err)
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
	before := append(app.AppendJSON([]byte(`{"apps":[`)), "]}"...)
	after, err := jsonpatch.Apply(before, ops, jsonpatch.Limits{Document: s.limits.DocumentBytes, Looks: 16 * s.limits.DocumentBytes})
	if err != nil {
		return draft{}, false, patchError(err)
	}
	old, err := app.Body.draft()
	if err != nil {
		return draft{}, false, err
	}
	d, err := judge(before, after, old)
	if err != nil {
		return draft{}, false, fmt.Errorf("%w: %w", ErrUnprocessable, err)
	}
	if err := s.limits.checkShape(ErrUnprocessable, d); err != nil {
		return draft{}, false, err
	}
	return d, !d.same(old), nil
}

// same reports whether two drafts hold the same content.
func (d draft) same(old draft) bool {
	return d.title == old.title && slices.Equal(d.groups, old.groups) &&
		slices.EqualFunc(d.elements, old.elements, func(e, o draftElement) bool {
			return !e.written && string(e.config) == string(o.config) && string(e.manifest) == string(o.manifest)
		})
}

// judge is the rule of what a patch may do: it looks at the result alone. Outside title, groups
// and elements nothing may differ. It says what is wrong by a pointer into the document.
func judge(before, after []byte, old draft) (draft, error) {
	was, err := onlyApp(before)
	if err != nil {
		return draft{}, err
	}
	is, err := onlyApp(after)
	if err != nil {
		return draft{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if was[name] == nil {
			return draft{}, fmt.Errorf("/apps/0/%s: an app has no such member", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if is[name] == nil {
			return draft{}, fmt.Errorf("/apps/0/%s: must not be removed", name)
		}
		free := name == "title" || name == "groups" || name == "elements"
		if !free && !jsonpatch.Equal(was[name], is[name], jsonpatch.SameText) {
			return draft{}, fmt.Errorf("/apps/0/%s: is read-only", name)
		}
	}
	var d draft
	var elements []json.RawMessage
	for _, m := range []struct {
		name string
		to   any
	}{{"title", &d.title}, {"groups", &d.groups}, {"elements", &elements}} {
		if err := json.Unmarshal(is[m.name], m.to); err != nil || string(is[m.name]) == "null" {
			return draft{}, fmt.Errorf("/apps/0/%s: a title is a string, groups and elements are arrays", m.name)
		}
	}
	for i, raw := range elements {
		e, err := judgeElement(raw, old)
		if err != nil {
			return draft{}, fmt.Errorf("/apps/0/elements/%d%w", i, err)
		}
		d.elements = append(d.elements, e)
	}
	return d, nil
}

// onlyApp returns the members of the app in {"apps":[App]}.
func onlyApp(doc []byte) (map[string]json.RawMessage, error) {
	var top map[string]json.RawMessage
	if json.Unmarshal(doc, &top) != nil || len(top) != 1 || top["apps"] == nil {
		return nil, errors.New(`the document must stay an object with the one member "apps"`)
	}
	var apps []map[string]json.RawMessage
	if json.Unmarshal(top["apps"], &apps) != nil || len(apps) != 1 {
		return nil, errors.New("/apps: must stay an array of one app")
	}
	return apps[0], nil
}

// judgeElement reads an element of a result. It is either new, {component:{name,version},config},
// or one of the old ones, named by its id, with at most another config or component.
func judgeElement(raw []byte, old draft) (draftElement, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return draftElement{}, errors.New(": must be an object")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name != "id" && name != "component" && name != "config" {
			return draftElement{}, fmt.Errorf("/%s: an element has no such member", name)
		}
	}
	if members["component"] == nil {
		return draftElement{}, errors.New("/component: missing")
	}
	if members["config"] == nil {
		return draftElement{}, errors.New("/config: missing")
	}
	if members["id"] == nil {
		return newElement(members)
	}
	return keptElement(members, old)
}

func newElement(members map[string]json.RawMessage) (draftElement, error) {
	e := draftElement{config: members["config"], written: true}
	if err := strictjson.Decode(members["component"], &e.ref); err != nil {
		return e, fmt.Errorf("/component: %w: a new element has a component {name, version} and a config, a kept one its id and all that it had", err)
	}
	return e, nil
}

func keptElement(members map[string]json.RawMessage, old draft) (draftElement, error) {
	var id *string
	if json.Unmarshal(members["id"], &id) != nil || id == nil {
		return draftElement{}, errors.New("/id: must be a string")
	}
	index, err := strconv.Atoi(*id)
	if err != nil || index < 0 || index >= len(old.elements) || strconv.Itoa(index) != *id {
		return draftElement{}, fmt.Errorf("/id: there is no element %q: leave id out of a new element", *id)
	}
	was := old.elements[index]
	ref, err := keptComponent(members["component"], was.manifest)
	if err != nil {
		return draftElement{}, err
	}
	if ref == was.ref && jsonpatch.Equal(members["config"], was.config, jsonpatch.SameText) {
		return was, nil
	}
	return draftElement{ref: ref, config: members["config"], written: true}, nil
}

// keptComponent compares the component of a kept element with the manifest that it had: name and
// version may differ, nothing else.
func keptComponent(raw, manifest []byte) (ref ComponentRef, err error) {
	var is, was map[string]json.RawMessage
	if err := json.Unmarshal(raw, &is); err != nil || is == nil {
		return ref, errors.New("/component: must be an object")
	}
	if err := json.Unmarshal(manifest, &was); err != nil {
		return ref, fmt.Errorf("/component: stored manifest: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if was[name] == nil {
			return ref, fmt.Errorf("/component/%s: is not of the component", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		switch {
		case is[name] == nil:
			return ref, fmt.Errorf("/component/%s: must not be removed", name)
		case name == "name":
			err = strictjson.Decode(is[name], &ref.Name)
		case name == "version":
			err = strictjson.Decode(is[name], &ref.Version)
		case !jsonpatch.Equal(is[name], was[name], jsonpatch.SameText):
			err = errors.New("is read-only: only name and version choose a component")
		}
		if err != nil {
			return ref, fmt.Errorf("/component/%s: %w", name, err)
		}
	}
	return ref, nil
}
