package index_test

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/storage"
)

// entries yields what the model has.
func (m model) entries() iter.Seq2[index.Entry, error] {
	return func(yield func(index.Entry, error) bool) {
		for _, ordinal := range slices.Sorted(maps.Keys(m)) {
			if !yield(index.Entry{Ordinal: ordinal, Terms: m[ordinal]}, nil) {
				return
			}
		}
	}
}

// audit returns the faults of the index.
func (l *library) audit() (faults []string) {
	l.t.Helper()
	l.view(func(r *index.Reader) (err error) {
		faults, err = r.Audit(ctx, l.model.entries())
		return err
	})
	return faults
}

// raw changes records past the index.
func (l *library) raw(fn func(t storage.Tx) error) {
	l.t.Helper()
	if err := l.db.Update(ctx, l.Space, storage.UpdateOptions{}, fn); err != nil {
		l.t.Fatal(err)
	}
}

// dump returns all keys and values.
func (l *library) dump() string {
	l.t.Helper()
	var b strings.Builder
	err := l.db.View(ctx, func(r storage.Reader) error {
		for e, err := range r.Scan(ctx, storage.Range{}) {
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%s %s\n", e.Key, e.Value)
		}
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return b.String()
}

// fill adds records, and folds those before the last 20.
func (l *library) fill() {
	for part := range int64(2) {
		l.update(func(w *index.Writer) error {
			if part == 1 {
				if err := w.Fold(ctx); err != nil {
					return err
				}
			}
			for i := range []int64{5000, 20}[part] {
				l.put(w, part*5000+i+1, "all", fmt.Sprint("by", i%2), fmt.Sprint("one", part*5000+i+1))
			}
			return nil
		})
	}
}

func TestAuditFindsWhatIsWrong(t *testing.T) {
	// page changes the page to which a term belongs.
	page := func(term string, fn func(storage.Entry) storage.Entry) func(t storage.Tx) error {
		return func(t storage.Tx) error {
			for e, err := range t.Scan(ctx,
				storage.Range{From: "s t/", To: "s t/" + term + "\x00", Reverse: true, Limit: 1}) {
				changed := fn(e)
				if changed.Value == nil || changed.Key != e.Key {
					err = errors.Join(err, t.Delete(ctx, e.Key))
				}
				if changed.Value != nil {
					err = errors.Join(err, t.Put(ctx, changed))
				}
				return err
			}
			return errors.New("there is no such page")
		}
	}
	list := func(term string, value ...byte) func(t storage.Tx) error {
		return page(term, func(e storage.Entry) storage.Entry {
			return storage.Entry{Key: e.Key, Value: index.SetList(e.Value, term, value)}
		})
	}
	const differ = "are not those that follow from the records"
	for name, c := range map[string]struct {
		spoil func(t storage.Tx) error
		want  string
	}{
		"nothing":                    {func(t storage.Tx) error { return nil }, ""},
		"a list is lost":             {list("one77"), differ},
		"a list has one more":        {list("one77", 77<<1&0x7f|0x80, 1, 1), differ},
		"a list is another":          {list("one77", 78<<1&0x7f|0x80, 1), differ},
		"there is a list of nothing": {list("zzz", 10), differ},
		"a list has no ordinals":     {list("one77", 1), `the list of the term "one77" in the page "s t/`},
		"an ordinal is there twice": {list("one77", 77<<1&0x7f|0x80, 1, 0),
			`has 77 of the term "one77" out of order`},
		"a page is damaged": {page("one77", func(e storage.Entry) storage.Entry {
			e.Value = e.Value[:len(e.Value)-1]
			return e
		}), "damaged"},
		"a page is lost": {page("by1", func(e storage.Entry) storage.Entry { e.Value = nil; return e }),
			differ},
		"a page has another key": {page("by1", func(e storage.Entry) storage.Entry { e.Key += "1"; return e }),
			"out of order"},
		"a page begins too early": {func(t storage.Tx) error {
			return t.Put(ctx, storage.Entry{Key: "s t/all b20", Value: []byte{}})
		}, "begins before the one before it ends"},
		"a page has no key": {func(t storage.Tx) error {
			return t.Put(ctx, storage.Entry{Key: "s t/all ", Value: []byte{}})
		}, "damaged"},
		"a segment adds what is there": {list("one5001", 0x92, 0x4e),
			`a segment changes 5001 in the list of the term "one5001" to what it is`},
	} {
		l := open(t)
		l.fill()
		l.raw(c.spoil)
		faults := l.audit()
		if c.want == "" {
			if faults != nil {
				t.Errorf("%s: %q", name, faults)
			}
		} else if !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, c.want) }) {
			t.Errorf("%s: %.300q, want %q", name, faults, c.want)
		}
		l.rebuild()
		if faults := l.audit(); faults != nil {
			t.Errorf("%s, and built anew: %q", name, faults)
		}
	}
}

// rebuild builds the index anew, and changes something meanwhile.
func (l *library) rebuild() {
	l.t.Helper()
	l.raw(func(t storage.Tx) error {
		if _, err := l.Drop(ctx, t, 0); err != nil {
			return err
		}
		return l.Begin(ctx, t)
	})
	for round, done := 0, false; !done; round++ {
		l.update(func(w *index.Writer) error {
			last, building := w.Built()
			if !building {
				return errors.New("the index is not being built")
			}
			var list []index.Entry
			for e := range l.model.entries() {
				if e.Ordinal > last && len(list) < 2000 {
					list = append(list, e)
				}
			}
			done = len(list) == 0
			return w.Build(ctx, list, done)
		})
		if round == 1 {
			err := l.db.View(ctx, func(r storage.Reader) error {
				value, _ := r.Get(ctx, l.Key())
				in, err := l.Reader(r, value[0])
				if err == nil {
					_, err = in.Find(ctx, index.Query{All: [][]string{{"all"}}})
				}
				return err
			})
			if !errors.Is(err, storage.ErrBusy) {
				l.t.Errorf("while the index is built anew, Find returns %v, want ErrBusy", err)
			}
			l.update(func(w *index.Writer) error {
				l.put(w, 1, "all", "moved")
				l.put(w, 3999)
				l.put(w, 4500, "all", "moved")
				l.put(w, 9000, "new")
				return nil
			})
		}
	}
}

// A word that was removed must not be found in any key or value after a fold of everything, whatever was folded before.
func TestNothingIsLeftOfARemovedWordAfterFold(t *testing.T) {
	index.Small(t)
	for seed := range uint64(20) {
		l, rng := open(t), rand.New(rand.NewPCG(seed, 1))
		secret := func(n int64) string { return fmt.Sprintf("secret%d", n%7) }
		for range 30 {
			l.update(func(w *index.Writer) error {
				for range 10 {
					n := 1 + rng.Int64N(2000)
					l.put(w, n, "all", secret(n), fmt.Sprint("n", n%50))
				}
				return nil
			})
		}
		if !strings.Contains(l.dump(), "secret") {
			t.Fatal("there is no word to remove")
		}
		l.update(func(w *index.Writer) error {
			for n, terms := range maps.Clone(l.model) {
				if rng.IntN(2) == 0 {
					l.put(w, n, "all")
				} else {
					l.put(w, n, slices.DeleteFunc(slices.Clone(terms), func(t string) bool {
						return strings.HasPrefix(t, "secret")
					})...)
				}
			}
			return nil
		})
		for range rng.IntN(5) {
			l.update(func(w *index.Writer) error { l.put(w, 1+rng.Int64N(2000), "all", "other"); return nil })
		}
		l.update(func(w *index.Writer) error { return w.Fold(ctx) })
		if dump := l.dump(); strings.Contains(dump, "secret") || strings.Contains(dump, "s new/") {
			t.Fatalf("seed %d: after a fold there is still %.2000q", seed, dump)
		}
		if faults := l.audit(); faults != nil {
			t.Fatalf("seed %d: %q", seed, faults)
		}
	}
}

// An update waits for no more of a fold than a slice.
func TestASliceOfAFoldIsShort(t *testing.T) {
	index.FoldAt(t, 50_000)
	l := open(t)
	most := 0
	for round := range int64(60) {
		l.puts = 0
		l.update(func(w *index.Writer) error {
			for i := range int64(200) {
				n := round*200 + i
				l.put(w, n+1, "all", fmt.Sprint("a", n%5000), fmt.Sprint("b", n%7919), fmt.Sprint("c", n),
					fmt.Sprint("d", n%3), fmt.Sprint("e", n%11), fmt.Sprint("f", n/3), fmt.Sprint("g", n/2))
			}
			return nil
		})
		most = max(most, l.puts)
	}
	pages := strings.Count(l.dump(), "s t/")
	if most < 4 || pages < 4*most {
		t.Errorf("an update puts up to %d records, and there are %d pages: want a segment, the state and a slice of "+
			"a fold", most, pages)
	}
	l.view(func(r *index.Reader) error { return l.check(r, index.Query{All: [][]string{{"d1"}, {"e3"}}}, "d") })
}
