//go:build proof

package bench

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
	next "github.com/vitrine-go/vitrine/storage/next/sqlite"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// recordLibraries are a library in the tables of SQLite, and one in its keys and values.
func recordLibraries(b *testing.B) []*library {
	tables, err := sqlite.Open(filepath.Join(b.TempDir(), "tables.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	keys, err := next.Open(ctx, filepath.Join(b.TempDir(), "keys.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { tables.Close(); keys.Close() })
	records := newLibrary(b, "keys", assets.NewRecords(keys))
	records.db = keys
	return []*library{newLibrary(b, "tables", tables.Assets()), records}
}

// indexSize returns how many bytes the keys and values of the index have, with 8 for what an engine needs for each.
func indexSize(b *testing.B, l *library) (n float64) {
	space := record.Space("assets", postsLibrary.Network, postsLibrary.ID)
	err := l.db.View(ctx, func(r storage.Reader) error {
		n = 0
		for _, kind := range []string{"t/", "new/"} {
			for e, err := range r.Scan(ctx, storage.Prefix(record.Prefix(space, kind))) {
				if err != nil {
					return err
				}
				n += float64(len(e.Key) + len(e.Value) + 8)
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// processor is how many microseconds of processor time the process has taken.
func processor() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec)*1e6 + float64(u.Utime.Usec+u.Stime.Usec)
}

// BenchmarkRecords compares the two ways to keep assets: adding them, searching, and removing one.
func BenchmarkRecords(b *testing.B) {
	all := recordLibraries(b)
	for _, l := range all {
		b.Run("fill by 200/"+l.name, func(b *testing.B) {
			for l.size < *postCount { // in the first round
				in := l.batch(200)
				before := processor()
				l.add(b, in)
				l.cpu += processor() - before
			}
			b.ReportMetric(l.cpu/float64(l.size), "cpu-µs/asset")
		})
	}
	b.Run("index size/keys", func(b *testing.B) { b.ReportMetric(indexSize(b, all[1])/float64(all[1].size), "B/post") })
	for _, size := range []int{200, 1} {
		for _, l := range all {
			b.Run(fmt.Sprintf("add/%d/%s", size, l.name), func(b *testing.B) {
				cpu, longest := 0.0, 0.0
				for b.Loop() {
					b.StopTimer()
					in := l.batch(size)
					before := processor()
					b.StartTimer()
					l.add(b, in)
					took := processor() - before
					cpu, longest = cpu+took, max(longest, took)
				}
				b.ReportMetric(cpu/float64(b.N*size), "cpu-µs/asset")
				b.ReportMetric(longest, "longest-µs")
			})
		}
	}
	for _, s := range []struct {
		name string
		in   assets.SearchRequest
		half bool
	}{
		{"common word", assets.SearchRequest{Query: "wa"}, false},
		{"rare word", assets.SearchRequest{Query: "wr"}, false},
		{"two words", assets.SearchRequest{Query: "wa wm"}, false},
		{"prefix", assets.SearchRequest{Query: "bad*"}, false},
		{"wide prefix", assets.SearchRequest{Query: "zen*"}, false},
		{"half of the folders", assets.SearchRequest{}, true},
		{"common word, half", assets.SearchRequest{Query: "wa"}, true},
		{"three facets", assets.SearchRequest{Facets: []string{"tags", "generator", "via"}}, false},
		{"three facets of a word", assets.SearchRequest{Query: "wa", Facets: []string{"tags", "generator", "via"}}, false},
	} {
		for _, l := range all {
			by := postsKeeper
			if s.half {
				by = postsHalf
			}
			s.in.Limit = 50
			b.Run(s.name+"/"+l.name, func(b *testing.B) {
				cpu := 0.0
				for b.Loop() {
					b.StopTimer()
					l.add(b, l.batch(1)) // so that no result is remembered
					before := processor()
					b.StartTimer()
					if _, err := l.svc.Search(ctx, by, postsLibrary, s.in); err != nil {
						b.Fatal(err)
					}
					cpu += processor() - before
				}
				b.ReportMetric(cpu/float64(b.N), "cpu-µs")
			})
		}
	}
	for _, l := range all {
		b.Run("remove/"+l.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				page, err := l.svc.Search(ctx, postsKeeper, postsLibrary, assets.SearchRequest{Limit: 1})
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if _, err := l.svc.ChangeAssets(ctx, postsKeeper, postsLibrary, assets.ChangeAssetsRequest{Remove: []string{page.Assets[0].ID}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
