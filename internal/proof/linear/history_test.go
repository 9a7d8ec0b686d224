//go:build proof

package linear

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	clients = 8
	each    = 25 // operations of a client
)

// history is a run of clients against one service.
type history struct {
	*world
	name string
	// heads are the highest versions that anybody was shown: what a client patches.
	heads [Apps]atomic.Int64

	mu    sync.Mutex
	begun time.Time
	ops   []porcupine.Operation
}

// run lets the clients work at the same time, each with operations of its own.
func (h *history) run(ctx context.Context, seed uint64, who []direct) error {
	h.begun = time.Now()
	errs := make(chan error, clients)
	for c := range clients {
		r := rand.New(rand.NewPCG(seed, uint64(c)))
		go func() { errs <- h.client(ctx, c, r, who) }()
	}
	var failed error
	for range clients {
		if err := <-errs; err != nil {
			failed = err
		}
	}
	if failed != nil {
		return failed
	}
	return h.finish(ctx, who)
}

func (h *history) client(ctx context.Context, c int, r *rand.Rand, who []direct) error {
	for i := range each {
		if err := h.do(ctx, c, h.next(r, c, i), who[(c+i/5)%len(who)]); err != nil {
			return err
		}
	}
	return nil
}

// finish reads what is there when all clients have ended.
func (h *history) finish(ctx context.Context, who []direct) error {
	by := network + ":user=last"
	for _, c := range who {
		for app := range Apps {
			for _, k := range []Kind{ReadLatest, ListTags} {
				if err := h.do(ctx, 0, Op{Kind: k, App: app, Key: NoKey, By: by}, c); err != nil {
					return err
				}
			}
			for before := int64(Latest); before != 0; {
				o := Op{Kind: ListVersions, App: app, Version: before, Key: NoKey, By: by}
				if err := h.do(ctx, 0, o, c); err != nil {
					return err
				}
				if before == Latest {
					before = h.heads[app].Load() + 1
				}
				before = max(before-Page, 0)
			}
		}
	}
	return nil
}

// do carries out an operation and notes it.
func (h *history) do(ctx context.Context, c int, o Op, who direct) error {
	call := time.Since(h.begun)
	out, err := who.do(ctx, h.world, o)
	if err != nil {
		return fmt.Errorf("%v: %w", o, err)
	}
	h.note(c, o, out, call, time.Since(h.begun))
	return nil
}

// next draws an operation.
func (h *history) next(r *rand.Rand, c, i int) Op {
	kinds := [...]Kind{Patch, Patch, Patch, Patch, Restore, PutTag, PutTag, DeleteTag, ReadLatest, ReadVersion,
		ReadTag, ReadTagged, ListVersions, ListTags, TagsNamed, ListApps}
	o := Op{Kind: kinds[r.IntN(len(kinds))], App: r.IntN(Apps), Tag: r.IntN(Tags), Key: NoKey,
		By: fmt.Sprintf("%s:user=%d", network, c)}
	head := h.heads[o.App].Load()
	switch o.Kind {
	case Patch:
		o.Version, o.Title = max(head+int64(r.IntN(8)/6), 0), fmt.Sprintf("%s by %d-%d", h.name, c, i)
	case ReadVersion, PutTag, Restore:
		if o.Version = r.Int64N(head + 2); r.IntN(4) == 0 {
			o.Version = Latest
		}
	case ListVersions:
		if o.Version = Latest; r.IntN(3) == 0 {
			o.Version = r.Int64N(head + 2)
		}
	}
	if o.Writes() && o.Kind != Patch && r.IntN(3) == 0 {
		o.Key = r.IntN(Keys)
		o.By = network + ":user=keyed"
		o.App, o.Tag, o.Version = o.Key%Apps, o.Key%Tags, int64(o.Key) // the same for the same key
	}
	return o
}

// note keeps what can be part of an order: not what was refused.
func (h *history) note(c int, o Op, out Outcome, call, back time.Duration) {
	for _, a := range out.Apps {
		for {
			head := h.heads[a.App].Load()
			if a.Version <= head || h.heads[a.App].CompareAndSwap(head, a.Version) {
				break
			}
		}
	}
	if out.Status == Refused {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops,
		porcupine.Operation{ClientId: c, Input: o, Call: int64(call), Output: out, Return: int64(back)})
}

// check returns an error unless an order explains the history.
func (h *history) check() error {
	if err := Check(h.begin, h.ops); err != nil {
		return fmt.Errorf("history %s %w", h.name, err)
	}
	return nil
}
