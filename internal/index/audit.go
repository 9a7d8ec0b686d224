package index

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"math/rand/v2"

	"github.com/vitrine-go/vitrine/storage"
)

// Entry says which terms an ordinal must have in the index. Terms are sorted and unique.
type Entry struct {
	Ordinal int64
	Terms   []string
}

// mostFaults is the maximum number of faults that Audit returns.
const mostFaults = 1000

// Audit compares the index with entries and returns a sentence for each fault. It compares digests, so it needs little
// memory and cannot tell which lists differ. Of an index that is being built it compares what is built so far.
func (r *Reader) Audit(ctx context.Context, entries iter.Seq2[Entry, error]) (faults []string, err error) {
	wrong := func(format string, args ...any) {
		if len(faults) < mostFaults {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	if err = r.loadSegments(ctx); err == nil {
		err = r.auditPages(ctx, wrong)
	}
	if err == nil {
		err = r.compare(ctx, entries, wrong)
	}
	if errors.Is(err, errDamaged) {
		return append(faults, err.Error()), nil
	}
	return faults, err
}

// auditPages checks that all pages, terms and ordinals are in ascending order.
func (r *Reader) auditPages(ctx context.Context, wrong func(string, ...any)) error {
	var last place // the last place that was read; every later one must follow it
	for e, err := range r.r.Scan(ctx, storage.Prefix(r.pages())) {
		if err != nil {
			return err
		}
		at, err := r.placeOf(e.Key)
		if err != nil {
			return err
		}
		if last.ordinal > 0 && !last.before(at) {
			wrong("the page %.200q begins before the one before it ends", e.Key)
		}
		if last = at; last.ordinal > 0 {
			last.ordinal--
		}
		c := cursor{rest: e.Value}
		for c.next(); c.ok; c.next() {
			list := ordinals(c.changes)
			if len(list) == 0 {
				wrong("the list of the term %.80q in the page %.200q is empty", c.term, e.Key)
			}
			for _, o := range list {
				next := place{string(c.term), o}
				if o < 1 || !last.before(next) {
					wrong("the page %.200q has %d of the term %.80q out of order", e.Key, o, c.term)
				}
				last = next
			}
		}
		if c.err != nil {
			return c.err
		}
	}
	return nil
}

// compare compares the posting lists, with the changes of segments applied, with entries.
func (r *Reader) compare(ctx context.Context, entries iter.Seq2[Entry, error], wrong func(string, ...any)) error {
	seed, salt, sum := maphash.MakeSeed(), rand.Uint64(), uint64(0)
	// digest returns a digest of a term and an ordinal. seed and salt are random, so nobody can construct a collision.
	digest := func(term uint64, ordinal int64) uint64 {
		x := (term ^ salt) + uint64(ordinal)*0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return x ^ x>>31
	}
	for e, err := range entries {
		if err != nil {
			return err
		}
		if r.state.building && e.Ordinal > r.state.built {
			break
		}
		for _, term := range e.Terms {
			sum += digest(maphash.String(seed, term), e.Ordinal)
		}
	}
	err := r.walk(ctx, Prefix(""), func(term string, parts, changes [][]byte) bool {
		s := &Set{}
		s.addList(parts, nil)
		for _, part := range changes {
			for c := range each(part) {
				if s.has(c.ordinal) != c.gone {
					wrong("a segment changes %d in the list of the term %.80q to what it is", c.ordinal, term)
				}
			}
			s.apply([][]byte{part})
		}
		h := maphash.String(seed, term)
		for o := range s.All(true) {
			sum -= digest(h, o)
		}
		return true
	})
	if err == nil && sum != 0 {
		wrong("the lists of some terms are not those that follow from the records: build the index anew")
	}
	return err
}
