package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/appsvc"
)

// holdReads counts as many queries for apps as there may be, so that the Views that come wait for the next one. release ends one of
// them.
func holdReads(t *testing.T, db *DB) (release func()) {
	t.Helper()
	for range maxReads {
		found, done := db.readShared(ctx, "any")
		if found != nil {
			t.Fatal("the query is shared, though nobody reads")
		}
		release = done
	}
	return release
}

// waitForReads returns when so many Views wait for a shared query.
func waitForReads(t *testing.T, db *DB, n int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		db.reads.mu.Lock()
		waiting := len(db.reads.waiting)
		db.reads.mu.Unlock()
		if waiting == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d Views wait for a query, want %d", waiting, n)
		}
	}
}

// Views that share a query get what each of them would get alone, in memory of its own, and see what was committed while they waited.
func TestViewsShareAQuery(t *testing.T) {
	db := openTest(t, &Options{Busy: time.Minute})
	for _, id := range []string{"one", "two", "changed"} {
		addApp(t, db, id)
	}
	err := db.Apps().Update(ctx, func(tx appsvc.Tx) error {
		h := appsvc.Head{Meta: appsvc.Meta{ID: "large", Version: appsvc.NewVersion(0), Owner: "owner"}}
		return tx.AddVersion(ctx, h, fmt.Appendf(nil, `{"title":%q}`, strings.Repeat("x", sharedBody)))
	})
	if err != nil {
		t.Fatal(err)
	}
	release := holdReads(t, db)
	want := map[string]string{"one": "0", "two": "0", "changed": "1", "large": "0", "absent": ""}
	const each = maxReaders / 2 // together more than one query has room for
	var mu sync.Mutex
	bodies := map[string][][]byte{}
	var views sync.WaitGroup
	for id, version := range want {
		for range each {
			views.Go(func() {
				err := db.Apps().View(ctx, func(r appsvc.Reader) error {
					app, err := r.App(ctx, id, appsvc.Latest)
					if err != nil {
						return err
					}
					if app.ID != id || app.Version.String() != version {
						return fmt.Errorf("version %s of app %q, want %s", app.Version, app.ID, version)
					}
					mu.Lock()
					defer mu.Unlock()
					bodies[id] = append(bodies[id], app.Body)
					return nil
				})
				if id == "absent" {
					if !errors.Is(err, appsvc.ErrNotFound) {
						t.Errorf("an app that is not there: error %v, want ErrNotFound", err)
					}
				} else if err != nil {
					t.Error(err)
				}
			})
		}
	}
	waitForReads(t, db, len(want)*each)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	err = db.Apps().View(cancelled, func(r appsvc.Reader) error { _, err := r.Head(ctx, "one"); return err })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled View: error %v, want context.Canceled", err)
	}
	if err := addVersion(ctx, db.Apps(), "changed", nothingMore); err != nil {
		t.Fatal(err)
	}
	release()
	views.Wait()
	for id, list := range bodies {
		for i := range list {
			clear(list[i])
			for _, other := range list[i+1:] {
				if len(other) == 0 || other[0] != '{' {
					t.Fatalf("two Views of app %q got the same memory", id)
				}
			}
		}
	}
}

// A View goes on in one snapshot: when the app has changed since the shared query, its function is called again.
func TestAViewThatSharedAQueryGoesOnInOneSnapshot(t *testing.T) {
	db := openTest(t, &Options{Busy: time.Minute})
	addApp(t, db, "one")
	release := holdReads(t, db)
	runs := 0
	ended := make(chan error, 1)
	go func() {
		ended <- db.Apps().View(ctx, func(r appsvc.Reader) error {
			runs++
			h, err := r.Head(ctx, "one")
			if err != nil {
				return err
			}
			if runs == 1 {
				if err := addVersion(ctx, db.Apps(), "one", nothingMore); err != nil {
					return err
				}
			}
			for _, err := range r.Tags(ctx, appsvc.TagQuery{AppID: "one"}) { // begins the transaction
				if err != nil {
					return err
				}
			}
			if want := appsvc.NewVersion(int64(runs - 1)); h.Version != want {
				return fmt.Errorf("run %d has version %s, want %s", runs, h.Version, want)
			}
			return nil
		})
	}()
	waitForReads(t, db, 1)
	release()
	if err := <-ended; err != nil || runs != 2 {
		t.Errorf("error %v after %d runs, want none after 2", err, runs)
	}
}

// When the shared query fails, each View reads by itself.
func TestAConnectionLostAtASharedQuery(t *testing.T) {
	db, _, cutter := openCut(t, &Options{Busy: time.Minute})
	addApp(t, db, "one")
	release := holdReads(t, db)
	var views sync.WaitGroup
	for range 3 {
		views.Go(func() {
			if got := versionOf(t, db, "one"); got != "0" {
				t.Errorf("version %q, want 0", got)
			}
		})
	}
	waitForReads(t, db, 3)
	cutter.CutAt("ANY($1)", true)
	release()
	views.Wait()
}
