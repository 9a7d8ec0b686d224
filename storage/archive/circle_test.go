package archive_test

import (
	"io"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/archive"
)

// Only damage makes a folder or a review its own ancestor, or takes a parent away. No archive of that could be imported, so
// the export says at once which record it is.
func TestParentsThatAreMissingOrInACircleAreNotExported(t *testing.T) {
	for _, c := range []struct {
		what   string
		damage func(*testing.T, archive.Stores)
		want   string
	}{
		{"folders in a circle", func(t *testing.T, s archive.Stores) {
			putFolders(t, s, map[string]string{"top": "", "a": "b", "b": "c", "c": "a", "0": "a"})
		}, `export: library "l" of "n": stored folder "a": its parents go round in a circle`},
		{"a folder without its parent", func(t *testing.T, s archive.Stores) {
			putFolders(t, s, map[string]string{"top": "", "a": "gone"})
		}, `export: library "l" of "n": stored folder "a": its parent "gone" does not exist`},
		{"replies in a circle", func(t *testing.T, s archive.Stores) {
			putReviews(t, s, map[string]string{"top": "", "d": "top", "a": "b", "b": "c", "c": "b"})
		}, `export: network "n": collection "YQ==" of "s": stored review "b": its parents go round in a circle`},
		{"a reply without its parent", func(t *testing.T, s archive.Stores) {
			putReviews(t, s, map[string]string{"top": "", "a": "b", "b": "gone"})
		}, `export: network "n": collection "YQ==" of "s": stored review "b": its parent is missing`},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := inMemory()
			c.damage(t, s)
			_, err := archive.Export(ctx, s, io.Discard)
			if err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

// putFolders stores folders, each with the id of its parent.
func putFolders(t *testing.T, s archive.Stores, parents map[string]string) {
	t.Helper()
	check(t, s.Assets.Update(ctx, assets.Library{Network: "n", ID: "l"}, func(tx assets.Tx) error {
		for id, parent := range parents {
			if err := tx.PutFolder(ctx, assets.FolderRecord{ID: id, Parent: parent, Label: id}); err != nil {
				return err
			}
		}
		return tx.SetState(ctx, assets.State{Key: assets.Key{1}})
	}))
}

// putReviews imports reviews and then makes them replies, each with the id of its parent.
func putReviews(t *testing.T, s archive.Stores, parents map[string]string) {
	t.Helper()
	var list []string
	for id := range parents {
		list = append(list, `{"id":"`+id+`","author_id":"u","title":"t","body_html":"","created":"2020-01-02T03:04:05Z","ratings":[50]}`)
	}
	file := `{"source":"s","title":"T","created":"2020-01-02T03:04:05Z","id":"YQ==","dimensions":["default"],"reviews":[` + strings.Join(list, ",") + `]}`
	_, err := reviews.NewWith(s.Reviews, nil).Import(ctx, vitrine.Caller{Operator: true}, reviews.ImportRequest{Network: "n", File: strings.NewReader(file)})
	check(t, err)
	check(t, s.Reviews.Update(ctx, "n", func(tx reviews.Tx) error {
		key := reviews.Key{Source: "s", ID: "YQ=="}
		var list []reviews.Review
		for r, err := range tx.Reviews(ctx, key) {
			if err != nil {
				return err
			}
			if parent := parents[r.ID]; parent != "" {
				r.Data = []byte(strings.Replace(string(r.Data), `,"ratings":`, `,"parent_id":"`+parent+`","ratings":`, 1))
				list = append(list, r)
			}
		}
		return tx.PutReviews(ctx, key, list)
	}))
}
