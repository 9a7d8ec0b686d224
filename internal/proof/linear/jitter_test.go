//go:build proof

package linear

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

// errRefused ends an update that has done all its work. None of it may be seen.
var errRefused = errors.New("refused by the test")

// jitter is a store whose reads take a moment now and then, so that others come in
// between, and which refuses some updates after their work is done.
type jitter struct{ storage.Store }

func (j jitter) View(ctx context.Context, fn func(storage.Reader) error) error {
	pause()
	defer pause()
	return j.Store.View(ctx, func(r storage.Reader) error { return fn(slowReader{r}) })
}

func (j jitter) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	pause()
	return j.Store.Update(ctx, space, o, func(tx storage.Tx) error {
		err := fn(slowTx{tx, slowReader{tx}})
		if err == nil && space == "apps" && rand.IntN(20) == 0 {
			return errRefused
		}
		return err
	})
}

type slowReader struct{ storage.Reader }

func (r slowReader) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	pause()
	defer pause()
	return r.Reader.Get(ctx, keys...)
}

func (r slowReader) Scan(ctx context.Context, ranges ...storage.Range) iter.Seq2[storage.Entry, error] {
	pause()
	return r.Reader.Scan(ctx, ranges...)
}

// slowTx reads slowly and writes as it is.
type slowTx struct {
	storage.Tx
	reader slowReader
}

func (t slowTx) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	return t.reader.Get(ctx, keys...)
}

// pause lets others run, for a moment or not at all.
func pause() {
	switch n := rand.IntN(128); {
	case n == 0:
		time.Sleep(time.Microsecond) // until a timer is looked at
	case n < 48:
		for range n {
			runtime.Gosched()
		}
	}
}

// unsteady is a clock that also goes back.
func unsteady() time.Time {
	return time.Now().Add(-time.Duration(rand.IntN(50)) * time.Millisecond)
}
