package appsvc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/rule"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// How a patch becomes the next version, step by step:
//
//	readLatest           a View: reads the app, if the caller may change it
//	decodePatch          reads the patch and parses the operations; rejects text that is no JSON Patch or does not test
//	                     the version
//	applyPatch           applies the operations, and checks the result; returns the draft of the next version
//	mayRegroup           a View, only if the groups change: checks whether the caller may change them in this way
//	validateDraft        validates the configs of the changed elements against their components
//	storePatch           an Update: checks that version, rights and components are still the same, and stores the version
//
// Only storePatch keeps other writers waiting. It does not check the result or validate the configs again: both checks
// depend only on the version and the components, which are the same.

// appPath is the JSON pointer of the app in the document that a patch changes.
const appPath = "/apps/0"

// patchFactor is how much memory applying a patch takes, in sizes of the app's body.
const patchFactor = 4

// Patch applies a JSON Patch to the latest version of an app and stores the result as the next version. Its paths
// address {"apps":[app]}, the document that GET /apps/{id} returns over HTTP. One of its operations must be a test of
// the version, which is a string there: {"op":"test","path":"/apps/0/version","value":"3"}. One may be
// {"op":"add","path":"/note","value":"…"}: a note of up to 1,024 characters, which the history and the feed have with
// the new version. A patch that changes nothing stores nothing and returns the latest version.
//
// The patch is read once the caller is known to have the right to change the app, and before anything is applied.
//
// Applying and validating take time, so they work on a snapshot, and other writers need not wait. The transaction
// that stores the result checks that nothing it was made from has changed: the version of the app, the rights of the
// caller, and the components that the configs were validated against. So of two patches for the same version at
// most one is stored.
//
// It returns:
//   - ErrInvalid if the caller has a malformed URN, if the text is not a JSON Patch, or if it does not test the
//     version;
//   - ErrTooLarge if the patch has more than Limits.PatchOps operations or Limits.PatchBytes, by default 1,000 and 1
//     MiB, if the patched document has more than Limits.DocumentBytes, by default 4 MiB, or if applying the patch takes
//     too much work;
//   - ErrConflict with CodeStaleVersion if the app has another version than the patch tests, or if the app was changed
//     or a component was replaced while Patch was at work;
//   - ErrConflict with CodeTestFailed if another test of the patch fails;
//   - ErrUnprocessable if an operation does not apply, if the patch changes what only the service writes, if the result
//     is not an app or breaks a limit, if a component is unknown or was deleted while Patch was at work, if a config
//     breaks its schema, or if validating the configs would take too long (CodeCost);
//   - ErrNotFound if there is no such app, or the caller may not read it;
//   - ErrForbidden if the caller may only read the app, if it may not change the groups as the patch does, or if
//     Options.Check rejects the change.
func (s *Session) Patch(ctx context.Context, id string, patch io.Reader) (App, error) {
	s = s.calls("Patch")
	if err := s.check(); err != nil {
		return App{}, err
	}
	last, err := s.readLatest(ctx, id)
	if err != nil {
		return App{}, err
	}
	if last.head.large { // nothing large waits for the patch
		last = keptVersion{}
	}
	p, err := s.service.decodePatch(patch)
	if err != nil {
		return App{}, err
	}
	if last.ID == "" || p.checkVersion(last.Version) != nil { // it may have been patched meanwhile
		if last, err = s.readLatest(ctx, id); err != nil {
			return App{}, err
		}
	}
	if err := s.mayTake(patchFactor * len(last.Body)); err != nil {
		return App{}, err
	}
	content, differs, err := s.service.applyPatch(last.App, p)
	if err != nil {
		return App{}, err
	}
	if !differs {
		return last.App, nil
	}
	if !slices.Equal(last.head.Groups, content.groups) { // storePatch checks this again; here such a patch costs little
		err := s.service.store.view(ctx, func(r *reader) error {
			return s.mayRegroup(ctx, r, appPath+"/groups", last.head, content.groups)
		})
		if err != nil {
			return App{}, err
		}
	}
	store := func(valid draft) (next App, err error) {
		err = s.service.store.update(ctx, func(tx *writer) error {
			next, err = s.storePatch(ctx, tx, last.head, valid, p.note)
			return err
		})
		return next, rule.Within(appPath, err)
	}
	// If the elements had these components before, their copied manifests are used. The transaction checks that they
	// are still valid.
	if manifests, ok := content.knownManifests(); ok {
		if valid, err := s.service.validateDraftWith(ctx, manifests, appPath, content); err == nil {
			next, err := store(valid)
			if _, changed := errors.AsType[componentChanged](err); !changed {
				return next, err
			}
		}
	}
	valid, err := s.service.validateDraft(ctx, appPath, content)
	if err != nil {
		return App{}, err
	}
	return store(valid)
}

// storePatch stores d as the version after head. It checks in this order:
//
//  1. The caller may still change the app. A caller that has lost this right meanwhile gets ErrNotFound, or
//     ErrForbidden if it may still read the app, and does not learn the new version from an ErrConflict.
//  2. The app has still the version of head; otherwise ErrConflict with CodeStaleVersion.
//  3. The caller may change the groups as d does; otherwise ErrForbidden.
//  4. The components that d was validated against are the same; otherwise a componentChanged.
//  5. The JSON of the app has at most Limits.DocumentBytes; otherwise ErrTooLarge.
//  6. Options.Check allows the change; otherwise its error.
func (s *Session) storePatch(ctx context.Context, tx *writer, head appHead, d draft, note string) (App, error) {
	used := d.used()
	if err := tx.readAhead(ctx, head.ID, urn.Author(s.by.URN, s.by.Agent), used); err != nil {
		return App{}, err
	}
	last, err := tx.latest(ctx, head.ID)
	if err := authorize(s.by, last.head, err, true); err != nil {
		return App{}, err
	}
	if last.Version != head.Version {
		return App{}, staleVersion(head.Version.String(), last.Version)
	}
	if err := s.mayRegroup(ctx, tx.reader, appPath+"/groups", last.head, d.groups); err != nil {
		return App{}, err
	}
	if err := tx.checkUnchanged(ctx, d, used, last.Version); err != nil {
		return App{}, err
	}
	change := Change{Type: AppUpdated, Note: note}
	return s.addVersion(ctx, tx, change, s.nextVersion(last.head), d, s.service.limits.DocumentBytes)
}

// readLatest reads the latest version of an app, to change it. It returns ErrNotFound if the caller may not read the
// app, and ErrForbidden if it may only read it.
func (s *Session) readLatest(ctx context.Context, id string) (last keptVersion, err error) {
	err = s.service.store.view(ctx, func(r *reader) error {
		last, err = r.latest(ctx, id)
		return authorize(s.by, last.head, err, true)
	})
	return last, err
}

// staleVersion is the error of a patch that tests another version than the app has.
func staleVersion(tested string, current vitrine.Version) error {
	return fault.Conflict(vitrine.CodeStaleVersion, current,
		"the patch is for version %q, but the app is at version %q",
		tested, current)
}

// readText reads a text of a request, which is named what. It returns ErrTooLarge for more than most bytes, and the
// error of the reader.
func readText(what string, from io.Reader, most int) ([]byte, error) {
	if from == nil {
		return nil, nil
	}
	text, err := io.ReadAll(io.LimitReader(from, int64(most)+1))
	if err == nil && len(text) > most {
		err = tooMuch(what, most)
	}
	return text, err
}

// tooMuch is the error of a text with more than most bytes.
func tooMuch(what string, most int) error {
	return fault.TooLarge("the %s has more than %d bytes, which is the most", what, most)
}

// applyPatch applies a patch to app. It returns the content of the result, and whether it differs from that of app. It
// returns ErrConflict if a test fails, ErrUnprocessable if the operations do not apply or the result is not allowed,
// and ErrTooLarge if the operations copy or do too much.
//
// A patch for another version is rejected before any operation is applied: operations before the test could fail first,
// or could write the version that is then tested. If a patch has several tests of the version, all of them must
// succeed.
func (s *Service) applyPatch(app App, p parsedPatch) (content draft, differs bool, err error) {
	if err := p.checkVersion(app.Version); err != nil {
		return draft{}, false, err
	}
	body, elements, err := app.Body.split()
	if err != nil {
		return draft{}, false, err
	}
	old, err := storedDraft(body, elements)
	if err != nil {
		return draft{}, false, err
	}
	before, after := document(app, body, elements), document(app, body, elements)
	if err := after.Patch(p.ops,
		jsontree.Limits{Copies: s.limits.DocumentBytes, Work: s.limits.patchWork()}); err != nil {
		if e, ok := errors.AsType[*vitrine.Error](err); ok && e.Code == vitrine.CodeTestFailed {
			e.Version = app.Version
		}
		return draft{}, false, err
	}
	d, err := resultDraft(&before, &after, old, elements)
	if err != nil {
		return draft{}, false, err
	}
	if err := s.limits.checkDraft(appPath, d); err != nil {
		return draft{}, false, err
	}
	return d, !d.sameContent(old), nil
}

// patchWork is the limit of the work of applying one patch, which jsontree.Limits counts. A thousand operations that
// each need the whole of a large document exceed it.
func (l Limits) patchWork() int { return 5 * l.DocumentBytes }

// versionPath is the JSON pointer of the version in the document. Every patch must test it.
const versionPath = appPath + "/version"

// notePath is the JSON pointer at which a patch adds the note of its version.
const notePath = "/note"

// parsedPatch is a patch that decodePatch has accepted.
type parsedPatch struct {
	ops    []jsontree.Op // the operation that adds the note is replaced by one that does nothing
	tested []string      // the versions that it tests, one at least
	note   string
}

// checkVersion returns ErrConflict if the patch tests another version than the app has.
func (p parsedPatch) checkVersion(current vitrine.Version) error {
	for _, v := range p.tested {
		if v != current.String() {
			return staleVersion(v, current)
		}
	}
	return nil
}

// decodePatch reads a patch and parses it. It returns the error of the reader, ErrTooLarge if the patch has more than
// Limits.PatchBytes or Limits.PatchOps, and ErrInvalid if it is no JSON Patch or has no test of the version with a
// string: a version is a string in JSON, so a test with another value always fails. Any operation may be the test.
// decodePatch does not know the app, and so does not run the test.
func (s *Service) decodePatch(patch io.Reader) (p parsedPatch, err error) {
	text, err := readText("patch", patch, s.limits.PatchBytes)
	if err != nil {
		return p, err
	}
	if p.ops, err = jsontree.Decode(text, s.limits.PatchOps); err != nil {
		return p, err
	}
	isNoted := false
	for i, op := range p.ops {
		text, isText := jsontree.Text(op.Value)
		switch {
		case op.Op == "test" && op.Path == versionPath && isText:
			p.tested = append(p.tested, text)
		case op.Op == "add" && op.Path == notePath:
			at := fmt.Sprintf("/%d/value", i)
			if isNoted || !isText {
				return p, fault.Invalid(at, "the note of a version is one text")
			}
			if err := checkNote(at, text); err != nil {
				return p, err
			}
			isNoted, p.note, p.ops[i] = true, text, jsontree.Op{}
		}
	}
	if p.tested == nil {
		return p, fault.Invalid("",
			"the patch needs a test of %s whose value is a string: the version that the patch was made for, such as "+
				"\"3\"", versionPath)
	}
	return p, nil
}

// mostOfNote is how many characters a note has at most.
const mostOfNote = 1024

// checkNote returns ErrInvalid for a note that is too long or no text.
func checkNote(pointer, note string) error { return checkText(pointer, note, mostOfNote) }
