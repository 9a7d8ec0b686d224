//go:build proof

package faults

import (
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// While another process keeps the write lock, every change waits as long as it was told, and no
// longer, however many there are, and is then answered 503 with Retry-After. Reading goes on. When
// the lock is free, changes are made.
func TestAnotherProcessKeepsTheLock(t *testing.T) {
	path, n := newFile(t)
	const wait = 100 * time.Millisecond
	w, err := openWorld(path, &sqlite.Options{Busy: wait}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.db.Close()
	before, err := w.state(n)
	if err != nil {
		t.Fatal(err)
	}
	release := holder(t, path)
	begun := time.Now()
	var wg sync.WaitGroup
	for range 6 {
		for _, r := range scenarios(n) {
			wg.Go(func() {
				if a := w.send(r); a.status != 503 || a.header.Get("Retry-After") != "1" {
					t.Errorf("%s: %d, Retry-After %q, %s; want 503", r.name, a.status, a.header.Get("Retry-After"),
						a.body)
				}
			})
		}
	}
	wg.Wait()
	// Those that wait at the same time are refused together. Some come later, and wait for themselves.
	if waited := time.Since(begun); waited > 50*wait {
		t.Errorf("114 changes that wait %v each took %v", wait, waited)
	}
	if state, err := w.state(n); err != nil || state != before {
		t.Errorf("reading meanwhile: %v, %s", err, differ(state, before))
	}
	release()
	if a := w.do(probe(n)); a.status != 201 {
		t.Errorf("a change when the lock is free: %d %s", a.status, a.body)
	}
}
