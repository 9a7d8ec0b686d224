package appsvc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// An upgrade gives the elements of apps another version of their component; see rewrite. After an upgrade that has
// ended early, it is simply repeated: apps that have the version already are skipped.

// UpgradeRequest names a version of a component that the apps with this component will get.
type UpgradeRequest struct {
	Name string   `json:"-"`             // of the component
	From []string `json:"from,omitzero"` // only elements with these versions; nil = with any version except To
	To   string   `json:"to"`            // a version of the component
	// a JSON Patch for the config of each of these elements; nil = none
	Patch  json.RawMessage `json:"patch,omitzero"`
	After  string          `json:"after,omitzero"` // Next of the previous page; "" = the first page
	DryRun bool            `json:"-"`              // stores nothing, and returns what would be done
}

// UpgradedApp is an app that Upgrade or Replace changes.
type UpgradedApp struct {
	App      string          `json:"app"` // its id
	Title    string          `json:"title"`
	Version  vitrine.Version `json:"version"`  // the new one; with Violations the latest one, which stays
	Elements []string        `json:"elements"` // ids of the elements that are changed
	// Violations say why the app was not changed: what the schema rejects, and why else a patch of the app would be
	// rejected, with the keyword patch, cost, size or refused. Their pointers lead into the app, such as
	// /elements/2/config/size.
	Violations []vitrine.Violation `json:"violations"`
	// from the previous version to the new one, as Diff.Patch; [] with Violations
	Diff json.RawMessage `json:"diff"`
	// names of the tags that point to a version before Version: a release can move them
	Tags []string `json:"tags"`
}

// Upgrade gives all matching elements of each app that the caller may change another version of their component, and
// applies a patch to each of their configs. Each app is validated and stored as Patch does it, as one new version of
// the latest version, in one transaction. An app that would become invalid is not changed, and its Violations say why.
// With DryRun nothing is stored, and the result is the same. Apps without such elements are left out.
//
// A page ends after 100 apps, a second, or before the app that would bring it above Limits.PageBytes. It may have no
// apps although Next is set.
//
// It returns ErrNotFound if there is no component of this name, ErrUnprocessable with CodeUnknownComponent if it has no
// such version, ErrInvalid or ErrTooLarge if the patch is malformed or has more than Limits.PatchOps or
// Limits.PatchBytes, ErrInvalid if After is not a cursor of this upgrade, and ErrConflict with CodeStaleVersion if the
// component was replaced meanwhile.
func (s *Session) Upgrade(ctx context.Context, in UpgradeRequest) (out vitrine.Page[UpgradedApp], err error) {
	if err := s.check(); err != nil {
		return out, err
	}
	if in.DryRun {
		s = s.Trying()
	}
	u := upgrade{s: s.service, in: in, ref: ComponentRef{in.Name, in.To}}
	if len(in.Patch) > s.service.limits.PatchBytes {
		return out, fault.At("/patch",
			tooMuch("patch", s.service.limits.PatchBytes))
	}
	if in.Patch != nil {
		if u.ops, err = jsontree.Decode(in.Patch, s.service.limits.PatchOps); err != nil {
			return out, fault.At("/patch", err)
		}
	}
	if in.To == "" {
		return out, fault.Invalid("/to", "missing: want a version of the component")
	}
	w := rewrite{s: s, list: "upgrade " + in.Name + "\n" + in.To, ends: true,
		apps: appQuery{component: ComponentRef{Name: in.Name}}, change: u.change,
		validate: func(ctx context.Context, d draft) (draft, error) {
			return s.service.validateDraftWith(ctx, map[ComponentRef][]byte{u.ref: u.manifest}, "", d)
		}}
	if err := w.from(in.After); err != nil {
		return out, err
	}
	if err := u.prepare(ctx); err != nil {
		return out, err
	}
	return w.page(ctx)
}

// upgrade is one call of Upgrade.
type upgrade struct {
	s   *Service
	in  UpgradeRequest
	ref ComponentRef
	ops []jsontree.Op

	manifest []byte // of ref
	schema   *compiledSchema
	rule     languages
}

// prepare reads the component.
func (u *upgrade) prepare(ctx context.Context) error {
	err := u.s.store.view(ctx, func(r *reader) (err error) {
		if u.rule, err = r.languages(ctx); err != nil {
			return err
		}
		if u.manifest, err = r.Value(ctx, records.ManifestKey(u.ref.Name, u.ref.Version)); err != nil ||
			u.manifest != nil {
			return err
		}
		versions, err := r.ComponentVersions(ctx, u.ref.Name)
		if err == nil && len(versions) == 0 {
			return noComponent(u.ref.Name)
		}
		if err == nil {
			err = fault.At("/to", r.unknownComponent(ctx, u.ref))
		}
		return err
	})
	if err != nil {
		return err
	}
	schema, err := (Component{Manifest: u.manifest}).ConfigSchema()
	if err == nil {
		u.schema, err = u.s.schemas.get(schema)
	}
	if err != nil {
		return fault.At("/to", nonconforming(u.ref, err))
	}
	return nil
}

// change gives the matching elements the component and their new configs. It records their ids and the violations of
// their configs.
func (u *upgrade) change(out *UpgradedApp, elements []draftElement) error {
	for i := range elements {
		e := &elements[i]
		if member(e.kept, "name") != u.ref.Name {
			continue
		}
		manifest, config, err := e.split()
		if err != nil {
			return err
		}
		if v := storedRef(manifest).Version; v == u.ref.Version || u.in.From != nil && !slices.Contains(u.in.From, v) {
			continue
		}
		out.Elements = append(out.Elements, strconv.Itoa(i))
		pointer := fmt.Sprintf("/elements/%d/config", i)
		reject := func(err error) {
			out.Violations = append(out.Violations,
				vitrine.Violation{Pointer: pointer, Keyword: "patch", Message: err.Error()})
		}
		if u.ops != nil {
			node := jsontree.New(config)
			if err := node.Patch(u.ops,
				jsontree.Limits{Copies: u.s.limits.DocumentBytes, Work: u.s.limits.patchWork()}); err != nil {
				e, rejected := errors.AsType[*vitrine.Error](err)
				if !rejected {
					return err
				}
				reject(e)
				continue
			}
			config = node.Bytes()
		}
		*e = draftElement{key: e.key, ref: u.ref, config: config, was: manifest}
		if err := u.s.limits.checkWritten(*e); err != nil {
			reject(err)
			continue
		}
		for _, v := range u.schema.violations(u.rule, config) {
			v.Pointer = pointer + v.Pointer
			out.Violations = append(out.Violations, v)
		}
	}
	return nil
}
