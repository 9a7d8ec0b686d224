//go:build proof

package bench

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/reviews"
)

var importer = vitrine.Caller{Operator: true}

// reviewsFile returns size bytes of reviews, about a KB each, ten to a collection.
func reviewsFile(size int) []byte {
	var out bytes.Buffer
	body := strings.Repeat(`It does what it should, and it does it &quot;well&quot;. `, 8)
	for i := 0; out.Len() < size; i++ {
		fmt.Fprintf(&out, `{"source":"https://shop.example.test","title":"Product %d","created":"2012-03-04T05:06:07Z","id":%q,"dimensions":["quality","price"],"reviews":[`,
			i, base64.StdEncoding.EncodeToString(fmt.Append(nil, "article-", i)))
		for n := range 10 {
			if n > 0 {
				out.WriteByte(',')
			}
			fmt.Fprintf(&out, `{"id":"review-%d-%d","imported_display_name":"Visitor Nr %d","title":"Quite good","body_html":"<p>%s</p>",`+
				`"created":"2013-04-05T06:07:08.123Z","ratings":[%d,%d],"imported_email":"visitor%d@example.test","subparts":{"pro":"cheap","contra":"small"}}`,
				i, n, n, body, 1+n*9, 100-n, n)
		}
		out.WriteString("]}\n")
	}
	return out.Bytes()
}

// BenchmarkImport imports files of 8 MB into empty networks, one after another and two at once.
func BenchmarkImport(b *testing.B) {
	lite, post, _ := both(b)
	file := reviewsFile(8 << 20)
	networks := 0
	for name, store := range map[string]reviews.Store{"SQLite": reviews.NewRecords(lite), "PostgreSQL": reviews.NewRecords(post)} {
		svc := reviews.NewWith(store, nil)
		for _, atOnce := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d", name, atOnce), func(b *testing.B) {
				b.SetBytes(int64(atOnce * len(file)))
				for b.Loop() {
					var group sync.WaitGroup
					for range atOnce {
						networks++
						in := reviews.ImportRequest{Network: fmt.Sprintf("n%d.test", networks), File: bytes.NewReader(file)}
						group.Go(func() {
							if r, err := svc.Import(ctx, importer, in); err != nil || r.Created == 0 {
								b.Error(r.Created, err)
							}
						})
					}
					group.Wait()
				}
			})
		}
	}
}

// BenchmarkPatchBesideImport patches apps in 32 goroutines, alone and while reviews are imported.
func BenchmarkPatchBesideImport(b *testing.B) {
	_, post, _ := both(b)
	apps, svc := appsvc.New(post, nil), reviews.New(post, nil)
	ids := fill(b, apps, 32, 5<<10)
	versions := make([]int, len(ids))
	file := reviewsFile(8 << 20)
	var imported atomic.Int64
	for _, beside := range []bool{false, true} {
		b.Run(fmt.Sprintf("PostgreSQL/import %t", beside), func(b *testing.B) {
			stop, done := make(chan bool), make(chan error, 1)
			go func() {
				var err error
				for n := 0; beside && err == nil; n++ {
					select {
					case <-stop:
						done <- nil
						return
					default:
					}
					in := reviews.ImportRequest{Network: fmt.Sprintf("n%d-%d.test", b.N, n), File: bytes.NewReader(file)}
					_, err = svc.Import(ctx, importer, in)
					imported.Add(int64(len(file)))
				}
				done <- err
			}()
			took := make([][]time.Duration, len(ids))
			before, begun := imported.Load(), time.Now()
			spread(b, len(ids), func(i, k int) error {
				begun := time.Now()
				_, err := apps.Patch(ctx, me, ids[i], patch(versions[i]))
				versions[i]++
				took[i] = append(took[i], time.Since(begun))
				return err
			})
			megabytes := float64(imported.Load()-before) / (1 << 20) / time.Since(begun).Seconds()
			close(stop)
			if err := <-done; err != nil {
				b.Fatal(err)
			}
			all := slices.Sorted(slices.Values(slices.Concat(took...)))
			b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(megabytes, "imported-MB/s")
		})
	}
}
