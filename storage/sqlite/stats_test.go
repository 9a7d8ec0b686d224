package sqlite_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

func TestStatsCountTheSizesOfCommits(t *testing.T) {
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "v.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	by := vitrine.Caller{URN: "urn:vitrine:example.test:user=x", Moderates: []string{"urn:vitrine:example.test"}}
	apps := appsvc.New(db.Apps(), nil).As(by)
	before := db.Stats()
	const updates = 40
	var all sync.WaitGroup
	for range updates {
		all.Go(func() {
			if _, err := apps.CreateApp(t.Context(), appsvc.CreateAppRequest{Title: "x", Groups: by.Moderates}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s := db.Stats()
	commits, least, most := uint64(0), uint64(0), uint64(0)
	for i := range s.Batches {
		n := s.Batches[i] - before.Batches[i]
		commits += n
		most += n << i
		least += n
		if i > 0 {
			least += n << (i - 1)
		}
	}
	if commits != s.Commits-before.Commits || least > updates || most < updates {
		t.Errorf("%d updates in %d commits: sizes %v, before %v", updates, s.Commits-before.Commits, s.Batches, before.Batches)
	}
}

func TestStats(t *testing.T) {
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "v.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	apps := appsvc.New(db.Apps(), nil).As(vitrine.Caller{URN: "urn:vitrine:example.test:user=x", Moderates: []string{"urn:vitrine:example.test"}})
	err = db.Apps().View(t.Context(), func(r appsvc.Reader) error {
		if _, err := r.Head(t.Context(), "none"); err == nil {
			t.Error("an app was found")
		}
		if s := db.Stats(); s.Readers != 1 || s.ReadersBusy != 1 || s.ReadersMost < 64 {
			t.Errorf("during a View: %+v", s)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	before := db.Stats()
	if before.Readers != 1 || before.ReadersBusy != 0 {
		t.Errorf("after a View: %+v", before)
	}
	app, err := apps.CreateApp(t.Context(), appsvc.CreateAppRequest{Title: "x", Groups: []string{"urn:vitrine:example.test"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := apps.App(t.Context(), app.ID); err != nil {
			t.Fatal(err)
		}
	}
	after := db.Stats()
	if after.Updates != before.Updates+1 || after.Commits != before.Commits+1 || after.LogBytes <= before.LogBytes {
		t.Errorf("after an update: %+v, before it %+v", after, before)
	}
	if before.Batches[0]++; after.Batches != before.Batches {
		t.Errorf("sizes of commits after one of one update: %v, want %v", after.Batches, before.Batches)
	}
	if after.CacheHits <= before.CacheHits {
		t.Errorf("after reading an app twice: %+v, before %+v", after, before)
	}
	if _, err := apps.CreateApp(t.Context(), appsvc.CreateAppRequest{}); err == nil {
		t.Fatal("an app without a title was created")
	}
	if refused := db.Stats(); refused.Updates != after.Updates {
		t.Errorf("a refused call counts as an update: %+v, before it %+v", refused, after)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if closed := db.Stats(); closed != (sqlite.Stats{}) {
		t.Errorf("after Close: %+v", closed)
	}
}
