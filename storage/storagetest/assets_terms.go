package storagetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/assets/assetstore"
)

// oddTerms are terms that a search engine could misread, as syntax for instance.
var oddTerms = []string{
	"a", "A", "á", "a\u0301", "ab", "a b", " a", "a ", "a*", "*", "\"", "\"a\"", "'", "''", "a AND b", "NOT", "NEAR(a b)", "OR", "and",
	"col:a", "-a", "^a", "+a", "(", ")", "{a}", "a_b", "a_", "_", "_61", "a-b", "a.b", "\\", "%", "0", "00", "١", "\t", "\n", "\x01",
	"ÿ", "ß", "ss", "İ", "i", "I", "語", "語語", "🜚", "\U0010ffff", "\u200b", "\u00a0",
	strings.Repeat("x", assetstore.MaxTerm), strings.Repeat("x", assetstore.MaxTerm-1), strings.Repeat("語", 85), strings.Repeat("\"", assetstore.MaxTerm),
}

var assetTermRules = []assetRule{
	// The Service has already cut text into words and folded their case. A driver compares terms byte by byte and must
	// keep a search engine from reading them as syntax, splitting or folding them.
	{"a term matches only itself, whatever characters it has", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assetstore.Tx) error {
			for i, term := range oddTerms {
				if err := m.put(w, record(int64(i+1)), index(term)); err != nil {
					return err
				}
			}
			return nil
		})
		m.checkIn(t, s, library)
	}},
	// A long text has as many words.
	{"an asset may have thousands of terms", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		terms := slices.Clone(oddTerms)
		for i := range 5000 {
			terms = append(terms, fmt.Sprint("term", i))
		}
		change(t, s, library, func(w assetstore.Tx) error { return m.put(w, record(1), index(terms...)) })
		err := s.View(ctx, library, func(r assetstore.Reader) error {
			for _, term := range []string{"term0", "term4999", "\"", "term5000", "term"} {
				if err := m.checkQuery(r, assetstore.AssetQuery{All: []assetstore.AnyOf{{term}}}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}},
	// All is an intersection of unions: an asset needs a term of each set. No sets match everything, and an empty set
	// matches nothing. After and Before are exclusive bounds of the ordinal, and 0 is no bound.
	{"a query means what AssetQuery.Match and AssetQuery.Compare say, with any bounds, order and limit", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assetstore.Tx) error {
			for i := int64(1); i <= 24; i++ {
				terms := []string{"all"}
				for _, by := range []int64{2, 3, 5} {
					if i%by == 0 {
						terms = append(terms, fmt.Sprint("by", by))
					}
				}
				if err := m.put(w, record(i*3), index(terms...)); err != nil {
					return err
				}
			}
			return nil
		})
		for _, all := range [][]assetstore.AnyOf{
			nil, {{"all"}}, {{"by2"}}, {{"by2"}, {"by3"}}, {{"by2", "by3"}}, {{"by2", "by2", "by3"}}, {{"by2", "by3"}, {"by5", "never"}},
			{{"never"}}, {{"by2"}, {"never"}}, {{}}, {{"all"}, {}}, {{"all"}, {"all"}, {"by5", "all"}}, {{"by2"}, {"by3"}, {"by5"}},
		} {
			for _, after := range []int64{0, 1, 3, 30, 72, 73} {
				for _, before := range []int64{0, 1, 3, 31, 33, 72, 73} {
					// A View of its own: nothing was counted in it before the first pages.
					err := s.View(ctx, library, func(r assetstore.Reader) error {
						for _, check := range []func(assetstore.Reader, assetstore.AssetQuery) error{m.checkPage, m.checkQuery} {
							for _, limit := range []int{0, 1, 5} {
								for _, ascending := range []bool{false, true} {
									q := assetstore.AssetQuery{All: all, After: after, Before: before, Ascending: ascending, Limit: limit}
									if err := check(r, q); err != nil {
										return err
									}
								}
							}
						}
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}},
	// What a caller may see is one set with a term for each folder. Some databases limit the number of parameters or
	// the depth of an expression.
	{"a set may have thousands of terms, and a query may have many sets", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assetstore.Tx) error {
			for i := int64(1); i <= 50; i++ {
				if err := m.put(w, record(i), index("all", fmt.Sprint("folder", i), fmt.Sprint("half", i%2))); err != nil {
					return err
				}
			}
			return nil
		})
		many := assetstore.AnyOf{"folder7", "folder49"}
		for i := range 2_000 {
			many = append(many, fmt.Sprint("other", i))
		}
		sets := []assetstore.AnyOf{many, {"all"}}
		for range 130 {
			sets = append(sets, assetstore.AnyOf{"all", "half1"})
		}
		err := s.View(ctx, library, func(r assetstore.Reader) error {
			for n := 1; n <= len(sets); n += 65 {
				if err := m.checkQuery(r, assetstore.AssetQuery{All: sets[:n], Limit: 1}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}},
	// Prefixes are compared byte by byte, so "_", "%" and "*" match themselves alone. A term has its whole length as a
	// prefix too.
	{"a set of prefixes matches the assets that have a term with one of these beginnings", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assetstore.Tx) error {
			for i, term := range oddTerms {
				if err := m.put(w, record(int64(i+1)), index(term, "every")); err != nil {
					return err
				}
			}
			return nil
		})
		err := s.View(ctx, library, func(r assetstore.Reader) error {
			for _, term := range oddTerms {
				for i := range term {
					if i == 0 {
						continue
					}
					for _, sets := range [][]assetstore.AnyOf{{{term[:i]}}, {{term[:i], "語"}}, {{"every"}, {term[:i], "never"}}, {{term[:i]}, {"never"}}, {{}}} {
						if err := m.checkQuery(r, assetstore.AssetQuery{Prefixes: sets, Limit: 2}); err != nil {
							return err
						}
					}
					if i > 3 {
						break
					}
				}
			}
			// A driver that caches results must not confuse these two queries, whatever key it makes of them.
			terms := assetstore.AssetQuery{All: []assetstore.AnyOf{{"\x01"}, {"a"}}}
			prefix := assetstore.AssetQuery{Prefixes: []assetstore.AnyOf{{"a"}}}
			all := assetstore.AssetQuery{All: []assetstore.AnyOf{{"every"}, {"a", "ab", "a b"}}, Prefixes: []assetstore.AnyOf{{"a"}, {"ev", "x"}}}
			return errors.Join(m.checkQuery(r, terms), m.checkQuery(r, prefix), m.checkQuery(r, all), m.checkCounts(r, all, "a"))
		})
		if err != nil {
			t.Error(err)
		}
	}},
	// This is what facets show. Without a limit all terms are yielded, in any order. The caller may read something else
	// between the steps, and may stop early.
	{"CountTerms counts terms among the assets that match; with a limit the most frequent come first, ties in byte order", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		change(t, s, library, func(w assetstore.Tx) error {
			for i := int64(1); i <= 90; i++ {
				terms := []string{"all", fmt.Sprint("third", i%3), fmt.Sprint("n", i), fmt.Sprint("n", i%7), "Z" + fmt.Sprint(i%5), "z" + fmt.Sprint(i%4)}
				if err := m.put(w, record(i*40), index(terms...)); err != nil {
					return err
				}
			}
			return m.delete(w, 40)
		})
		err := s.View(ctx, library, func(r assetstore.Reader) error {
			for _, all := range [][]assetstore.AnyOf{nil, {{"all"}}, {{"third0"}}, {{"third1", "third2"}, {"Z3", "z1"}}, {{"never"}}, {{}}} {
				for _, prefix := range []string{"n", "n1", "third", "z", "Z", "all", "never", "n90"} {
					for _, limit := range []int{0, 1, 5, 1000} {
						for _, bounds := range [][2]int64{{0, 0}, {40, 0}, {0, 2000}, {1000, 2041}, {5000, 0}, {0, 1}} {
							q := assetstore.AssetQuery{All: all, Limit: limit, After: bounds[0], Before: bounds[1]}
							if err := m.checkCounts(r, q, prefix); err != nil {
								return err
							}
						}
					}
				}
			}
			for c, err := range r.CountTerms(ctx, assetstore.AssetQuery{}, "n") {
				if err != nil {
					return err
				}
				// Another read, and the end of the loop.
				return m.checkQuery(r, assetstore.AssetQuery{All: []assetstore.AnyOf{{c.Term}}})
			}
			return errors.New("no term is counted")
		})
		if err != nil {
			t.Error(err)
		}
	}},
	// A driver that keeps a list of all terms must not offer a term with the count 0.
	{"CountTerms leaves out terms of other libraries and terms that no asset has any more", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		change(t, s, nowhere, func(w assetstore.Tx) error { return newAssetModel().put(w, record(1), index("a1", "a2", "b")) })
		change(t, s, library, func(w assetstore.Tx) error { return m.put(w, record(1), index("a2", "a3")) })
		change(t, s, library, func(w assetstore.Tx) error { return m.put(w, record(1), index("a2", "a4")) })
		m.checkIn(t, s, library)
		change(t, s, library, func(w assetstore.Tx) error {
			return errors.Join(m.put(w, record(2), index("a5")), m.checkCounts(w, assetstore.AssetQuery{}, "a"),
				m.checkCounts(w, assetstore.AssetQuery{Limit: 1}, "a"), m.checkQuery(w, assetstore.AssetQuery{Prefixes: []assetstore.AnyOf{{"a"}}}))
		})
		m.checkIn(t, s, library)
		err := s.View(ctx, library, func(r assetstore.Reader) error { return m.checkCounts(r, assetstore.AssetQuery{}, "a") })
		if err != nil {
			t.Error(err)
		}
	}},
	// A caller must not learn a value from an asset that the caller may not see. The empty string is a value. Key is compared
	// whole: "k" is not "kk".
	{"Values yields the values of a key in the assets that match, each once, in byte order", func(t *testing.T, s assetstore.Store) {
		m := newAssetModel()
		labels := map[int64][]string{40: {"b", ""}, 41: {"a", "B", "b"}, 42: {"é"}, 43: {"only odd", "z"}, 44: {"z"}}
		for i := int64(1); i < 40; i++ {
			labels[i] = []string{"many"}
		}
		change(t, s, library, func(w assetstore.Tx) error {
			for _, ordinal := range slices.Sorted(maps.Keys(labels)) {
				x := index("all", fmt.Sprint("half", ordinal%2), fmt.Sprint("n", ordinal))
				for _, value := range labels[ordinal] {
					x.Attributes = append(x.Attributes, assetstore.Attribute{Key: "k", Value: value}, assetstore.Attribute{Key: "kk", Value: "other"})
				}
				slices.SortFunc(x.Attributes, func(a, b assetstore.Attribute) int {
					return strings.Compare(a.Key+"\x00"+a.Value, b.Key+"\x00"+b.Value)
				})
				x.Attributes = slices.Compact(x.Attributes)
				if err := m.put(w, record(ordinal), x); err != nil {
					return err
				}
			}
			return nil
		})
		err := s.View(ctx, library, func(r assetstore.Reader) error {
			for _, all := range [][]assetstore.AnyOf{
				nil, {{"all"}}, {{"half0"}}, {{"half1"}}, {{"n39"}}, {{"n1", "n41"}}, {{"n40", "n43"}, {"half1"}}, {{"never"}}, {{}}, {{"all"}, {}},
			} {
				for _, key := range []string{"k", "kk", "", "never"} {
					if err := m.checkValues(r, key, all); err != nil {
						return err
					}
				}
			}
			for value, err := range r.Values(ctx, "k", nil) {
				if value != "" || err != nil {
					return fmt.Errorf("the first value is %q, error %v", value, err)
				}
				break
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}},
}
