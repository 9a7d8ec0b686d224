package appsvc

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/vitrine-go/vitrine/appsvc/internal/jsonpatch"
	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
	"github.com/vitrine-go/vitrine/internal/memlimit"
)

// The way of a patch, from its bytes to the next version:
//
//	decodePatch       the operations; refuses what is no JSON Patch or does not test the version
//	readLatest        a View: the app, if the caller may change it
//	patched           the draft of the next version: applies the operations and judges the result
//	admitGroups       a View, if the groups change: whether the caller may change them so
//	completeCached    the components of the changed elements; validates their configs
//	storePatch        an Update: checks that all of this still holds, and stores the version
//
// Only storePatch keeps other writers waiting. It checks the version, the rights and the components again. It does not
// judge the result or validate the configs again.

// appPath is the JSON pointer of the app in the document that a patch changes.
const appPath = "/apps/0"

// patchFactor says how much memory a patch takes: about so many times the size of the app's JSON.
const patchFactor = 4

// versionPath is the JSON pointer of the version, which every patch must test.
const versionPath = appPath + "/version"

// Patch applies a JSON Patch to the latest version of an app and stores the result as the next version. Its paths address
// {"apps":[app]}, the document that GET /apps/{id} returns over HTTP. One of its operations must be a test of
// /apps/0/version. A patch that changes nothing stores nothing and returns the latest version.
//
// Applying and validating take time, so they work on a snapshot, and other writers need not wait. The transaction
// that stores the result checks that nothing it was made from has changed: the version of the app, the rights of the
// caller, and the components that the configs were validated against. So of two patches for the same version at
// most one is stored.
//
// It returns:
//   - ErrInvalid if the text is not a JSON Patch or does not test the version;
//   - ErrTooLarge if the patch has more than Limits.PatchOps operations or Limits.PatchBytes, by default 1,000 and 1 MiB,
//     or the patched document more than Limits.DocumentBytes, by default 4 MiB;
//   - ErrConflict if the patch tests another version than the app has, even if the version changed while the patch was
//     worked on, or if a component was replaced during that time (CodeStaleVersion); or if another test fails
//     (CodeTestFailed);
//   - ErrUnprocessable if an operation does not apply, if the patch changes what only the service writes, if a component
//     is unknown, if a config breaks its schema, or if the result breaks a limit;
//   - ErrNotFound if there is no such app, or the caller may not read it;
//   - ErrForbidden if the caller may only read the app, or may not change its groups as the patch does.
func (s *Service) Patch(ctx context.Context, by Caller, id string, patch []byte) (App, error) {
	if err := by.check(); err != nil {
		return App{}, err
	}
	ops, err := s.decodePatch(patch)
	if err != nil {
		return App{}, err
	}
	head, app, err := s.readLatest(ctx, by, id)
	if err != nil {
		return App{}, err
	}
	if err := memlimit.Reserve(ctx, patchFactor*len(app.Body)); err != nil {
		return App{}, err
	}
	content, differs, err := s.patched(app, ops)
	if err != nil {
		return App{}, err
	}
	if !differs {
		return app, nil
	}
	if err := s.admitGroups(ctx, by, head, content.groups); err != nil {
		return App{}, err
	}
	valid, used, cached, err := s.completeCached(ctx, appPath, content)
	if err != nil {
		return App{}, err
	}
	next, err := s.storePatch(ctx, by, head, app.Body, valid, used)
	if _, changed := errors.AsType[componentChanged](err); !changed || !cached {
		return next, err
	}
	// A component has changed since it was cached, perhaps long ago. Validate against the present one.
	s.components.drop(used)
	if valid, used, err = s.complete(ctx, appPath, content); err != nil {
		return App{}, err
	}
	s.components.put(used)
	return s.storePatch(ctx, by, head, app.Body, valid, used)
}

// storePatch stores d as the version after head, in one transaction. old is the body of the version of head, and used are
// the components that d was validated against. It returns ErrConflict if the app has another version by now, and a
// componentChanged if one of the components is not the same any more. It checks the rights of the caller again, since the
// groups of the app may have changed.
func (s *Service) storePatch(ctx context.Context, by Caller, head Head, old Body, d draft, used map[ComponentRef]Component) (app App, err error) {
	err = s.store.Update(ctx, func(tx Tx) error {
		if err := tx.Announce(ctx, head.ID, slices.Collect(maps.Keys(used))); err != nil {
			return err
		}
		now, err := usable(ctx, tx, by, head.ID)
		if err != nil {
			return err
		}
		if now.Version != head.Version {
			return stale(head.Version.String(), now.Version)
		}
		if err := s.mayRegroup(ctx, tx, by, appPath+"/groups", now, d.groups); err != nil {
			return err
		}
		if err := checkUnchanged(ctx, tx, used, now.Version); err != nil {
			return err
		}
		app, err = s.addVersion(ctx, tx, by, Change{Type: AppUpdated, Before: now, Old: old}, s.next(now, by), d, s.limits.DocumentBytes)
		return err
	})
	return app, err
}

// admitGroups refuses groups that the caller may not give the app, before any config is validated. The write checks
// again.
func (s *Service) admitGroups(ctx context.Context, by Caller, h Head, groups []string) error {
	if sameGroups(h.Groups, groups) {
		return nil
	}
	return s.store.View(ctx, func(r Reader) error { return s.mayRegroup(ctx, r, by, appPath+"/groups", h, groups) })
}

// readLatest reads the version that a patch is applied to, and its head. It returns the errors of usable.
func (s *Service) readLatest(ctx context.Context, by Caller, id string) (h Head, app App, err error) {
	err = s.store.View(ctx, func(r Reader) error {
		if h, err = usable(ctx, r, by, id); err != nil {
			return err
		}
		app, err = r.App(ctx, id, Latest)
		return err
	})
	return h, app, err
}

// stale is the error of a patch that tests another version than the app has.
func stale(tested string, now Version) error {
	return conflict(CodeStaleVersion, now, "the patch is for version %q, but the app is at version %q", tested, now)
}

// decodePatch returns the operations of a patch. It returns ErrTooLarge if it has too many bytes or operations, and
// ErrInvalid if it is no JSON Patch or has no test of the version.
func (s *Service) decodePatch(patch []byte) ([]jsonpatch.Op, error) {
	if len(patch) > s.limits.PatchBytes {
		return nil, tooLarge("the patch has %d bytes; at most %d are allowed", len(patch), s.limits.PatchBytes)
	}
	ops, err := jsonpatch.Decode(patch, s.limits.PatchOps)
	if err != nil {
		return nil, patchError(err, Version{})
	}
	for _, op := range ops {
		if _, ok := testedVersion(op); ok {
			return ops, nil
		}
	}
	return nil, invalid("", "the patch needs a test of %s with a string, the version it was made for", versionPath)
}

// testedVersion returns the version that op tests for. ok is false if op is not a test of the version with a string: a
// test for null, for instance, passes for no app, and does not tell which version the patch was made for.
func testedVersion(op jsonpatch.Op) (version string, ok bool) {
	if op.Op != "test" || *op.Path != versionPath {
		return "", false
	}
	return rawjson.Text(op.Value)
}

// patchError returns an error of package jsonpatch as an error of this package. A failed test carries current,
// the latest version of the app.
func patchError(err error, current Version) error {
	e, ok := errors.AsType[*jsonpatch.Error](err)
	if !ok {
		return err
	}
	out := &Error{Pointer: e.Pointer, Reason: e.Reason}
	switch e.Kind {
	case jsonpatch.ErrMalformed:
		out.Kind, out.Code = ErrInvalid, CodeInvalid
	case jsonpatch.ErrTooLarge:
		out.Kind, out.Code = ErrTooLarge, CodeTooLarge
	case jsonpatch.ErrTest:
		out.Kind, out.Code, out.Version = ErrConflict, CodeTestFailed, current
	case jsonpatch.ErrApply:
		out.Kind, out.Code = ErrUnprocessable, CodeNotApplicable
	}
	return out
}

// patched applies ops to app. It returns the content of the result, and whether it differs from that of app. It returns
// ErrConflict if a test fails, ErrUnprocessable if the operations do not apply or the result is not allowed, and
// ErrTooLarge if the document outgrows its limit.
//
// A patch for another version is refused before any operation is applied. Apply alone would not do: the operations
// before the test may fail first, or may write the version that is then tested.
func (s *Service) patched(app App, ops []jsonpatch.Op) (content draft, differs bool, err error) {
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
	after, err := jsonpatch.Apply(before, ops, s.limits.patchWork())
	if err != nil {
		return draft{}, false, patchError(err, app.Version)
	}
	d, err := judge(before, after, old, reached)
	if err != nil {
		return draft{}, false, err
	}
	if err := s.limits.checkShape(appPath, d); err != nil {
		return draft{}, false, err
	}
	return d, !d.same(old), nil
}

// patchWork bounds how many bytes of the document the operations of one patch may look at, and how many they may copy or
// move: some times the largest document, so that a thousand operations on the whole of it are refused.
func (l Limits) patchWork() jsonpatch.Limits {
	return jsonpatch.Limits{Document: l.DocumentBytes, Looks: 16 * l.DocumentBytes, Moves: 5 * l.DocumentBytes}
}
