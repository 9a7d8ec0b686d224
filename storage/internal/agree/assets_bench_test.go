package agree

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/internal/posts"
	"github.com/vitrine-go/vitrine/storage/postgres"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// More of them: go test ./storage/internal/agree -run '^$' -bench Assets -benchtime 50x -timeout 0 -posts 1000000
var postCount = flag.Int("posts", 100_000, "how many posts the benchmarks of assets have")

var (
	postsLibrary = assets.Library{Network: "example.test", ID: "example.test"}
	postsKeeper  = assets.Caller{URN: "urn:vitrine:example.test:user=mod", Moderates: []string{"urn:vitrine:example.test"}}
)

// library is an engine with posts in it.
type library struct {
	name    string
	store   assets.Store
	svc     *assets.Service
	folders []string
	size    int
	path    string // of SQLite's file
}

func newLibrary(b *testing.B, name string, store assets.Store) *library {
	l := &library{name: name, store: store, svc: assets.New(store, nil)}
	for i := range posts.Folders {
		folders, err := l.svc.ChangeFolders(ctx, postsKeeper, postsLibrary, assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: fmt.Sprint(i)}}})
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

func (l *library) add(b *testing.B, in assets.ChangeAssetsRequest) {
	if _, err := l.svc.ChangeAssets(ctx, postsKeeper, postsLibrary, in); err != nil {
		b.Fatal(err)
	}
}

// libraries opens both engines anew; the pool is another way to the second.
func libraries(b *testing.B) ([]*library, *pgxpool.Pool) {
	path := filepath.Join(b.TempDir(), "vitrine.db")
	lite, err := sqlite.Open(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { lite.Close() })
	address := durable(b).Database(b)
	post, err := postgres.Open(ctx, address, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { post.Close() })
	all := []*library{newLibrary(b, "SQLite", lite.Assets()), newLibrary(b, "PostgreSQL", post.Assets())}
	all[0].path = path
	return all, open(b, address)
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
// the same from what PostgreSQL has of its own: a GIN index over an array of terms, and a table with a
// row for each term of an asset.
func BenchmarkAssetsSearch(b *testing.B) {
	all, pool := libraries(b)
	for _, l := range all {
		for l.size < *postCount {
			l.add(b, l.batch(min(1000, *postCount-l.size)))
		}
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
				b.Run(name+"/search/"+l.name, l.search(in))
				b.Run(name+"/page/"+l.name, l.page(terms))
				b.Run(name+"/total/"+l.name, l.total(terms))
				if l.name == "PostgreSQL" {
					b.Run(name+"/page/GIN", rawQuery(pool, ginPage, terms))
					b.Run(name+"/total/GIN", rawQuery(pool, ginTotal, terms))
					b.Run(name+"/page/rows", rawQuery(pool, rowsPage(len(terms)), terms))
					b.Run(name+"/total/rows", rawQuery(pool, rowsTotal(len(terms)), terms))
				}
			}
		}
	}
	for _, table := range []string{"asset", "asset_list", "raw_gin", "raw_rows"} {
		b.Run("size/"+table, func(b *testing.B) {
			var size int64
			for b.Loop() {
				size = sizeOf(b, pool, table)
			}
			b.ReportMetric(float64(size)/float64(*postCount), "B/post")
		})
	}
}

// BenchmarkAssetsFacets finds the newest 50, the total and the most frequent tags, in SQLite with and without a cache,
// and has Bleve do the same. It counts the tags alone with a GROUP BY over the tables that PostgreSQL's own ways need,
// and over FTS5 joined with such a table.
func BenchmarkAssetsFacets(b *testing.B) {
	all, pool := libraries(b)
	for _, l := range all {
		for l.size < *postCount {
			l.add(b, l.batch(min(1000, *postCount-l.size)))
		}
	}
	rawPosts(b, pool)
	bare, err := sqlite.Open(all[0].path, &sqlite.Options{Cache: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	first := *all[0]
	first.name, first.svc = "SQLite without a cache", assets.New(bare.Assets(), nil)
	joined := joinedTerms(b, bare)
	other := startBleve(b, all[0])
	for _, word := range []string{posts.Common, posts.Mid} {
		for _, facets := range [][]string{{"tags"}, {"generator", "tags", "via", "folder"}} {
			in := assets.SearchRequest{Query: word, Facets: facets}
			for _, l := range append(all, &first) {
				b.Run(fmt.Sprintf("%s/%s/%s", word, strings.Join(facets, "+"), l.name), l.search(in))
			}
			b.Run(fmt.Sprintf("%s/%s/Bleve", word, strings.Join(facets, "+")), other.search(word, facets, all[0]))
		}
		b.Run(word+"/tags/GROUP BY over rows", rawQuery(pool, `SELECT t.term, count(*) FROM raw_rows w JOIN raw_rows t ON t.ordinal = w.ordinal
			WHERE w.term = ($1::bytea[])[1] AND t.term >= 't' AND t.term < 'u' GROUP BY t.term ORDER BY 2 DESC, 1 LIMIT 20`, []string{"w" + word}))
		b.Run(word+"/tags/GROUP BY over GIN", rawQuery(pool, `SELECT t, count(*) FROM raw_gin, unnest(terms) AS t
			WHERE terms @> $1::bytea[] AND t >= 't' AND t < 'u' GROUP BY t ORDER BY 2 DESC, 1 LIMIT 20`, []string{"w" + word}))
		b.Run(word+"/tags/GROUP BY over FTS5", func(b *testing.B) {
			for b.Loop() {
				rows, err := joined.Query(`SELECT t.term, count(*) FROM asset_term JOIN joined t ON t.place = asset_term.rowid AND t.term >= 't' AND t.term < 'u'
					WHERE asset_term MATCH $1 GROUP BY t.term ORDER BY 2 DESC, 1 LIMIT 20`, `"w`+word+`"`)
				if err != nil {
					b.Fatal(err)
				}
				for rows.Next() {
				}
				if err := rows.Err(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// joinedTerms returns a copy of the store with a table that has a row for each term of an asset.
func joinedTerms(b *testing.B, store *sqlite.DB) *sql.DB {
	file := filepath.Join(b.TempDir(), "joined.db")
	if err := store.Backup(ctx, file); err != nil {
		b.Fatal(err)
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	_, err = db.Exec(`CREATE TABLE joined (place INTEGER, term TEXT, PRIMARY KEY (place, term)) WITHOUT ROWID;
		INSERT INTO joined SELECT doc, term FROM asset_vocabulary ORDER BY doc, term; ANALYZE joined`)
	if err != nil {
		b.Fatal(err)
	}
	return db
}

func (l *library) search(in assets.SearchRequest) func(*testing.B) {
	return func(b *testing.B) {
		for b.Loop() {
			if _, err := l.svc.Search(ctx, postsKeeper, postsLibrary, in); err != nil {
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

// rawPosts makes the tables that PostgreSQL's own ways need. The bodies are beside them.
func rawPosts(b *testing.B, pool *pgxpool.Pool) {
	_, err := pool.Exec(ctx, `CREATE TABLE raw_gin (ordinal int8 PRIMARY KEY, terms bytea[]);
		CREATE TABLE raw_rows (term bytea, ordinal int8, PRIMARY KEY (term, ordinal))`)
	if err != nil {
		b.Fatal(err)
	}
	found, err := pool.Query(ctx, "SELECT ordinal, terms FROM asset")
	if err != nil {
		b.Fatal(err)
	}
	var gin, rows [][]any
	for found.Next() {
		var ordinal int64
		var list []byte
		if err := found.Scan(&ordinal, &list); err != nil {
			b.Fatal(err)
		}
		var terms [][]byte
		for term := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
			terms = append(terms, []byte(term))
			rows = append(rows, []any{[]byte(term), ordinal})
		}
		gin = append(gin, []any{ordinal, terms})
	}
	for table, from := range map[string][][]any{"raw_gin": gin, "raw_rows": rows} {
		columns := map[string][]string{"raw_gin": {"ordinal", "terms"}, "raw_rows": {"term", "ordinal"}}[table]
		if _, err := pool.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(from)); err != nil {
			b.Fatal(err)
		}
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

// rowsOf joins the rows of the first term with those of the others.
func rowsOf(terms int) string {
	from := "raw_rows r0"
	for i := 1; i < terms; i++ {
		from += fmt.Sprintf(" JOIN raw_rows r%d ON r%[1]d.ordinal = r0.ordinal AND r%[1]d.term = ($1::bytea[])[%d]", i, i+1)
	}
	return from
}

func rowsPage(terms int) string {
	return "SELECT a.ordinal, a.body FROM " + rowsOf(terms) + ` JOIN asset a ON a.ordinal = r0.ordinal AND a.library = (SELECT key FROM library)
		WHERE r0.term = ($1::bytea[])[1] ORDER BY r0.ordinal DESC LIMIT 50`
}

func rowsTotal(terms int) string {
	return "SELECT count(*) FROM " + rowsOf(terms) + " WHERE r0.term = ($1::bytea[])[1]"
}

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
