package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

// migrated raises the schema number of the store at path, as a newer release does, and makes a change that goes with it.
func migrated(path string) error {
	known, err := newest()
	if err != nil {
		return err
	}
	c, err := dial(path, "mode=rw", "busy_timeout=5000")
	if err != nil {
		return err
	}
	err = c.script(fmt.Sprintf("BEGIN IMMEDIATE; CREATE TABLE of_a_newer_release (x); PRAGMA user_version=%d; COMMIT", known+1))
	return errors.Join(err, c.close())
}

// writes are one update of each domain.
func writes(db *DB) map[string]func() error {
	ctx := context.Background()
	h, body := benchApp("new", 0, 100)
	return map[string]func() error{
		"apps": func() error {
			return db.Apps().Update(ctx, func(t appsvc.Tx) error { return t.AddVersion(ctx, h, body) })
		},
		"assets": func() error {
			return db.Assets().Update(ctx, assets.Library{Network: "n", ID: "l"}, func(t assets.Tx) error {
				return t.SetState(ctx, assets.State{Key: assets.Key{1}})
			})
		},
		"reviews": func() error {
			return db.Reviews().Update(ctx, reviews.DefaultNetwork, func(t reviews.Tx) error {
				return t.PutCollection(ctx, reviews.Collection{Key: reviews.Key{Source: "s", ID: "i"}})
			})
		},
	}
}

func TestAnOldProcessDoesNotWriteIntoANewerStore(t *testing.T) {
	tests := map[string]func(t *testing.T, path string){
		"migrated in this process": func(t *testing.T, path string) {
			if err := migrated(path); err != nil {
				t.Fatal(err)
			}
		},
		"migrated by another process": func(t *testing.T, path string) {
			other, _ := process(t, "migrate", path)
			if err := other.Wait(); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, migrate := range tests {
		t.Run(name, func(t *testing.T) {
			db := openTest(t, nil)
			if _, err := nextVersion(db.Apps(), "app"); err != nil {
				t.Fatal(err)
			}
			migrate(t, db.path)
			busy := map[string]error{"apps": vitrine.ErrBusy, "assets": vitrine.ErrBusy, "reviews": vitrine.ErrBusy}
			for domain, write := range writes(db) {
				for range 2 {
					known, _ := newest()
					err := write()
					if want := fmt.Sprintf("it has schema %d now, and this process knows schema %d", known+1, known); !errors.Is(err, busy[domain]) || !strings.Contains(err.Error(), want) {
						t.Errorf("%s: the write ended with %v, want ErrBusy and %q", domain, err, want)
					}
				}
			}
			if v, err := look(db.Apps(), "app"); err != nil || v != 0 {
				t.Errorf("reading: version %d, %v", v, err)
			}
			err := db.view(context.Background(), func(c *conn) error {
				for _, table := range []string{"library", "review_collection", "app WHERE id <> 'app'"} {
					if n, err := c.value("SELECT count(*) FROM " + table); err != nil || n != 0 {
						return fmt.Errorf("%s has %d rows: %w", table, n, err)
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			if again, err := Open(db.path, nil); err == nil || !strings.Contains(err.Error(), "newer") {
				t.Errorf("opening it: %v, %v", again, err)
			}
		})
	}
}

// The number is read when the transaction has begun: a process that waited for the one that migrates sees it.
func TestAnUpdateThatWaitsForAMigrationIsRefused(t *testing.T) {
	db := openTest(t, nil)
	other, err := dial(db.path, "mode=rw")
	if err != nil {
		t.Fatal(err)
	}
	defer other.close()
	if err := other.script("BEGIN IMMEDIATE; CREATE TABLE of_a_newer_release (x); PRAGMA user_version=1000"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := nextVersion(db.Apps(), "app")
		ended <- err
	}()
	waitFor(t, func() bool { return len(db.writer.free) == 0 }) // it leads, and waits for the lock
	if err := other.script("COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, vitrine.ErrBusy) || !strings.Contains(err.Error(), "1000") {
		t.Errorf("the update ended with %v", err)
	}
}

// Commits of other processes that change no schema are no reason to refuse.
func TestOtherProcessesMayWriteTheSameSchema(t *testing.T) {
	db := openTest(t, nil)
	again := openAt(t, db.path, nil)
	for want := range 4 {
		for _, s := range []appsvc.Store{db.Apps(), again.Apps()}[want%2:][:1] {
			if v, err := nextVersion(s, "app"); err != nil || int(v) != want {
				t.Errorf("version %d, %v; want %d", v, err, want)
			}
		}
	}
}
