package linear

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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
	name   string
	direct bool // against a Service and its Store, which can be asked for more than over HTTP
	// heads are the highest versions that anybody was shown: what a client patches.
	heads [apps]atomic.Int64

	mu    sync.Mutex
	begun time.Time
	ops   []porcupine.Operation
	lost  int // without an answer
}

// run lets the clients work at the same time, each with operations of its own.
func (h *history) run(ctx context.Context, seed uint64, who []client) error {
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

func (h *history) client(ctx context.Context, c int, r *rand.Rand, who []client) error {
	for i := range each {
		if err := h.do(ctx, c, h.next(r, c, i), who[(c+i/5)%len(who)]); err != nil {
			return err
		}
	}
	return nil
}

// finish reads what is there when all clients have ended.
func (h *history) finish(ctx context.Context, who []client) error {
	by := network + ":user=last"
	for _, c := range who {
		for app := range apps {
			for _, k := range []kind{readLatest, listTags} {
				if err := h.do(ctx, 0, op{kind: k, app: app, key: noKey, by: by}, c); err != nil {
					return err
				}
			}
			for before := int64(latest); before != 0; {
				o := op{kind: listVersions, app: app, version: before, key: noKey, by: by}
				if err := h.do(ctx, 0, o, c); err != nil {
					return err
				}
				if before == latest {
					before = h.heads[app].Load() + 1
				}
				before = max(before-page, 0)
			}
		}
	}
	return nil
}

// do carries out an operation and notes it.
func (h *history) do(ctx context.Context, c int, o op, who client) error {
	call := time.Since(h.begun)
	out, err := who.do(ctx, h.world, o)
	if err != nil {
		return fmt.Errorf("%v: %w", o, err)
	}
	h.note(c, o, out, call, time.Since(h.begun))
	return nil
}

// next draws an operation.
func (h *history) next(r *rand.Rand, c, i int) op {
	kinds := [...]kind{patch, patch, patch, patch, restore, putTag, putTag, deleteTag, readLatest, readVersion,
		readTag, readTagged, listVersions, listTags, tagsNamed, listApps}
	o := op{kind: kinds[r.IntN(len(kinds))], app: r.IntN(apps), tag: r.IntN(tags), key: noKey, by: fmt.Sprintf("%s:user=%d", network, c)}
	if h.direct && o.kind == listApps && r.IntN(2) == 0 {
		o.kind = oneView
	}
	head := h.heads[o.app].Load()
	switch o.kind {
	case patch:
		o.version, o.title = max(head+int64(r.IntN(8)/6), 0), fmt.Sprintf("%s by %d-%d", h.name, c, i)
	case readVersion, putTag, restore:
		if o.version = r.Int64N(head + 2); h.direct && r.IntN(4) == 0 {
			o.version = latest
		}
	case listVersions:
		if o.version = latest; r.IntN(3) == 0 {
			o.version = r.Int64N(head + 2)
		}
	}
	if o.writes() && o.kind != patch && r.IntN(3) == 0 {
		o.key = r.IntN(keys)
		o.by = network + ":user=keyed"
		o.app, o.tag, o.version = o.key%apps, o.key%tags, int64(o.key) // the same for the same key
	}
	return o
}

// note keeps what can be part of an order: not what was refused, nor reads without an answer.
func (h *history) note(c int, o op, out outcome, call, back time.Duration) {
	for _, a := range out.apps {
		for {
			head := h.heads[a.app].Load()
			if a.version <= head || h.heads[a.app].CompareAndSwap(head, a.version) {
				break
			}
		}
	}
	if out.status == refused || out.status == unknown && !o.writes() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if out.status == unknown {
		h.lost++
	}
	h.ops = append(h.ops, porcupine.Operation{ClientId: c, Input: o, Call: int64(call), Output: out, Return: int64(back)})
}

// check returns an error unless an order explains the history.
func (h *history) check() error {
	const patience = 10 * time.Minute
	m := model(h.begin)
	result := porcupine.CheckOperationsTimeout(m, h.ops, patience)
	if result == porcupine.Ok {
		return nil
	}
	slices.SortFunc(h.ops, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var text strings.Builder
	for _, o := range h.ops {
		fmt.Fprintf(&text, "%9d %9d  client %d  %s\n", o.Call/1000, o.Return/1000, o.ClientId, m.DescribeOperation(o.Input, o.Output))
	}
	if result == porcupine.Unknown {
		return fmt.Errorf("history %s could not be decided in %s:\n%s", h.name, patience, text.String())
	}
	return fmt.Errorf("history %s is not linearizable (call and return in microseconds):\n%s", h.name, text.String())
}
