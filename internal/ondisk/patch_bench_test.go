package ondisk

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
)

// BenchmarkPatchBesidePosts patches an app while four callers add 1,000 assets at a time: posts of 20 words, and texts
// of 100 words, which have about as many terms as a request may have.
//
//	go test ./internal/ondisk -run '^$' -bench PatchBesidePosts -benchtime 100x
func BenchmarkPatchBesidePosts(b *testing.B) {
	for _, words := range []int{20, 100} {
		b.Run(fmt.Sprint(words), func(b *testing.B) { patchBesidePosts(b, words) })
	}
}

func patchBesidePosts(b *testing.B, words int) {
	db, _ := open(b)
	s, apps := assets.New(db, nil), appsvc.New(db, nil)
	app, err := apps.As(moderator).CreateApp(ctx, appsvc.CreateAppRequest{Title: "x", Groups: []string{network}})
	if err != nil {
		b.Fatal(err)
	}
	var stop atomic.Bool
	var posts atomic.Int64
	var all sync.WaitGroup
	for c := range 4 {
		all.Go(func() {
			by := vitrine.Caller{URN: fmt.Sprint(network, ":user=m", c), Moderates: []string{network}}
			rng := rand.New(rand.NewPCG(uint64(c), 1))
			for round := 0; !stop.Load(); round++ {
				var in assets.ChangeAssetsRequest
				for i := range 1000 {
					content := []byte(`{"content":"`)
					for range words {
						content = fmt.Appendf(content, "w%d ", rng.IntN(1<<(4+rng.IntN(13))))
					}
					in.Add = append(in.Add,
						assets.NewAsset{ID: fmt.Sprint(round, " ", i), Generator: assets.Generator{ID: "g"},
							Content: append(content, `"}`...)})
				}
				if _, err := s.As(by).ChangeAssets(ctx, assets.Library{Network: lib.Network, ID: fmt.Sprint("l", c)},
					in); err != nil {
					b.Error(err)
					return
				}
				posts.Add(1)
			}
		})
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		begun := time.Now()
		if _, err := apps.As(moderator).Edit(ctx, app.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
			p.SetTitle(fmt.Sprint(i))
			return nil
		}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begun))
		time.Sleep(50 * time.Millisecond)
	}
	stop.Store(true)
	all.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "median-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Milliseconds()), "99th-ms")
	b.ReportMetric(float64(posts.Load()), "posts")
}
