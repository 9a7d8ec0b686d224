//go:build proof

package attack

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// Lists of 100,000 people and 100,000 public keys of 100 networks, asked by callers who see none of them. It reports
// the time of one request, and how long others wait at most, 99 of 100 times, while 150 such requests are sent at once.
// x/me is there to compare with.
func BenchmarkListsOfNobody(b *testing.B) {
	file := filepath.Join(b.TempDir(), "v.db")
	if err := sqlite.Build(file, func(db *sqlite.DB) error { return nil }); err != nil {
		b.Fatal(err)
	}
	db, err := sqlite.Open(file, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	of := func(i int) string { return fmt.Sprintf("urn:vitrine:n%d.test", i%100) }
	for from := 0; from < 100_000; from += 10_000 {
		err := db.Update(b.Context(), "people", storage.UpdateOptions{Large: true}, func(t storage.Tx) error {
			for i := from; i < from+10_000; i++ {
				id, user := fmt.Sprintf("%08d", i), fmt.Sprintf("%s:user=%08d", of(i), i)
				text, _ := json.Marshal(map[string]any{"id": id, "urn": user, "name": "Somebody"})
				key, _ := json.Marshal(map[string]any{"id": id, "prefix": "pk_" + id, "name": "k", "kind": "public",
					"reads": []string{of(i) + ":site=2"}, "tags": []string{"live"}, "by": user, "hash": "hash" + id})
				if err := t.Put(b.Context(), storage.Entry{Key: "people key/" + id, Value: key},
					storage.Entry{Key: "people person/" + id, Value: text},
					storage.Entry{Key: "people network/" + of(i) + " " + id}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	user := func(network string, moderates ...string) vitrine.Caller {
		return vitrine.Caller{URN: network + ":user=token", Moderates: moderates}
	}
	const empty = "urn:vitrine:empty.test"
	callers := map[string]vitrine.Caller{"nobody": user(empty), "site": user(of(1), of(1)+":site=1"),
		"network": user(empty, empty), "other": user("urn:vitrine:other.test")}
	log := slog.New(slog.DiscardHandler)
	tokens := func(r *http.Request) (httpapi.Principal, error) {
		name, err := httpapi.RequestToken(r)
		return httpapi.Principal{Caller: callers[name]}, err
	}
	people, err := signin.New(db, signin.Options{Log: log, Otherwise: tokens})
	if err != nil {
		b.Fatal(err)
	}
	handler, err := httpapi.New(httpapi.Config{Authenticate: people.Authenticate, Extras: people.Endpoints(), Log: log})
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 300}}
	ask := func(caller, path string) {
		r, _ := http.NewRequest("GET", server.URL+path, nil)
		r.Header.Set("Authorization", "Bearer "+caller)
		answer, err := client.Do(r)
		if err != nil {
			b.Error(err)
			return
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		want := 200
		if caller != "network" && strings.Contains(path, "people") {
			want = 403
		}
		if answer.StatusCode != want || len(body) > 400 {
			b.Errorf("%s %s: %d %.100s", caller, path, answer.StatusCode, body)
		}
	}
	begun := time.Now()
	ask("nobody", "/x/keys/") // makes the index
	b.Logf("the index of 100,000 keys took %v", time.Since(begun))
	for _, c := range []struct{ caller, path string }{
		{"nobody", "/x/me"},
		{"nobody", "/x/keys/?limit=500"}, {"site", "/x/keys/?limit=500"}, {"network", "/x/keys/?limit=500"},
		{"nobody", "/x/people/?limit=500"}, {"network", "/x/people/?limit=500"},
		{"network", "/x/people/?limit=500&q=x"},
	} {
		b.Run(c.caller+c.path, func(b *testing.B) {
			for b.Loop() {
				ask(c.caller, c.path)
			}
			b.StopTimer()
			var took []time.Duration
			for range 20 {
				var all sync.WaitGroup
				for range 150 {
					all.Go(func() { ask(c.caller, c.path) })
				}
				for range 10 {
					begun := time.Now()
					ask("other", "/x/me")
					took = append(took, time.Since(begun))
				}
				all.Wait()
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-others-p99")
		})
	}
}
