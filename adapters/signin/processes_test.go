package signin_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/postgres"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// What one process changes counts in the other within a second: for requests, and for streams that are open.
func TestTwoProcesses(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) func() storage.Store{
		"SQLite": func(t *testing.T) func() storage.Store {
			file := filepath.Join(t.TempDir(), "v.db")
			if err := sqlite.Build(file, func(*sqlite.DB) error { return nil }); err != nil {
				t.Fatal(err)
			}
			return func() storage.Store {
				db, err := sqlite.Open(file, nil)
				if err != nil {
					t.Fatal(err)
				}
				return db
			}
		},
		"PostgreSQL": func(t *testing.T) func() storage.Store {
			address := cluster.Database(t)
			return func() storage.Store {
				db, err := postgres.Open(t.Context(), address, nil)
				if err != nil {
					t.Fatal(err)
				}
				return db
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			opened := open(t)
			one, two := opened(), opened()
			t.Cleanup(func() { _, _ = one.Close(), two.Close() })
			w, elsewhere := newWorldOver(t, one, localBase), newWorldOver(t, two, localBase)
			go w.people.Watch(t.Context(), w.streams.Recheck)
			admin := w.invited("Admin", signin.Rights{Admin: true})
			admin.world = elsewhere
			ann := w.invited("Ann", signin.Rights{Moderates: []string{network}})
			key := ann.want(201, "POST", "/x/keys/", object{"name": "page", "kind": "public", "reads": []string{network}, "tags": []string{"live"}})
			// A ceremony that one process begins is answered to the other, and once in both.
			asked := w.browser().want(200, "POST", "/x/signin/begin", object{})
			shown := ann.assert(asked)
			other := elsewhere.browser()
			other.want(200, "POST", "/x/signin/finish", shown)
			w.browser().want(401, "POST", "/x/signin/finish", shown)

			within := func(what string, gone func() bool) {
				t.Helper()
				begun := time.Now()
				for !gone() {
					if time.Since(begun) > 1100*time.Millisecond {
						t.Fatalf("%s counts on after a second", what)
					}
					time.Sleep(10 * time.Millisecond)
				}
			}
			page := w.browser()
			delivery := "/x/public/live?app=none&key=" + key.text("key")
			page.want(200, "GET", delivery, nil)
			admin.want(204, "DELETE", "/x/keys/"+key.text("id"), nil)
			within("the key", func() bool { return page.send("GET", delivery, nil).status == 401 })

			reading := *ann
			reading.headers = map[string]string{"Accept": "text/event-stream"}
			ended := make(chan answer, 1)
			go func() { ended <- reading.sendContext(t.Context(), "GET", "/x/changes?after=now", nil) }()
			for w.streams.Count() == 0 {
				time.Sleep(time.Millisecond)
			}
			id := ann.id()
			admin.want(200, "PATCH", "/x/people/"+id, object{"moderates": []string{}})
			within("the stream", func() bool { return w.streams.Count() == 0 })
			<-ended
			within("a right", func() bool { return ann.send("GET", "/x/me", nil).text("moderates") == "[]" })
			admin.want(200, "PATCH", "/x/people/"+id, object{"disabled": true})
			within("a person", func() bool { return ann.send("GET", "/x/me", nil).status == 401 })
		})
	}
}
