package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// Whatever erases waits for a slot for as long as erasures take, and erases nothing without one.
func TestErasuresHaveSlots(t *testing.T) {
	const network = "urn:vitrine:example.test"
	const library = assetPrefix + "/example.test/assetLibrary/example.test"
	synctest.Test(t, func(t *testing.T) {
		db := memory.New()
		by := vitrine.Caller{URN: network + ":user=ann", Moderates: []string{network}}
		served, err := New(Config{
			Apps: appsvc.New(db, nil), Assets: assets.New(db, nil), Reviews: reviews.New(db, nil),
			Authenticate: func(*http.Request) (Principal, error) { return Principal{Caller: by}, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		h := served.(*handler)
		do := func(method, path, body string, want int) string {
			r := httptest.NewRequest(method, path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%s %s: %d, want %d: %s", method, path, w.Code, want, w.Body)
			}
			return w.Body.String()
		}
		id := func(made string) string {
			_, id, _ := strings.Cut(made, `"id":"`)
			id, _, _ = strings.Cut(id, `"`)
			return id
		}
		app := id(do("POST", "/apps/", `{"title":"x","groups":["`+network+`"]}`, 201))
		do("DELETE", "/apps/"+app, "", 204)
		do("POST", library+"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{"content":"x"}}]}`, 200)
		folder := id(do("POST", library+"/folders", `{"create":[{"label":"x"}]}`, 200))
		for _, erasure := range []struct {
			method, path, body string
			done               int
		}{
			{"POST", "/apps/" + app + "/erase", "", 204},
			{"POST", library + "/folders", fmt.Sprintf(`{"delete":[%q],"purge":[%[1]q]}`, folder), 200},
			{"DELETE", "/x/reviews?network=example.test&everything=true", "", 404}, // there are none
		} {
			all := taken(t, h.erasures, by.URN, "", h.erasures.perCaller)
			begun := time.Now()
			do(erasure.method, erasure.path, erasure.body, 503)
			if took := time.Since(begun); took != erasePatience {
				t.Errorf("%s %s: 503 after %v", erasure.method, erasure.path, took)
			}
			time.AfterFunc(erasePatience/2, all.release)
			do(erasure.method, erasure.path, erasure.body, erasure.done)
			if took := time.Since(begun) - erasePatience; took != erasePatience/2 {
				t.Errorf("%s %s: done after %v", erasure.method, erasure.path, took)
			}
		}
		do("DELETE", "/x/reviews?network=example.test&everything=true&dryRun=true", "", 404)
	})
}
