package appsvc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
)

// Versions that were rolled back leave nothing in a cache or in the history, whether bodies are large or small and
// whoever reads.
func TestVersionsReadAsTheyWereWritten(t *testing.T) {
	onStores(t, func(t *testing.T, db storage.Store) {
		ctx, rng := context.Background(), rand.New(rand.NewPCG(5, 6))
		errRefused := &vitrine.Error{Kind: vitrine.ErrForbidden, Reason: "refused by the test"}
		s := appsvc.New(db, &appsvc.Options{Check: func(_ context.Context, _ vitrine.Caller, c appsvc.Change) error {
			if strings.Contains(string(c.New), "refused") {
				return errRefused
			}
			return nil
		}, Limits: appsvc.Limits{Title: 1 << 20}})
		other := appsvc.New(db, nil) // with caches of its own
		app, err := s.As(editor).CreateApp(ctx, appsvc.CreateAppRequest{Title: "0", Groups: []string{site1}})
		if err != nil {
			t.Fatal(err)
		}
		titles := []string{"0"}
		for i := range 150 {
			title := fmt.Sprint(i)
			if rng.IntN(4) == 0 {
				title += strings.Repeat("é", 40_000+rng.IntN(3))
			}
			refused := rng.IntN(3) == 0
			if refused {
				title += " refused"
			}
			_, err := s.As(editor).Patch(ctx, app.ID,
				strings.NewReader(
					fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace",`+
						`"path":"/apps/0/title",`+
						`"value":%q}]`, len(titles)-1, title)))
			if refused != errors.Is(err, errRefused) || !refused && err != nil {
				t.Fatalf("patch %d, refused %t: %v", i, refused, err)
			}
			if !refused {
				titles = append(titles, title)
			}
			for _, who := range []*appsvc.Service{s, other, appsvc.New(db, nil)} {
				for _, n := range []int{len(titles) - 1, rng.IntN(len(titles))} {
					v := vitrine.NewVersion(n)
					if n == len(titles)-1 && rng.IntN(2) == 0 {
						v = vitrine.Latest
					}
					got, err := who.As(editor).Version(ctx, app.ID, v)
					if err != nil {
						t.Fatal(err)
					}
					content, err := got.Body.Content()
					if err != nil || got.Version != vitrine.NewVersion(n) || content.Title != titles[n] {
						t.Fatalf("version %d after patch %d is version %s with %d bytes, %v, want %d bytes", n, i,
							got.Version, len(content.Title), err, len(titles[n]))
					}
				}
			}
		}
	})
}

// A name has up to 128 characters, which may be more bytes than a key keeps of it. Lists are by name nevertheless.
func TestComponentsWithLongNamesAreInTheirOrder(t *testing.T) {
	onStores(t, func(t *testing.T, db storage.Store) {
		ctx, s := context.Background(), appsvc.New(db, &appsvc.Options{Limits: appsvc.Limits{PageBytes: 1500}})
		long := strings.Repeat("\U0001f600", 127)
		names := []string{"a", long + "a", long + "b", long + "é", long + "\U0001f601", "\U0001f601"}
		for _, i := range []int{3, 0, 5, 2, 1, 4} {
			for _, version := range []string{"2.0.0", "1.0.0"} {
				manifest := fmt.Appendf(nil, `{"name":%q,"version":%q,"main":"/m.js","configSchema":{}}`, names[i],
					version)
				if _, err := s.As(editor).CreateComponent(ctx,
					appsvc.CreateComponentRequest{Manifest: bytes.NewReader(manifest)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		var got []string
		for c, err := range s.As(editor).AllComponents(ctx, appsvc.ListComponentsRequest{}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, c.Name)
			if c.Version != "2.0.0" {
				t.Errorf("the latest version of %q is %s", c.Name, c.Version)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(names) {
			t.Errorf("the components are %q, want %q", got, names)
		}
	})
}
