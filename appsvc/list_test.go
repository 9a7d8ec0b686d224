package appsvc_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
)

// A list holds just what its caller could read one by one: for random apps and callers, all orders
// and with and without a component.
func TestAListIsWhatCanBeReadOneByOne(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	ctx, w := context.Background(), newWorkshop(t)
	groups := []string{network, site1, site2, network + ":site=10", network + "2", network + "2:site=1", "urn:vitrine:other.test", "urn:other:example.test:site=1"}
	some := func(most int) (out []string) {
		for _, at := range random.Perm(len(groups))[:random.IntN(most+1)] {
			out = append(out, groups[at])
		}
		return out
	}
	user := func() string { return fmt.Sprint(network, ":user=", random.IntN(4)) }
	root := admin
	root.Moderates = append(slices.Clone(groups), "urn:vitrine:none.test")
	ids := map[string]string{} // the component of each app
	for range 60 {
		root.URN = user()
		component := []appsvc.ComponentRef{{Name: "any", Version: "1"}, {Name: "text", Version: "2.0.0"}}[random.IntN(2)]
		app, err := w.CreateApp(ctx, root, appsvc.CreateAppRequest{Title: "x", Groups: append(some(2), "urn:vitrine:none.test"),
			Elements: []appsvc.NewElement{{Component: component, Config: []byte(`{}`)}}})
		if err != nil {
			t.Fatal(err)
		}
		ids[app.ID] = component.Name
		if random.IntN(2) == 0 {
			if err := w.patchGroups(root, app.ID, append(some(2), "urn:vitrine:none.test")); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 60 {
		by := appsvc.Caller{URN: user(), Moderates: some(3)}
		for _, component := range []string{"", "any", "text", "absent"} {
			var want []string
			for _, id := range slices.Sorted(maps.Keys(ids)) {
				if _, err := w.App(ctx, by, id); err == nil && (component == "" || component == ids[id]) {
					want = append(want, id)
				}
			}
			for _, sort := range []appsvc.Sort{"", "createdAt", "-createdAt", "updatedAt", "-updatedAt"} {
				apps, _, err := unpage(w.ListApps(ctx, by, appsvc.ListAppsRequest{Sort: sort, UsingComponent: component}))
				var got []string
				for _, app := range apps {
					got = append(got, app.ID)
				}
				slices.Sort(got)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("caller %+v, component %q, sort %q: listed %v, readable %v, error %v", by, component, sort, got, want, err)
				}
			}
		}
	}
}
