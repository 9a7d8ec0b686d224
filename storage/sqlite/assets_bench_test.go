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
	if p.size = int(p.value(b, "SELECT count FROM library")); p.size > 0 {
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
		folders, err := p.svc.ChangeFolders(ctx, moderator, benchLibrary, assets.ChangeFolders{Create: []assets.NewFolder{in}})
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
		var in assets.ChangeAssets
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
		var in assets.ChangeAssets
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
	search assets.Search
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
		{"alone", moderator, assets.Search{}, nil},
		{"folder", moderator, assets.Search{Folder: p.folders[55]}, []assets.AnyOf{{"f" + p.folders[55]}}},
		{"folderTree", moderator, assets.Search{FolderTree: p.folders[50]}, []assets.AnyOf{tree}},
		{"generator", moderator, assets.Search{Generator: posts.Generator(1)}, []assets.AnyOf{{"g" + posts.Generator(1)}}},
		{"tags", moderator, assets.Search{Tags: []string{posts.Tag(1)}}, []assets.AnyOf{{"t" + posts.Tag(1)}}},
		{"half", halfSeeing, assets.Search{}, []assets.AnyOf{half}},
	}
}

// search searches, with nothing held before each round, or all of it.
func (p *postStore) search(by assets.Caller, in assets.Search, first bool) func(*testing.B) {
	return func(b *testing.B) {
		page := func() {
			if first {
				p.db.held.reset(timeless)
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
				p.db.held.reset(timeless)
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
		match, _ := split(sets)
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
