package appsvc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/storage"
)

// A config is validated before the transaction that stores it, since this may take long. So there are three steps: read
// the components in a View (readComponents), validate (validateDraftWith), and check in the transaction that the
// components are still the same (writer.checkUnchanged).

// CheckConfig returns the error that CreateApp would return for an element with this component and config, and nil if
// they fit: ErrInvalid, or ErrUnprocessable with CodeUnknownComponent, CodeSchema or CodeCost. Its Pointer begins with
// /elements/0. Components are for everybody, so it takes no caller.
func (s *Service) CheckConfig(ctx context.Context, e NewElement) error {
	d := draft{title: "-", elements: []draftElement{{ref: e.Component, config: e.Config}}}
	if err := s.made().limits.checkWritten(d.elements[0]); err != nil {
		return fault.At("/elements/0", err)
	}
	_, err := s.validateDraft(ctx, "", d)
	return err
}

// readComponents reads the manifests of the components of the written elements, in one trip. It returns
// ErrUnprocessable with CodeUnknownComponent, and with the pointer of the element, if one does not exist. It opens no
// View if no element is written.
func (s *Service) readComponents(ctx context.Context, at string, d draft) (map[ComponentRef][]byte, error) {
	var keys []string
	var written []int // indices of elements, the first of each component
	manifests := map[ComponentRef][]byte{}
	for i, e := range d.elements {
		if _, known := manifests[e.ref]; e.written() && !known {
			manifests[e.ref] = nil
			keys, written = append(keys, records.ManifestKey(e.ref.Name, e.ref.Version)), append(written, i)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	err := s.store.view(ctx, func(r *reader) error {
		values, err := r.Get(ctx, keys...)
		if err != nil {
			return err
		}
		for i, element := range written {
			ref := d.elements[element].ref
			if values[i] == nil {
				return fault.At(fmt.Sprintf("%s/elements/%d/component", at, element), r.unknownComponent(ctx, ref))
			}
			manifests[ref] = slices.Clip(values[i])
		}
		return nil
	})
	return manifests, err
}

// validateDraft reads the components of the written elements and validates the configs against them. It returns the
// draft with the manifests of the components. at is the JSON pointer of the draft in the request. It returns
// ErrUnprocessable if a component does not exist (CodeUnknownComponent), if a config breaks its schema (CodeSchema), or
// if validating all configs together would take too long (CodeCost).
func (s *Service) validateDraft(ctx context.Context, at string, d draft) (draft, error) {
	manifests, err := s.readComponents(ctx, at, d)
	if err != nil {
		return draft{}, err
	}
	return s.validateDraftWith(ctx, manifests, at, d)
}

// validateDraftWith is validateDraft for components whose manifests were read before. All configs of the draft share
// one budget, in all their languages. The result has elements of its own: those of d stay as they are, so that the
// caller can call it again with other components.
func (s *Service) validateDraftWith(
	ctx context.Context, manifests map[ComponentRef][]byte, at string, d draft,
) (_ draft, err error) {
	var rule languages // read only if a written element may have a text, since most drafts have none
	if slices.ContainsFunc(d.elements, func(e draftElement) bool { return e.written() && mayHaveTexts(e.config) }) {
		if rule, err = s.store.languages(ctx); err != nil {
			return draft{}, err
		}
		d.languages = &rule
	}
	d.elements = slices.Clone(d.elements)
	schemas := map[ComponentRef]*compiledSchema{}
	var usage schemaguard.Usage
	for i := range d.elements {
		e := &d.elements[i]
		if !e.written() {
			continue
		}
		e.manifest = manifests[e.ref]
		if schemas[e.ref] == nil {
			schema, err := (Component{Manifest: e.manifest}).ConfigSchema()
			if err != nil {
				return draft{}, err
			}
			if schemas[e.ref], err = s.schemas.get(schema); err != nil {
				return draft{}, fault.At(fmt.Sprintf("%s/elements/%d/config", at, i), nonconforming(e.ref, err))
			}
			usage.Compiled(schemas[e.ref].guard)
		}
		if err := schemas[e.ref].validateWithin(&usage, rule, e.config); err != nil {
			return draft{}, fault.At(fmt.Sprintf("%s/elements/%d/config", at, i), nonconforming(e.ref, err))
		}
		e.config = compact(e.config)
	}
	return d, nil
}

// nonconforming returns the error err of validateWithin as ErrUnprocessable: CodeCost if the budget was spent, and
// otherwise CodeSchema, with the violations. The list is empty if the engine could not judge the config.
func nonconforming(ref ComponentRef, err error) error {
	e := fault.Unprocessable(vitrine.CodeSchema, "",
		"does not conform to component %q version %q: %s", ref.Name, ref.Version, err)
	if errors.Is(err, schemaguard.ErrCostly) {
		e.Code = vitrine.CodeCost
	}
	if all, ok := errors.AsType[violations](err); ok {
		e.Violations = all
	}
	return e
}

// componentChanged is the error of a write whose configs were validated against a component that was deleted or
// replaced since, or for languages that were changed. It wraps the *Error that the caller gets. Patch finds it by its
// type: if it had taken the component from the app, it reads it and does the work once more.
type componentChanged struct{ error }

// Unwrap returns the *Error.
func (e componentChanged) Unwrap() error { return e.error }

// used returns the components that the draft was validated against, with the digests of their manifests.
func (d draft) used() map[ComponentRef]string {
	used := map[ComponentRef]string{}
	for _, e := range d.elements {
		if _, known := used[e.ref]; !known && e.written() {
			used[e.ref] = records.DigestOf(e.manifest)
		}
	}
	return used
}

// knownManifests returns the manifests that the written elements of a patched app had before: most patches change a
// config and not the component, whose manifest is then the same as in the store. ok is false if an element is new or
// has another component now.
func (d draft) knownManifests() (manifests map[ComponentRef][]byte, ok bool) {
	manifests = map[ComponentRef][]byte{}
	for _, e := range d.elements {
		if !e.written() {
			continue
		}
		if e.was == nil || storedRef(e.was) != e.ref {
			return nil, false
		}
		manifests[e.ref] = e.was
	}
	return manifests, true
}

// checkUnchanged returns a componentChanged if one of the components that a draft was validated against is not the same
// any more: with ErrUnprocessable if it was deleted, and with ErrConflict, CodeStaleVersion and current, the latest
// version of the app, if it was replaced. It does the same if the languages of a draft with texts were changed.
func (t *writer) checkUnchanged(
	ctx context.Context, d draft, used map[ComponentRef]string, current vitrine.Version,
) error {
	if d.languages != nil {
		if rule, err := t.languages(ctx); err != nil {
			return err
		} else if rule.Number != d.languages.Number {
			return componentChanged{fault.Conflict(vitrine.CodeStaleVersion, current,
				"the languages of the service were changed meanwhile: try again")}
		}
	}
	for ref, digest := range used {
		key := records.ComponentKey(ref.Name, ref.Version)
		value, err := t.Value(ctx, key)
		if err != nil {
			return err
		}
		if value == nil {
			return componentChanged{t.unknownComponent(ctx, ref)}
		}
		stored, err := records.DecodeComponent(storage.Entry{Key: key, Value: value})
		if err != nil {
			return err
		}
		if stored.Digest != digest { // ids would not do: a new component may have the id of a deleted one
			return componentChanged{fault.Conflict(vitrine.CodeStaleVersion, current,
				"component %q version %q was replaced meanwhile: try again", ref.Name, ref.Version)}
		}
	}
	return nil
}

// unknownComponent returns ErrUnprocessable for a component that does not exist, with the latest versions that it has.
func (r *reader) unknownComponent(ctx context.Context, ref ComponentRef) error {
	versions, err := r.ComponentVersions(ctx, ref.Name)
	if err != nil {
		return err
	}
	if len(versions) == 0 {
		return fault.Unprocessable(vitrine.CodeUnknownComponent, "",
			"there is no component %q version %q, nor any other version", ref.Name, ref.Version)
	}
	var latest []string
	for _, c := range versions[max(0, len(versions)-5):] {
		latest = append(latest, c.Version)
	}
	return fault.Unprocessable(vitrine.CodeUnknownComponent, "",
		"there is no component %q version %q: the latest are %s",
		ref.Name, ref.Version, strings.Join(latest, ", "))
}
