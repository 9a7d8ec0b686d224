package appsvc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/rule"
)

// An upgrade gives the elements of apps another version of their component. Each app is one transaction. After an
// upgrade that has ended early, it is simply repeated: apps that have the version already are skipped.

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

// UpgradedApp is an app with elements that get the version.
type UpgradedApp struct {
	App      string          `json:"app"` // its id
	Title    string          `json:"title"`
	Version  vitrine.Version `json:"version"`  // the new one; with Violations the latest one, which stays
	Elements []string        `json:"elements"` // ids of the elements
	// Violations say why the app was not changed: what the schema rejects, and why else a patch of the app would be
	// rejected, with the keyword patch, cost, size or refused. Their pointers lead into the app, such as
	// /elements/2/config/size.
	Violations []vitrine.Violation `json:"violations"`
	// from the previous version to the new one, as Diff.Patch; [] with Violations
	Diff json.RawMessage `json:"diff"`
	// names of the tags that point to a version before Version: a release can move them
	Tags []string `json:"tags"`
}

// The limits of one page of Upgrade; Limits.PageBytes of bodies and results is another.
const (
	upgradedApps = 100
	upgradeTime  = time.Second // by the clock of Options.Now
	upgradeSteps = 1_000_000   // of the difference of one app, about 2 ms
)

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
func (s *Session) Upgrade(
	ctx context.Context, in UpgradeRequest,
) (out vitrine.Page[UpgradedApp], err error) {
	if err := s.check(); err != nil {
		return out, err
	}
	u := upgrade{s: s.service, by: s.by, in: in, ref: ComponentRef{in.Name, in.To}}
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
	list := "upgrade " + in.Name + "\n" + in.To
	from := ""
	if in.After != "" {
		_, text, ok := parseCursor(list, in.After)
		if from = text; !ok || text == "" {
			return out, fault.Invalid("/after", "not a cursor of this upgrade")
		}
	}
	if err := u.prepare(ctx); err != nil {
		return out, err
	}
	until, size := s.service.now().Add(upgradeTime), 0
	for {
		users, more, err := u.users(ctx, from, upgradedApps-len(out.Items), size)
		if err != nil {
			return vitrine.Page[UpgradedApp]{}, err
		}
		done, err := u.apps(ctx, users)
		if err != nil {
			return vitrine.Page[UpgradedApp]{}, err
		}
		for _, app := range done {
			out.Items, size = append(out.Items, app), size+app.size()
		}
		if !more {
			return out, nil
		}
		if len(users) > 0 {
			from = users[len(users)-1].ID
		}
		if len(out.Items) >= upgradedApps || len(users) == 0 || !s.service.now().Before(until) {
			out.Next = cursor(list, 0, from)
			return out, nil
		}
	}
}

// users returns up to limit apps that use the component, with ids after from, and whether there are more. The apps are
// then processed concurrently, so that their transactions share commits. size is the size of the page so far. The page
// has no room for an app whose body would bring it above Limits.PageBytes: what the page says of an app is known only
// when the app has been upgraded, and is seldom larger than its body.
func (u *upgrade) users(
	ctx context.Context, from string, limit, size int,
) (users []componentUser, more bool, err error) {
	err = u.s.store.view(ctx, func(r *reader) error {
		users, more = nil, false
		bytes := size
		for user, err := range r.users(ctx, u.in.Name, from, u.by) {
			if err != nil {
				return err
			}
			if user.ID == from {
				continue
			}
			if more = len(users) == min(limit, records.AtOnce) || bytes > 0 &&
				bytes+len(user.body) > u.s.limits.PageBytes; more {
				return nil
			}
			users, bytes = append(users, user), bytes+len(user.body)
		}
		return nil
	})
	return users, more, err
}

// size is the approximate size of an app in a page, in bytes.
func (a UpgradedApp) size() int {
	n := 300 + len(a.Title) + len(a.Diff) + 10*len(a.Elements)
	for _, v := range a.Violations {
		n += 60 + len(v.Pointer) + len(v.Message)
	}
	for _, tag := range a.Tags {
		n += len(tag) + 3
	}
	return n
}

// upgrade is one call of Upgrade.
type upgrade struct {
	s   *Service
	by  vitrine.Caller
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
			err = fault.At("/to", unknownComponent(u.ref))
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

// apps upgrades some apps concurrently. It leaves out apps without matching elements and apps that the caller may not
// change.
func (u *upgrade) apps(ctx context.Context, users []componentUser) (out []UpgradedApp, err error) {
	done, errs := make([]UpgradedApp, len(users)), make([]error, len(users))
	var all sync.WaitGroup
	for i, user := range users {
		if mayUse(u.by, user.appHead) && slices.Contains(user.Components, u.ref.Name) {
			all.Go(func() { done[i], errs[i] = u.app(ctx, user) })
		}
	}
	all.Wait()
	return slices.DeleteFunc(done, func(a UpgradedApp) bool { return a.App == "" }), errors.Join(errs...)
}

// errDryRun rolls back the writes of a dry run.
var errDryRun = errors.New("a dry run")

// app upgrades an app. If somebody else changes it meanwhile, app starts again. The result has no App if there is
// nothing to do.
func (u *upgrade) app(ctx context.Context, user componentUser) (out UpgradedApp, err error) {
	for range 10 {
		out, err = u.version(ctx, user.appHead, user.body)
		if errors.Is(err, errVersionChanged) {
			last, err := u.s.As(u.by).readLatest(ctx, user.ID)
			if user.appHead, user.body = last.head, last.Body; err != nil {
				return UpgradedApp{}, ignore(ignore(err, vitrine.ErrNotFound), vitrine.ErrForbidden)
			}
			continue
		}
		for _, tag := range user.tags {
			if tag.AppVersion.Compare(out.Version) < 0 {
				out.Tags = append(out.Tags, tag.Name)
			}
		}
		return out, err
	}
	out.reject(user.Version, "", "refused", "it was changed again and again meanwhile: try again")
	return out, nil
}

// errVersionChanged means that an app has got another version meanwhile.
var errVersionChanged = errors.New("the app has another version")

// version adds the next version of an app with this head and body. It returns errVersionChanged if this is not the
// latest version any more.
func (u *upgrade) version(ctx context.Context, head appHead, body Body) (out UpgradedApp, err error) {
	old, err := body.draft()
	if err != nil {
		return out, err
	}
	out = UpgradedApp{App: head.ID, Title: old.title, Version: head.Version, Elements: []string{},
		Violations: []vitrine.Violation{}, Diff: json.RawMessage("[]"), Tags: []string{}}
	next := old
	next.elements = slices.Clone(old.elements)
	if err := u.change(&out, next.elements); err != nil || len(out.Elements) == 0 {
		return UpgradedApp{}, err
	}
	if len(out.Violations) > 0 {
		return out, nil
	}
	valid, err := u.s.validateDraftWith(ctx, map[ComponentRef][]byte{u.ref: u.manifest}, "", next)
	if err == nil {
		err = u.finish(&out, old, valid, u.s.As(u.by).nextVersion(head))
	}
	if err == nil && (!u.in.DryRun || u.s.check != nil) {
		err = u.store(ctx, head, valid)
	}
	e, rejected := errors.AsType[*vitrine.Error](err)
	_, replaced := errors.AsType[componentChanged](err)
	_, checked := errors.AsType[*rule.Rejected](err)
	switch {
	case err == nil, errors.Is(err, errDryRun):
		return out, nil
	case replaced || !rejected:
		return UpgradedApp{}, err
	case checked:
		out.reject(head.Version, e.Pointer, "refused", e.Reason)
	case e.Code == vitrine.CodeStaleVersion:
		return out, errVersionChanged
	case e.Kind == vitrine.ErrNotFound || e.Kind == vitrine.ErrForbidden:
		return UpgradedApp{}, nil
	case e.Kind == vitrine.ErrTooLarge:
		out.reject(head.Version, "", "size", e.Reason)
	default:
		out.reject(head.Version, e.Pointer, e.Code, e.Reason)
	}
	return out, nil
}

// reject records why the app is not changed.
func (a *UpgradedApp) reject(latest vitrine.Version, pointer, keyword, reason string) {
	a.Version, a.Diff = latest, json.RawMessage("[]")
	a.Violations = append(a.Violations, vitrine.Violation{Pointer: pointer, Keyword: keyword, Message: reason})
}

// mostViolations is the maximum number of Violations of an app.
const mostViolations = 100

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
	out.Violations = out.Violations[:min(len(out.Violations), mostViolations)]
	return nil
}

// finish records the next version of an app, with this content, and the difference from the previous one.
func (u *upgrade) finish(out *UpgradedApp, old, next draft, of App) error {
	next.elements = slices.Clone(next.elements)
	next.giveKeys(of.Version)
	body := next.body(of.Owner)
	if err := of.with(body).checkSize(u.s.limits.DocumentBytes); err != nil {
		return err
	}
	stored, err := body.draft()
	if err != nil {
		return err
	}
	ops, err := u.s.limits.diff(old, stored, &jsontree.Differ{Steps: upgradeSteps})
	if err != nil {
		return err
	}
	test := jsontree.Op{Op: "test", Path: versionPath, Value: appendString(nil, out.Version.String())}
	out.Version, out.Diff = of.Version, appendPatch(nil, append([]jsontree.Op{test}, ops...))
	return nil
}

// store stores the next version of an app as Patch does. A dry run rolls it back with errDryRun.
func (u *upgrade) store(ctx context.Context, head appHead, d draft) error {
	return u.s.store.update(ctx, func(tx *writer) error {
		_, err := u.s.As(u.by).storePatch(ctx, tx, head, d, "")
		if err == nil && u.in.DryRun {
			err = errDryRun
		}
		return err
	})
}
