//go:build proof

package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
)

// addVersion adds a version of an app, as a patch does: it announces the app first. Then it calls more.
func addVersion(ctx context.Context, s appsvc.Store, id string, more func(appsvc.Tx) error) error {
	return s.Update(ctx, func(t appsvc.Tx) error {
		if err := t.Announce(ctx, id, nil); err != nil {
			return err
		}
		h, err := t.Head(ctx, id)
		if err != nil {
			return err
		}
		h.Version = h.Version.Next()
		if err := t.AddVersion(ctx, h, appsvc.Body(`{"title":"next"}`)); err != nil {
			return err
		}
		if err := t.AddEntry(ctx, appsvc.FeedEntry{Data: []byte(id)}); err != nil {
			return err
		}
		return more(t)
	})
}

func nothingMore(appsvc.Tx) error { return nil }

// occupy has as many groups under way as there may be, so that the updates that come wait for the next one. finish ends one
// of them; the others end with the test.
func occupy(t *testing.T, db *DB) (finish func()) {
	t.Helper()
	for i := range maxGroups {
		id := fmt.Sprint("busy ", i)
		addApp(t, db, id)
		begun, end, ended := make(chan bool), make(chan bool), make(chan bool)
		go func() {
			defer close(ended)
			err := addVersion(ctx, db.Apps(), id, func(appsvc.Tx) error {
				close(begun)
				<-end
				return nil
			})
			if err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}()
		<-begun
		finish = sync.OnceFunc(func() {
			close(end)
			<-ended
		})
		t.Cleanup(finish)
	}
	return finish
}

func addApp(t *testing.T, db *DB, id string) {
	t.Helper()
	if err := db.Apps().Update(ctx, func(tx appsvc.Tx) error { return putApp(tx, id) }); err != nil {
		t.Fatal(err)
	}
}

// waitForMembers returns when so many updates wait for a group.
func waitForMembers(t *testing.T, db *DB, n int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		db.groups.mu.Lock()
		waiting := len(db.groups.waiting)
		db.groups.mu.Unlock()
		if waiting == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d updates wait for a group, want %d", waiting, n)
		}
	}
}

// versionOf returns the latest version of an app, "" if there is none.
func versionOf(t *testing.T, db *DB, id string) (version string) {
	t.Helper()
	err := db.Apps().View(ctx, func(r appsvc.Reader) error {
		h, err := r.Head(ctx, id)
		if err == nil {
			version = h.Version.String()
		}
		return err
	})
	if err != nil && !errors.Is(err, vitrine.ErrNotFound) {
		t.Error(err)
	}
	return version
}

// Whatever one update of a group does, the others are kept, and kept together.
func TestUpdatesOfDifferentAppsAreCommittedTogether(t *testing.T) {
	db := openTest(t, &Options{Busy: time.Minute})
	s := db.Apps()
	refused := errors.New("refused")
	cancelled, cancel := context.WithCancel(ctx)
	defer cancel()
	updates := []struct {
		id      string
		ctx     context.Context
		more    func(appsvc.Tx) error
		err     error
		version string
		grouped bool
	}{
		{"one", ctx, nothingMore, nil, "1", true},
		{"two", ctx, nothingMore, nil, "1", true},
		{"tagged", ctx, func(t appsvc.Tx) error {
			return t.SetTag(ctx, appsvc.Tag{AppID: "tagged", Name: "tag", AppVersion: vitrine.NewVersion(1)})
		}, nil, "1", true},
		{"refused", ctx, func(appsvc.Tx) error { return refused }, refused, "0", false},
		{"absent", ctx, nothingMore, vitrine.ErrNotFound, "", false},
		{"cancelled", cancelled, nothingMore, context.Canceled, "0", false},
		{"reads more", ctx, func(t appsvc.Tx) error { _, err := t.Head(ctx, "one"); return err }, nil, "1", false},
		{"locks more", ctx, func(t appsvc.Tx) error { return t.KeepAnswer(ctx, appsvc.Answer{By: "by", Key: "key", Expires: 10}, 0) }, nil, "1", false},
		{"three", ctx, nothingMore, nil, "1", true},
	}
	for _, u := range updates {
		if u.id != "absent" {
			addApp(t, db, u.id)
		}
	}
	finish := occupy(t, db)
	var group sync.WaitGroup
	for _, u := range updates {
		group.Go(func() {
			if err := addVersion(u.ctx, s, u.id, u.more); !errors.Is(err, u.err) {
				t.Errorf("%s: error %v, want %v", u.id, err, u.err)
			}
		})
	}
	waitForMembers(t, db, len(updates))
	cancel()
	finish()
	group.Wait()
	together := ""
	for _, u := range updates {
		if got := versionOf(t, db, u.id); got != u.version {
			t.Errorf("%s is at version %q, want %q", u.id, got, u.version)
		}
		if round := db.list(t, "SELECT string_agg(round::text, ',') FROM app_change WHERE data = '"+u.id+"'"); u.grouped {
			if together == "" {
				together = round
			}
			if round != together || round == "" {
				t.Errorf("%s is of round %q, want that of the others, %q", u.id, round, together)
			}
		}
	}
}

// A group in which one update cannot be written is rolled back, and each of the others is then run alone.
func TestAnUpdateThatCannotBeWrittenFailsAlone(t *testing.T) {
	db := openTest(t, &Options{Busy: time.Minute})
	restore := func(t appsvc.Tx) error {
		return t.AddRestoration(ctx, appsvc.Restoration{AppID: "damaged", Version: vitrine.NewVersion(1)})
	}
	for _, id := range []string{"one", "damaged", "two"} {
		addApp(t, db, id)
	}
	if err := db.Apps().Update(ctx, restore); err != nil {
		t.Fatal(err)
	}
	finish := occupy(t, db)
	var group sync.WaitGroup
	for id, more := range map[string]func(appsvc.Tx) error{"one": nothingMore, "damaged": restore, "two": nothingMore} {
		group.Go(func() {
			if err := addVersion(ctx, db.Apps(), id, more); (err != nil) != (id == "damaged") {
				t.Errorf("%s: error %v", id, err)
			}
		})
	}
	waitForMembers(t, db, 3)
	finish()
	group.Wait()
	for id, want := range map[string]string{"one": "1", "damaged": "0", "two": "1"} {
		if got := versionOf(t, db, id); got != want {
			t.Errorf("%s is at version %s, want %s", id, got, want)
		}
	}
}

// A panic reaches the caller of its update alone.
func TestAPanicInAGroup(t *testing.T) {
	db := openTest(t, &Options{Busy: time.Minute})
	addApp(t, db, "panics")
	addApp(t, db, "one")
	finish := occupy(t, db)
	var group sync.WaitGroup
	group.Go(func() {
		defer func() {
			if recover() != "stop" {
				t.Error("the panic has not reached the caller")
			}
		}()
		addVersion(ctx, db.Apps(), "panics", func(appsvc.Tx) error { panic("stop") })
	})
	group.Go(func() {
		if err := addVersion(ctx, db.Apps(), "one", nothingMore); err != nil {
			t.Error(err)
		}
	})
	waitForMembers(t, db, 2)
	finish()
	group.Wait()
	if panics, one := versionOf(t, db, "panics"), versionOf(t, db, "one"); panics != "0" || one != "1" {
		t.Errorf("versions %s and %s, want 0 and 1", panics, one)
	}
}

// When the answer to the COMMIT of a group is lost, the outcome of each of its updates is unknown, and none is repeated.
func TestAConnectionLostAtTheCommitOfAGroup(t *testing.T) {
	db, whole, cutter := openCut(t, &Options{Busy: time.Minute})
	addApp(t, db, "one")
	addApp(t, db, "two")
	finish := occupy(t, db)
	var group sync.WaitGroup
	ids := []string{"one", "two"}
	cut := sync.OnceFunc(func() { cutter.CutAt("COMMIT", true) })
	for _, id := range ids {
		group.Go(func() {
			runs := 0
			err := addVersion(ctx, db.Apps(), id, func(appsvc.Tx) error {
				runs++
				cut()
				return nil
			})
			if !errors.Is(err, vitrine.ErrUnknown) || runs != 1 {
				t.Errorf("%s: error %v after %d runs, want ErrUnknown after 1", id, err, runs)
			}
		})
	}
	waitForMembers(t, db, 2)
	finish()
	group.Wait()
	for _, id := range ids {
		if got := versionOf(t, whole, id); got != "1" {
			t.Errorf("%s is at version %s, want 1", id, got)
		}
	}
}

// An update that needs no component waits for no update of components.
func TestAnUpdateWithoutComponentsDoesNotWaitForComponents(t *testing.T) {
	db := openTest(t, &Options{Busy: time.Minute})
	addApp(t, db, "one")
	err := db.Apps().Update(ctx, func(tx appsvc.Tx) error {
		if err := tx.AddComponent(ctx, appsvc.Component{ID: "id", Name: "name", Version: "1"}); err != nil {
			return err
		}
		return addVersion(ctx, db.Apps(), "one", nothingMore)
	})
	if err != nil {
		t.Error(err)
	}
}

// Groups whose connections have fallen silent hold up nobody longer than Options.Busy allows.
func TestGroupsOnASilentServerAreErrBusy(t *testing.T) {
	l := newLine(t, cluster.Shared(t))
	db := openAt(t, l.address(t), &Options{Busy: 5 * time.Second})
	t.Cleanup(func() { close(l.ended) })
	ids := []string{"a", "b", "c", "d", "e", "f"}
	for _, id := range ids {
		addApp(t, db, id)
	}
	close(l.silent) // just after a connection was used, so that it is not pinged first
	results := make(chan error, len(ids))
	for _, id := range ids {
		go func() { results <- addVersion(ctx, db.Apps(), id, nothingMore) }()
	}
	for range ids {
		select {
		case err := <-results:
			if !errors.Is(err, vitrine.ErrBusy) {
				t.Errorf("error %v, want ErrBusy", err)
			}
		case <-time.After(time.Minute):
			t.Fatal("an update has not ended within a minute")
		}
	}
}
