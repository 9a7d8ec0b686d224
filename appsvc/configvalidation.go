package appsvc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
)

// A config is validated before the transaction that stores it, since this may take long. So there are three steps: read
// the components in a View (readComponents), validate (validateDraftWith), and check in the transaction that the components
// are still the same (checkUnchanged).

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
	return Component{}, unprocessable(vitrine.CodeUnknownComponent, "", "there is no component %q version %q", ref.Name, ref.Version)
}

// validateDraft reads the components of the written elements and validates the configs against them. It returns the draft with
// the manifests of the components, and the components that it read, for checkUnchanged. at is the JSON pointer of the
// draft in the request. It returns ErrUnprocessable if a component does not exist (CodeUnknownComponent), if a config
// breaks its schema (CodeSchema), or if validating all configs together would take too long (CodeCost).
func (s *Service) validateDraft(ctx context.Context, at string, d draft) (draft, map[ComponentRef]Component, error) {
	used, err := s.readComponents(ctx, at, d)
	if err != nil {
		return draft{}, nil, err
	}
	d, err = s.validateDraftWith(used, at, d)
	return d, used, err
}

// validateDraftWith is validateDraft for components that were read before, among which must be those of all written elements. All
// configs of the draft share one budget. The result has elements of its own: those of d stay as they are, so that the caller can
// call it again with other components.
func (s *Service) validateDraftWith(used map[ComponentRef]Component, at string, d draft) (_ draft, err error) {
	d.elements = slices.Clone(d.elements)
	schemas := map[ComponentRef]*compiledSchema{}
	var budget schemaguard.Budget
	for i := range d.elements {
		e := &d.elements[i]
		if !e.written() {
			continue
		}
		if schemas[e.ref] == nil {
			schema, err := used[e.ref].ConfigSchema()
			if err != nil {
				return draft{}, err
			}
			if schemas[e.ref], err = s.schemas.get(schema); err != nil {
				return draft{}, below(fmt.Sprintf("%s/elements/%d/config", at, i), nonconforming(e.ref, err))
			}
			budget.Compiled(schemas[e.ref].guard)
		}
		if err := schemas[e.ref].validateWithin(&budget, e.config); err != nil {
			return draft{}, below(fmt.Sprintf("%s/elements/%d/config", at, i), nonconforming(e.ref, err))
		}
		e.manifest, e.config = used[e.ref].Manifest, compact(e.config)
	}
	return d, nil
}

// nonconforming returns the error err of validateWithin as ErrUnprocessable: CodeCost if the budget was spent, and
// otherwise CodeSchema, with the violations. The list is empty if the engine could not judge the config.
func nonconforming(ref ComponentRef, err error) error {
	e := unprocessable(vitrine.CodeSchema, "", "does not conform to component %q version %q: %s", ref.Name, ref.Version, err)
	if errors.Is(err, schemaguard.ErrCostly) {
		e.Code = vitrine.CodeCost
	}
	if all, ok := errors.AsType[violations](err); ok {
		e.Violations = all
	}
	return e
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
func checkUnchanged(ctx context.Context, tx Tx, used map[ComponentRef]Component, current vitrine.Version) error {
	for ref, c := range used {
		stored, err := findComponent(ctx, tx, ref)
		if _, deleted := errors.AsType[*vitrine.Error](err); deleted {
			return componentChanged{err}
		}
		if err != nil {
			return err
		}
		// Manifests are compared, and not ids: a new component may have the id of a deleted one.
		if !bytes.Equal(stored.Manifest, c.Manifest) {
			return componentChanged{conflict(vitrine.CodeStaleVersion, current, "component %q version %q was replaced meanwhile: try again", ref.Name, ref.Version)}
		}
	}
	return nil
}
