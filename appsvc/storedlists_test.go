package appsvc_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// stored returns the records of a kind.
func stored(t *testing.T, db storage.Store, kind string) (list []storage.Entry) {
	t.Helper()
	ctx := context.Background()
	err := db.View(ctx, func(r storage.Reader) error {
		list = nil
		for e, err := range r.Scan(ctx, storage.Prefix("apps "+kind)) {
			if err != nil {
				return err
			}
			list = append(list, e)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// put puts records into a store.
func put(t *testing.T, db storage.Store, list ...storage.Entry) {
	t.Helper()
	ctx := context.Background()
	if err := db.Update(ctx, "apps", storage.UpdateOptions{}, func(tx storage.Tx) error {
		return tx.Put(ctx, list...)
	}); err != nil {
		t.Fatal(err)
	}
}

// onStores runs a test on stores whose scans differ: updates read an entry as it was when the loop began, or when it
// reaches the entry.
func onStores(t *testing.T, test func(t *testing.T, db storage.Store)) {
	t.Run("early reads", func(t *testing.T) { test(t, memory.New()) })
	t.Run("late reads", func(t *testing.T) { test(t, proof.LateReads(memory.New())) })
}

// Many apps of one time, a component that few or most apps have, and large bodies. Each list is compared with what a
// plain sort gives.
func TestListsOfManyApps(t *testing.T) { onStores(t, testListsOfManyApps) }

func testListsOfManyApps(t *testing.T, db storage.Store) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(1, 2))
	type listed struct {
		app        appsvc.App
		groups     []string
		components []string
	}
	var all []listed
	var id string
	var now int64
	s := appsvc.New(db, &appsvc.Options{
		Now:    func() time.Time { return time.UnixMilli(now) },
		NewID:  func() string { return id },
		Limits: appsvc.Limits{PageBytes: 64 << 20},
	})
	for _, name := range []string{"few", "most"} {
		id = name
		manifest := fmt.Appendf(nil, `{"name":%q,"version":"1","main":"/a.js","configSchema":{}}`, name)
		by := vitrine.Caller{URN: "urn:v:n:user=designer", Components: true}
		if _, err := s.As(by).CreateComponent(ctx,
			appsvc.CreateComponentRequest{Manifest: bytes.NewReader(manifest)}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 900 {
		a := listed{groups: []string{"urn:v:n:site=" + fmt.Sprint(i%5), "urn:v:m"}, components: []string{"most"}}
		if i%50 == 0 {
			a.components = []string{"few", "most"}
		}
		in := appsvc.CreateAppRequest{Title: "t", Groups: a.groups}
		for _, name := range a.components {
			ref, config := appsvc.ComponentRef{Name: name, Version: "1"}, []byte(`{}`)
			if fmt.Sprint(i)[0] == '7' {
				config = fmt.Appendf(nil, `{"long":%q}`, strings.Repeat("x", 70_000))
			}
			in.Elements = append(in.Elements, appsvc.NewElement{Component: ref, Config: config})
		}
		by := vitrine.Caller{URN: fmt.Sprint("urn:v:n:user=", i%3), Moderates: []string{"urn:v:n", "urn:v:m"}}
		var err error
		id, now = fmt.Sprint(i), int64(i/300)
		if a.app, err = s.As(by).CreateApp(ctx, in); err == nil && i%4 == 0 {
			now, a.groups = 10+int64(i%8), a.groups[:1+i%2]
			a.app, err = s.As(by).Edit(ctx, id, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
				p.SetTitle("u").SetGroups(a.groups...)
				return nil
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	for range 200 {
		by := vitrine.Caller{URN: []string{"urn:v:n:user=nobody", all[rng.IntN(900)].app.Owner}[rng.IntN(2)],
			Moderates: [][]string{nil, {"urn:v:n"}, {"urn:v:m", "urn:v:n:site=1"},
				{"urn:v:n:site=1", "urn:v:n"}}[rng.IntN(4)],
			Reads: [][]string{nil, {"urn:v:n:site=2"}}[rng.IntN(2)]}
		in := appsvc.ListAppsRequest{UsingComponent: []string{"", "few", "most", "none"}[rng.IntN(4)],
			Limit: []int{1, 50, 200}[rng.IntN(3)],
			Sort: []appsvc.Sort{appsvc.CreatedAscending, appsvc.CreatedDescending, appsvc.UpdatedAscending,
				appsvc.UpdatedDescending}[rng.IntN(4)]}
		wanted := slices.DeleteFunc(slices.Clone(all), func(a listed) bool {
			sees := a.app.Owner == by.URN
			for _, g := range slices.Concat(by.Moderates, by.Reads) {
				sees = sees ||
					slices.ContainsFunc(a.groups, func(have string) bool {
						return have == g || strings.HasPrefix(have, g+":")
					})
			}
			return !sees || in.UsingComponent != "" && !slices.Contains(a.components, in.UsingComponent)
		})
		slices.SortFunc(wanted, func(a, b listed) int {
			x, y := a.app.CreatedAt, b.app.CreatedAt
			if strings.HasSuffix(string(in.Sort), "updatedAt") {
				x, y = a.app.UpdatedAt, b.app.UpdatedAt
			}
			if in.Sort[0] == '-' {
				x, y = y, x
			}
			return cmp.Or(cmp.Compare(x, y), strings.Compare(a.app.ID, b.app.ID))
		})
		for page := range 3 {
			got, err := s.As(by).ListApps(ctx, in)
			if err != nil {
				t.Fatal(err)
			}
			n := min(in.Limit, len(wanted))
			if len(got.Items) != n || (got.Next != "") != (n < len(wanted)) {
				t.Fatalf("page %d for %+v of %+v: %d apps, next %q, want %d of %d", page, by, in, len(got.Items),
					got.Next, n, len(wanted))
			}
			for i, app := range got.Items {
				want := wanted[i].app
				if string(app.AppendJSON(nil)) != string(want.AppendJSON(nil)) {
					t.Fatalf("page %d for %+v of %+v: app %d is %+v, want %+v", page, by, in, i, app, want)
				}
			}
			if wanted, in.After = wanted[n:], got.Next; in.After == "" {
				break
			}
		}
	}
}
