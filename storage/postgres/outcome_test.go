//go:build proof

package postgres_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage/postgres"
)

// The tests of this file show over HTTP what a client may rely on when a server loses its database in the middle of a
// commit: the answer is 503, and a creation that is repeated with its Idempotency-Key, or a patch with its version
// test, until it succeeds is done exactly once, wherever the commit was interrupted.

var writes = flag.Int("writes", 60, "how many apps each client creates, and how often it patches one")

const (
	clients = 4
	network = "urn:vitrine:example.test"
	user    = network + ":user=editor"
)

// world is a service on a database whose connections are cut.
type world struct {
	*testing.T
	url     string
	cutter  *postgres.Cutter
	unknown atomic.Int64 // answers 503
}

func newWorld(t *testing.T) *world {
	cutter := postgres.NewCutter(t, cluster.Shared(t))
	db, err := postgres.Open(context.Background(), cutter.Behind(cluster.Schema(t)), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	handler, err := httpapi.New(httpapi.Config{
		Apps: appsvc.New(db, nil),
		Authenticate: func(*http.Request) (httpapi.Principal, error) {
			return httpapi.Principal{Caller: vitrine.Caller{URN: user, Moderates: []string{network}}}, nil
		},
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &world{T: t, url: server.URL, cutter: cutter}
}

// answer is what the tests look at.
type answer struct {
	status int
	ID     string // of the app that was created
	Apps   []struct{ ID, Version, Title string }
	Error  string
}

func (w *world) do(method, path, key, body string) (answer, error) {
	request, err := http.NewRequest(method, w.url+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Authorization", "svctoken whoever")
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: response.StatusCode}
	return a, json.Unmarshal(text, &a)
}

// until repeats a write until it is answered with something else than 503. Some of the commits on
// the way are cut.
func (w *world) until(method, path, key, body string) (a answer, repeats int, err error) {
	for ; ; repeats++ {
		if rand.IntN(3) == 0 {
			w.cutter.CutAt("COMMIT", rand.IntN(2) == 0)
		}
		a, err = w.do(method, path, key, body)
		if err != nil || a.status != http.StatusServiceUnavailable {
			return a, repeats, err
		}
		w.unknown.Add(1)
		if !strings.Contains(a.Error, "not known whether the write was kept") {
			return a, repeats, fmt.Errorf("503 says %q", a.Error)
		}
	}
}

// each runs work for each client at the same time.
func (w *world) each(work func(client int) error) {
	w.Helper()
	var group sync.WaitGroup
	for client := range clients {
		group.Go(func() {
			if err := work(client); err != nil {
				w.Errorf("client %d: %v", client, err)
			}
		})
	}
	group.Wait()
	if w.unknown.Load() == 0 {
		w.Error("no outcome was unknown: nothing was tested")
	}
}

func TestACreationRepeatedByItsKeyIsDoneOnce(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	created := map[string]string{} // title by id
	w.each(func(client int) error {
		for i := range *writes {
			title := fmt.Sprintf("%d-%d", client, i)
			a, _, err := w.until("POST", "/apps/", "key-"+title,
				fmt.Sprintf(`{"title": %q, "groups": [%q]}`, title, network))
			if err != nil {
				return err
			}
			if a.status != http.StatusCreated || a.ID == "" {
				return fmt.Errorf("%s: %+v", title, a)
			}
			mu.Lock()
			created[a.ID] = title
			mu.Unlock()
		}
		return nil
	})
	seen := map[string]string{}
	a, err := w.do("GET", "/apps/?limit=500", "", "")
	if err != nil || a.status != http.StatusOK {
		t.Fatalf("%+v, %v", a, err)
	}
	for _, app := range a.Apps {
		seen[app.ID] = app.Title
	}
	if len(a.Apps) == 500 {
		t.Fatal("more apps than one page holds: run with fewer writes")
	}
	if len(created) != clients**writes || len(seen) != len(created) {
		t.Errorf("%d apps were answered and %d are there, want %d", len(created), len(seen), clients**writes)
	}
	for id, title := range created {
		if seen[id] != title {
			t.Errorf("app %s was answered as %q and is %q", id, title, seen[id])
		}
	}
	t.Logf("%d creations, %d outcomes unknown", len(created), w.unknown.Load())
}

// A patch is repeated with its version test: 409 after an unknown outcome means that it was kept, by
// a client that is the only one to patch its app.
func TestAPatchRepeatedWithItsVersionTestIsDoneOnce(t *testing.T) {
	w := newWorld(t)
	w.each(func(client int) error {
		a, _, err := w.until("POST", "/apps/", fmt.Sprint("key-", client),
			fmt.Sprintf(`{"title": "0", "groups": [%q]}`, network))
		if err != nil || a.ID == "" {
			return fmt.Errorf("%+v, error %v", a, err)
		}
		id := a.ID
		for v := range *writes {
			patch := fmt.Sprintf(`[{"op": "test", "path": "/apps/0/version", "value": "%d"}, {"op": "replace", `+
				`"path": "/apps/0/title", "value": "%d"}]`, v, v+1)
			a, repeats, err := w.until("PATCH", "/apps/"+id, "", patch)
			if err != nil {
				return err
			}
			if a.status != http.StatusOK && (a.status != http.StatusConflict || repeats == 0) {
				return fmt.Errorf("patch of version %d after %d repeats: %+v", v, repeats, a)
			}
		}
		return w.checkVersions(id)
	})
	t.Logf("%d patches, %d outcomes unknown", clients**writes, w.unknown.Load())
}

// checkVersions looks whether each patch is there once and in its place.
func (w *world) checkVersions(id string) error {
	var titles []string
	for before := *writes + 1; before > 0; before -= min(before, 500) {
		a, err := w.do("GET", fmt.Sprintf("/apps/%s/versions/?limit=500&before=%d", id, before), "", "")
		if err != nil {
			return err
		}
		for _, app := range a.Apps {
			if app.Version != app.Title {
				return fmt.Errorf("version %s is that of patch %s", app.Version, app.Title)
			}
			titles = append(titles, app.Title)
		}
	}
	if distinct := slices.Compact(slices.Clone(titles)); len(titles) != *writes+1 || len(distinct) != len(titles) {
		return fmt.Errorf("%d versions, want %d: %s", len(titles), *writes+1, titles)
	}
	return nil
}
