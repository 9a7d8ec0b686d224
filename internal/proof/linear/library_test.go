//go:build proof

package linear

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage"
)

// libraryKind is what an operation on a library does.
type libraryKind int

const (
	addAsset    libraryKind = iota // or replaces it
	removeAsset                    // by an id that somebody was given
	labelAsset                     // sets an attribute
	addFolder
	readAsset
	searchAll // all assets, in one snapshot
)

func (k libraryKind) String() string {
	return [...]string{"add", "remove", "label", "folder", "read", "search"}[k]
}

const (
	origins  = 6 // foreign ids that clients add assets by
	lastUser = network + ":user=last"
	beginner = network + ":user=beginner"
)

// libraryOp is an operation on a library with what it was answered. An operation without an effect, such as removing
// what is not there, is a read of that.
type libraryOp struct {
	kind       libraryKind
	by         string
	id         string // of the asset; of addAsset and addFolder as it was answered
	origin     int    // of addAsset
	text       string // that an asset or its attribute gets; no two operations have the same
	absent     bool   // there is no such asset
	seen       []seenAsset
	call, back time.Duration
}

func (o libraryOp) String() string {
	return fmt.Sprintf("%s by %s: asset %s, origin %d, text %q, absent %t, seen %v", o.kind, o.by, o.id, o.origin,
		o.text, o.absent, o.seen)
}

// changes reports whether the operation has changed something.
func (o libraryOp) changes() bool { return o.kind <= addFolder && !o.absent }

// seenAsset is an asset in an answer.
type seenAsset struct{ id, text, label string }

// libraryHistory is a run of clients against services on stores with the same library.
type libraryHistory struct {
	lib   assets.Library
	name  string
	begun time.Time

	mu  sync.Mutex
	ids []string // that were given, removed ones too
	ops []libraryOp
}

// run lets the clients work at the same time, each with operations of its own.
func (h *libraryHistory) run(ctx context.Context, seed uint64, services []*assets.Service) error {
	h.begun = time.Now()
	errs := make(chan error, clients)
	for c := range clients {
		r := rand.New(rand.NewPCG(seed, uint64(c)))
		go func() {
			var err error
			for i := 0; i < each && err == nil; i++ {
				err = h.do(ctx, services[(c+i/5)%len(services)], h.next(r, c, i))
			}
			errs <- err
		}()
	}
	var failed error
	for range clients {
		failed = errors.Join(failed, <-errs)
	}
	return failed
}

// next draws an operation.
func (h *libraryHistory) next(r *rand.Rand, c, i int) libraryOp {
	kinds := [...]libraryKind{addAsset, addAsset, addAsset, addAsset, removeAsset, removeAsset, labelAsset, labelAsset,
		addFolder, readAsset, readAsset, searchAll}
	o := libraryOp{kind: kinds[r.IntN(len(kinds))], by: fmt.Sprintf("%s:user=%d", network, c), origin: r.IntN(origins),
		text: fmt.Sprintf("%s-%d-%d", h.name, c, i)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if recent := h.ids[max(0, len(h.ids)-2*origins):]; o.kind != addAsset && o.kind != addFolder {
		o.id = recent[r.IntN(len(recent))]
	}
	return o
}

// do carries out an operation and notes it.
func (h *libraryHistory) do(ctx context.Context, svc *assets.Service, o libraryOp) error {
	o.call = time.Since(h.begun)
	err := h.answer(ctx, svc, &o)
	o.back = time.Since(h.begun)
	if errors.Is(err, errRefused) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%v: %w", o, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if o.kind == addAsset && !slices.Contains(h.ids, o.id) {
		h.ids = append(h.ids, o.id)
	}
	h.ops = append(h.ops, o)
	return nil
}

func (h *libraryHistory) answer(ctx context.Context, svc *assets.Service, o *libraryOp) error {
	by := vitrine.Caller{URN: o.by, Moderates: []string{network}}
	switch o.kind {
	case addAsset:
		made, err := svc.As(by).ChangeAssets(ctx, h.lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{{
			ID: fmt.Sprint(o.origin), Generator: assets.Generator{ID: "linear.test"},
			Content: fmt.Appendf(nil, `{"content":%q}`, o.text)}}})
		if err == nil {
			o.id = made.Added[0].ID
		}
		return err
	case removeAsset:
		made, err := svc.As(by).ChangeAssets(ctx, h.lib, assets.ChangeAssetsRequest{Remove: []string{o.id}})
		o.absent = len(made.Removed) == 0
		return err
	case labelAsset:
		made, err := svc.As(by).ChangeAttributes(ctx, h.lib,
			assets.ChangeAttributesRequest{Assets: []string{o.id},
				Set: []assets.Attribute{{Key: "label", Value: o.text}}})
		o.absent = err == nil && made.Result[0] == 404
		return err
	case addFolder:
		made, err := svc.As(by).ChangeFolders(ctx, h.lib,
			assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: o.text}}})
		if err == nil {
			o.id = made.Folders[0].ID
		}
		return err
	case readAsset:
		a, err := svc.As(by).Asset(ctx, h.lib, o.id)
		if o.absent = errors.Is(err, vitrine.ErrNotFound); o.absent {
			return nil
		}
		return errors.Join(err, o.see(a))
	}
	page, err := svc.As(by).Search(ctx, h.lib, assets.SearchRequest{Limit: 100})
	for _, a := range page.Assets {
		err = errors.Join(err, o.see(a))
	}
	return err
}

// see notes an asset of an answer.
func (o *libraryOp) see(a assets.Asset) error {
	text, err := a.MarshalJSON()
	if err != nil {
		return err
	}
	var in struct {
		ID         string
		Content    struct{ Content string }
		Attributes []struct{ Value string }
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	seen := seenAsset{id: in.ID, text: in.Content.Content}
	if len(in.Attributes) > 0 {
		seen.label = in.Attributes[0].Value
	}
	o.seen = append(o.seen, seen)
	return nil
}

// slowStore is a store whose transactions take a moment now and then, and which refuses some updates after their work
// is done.
type slowStore struct{ storage.Store }

func (s slowStore) View(ctx context.Context, fn func(storage.Reader) error) error {
	pause()
	defer pause()
	return s.Store.View(ctx, fn)
}

func (s slowStore) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	pause()
	return s.Store.Update(ctx, space, o, func(tx storage.Tx) error {
		err := fn(tx)
		pause()
		if err == nil && rand.IntN(20) == 0 {
			return errRefused
		}
		return err
	})
}

// inLibraries makes histories of libraries on stores that hold the same data. Some run at the same time, so that
// updates of several share a commit.
func inLibraries(t *testing.T, histories int, stores []storage.Store) {
	const together = 4
	var services []*assets.Service
	for _, s := range stores {
		services = append(services,
			assets.New(slowStore{s}, &assets.Options{Now: unsteady, Limits: assets.Limits{SearchTime: time.Minute}}))
	}
	var next, operations atomic.Int64
	var wg sync.WaitGroup
	for range together {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < histories && !t.Failed(); i = int(next.Add(1)) - 1 {
				h := &libraryHistory{name: fmt.Sprintf("h%d", i)}
				h.lib = assets.Library{Network: "linear.test", ID: h.name}
				seed := rand.Uint64()
				if err := h.one(context.Background(), seed, services); err != nil {
					t.Errorf("history %s (seed %d): %v", h.name, seed, err)
				}
				operations.Add(int64(len(h.ops)))
			}
		})
	}
	wg.Wait()
	t.Logf("linearizable in the order of the feed: %d histories of libraries, %d operations", histories,
		operations.Load())
}

// one makes one history, follows the feed of its library meanwhile, and checks both.
func (h *libraryHistory) one(ctx context.Context, seed uint64, services []*assets.Service) error {
	until := func(o libraryOp) error { // the store refuses some updates
		for n := len(h.ops); n == len(h.ops); {
			if err := h.do(ctx, services[0], o); err != nil {
				return err
			}
		}
		return nil
	}
	h.begun = time.Now()
	// so the library exists
	if err := until(libraryOp{kind: addAsset, by: beginner, text: h.name + " begins"}); err != nil {
		return err
	}
	h.ops[0].call, h.ops[0].back = -2, -1 // before all others, whose times count from when they begin
	following, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	var events []assets.Event
	go func() {
		by := vitrine.Caller{URN: lastUser, Moderates: []string{network}}
		for e, err := range services[len(services)-1].As(by).Follow(following, h.lib,
			vitrine.ChangesRequest{Limit: 3}) {
			if err == nil && e.By != lastUser {
				events = append(events, e)
				continue
			}
			ended <- err
			return
		}
	}()
	if err := h.run(ctx, seed, services); err != nil {
		return err
	}
	if err := until(libraryOp{kind: addFolder, by: lastUser, text: h.name + " ends"}); err != nil {
		return err
	}
	h.ops = h.ops[:len(h.ops)-1]
	select {
	case err := <-ended:
		if err != nil {
			return err
		}
	case <-time.After(time.Minute):
		return errors.New("the follower does not meet the last change")
	}
	if err := h.check(events); err != nil {
		return fmt.Errorf("%w\n%s", err, h.tell(events))
	}
	return nil
}
