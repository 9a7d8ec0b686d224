package sqlite

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
)

// benchReviews is a file of n reviews of some 700 bytes, in collections of the given size.
func benchReviews(n, size int) []byte {
	var out bytes.Buffer
	body := strings.Repeat(`It does what it should, and it does it &quot;well&quot;. `, 6)
	for i := 0; i < n; i++ {
		if i%size == 0 {
			fmt.Fprintf(&out, `{"source":"https://shop.example.test","title":"Product %d","created":"2012-03-04T05:06:07Z","id":%q,"dimensions":["quality","price"],"reviews":[`,
				i, base64.StdEncoding.EncodeToString(fmt.Append(nil, "article-", i)))
		}
		fmt.Fprintf(&out, `{"id":"review-%d","imported_display_name":"Visitor Nr %d","title":"Quite good","body_html":"<p>%s<a href=\"https://shop.example.test/?a=%d&amp;b\">here</a></p>","created":"2013-04-05T06:07:08.123Z","ratings":[%d,%d],"imported_email":"visitor%d@example.test"}`,
			i, i, body, i, 1+i%100, 100-i%100, i)
		if i%size == size-1 || i == n-1 {
			out.WriteString("]}\n")
		} else {
			out.WriteByte(',')
		}
	}
	return out.Bytes()
}

// BenchmarkImportReviews measures an import into a new store, and the same again, beside inserts of
// the same rows in transactions of 1,500 without any rule.
func BenchmarkImportReviews(b *testing.B) {
	const n = 30_000
	for _, size := range []int{1, 10, 1000, n} {
		file := benchReviews(n, size)
		b.Run(fmt.Sprintf("%d a collection/import", size), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				db := openBench(b)
				b.StartTimer()
				benchImport(b, db, file, func(r reviews.Report) bool { return r.Created == n && r.Errors == 0 })
				b.StopTimer()
				db.Close()
				b.StartTimer()
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "reviews/s")
		})
		b.Run(fmt.Sprintf("%d a collection/again", size), func(b *testing.B) {
			db := openBench(b)
			defer db.Close()
			benchImport(b, db, file, func(r reviews.Report) bool { return true })
			for b.Loop() {
				benchImport(b, db, file, func(r reviews.Report) bool { return r.Unchanged == n })
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "reviews/s")
		})
		b.Run(fmt.Sprintf("%d a collection/raw", size), func(b *testing.B) {
			data := benchReviews(1, 1)
			data = data[bytes.IndexByte(data, '[')+40 : len(data)-3]
			for b.Loop() {
				b.StopTimer()
				db := openBench(b)
				b.StartTimer()
				benchRaw(b, db, n, size, data)
				b.StopTimer()
				db.Close()
				b.StartTimer()
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "reviews/s")
		})
	}
}

func openBench(b *testing.B) *DB {
	db, err := Open(filepath.Join(b.TempDir(), "reviews.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	return db
}

func benchImport(b *testing.B, db *DB, file []byte, good func(reviews.Report) bool) {
	r, err := reviews.New(db.Reviews(), nil).Import(context.Background(), reviews.Caller{Operator: true}, reviews.ImportRequest{Network: reviews.DefaultNetwork, File: bytes.NewReader(file)})
	if err != nil || !good(r) {
		b.Fatal(r, err)
	}
}

// benchRaw inserts n reviews, and a row for each of their collections.
func benchRaw(b *testing.B, db *DB, n, size int, data []byte) {
	const batch = 1500
	for from := 0; from < n; from += batch {
		err := db.update(context.Background(), func(c *conn) error {
			if from == 0 {
				if err := c.script(`CREATE TABLE raw_collection (key INTEGER PRIMARY KEY, source TEXT, id TEXT, data BLOB, UNIQUE (source, id)) STRICT;
					CREATE TABLE raw (key INTEGER PRIMARY KEY, collection INTEGER NOT NULL, id TEXT NOT NULL, data BLOB, UNIQUE (collection, id)) STRICT`); err != nil {
					return err
				}
			}
			for i := from; i < min(n, from+batch); i++ {
				if i%size == 0 {
					if _, err := c.insert("INSERT INTO raw_collection (source, id, data) VALUES ($1, $2, $3)", "https://shop.example.test", fmt.Sprint("article-", i), data[:120]); err != nil {
						return err
					}
				}
				if _, err := c.insert("INSERT INTO raw (collection, id, data) VALUES ($1, $2, $3)", i/size, fmt.Sprint("review-", i), data); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
