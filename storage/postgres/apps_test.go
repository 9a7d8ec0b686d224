//go:build proof

package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/storagetest"
)

func TestApps(t *testing.T) {
	t.Parallel()
	storagetest.Apps(t, func(t *testing.T) appsvc.Store { return openTest(t, nil).Apps() })
}

// turns is a store each of whose transactions is another opening's.
type turns struct {
	stores [3]appsvc.Store
	next   *atomic.Int64
}

func (s turns) store() appsvc.Store { return s.stores[s.next.Add(1)%3] }

func (s turns) View(ctx context.Context, fn func(appsvc.Reader) error) error {
	return s.store().View(ctx, fn)
}

func (s turns) Update(ctx context.Context, fn func(appsvc.Tx) error) error {
	return s.store().Update(ctx, fn)
}

func (s turns) Changed() <-chan struct{} { return s.store().Changed() }

// Whether apps are sorted or walked in order, and through however many openings of one database, the results are those of memory.
func TestAppsInOtherWays(t *testing.T) {
	ways := map[string]func(t *testing.T) appsvc.Store{
		"as it is": func(t *testing.T) appsvc.Store { return openTest(t, nil).Apps() },
		"walking all apps": func(t *testing.T) appsvc.Store {
			db := openTest(t, nil)
			db.few = -1
			return db.Apps()
		},
		"three openings in turn": func(t *testing.T) appsvc.Store {
			address := cluster.Schema(t)
			s := turns{next: new(atomic.Int64)}
			for i := range s.stores {
				s.stores[i] = openAt(t, address, nil).Apps()
			}
			return s
		},
	}
	for name, open := range ways {
		t.Run(name, func(t *testing.T) { storagetest.AppsEqual(t, appsvc.NewRecords(memory.New()), open(t), 1, 60) })
	}
}

// process is set, to the address, in the processes that TestProcessesShareADatabase starts.
const process = "VITRINE_POSTGRES_PROCESS"

// Processes that open an empty database together and write to one app all have their part in it,
// and what one has written the others see at once.
func TestProcessesShareADatabase(t *testing.T) {
	const processes, rounds = 3, 40
	if address := os.Getenv(process); address != "" {
		s := openAt(t, address, nil).Apps()
		for range rounds {
			if err := appendNext(s, "app"); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	address := cluster.Schema(t)
	var group sync.WaitGroup
	for range processes {
		group.Go(func() {
			child := exec.Command(os.Args[0], "-test.run=^TestProcessesShareADatabase$")
			child.Env = append(os.Environ(), process+"="+address)
			if out, err := child.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	s := openAt(t, address, nil).Apps()
	for range rounds { // among them
		if err := appendNext(s, "app"); err != nil {
			t.Fatal(err)
		}
	}
	group.Wait()
	err := s.View(ctx, func(r appsvc.Reader) error {
		want := (processes+1)*rounds - 1
		for app, err := range r.Versions(ctx, appsvc.VersionQuery{AppID: "app"}) {
			if err != nil {
				return err
			}
			if app.Version.Number() != int64(want) || string(app.Body) != strconv.Itoa(want) {
				return fmt.Errorf("version %s with body %s where %d should be", app.Version, app.Body, want)
			}
			want--
		}
		if want != -1 {
			return fmt.Errorf("the versions end above %d", want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// appendNext adds the next version of an app, and looks whether it is there. Its body is its number.
func appendNext(s appsvc.Store, id string) error {
	var added vitrine.Version
	err := s.Update(ctx, func(t appsvc.Tx) error {
		h, err := t.Head(ctx, id)
		switch {
		case errors.Is(err, vitrine.ErrNotFound):
			h = appsvc.Head{Meta: appsvc.Meta{ID: id, Version: vitrine.NewVersion(0), Owner: "owner"}}
		case err != nil:
			return err
		default:
			h.Version = h.Version.Next()
		}
		added = h.Version
		return t.AddVersion(ctx, h, appsvc.Body(h.Version.String()))
	})
	if err != nil {
		return err
	}
	return s.View(ctx, func(r appsvc.Reader) error {
		h, err := r.Head(ctx, id)
		if err == nil && h.Version.Compare(added) < 0 {
			err = fmt.Errorf("version %s is the latest after %s was acknowledged", h.Version, added)
		}
		return err
	})
}

// The first app of a View is read before its transaction. When it changes before the second read,
// the function runs again, and never sees both states.
func TestAViewRunsAgainWhenItsFirstReadHasChanged(t *testing.T) {
	s := openTest(t, nil).Apps()
	for name, before := range map[string]int{"an app that changes": 1, "an app that comes": 0} {
		for range before {
			if err := appendNext(s, name); err != nil {
				t.Fatal(err)
			}
		}
		runs := 0
		err := s.View(ctx, func(r appsvc.Reader) error {
			runs++
			first, err := r.Head(ctx, name)
			if err != nil && !errors.Is(err, vitrine.ErrNotFound) {
				return err
			}
			if runs == 1 {
				if err := appendNext(s, name); err != nil {
					return err
				}
			}
			count := -1
			for _, err := range r.Apps(ctx, appsvc.AppQuery{Owner: "owner", Sort: appsvc.CreatedAscending}) {
				if err != nil {
					return err
				}
				count++
			}
			second, err := r.Head(ctx, name)
			if err == nil && first.Version != second.Version {
				err = fmt.Errorf("version %s, then %s", first.Version, second.Version)
			}
			return err
		})
		if err != nil || runs != 2 {
			t.Errorf("%s: %d runs, error %v", name, runs, err)
		}
	}
}

// A Reader that outlives its View finds nothing, rather than somebody else's transaction.
func TestReaderEndsWithItsView(t *testing.T) {
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
