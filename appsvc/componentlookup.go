package appsvc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
)

// readComponents reads the components of the written elements, each once, in one snapshot. It returns ErrUnprocessable with
// CodeUnknownComponent, and with the pointer of the element, if one does not exist. It opens no View if no element is written.
func (s *Service) readComponents(ctx context.Context, at string, d draft) (used map[ComponentRef]Component, err error) {
	if !slices.ContainsFunc(d.elements, draftElement.written) {
		return nil, nil
	}
	used = map[ComponentRef]Component{}
	err = s.store.View(ctx, func(r Reader) error {
		clear(used)
		for i, e := range d.elements {
			if _, known := used[e.ref]; known || !e.written() {
				continue
			}
			c, err := findComponent(ctx, r, e.ref)
			if err != nil {
				return below(fmt.Sprintf("%s/elements/%d/component", at, i), err)
			}
			used[e.ref] = c
		}
		return nil
	})
	return used, err
}

// findComponent returns one version of a component, with its manifest. It returns ErrUnprocessable if there is no such version:
// in the requests of its callers a component is part of an element, and not the thing that is asked for.
func findComponent(ctx context.Context, r Reader, ref ComponentRef) (Component, error) {
	for c, err := range r.Components(ctx, ComponentQuery{Name: ref.Name, Version: ref.Version}) {
		return c, err
	}
	return Component{}, unprocessable(CodeUnknownComponent, "", "there is no component %q version %q", ref.Name, ref.Version)
}

// componentChanged is the error of a write whose configs were validated against a component that was deleted or replaced
// since. It wraps the *Error that the caller gets. Patch finds it by its type: if the component came from the cache, Patch reads
// it again and does the work once more.
type componentChanged struct{ error }

// Unwrap returns the *Error.
func (e componentChanged) Unwrap() error { return e.error }

// checkUnchanged runs in the transaction that stores a draft. It returns a componentChanged if a component that the
// draft was validated against is not the same any more. This wraps ErrUnprocessable if the component was deleted, and
// ErrConflict with CodeStaleVersion and current, the latest version of the app, if it was replaced.
func checkUnchanged(ctx context.Context, tx Tx, used map[ComponentRef]Component, current Version) error {
	for ref, c := range used {
		stored, err := findComponent(ctx, tx, ref)
		if _, deleted := errors.AsType[*Error](err); deleted {
			return componentChanged{err}
		}
		if err != nil {
			return err
		}
		// Manifests are compared, and not ids: a new component may have the id of a deleted one.
		if !bytes.Equal(stored.Manifest, c.Manifest) {
			return componentChanged{conflict(CodeStaleVersion, current, "component %q version %q was replaced meanwhile: try again", ref.Name, ref.Version)}
		}
	}
	return nil
}
