//go:build proof

package postgres

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// holdReads counts as many queries for apps as may run, so that the Views that come wait for the next one. release ends one of
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

// patient has the Views of db wait for shared queries as long as a test needs.
func patient(db *DB) *DB {
	db.readWait = time.Minute
	return db
}

// readApp returns the latest version of an app and its Head.
func readApp(ctx context.Context, db *DB, id string) (head appsvc.Head, app appsvc.App, err error) {
	err = db.Apps().View(context.Background(), func(r appsvc.Reader) error {
		if head, err = r.Head(ctx, id); err != nil {
			return err
		}
		app, err = r.App(ctx, id, vitrine.Latest)
		return err
	})
	return head, app, err
}

// Views that share a query get what each of them would get alone, and take no connections of their own. Those with a large body do.
func TestViewsShareAQuery(t *testing.T) {
	db := patient(openTest(t, &Options{Busy: time.Minute}))
	const each = 6
	ids := []string{"one", "two", "large", "absent"}
	for i, id := range ids[:3] {
		title := strings.Repeat("x", i)
		if id == "large" {
			title = strings.Repeat("x", sharedBody)
		}
		h := appsvc.Head{
			Meta:   appsvc.Meta{ID: id, Version: vitrine.NewVersion(0), CreatedAt: int64(10 + i), UpdatedAt: int64(20 + i), Owner: "owner of " + id, UpdatedBy: "editor of " + id},
			Groups: []string{"urn:vitrine:example.test:group=" + id}, Components: []string{"component of " + id},
		}
		err := db.Apps().Update(ctx, func(tx appsvc.Tx) error { return tx.AddVersion(ctx, h, fmt.Appendf(nil, `{"title":%q}`, title)) })
		if err != nil {
			t.Fatal(err)
		}
	}
	type answer struct {
		head appsvc.Head
		app  appsvc.App
	}
	alone := map[string]answer{}
	for _, id := range ids {
		head, app, err := readApp(ctx, db, id)
		if errors.Is(err, vitrine.ErrNotFound) != (id == "absent") || err != nil && id != "absent" {
			t.Fatal(err)
		}
		alone[id] = answer{head, app}
	}
	release := holdReads(t, db)
	before := db.Stats()
	var views sync.WaitGroup
	for _, id := range ids {
		for range each {
			views.Go(func() {
				head, app, err := readApp(ctx, db, id)
				if errors.Is(err, vitrine.ErrNotFound) != (id == "absent") || err != nil && id != "absent" {
					t.Errorf("%s: %v", id, err)
				}
				if got := (answer{head, app}); !reflect.DeepEqual(got, alone[id]) {
					t.Errorf("%s: a shared query gives %+v, and one alone %+v", id, got, alone[id])
				}
			})
		}
	}
	waitForReads(t, db, len(ids)*each)
	release()
	views.Wait()
	after := db.Stats()
	if got, want := after.Taken-before.Taken, uint64(1+each); got != want {
		t.Errorf("%d Views took %d connections, want %d: one together, and one for each that reads the large body", len(ids)*each, got, want)
	}
	if waits := after.ReadWaits - before.ReadWaits; before.ReadWaits != 0 || waits != uint64(len(ids)*each) || after.ReadWaited < time.Duration(waits) {
		t.Errorf("%d Views have waited for %s, before they came %d, want %d and 0", waits, after.ReadWaited, before.ReadWaits, len(ids)*each)
	}
}

// A shared query sees what was committed while its Views waited.
func TestASharedQuerySeesWhatWasAcknowledgedBefore(t *testing.T) {
	db := patient(openTest(t, &Options{Busy: time.Minute}))
	addApp(t, db, "one")
	release := holdReads(t, db)
	if err := addVersion(ctx, db.Apps(), "one", nothingMore); err != nil {
		t.Fatal(err)
	}
	version := make(chan string, 1)
	go func() { version <- versionOf(t, db, "one") }()
	waitForReads(t, db, 1)
	release()
	if got := <-version; got != "1" {
		t.Errorf("version %q, want 1", got)
	}
}

// A View goes on in one snapshot: when the app has changed since the shared query, its function is called again.
func TestAViewThatSharedAQueryGoesOnInOneSnapshot(t *testing.T) {
	db := patient(openTest(t, &Options{Busy: time.Minute}))
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
			if want := vitrine.NewVersion(runs - 1); h.Version != want {
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

// A View that is cancelled while it waits ends at once, and nobody reads for it.
func TestACancelledViewLeavesTheSharedQuery(t *testing.T) {
	db := patient(openTest(t, &Options{Busy: time.Minute}))
	addApp(t, db, "one")
	holdReads(t, db)
	cancelled, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		_, _, err := readApp(cancelled, db, "one")
		ended <- err
	}()
	waitForReads(t, db, 1)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	waitForReads(t, db, 0)
}

// Queries that never end hold up a View for readWait, and then it reads by itself.
func TestAViewWaitsForASharedQueryOnlyBriefly(t *testing.T) {
	db := openTest(t, &Options{Busy: time.Minute})
	addApp(t, db, "one")
	holdReads(t, db)
	if got := versionOf(t, db, "one"); got != "0" {
		t.Errorf("version %q, want 0", got)
	}
	waitForReads(t, db, 0)
	if s := db.Stats(); s.ReadWaits != 1 || s.ReadWaited < readWait {
		t.Errorf("Views have waited %d times for %s, want once for %s", s.ReadWaits, s.ReadWaited, readWait)
	}
}

// When the connection of a shared query is lost, each of its Views reads by itself.
func TestAConnectionLostAtASharedQuery(t *testing.T) {
	for _, arrives := range []bool{false, true} {
		db, _, cutter := openCut(t, &Options{Busy: time.Minute})
		patient(db)
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
		cutter.CutAt(latestApps, arrives)
		release()
		views.Wait()
		if cutter.Planned() > 0 {
			t.Error("no connection was lost: this shows nothing")
		}
	}
}

// Close waits for a View that has taken no connection, and the View may go on to read.
func TestCloseWaitsForAViewWithoutAConnection(t *testing.T) {
	db := openTest(t, nil)
	addApp(t, db, "one")
	closed := make(chan error, 1)
	err := db.Apps().View(ctx, func(r appsvc.Reader) error {
		go func() { closed <- db.Close() }()
		<-db.closing
		_, err := r.Head(ctx, "one")
		return err
	})
	if err != nil {
		t.Errorf("a View that has begun before Close: %v", err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
