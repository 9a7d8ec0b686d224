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

// All sizes: go test ./storage/sqlite -run '^$' -bench Assets -timeout 0 -posts 10000,100000,1000000
var postCounts = flag.String("posts", "10000,100000", "how many posts the benchmarks of assets have, one library for each number")

var (
	benchLibrary = assets.Library{Network: "example.test", ID: "example.test"}
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
		p := newPostStore(b, filepath.Join(b.TempDir(), "posts.db"))
		p.add(b, n, 1000)
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

// BenchmarkAssetsSearch compares pages of the newest 50 and totals, as the store gives them, with
// the same expression given to FTS5 as it is: for a page joined with the rows, and with the rowids alone.
func BenchmarkAssetsSearch(b *testing.B) {
	for _, p := range storesOfPosts(b) {
		for _, words := range [][]string{{posts.Common}, {posts.Mid}, {posts.Rare}, {posts.Common, posts.Mid}, nil} {
			for _, filter := range p.filters(b) {
				if len(words) == 0 && len(filter.sets) == 0 {
					continue // no work for an index
				}
				all := slices.Clone(filter.sets)
				for _, w := range words {
					all = append([]assets.AnyOf{{"w" + w}}, all...)
				}
				name := strings.Join(append([]string{fmt.Sprint(p.size)}, words...), "+")
				p.compare(b, strings.ReplaceAll(name+"/"+filter.name, "//", "/"), all)
			}
		}
	}
}

type benchFilter struct {
	name string
	sets []assets.AnyOf
}

// filters are the conditions that the service makes of a search's parameters.
func (p *postStore) filters(b *testing.B) []benchFilter {
	var tree, half assets.AnyOf
	for i, id := range p.folders {
		if i >= 50 && i < 60 {
			tree = append(tree, "f"+id)
		}
		if i%2 == 1 {
			half = append(half, "f"+id)
		}
	}
	return []benchFilter{
		{"alone", nil},
		{"folder", []assets.AnyOf{{"f" + p.folders[55]}}},
		{"folderTree", []assets.AnyOf{tree}},
		{"generator", []assets.AnyOf{{"g" + posts.Generator(1)}}},
		{"tags", []assets.AnyOf{{"t" + posts.Tag(1)}}},
		{"half", []assets.AnyOf{append(half, "f")}},
	}
}

func (p *postStore) compare(b *testing.B, name string, all []assets.AnyOf) {
	ctx := context.Background()
	pieces, _ := split(all)
	first, last := int64(1)<<ordinalBits, int64(2)<<ordinalBits-1
	raw := func(sql string) func(b *testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				err := p.db.view(ctx, func(c *conn) error {
					rows := c.query(sql, pieces[0], first, last)
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
	b.Run(name+"/page", func(b *testing.B) {
		for b.Loop() {
			err := p.db.Assets().View(ctx, benchLibrary, func(r assets.Reader) error {
				for _, err := range r.Assets(ctx, assets.AssetQuery{All: all, Limit: 51}) {
					if err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	const from = " FROM asset_term WHERE asset_term MATCH $1 AND rowid BETWEEN $2 AND $3"
	b.Run(name+"/page raw", raw("SELECT a.* FROM asset_term t CROSS JOIN asset a ON a.place = t.rowid WHERE asset_term MATCH $1 AND t.rowid BETWEEN $2 AND $3 ORDER BY t.rowid DESC LIMIT 51"))
	b.Run(name+"/page raw ids", raw("SELECT rowid"+from+" ORDER BY rowid DESC LIMIT 51"))
	b.Run(name+"/total", func(b *testing.B) {
		for b.Loop() {
			err := p.db.Assets().View(ctx, benchLibrary, func(r assets.Reader) error {
				_, err := r.Count(ctx, assets.AssetQuery{All: all})
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run(name+"/total raw", raw("SELECT count(*)"+from))
}
