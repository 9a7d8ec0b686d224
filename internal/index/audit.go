package index

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"math/rand/v2"
	"strings"

	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// MaxTerm is how many bytes a term has at most.
const MaxTerm = 256

// Entry is what an index shall have of an ordinal: its terms, sorted and each once.
type Entry struct {
	Ordinal int64
	Terms   []string
}

// How many parts the terms are divided into for Audit, and how many of them it compares in detail.
const (
	auditParts   = 4096
	auditDetails = 64
)

// Audit compares the index with what it shall have, and yields a sentence for each difference, or an error as the last pair. It reads
// the entries twice if there are differences. It needs little memory: of the parts of the terms it adds up digests first, and only
// looks closer at those that differ.
func (r *Reader) Audit(ctx context.Context, entries iter.Seq2[Entry, error]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		a := audit{Reader: r, seed: maphash.MakeSeed(), salt: rand.Uint64()}
		a.yield = func(s string) bool {
			a.left = a.left || !yield(s, nil)
			return !a.left
		}
		err := r.ready()
		if err == nil {
			err = r.load(ctx)
		}
		if err == nil {
			err = a.compare(ctx, entries)
		}
		switch {
		case a.left:
		case errors.Is(err, errDamaged):
			yield(err.Error(), nil)
		case err != nil:
			yield("", err)
		}
	}
}

type audit struct {
	*Reader
	yield func(string) bool
	left  bool // the loop over the faults has ended
	seed  maphash.Seed
	salt  uint64
	sums  [auditParts]uint64
}

func (a *audit) part(term string) uint64 { return maphash.String(a.seed, term) % auditParts }

// digest returns a digest of a term and an ordinal that nobody can aim at.
func (a *audit) digest(term, ordinal uint64) uint64 {
	x := (term ^ a.salt) + ordinal*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (a *audit) compare(ctx context.Context, entries iter.Seq2[Entry, error]) error {
	for e, err := range entries {
		if err != nil {
			return err
		}
		for _, term := range e.Terms {
			h := maphash.String(a.seed, term)
			a.sums[h%auditParts] += a.digest(h, uint64(e.Ordinal))
		}
	}
	err := a.lists(ctx, true, func(term string, s *Set) bool {
		h := maphash.String(a.seed, term)
		for o := range s.All(true) {
			a.sums[h%auditParts] -= a.digest(h, uint64(o))
		}
		return true
	})
	if err != nil || a.left {
		return err
	}
	differ := map[uint64]bool{}
	for i, sum := range a.sums {
		if sum != 0 && len(differ) < auditDetails {
			differ[uint64(i)] = true
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return a.details(ctx, entries, differ)
}

// details compares the lists of the terms in some parts.
func (a *audit) details(ctx context.Context, entries iter.Seq2[Entry, error], differ map[uint64]bool) error {
	want := map[string]*Set{}
	for e, err := range entries {
		if err != nil {
			return err
		}
		for _, term := range e.Terms {
			if differ[a.part(term)] {
				if want[term] == nil {
					want[term] = &Set{}
				}
				want[term].add(e.Ordinal)
			}
		}
	}
	err := a.lists(ctx, false, func(term string, got *Set) bool {
		if !differ[a.part(term)] {
			return true
		}
		w := want[term]
		if w == nil {
			w = &Set{}
		}
		delete(want, term)
		return a.except(w, got, "the list of the term %.80q lacks %d", term) && a.except(got, w, "the list of the term %.80q has %d, which does not have the term", term)
	})
	for term, w := range want {
		if err != nil || a.left || !a.except(w, &Set{}, "the list of the term %.80q lacks %d", term) {
			break
		}
	}
	return err
}

// except yields a sentence for each ordinal of s that is not in o.
func (a *audit) except(s, o *Set, format, term string) bool {
	for ordinal := range s.All(true) {
		if !o.has(ordinal) && !a.yield(fmt.Sprintf(format, term, ordinal)) {
			return false
		}
	}
	return true
}

// lists calls fn with each list as it is with the changes in segments. If check is true, it yields what is wrong with a list in itself.
func (a *audit) lists(ctx context.Context, check bool, fn func(term string, s *Set) bool) error {
	s, tail, last, before := &Set{}, int64(0), int64(-1), ""
	wrong := func(format string, args ...any) {
		if check {
			a.yield(fmt.Sprintf(format, args...))
		}
	}
	return a.walk(ctx, "", func(key string, v []byte) {
		list := ordinals(v)
		from, _, _, _ := open(v)
		what := fmt.Sprintf("the block %.200q", key)
		if key == "" {
			what, tail = "a tail", from
		}
		for i, o := range list {
			if i > 0 && o <= list[i-1] || o < 1 {
				wrong("%s has %d out of order, after the term %.80q", what, o, before)
			}
		}
		switch _, number, block := strings.Cut(strings.TrimPrefix(key, a.blocks()), " "); {
		case len(list) == 0 && (block || from == 0):
			wrong("%s has no ordinals, after the term %.80q", what, before)
		case len(list) == 0:
		case block && record.Number(from) != number:
			wrong("%s says that it begins with %d", what, from)
		case block && list[len(list)-1] >= tail:
			wrong("%s goes on after the beginning of the tail, %d", what, tail)
		case block && list[0] <= last:
			wrong("%s overlaps the one before", what)
		case block:
			last = list[len(list)-1]
		}
		s.addBlock(v)
	}, func(term string, changes [][]byte) bool {
		if check && before != "" && term <= before {
			wrong("the term %.80q stands after %.80q", term, before)
		}
		for _, part := range changes {
			for c := range each(part) {
				if s.has(c.ordinal) != c.gone {
					wrong("a segment changes %d in the list of the term %.80q to what it is", c.ordinal, term)
				}
			}
			s.apply([][]byte{part})
		}
		more := !a.left && fn(term, s)
		s, tail, last, before = &Set{}, 0, -1, term
		return more
	})
}

// clearAtOnce is how many records Clear deletes.
const clearAtOnce = 5000

// Clear begins to build the index anew: it deletes a portion of it, and returns whether there is more. Whoever calls it goes on in further
// updates until there is no more, and then calls Build in further ones. Meanwhile others may change the index, and reading it is
// ErrBusy.
func (w *Writer) Clear(ctx context.Context) (more bool, err error) {
	w.pending = nil
	w.state = state{Building: true}
	w.segments = nil
	var keys []string
	segments := storage.Prefix(record.Prefix(w.Space, w.Name+"new/"))
	for _, in := range []storage.Range{segments, storage.Prefix(w.leaves()), storage.Prefix(w.blocks())} {
		in.Limit = clearAtOnce
		for e, err := range w.r.Scan(ctx, in) {
			if err != nil {
				return false, err
			}
			keys = append(keys, e.Key)
		}
	}
	if len(keys) > 0 {
		if err := w.tx.Delete(ctx, keys...); err != nil {
			return false, err
		}
	}
	return len(keys) >= clearAtOnce, w.putState(ctx)
}

// Built returns the last ordinal that Build has added. ok is false if the index is not being built anew.
func (w *Writer) Built() (last int64, ok bool) { return w.state.Built, w.state.Building }

// Build adds the next entries, in the order of their ordinals, beginning after Built. Finish comes after it. end says that there are no
// others: then the index is whole again.
func (w *Writer) Build(ctx context.Context, entries []Entry, end bool) error {
	for _, e := range entries {
		w.state.Built = e.Ordinal
		w.Change(e.Ordinal, nil, e.Terms)
	}
	if end {
		w.state.Building, w.state.Built = false, 0
	}
	if len(w.pending) == 0 {
		return w.putState(ctx)
	}
	return nil
}
