//go:build proof

package bench

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// BenchmarkRule moves tags without a rule of the program, with one that allows everything, with one that keeps a row,
// and with one that inserts a row by SQL. Without a rule and with the first one a move should cost the same.
func BenchmarkRule(b *testing.B) {
	type check = func(context.Context, vitrine.Caller, appsvc.Change) error
	for _, rule := range []struct {
		name  string
		check check
		sql   bool
	}{
		{"none", nil, false},
		{"allow", func(context.Context, vitrine.Caller, appsvc.Change) error { return nil }, false},
		{"row", func(ctx context.Context, _ vitrine.Caller, c appsvc.Change) error {
			return c.Rows("live").Put(ctx, storage.Entry{Key: c.AppID, Value: []byte(c.To.String())})
		}, false},
		{"sql", func(ctx context.Context, _ vitrine.Caller, c appsvc.Change) error {
			tx, err := sqlite.SQL(c.Tx())
			if err == nil {
				_, err = tx.ExecContext(ctx, "INSERT INTO job (app) VALUES ($1)", c.AppID)
			}
			return err
		}, true},
	} {
		for _, store := range []string{"memory", "SQLite"} {
			if store == "memory" && rule.sql {
				continue
			}
			for _, n := range []int{1, 32} {
				b.Run(fmt.Sprintf("%s/%s/%d", store, rule.name, n), func(b *testing.B) {
					moveTags(b, openWithJobs(b, store), &appsvc.Options{Check: rule.check}, n)
				})
			}
		}
	}
}

func openWithJobs(b *testing.B, store string) storage.Store {
	if store == "memory" {
		return memory.New()
	}
	db, err := sqlite.Open(filepath.Join(b.TempDir(), "vitrine.db"), &sqlite.Options{
		Migrate: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "CREATE TABLE job (id INTEGER PRIMARY KEY, app TEXT NOT NULL)")
			return err
		}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	return db
}

// moveTags has n callers move the tag of an app each, between two versions.
func moveTags(b *testing.B, db storage.Store, o *appsvc.Options, n int) {
	apps := appsvc.New(db, o).As(me)
	ids := make([]string, n)
	for i := range ids {
		app, err := apps.CreateApp(ctx, appsvc.CreateAppRequest{Title: "0", Groups: me.Moderates})
		if err == nil {
			_, err = apps.Edit(ctx, app.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
				p.SetTitle("1")
				return nil
			})
		}
		if err != nil {
			b.Fatal(err)
		}
		ids[i] = app.ID
	}
	b.ReportAllocs()
	var before, after syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	spread(b, n, func(i, k int) error {
		_, err := apps.PutTag(ctx,
			appsvc.PutTagRequest{AppID: ids[i], Name: "production", Version: vitrine.NewVersion(k % 2)})
		return err
	})
	syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	b.ReportMetric(float64(after.Utime.Nano()-before.Utime.Nano())/float64(b.N), "user-ns/op")
}
