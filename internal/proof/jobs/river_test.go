//go:build proof

package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage/postgres"
)

const network = "urn:vitrine:example.test"

var me = vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}}

// published is the job of a publication.
type published struct {
	App     string `json:"app"`
	Version string `json:"version"`
}

func (published) Kind() string { return "published" }

type worker struct {
	river.WorkerDefaults[published]
	done chan published
}

func (w *worker) Work(_ context.Context, job *river.Job[published]) error {
	w.done <- job.Args
	return nil
}

func migrateRiver(t *testing.T, url string) {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err == nil {
		_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A publication inserts a job with River's InsertTx, in its own transaction: each one that was acknowledged has its
// job, and each that was refused has none, also when many share their commits and when the rule refuses after the
// insert.
func TestAPublicationInsertsAJobOfRiver(t *testing.T) {
	ctx := t.Context()
	url := cluster.Database(t)
	migrateRiver(t, url)
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	db, err := postgres.New(ctx, pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	done := &worker{done: make(chan published, 100)}
	workers := river.NewWorkers()
	river.AddWorker(workers, done)
	queue, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Workers: workers,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("not on a Monday")
	apps := appsvc.New(db, &appsvc.Options{Check: func(ctx context.Context, _ vitrine.Caller, c appsvc.Change) error {
		if c.Type != appsvc.TagSet {
			return nil
		}
		tx, err := postgres.SQL(c.Tx())
		if err != nil {
			return err
		}
		if _, err := queue.InsertTx(ctx, tx, published{c.AppID, c.To.String()}, nil); err != nil {
			return err
		}
		if c.Tag == "refused" {
			return refused
		}
		return nil
	}}).As(me)

	var all sync.WaitGroup
	var mu sync.Mutex
	want := []string{}
	for n := range 24 {
		all.Go(func() {
			app, err := apps.CreateApp(ctx, appsvc.CreateAppRequest{Title: fmt.Sprint(n), Groups: []string{network}})
			if err != nil {
				t.Error(err)
				return
			}
			tag, wanted := "production", error(nil)
			if n%3 == 0 {
				tag, wanted = "refused", refused
			}
			_, err = apps.PutTag(ctx, appsvc.PutTagRequest{AppID: app.ID, Name: tag, Version: app.Version})
			if !errors.Is(err, wanted) || wanted == nil && err != nil {
				t.Errorf("%s: %v", tag, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				want = append(want, app.ID)
			}
		})
	}
	all.Wait()
	if err := queue.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer queue.Stop(context.WithoutCancel(ctx))
	got := []string{}
	for range want {
		select {
		case job := <-done.done:
			got = append(got, job.App)
		case <-time.After(30 * time.Second):
			t.Fatalf("%d jobs of %d were done", len(got), len(want))
		}
	}
	slices.Sort(want)
	if slices.Sort(got); !slices.Equal(got, want) || len(got) != 16 {
		t.Errorf("the jobs are of %q, want %q", got, want)
	}
	var jobs int
	if err := pool.QueryRow(ctx, "SELECT count(*) FROM river_job").Scan(&jobs); err != nil || jobs != len(want) {
		t.Errorf("there are %d jobs, %v", jobs, err)
	}
}
