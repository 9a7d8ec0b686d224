package postgres

import (
	"context"
	"iter"
	"math"
	"reflect"

	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// assetPortion is how many assets one round trip reads at most. They are in memory together.
const assetPortion = 64

// Assets yields the assets that match q, in its order. It reads them in portions, and other reads may come in between.
func (r *assetReader) Assets(ctx context.Context, q assetstore.AssetQuery) iter.Seq2[assetstore.Record, error] {
	return stream.Of(func(out func(assetstore.Record) bool) error {
		if err := r.ready(ctx); err != nil {
			return err
		}
		if len(q.All)+len(q.Prefixes) == 0 {
			return r.every(ctx, q, out)
		}
		return r.matches(ctx, q, out)
	})
}

// ready prepares a read of assets by their terms. In an Update it first writes the assets and the changes of lists that wait, so
// that the Update sees its own writes.
func (r *assetReader) ready(ctx context.Context) error {
	if err := r.check(ctx); err != nil {
		return err
	}
	if r.tx != nil {
		return r.tx.flush(ctx)
	}
	return nil
}

// every yields the assets of a query without terms, from the table, in its order and up to its limit.
func (r *assetReader) every(ctx context.Context, q assetstore.AssetQuery, out func(assetstore.Record) bool) error {
	sql := "SELECT " + assetColumns + " FROM asset WHERE library = $1 AND ordinal > $2 AND ordinal < $3 ORDER BY ordinal DESC LIMIT $4"
	if q.Ascending {
		sql = "SELECT " + assetColumns + " FROM asset WHERE library = $1 AND ordinal > $2 AND ordinal < $3 ORDER BY ordinal LIMIT $4"
	}
	after, before, left := q.After, q.Before, q.Limit
	if before == 0 {
		before = math.MaxInt64
	}
	for {
		portion := assetPortion
		if q.Limit > 0 {
			portion = min(portion, left)
		}
		found := r.c.query(ctx, sql, r.key, after, before, portion)
		for found.next() {
			if err := r.check(ctx); err != nil {
				return err
			}
			a := assetOf(found)
			if q.Ascending {
				after = a.Ordinal
			} else {
				before = a.Ordinal
			}
			if !out(a) {
				return nil
			}
			left--
		}
		if found.err != nil || len(found.values) < portion || left == 0 {
			return found.err
		}
	}
}

// matches yields the assets of a query with terms, in its order and up to its limit. It takes their ordinals from the last count
// of the View, if that has found them, and otherwise searches for them.
func (r *assetReader) matches(ctx context.Context, q assetstore.AssetQuery, out func(assetstore.Record) bool) error {
	f := fetch{r: r, ctx: ctx, out: out}
	left := q.Limit
	match := func(number int64, b *block) bool {
		return b.each(number, q.Ascending, func(ordinal int64) bool {
			left--
			return f.want(ordinal) && left != 0
		})
	}
	var err error
	if r.last.covers(q) {
		r.last.found.run(q, match)
	} else {
		err = r.search(ctx, q, match)
	}
	if err == nil && f.err == nil && !f.over {
		f.send()
	}
	if err == nil {
		err = f.err
	}
	return err
}

// search calls out with the ordinals that match q, block by block in the order of q, until out returns false. A page of one list
// needs only the part at its end, so it begins with one part.
func (r *assetReader) search(ctx context.Context, q assetstore.AssetQuery, out func(number int64, b *block) bool) error {
	portion := 1
	if len(q.All)+len(q.Prefixes) > 1 {
		portion = pageParts
	}
	s, ok, err := r.newSearch(ctx, q, portion)
	if !ok || err != nil {
		return err
	}
	return s.run(ctx, out)
}

// wantedAssets reads the assets with the ordinals $2, in this order. It looks them up one by one: with ordinal = ANY, a server
// without statistics scans the library. The OFFSET keeps the planner from turning this into a join, which scans it too.
const wantedAssets = "SELECT " + assetColumns + ` FROM unnest($2::int8[]) WITH ORDINALITY AS wanted (one, number)
	CROSS JOIN LATERAL (SELECT * FROM asset WHERE library = $1 AND ordinal = wanted.one OFFSET 0) a ORDER BY number`

// fetch reads assets in portions, and yields them in the order of the calls of want.
type fetch struct {
	r      *assetReader
	ctx    context.Context
	out    func(assetstore.Record) bool
	wanted []int64 // ordinals that were not read yet
	over   bool    // out has returned false
	err    error
}

// want adds an ordinal, and calls send when there is a portion. It returns false if no more are needed. The caller calls send for
// the rest.
func (f *fetch) want(ordinal int64) bool {
	f.wanted = append(f.wanted, ordinal)
	return len(f.wanted) < assetPortion || f.send()
}

// send reads and yields the assets that are wanted so far. It returns false if no more are needed, or after an error.
func (f *fetch) send() bool {
	if len(f.wanted) == 0 {
		return true
	}
	if f.err = f.r.check(f.ctx); f.err != nil {
		return false
	}
	found := f.r.c.query(f.ctx, wantedAssets, f.r.key, f.wanted)
	f.wanted = f.wanted[:0]
	for !f.over && found.next() {
		f.over = !f.out(assetOf(found))
	}
	f.err = found.err
	return !f.over && f.err == nil
}

// Count counts the assets that match q, whatever its limit. The number of assets with one term is stored with the parts of its
// list. For any other query with terms the lists are read, and what was found is kept for the next call; see lastFound.
func (r *assetReader) Count(ctx context.Context, q assetstore.AssetQuery) (n int64, err error) {
	if err := r.ready(ctx); err != nil {
		return 0, err
	}
	before := q.Before
	if before == 0 {
		before = math.MaxInt64
	}
	switch {
	case len(q.All)+len(q.Prefixes) == 0:
		return r.number(ctx, "SELECT count(*) FROM asset WHERE library = $1 AND ordinal > $2 AND ordinal < $3", r.key, q.After, before)
	case len(q.All) == 1 && len(q.All[0]) == 1 && len(q.Prefixes) == 0 && q.After <= 0 && q.Before == 0:
		return r.number(ctx, "SELECT coalesce(sum(count), 0)::int8 FROM asset_list WHERE library = $1 AND term = $2", r.key, q.All[0][0])
	}
	found, err := r.found(ctx, q)
	for _, b := range found {
		n += int64(b.count())
	}
	return n, err
}

// lastFound has the assets that the last count of a View has found. A search asks for its total, then for a page, and then for
// the counts of facets; they all need the same assets.
type lastFound struct {
	query assetstore.AssetQuery // without order and limit
	found blocks                // nil = nothing was counted
}

// covers reports whether the found assets that are within the bounds of q are all that match q.
func (l lastFound) covers(q assetstore.AssetQuery) bool {
	return l.found != nil && l.query.After <= q.After && (l.query.Before == 0 || 0 < q.Before && q.Before <= l.query.Before) &&
		reflect.DeepEqual(l.query.All, q.All) && reflect.DeepEqual(l.query.Prefixes, q.Prefixes)
}

// found returns the ordinals of all assets that match q, whatever its limit. The caller must not change them. In a View it keeps
// them for the next call with the same query, and for matches.
func (r *assetReader) found(ctx context.Context, q assetstore.AssetQuery) (blocks, error) {
	q.Ascending, q.Limit = false, 0
	if r.last.found != nil && reflect.DeepEqual(r.last.query, q) {
		return r.last.found, nil
	}
	found := blocks{}
	s, ok, err := r.newSearch(ctx, q, allParts)
	if ok && err == nil {
		err = s.run(ctx, func(number int64, b *block) bool {
			if have := found[number]; have != nil { // another piece of the same block; see search.run
				for i := range b {
					b[i] |= have[i]
				}
			}
			found[number] = b
			return true
		})
	}
	if err != nil {
		return nil, err
	}
	if r.tx == nil {
		r.last = lastFound{q, found}
	}
	return found, nil
}

// number returns the result of a query for one number.
func (r *assetReader) number(ctx context.Context, sql string, args ...any) (int64, error) {
	found := r.c.query(ctx, sql, args...)
	if !found.next() {
		return 0, found.err
	}
	return found.int(0), nil
}
