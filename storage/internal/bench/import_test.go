//go:build proof

package bench

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/reviews"
)

// BenchmarkImportBesidePatches imports 20,000 reviews while 32 clients patch an app each, and tells how long their
// patches take alone and meanwhile.
func BenchmarkImportBesidePatches(b *testing.B) {
	const clients, collections, each = 32, 200, 100
	lite, post, _ := both(b)
	for _, e := range []struct {
		name    string
		apps    *appsvc.Service
		reviews *reviews.Service
	}{{"SQLite", appsvc.New(lite, nil), reviews.New(lite, nil)},
		{"PostgreSQL", appsvc.New(post, nil), reviews.New(post, nil)}} {
		ids, versions := fill(b, e.apps, clients, 5<<10), make([]int, clients)
		b.Run(e.name, func(b *testing.B) {
			// patches patches until end is closed, and returns how long the slowest of a hundred patches took.
			patches := func(end <-chan struct{}) time.Duration {
				times := make([][]time.Duration, clients)
				var all sync.WaitGroup
				for i := range clients {
					all.Go(func() {
						for {
							select {
							case <-end:
								return
							default:
							}
							at := time.Now()
							if _, err := e.apps.As(me).Patch(ctx, ids[i],
								bytes.NewReader(patch(versions[i]))); err != nil {
								b.Error(err)
								return
							}
							versions[i]++
							times[i] = append(times[i], time.Since(at))
						}
					})
				}
				all.Wait()
				sorted := slices.Sorted(slices.Values(slices.Concat(times...)))
				return sorted[len(sorted)*99/100]
			}
			for b.Loop() {
				spell := make(chan struct{})
				time.AfterFunc(3*time.Second, func() { close(spell) })
				alone := patches(spell)

				var file strings.Builder
				for range collections {
					fmt.Fprintf(&file,
						`{"source":"https://old.example.test","title":"T","created":"2020-01-02T03:04:05Z",`+
							`"id":"%s","dimensions":["default"],"reviews":[`, rand.Text())
					for i := range each {
						fmt.Fprintf(&file,
							`%s{"id":"r%d","imported_display_name":"N","title":"round","body_html":"<p>%s</p>",`+
								`"created":"2020-01-02T03:04:05Z","ratings":[50]}`,
							strings.Repeat(",", min(i, 1)), i, strings.Repeat("text ", 60))
					}
					file.WriteString("]}\n")
				}
				imported := make(chan struct{})
				var took time.Duration
				go func() {
					defer close(imported)
					at := time.Now()
					report, err := e.reviews.As(vitrine.Caller{Operator: true}).Import(ctx,
						reviews.ImportRequest{Network: "example.test", File: strings.NewReader(file.String())})
					if took = time.Since(at); err != nil || report.ReviewsRejected > 0 {
						b.Errorf("%v, %d rejected", err, report.ReviewsRejected)
					}
				}()
				beside := patches(imported)
				b.ReportMetric(took.Seconds(), "s/import")
				b.ReportMetric(float64(alone.Milliseconds()), "ms-p99-alone")
				b.ReportMetric(float64(beside.Milliseconds()), "ms-p99-beside")
			}
		})
	}
}
