package appsvc

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
)

// A config is validated before the transaction that stores it, since this may take long. So there are three steps: read
// the components in a View (readComponents), validate (validateDraftWith), and check in the transaction that the components
// are still the same (checkUnchanged).

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
	parsed := map[ComponentRef][]byte{} // the configSchema of each component, cut out of its manifest once
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

// nonconforming returns the error err of validateWithin as ErrUnprocessable: CodeCost if the budget was spent, and
// otherwise CodeSchema, with the violations. The list is empty if the engine could not judge the config.
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
