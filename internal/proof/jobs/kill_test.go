//go:build proof

package jobs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/storage/postgres"
)

var wantedKills = flag.Int("kills", 6, "how often a process that publishes is killed")

// ownTables makes a row for each app, which a publication of it changes.
func ownTables(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS live (app text PRIMARY KEY, publications int NOT NULL)")
	return err
}

// A process that is killed while many publications insert jobs and change rows leaves each publication with its job and
// its row, or without both. One that was acknowledged is there.
func TestAKilledProcessLeavesAPublicationWithItsRowsOrNeither(t *testing.T) {
	if state := proof.ChildState(); state != "" {
		url, log, _ := strings.Cut(state, "\n")
		publishUntilKilled(t, url, log)
	}
	url, log := cluster.Database(t), filepath.Join(t.TempDir(), "acknowledged")
	migrateRiver(t, url)
	total := 0
	for kill := range *wantedKills {
		_, end := proof.StartChild(t, url+"\n"+log)
		time.Sleep(rand.N(300 * time.Millisecond))
		end()
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		acknowledged := strings.Fields(string(text))
		total = compare(t, url, acknowledged)
		t.Logf("after kill %d: %d publications, of which %d were acknowledged", kill+1, total, len(acknowledged))
	}
	if total < 2**wantedKills {
		t.Errorf("only %d publications were made", total)
	}
}

// publishUntilKilled makes apps and publishes each again and again. It appends the id of an app to the file log when a
// publication of it was acknowledged.
func publishUntilKilled(t *testing.T, url, log string) {
	ctx := t.Context()
	db, apps := open(t, url)
	defer db.Close()
	acknowledged, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer acknowledged.Close()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			app, err := apps.CreateApp(ctx, appsvc.CreateAppRequest{Title: "0", Groups: []string{network}})
			for n := 1; err == nil; n++ {
				app, err = apps.Edit(ctx, app.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
					p.SetTitle(fmt.Sprint(n))
					return nil
				})
				if err == nil {
					_, err = apps.PutTag(ctx,
						appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: app.Version})
				}
				if err == nil {
					_, err = fmt.Fprintln(acknowledged, app.ID)
				}
				if n == 2 {
					fmt.Fprintln(os.Stderr, "begun")
				}
			}
			t.Error(err)
		})
	}
	all.Wait()
	t.FailNow()
}

// open opens the store and a service whose rule inserts a job for each publication, and counts it in the row of the
// app.
func open(t *testing.T, url string) (*postgres.DB, *appsvc.Session) {
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	queue, err := river.NewClient(riverpgxv5.New(pool), &river.Config{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := postgres.New(t.Context(), pool, &postgres.Options{Busy: time.Minute, Migrate: ownTables})
	if err != nil {
		t.Fatal(err)
	}
	check := func(ctx context.Context, _ vitrine.Caller, c appsvc.Change) error {
		if c.Type != appsvc.TagSet {
			return nil
		}
		tx, err := postgres.SQL(c.Tx())
		if err == nil {
			_, err = queue.InsertTx(ctx, tx, published{c.AppID, c.To.String()}, nil)
		}
		if err == nil {
			_, err = tx.Exec(ctx, `INSERT INTO live VALUES ($1, 1)
				ON CONFLICT (app) DO UPDATE SET publications = live.publications + 1`, c.AppID)
		}
		return err
	}
	return db, appsvc.New(db, &appsvc.Options{Check: check}).As(me)
}

// compare compares the moves of the tags with the jobs and the rows, and returns how many moves there are. Each app has
// at least as many moves as were acknowledged.
func compare(t *testing.T, url string, acknowledged []string) (total int) {
	t.Helper()
	ctx := t.Context()
	db, apps := open(t, url)
	defer db.Close()
	// The server may still commit what the killed process has sent. This update waits for that.
	if _, err := apps.CreateApp(ctx, appsvc.CreateAppRequest{Title: "last", Groups: []string{network}}); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	known := map[string]int{}
	for _, id := range acknowledged {
		known[id]++
	}
	for app, err := range apps.AllApps(ctx, appsvc.ListAppsRequest{}) {
		if err != nil {
			t.Fatal(err)
		}
		moves, jobs, row := "", "", 0
		for move, err := range apps.AllTagMoves(ctx, appsvc.ListTagMovesRequest{AppID: app.ID, Name: "production"}) {
			if errors.Is(err, vitrine.ErrNotFound) {
				break // it was never published
			}
			if err != nil {
				t.Fatal(err)
			}
			moves = move.To.String() + " " + moves
			known[app.ID]--
			total++
			row--
		}
		err = conn.QueryRow(ctx, `SELECT coalesce(string_agg(args->>'version' || ' ', '' ORDER BY id), ''),
			$2 + coalesce((SELECT publications FROM live WHERE app = $1), 0) FROM river_job WHERE args->>'app' = $1`,
			app.ID, row).Scan(&jobs, &row)
		if err != nil {
			t.Fatal(err)
		}
		if moves != jobs || row != 0 {
			t.Errorf("the app %s was moved to %q, has jobs for %q, and its row counts %d too many", app.ID, moves, jobs,
				row)
		}
	}
	for id, n := range known {
		if n > 0 {
			t.Errorf("%d acknowledged publications of the app %s are lost", n, id)
		}
	}
	return total
}
