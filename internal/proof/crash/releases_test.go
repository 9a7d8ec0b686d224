//go:build proof

package crash

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// Two processes serve a store, and each is killed again and again around the time of a release, or of its end. Each
// release runs once and ends once, and as a whole.
func TestScheduledReleasesOutliveKills(t *testing.T) {
	binary := build(t)
	for _, store := range []struct {
		name string
		open func(t *testing.T) string
	}{
		{"SQLite", func(t *testing.T) string { return filepath.Join(t.TempDir(), "one.db") }},
		{"PostgreSQL", func(t *testing.T) string { return cluster.Schema(t) }},
	} {
		t.Run(store.name, func(t *testing.T) {
			db, keyFile := store.open(t), filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(keyFile, []byte(signingKey), 0o600); err != nil {
				t.Fatal(err)
			}
			f := newFleet(t, binary, db)
			for _, s := range f.servers[2:] {
				s.Kill()
			}
			c, err := f.client(urn+":user=editor", true)
			if err != nil {
				t.Fatal(err)
			}
			send := func(process int, method, path string, body any, want int, out any) {
				t.Helper()
				key := ""
				if method == "POST" && (strings.HasSuffix(path, "/apps/") || strings.HasSuffix(path, "/releases/")) {
					key = fmt.Sprint(rand.Uint64())
				}
				text, _, err := c.send(process, Request{Method: method, Path: path, Key: key, Body: body, Want: want},
					nil)
				if err == nil && out != nil {
					err = json.Unmarshal(text, out)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			var apps []string
			for range 5 {
				var app struct{ ID string }
				send(0, "POST", "/apps/", map[string]any{"title": "x", "groups": []string{urn}}, 201, &app)
				apps = append(apps, app.ID)
			}
			rounds := 10
			if testing.Short() {
				rounds = 4
			}
			for n := range rounds {
				victim := n % 2
				var moves []map[string]any
				for _, app := range apps {
					moves = append(moves, map[string]any{"app": app, "tag": fmt.Sprint("t", n), "to": "0"})
				}
				var release struct{ ID, State string }
				body := map[string]any{"moves": moves, "at": time.Now().Add(600 * time.Millisecond).UnixMilli()}
				want, after := "done", 600*time.Millisecond
				if n%2 == 0 {
					body["until"] = time.Now().Add(2600 * time.Millisecond).UnixMilli()
					want, after = "cancelled", 2600*time.Millisecond
				}
				send(1-victim, "POST", "/x/releases/", body, 201, &release)
				time.Sleep(after + time.Duration(rand.IntN(700))*time.Millisecond)
				f.servers[victim].Kill()
				if n%3 == 2 { // none is up for a while
					f.servers[1-victim].Kill()
				}
				for _, i := range []int{victim, 1 - victim} {
					if i != victim && n%3 != 2 {
						continue
					}
					s, err := program.StartServer(nil, binary, "serve", "-addr", "127.0.0.1:0", "-db", db, "-key-file",
						keyFile)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(s.Kill)
					f.servers[i] = s
				}
				for until := time.Now().Add(5 * time.Second); ; time.Sleep(50 * time.Millisecond) {
					if send(victim, "GET", "/x/releases/"+release.ID, nil, 200, &release); release.State == want {
						break
					} else if time.Now().After(until) {
						t.Fatalf("round %d: the release is %s", n, release.State)
					}
				}
				for _, app := range apps {
					var history struct {
						Moves []struct {
							Release  string
							Rollback bool
						}
					}
					send(1-victim, "GET", fmt.Sprintf("/apps/%s/tags/t%d/history/", app, n), nil, 200, &history)
					if want == "done" && len(history.Moves) != 1 || history.Moves[0].Release != release.ID ||
						want != "done" && (len(history.Moves) != 2 || !history.Moves[0].Rollback) {
						t.Fatalf("round %d: moves %+v of the release %s", n, history.Moves, release.ID)
					}
				}
			}
		})
	}
}
