package sqlite

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestApps(t *testing.T) {
	storagetest.Apps(t, func(t *testing.T) appsvc.Store { return openTest(t, nil).Apps() })
}

// However much is cached, and whether apps are sorted or walked in order, the results are those of memory.
func TestAppsWithOtherCachesAndSizes(t *testing.T) {
	ways := map[string]func(t *testing.T) *DB{
		"as it is":                  func(t *testing.T) *DB { return openTest(t, nil) },
		"without a cache":           func(t *testing.T) *DB { return openTest(t, &Options{Cache: -1}) },
		"with a cache that is full": func(t *testing.T) *DB { return openTest(t, &Options{Cache: 16 << 10}) },
		"walking all apps": func(t *testing.T) *DB {
			db := openTest(t, nil)
			db.few = -1
			return db
		},
	}
	for name, open := range ways {
		t.Run(name, func(t *testing.T) { storagetest.AppsEqual(t, memory.New().Apps(), open(t).Apps(), 1, 60) })
	}
}

// A page that is met in order must not sort what comes after it.
func TestWalksUseAnIndex(t *testing.T) {
	db := openTest(t, nil)
	for _, sort := range []appsvc.Sort{
		appsvc.CreatedAscending, appsvc.CreatedDescending, appsvc.UpdatedAscending, appsvc.UpdatedDescending,
	} {
		err := db.view(context.Background(), func(c *conn) error {
			q := appsvc.AppQuery{Sort: sort}
			walk := c.inOrder(q)
			walk.close()
			var plan []string
			r := c.query("EXPLAIN QUERY PLAN "+walk.sql, 0, "")
			defer r.close()
			for r.next() {
				plan = append(plan, r.text(3))
			}
			if text := strings.Join(plan, "; "); !strings.Contains(text, "USING INDEX app_by_") || strings.Contains(text, "FOR ORDER BY") {
				t.Errorf("%s: %s", sort, text)
			}
			return r.err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestReopenedStoreHasEverything(t *testing.T) {
	ctx := context.Background()
	db := openTest(t, nil)
	h, body := benchApp("app", 0, 5<<10)
	addApp(t, db.Apps(), h, body)
	for v := range 300 {
		h.Version, body = vitrine.NewVersion(v+1), autosave(body, v)
		addApp(t, db.Apps(), h, body)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(db.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	err = again.Apps().View(ctx, func(r appsvc.Reader) error {
		latest, err := r.App(ctx, "app", vitrine.Latest)
		if err != nil {
			return err
		}
		if latest.Version.Number() != 300 || string(latest.Body) != string(body) {
			return fmt.Errorf("version %s came back with %d bytes", latest.Version, len(latest.Body))
		}
		count := 0
		for _, err := range r.Versions(ctx, appsvc.VersionQuery{AppID: "app"}) {
			if err != nil {
				return err
			}
			count++
		}
		if count != 301 {
			return fmt.Errorf("%d versions came back, want 301", count)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A Reader that outlives its View finds nothing, rather than somebody else's snapshot.
func TestReaderEndsWithItsView(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, nil).Apps()
	var kept appsvc.Reader
	if err := s.View(ctx, func(r appsvc.Reader) error { kept = r; return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Head(ctx, "a"); err != errEnded {
		t.Errorf("Head after the View: %v", err)
	}
	for _, err := range kept.Tags(ctx, appsvc.TagQuery{AppID: "a"}) {
		if err != errEnded {
			t.Errorf("Tags after the View: %v", err)
		}
	}
}

func TestClosing(t *testing.T) {
	storagetest.Closing(t, func(t *testing.T) storagetest.Closer { return openTest(t, nil) })
}
