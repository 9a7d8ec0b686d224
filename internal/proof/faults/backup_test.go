//go:build proof

package faults

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews"
)

// load is a writer that makes the same kind of change again and again, and can tell from a store
// how many of its changes are in it.
type load struct {
	name                string
	write               func(w *world, number int) answer
	count               func(w *world) (int, error)
	acknowledged, begun atomic.Int64
}

// loads are writers of all domains. Each counts from 1.
func loads(n names) []*load {
	return []*load{{
		name: "patches",
		write: func(w *world, number int) answer {
			return w.send(patch(n.app, 3+number, fmt.Sprint("title ", number)))
		},
		count: func(w *world) (int, error) {
			a := w.send(request{method: "GET", path: "/apps/" + n.app})
			var v int
			_, err := fmt.Sscanf(after(a.body, `"version":"`), "%d", &v)
			return v - 4, err
		},
	}, {
		name: "tags",
		write: func(w *world, number int) answer {
			return w.send(request{method: "PUT", path: fmt.Sprintf("/apps/%s/tags/t%06d", n.other, number),
				body: `{"appVersion":"0"}`})
		},
		count: func(w *world) (int, error) {
			a := w.send(request{method: "GET", path: "/apps/" + n.other + "/tags/"})
			return strings.Count(a.body, `"appId"`), nil
		},
	}, {
		name: "assets, three at a time",
		write: func(w *world, number int) answer {
			var list []string
			for i := range 3 {
				list = append(list,
					newAsset(fmt.Sprint("b", number, "-", i), fmt.Sprint("loaded word", number), n.folder))
			}
			return w.send(post(library+"/assets", `{"add":[`+strings.Join(list, ",")+"]}"))
		},
		count: func(w *world) (int, error) {
			a := w.send(request{method: "GET", path: library + "/assets?query=loaded&limit=1"})
			var total int
			_, err := fmt.Sscanf(after(a.body, `"total":`), "%d", &total)
			if total%3 != 0 {
				err = fmt.Errorf("%d assets are there, of requests that add three each", total)
			}
			return total / 3, err
		},
	}, {
		name: "collections of reviews",
		write: func(w *world, number int) answer {
			return w.send(post("/x/reviews/import", collection(fmt.Sprintf("%08d", number), 1+number%100)))
		},
		count: func(w *world) (int, error) {
			number := -2 // those that were there before
			for s, err := range w.reviews.As(vitrine.Caller{Operator: true}).AllCollections(context.Background(),
				reviews.ListCollectionsRequest{Network: network}) {
				if err != nil || s.Count != 3 {
					return 0, fmt.Errorf("collection %q has %d reviews, want 3: %w", s.ID, s.Count, err)
				}
				number++
			}
			return number, nil
		},
	}}
}

// after is what follows the first mark in a text.
func after(text, mark string) string {
	_, rest, _ := strings.Cut(text, mark)
	return rest
}

// A backup that is made while others write is whole, and holds all that was acknowledged before it
// began and nothing in part.
func TestBackupUnderLoad(t *testing.T) {
	path, n := newFile(t)
	w, err := openWorld(path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.db.Close()
	list, stop := loads(n), make(chan bool)
	var wg sync.WaitGroup
	for _, l := range list {
		wg.Go(func() {
			for number := 1; ; number++ {
				select {
				case <-stop:
					return
				default:
				}
				l.begun.Store(int64(number))
				if a := l.write(w, number); a.status >= 300 {
					t.Errorf("%s: change %d: %d %s", l.name, number, a.status, a.body)
					return
				}
				l.acknowledged.Store(int64(number))
			}
		})
	}
	backups := 6 + *rounds/10
	if testing.Short() {
		backups = 2
	}
	for i := range backups {
		for base := list[0].acknowledged.Load(); list[0].acknowledged.Load() < base+20 && !t.Failed(); {
			w.send(request{method: "GET", path: "/apps/"})
		}
		if err := oneBackup(w, list, filepath.Join(t.TempDir(), "store.db")); err != nil {
			t.Errorf("backup %d: %v", i, err)
			break
		}
	}
	close(stop)
	wg.Wait()
	var told []string
	for _, l := range list {
		told = append(told, fmt.Sprintf("%d %s", l.acknowledged.Load(), l.name))
	}
	t.Logf("%d backups while %s were written", backups, strings.Join(told, ", "))
}

// oneBackup makes a backup. It must have all changes that were acknowledged before the backup began, and none that
// began after its end.
func oneBackup(w *world, list []*load, path string) error {
	var least []int
	for _, l := range list {
		least = append(least, int(l.acknowledged.Load()))
	}
	if err := w.db.Backup(context.Background(), path); err != nil {
		return err
	}
	var most []int
	for _, l := range list {
		most = append(most, int(l.begun.Load()))
	}
	if err := check(path); err != nil {
		return err
	}
	restored, err := openWorld(path, nil, nil)
	if err != nil {
		return err
	}
	for i, l := range list {
		have, err := l.count(restored)
		if err != nil || have < least[i] || have > most[i] {
			return errors.Join(fmt.Errorf("%s: %d are in it, %d were acknowledged before and %d begun: %w", l.name,
				have, least[i], most[i], err), restored.db.Close())
		}
		if a := l.write(restored, have+1); a.status >= 300 { // it goes on from where it was
			return errors.Join(fmt.Errorf("%s: change %d of the restored store: %d %s", l.name, have+1, a.status,
				a.body), restored.db.Close())
		}
	}
	var out strings.Builder
	err = restored.reviews.As(vitrine.Caller{Operator: true}).Export(context.Background(), network, &out)
	return errors.Join(err, restored.db.Close())
}
