package appsvc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
)

// complete reads the components of the written elements and validates the configs against them. It returns the draft with
// the manifests of the components, and the components that it read. at is the JSON pointer of the draft in the request.
func (s *Service) complete(ctx context.Context, at string, d draft) (draft, map[ComponentRef]Component, error) {
	used, err := s.readComponents(ctx, at, d)
	if err != nil {
		return draft{}, nil, err
	}
	d, err = s.completeWith(used, at, d)
	return d, used, err
}

// readComponents reads the components of the written elements. It returns ErrUnprocessable if one does not exist.
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
			c, err := findComponent(ctx, r, e.ref, false)
			if err != nil {
				return below(fmt.Sprintf("%s/elements/%d/component", at, i), err)
			}
			used[e.ref] = c
		}
		return nil
	})
	return used, err
}

// completeWith is complete for components that were read before. It leaves the elements of d as they are.
func (s *Service) completeWith(used map[ComponentRef]Component, at string, d draft) (_ draft, err error) {
	d.elements = slices.Clone(d.elements)
	parsed := map[ComponentRef][]byte{}
	var budget schemaguard.Budget
	for i := range d.elements {
		e := &d.elements[i]
		if !e.written() {
			continue
		}
		if parsed[e.ref] == nil {
			if parsed[e.ref], err = used[e.ref].ConfigSchema(); err != nil {
				return draft{}, err
			}
		}
		if err := s.schemas.validateWithin(&budget, parsed[e.ref], e.config); err != nil {
			return draft{}, below(fmt.Sprintf("%s/elements/%d/config", at, i), nonconforming(e.ref, err))
		}
		e.manifest, e.config = used[e.ref].Manifest, compact(e.config)
	}
	return d, nil
}

// nonconforming is the error of a config that was not found valid against the schema of a component.
func nonconforming(ref ComponentRef, err error) error {
	e := unprocessable(CodeSchema, "", "does not conform to component %q version %q: %s", ref.Name, ref.Version, err)
	if errors.Is(err, schemaguard.ErrCostly) {
		e.Code = CodeCost
	}
	if all, ok := errors.AsType[violations](err); ok {
		e.Violations = all
	}
	return e
}

// findComponent returns one version of a component. It returns ErrUnprocessable if there is no such version.
func findComponent(ctx context.Context, r Reader, ref ComponentRef, brief bool) (Component, error) {
	for c, err := range r.Components(ctx, ComponentQuery{Name: ref.Name, Version: ref.Version, Brief: brief}) {
		return c, err
	}
	return Component{}, unprocessable(CodeUnknownComponent, "", "there is no component %q version %q", ref.Name, ref.Version)
}

// componentChanged is the error of a write whose configs were validated against a component that was deleted or replaced
// since. It wraps an *Error.
type componentChanged struct{ error }

func (e componentChanged) Unwrap() error { return e.error }

// checkUnchanged runs in the transaction that stores a draft. It returns a componentChanged if a component that the
// draft was validated against has changed since: of ErrUnprocessable if it was deleted, and of ErrConflict if it was
// replaced. The latter carries current, the latest version of the app.
func checkUnchanged(ctx context.Context, tx Tx, used map[ComponentRef]Component, current Version) error {
	for ref, c := range used {
		now, err := findComponent(ctx, tx, ref, false)
		if _, deleted := errors.AsType[*Error](err); deleted {
			return componentChanged{err}
		}
		if err != nil {
			return err
		}
		if !bytes.Equal(now.Manifest, c.Manifest) { // a new component may have the id of a deleted one
			return componentChanged{conflict(CodeStaleVersion, current, "component %q version %q was replaced meanwhile: try again", ref.Name, ref.Version)}
		}
	}
	return nil
}
