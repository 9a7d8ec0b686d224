//go:build proof

package faults

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
)

// gate stands between a service and its stores. It counts the calls that the service makes, each
// step of an iterator too, and fails those that it is told to.
type gate struct {
	w *world // whose ids are given again when an update is done again

	mu     sync.Mutex
	calls  int
	fails  func(number int) bool // numbered from 1; nil = none
	late   bool                  // a call fails after it is done, and not before
	kind   kind
	again  bool // each function given to Update is called a second time
	failed int
}

// kind is what a call fails with: a sentinel of its domain or an error that nobody knows.
type kind int

const (
	unknown kind = iota
	busy
	noRoom
)

var errUnknown = errors.New("an error that no domain knows")

// sentinels of the domains.
var (
	ofApps  = [...]error{errUnknown, vitrine.ErrBusy, vitrine.ErrFull}
	ofStore = [...]error{errUnknown, vitrine.ErrBusy, vitrine.ErrFull}
)

// arm begins to count anew.
func (g *gate) arm(k kind, late bool, fails func(number int) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls, g.failed, g.kind, g.late, g.fails = 0, 0, k, late, fails
}

// pass counts a call. The error is that of a call that fails.
func (g *gate) pass(of [3]error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.calls++; g.fails == nil || !g.fails(g.calls) {
		return nil
	}
	g.failed++
	return of[g.kind]
}

// change puts the gate between the service of a world and its stores.
func (g *gate) change(w *world, s *stores) {
	g.w = w
	s.apps, s.assets, s.reviews = appGate{g, s.apps}, storeGate{s.assets, g}, storeGate{s.reviews, g}
}

// through makes one call.
func through(g *gate, of [3]error, fn func() error) error {
	late := g.late
	failed := g.pass(of)
	if failed != nil && !late {
		return failed
	}
	err := fn()
	if failed != nil { // whatever it was: that something is not there cannot be known then
		return failed
	}
	return err
}

func one[T any](g *gate, of [3]error, fn func() (T, error)) (value T, err error) {
	err = through(g, of, func() (err error) {
		value, err = fn()
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return value, nil
}

// each passes every step of an iterator.
func each[T any](g *gate, of [3]error, seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if err := g.pass(of); err != nil {
			yield(none, err)
			return
		}
		for v, err := range seq {
			if failed := g.pass(of); failed != nil {
				err, v = failed, none
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// update does an Update: beginning it and committing it are calls too.
func update[T any](g *gate, of [3]error, do func(fn func(T) error) error, fn func(T) error) error {
	if err := g.pass(of); err != nil {
		return err
	}
	g.mu.Lock()
	again := g.again
	g.mu.Unlock()
	if again {
		ids := g.w.ids.Load()
		if err := do(func(t T) error { return errors.Join(fn(t), errUnknown) }); !errors.Is(err, errUnknown) {
			return err
		}
		g.w.ids.Store(ids)
	}
	return do(func(t T) error {
		if err := fn(t); err != nil {
			return err
		}
		return g.pass(of)
	})
}

type appGate struct {
	*gate
	below appsvc.Store
}

func (g appGate) View(ctx context.Context, fn func(appsvc.Reader) error) error {
	return through(g.gate, ofApps, func() error {
		return g.below.View(ctx, func(r appsvc.Reader) error { return fn(appReads{g.gate, r}) })
	})
}

func (g appGate) Update(ctx context.Context, fn func(appsvc.Tx) error) error {
	return update(g.gate, ofApps, func(fn func(appsvc.Tx) error) error { return g.below.Update(ctx, fn) },
		func(tx appsvc.Tx) error { return fn(appWrites{appReads{g.gate, tx}, tx}) })
}

func (g appGate) Changed() <-chan struct{} { return g.below.Changed() }

type appReads struct {
	*gate
	r appsvc.Reader
}

func (g appReads) Head(ctx context.Context, id string) (appsvc.Head, error) {
	return one(g.gate, ofApps, func() (appsvc.Head, error) { return g.r.Head(ctx, id) })
}

func (g appReads) App(ctx context.Context, id string, v vitrine.Version) (appsvc.App, error) {
	return one(g.gate, ofApps, func() (appsvc.App, error) { return g.r.App(ctx, id, v) })
}

func (g appReads) Versions(ctx context.Context, q appsvc.VersionQuery) iter.Seq2[appsvc.App, error] {
	return each(g.gate, ofApps, g.r.Versions(ctx, q))
}

func (g appReads) Apps(ctx context.Context, q appsvc.AppQuery) iter.Seq2[appsvc.App, error] {
	return each(g.gate, ofApps, g.r.Apps(ctx, q))
}

func (g appReads) Restorations(ctx context.Context, q appsvc.VersionQuery) iter.Seq2[appsvc.Restoration, error] {
	return each(g.gate, ofApps, g.r.Restorations(ctx, q))
}

func (g appReads) Tags(ctx context.Context, q appsvc.TagQuery) iter.Seq2[appsvc.Tag, error] {
	return each(g.gate, ofApps, g.r.Tags(ctx, q))
}

func (g appReads) TagMoves(ctx context.Context, q appsvc.TagMoveQuery) iter.Seq2[appsvc.TagMoveRecord, error] {
	return each(g.gate, ofApps, g.r.TagMoves(ctx, q))
}

func (g appReads) TagNames(ctx context.Context, id string) iter.Seq2[string, error] {
	return each(g.gate, ofApps, g.r.TagNames(ctx, id))
}

func (g appReads) Users(ctx context.Context, q appsvc.UserQuery) iter.Seq2[appsvc.ComponentUser, error] {
	return each(g.gate, ofApps, g.r.Users(ctx, q))
}

func (g appReads) Components(ctx context.Context, q appsvc.ComponentQuery) iter.Seq2[appsvc.Component, error] {
	return each(g.gate, ofApps, g.r.Components(ctx, q))
}

func (g appReads) IDs(ctx context.Context) iter.Seq2[string, error] {
	return each(g.gate, ofApps, g.r.IDs(ctx))
}

func (g appReads) Answers(ctx context.Context) iter.Seq2[appsvc.Answer, error] {
	return each(g.gate, ofApps, g.r.Answers(ctx))
}

func (g appReads) Answer(ctx context.Context, by, key string) (appsvc.Answer, error) {
	return one(g.gate, ofApps, func() (appsvc.Answer, error) { return g.r.Answer(ctx, by, key) })
}

func (g appReads) Feed(ctx context.Context) (appsvc.FeedState, error) {
	return one(g.gate, ofApps, func() (appsvc.FeedState, error) { return g.r.Feed(ctx) })
}

func (g appReads) Entries(ctx context.Context, after appsvc.FeedPosition, limit int) iter.Seq2[appsvc.FeedEntry, error] {
	return each(g.gate, ofApps, g.r.Entries(ctx, after, limit))
}

type appWrites struct {
	appReads
	tx appsvc.Tx
}

func (g appWrites) Announce(ctx context.Context, id string, components []appsvc.ComponentRef) error {
	return through(g.gate, ofApps, func() error { return g.tx.Announce(ctx, id, components) })
}

func (g appWrites) AddVersion(ctx context.Context, h appsvc.Head, b appsvc.Body) error {
	return through(g.gate, ofApps, func() error { return g.tx.AddVersion(ctx, h, b) })
}

func (g appWrites) AddRestoration(ctx context.Context, r appsvc.Restoration) error {
	return through(g.gate, ofApps, func() error { return g.tx.AddRestoration(ctx, r) })
}

func (g appWrites) SetTag(ctx context.Context, t appsvc.Tag) error {
	return through(g.gate, ofApps, func() error { return g.tx.SetTag(ctx, t) })
}

func (g appWrites) DeleteTag(ctx context.Context, id, name string) error {
	return through(g.gate, ofApps, func() error { return g.tx.DeleteTag(ctx, id, name) })
}

func (g appWrites) AddTagMove(ctx context.Context, m appsvc.TagMoveRecord) error {
	return through(g.gate, ofApps, func() error { return g.tx.AddTagMove(ctx, m) })
}

func (g appWrites) AddComponent(ctx context.Context, c appsvc.Component) error {
	return through(g.gate, ofApps, func() error { return g.tx.AddComponent(ctx, c) })
}

func (g appWrites) DeleteComponent(ctx context.Context, name string) error {
	return through(g.gate, ofApps, func() error { return g.tx.DeleteComponent(ctx, name) })
}

func (g appWrites) KeepAnswer(ctx context.Context, a appsvc.Answer, now int64) error {
	return through(g.gate, ofApps, func() error { return g.tx.KeepAnswer(ctx, a, now) })
}

func (g appWrites) AddEntry(ctx context.Context, e appsvc.FeedEntry) error {
	return through(g.gate, ofApps, func() error { return g.tx.AddEntry(ctx, e) })
}

func (g appWrites) RemoveEntries(ctx context.Context, before int64, limit int) error {
	return through(g.gate, ofApps, func() error { return g.tx.RemoveEntries(ctx, before, limit) })
}

// storeGate is a gate in front of a store of keys and values.
type storeGate struct {
	storage.Store
	gate *gate
}

func (g storeGate) View(ctx context.Context, fn func(storage.Reader) error) error {
	return through(g.gate, ofStore, func() error {
		return g.Store.View(ctx, func(r storage.Reader) error { return fn(storeReads{g.gate, r}) })
	})
}

func (g storeGate) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	return update(g.gate, ofStore, func(fn func(storage.Tx) error) error { return g.Store.Update(ctx, space, o, fn) },
		func(t storage.Tx) error { return fn(storeWrites{storeReads{g.gate, t}, t}) })
}

type storeReads struct {
	gate *gate
	r    storage.Reader
}

func (g storeReads) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	return one(g.gate, ofStore, func() ([][]byte, error) { return g.r.Get(ctx, keys...) })
}

func (g storeReads) Scan(ctx context.Context, ranges ...storage.Range) iter.Seq2[storage.Entry, error] {
	return each(g.gate, ofStore, g.r.Scan(ctx, ranges...))
}

func (g storeReads) Estimate(ctx context.Context, in storage.Range) (int, error) {
	return one(g.gate, ofStore, func() (int, error) { return g.r.Estimate(ctx, in) })
}

func (g storeReads) Spaces(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return each(g.gate, ofStore, g.r.Spaces(ctx, prefix))
}

type storeWrites struct {
	storeReads
	t storage.Tx
}

func (g storeWrites) Put(ctx context.Context, entries ...storage.Entry) error {
	return through(g.gate, ofStore, func() error { return g.t.Put(ctx, entries...) })
}

func (g storeWrites) Delete(ctx context.Context, keys ...string) error {
	return through(g.gate, ofStore, func() error { return g.t.Delete(ctx, keys...) })
}

func (g storeWrites) DeleteRange(ctx context.Context, in storage.Range) error {
	return through(g.gate, ofStore, func() error { return g.t.DeleteRange(ctx, in) })
}
