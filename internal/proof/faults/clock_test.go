//go:build proof

package faults

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// shownApp and shownAsset are what this test looks at.
type shownApp struct {
	ID                   string
	Version              string
	CreatedAt, UpdatedAt int64
}

type shownAsset struct {
	ID        string
	CreatedAt string
	Content   struct{ ID, Published string }
}

// A clock that jumps back, also while the service is down: updatedAt of an app never goes back, nor
// createdAt of assets along their order; lists are sorted by what they show, and walking through
// their pages meets everything once.
func TestAClockThatGoesBack(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	path, n := newFile(t)
	var w *world
	var added []string
	steps := 120 + *rounds
	for step := range steps {
		if step%30 == 0 {
			if w != nil {
				if err := w.db.Close(); err != nil {
					t.Fatal(err)
				}
			}
			var err error
			if w, err = openWorld(path, nil, nil); err != nil {
				t.Fatal(err)
			}
			w.ids.Store(int64(10_000 + step))
		}
		w.clock.Store(1_700_000_000_000 + r.Int64N(7_200_000) - 3_600_000)
		switch step % 4 {
		case 0:
			w.must(201, post("/apps/", newApp(fmt.Sprint("app ", step))))
		case 1:
			w.must(200, patch(n.app, 4+step/4+step/4, fmt.Sprint("title ", step)))
		case 2:
			w.must(201, post("/apps/versions/restore", `{"appId":"`+n.app+`","appVersion":"1"}`))
		case 3:
			id := fmt.Sprint("c", step)
			added = append(added, id)
			w.must(200, post(library+"/assets", `{"add":[`+newAsset(id, "word")+"]}"))
		}
	}
	defer w.db.Close()
	t.Logf("seed %d: %d steps", seed, steps)
	checkVersions(t, w, n)
	for _, sort := range []string{"createdAt", "-createdAt", "updatedAt", "-updatedAt"} {
		checkApps(t, w, sort, 2+(steps+3)/4)
	}
	checkAssets(t, w, "desc", "until", "prev", added)
	checkAssets(t, w, "asc", "since", "next", added)
}

// checkVersions walks through the versions of an app, whose numbers and times must fall together.
func checkVersions(t *testing.T, w *world, n names) {
	t.Helper()
	path, before := "/apps/"+n.app+"/versions/?limit=7", shownApp{UpdatedAt: 1 << 60}
	seen := 0
	for path != "" {
		a := w.send(request{method: "GET", path: path})
		for _, app := range decode[struct{ Apps []shownApp }](t, a).Apps {
			if app.UpdatedAt > before.UpdatedAt || seen > 0 && number(app)+1 != number(before) {
				t.Errorf("version %s of %d follows version %s of %d", app.Version, app.UpdatedAt, before.Version, before.UpdatedAt)
			}
			before = app
			seen++
		}
		path = next(a)
	}
	if before.Version != "0" || seen < 10 {
		t.Errorf("%d versions are met, down to %s", seen, before.Version)
	}
}

func number(a shownApp) (v int) {
	fmt.Sscan(a.Version, &v)
	return v
}

// checkApps walks through the apps in an order.
func checkApps(t *testing.T, w *world, sort string, want int) {
	t.Helper()
	var all []shownApp
	for path := "/apps/?limit=4&sort=" + sort; path != ""; {
		a := w.send(request{method: "GET", path: path})
		all = append(all, decode[struct{ Apps []shownApp }](t, a).Apps...)
		path = next(a)
	}
	ids := map[string]bool{}
	for _, app := range all {
		ids[app.ID] = true
	}
	if len(all) != want || len(ids) != want {
		t.Errorf("sort=%s meets %d apps, %d different ones, want %d", sort, len(all), len(ids), want)
	}
	key := func(a shownApp) int64 {
		if strings.HasSuffix(sort, "createdAt") {
			return a.CreatedAt
		}
		return a.UpdatedAt
	}
	for i := range all[1:] {
		if a, b := key(all[i]), key(all[i+1]); a > b && sort[0] != '-' || a < b && sort[0] == '-' {
			t.Errorf("sort=%s: %d comes before %d", sort, a, b)
		}
	}
}

// checkAssets walks through the assets in an order: that of their adding, one way or the other.
func checkAssets(t *testing.T, w *world, order, parameter, cursor string, want []string) {
	t.Helper()
	var ids, times []string
	for path, more := library+"/assets?query=word&limit=5&order="+order, true; more; {
		a := w.send(request{method: "GET", path: path})
		page := decode[struct {
			Assets []shownAsset
			Paging map[string]any
		}](t, a)
		for _, asset := range page.Assets {
			ids, times = append(ids, asset.Content.ID), append(times, asset.CreatedAt)
			if asset.CreatedAt != asset.Content.Published {
				t.Errorf("an asset created at %s was published at %s", asset.CreatedAt, asset.Content.Published)
			}
		}
		more = page.Paging["has"+strings.ToUpper(cursor[:1])+cursor[1:]] == true
		path = fmt.Sprintf("%s/assets?query=word&limit=5&order=%s&%s=%v", library, order, parameter, page.Paging[cursor])
	}
	if order == "desc" {
		slices.Reverse(ids)
		slices.Reverse(times)
	}
	if !slices.Equal(ids, want) || !slices.IsSorted(times) {
		t.Errorf("%s: the assets %v of %v, want %v, and times that do not fall", order, ids, times, want)
	}
}

func decode[T any](t *testing.T, a answer) (out T) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.status != 200 {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return out
}

// next is where the header Link leads.
func next(a answer) string {
	link, _, found := strings.Cut(strings.TrimPrefix(a.header.Get("Link"), "<"), ">")
	if !found {
		return ""
	}
	return strings.TrimPrefix(link, "http://example.com")
}
