//go:build proof

package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
	next "github.com/vitrine-go/vitrine/storage/next/sqlite"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// oneCollection returns a file of size bytes with a single collection of reviews that have so many bytes of text. Their ids and times
// are in no order.
func oneCollection(size, text int) []byte {
	var out bytes.Buffer
	body := strings.Repeat("word ", text/5)
	out.WriteString(`{"source":"shop","title":"One","created":"2012-03-04T05:06:07Z","id":"b25l","dimensions":["default"],"reviews":[`)
	for i := uint32(0); out.Len() < size; i++ {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, `{"id":"%08x","author_id":"a%d","title":"","body_html":"%s","created":"2013-04-05T%02d:%02d:%02dZ","ratings":[%d]}`,
			i*2654435761, i, body, i*7%24, i*11%60, i*13%60, 1+i%100)
	}
	out.WriteString("]}\n")
	return out.Bytes()
}

// BenchmarkImportRecords imports reviews into the tables of SQLite, and into its keys and values: into an empty network, and once
// more what is there.
func BenchmarkImportRecords(b *testing.B) {
	for _, f := range []struct {
		name string
		file []byte
	}{{"ten a collection", reviewsFile(8 << 20)}, {"one collection", oneCollection(8<<20, 500)}, {"short reviews", oneCollection(8<<20, 20)}} {
		for _, kind := range []string{"tables", "keys"} {
			path := filepath.Join(b.TempDir(), "x.db")
			var store reviews.Store
			if kind == "tables" {
				db, err := sqlite.Open(path, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { db.Close() })
				store = db.Reviews()
			} else {
				db, err := next.Open(ctx, path, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { db.Close() })
				store = reviews.NewRecords(db)
			}
			svc, networks := reviews.New(store, nil), 0
			for _, again := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/again %t/%s", f.name, again, kind), func(b *testing.B) {
					b.SetBytes(int64(len(f.file)))
					b.ReportAllocs()
					cpu := processor()
					for b.Loop() {
						if !again {
							networks++
						}
						in := reviews.ImportRequest{Network: fmt.Sprintf("n%d.test", networks), File: bytes.NewReader(f.file)}
						if r, err := svc.Import(ctx, importer, in); err != nil || r.Errors > 0 || (r.Created == 0) != again {
							b.Fatalf("%+v, %v", r, err)
						}
					}
					b.ReportMetric((processor()-cpu)/1000/float64(b.N)/float64(len(f.file))*(1<<20), "cpu-ms/MB")
				})
			}
			if info, err := os.Stat(path); err == nil && networks > 0 {
				b.Logf("%s, %s: %.2f bytes in the file for one that was imported", f.name, kind, float64(info.Size())/float64(networks*len(f.file)))
			}
		}
	}
}
