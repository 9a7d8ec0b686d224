package sqlite

import (
	"context"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/assets"
)

// A term, whatever is in it, finds the assets that have it and no others.
func FuzzTerm(f *testing.F) {
	for _, seed := range [][2]string{{"a", "A"}, {`"`, `""`}, {"a*", "a"}, {"_61", "a"}, {"é", "e\u0301"}, {"\x01", "\x02"}, {"a b", "ab"}} {
		f.Add(seed[0], seed[1])
	}
	db := openTest(f, nil)
	f.Fuzz(func(t *testing.T, one, two string) {
		for _, term := range []string{one, two} {
			if term == "" || len(term) > assets.MaxTerm || !utf8.ValidString(term) || slices.Contains([]byte(term), 0) {
				t.Skip("no term")
			}
		}
		ctx := context.Background()
		err := db.Assets().Update(ctx, assets.Library{Network: "n", ID: "l"}, func(w assets.Tx) error {
			for i, terms := range [][]string{{one}, {two}} {
				if err := w.PutAsset(ctx, assets.Record{Ordinal: int64(i + 1), Body: []byte("{}")}, assets.Index{Terms: terms}); err != nil {
					return err
				}
			}
			want := int64(1)
			if one == two {
				want = 2
			}
			for _, term := range []string{one, two} {
				if n, err := w.Count(ctx, assets.AssetQuery{All: []assets.AnyOf{{term}}}); err != nil || n != want {
					t.Errorf("%q and %q: %q finds %d, error %v", one, two, term, n, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
