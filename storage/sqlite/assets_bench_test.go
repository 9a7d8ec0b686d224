package sqlite

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/internal/posts"
)

// All sizes: go test ./storage/sqlite -run '^$' -bench Assets -benchtime 20x -timeout 0 -posts 10000,100000,1000000
var (
	postCounts = flag.String("posts", "10000,100000", "how many posts the benchmarks of assets have, one library for each number")
	postKeep   = flag.String("keep", "", "a directory that keeps the stores of posts for the next run")
)

var (
	benchLibrary = assets.Library{Network: "example.test", ID: "example.test"}
	halfSeeing   = assets.Caller{URN: "urn:vitrine:example.test:user=half"}
	moderator    = assets.Caller{URN: "urn:vitrine:example.test:user=mod", Moderates: []string{"urn:vitrine:example.test"}}
)

// postStore is a store filled with posts.
type postStore struct {
	db      *DB
	svc     *assets.Service
	folders []string
	size    int
}

// storesOfPosts returns a store for each of the numbers of posts.
func storesOfPosts(b *testing.B) []*postStore {
	var out []*postStore
	for s := range strings.SplitSeq(*postCounts, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			b.Fatal(err)
		}
		dir := *postKeep
		if dir == "" {
			dir = b.TempDir()
		}
		p := newPostStore(b, filepath.Join(dir, s+".db"))
		p.add(b, n, 1000)
		b.Cleanup(func() { p.db.Close() })
		out = append(out, p)
	}
	return out
}

func newPostStore(b *testing.B, path string) *postStore {
	db, err := Open(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	p := &postStore{db: db, svc: assets.New(db.Assets(), nil)}
	ctx := context.Background()
	p.size = int(p.value(b, "SELECT count FROM library"))
	if p.size > 0 {
		p.folders = p.kept(b)
		return p
	}
	for i := range posts.Folders {
		in := assets.NewFolder{Label: fmt.Sprint(i)}
		if i%10 != 0 {
			in.Path = "/" + p.folders[i/10*10]
		}
		if i%2 == 0 { // of each second one the half-seeing caller is kept out, by not inheriting
			no := false
			in.Inherit = &no
		} else {
			in.Permissions = []assets.Permission{{Operation: assets.View, User: &assets.Subject{ID: "half"}}}
		}
		folders, err := p.svc.ChangeFolders(ctx, moderator, benchLibrary, assets.ChangeFoldersRequest{Create: []assets.NewFolder{in}})
		if err != nil {
			b.Fatal(err)
		}
		p.folders = append(p.folders, folders[0].ID)
	}
	return p
}

// kept returns the folders of a store that another run has made.
func (p *postStore) kept(b *testing.B) (ids []string) {
	err := p.db.view(context.Background(), func(c *conn) error {
		rows := c.query("SELECT id FROM folder ORDER BY CAST(label AS INTEGER)")
		defer rows.close()
		for rows.next() {
			ids = append(ids, rows.text(0))
		}
		return rows.err
	})
	if err != nil {
		b.Fatal(err)
	}
	return ids
}

// add adds posts until there are n.
func (p *postStore) add(b *testing.B, n, batch int) {
	for p.size < n {
		var in assets.ChangeAssetsRequest
		for range min(batch, n-p.size) {
			in.Add = append(in.Add, posts.Post(p.size, p.folders))
			p.size++
		}
		if _, err := p.svc.ChangeAssets(context.Background(), moderator, benchLibrary, in); err != nil {
			b.Fatal(err)
		}
	}
}

// value reads one number.
func (p *postStore) value(b *testing.B, sql string, args ...any) (n int64) {
	b.Helper()
	err := p.db.view(context.Background(), func(c *conn) (err error) {
		n, err = c.value(sql, args...)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkAssetsAdd adds batches of 1,000 posts; making them is not counted.
func BenchmarkAssetsAdd(b *testing.B) {
	p := newPostStore(b, filepath.Join(b.TempDir(), "posts.db"))
	defer p.db.Close()
	const batch = 1000
	for b.Loop() {
		b.StopTimer()
		var in assets.ChangeAssetsRequest
		for range batch {
			in.Add = append(in.Add, posts.Post(p.size, p.folders))
			p.size++
		}
		b.StartTimer()
		if _, err := p.svc.ChangeAssets(context.Background(), moderator, benchLibrary, in); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(p.size)/b.Elapsed().Seconds(), "assets/s")
}

// BenchmarkAssetsSize reports what is stored for a post.
func BenchmarkAssetsSize(b *testing.B) {
	for _, p := range storesOfPosts(b) {
		b.Run(fmt.Sprint(p.size), func(b *testing.B) {
			for b.Loop() {
			}
			for unit, like := range map[string]string{
				"terms-B/post": "asset_term%", "origin-B/post": "asset_by_origin", "rows-B/post": "asset",
			} {
				n := p.value(b, "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name LIKE $1", like)
				b.ReportMetric(float64(n)/float64(p.size), unit)
			}
		})
	}
}

// BenchmarkAssetsSearch compares searching for the newest 50, total included, again and for the first
// time, with the same expression given to FTS5 as it is and joined with the rows, without a total; and
// a total, likewise, with FTS5's count.
func BenchmarkAssetsSearch(b *testing.B) {
	for _, p := range storesOfPosts(b) {
		for _, words := range [][]string{{posts.Common}, {posts.Mid}, {posts.Rare}, {posts.Common, posts.Mid}, nil} {
			for _, f := range p.filters() {
				in, sets := f.search, slices.Clone(f.sets)
				in.Query = strings.Join(words, " ")
				for _, w := range words {
					sets = append(sets, assets.AnyOf{"w" + w})
				}
				name := fmt.Sprintf("%d/%s/%s/", p.size, strings.Join(append(words, ""), "+"), f.name)
				b.Run(name+"page", p.search(f.by, in, false))
				if len(sets) > 0 {
					b.Run(name+"first", p.search(f.by, in, true))
					b.Run(name+"page-raw", p.raw(rawPage, sets))
					b.Run(name+"total", p.count(sets, true))
					b.Run(name+"total-again", p.count(sets, false))
					b.Run(name+"total-raw", p.raw(rawCount, sets))
				}
			}
		}
	}
}

type benchFilter struct {
	name   string
	by     assets.Caller
	search assets.SearchRequest
	sets   []assets.AnyOf // what the service makes of it
}

func (p *postStore) filters() []benchFilter {
	var tree assets.AnyOf
	half := assets.AnyOf{"f"}
	for i, id := range p.folders {
		if i >= 50 && i < 60 {
			tree = append(tree, "f"+id)
		}
		if i%2 == 1 {
			half = append(half, "f"+id)
		}
	}
	return []benchFilter{
		{"alone", moderator, assets.SearchRequest{}, nil},
		{"folder", moderator, assets.SearchRequest{Folder: p.folders[55]}, []assets.AnyOf{{"f" + p.folders[55]}}},
		{"folderTree", moderator, assets.SearchRequest{FolderTree: p.folders[50]}, []assets.AnyOf{tree}},
		{"generator", moderator, assets.SearchRequest{Generator: posts.Generator(1)}, []assets.AnyOf{{"g" + posts.Generator(1)}}},
		{"tags", moderator, assets.SearchRequest{Tags: []string{posts.Tag(1)}}, []assets.AnyOf{{"t" + posts.Tag(1)}}},
		{"half", halfSeeing, assets.SearchRequest{}, []assets.AnyOf{half}},
	}
}

// search searches, with nothing held before each round, or all of it.
func (p *postStore) search(by assets.Caller, in assets.SearchRequest, first bool) func(*testing.B) {
	return func(b *testing.B) {
		page := func() {
			if first {
				p.db.results.reset(timeless)
			}
			if _, err := p.svc.Search(context.Background(), by, benchLibrary, in); err != nil {
				b.Fatal(err)
			}
		}
		page() // has the sets read, once
		for b.Loop() {
			page()
		}
	}
}

// count counts, the first time in each round or again and again.
func (p *postStore) count(sets []assets.AnyOf, first bool) func(*testing.B) {
	return func(b *testing.B) {
		ctx := context.Background()
		for b.Loop() {
			if first {
				p.db.results.reset(timeless)
			}
			err := p.db.Assets().View(ctx, benchLibrary, func(r assets.Reader) error {
				_, err := r.Count(ctx, assets.AssetQuery{All: sets})
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

const (
	rawPage = `SELECT place, origin, created, updated, folders, body FROM asset_term CROSS JOIN asset ON place = asset_term.rowid
		WHERE asset_term MATCH $1 ORDER BY asset_term.rowid DESC LIMIT 50`
	rawCount = "SELECT count(*) FROM asset_term WHERE asset_term MATCH $1"
)

func (p *postStore) raw(sql string, sets []assets.AnyOf) func(*testing.B) {
	return func(b *testing.B) {
		match, _ := split(conditionsOf(assets.AssetQuery{All: sets}))
		for b.Loop() {
			err := p.db.view(context.Background(), func(c *conn) error {
				rows := c.query(sql, match[0])
				defer rows.close()
				for rows.next() {
				}
				return rows.err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkAssetsFacets compares a search with facets, for the first time and again, with the same search without
// them.
func BenchmarkAssetsFacets(b *testing.B) {
	for _, p := range storesOfPosts(b) {
		for _, by := range []benchFilter{{name: "all", by: moderator}, {name: "half", by: halfSeeing}} {
			for _, words := range []string{posts.Common, posts.Mid, ""} {
				for _, facets := range [][]string{nil, {"tags"}, {"generator"}, {"folder"}, {"generator", "tags", "via", "folder"}} {
					in := assets.SearchRequest{Query: words, Facets: facets}
					name := fmt.Sprintf("%d/%s/%s/%s/", p.size, by.name, words, strings.Join(facets, "+"))
					b.Run(name+"first", p.search(by.by, in, true))
					b.Run(name+"again", p.search(by.by, in, false))
				}
			}
		}
	}
}

// BenchmarkAssetsPrefix compares the newest 50 that have a word with these three letters, and their total, with FTS5 when
// it has an index of the prefixes of this length.
func BenchmarkAssetsPrefix(b *testing.B) {
	for _, p := range storesOfPosts(b) {
		raw := p.prefixIndex(b)
		for _, prefix := range []string{"bad", "zen", "war"} {
			name := fmt.Sprintf("%d/%s/", p.size, prefix)
			b.Run(name+"first", p.search(moderator, assets.SearchRequest{Query: prefix + "*"}, true))
			b.Run(name+"again", p.search(moderator, assets.SearchRequest{Query: prefix + "*"}, false))
			for _, sql := range []struct{ name, text string }{
				{"page-raw", `SELECT place, origin, created, updated, folders, body FROM raw.prefixed CROSS JOIN asset ON place = prefixed.rowid
					WHERE prefixed MATCH $1 ORDER BY prefixed.rowid DESC LIMIT 50`},
				{"total-raw", "SELECT count(*) FROM raw.prefixed WHERE prefixed MATCH $1"},
			} {
				b.Run(name+sql.name, func(b *testing.B) {
					for b.Loop() {
						rows := raw.query(sql.text, `"w`+prefix+`"*`)
						for rows.next() {
						}
						if rows.err != nil {
							b.Fatal(rows.err)
						}
					}
				})
			}
		}
	}
}

// prefixIndex returns a connection to the store with the same terms in another index, raw.prefixed.
func (p *postStore) prefixIndex(b *testing.B) *conn {
	path := p.db.path + ".prefixes"
	c, err := dial(p.db.path, "mode=rw", "busy_timeout=5000")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.close() })
	err = c.script("ATTACH 'file:" + path + `' AS raw; CREATE VIRTUAL TABLE IF NOT EXISTS raw.prefixed USING fts5 (
		terms, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '_'", prefix = '4')`)
	if err != nil {
		b.Fatal(err)
	}
	if n, err := c.value("SELECT count(*) FROM raw.prefixed_docsize"); err != nil || n > 0 {
		return c
	}
	ctx := context.Background()
	err = p.db.Assets().View(ctx, benchLibrary, func(r assets.Reader) error {
		if err := c.script("BEGIN"); err != nil {
			return err
		}
		for a, err := range r.Assets(ctx, assets.AssetQuery{Ascending: true}) {
			if err != nil {
				return err
			}
			x, err := assets.IndexOf(a, assets.Limits{})
			if err != nil {
				return err
			}
			if _, err := c.exec("INSERT INTO raw.prefixed (rowid, terms) VALUES ($1, $2)", 1<<ordinalBits|a.Ordinal, termText(x.Terms)); err != nil {
				return err
			}
		}
		return c.script("COMMIT")
	})
	if err != nil {
		b.Fatal(err)
	}
	return c
}
