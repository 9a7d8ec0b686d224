package postgres

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/vitrine-go/vitrine/storage"
)

// beginView begins a transaction whose statements all see one snapshot.
const beginView = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

func (s *store) View(ctx context.Context, fn func(storage.Reader) error) error {
	share := true
	attempt := func() error {
		v := &view{session: session{s: s, begin: s.opening(beginView)}, share: share}
		share = false
		defer v.end() // also when fn panics
		return v.result(fn(&reader{source: v}))
	}
	return wrap(s.again(ctx, func() error {
		err := attempt()
		if errors.Is(err, errChanged) {
			err = attempt()
		}
		return err
	}))
}

// view is the source of a View. If its first read is a Get, it shares a query with others and begins no transaction.
// The next read begins a transaction, which reads the keys of the Get once more: if their values are the same, the
// result of the Get is valid in this snapshot too.
type view struct {
	session
	share bool              // the next Get may share a query
	keys  []string          // of the Get that has shared a query
	found map[string][]byte // the values that the query has found, for all Gets that share it
}

var errChanged = errors.New("what a View has read first was changed meanwhile; its function is called again")

func (v *view) fetch(ctx context.Context, keys []string, found map[string][]byte, portions []*portion) error {
	if v.share && len(portions) == 0 && v.err == nil {
		v.share = false
		v.s.reads.Add(1)
		v.keys = keys
		if v.found, v.err = v.s.sharedGet(ctx, keys); v.err != nil {
			return v.err
		}
		for _, key := range keys {
			found[key] = v.found[key]
		}
		return nil
	}
	return v.read(ctx, statements(keys, found, portions)...)
}

func (v *view) query(ctx context.Context, st stmt) error { return v.read(ctx, st) }

// read sends statements in the transaction.
func (v *view) read(ctx context.Context, list ...stmt) error {
	v.share = false
	if v.keys != nil {
		list = append([]stmt{v.same()}, list...)
	}
	return v.send(ctx, list...)
}

// same returns a statement that reads the keys of the first Get again. It fails if their values were changed.
func (v *view) same() stmt {
	keys, again := v.keys, map[string][]byte{}
	v.keys = nil
	st := getStatement(keys, again)
	read := st.take
	st.take = func(rows pgx.Rows) error {
		if err := read(rows); err != nil {
			return err
		}
		for _, key := range keys {
			if (again[key] == nil) != (v.found[key] == nil) || !bytes.Equal(again[key], v.found[key]) {
				return errChanged
			}
		}
		return nil
	}
	return st
}

// Gets of Views share queries when many come at once: while a query runs, new Gets wait, and the next query reads for
// up to maxGets of them. It begins after their Views, so it sees every update that was acknowledged before them. With
// 32 clients on the machine of the server, that takes a fifth of the processor time of a query for each Get.
const maxGets = 64

// gets are the Gets that wait for a query.
type gets struct {
	mu      sync.Mutex
	running bool
	waiting []*get
}

type get struct {
	keys  []string
	found map[string][]byte
	err   error
	done  chan struct{}
}

// sharedGet returns the values of keys, and of the keys of other Gets.
func (s *store) sharedGet(ctx context.Context, keys []string) (map[string][]byte, error) {
	g := &get{keys: keys, done: make(chan struct{})}
	l := &s.gets
	l.mu.Lock()
	if l.waiting = append(l.waiting, g); !l.running {
		l.running = true
		go s.runGets()
	}
	l.mu.Unlock()
	select {
	case <-g.done:
		return g.found, g.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// runGets runs queries until no Get waits.
func (s *store) runGets() {
	l := &s.gets
	for {
		l.mu.Lock()
		n := min(maxGets, len(l.waiting))
		list := slices.Clone(l.waiting[:n])
		l.waiting = slices.Delete(l.waiting, 0, n)
		l.running = n > 0
		l.mu.Unlock()
		if n == 0 {
			return
		}
		var keys []string
		for _, g := range list {
			keys = append(keys, g.keys...)
		}
		slices.Sort(keys)
		found := make(map[string][]byte, len(keys))
		s.queries.Add(1)
		err := s.ask(context.Background(), getStatement(slices.Compact(keys), found))
		for _, g := range list {
			g.found, g.err = found, err
			close(g.done)
		}
	}
}
