//go:build proof

package bench

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/internal/posts"
)

// More of them: go test ./storage/internal/bench -run '^$' -bench Assets -benchtime 50x -timeout 0 -posts 1000000
var postCount = flag.Int("posts", 100_000, "how many posts the benchmarks of assets have")

var (
	postsLibrary = assets.Library{Network: "example.test", ID: "example.test"}
	postsHalf    = vitrine.Caller{URN: "urn:vitrine:example.test:user=half"} // sees every second folder
	postsKeeper  = vitrine.Caller{URN: "urn:vitrine:example.test:user=mod", Moderates: []string{"urn:vitrine:example.test"}}
)

// library is an engine with posts in it.
type library struct {
	name    string
	store   assets.Store
	svc     *assets.Service
	folders []string
	size    int
	db      storage.Store // nil in tables
	cpu     float64       // microseconds of processor time that filling it has taken
}

func newLibrary(b *testing.B, name string, store assets.Store) *library {
	l := &library{name: name, store: store, svc: assets.NewWith(store, nil)}
	for i := range posts.Folders {
		folder := assets.NewFolder{Label: fmt.Sprint(i), Permissions: []assets.Permission{{Operation: assets.View, User: &assets.Subject{ID: []string{"half", "nobody"}[i%2]}}}}
		folders, err := l.svc.ChangeFolders(ctx, postsKeeper, postsLibrary, assets.ChangeFoldersRequest{Create: []assets.NewFolder{folder}})
		if err != nil {
			b.Fatal(err)
		}
		l.folders = append(l.folders, folders[0].ID)
	}
	return l
}

// batch makes the next n posts.
func (l *library) batch(n int) (in assets.ChangeAssetsRequest) {
	for range n {
		in.Add = append(in.Add, posts.Post(l.size, l.folders))
		l.size++
	}
	return in
}

// fill adds posts until there are postCount.
func (l *library) fill(b *testing.B) {
	for l.size < *postCount {
		l.add(b, l.batch(min(1000, *postCount-l.size)))
	}
}

func (l *library) add(b *testing.B, in assets.ChangeAssetsRequest) {
	if _, err := l.svc.ChangeAssets(ctx, postsKeeper, postsLibrary, in); err != nil {
		b.Fatal(err)
	}
}

// libraries are a library in each engine, and a pool of connections to the second.
func libraries(b *testing.B) ([]*library, *pgxpool.Pool) {
	lite, post, pool := both(b)
	return []*library{newLibrary(b, "SQLite", assets.NewRecords(lite)), newLibrary(b, "PostgreSQL", assets.NewRecords(post))}, pool
}

func BenchmarkAssetsAdd(b *testing.B) {
	all, _ := libraries(b)
	for _, l := range all {
		for _, size := range []int{1, 1000} {
			b.Run(fmt.Sprintf("%s/%d", l.name, size), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					in := l.batch(size)
					b.StartTimer()
					l.add(b, in)
				}
				b.ReportMetric(float64(size*b.N)/b.Elapsed().Seconds(), "assets/s")
			})
		}
	}
}

// BenchmarkAssetsSustained adds to PostgreSQL without a pause, single assets and batches of 50, and measures how much larger its
// tables then are than after a VACUUM FULL.
func BenchmarkAssetsSustained(b *testing.B) {
	all, pool := libraries(b)
	l := all[1]
	for b.Loop() {
		l.add(b, l.batch(1))
		l.add(b, l.batch(1))
		l.add(b, l.batch(50))
	}
	b.ReportMetric(float64(l.size), "posts")
	tables := []string{"asset", "asset_list", "asset_change"}
	before := make([]int64, len(tables))
	for i, table := range tables {
		before[i] = sizeOf(b, pool, table)
	}
	if _, err := pool.Exec(ctx, "VACUUM FULL"); err != nil {
		b.Fatal(err)
	}
	for i, table := range tables {
		b.ReportMetric(float64(before[i])/float64(sizeOf(b, pool, table)), table+"-x")
	}
}

func sizeOf(b *testing.B, pool *pgxpool.Pool, table string) (size int64) {
	if err := pool.QueryRow(ctx, "SELECT pg_total_relation_size($1::regclass)", table).Scan(&size); err != nil {
		b.Fatal(err)
	}
	return size
}

// BenchmarkAssetsSearch finds the newest 50 and the total: as a service does, then each for itself, and
// the same from what PostgreSQL has of its own: a GIN index over an array of terms.
func BenchmarkAssetsSearch(b *testing.B) {
	all, pool := libraries(b)
	for _, l := range all {
		l.fill(b)
	}
	rawPosts(b, pool)
	for _, words := range [][]string{{posts.Common}, {posts.Mid}, {posts.Rare}, {posts.Common, posts.Mid}} {
		for _, folder := range []bool{false, true} {
			in := assets.SearchRequest{Query: strings.Join(words, " ")}
			name := strings.Join(words, "+")
			if folder {
				name += "+folder"
			}
			for _, l := range all {
				var terms []string
				for _, w := range words {
					terms = append(terms, "w"+w)
				}
				in.Folder = ""
				if folder {
					in.Folder = l.folders[55]
					terms = append(terms, "f"+in.Folder)
				}
				b.Run(name+"/search/"+l.name, l.search(postsKeeper, in))
				if !folder {
					b.Run(name+"/search by one who sees half/"+l.name, l.search(postsHalf, in))
				}
				b.Run(name+"/page/"+l.name, l.page(terms))
				b.Run(name+"/total/"+l.name, l.total(terms))
				if l.name == "PostgreSQL" {
					b.Run(name+"/page/GIN", rawQuery(pool, ginPage, terms))
					b.Run(name+"/total/GIN", rawQuery(pool, ginTotal, terms))
				}
			}
		}
	}
	for _, table := range []string{"asset", "asset_list", "raw_gin"} {
		b.Run("size/"+table, func(b *testing.B) {
			var size int64
			for b.Loop() {
				size = sizeOf(b, pool, table)
			}
			b.ReportMetric(float64(size)/float64(*postCount), "B/post")
		})
	}
}

// BenchmarkAssetsFacets finds the newest 50, the total and the most frequent values of the facets.
func BenchmarkAssetsFacets(b *testing.B) {
	all, _ := libraries(b)
	for _, l := range all {
		l.fill(b)
	}
	for _, word := range []string{posts.Common, posts.Mid} {
		for _, facets := range [][]string{{"tags"}, {"generator", "tags", "via", "folder"}} {
			for _, l := range all {
				b.Run(fmt.Sprintf("%s/%s/%s", word, strings.Join(facets, "+"), l.name), l.search(postsKeeper, assets.SearchRequest{Query: word, Facets: facets}))
			}
		}
	}
}

func (l *library) search(by vitrine.Caller, in assets.SearchRequest) func(*testing.B) {
	return func(b *testing.B) {
		for b.Loop() {
			if _, err := l.svc.Search(ctx, by, postsLibrary, in); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func (l *library) page(terms []string) func(*testing.B) {
	return l.view(terms, func(r assets.Reader, q assets.AssetQuery) error {
		for _, err := range r.Assets(ctx, q) {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *library) total(terms []string) func(*testing.B) {
	return l.view(terms, func(r assets.Reader, q assets.AssetQuery) error {
		_, err := r.Count(ctx, q)
		return err
	})
}

func (l *library) view(terms []string, fn func(assets.Reader, assets.AssetQuery) error) func(*testing.B) {
	q := assets.AssetQuery{Limit: 50}
	for _, term := range terms {
		q.All = append(q.All, assets.AnyOf{term})
	}
	return func(b *testing.B) {
		for b.Loop() {
			if err := l.store.View(ctx, postsLibrary, func(r assets.Reader) error { return fn(r, q) }); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// rawPosts makes the table that PostgreSQL's own way needs. The bodies are beside it.
func rawPosts(b *testing.B, pool *pgxpool.Pool) {
	if _, err := pool.Exec(ctx, "CREATE TABLE raw_gin (ordinal int8 PRIMARY KEY, terms bytea[])"); err != nil {
		b.Fatal(err)
	}
	found, err := pool.Query(ctx, "SELECT ordinal, terms FROM asset")
	if err != nil {
		b.Fatal(err)
	}
	var rows [][]any
	for found.Next() {
		var ordinal int64
		var list []byte
		if err := found.Scan(&ordinal, &list); err != nil {
			b.Fatal(err)
		}
		rows = append(rows, []any{ordinal, bytes.Split(bytes.TrimSuffix(list, []byte{0}), []byte{0})})
	}
	if _, err := pool.CopyFrom(ctx, pgx.Identifier{"raw_gin"}, []string{"ordinal", "terms"}, pgx.CopyFromRows(rows)); err != nil {
		b.Fatal(err)
	}
	for _, sql := range []string{"CREATE INDEX ON raw_gin USING gin (terms)", "VACUUM ANALYZE"} {
		if _, err := pool.Exec(ctx, sql); err != nil {
			b.Fatal(err)
		}
	}
}

const (
	ginPage = `SELECT a.ordinal, a.body FROM raw_gin g JOIN asset a ON a.ordinal = g.ordinal AND a.library = (SELECT key FROM library)
		WHERE g.terms @> $1::bytea[] ORDER BY g.ordinal DESC LIMIT 50`
	ginTotal = "SELECT count(*) FROM raw_gin WHERE terms @> $1::bytea[]"
)

func rawQuery(pool *pgxpool.Pool, sql string, terms []string) func(*testing.B) {
	list := make([][]byte, len(terms))
	for i, term := range terms {
		list[i] = []byte(term)
	}
	return func(b *testing.B) {
		for b.Loop() {
			found, err := pool.Query(context.Background(), sql, list)
			if err != nil {
				b.Fatal(err)
			}
			for found.Next() {
			}
			if err := found.Err(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
