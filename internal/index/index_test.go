package index_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

var ctx = context.Background()

// model is what an index should have: the terms of each ordinal, sorted.
type model map[int64][]string

// library is a store with an index and its model.
type library struct {
	t  *testing.T
	db storage.Store
	index.Index
	model model
	puts  int // how many records were put
}

// counting counts what is put.
type counting struct {
	storage.Tx
	puts *int
}

func (c counting) Put(ctx context.Context, entries ...storage.Entry) error {
	*c.puts += len(entries)
	return c.Tx.Put(ctx, entries...)
}

func open(t *testing.T) *library {
	db := memory.New()
	t.Cleanup(func() { db.Close() })
	return &library{t, db, index.Index{Space: "s", Cache: index.NewCache(1 << 20)}, model{}, 0}
}

func (l *library) update(fn func(w *index.Writer) error) {
	l.t.Helper()
	err := l.db.Update(ctx, l.Space, storage.UpdateOptions{}, func(t storage.Tx) error {
		value, err := t.Get(ctx, l.Key())
		if err != nil {
			return err
		}
		w, err := l.Writer(counting{t, &l.puts}, value[0])
		if err != nil {
			return err
		}
		return errors.Join(fn(w), w.Finish(ctx))
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *library) view(fn func(r *index.Reader) error) {
	l.t.Helper()
	err := l.db.View(ctx, func(r storage.Reader) error {
		value, err := r.Get(ctx, l.Key())
		if err != nil {
			return err
		}
		in, err := l.Reader(r, value[0])
		if err != nil {
			return err
		}
		return fn(in)
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

// put gives an ordinal terms, none to remove it.
func (l *library) put(w *index.Writer, ordinal int64, terms ...string) {
	slices.Sort(terms)
	terms = slices.Compact(terms)
	w.Change(ordinal, l.model[ordinal], terms)
	if l.model[ordinal] = terms; len(terms) == 0 {
		delete(l.model, ordinal)
	}
}

func (m model) find(q index.Query) (out []int64) {
	for ordinal, terms := range m {
		all := true
		for _, set := range q.All {
			all = all && slices.ContainsFunc(set, func(t string) bool { return slices.Contains(terms, t) })
		}
		for _, set := range q.Spans {
			all = all && slices.ContainsFunc(set, func(in index.Span) bool {
				return slices.ContainsFunc(terms, func(t string) bool {
					return t >= in.From && t < in.To && (in.Match == nil || in.Match(t))
				})
			})
		}
		if all {
			out = append(out, ordinal)
		}
	}
	slices.Sort(out)
	return out
}

// mark separates the terms of a group.
const mark = "\x01"

// counts returns how many ordinals have each term with a prefix, and each group of these terms.
func (m model) counts(among []int64, prefix string) (terms, groups map[string]int64) {
	terms, groups = map[string]int64{}, map[string]int64{}
	for _, ordinal := range among {
		had := map[string]bool{}
		for _, term := range m[ordinal] {
			if rest, ok := strings.CutPrefix(term, prefix); ok {
				terms[term]++
				group, _, _ := strings.Cut(rest, mark)
				had[group] = true
			}
		}
		for group := range had {
			groups[group]++
		}
	}
	return terms, groups
}

// check compares the answers to a query.
func (l *library) check(r *index.Reader, q index.Query, prefix string) error {
	set, err := r.Find(ctx, q)
	if err != nil {
		return err
	}
	want := l.model.find(q)
	if got := slices.Collect(set.All(true)); !slices.Equal(got, want) || set.Count() != len(want) {
		return fmt.Errorf("%v: found %d, want %d", q, got, want)
	}
	among := want
	if len(q.All)+len(q.Spans) == 0 {
		set, among = nil, slices.Collect(maps.Keys(l.model))
	}
	terms, groups := l.model.counts(among, prefix)
	for _, least := range []int64{0, 1, 2, 5, 100} {
		atLeast := func() int64 { return least }
		if least == 0 {
			atLeast = nil
		}
		left, last := maps.Clone(groups), ""
		more := r.CountTerms(ctx, set, prefix, mark, atLeast, func(group []index.TermCount, n int64) bool {
			head, _, _ := strings.Cut(group[0].Term[len(prefix):], mark)
			for _, c := range group {
				name, _, _ := strings.Cut(c.Term[len(prefix):], mark)
				if len(left) < len(groups) && c.Term <= last || name != head || c.Count != terms[c.Term] {
					err = fmt.Errorf("%v: %q follows %q in the group %q: %d, want %d", q, c.Term, last, head, c.Count,
						terms[c.Term])
				}
				last = c.Term
			}
			if left[head] != n {
				err = fmt.Errorf("%v: %d have %q, want %d", q, n, head, left[head])
			}
			delete(left, head)
			return true
		})
		for head, n := range left {
			if n >= least {
				err = fmt.Errorf("%v: %q, which %d have, is left out where %d are enough", q, head, n, least)
			}
		}
		err = errors.Join(err, more)
	}
	return err
}

var alphabet = []string{"", "a", "b", "ab", "a b", "a!", "a\x01", "a\x01b", "a\x01c", "\x01d", "é", "aa", "b ", "語",
	strings.Repeat("x", 256),
	strings.Repeat(" ", 256)}

func randomTerm(rng *rand.Rand) string {
	if rng.IntN(2) == 0 {
		return alphabet[rng.IntN(len(alphabet))]
	}
	return fmt.Sprint("n", rng.IntN(60))
}

func randomSpan(rng *rand.Rand) index.Span {
	in := index.Span{From: randomTerm(rng), To: randomTerm(rng)}
	if rng.IntN(2) == 0 {
		in.Match = func(t string) bool { return len(t)%2 == 0 }
	}
	if rng.IntN(2) == 0 {
		in.To = "\xff"
	}
	return in
}

// checkEach compares the terms of a span and what has them, in both directions.
func (l *library) checkEach(r *index.Reader, q index.Query, in index.Span) error {
	var set *index.Set
	among := l.model
	if len(q.All)+len(q.Spans) > 0 {
		var err error
		if set, err = r.Find(ctx, q); err != nil {
			return err
		}
		among = model{}
		for _, o := range l.model.find(q) {
			among[o] = l.model[o]
		}
	}
	var want []string
	lists := map[string][]int64{}
	for _, o := range slices.Sorted(maps.Keys(among)) {
		for _, term := range among[o] {
			if term >= in.From && term < in.To {
				lists[term] = append(lists[term], o)
			}
		}
	}
	for _, term := range slices.Sorted(maps.Keys(lists)) {
		want = append(want, fmt.Sprintf("%q %d", term, lists[term]))
	}
	for _, back := range []bool{false, true} {
		for most := range 3 {
			got, most := []string{}, []int{1 << 30, 1, 3}[most]
			err := r.Each(ctx, set, in, back, func(term string, list []int64) bool {
				got = append(got, fmt.Sprintf("%q %d", term, list))
				return len(got) < most
			})
			if err != nil || !slices.Equal(got, want[:min(most, len(want))]) {
				return fmt.Errorf("%v from %q to %q, back %t: %.2000q, want %.2000q (%w)", q, in.From, in.To, back, got,
					want, err)
			}
		}
		slices.Reverse(want)
	}
	return nil
}

// randomQuery has one to three sets.
func randomQuery(rng *rand.Rand) (q index.Query) {
	for len(q.All)+len(q.Spans) == 0 {
		for range rng.IntN(3) {
			set := []string{}
			for range rng.IntN(5) {
				set = append(set, randomTerm(rng))
			}
			q.All = append(q.All, set)
		}
		if rng.IntN(2) == 0 {
			q.Spans = append(q.Spans,
				[]index.Span{index.Prefix("n" + fmt.Sprint(rng.IntN(6))), randomSpan(rng),
					index.Prefix("é")}[:1+rng.IntN(3)])
		}
	}
	return q
}

// Everything is small, so that segments are merged and folded all the time.
func TestAnIndexAgreesWithItsModel(t *testing.T) {
	index.Small(t)
	for seed := range uint64(3) {
		l, rng := open(t), rand.New(rand.NewPCG(seed, 0))
		highest := []int{40, 3000, 3_000_000}[seed%3]
		for range 80 {
			l.update(func(w *index.Writer) error {
				var errs []error
				for range 1 + rng.IntN(20) {
					ordinal := 1 + rng.Int64N(int64(highest))
					if rng.IntN(3) == 0 && len(l.model) > 0 {
						ordinal = pick(rng, l.model)
					}
					var terms []string
					for range rng.IntN(8) {
						terms = append(terms, randomTerm(rng))
					}
					l.put(w, ordinal, terms...)
					if rng.IntN(20) == 0 {
						errs = append(errs, l.check(&w.Reader, randomQuery(rng), "n"))
					}
				}
				if rng.IntN(30) == 0 {
					errs = append(errs, w.Fold(ctx))
				}
				return errors.Join(errs...)
			})
			if rng.IntN(10) == 0 {
				if faults := l.audit(); faults != nil {
					t.Fatalf("seed %d: %q", seed, faults)
				}
			}
			l.view(func(r *index.Reader) error {
				errs := []error{l.check(r, randomQuery(rng), randomTerm(rng))}
				for range 5 {
					errs = append(errs, l.check(r, randomQuery(rng), "n"),
						l.checkEach(r, randomQuery(rng), randomSpan(rng)))
				}
				return errors.Join(append(errs, l.checkEach(r, index.Query{}, index.Prefix("")))...)
			})
		}
	}
}

func pick(rng *rand.Rand, m model) int64 {
	keys := slices.Sorted(maps.Keys(m))
	return keys[rng.IntN(len(keys))]
}

// Lists of many blocks, from which the middle and the end are removed.
func TestLongLists(t *testing.T) {
	for _, gap := range []int64{1, 100_000} {
		l := open(t)
		for part := range int64(10) {
			l.update(func(w *index.Writer) error {
				for i := range int64(2000) {
					l.put(w, 1+(part*2000+i)*gap, "all", fmt.Sprint("by", i%3))
				}
				return w.Fold(ctx)
			})
		}
		check := func() {
			t.Helper()
			l.view(func(r *index.Reader) error {
				return errors.Join(l.check(r, index.Query{All: [][]string{{"all"}}}, "b"),
					l.check(r, index.Query{All: [][]string{{"by1"}, {"by1", "by2"}}}, "b"),
					l.check(r, index.Query{Spans: [][]index.Span{{index.Prefix("by")}}}, "a"))
			})
		}
		check()
		remove := func(from, to int64) {
			l.update(func(w *index.Writer) error {
				for i := from; i < to; i++ {
					l.put(w, 1+i*gap)
				}
				return w.Fold(ctx)
			})
			check()
		}
		remove(3000, 3010)
		remove(2000, 12_000)
		remove(15_000, 20_000)
		remove(0, 100)
		l.update(func(w *index.Writer) error {
			for i := range int64(50) {
				l.put(w, 1+i*gap, "all")
			}
			return w.Fold(ctx)
		})
		check()
		remove(0, 20_000)
		l.view(func(r *index.Reader) error {
			return r.CountTerms(ctx, nil, "", mark, nil,
				func([]index.TermCount, int64) bool { t.Error("a term is left"); return false })
		})
	}
}
