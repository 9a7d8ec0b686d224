package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

// passes are the passes of an eraser in a test: each takes a second, and fails as fails says. Those in which some
// update commits are not enough, unless they are alone.
type passes struct {
	begun, ended int
	fails        error
	commits      func() int
}

func (p *passes) pass(ctx context.Context, before int) (again bool, err error) {
	p.begun++
	was := 0
	if p.commits != nil && before < eraseRuns {
		was = p.commits()
	}
	select {
	case <-time.After(time.Second):
		p.ended++
		return p.commits != nil && before < eraseRuns && p.commits() > was, p.fails
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// Updates that come while a pass runs make it one that is not enough. The next one is for all of them, and no update
// waits for more than eraseRuns passes and one that is alone.
func TestUpdatesThatChangePagesDuringAPassWaitTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var commits atomic.Int64
		p := &passes{commits: func() int { return int(commits.Load()) }}
		e := newEraser(p.pass)
		update := func(most time.Duration) {
			begun := time.Now()
			if err := e.wait(t.Context()); err != nil || time.Since(begun) > most {
				t.Errorf("%v, after %v, want %v at most", err, time.Since(begun), most)
			}
		}
		var all sync.WaitGroup
		for range 40 { // within two seconds
			commits.Add(1)
			all.Go(func() { update(3 * time.Second) })
			time.Sleep(50 * time.Millisecond)
		}
		all.Wait()
		if p.begun != 3 {
			t.Errorf("40 updates took %d passes", p.begun)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		all.Go(func() {
			if err := e.wait(ctx); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		for n := range 40 { // without end
			commits.Add(1)
			all.Go(func() { update((eraseRuns + 2) * time.Second) })
			if time.Sleep(250 * time.Millisecond); n == 8 {
				cancel() // who waits for a later pass than the first
			}
		}
		all.Wait()
		if e.next != nil {
			t.Error("a pass is left for which nobody waits")
		}
	})
}

func TestUpdatesThatEraseShareAPassThatBeginsAfterThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &passes{}
		e, begun := newEraser(p.pass), time.Now()
		var all sync.WaitGroup
		for n := range 40 {
			all.Go(func() {
				if err := e.wait(t.Context()); err != nil {
					t.Error(err)
				}
				// The first one has begun the pass, and the others have come meanwhile.
				if took := time.Since(begun); took != time.Second && (n == 0 || took != 2*time.Second) {
					t.Errorf("update %d has waited for %v", n, took)
				}
			})
			synctest.Wait()
		}
		all.Wait()
		if p.begun != 2 {
			t.Errorf("40 updates took %d passes", p.begun)
		}
		if err := e.wait(t.Context()); err != nil || p.begun != 3 {
			t.Errorf("a later update took %d passes, %v", p.begun-2, err)
		}
		p.fails = errors.New("no space left")
		if err := e.wait(t.Context()); !errors.Is(err, p.fails) {
			t.Errorf("a pass that fails: %v", err)
		}
	})
}

func TestAnUpdateThatIsCancelledEndsNoPassOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &passes{}
		e := newEraser(p.pass)
		ctx, cancel := context.WithCancel(t.Context())
		wait := func(ctx context.Context, want error) {
			go func() {
				if err := e.wait(ctx); !errors.Is(err, want) {
					t.Errorf("%v, want %v", err, want)
				}
			}()
			synctest.Wait()
		}
		wait(ctx, context.Canceled) // begins the first pass, alone
		wait(ctx, context.Canceled) // waits for the second one, with the next
		wait(t.Context(), nil)
		cancel()
		synctest.Wait()
		e.runs.Wait()
		if p.begun != 2 || p.ended != 1 {
			t.Errorf("%d passes have begun, and %d ended", p.begun, p.ended)
		}

		// Nobody waits for the pass that has not begun when somebody else comes.
		ctx, cancel = context.WithCancel(t.Context())
		wait(t.Context(), nil)
		wait(ctx, context.Canceled)
		cancel()
		synctest.Wait()
		wait(t.Context(), nil)
		e.runs.Wait()
		if p.ended != 3 {
			t.Errorf("%d passes have ended", p.ended)
		}
	})
}

// BenchmarkErase erases in a store of 400 MB, first one update alone and then 40 at once:
//
//	go test ./storage/sqlite -run '^$' -bench Erase -benchtime 1x
func BenchmarkErase(b *testing.B) {
	db := openAt(b, filepath.Join(b.TempDir(), "vitrine.db"), nil)
	for part := range 40 {
		err := db.Update(ctx, "a", storage.UpdateOptions{Large: true}, func(tx storage.Tx) error {
			for i := range 2500 {
				e := storage.Entry{Key: fmt.Sprintf("a %d %d", part, i), Value: make([]byte, 4000)}
				for at := range e.Value {
					e.Value[at] = byte(at*7 + i + part)
				}
				if err := tx.Put(ctx, e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	if file, err := os.Stat(db.store.path); err != nil || file.Size() < 350_000_000 {
		b.Fatalf("the file has %d bytes, %v", file.Size(), err)
	}
	for _, n := range []int{1, 40} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for round := 0; b.Loop(); round++ {
				var all sync.WaitGroup
				for i := range n {
					all.Go(func() {
						err := db.Update(ctx, "a", storage.UpdateOptions{Erase: true}, func(tx storage.Tx) error {
							return tx.Delete(ctx, fmt.Sprintf("a %d %d", i, 100*n+round))
						})
						if err != nil {
							b.Error(err)
						}
					})
				}
				all.Wait()
			}
		})
	}
}
