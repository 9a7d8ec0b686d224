package appsvc

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/rule"
)

// rewrite changes elements of all apps that a caller may change, page by page: Upgrade and Replace. Each app is
// validated and stored as Patch does it, in one transaction. The apps are taken in the order of their creation, so that
// each is met once, whatever changes meanwhile. A dry run does the same with a Session that is Trying.
type rewrite struct {
	s    *Session
	list string   // name of the list of its cursors
	ends bool     // it ends with an error if a component was replaced meanwhile; otherwise the app is tried again
	note string   // of the new versions
	apps appQuery // those that may have something to change
	// change changes elements of an app, and records their ids, and the violations that it finds itself
	change   func(out *UpgradedApp, elements []draftElement) error
	validate func(context.Context, draft) (draft, error) // as validateDraft
}

// The limits of one page of a rewrite; Limits.PageBytes of bodies and results is another.
const (
	upgradedApps = 100
	upgradeTime  = time.Second // by the clock of Options.Now
	upgradeSteps = 1_000_000   // of the difference of one app, about 2 ms

	mostViolations = 100 // of an app
)

// from sets where the page begins. It returns ErrInvalid if after is not a cursor of the rewrite.
func (w *rewrite) from(after string) error {
	w.apps.by, w.apps.sort, w.apps.limit = w.s.by, CreatedAscending, records.AtOnce
	if after == "" {
		return nil
	}
	at, id, ok := parseCursor(w.list, after)
	if !ok || id == "" {
		return fault.Invalid("/after", "not a cursor of this request")
	}
	w.apps.after = &records.Position{Time: at, ID: id}
	return nil
}

// page changes the apps of one page.
func (w *rewrite) page(ctx context.Context) (out vitrine.Page[UpgradedApp], err error) {
	now := w.s.service.now
	until, size := now().Add(upgradeTime), 0
	for {
		users, more, err := w.users(ctx, upgradedApps-len(out.Items), size)
		if err != nil {
			return vitrine.Page[UpgradedApp]{}, err
		}
		done, err := w.all(ctx, users)
		if err != nil {
			return vitrine.Page[UpgradedApp]{}, err
		}
		for _, app := range done {
			out.Items, size = append(out.Items, app), size+app.size()
		}
		if !more {
			return out, nil
		}
		if len(out.Items) >= upgradedApps || len(users) == 0 || !now().Before(until) {
			out.Next = cursor(w.list, w.apps.after.Time, w.apps.after.ID)
			return out, nil
		}
	}
}

// users returns up to limit apps that the caller may change, after w.apps.after, which it advances, and whether there
// are more. The apps are then processed concurrently, so that their transactions share commits. size is the size of the
// page so far. The page has no room for an app whose body would bring it above Limits.PageBytes: what the page says of
// an app is known only when the app has been changed, and is seldom larger than its body.
func (w *rewrite) users(ctx context.Context, limit, size int) (users []componentUser, more bool, err error) {
	begin := w.apps.after
	err = w.s.service.store.view(ctx, func(r *reader) error {
		users, more, w.apps.after = nil, false, begin
		limit, bytes := min(limit, records.AtOnce), size
		for part, err := range keyval.Chunks(r.positionsOf(ctx, w.apps, limit), limit) {
			if err != nil {
				return err
			}
			if more = w.apps.after != begin; more {
				return nil
			}
			heads, err := r.heads(ctx, idsAt(part))
			var tags map[string][]Tag
			if err == nil {
				tags, err = r.tagsOf(ctx, heads)
			}
			if err != nil {
				return err
			}
			i := 0
			for app, err := range r.whole(ctx, idsAt(part)) {
				if err != nil {
					return err
				}
				if more = bytes > 0 && bytes+len(app.Body) > w.s.service.limits.PageBytes; more {
					return nil
				}
				if h := heads[i]; mayUse(w.s.by, h) {
					users, bytes = append(users, componentUser{h, app.Body, tags[h.ID]}), bytes+len(app.Body)
				}
				w.apps.after, i = &part[i], i+1
			}
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

// all changes some apps concurrently. It leaves out apps without anything to change.
func (w *rewrite) all(ctx context.Context, users []componentUser) (out []UpgradedApp, err error) {
	done, errs := make([]UpgradedApp, len(users)), make([]error, len(users))
	var all sync.WaitGroup
	for i, user := range users {
		all.Go(func() { done[i], errs[i] = w.app(ctx, user) })
	}
	all.Wait()
	return slices.DeleteFunc(done, func(a UpgradedApp) bool { return a.App == "" }), errors.Join(errs...)
}

// app changes an app. If somebody else changes it meanwhile, app starts again. The result has no App if there is
// nothing to do.
func (w *rewrite) app(ctx context.Context, user componentUser) (out UpgradedApp, err error) {
	for range 10 {
		out, err = w.version(ctx, user.appHead, user.body)
		if errors.Is(err, errVersionChanged) {
			last, err := w.s.readLatest(ctx, user.ID)
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
func (w *rewrite) version(ctx context.Context, head appHead, body Body) (out UpgradedApp, err error) {
	old, err := body.draft()
	if err != nil {
		return out, err
	}
	out = UpgradedApp{App: head.ID, Title: old.title, Version: head.Version, Elements: []string{},
		Violations: []vitrine.Violation{}, Diff: json.RawMessage("[]"), Tags: []string{}}
	next := old
	next.elements = slices.Clone(old.elements)
	if err := w.change(&out, next.elements); err != nil || len(out.Elements) == 0 {
		return UpgradedApp{}, err
	}
	if len(out.Violations) > 0 {
		out.Violations = out.Violations[:min(len(out.Violations), mostViolations)]
		return out, nil
	}
	valid, err := w.validate(ctx, next)
	if err == nil {
		err = w.finish(&out, old, valid, w.s.nextVersion(head))
	}
	if err == nil && (!w.s.service.store.tries || w.s.service.check != nil) {
		err = w.s.service.store.update(ctx, func(tx *writer) error {
			_, err := w.s.storePatch(ctx, tx, head, valid, w.note)
			return err
		})
	}
	e, rejected := errors.AsType[*vitrine.Error](err)
	_, replaced := errors.AsType[componentChanged](err)
	_, checked := errors.AsType[*rule.Rejected](err)
	switch {
	case err == nil:
		return out, nil
	case !rejected || replaced && w.ends:
		return UpgradedApp{}, err
	case checked:
		out.reject(head.Version, e.Pointer, "refused", e.Reason)
	case e.Code == vitrine.CodeStaleVersion:
		return out, errVersionChanged
	case e.Kind == vitrine.ErrNotFound || e.Kind == vitrine.ErrForbidden:
		return UpgradedApp{}, nil
	case e.Kind == vitrine.ErrTooLarge:
		out.reject(head.Version, "", "size", e.Reason)
	case len(e.Violations) > 0:
		for _, v := range e.Violations {
			out.reject(head.Version, e.Pointer+v.Pointer, v.Keyword, v.Message)
		}
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

// finish records the next version of an app, with this content, and the difference from the previous one.
func (w *rewrite) finish(out *UpgradedApp, old, next draft, of App) error {
	next.elements = slices.Clone(next.elements)
	next.giveKeys(of.Version)
	body := next.body(of.Owner)
	if err := of.with(body).checkSize(w.s.service.limits.DocumentBytes); err != nil {
		return err
	}
	stored, err := body.draft()
	if err != nil {
		return err
	}
	ops, err := w.s.service.limits.diff(old, stored, &jsontree.Differ{Steps: upgradeSteps})
	if err != nil {
		return err
	}
	test := jsontree.Op{Op: "test", Path: versionPath, Value: appendString(nil, out.Version.String())}
	out.Version, out.Diff = of.Version, appendPatch(nil, append([]jsontree.Op{test}, ops...))
	return nil
}
