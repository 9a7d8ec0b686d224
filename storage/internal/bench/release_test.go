//go:build proof

package bench

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
)

// BenchmarkRelease runs releases of 200 apps, forth and back, and measures the longest patch of another app meanwhile.
func BenchmarkRelease(b *testing.B) {
	for _, e := range engines(b) {
		s := appsvc.New(e.store, nil)
		ids := fill(b, s, 201, 5<<10)
		one := make([]appsvc.ReleaseMove, 200)
		for i := range one {
			if _, err := s.As(me).Patch(ctx, ids[i], bytes.NewReader(patch(0))); err != nil {
				b.Fatal(err)
			}
			one[i] = appsvc.ReleaseMove{AppID: ids[i], Tag: "production"}
		}
		b.Run(e.name, func(b *testing.B) {
			var longest time.Duration
			version := 0
			if app, err := s.As(me).App(ctx, ids[200]); err == nil {
				fmt.Sscan(app.Version.String(), &version)
			}
			for i := range b.N {
				b.StopTimer()
				for k := range one {
					one[k].To = appsvc.PointsTo(vitrine.NewVersion(i % 2))
				}
				release, err := s.As(me).CreateRelease(ctx, appsvc.CreateReleaseRequest{Name: "all", Moves: one})
				if err != nil {
					b.Fatal(err)
				}
				stop, stopped := make(chan bool), make(chan error)
				go func() {
					for {
						select {
						case <-stop:
							stopped <- nil
							return
						default:
						}
						begin := time.Now()
						if _, err := s.As(me).Patch(ctx, ids[200], bytes.NewReader(patch(version))); err != nil {
							stopped <- err
							return
						}
						version++
						longest = max(longest, time.Since(begin))
					}
				}()
				b.StartTimer()
				_, err = s.As(me).RunRelease(ctx, release.ID, release.Version)
				b.StopTimer()
				close(stop)
				if err := <-stopped; err != nil {
					b.Fatal(err)
				}
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(longest.Milliseconds()), "ms/patch-at-most")
		})
	}
}

// BenchmarkUpgrade brings a version of a component to 10,000 apps, after a dry run.
func BenchmarkUpgrade(b *testing.B) {
	const apps = 10_000
	lite, post, _ := both(b)
	for name, store := range map[string]storage.Store{"SQLite": lite, "PostgreSQL": post} {
		s := appsvc.New(store, nil)
		fill(b, s, apps, 2<<10)
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				to := fmt.Sprintf("1.%d.0", b.N*1000+i+1)
				manifest := fmt.Appendf(nil,
					`{"name":"card","version":%q,"main":"https://example.test/card.js",`+
						`"configSchema":{"type":"object"}}`, to)
				if _, err := s.As(me).CreateComponent(ctx,
					appsvc.CreateComponentRequest{Manifest: bytes.NewReader(manifest)}); err != nil {
					b.Fatal(err)
				}
				for _, dry := range []bool{true, false} {
					begin, n := time.Now(), 0
					for in := (appsvc.UpgradeRequest{Name: "card", To: to, DryRun: dry}); ; {
						page, err := s.As(me).Upgrade(ctx, in)
						if err != nil {
							b.Fatal(err)
						}
						n += len(page.Items)
						if in.After = page.Next; page.Next == "" {
							break
						}
					}
					if n != apps {
						b.Fatalf("%d apps are upgraded", n)
					}
					b.ReportMetric(apps/time.Since(begin).Seconds(),
						map[bool]string{true: "dry-apps/s", false: "apps/s"}[dry])
				}
			}
		})
	}
}
