package sqlite

import (
	"context"
	"errors"
	"iter"
	"math"

	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/internal/top"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
	"github.com/vitrine-go/vitrine/storage/sqlite/internal/fts5"
)

// cachedCounts is a cached result of CountTerms, as of one edit count of the library.
type cachedCounts struct {
	counts []assetstore.TermCount
	edits  int64
}

// countsKey is the cache's key for a result of CountTerms.
type countsKey struct {
	library       int64
	prefix        string
	conditions    string // of the query
	after, before int64
	limit         int
}

// CountTerms yields the terms that begin with prefix, with how many of the assets that match q have each.
//
// The result is cached with the edit count of the library, and is valid as long as the library has this count. It is
// computed in one pass over the terms with this prefix in the index: each has a posting list, and its count is the
// number of ordinals that the list shares with the set of the assets that match. An update neither uses nor fills the cache.
func (r *assetReader) CountTerms(ctx context.Context, q assetstore.AssetQuery, prefix string) iter.Seq2[assetstore.TermCount, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(assetstore.TermCount) bool) error {
		if err := r.check(ctx); err != nil {
			return err
		}
		key := countsKey{r.number, prefix, textOf(conditionsOf(q)), q.After, q.Before, q.Limit}
		if v, found := r.db.results.get(key, timeless); found && !r.writes {
			if have := v.(cachedCounts); have.edits == r.edits {
				for _, c := range have.counts {
					if !out(c) {
						return nil
					}
				}
				return nil
			}
		}
		keep := counts{out: out, limit: q.Limit, most: top.New(q.Limit, assetstore.TermCount.Compare)}
		if err := r.countTerms(ctx, q, prefix, &keep); err != nil || keep.ended {
			return err
		}
		if q.Limit > 0 {
			keep.kept = keep.most.Items()
			for _, c := range keep.kept {
				if !out(c) {
					break
				}
			}
		}
		if !r.writes && len(keep.kept) <= maxKept {
			size := perEntry + len(key.prefix) + len(key.conditions)
			for _, c := range keep.kept {
				size += perCount + len(c.Term)
			}
			r.db.results.put(timeless, effect{key, cachedCounts{keep.kept, r.edits}, size})
		}
		return nil
	})
}

const (
	maxKept  = 10_000 // the most counts of a result that is cached; a result with more is computed again each time
	perCount = 48     // estimated bytes for a count, its term aside
)

// counts takes the counts of terms. Without a limit it passes each on to out at once. With a limit it keeps the most frequent
// terms, which CountTerms passes on at the end.
type counts struct {
	out   func(assetstore.TermCount) bool
	ended bool // out wants no more
	limit int
	most  *top.List[assetstore.TermCount]
	kept  []assetstore.TermCount // what was passed on, for the cache; one more than maxKept if it is too many
}

// wants reports whether a term with this count may be among the most frequent. Most terms are not, and then their text
// need not be decoded.
func (k *counts) wants(n int) bool {
	last, full := k.most.Last()
	return n > 0 && (!full || int64(n) >= last.Count)
}

// add takes a term with its count. It returns false if no more are wanted.
func (k *counts) add(c assetstore.TermCount) bool {
	if k.limit > 0 {
		k.most.Add(c)
		return true
	}
	if len(k.kept) <= maxKept {
		k.kept = append(k.kept, c)
	}
	k.ended = !k.out(c)
	return !k.ended
}

// countTerms gives keep each term that begins with prefix and its count, until keep wants no more. It reads the posting
// lists directly. It counts by MATCH in an update, which may have written terms that are not in FTS5's tables yet, if
// package fts5 does not know the form of the index, and if an asset of the range has an ordinal that a set has no room for.
func (r *assetReader) countTerms(ctx context.Context, q assetstore.AssetQuery, prefix string, keep *counts) error {
	in := r.ordinals(q.After, q.Before)
	if in.First > in.Last {
		return nil
	}
	all := conditionsOf(q)
	highest, err := r.c.value("SELECT max(place) FROM asset WHERE place BETWEEN $1 AND $2", in.First, in.Last)
	if err != nil {
		return err
	}
	if r.writes || ordinalOf(highest) > math.MaxUint32 {
		return r.countTermsByMatch(ctx, all, prefix, in, keep.add)
	}
	found, ok, err := r.result(ctx, all)
	switch {
	case err != nil:
		return err
	case ok && found.n == 0:
		return nil
	case !ok && len(all) > 0:
		return r.countTermsByMatch(ctx, all, prefix, in, keep.add)
	}
	began := false
	x, err := r.fts()
	if err == nil {
		common := found.counter()
		err = x.Terms(encodeTerm(nil, prefix), in, func(term []byte, list []uint32) error {
			n := len(list)
			if ok {
				n = common(list)
			}
			began = began || n > 0
			if keep.wants(n) && !keep.add(assetstore.TermCount{Term: decodeTerm(term), Count: int64(n)}) {
				return errEnough
			}
			return r.check(ctx)
		})
	}
	switch {
	case err == errEnough:
		return nil
	// As long as keep has no term, counting can begin anew by MATCH.
	case err != nil && !began && unlessUnreadable(err) == nil:
		return r.countTermsByMatch(ctx, all, prefix, in, keep.add)
	}
	return err
}

// errEnough ends the reading of terms.
var errEnough = errors.New("no more terms are wanted")

// countTermsByMatch counts from asset_vocabulary, which has a row for each term and asset, in the order of terms. It
// asks for each row whether the asset matches.
func (r *assetReader) countTermsByMatch(ctx context.Context, all []condition, prefix string, in fts5.Range, out func(assetstore.TermCount) bool) error {
	matches, err := r.matcher(ctx, all)
	if err != nil {
		return err
	}
	// No byte of a term is above 0xf4, as terms are UTF-8.
	first := string(encodeTerm(nil, prefix))
	rows := r.c.query("SELECT term, doc FROM asset_vocabulary WHERE term >= $1 AND term < $2", first, first+"\xff")
	defer rows.close()
	var c assetstore.TermCount
	last := ""
	for rows.next() {
		if err := r.check(ctx); err != nil {
			return err
		}
		if text := rows.text(0); text != last {
			if c.Count > 0 && !out(c) {
				return nil
			}
			c, last = assetstore.TermCount{Term: decodeTerm([]byte(text))}, text
		}
		if place := rows.int(1); place < in.First || place > in.Last {
			continue
		}
		ok, err := matches(ordinalOf(rows.int(1)))
		if err != nil {
			return err
		}
		if ok {
			c.Count++
		}
	}
	if rows.err == nil && c.Count > 0 {
		out(c)
	}
	return rows.err
}
