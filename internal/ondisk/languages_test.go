package ondisk

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/postgres"
)

// testdata/languages.txt has, by language, posts and what their readers find. "b. text" is the post b, and
// "ab = first / second" says that both queries find a and b and nothing else, with - for none. A query with ~ before it
// allows for typos.
func TestReadersFindWhatTheyMean(t *testing.T) {
	table, err := os.ReadFile("testdata/languages.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func(*testing.T) storage.Store{
		"memory": func(*testing.T) storage.Store { return memory.New() },
		"SQLite": func(t *testing.T) storage.Store { db, _ := open(t); return db },
		"PostgreSQL": func(t *testing.T) storage.Store {
			db, err := postgres.Open(ctx, cluster.Schema(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			return db
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, queries := open(t), 0
			defer db.Close()
			languages := strings.Split(string(table), "\n\n")
			for _, part := range languages {
				queries += findsAs(t, db, strings.Split(strings.TrimSpace(part), "\n"))
			}
			if queries < 400 || len(languages) < 20 {
				t.Error(queries, "queries in", len(languages), "languages")
			}
		})
	}
}

// findsAs adds the posts of a language, and compares what its queries find. It returns how many there are.
func findsAs(t *testing.T, db storage.Store, lines []string) (queries int) {
	language := strings.TrimPrefix(lines[0], "# ")
	s, lib := assets.New(db, nil).As(moderator), assets.Library{Network: lib.Network, ID: language}
	var in assets.ChangeAssetsRequest
	for _, line := range lines[1:] {
		if id, text, ok := strings.Cut(line, ". "); ok && len(id) == 1 {
			content, _ := json.Marshal(map[string]string{"content": text})
			in.Add = append(in.Add, assets.NewAsset{ID: id, Generator: assets.Generator{ID: "g"}, Content: content})
		}
	}
	if _, err := s.ChangeAssets(context.Background(), lib, in); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1+len(in.Add):] {
		want, all, _ := strings.Cut(line, " = ")
		for _, q := range strings.Split(all, " / ") {
			queries++
			query, typos := strings.CutPrefix(q, "~")
			page, err := s.Search(context.Background(), lib,
				assets.SearchRequest{Query: query, Typos: typos, Order: "asc"})
			found := ""
			for _, a := range page.Assets {
				var body struct{ Content struct{ ID string } }
				if err := json.Unmarshal(a.Body, &body); err != nil {
					t.Fatal(err)
				}
				found += body.Content.ID
			}
			if found == "" {
				found = "-"
			}
			if err != nil || found != want || fmt.Sprint(page.Total) != fmt.Sprint(len(page.Assets)) {
				t.Errorf("%s: %s finds %s of %d, want %s (%v)", language, q, found, page.Total, want, err)
			}
		}
	}
	return queries
}
