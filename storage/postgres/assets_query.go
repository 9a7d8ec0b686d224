package postgres

import (
	"context"
	"iter"
	"math"
	"reflect"

	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// assetPortion is how many assets one round trip reads.
const assetPortion = 64

// Assets yields the assets that match q.
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

// ready prepares a read of the posting lists: in an Update, it writes the changes that wait.
func (r *assetReader) ready(ctx context.Context) error {
	if err := r.check(ctx); err != nil {
		return err
	}
	if r.tx != nil {
		return r.tx.flush(ctx)
	}
	return nil
}

// every yields the assets of a query without terms.
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

// matches yields the assets of a query with terms.
func (r *assetReader) matches(ctx context.Context, q assetstore.AssetQuery, out func(assetstore.Record) bool) error {
	portion := 1
	if len(q.All)+len(q.Prefixes) > 1 {
		portion = pageParts
	}
	s, ok, err := r.newSearch(ctx, q, portion)
	if !ok || err != nil {
		return err
	}
	f := fetch{r: r, ctx: ctx, out: out}
	left := q.Limit
	err = s.run(ctx, func(number int64, b *block) bool {
		return b.each(number, q.Ascending, func(ordinal int64) bool {
			left--
			return f.want(ordinal) && left != 0
		})
	})
	if err == nil && f.err == nil && !f.over {
		f.send()
	}
	if err == nil {
		err = f.err
	}
	return err
}

// wantedAssets looks the assets up one by one. With ordinal = ANY, a server without statistics scans the library. The OFFSET keeps
// the planner from turning this into a join, which scans it too.
const wantedAssets = "SELECT " + assetColumns + ` FROM unnest($2::int8[]) WITH ORDINALITY AS wanted (one, number)
	CROSS JOIN LATERAL (SELECT * FROM asset WHERE library = $1 AND ordinal = wanted.one OFFSET 0) a ORDER BY number`

// fetch reads assets in portions, and yields them in the order of the calls of want.
type fetch struct {
	r      *assetReader
	ctx    context.Context
	out    func(assetstore.Record) bool
	wanted []int64
	over   bool // out has returned false
	err    error
}

func (f *fetch) want(ordinal int64) bool {
	f.wanted = append(f.wanted, ordinal)
	return len(f.wanted) < assetPortion || f.send()
}

// send reads and yields the assets that are wanted so far. It returns false if no more are needed.
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

// Count counts the assets that match q.
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

// found returns the ordinals of all assets that match q, whatever its limit. A View keeps those of the last query, since a search
// asks for its total and for several counts.
func (r *assetReader) found(ctx context.Context, q assetstore.AssetQuery) (blocks, error) {
	q.Ascending, q.Limit = false, 0
	if r.tx == nil && r.last.found != nil && reflect.DeepEqual(r.last.query, q) {
		return r.last.found, nil
	}
	found := blocks{}
	s, ok, err := r.newSearch(ctx, q, allParts)
	if ok && err == nil {
		err = s.run(ctx, func(number int64, b *block) bool {
			if have := found[number]; have != nil { // a block may come in pieces
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
	r.last.query, r.last.found = q, found
	return found, nil
}

func (r *assetReader) number(ctx context.Context, sql string, args ...any) (int64, error) {
	found := r.c.query(ctx, sql, args...)
	if !found.next() {
		return 0, found.err
	}
	return found.int(0), nil
}
