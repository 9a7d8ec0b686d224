package agree

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/peer"
)

// bleve is a process with an index of the posts.
type bleve struct{ *peer.Process }

// startBleve skips where Bleve cannot be fetched.
func startBleve(b *testing.B, l *library) bleve {
	program, err := os.ReadFile(filepath.Join("testdata", "bleve.go"))
	if err != nil {
		b.Fatal(err)
	}
	dir := peer.Module(b, []string{"github.com/blevesearch/bleve/v2@v2.6.3"}, map[string][]byte{"main.go": program})
	file := filepath.Join(dir, "posts")
	writeTerms(b, l, file)
	p := bleve{peer.Start(b, peer.Build(b, dir, filepath.Join(dir, "index"), file))}
	p.Ask(b, "", fmt.Sprint(l.size))
	return p
}

// writeTerms writes the terms of each post as a line.
func writeTerms(b *testing.B, l *library, file string) {
	out, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	w := bufio.NewWriter(out)
	err = l.store.View(ctx, postsLibrary, func(r assets.Reader) error {
		for a, err := range r.Assets(ctx, assets.AssetQuery{Ascending: true}) {
			if err != nil {
				return err
			}
			x, err := assets.IndexOf(a, assets.Limits{})
			if err != nil {
				return err
			}
			fmt.Fprintln(w, strings.Join(x.Terms, "\t"))
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
}

// search compares with a library that finds the same.
func (p bleve) search(word string, facets []string, l *library) func(*testing.B) {
	return func(b *testing.B) {
		question := "w" + word
		for _, f := range facets {
			question += " " + f[:1]
		}
		found, err := l.svc.Search(ctx, postsKeeper, postsLibrary, assets.SearchRequest{Query: word, Facets: facets})
		if err != nil {
			b.Fatal(err)
		}
		want := fmt.Sprint(found.Paging.Total)
		for _, f := range found.Facets {
			want += fmt.Sprint(" ", f.Values[0].Count)
		}
		for b.Loop() {
			p.Ask(b, question, want)
		}
	}
}
