//go:build proof

package bench

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// BenchmarkHistory reads the newest and random pages of the history of an app of 50 KB that was saved 300 times, and
// compares random pairs of its versions. It reports the bytes of a page as JSON.
func BenchmarkHistory(b *testing.B) {
	for _, e := range append(engines(b), engine{name: "memory", store: appsvc.NewRecords(memory.New())}) {
		s := appsvc.NewWith(e.store, nil)
		id := fill(b, s, 1, 50<<10)[0]
		const versions = 300
		for v := range versions {
			if _, err := s.Patch(ctx, me, id, save(v)); err != nil {
				b.Fatal(err)
			}
		}
		pages := func(below func() int) func(b *testing.B) {
			return func(b *testing.B) {
				var page vitrine.Page[appsvc.HistoryEntry]
				var err error
				for b.Loop() {
					page, err = s.ListHistory(ctx, me, appsvc.ListHistoryRequest{AppID: id, Before: vitrine.NewVersion(below())})
					if err != nil || len(page.Items) != 50 {
						b.Fatal(len(page.Items), err)
					}
				}
				text, err := json.Marshal(page.Items)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(text)), "B/page")
			}
		}
		b.Run(e.name+"/newest page", pages(func() int { return versions + 1 }))
		b.Run(e.name+"/random page", pages(func() int { return 51 + rand.IntN(versions-50) }))
		diff := func(apart func() (from, to int)) func(b *testing.B) {
			return func(b *testing.B) {
				for b.Loop() {
					from, to := apart()
					if _, err := s.Diff(ctx, me, appsvc.DiffRequest{AppID: id, From: vitrine.NewVersion(from), To: vitrine.NewVersion(to)}); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
		b.Run(e.name+"/diff of neighbours", diff(func() (int, int) { n := rand.IntN(versions); return n, n + 1 }))
		b.Run(e.name+"/diff of any two", diff(func() (int, int) { return rand.IntN(versions), rand.IntN(versions) }))
	}
}

// save changes a field of one element, now and then moves an element, and now and then inserts one.
func save(v int) []byte {
	op := fmt.Sprintf(`{"op":"replace","path":"/apps/0/elements/%d/config/title","value":"%016x"}`, rand.IntN(200), rand.Uint64())
	switch v % 20 {
	case 7:
		op = fmt.Sprintf(`{"op":"move","from":"/apps/0/elements/%d","path":"/apps/0/elements/%d"}`, rand.IntN(100), 100+rand.IntN(100))
	case 13:
		op = fmt.Sprintf(`{"op":"add","path":"/apps/0/elements/%d","value":{"component":{"name":"card","version":"1.0.0"},"config":{"title":"%x"}}}`, rand.IntN(200), v)
	}
	return fmt.Appendf(nil, `[{"op":"test","path":"/apps/0/version","value":"%d"},%s]`, v, op)
}
