//go:build proof

package webhook

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/client"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

const (
	signingKey = "a key for this test, nothing more"
	network    = "urn:vitrine:example.test"
	kills      = 2
)

// receiver keeps what it accepts. One request in thirty fails, half of them after the receiver has kept it.
type receiver struct {
	mu       sync.Mutex
	requests int
	got      []received
}

type received struct{ id, app string }

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	var in struct{ Data struct{ App string } }
	if json.Unmarshal(body, &in) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	if r.requests%60 != 0 {
		r.got = append(r.got, received{request.Header.Get("webhook-id"), in.Data.App})
	}
	if r.requests%30 == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.got...)
}

// Two processes share a store, in which apps are created all the time. The one that delivers is killed, and another
// started, again and again. Every change arrives, in the order of the feed; a change that arrives twice has the same
// id, and no other change comes between.
func TestKilledProcessesLoseNoDelivery(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than a minute")
	}
	binary, err := program.Build{Module: "../../..", Package: "./examples/vitrine"}.Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, db := range map[string]string{"SQLite": filepath.Join(t.TempDir(), "v.db"),
		"PostgreSQL": cluster.Database(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killDeliverers(t, binary, db)
		})
	}
}

func killDeliverers(t *testing.T, binary, db string) {
	to := new(receiver)
	endpoint := httptest.NewServer(to)
	defer endpoint.Close()
	file := filepath.Join(t.TempDir(), "hooks.json")
	hooks := fmt.Sprintf(`[{"name":"all","url":%q,"secret":%q,"types":["app.created"]}]`, endpoint.URL, secretOf(32, 1))
	if err := os.WriteFile(file, []byte(hooks), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *program.Server {
		s, err := program.StartServer([]string{"VITRINE_KEY=" + signingKey}, binary, "serve", "-addr", "127.0.0.1:0",
			"-db", db, "-webhooks", file, "-webhooks-allow", "127.0.0.0/8")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Kill)
		return s
	}
	tokens, err := httpapi.NewTokens([]byte(signingKey), nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := tokens.Sign(
		httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}}},
		time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	apps := func(s *program.Server) *client.Apps {
		c, err := client.New(client.Config{URL: s.URL, Token: client.Static(token)})
		if err != nil {
			t.Fatal(err)
		}
		return c.Apps
	}
	deliverer := start()
	waitFor(t, "a process that delivers", deliverer, func() bool {
		return strings.Contains(deliverer.Log(), "this process delivers")
	})
	var writers sync.WaitGroup
	var stop atomic.Bool
	for range kills {
		other := start()
		writers.Go(func() { // through the process that stays, and until it is killed in its turn
			to := apps(other)
			for !stop.Load() {
				if _, err := to.CreateApp(t.Context(),
					appsvc.CreateAppRequest{Title: "An app", Groups: []string{network}}); err != nil {
					return
				}
				time.Sleep(200 * time.Millisecond) // a failure takes the receiver 5 seconds
			}
		})
		before := len(to.all())
		waitFor(t, "deliveries", deliverer, func() bool { return len(to.all()) > before+3 })
		deliverer.Kill()
		before = len(to.all())
		waitFor(t, "deliveries of another process", other, func() bool {
			return strings.Contains(other.Log(), "this process delivers") && len(to.all()) > before+3
		})
		deliverer = other
	}
	stop.Store(true)
	writers.Wait()
	var feed []string
	for after := ""; ; {
		page, err := apps(deliverer).Changes(t.Context(),
			appsvc.ChangesRequest{After: after, Types: []appsvc.ChangeType{appsvc.AppCreated}})
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range page.Changes {
			feed = append(feed, change.AppID)
		}
		if after = page.Next; !page.More {
			break
		}
	}
	var got []received
	waitFor(t, fmt.Sprint("all of ", len(feed), " changes"), deliverer, func() bool {
		got = to.all()
		return len(got) > 0 && got[len(got)-1].app == feed[len(feed)-1]
	})
	repeated := 0
	for i, next := 0, 0; i < len(got); i++ {
		switch {
		case i > 0 && got[i] == got[i-1]:
			repeated++
		case next < len(feed) && got[i].app == feed[next] && (i == 0 || got[i].id != got[i-1].id):
			next++
		default:
			t.Fatalf("delivery %d is %+v after %+v, want the app %s", i, got[i], got[max(i-1, 0)], feed[next])
		}
	}
	if len(got)-repeated != len(feed) {
		t.Errorf("%d changes came of %d", len(got)-repeated, len(feed))
	}
	t.Logf("%d changes, %d deliveries, %d of them repeated, %d kills", len(feed), len(got), repeated, kills)
}

func waitFor(t *testing.T, what string, s *program.Server, reached func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Minute); !reached(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not reached; the log of the process: %s", what, s.Log())
		}
	}
}
