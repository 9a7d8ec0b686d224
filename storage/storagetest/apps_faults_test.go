//go:build proof

package storagetest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// momentary opens a View for each Head.
type momentary struct {
	appsvc.Reader
	good appsvc.Store
}

func (m momentary) Head(ctx context.Context, id string) (head, error) {
	return tryRead(m.good, func(r reader) (head, error) { return r.Head(ctx, id) })
}
func (m momentary) Apps(ctx context.Context, q appsvc.AppQuery) iter.Seq2[appsvc.App, error] {
	list, err := tryRead(m.good, func(r reader) ([]appsvc.App, error) { return collect(r.Apps(ctx, q)) })
	return listOf(list, err)
}

// listOf yields a list, and then an error if there is one.
func listOf[T any](list []T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
		if err != nil {
			yield(*new(T), err)
		}
	}
}

// stale gives every second View the heads that an earlier one saw.
func stale() brokenStore {
	var seen sync.Map
	return brokenStore{tx: func(good tx) tx { return staleHeads{good, &seen} }}
}

type staleHeads struct {
	tx
	seen *sync.Map
}

func (s staleHeads) Head(ctx context.Context, id string) (head, error) {
	h, err := s.tx.Head(ctx, id)
	if _, reads := s.tx.(readOnly); !reads || err != nil {
		return h, err
	}
	old, _ := s.seen.LoadOrStore(id, h)
	return old.(head), nil
}

// overlooks takes an error of a write for none.
type overlooks struct {
	tx
	err error
}

func (o overlooks) overlook(err error) error {
	if errors.Is(err, o.err) {
		return nil
	}
	return err
}
func (o overlooks) AddVersion(ctx context.Context, h head, body appsvc.Body) error {
	return o.overlook(o.tx.AddVersion(ctx, h, body))
}
func (o overlooks) AddComponent(ctx context.Context, c appsvc.Component) error {
	return o.overlook(o.tx.AddComponent(ctx, c))
}
func (o overlooks) DeleteTag(ctx context.Context, appID, name string) error {
	return o.overlook(o.tx.DeleteTag(ctx, appID, name))
}
func (o overlooks) DeleteComponent(ctx context.Context, name string) error {
	return o.overlook(o.tx.DeleteComponent(ctx, name))
}

type lowerIDs struct{ tx }

func (l lowerIDs) App(ctx context.Context, id string, v vitrine.Version) (appsvc.App, error) {
	return l.tx.App(ctx, strings.ToLower(id), v)
}
func (l lowerIDs) AddVersion(ctx context.Context, h head, body appsvc.Body) error {
	h.ID = strings.ToLower(h.ID)
	return l.tx.AddVersion(ctx, h, body)
}

// rewrites decodes a body and encodes it again.
type rewrites struct{ tx }

func (r rewrites) AddVersion(ctx context.Context, h head, body appsvc.Body) error {
	var content map[string]any
	if err := json.Unmarshal(body, &content); err != nil {
		return err
	}
	return r.tx.AddVersion(ctx, h, must(json.Marshal(content)))
}

// firstHead keeps the groups that an app had at first.
type firstHead struct{ tx }

func (f firstHead) AddVersion(ctx context.Context, h head, body appsvc.Body) error {
	if old, err := f.tx.Head(ctx, h.ID); err == nil {
		h.Groups = old.Groups
	}
	return f.tx.AddVersion(ctx, h, body)
}

// sortsApps sorts apps of the same time in its own way.
type sortsApps struct {
	tx
	compare func(a, b appsvc.App) int
}

func (s sortsApps) Apps(ctx context.Context, q appsvc.AppQuery) iter.Seq2[appsvc.App, error] {
	limit := q.Limit
	q.Limit = 0
	list, err := collect(s.tx.Apps(ctx, q))
	slices.SortFunc(list, func(a, b appsvc.App) int {
		placeA, placeB := q.Position(head{Meta: a.Meta}), q.Position(head{Meta: b.Meta})
		byTime := cmp.Compare(placeA.Time, placeB.Time)
		if q.Descending() {
			byTime = -byTime
		}
		return cmp.Or(byTime, s.compare(a, b))
	})
	if limit > 0 {
		list = list[:min(limit, len(list))]
	}
	return listOf(list, err)
}

type includesAfter struct{ tx }

func (i includesAfter) Apps(ctx context.Context, q appsvc.AppQuery) iter.Seq2[appsvc.App, error] {
	if after := q.After; after != nil {
		q.After = &appsvc.AppPosition{Time: after.Time, ID: after.ID[:len(after.ID)-1]}
	}
	return i.tx.Apps(ctx, q)
}

type forgetsAfter struct{ tx }

func (f forgetsAfter) Apps(ctx context.Context, q appsvc.AppQuery) iter.Seq2[appsvc.App, error] {
	if q.After != nil {
		if _, err := f.tx.Head(ctx, q.After.ID); err != nil {
			q.After = nil
		}
	}
	return f.tx.Apps(ctx, q)
}

type groupPrefixes struct{ tx }

func (g groupPrefixes) Apps(ctx context.Context, q appsvc.AppQuery) iter.Seq2[appsvc.App, error] {
	everything := q
	everything.Groups, everything.Limit = []string{"urn"}, 0
	var list []appsvc.App
	for app, err := range g.tx.Apps(ctx, everything) {
		if err != nil {
			return listOf(list, err)
		}
		h, _ := g.tx.Head(ctx, app.ID)
		in := slices.ContainsFunc(h.Groups, func(group string) bool {
			return slices.ContainsFunc(q.Groups, func(outer string) bool { return strings.HasPrefix(group, outer) })
		})
		if (in || h.Owner == q.Owner) && (q.Limit == 0 || len(list) < q.Limit) {
			list = append(list, app)
		}
	}
	return listOf(list, nil)
}

type longer struct{ tx }

func (l longer) Versions(ctx context.Context, q appsvc.VersionQuery) iter.Seq2[appsvc.App, error] {
	if q.Limit > 0 {
		q.Limit++
	}
	return l.tx.Versions(ctx, q)
}

// atBefore includes the restoration of the version q.Before.
type atBefore struct{ tx }

func (a atBefore) Restorations(ctx context.Context, q appsvc.VersionQuery) iter.Seq2[appsvc.Restoration, error] {
	if q.Before.Number() >= 0 {
		q.Before = q.Before.Next()
	}
	return a.tx.Restorations(ctx, q)
}

// leakyRestorations keeps the restorations of updates that are rolled back.
func leakyRestorations() brokenStore {
	kept := new([]appsvc.Restoration)
	return brokenStore{tx: func(good tx) tx { return leaks{good, kept} }}
}

type leaks struct {
	tx
	kept *[]appsvc.Restoration
}

func (l leaks) AddRestoration(_ context.Context, r appsvc.Restoration) error {
	*l.kept = append(*l.kept, r)
	return nil
}
func (l leaks) Restorations(context.Context, appsvc.VersionQuery) iter.Seq2[appsvc.Restoration, error] {
	return listOf(*l.kept, nil)
}

type dictionary struct{ tx }

func (d dictionary) Tags(ctx context.Context, q appsvc.TagQuery) iter.Seq2[appsvc.Tag, error] {
	list, err := collect(d.tx.Tags(ctx, q))
	slices.SortStableFunc(list, func(a, b appsvc.Tag) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return listOf(list, err)
}

// oldestFirst yields the moves of a tag in the order in which they were made.
type oldestFirst struct{ tx }

func (o oldestFirst) TagMoves(ctx context.Context, q appsvc.TagMoveQuery) iter.Seq2[appsvc.TagMoveRecord, error] {
	list, err := collect(o.tx.TagMoves(ctx, q))
	slices.Reverse(list)
	return listOf(list, err)
}

// dropsMoves shows no moves of a tag that was deleted.
type dropsMoves struct{ tx }

func (d dropsMoves) TagMoves(ctx context.Context, q appsvc.TagMoveQuery) iter.Seq2[appsvc.TagMoveRecord, error] {
	if list, err := collect(d.tx.Tags(ctx, appsvc.TagQuery{AppID: q.AppID, Name: q.Name})); err != nil || len(list) == 0 {
		return listOf[appsvc.TagMoveRecord](nil, err)
	}
	return d.tx.TagMoves(ctx, q)
}

// presentUsers finds apps by the components of their latest version alone.
type presentUsers struct{ tx }

func (p presentUsers) Users(ctx context.Context, q appsvc.UserQuery) iter.Seq2[appsvc.ComponentUser, error] {
	list, err := collect(p.tx.Users(ctx, q))
	return listOf(slices.DeleteFunc(list, func(u appsvc.ComponentUser) bool { return !slices.Contains(u.Components, q.Component) }), err)
}

// numberedVersions takes versions of the same number for one version, of whatever app.
type numberedVersions struct {
	tx
	read map[vitrine.Version]appsvc.App
}

func (n numberedVersions) App(ctx context.Context, id string, v vitrine.Version) (app appsvc.App, err error) {
	app, known := n.read[v]
	if !known {
		app, err = n.tx.App(ctx, id, v)
		n.read[v] = app
	}
	return app, err
}

type byVersion struct{ tx }

func (b byVersion) Components(ctx context.Context, q appsvc.ComponentQuery) iter.Seq2[appsvc.Component, error] {
	list, err := collect(b.tx.Components(ctx, q))
	slices.SortFunc(list, func(a, b appsvc.Component) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version))
	})
	return listOf(list, err)
}

// deletesOne deletes a component and adds all of its versions but the last again.
type deletesOne struct{ tx }

func (d deletesOne) DeleteComponent(ctx context.Context, name string) error {
	list, err := collect(d.tx.Components(ctx, appsvc.ComponentQuery{Name: name}))
	if err := errors.Join(err, d.tx.DeleteComponent(ctx, name)); err != nil {
		return err
	}
	for _, c := range list[:len(list)-1] {
		if err := d.tx.AddComponent(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// forgets is off by some time.
type forgets struct {
	tx
	by int64
}

func (f forgets) KeepAnswer(ctx context.Context, a appsvc.Answer, now int64) error {
	return f.tx.KeepAnswer(ctx, a, now+f.by)
}

// sharesHeads hands the same Head to everybody.
func sharesHeads() brokenStore {
	shared := map[string]head{}
	return brokenStore{tx: func(good tx) tx { return sharedHeads{good, shared} }}
}

type sharedHeads struct {
	tx
	shared map[string]head
}

func (s sharedHeads) Head(ctx context.Context, id string) (head, error) {
	if h, known := s.shared[id]; known {
		return h, nil
	}
	h, err := s.tx.Head(ctx, id)
	s.shared[id] = h
	return h, err
}

// sharesBodies keeps the bytes that it was given.
func sharesBodies() brokenStore {
	given := map[string]appsvc.Body{}
	return brokenStore{tx: func(good tx) tx { return sharedBodies{good, given} }}
}

type sharedBodies struct {
	tx
	given map[string]appsvc.Body
}

func (s sharedBodies) AddVersion(ctx context.Context, h head, body appsvc.Body) error {
	s.given[h.ID] = body
	return s.tx.AddVersion(ctx, h, bytes.Clone(body))
}
func (s sharedBodies) Apps(ctx context.Context, q appsvc.AppQuery) iter.Seq2[appsvc.App, error] {
	list, err := collect(s.tx.Apps(ctx, q))
	for i := range list {
		list[i].Body = s.given[list[i].ID]
	}
	return listOf(list, err)
}

type goesOn struct{ tx }

func (g goesOn) Tags(ctx context.Context, q appsvc.TagQuery) iter.Seq2[appsvc.Tag, error] {
	return func(yield func(appsvc.Tag, error) bool) {
		for t, err := range g.tx.Tags(ctx, q) {
			yield(t, err)
		}
	}
}

type errsTwice struct{ tx }

func (e errsTwice) Tags(ctx context.Context, q appsvc.TagQuery) iter.Seq2[appsvc.Tag, error] {
	return func(yield func(appsvc.Tag, error) bool) {
		if err := ctx.Err(); err != nil && !yield(appsvc.Tag{}, err) {
			return
		}
		e.tx.Tags(ctx, q)(yield)
	}
}

type sortsGroups struct{ tx }

func (s sortsGroups) Apps(ctx context.Context, q appsvc.AppQuery) iter.Seq2[appsvc.App, error] {
	slices.Sort(q.Groups)
	return s.tx.Apps(ctx, q)
}
