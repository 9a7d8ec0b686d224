//go:build proof

package linear

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// errRefused ends an update that has done all its work. None of it may be seen.
var errRefused = errors.New("refused by the test")

// jitter is a Store whose reads and writes take a moment now and then, so that others come in
// between, and which refuses some updates after their work is done.
type jitter struct{ appsvc.Store }

func (j jitter) View(ctx context.Context, fn func(appsvc.Reader) error) error {
	pause()
	defer pause()
	return j.Store.View(ctx, func(r appsvc.Reader) error { return fn(slowReader{r}) })
}

func (j jitter) Update(ctx context.Context, fn func(appsvc.Tx) error) error {
	pause()
	return j.Store.Update(ctx, func(tx appsvc.Tx) error {
		err := fn(slowTx{tx, slowReader{tx}})
		if err == nil && rand.IntN(20) == 0 {
			return errRefused
		}
		return err
	})
}

type slowReader struct{ appsvc.Reader }

func (r slowReader) Head(ctx context.Context, id string) (appsvc.Head, error) {
	defer pause()
	return r.Reader.Head(ctx, id)
}

func (r slowReader) App(ctx context.Context, id string, v vitrine.Version) (appsvc.App, error) {
	pause()
	return r.Reader.App(ctx, id, v)
}

func (r slowReader) Tags(ctx context.Context, q appsvc.TagQuery) iter.Seq2[appsvc.Tag, error] {
	pause()
	return r.Reader.Tags(ctx, q)
}

// slowTx reads slowly and writes as it is.
type slowTx struct {
	appsvc.Tx
	reader slowReader
}

func (t slowTx) Head(ctx context.Context, id string) (appsvc.Head, error) {
	return t.reader.Head(ctx, id)
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
