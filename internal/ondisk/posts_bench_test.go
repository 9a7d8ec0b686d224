package ondisk

import (
	"encoding/json"
	flags "flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// A library of a million posts takes some minutes to make; with -keep it is made once:
//
//	go test ./internal/ondisk -run '^$' -bench Posts -benchtime 20x -timeout 0 -posts 1000000 -keep /tmp/posts.db
var (
	postCount = flags.Int("posts", 20_000, "how many posts the benchmarks have")
	postFile  = flags.String("keep", "", "a file that keeps the posts for the next run")
)

// half sees every second folder.
var half = vitrine.Caller{URN: network + ":user=half"}

// post returns post i, as in a real library: a short text whose words have the frequencies of a language, in a folder,
// with two tags, from one of a few services.
func post(i int, folders []string) assets.NewAsset {
	rng := rand.New(rand.NewPCG(uint64(i), 99))
	zipf := rand.NewZipf(rng, 1.2, 4, 50_000-1)
	var text strings.Builder
	for range 6 + rng.IntN(12) {
		for n := zipf.Uint64() + 16; n > 0; n /= 16 {
			text.WriteString("badefigohukaleminopurasetivoxuze"[n%16*2 : n%16*2+2])
		}
		text.WriteByte(' ')
	}
	for word, oneIn := range map[string]int{"wm": 100, "wr": 10_000} {
		if i%oneIn == oneIn/2 {
			text.WriteString(word + " ")
		}
	}
	if rng.IntN(100) < 67 {
		text.WriteString("wa")
	}
	author := rng.IntN(20_000)
	content, _ := json.Marshal(map[string]any{
		"content": "<p>" + text.String() + "</p>", "lang": "en",
		"attachment": []any{map[string]any{"version": "1.0", "type": "photo",
			"url": map[string]string{"href": fmt.Sprintf("https://img.example.test/%d.jpg", i)}}},
		"attributedTo": map[string]any{"id": fmt.Sprint(author), "username": fmt.Sprintf("user%d", author),
			"displayName": fmt.Sprintf("User %d", author)},
		"socialnet": map[string]int{"retweets": rng.IntN(100), "favorites": rng.IntN(1000)},
	})
	via := int64(rng.IntN(3))
	at := time.UnixMilli(1_400_000_000_000 + rng.Int64N(300_000_000_000))
	return assets.NewAsset{ID: fmt.Sprint(1_500_000_000_000 + int64(i)*4099),
		Generator: assets.Generator{ID: fmt.Sprintf("service%d.example", rng.IntN(4))}, Content: content,
		Folders:  []string{folders[rng.IntN(len(folders))]},
		SafeTags: []string{fmt.Sprint("tag", rng.IntN(50)), fmt.Sprint("u", rng.IntN(1000))}, Via: &via, CreatedAt: &at}
}

// cpu is the processor time of the process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchCPU reports the processor time of fn.
func benchCPU(b *testing.B, per int, fn func()) {
	begin, n := cpu(), 0
	for b.Loop() {
		fn()
		n++
	}
	b.ReportMetric(float64((cpu()-begin).Microseconds())/float64(n*per), "cpu-µs/op")
}

// openPosts opens the library. It returns its folders, and how many posts there are.
func openPosts(b *testing.B) (db *sqlite.DB, s *assets.Service, folders []string, size int) {
	path := *postFile
	if path == "" {
		path = filepath.Join(b.TempDir(), "posts.db")
	}
	db, err := sqlite.Open(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	s = assets.New(db, &assets.Options{Limits: assets.Limits{SearchTime: time.Minute}})
	folders, size = postFolders(b, s)
	return db, s, folders, size
}

// addPosts adds n posts, beginning with this one.
func addPosts(b *testing.B, s *assets.Service, first, n int, folders []string) {
	var in assets.ChangeAssetsRequest
	for i := range n {
		in.Add = append(in.Add, post(first+i, folders))
	}
	if _, err := s.As(moderator).ChangeAssets(ctx, lib, in); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkPosts(b *testing.B) {
	db, s, folders, size := openPosts(b)
	defer db.Close()
	var longest time.Duration
	add := func(n int) {
		begin := time.Now()
		addPosts(b, s, size, n, folders)
		longest = max(longest, time.Since(begin))
		size += n
	}
	begin, before := cpu(), size
	for size < *postCount {
		add(200)
	}
	if size > before {
		b.Logf("made %d posts, %v of processor time each", size-before, (cpu()-begin)/time.Duration(size-before))
	}
	b.Run("add by 200", func(b *testing.B) {
		longest = 0
		benchCPU(b, 200, func() { add(200) })
		b.ReportMetric(float64(longest.Microseconds())/1000, "longest-ms")
	})
	b.Run("add singly", func(b *testing.B) {
		longest = 0
		benchCPU(b, 1, func() { add(1) })
		b.ReportMetric(float64(longest.Microseconds())/1000, "longest-ms")
	})
	for _, c := range []struct {
		name string
		by   vitrine.Caller
		in   assets.SearchRequest
	}{
		{"common word", moderator, assets.SearchRequest{Query: "wa"}},
		{"two words", moderator, assets.SearchRequest{Query: "wa wm"}},
		{"prefix", moderator, assets.SearchRequest{Query: "zen*"}},
		{"phrase of two common words", moderator, assets.SearchRequest{Query: `"bade wa"`}},
		{"phrase of two common words, half of the folders", half, assets.SearchRequest{Query: `"bade wa"`}},
		{"phrase of a common and a longer word", moderator, assets.SearchRequest{Query: `"babade wa"`}},
		{"phrase of three common words", moderator, assets.SearchRequest{Query: `"bade dede fide"`}},
		{"exclusion", moderator, assets.SearchRequest{Query: "wa -bade"}},
		{"exclusion, half of the folders", half, assets.SearchRequest{Query: "wa -bade"}},
		{"one typo", moderator, assets.SearchRequest{Query: "bdae", Typos: true}},
		{"one typo, half of the folders", half, assets.SearchRequest{Query: "bdae", Typos: true}},
		{"two typos among many words", moderator, assets.SearchRequest{Query: "usre1234", Typos: true}},
		{"sorted by createdAt", moderator, assets.SearchRequest{Sort: "createdAt"}},
		{"common word, sorted by createdAt", moderator, assets.SearchRequest{Query: "wa", Sort: "createdAt"}},
		{"one of 10,000, sorted by createdAt", moderator, assets.SearchRequest{Query: "wr", Sort: "createdAt"}},
		{"one of 100, sorted by createdAt", moderator, assets.SearchRequest{Query: "wm", Sort: "createdAt"}},
		{"common word, sorted by createdAt, half of the folders", half,
			assets.SearchRequest{Query: "wa", Sort: "createdAt"}},
		{"a month", moderator,
			assets.SearchRequest{CreatedFrom: time.UnixMilli(1_500_000_000_000),
				CreatedBefore: time.UnixMilli(1_502_600_000_000)}},
		{"six years", moderator, assets.SearchRequest{CreatedFrom: time.UnixMilli(1_500_000_000_000)}},
		{"all, half of the folders", half, assets.SearchRequest{}},
		{"common word, half of the folders", half, assets.SearchRequest{Query: "wa"}},
		{"common word, three facets", moderator,
			assets.SearchRequest{Query: "wa", Facets: []string{"generator", "tags", "folder"}}},
		{"all, three facets", moderator, assets.SearchRequest{Facets: []string{"generator", "tags", "folder"}}},
		{"rare word, three facets", moderator,
			assets.SearchRequest{Query: "wr", Facets: []string{"generator", "tags", "folder"}}},
		{"one of 100, three facets", moderator,
			assets.SearchRequest{Query: "wm", Facets: []string{"generator", "tags", "folder"}}},
		{"nothing, three facets", moderator,
			assets.SearchRequest{Query: "nowhere", Facets: []string{"generator", "tags", "folder"}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			benchCPU(b, 1, func() {
				if _, err := s.As(c.by).Search(ctx, lib, c.in); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
	b.Run("size", func(b *testing.B) {
		for b.Loop() {
			bytes, entries := indexSize(b, db)
			b.ReportMetric(float64(bytes)/float64(size), "B/post")
			b.ReportMetric(float64(entries)/float64(size), "entries/post")
		}
	})
}

// postFolders makes folders until the library has 200. It returns their ids, and how many posts there are.
func postFolders(b *testing.B, s *assets.Service) (ids []string, size int) {
	page, err := s.As(moderator).Search(ctx, lib, assets.SearchRequest{Limit: 1})
	if err != nil {
		b.Fatal(err)
	}
	for f, err := range s.As(moderator).AllFolders(ctx, lib, assets.ListFoldersRequest{}) {
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, f.ID)
	}
	for i := len(ids); i < 200; i++ {
		in := assets.NewFolder{Label: fmt.Sprintf("%03d", i),
			Permissions: []assets.Permission{{Operation: assets.View,
				User: &assets.Subject{ID: []string{"half", "other"}[i%2]}}}}
		out, err := s.As(moderator).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{Create: []assets.NewFolder{in}})
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, out.Folders[0].ID)
	}
	return ids, int(page.Total)
}

// indexSize returns how many bytes the keys and values of the index have, and how many entries there are.
func indexSize(b *testing.B, db storage.Store) (bytes, entries int) {
	space := keyval.Space("assets", lib.Network, lib.ID)
	err := db.View(ctx, func(r storage.Reader) error {
		bytes, entries = 0, 0
		for _, kind := range []string{"t1/", "new1/"} {
			for e, err := range r.Scan(ctx, storage.Prefix(space+" "+kind)) {
				if err != nil {
					return err
				}
				bytes, entries = bytes+len(e.Key)-len(space)+len(e.Value), entries+1
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return bytes, entries
}
