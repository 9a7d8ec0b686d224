//go:build proof

package linear

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
)

// Several processes write texts, move tags, delete apps and change the languages at the same time. At every pause, all
// languages of latest versions are languages of the store, and the records of those of latest and tagged versions are
// those that follow from the versions.
func TestLanguagesWhileTheyAreWritten(t *testing.T) {
	rules := [][]string{{"en", "de"}, {"en", "fr"}, {"en", "de", "fr"}, {"fr", "en"}}
	texts := []string{`"x"`, `{"lang:de":"x"}`, `{"lang:fr":"x","lang:en":"y"}`, `{"lang:en":"x"}`}
	onEachStore(t, func(t *testing.T, stores []storage.Store) {
		ctx := t.Context()
		ann := vitrine.Caller{URN: releaseNetwork + ":user=ann", Moderates: []string{releaseNetwork}, Components: true}
		var services []*appsvc.Service
		for _, db := range stores {
			services = append(services, appsvc.New(db, nil))
		}
		_, err := services[0].As(ann).CreateComponent(ctx, appsvc.CreateComponentRequest{
			Manifest: strings.NewReader(`{"name":"c","version":"1","main":"/c.js","configSchema":{}}`)})
		if err == nil {
			err = services[0].SetLanguages(ctx, rules[0])
		}
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for i := range 4 {
			app, err := services[0].As(ann).CreateApp(ctx, appsvc.CreateAppRequest{Title: fmt.Sprint(i),
				Groups: []string{releaseNetwork}, Elements: []appsvc.NewElement{
					{Component: appsvc.ComponentRef{Name: "c", Version: "1"}, Config: []byte(`{"a":"x"}`)}}})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, app.ID)
		}
		set, refused := 0, 0
		step := func(r *rand.Rand) error {
			svc, id := services[r.IntN(len(services))], ids[r.IntN(len(ids))]
			by := svc.As(ann)
			switch r.IntN(6) {
			case 0:
				return svc.SetLanguages(ctx, rules[r.IntN(len(rules))])
			case 1:
				_, err := by.PutTag(ctx, appsvc.PutTagRequest{AppID: id, Name: "live", Version: vitrine.Latest})
				return err
			case 2:
				if err := by.DeleteApp(ctx, id); err != nil {
					return err
				}
				_, err := by.UndeleteApp(ctx, id)
				return err
			case 3:
				return by.DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: id, Name: "live"})
			}
			_, err := by.Edit(ctx, id, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
				p.SetConfig(0, "/a", json.RawMessage(texts[r.IntN(len(texts))]))
				return nil
			})
			return err
		}
		rounds := 40
		if testing.Short() {
			rounds = 10
		}
		for round := range rounds {
			var all sync.WaitGroup
			var mu sync.Mutex
			for w := range 4 {
				r := rand.New(rand.NewPCG(uint64(round), uint64(w)))
				all.Go(func() {
					for range 12 {
						err := step(r)
						e, ok := errors.AsType[*vitrine.Error](err)
						if err != nil && !ok {
							t.Error(err)
						}
						mu.Lock()
						if err == nil {
							set++
						} else if ok && e.Code == vitrine.CodeWrongState {
							refused++
						}
						mu.Unlock()
					}
				})
			}
			all.Wait()
			languages, err := services[0].Languages(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				if app, err := services[1%len(services)].As(ann).App(ctx, id); err != nil {
					t.Fatal(err)
				} else {
					for _, lang := range []string{"de", "fr", "en"} {
						if strings.Contains(string(app.Body), "lang:"+lang) && !slices.Contains(languages, lang) {
							t.Fatalf("round %d: the languages are %q, and the app has %s", round, languages, app.Body)
						}
					}
				}
			}
			for f, err := range appsvc.Maintenance(appsvc.Limits{}).Audit(ctx, stores[0]) {
				t.Error(f, err)
			}
			if t.Failed() {
				t.Fatalf("in round %d", round)
			}
		}
		if set == 0 || refused == 0 {
			t.Errorf("%d steps were carried out, and %d refused", set, refused)
		}
	})
}
