//go:build proof

package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/internal/proof/program"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/postgres"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// Two processes give a store its first languages, and are killed again and again while they read all of its versions.
// After each kill every record follows from the others, and in the end the languages of all versions are known.
func TestFirstLanguagesOutliveKills(t *testing.T) {
	binary := build(t)
	for name, store := range map[string]func(t *testing.T) (db string, open func() (storage.Store, error)){
		"SQLite": func(t *testing.T) (string, func() (storage.Store, error)) {
			db := filepath.Join(t.TempDir(), "one.db")
			return db, func() (storage.Store, error) { return sqlite.Open(db, nil) }
		},
		"PostgreSQL": func(t *testing.T) (string, func() (storage.Store, error)) {
			db := cluster.Schema(t)
			return db, func() (storage.Store, error) { return postgres.Open(t.Context(), db, nil) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "SQLite" {
				t.Skip("takes minutes on a busy machine")
			}
			db, open := store(t)
			seedTexts(t, open)
			begin := time.Now()
			plain, err := program.StartServer([]string{signingVariable}, binary, "serve", "-addr", "127.0.0.1:0",
				"-db", db)
			if err != nil {
				t.Fatal(err)
			}
			plain.Kill()
			startup := time.Since(begin)
			interrupted := 0
			for n := range 60 {
				var all sync.WaitGroup
				for range 2 {
					ctx, cancel := context.WithTimeout(t.Context(), startup/4+rand.N(startup)*time.Duration(2+n)/10)
					defer cancel()
					serve := exec.CommandContext(ctx, binary, "serve", "-addr", "127.0.0.1:0", "-db", db,
						"-languages", "en,de,fr")
					serve.Env = []string{signingVariable}
					all.Go(func() { _ = serve.Run() })
				}
				all.Wait()
				opened, err := open()
				if err != nil {
					t.Fatal(err)
				}
				list, err := appsvc.New(opened, nil).Languages(t.Context())
				begun := false
				if err == nil {
					err = opened.View(t.Context(), func(r storage.Reader) error {
						values, err := r.Get(t.Context(), "apps languages")
						begun = err == nil && values[0] != nil
						return err
					})
				}
				if closed := opened.Close(); err != nil || closed != nil {
					t.Fatal(err, closed)
				}
				if begun {
					if out, err := exec.Command(binary, "check", "-db", db).CombinedOutput(); err != nil {
						t.Fatalf("round %d: %v: %s", n, err, out)
					}
				}
				if len(list) > 0 {
					t.Logf("%d kills, %d while versions were read", n, interrupted)
					break
				}
				if begun {
					interrupted++
				}
				if n == 59 {
					t.Fatal("the languages were never set")
				}
			}
			_, err = program.StartServer([]string{signingVariable}, binary, "serve", "-addr", "127.0.0.1:0", "-db", db,
				"-languages", "en,fr")
			if err == nil || !strings.Contains(err.Error(), `"de" (`) {
				t.Errorf("a language in use was left out: %v", err)
			}
		})
	}
}

// signingVariable is the environment of a process that needs no key file.
const signingVariable = "VITRINE_KEY=" + signingKey

// seedTexts fills a store with apps that have texts.
func seedTexts(t *testing.T, open func() (storage.Store, error)) {
	t.Helper()
	db, err := open()
	if err != nil {
		t.Fatal(err)
	}
	ann := appsvc.New(db, nil).As(vitrine.Caller{URN: urn + ":user=ann", Moderates: []string{urn}, Components: true})
	_, err = ann.CreateComponent(t.Context(), appsvc.CreateComponentRequest{
		Manifest: strings.NewReader(`{"name":"c","version":"1","main":"/c.js","configSchema":{}}`)})
	for i := 0; i < 2400 && err == nil; i++ {
		lang := []string{"en", "de"}[i%2]
		_, err = ann.CreateApp(t.Context(), appsvc.CreateAppRequest{Title: fmt.Sprint(i), Groups: []string{urn},
			Elements: []appsvc.NewElement{{Component: appsvc.ComponentRef{Name: "c", Version: "1"},
				Config: []byte(`{"a":{"lang:` + lang + `":"x"}}`)}}})
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
