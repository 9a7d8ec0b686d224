package postgres

import (
	"context"
	"iter"
	"math"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// assetPortion is how many assets come in one round trip.
const assetPortion = 64

// Assets yields the assets that match q.
func (r *assetReader) Assets(ctx context.Context, q assets.AssetQuery) iter.Seq2[assets.Record, error] {
	return stream.Of(func(out func(assets.Record) bool) error {
		if err := r.ready(ctx); err != nil {
			return err
		}
		if len(q.All) == 0 {
			return r.every(ctx, q, out)
		}
		return r.matches(ctx, q, out)
	})
}

// ready checks that lists may be read, and has them say what the transaction did before.
func (r *assetReader) ready(ctx context.Context) error {
	if err := r.check(ctx); err != nil {
		return err
	}
	if r.tx != nil {
		return r.tx.flush(ctx)
	}
	return nil
}

// every yields the assets between two ordinals.
func (r *assetReader) every(ctx context.Context, q assets.AssetQuery, out func(assets.Record) bool) error {
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

// matches yields the assets that all the sets of q match.
func (r *assetReader) matches(ctx context.Context, q assets.AssetQuery, out func(assets.Record) bool) error {
	portion := 1
	if len(q.All) > 1 {
		portion = pageParts
	}
	s, ok := r.newSearch(q.All, q.After, q.Before, q.Ascending, portion)
	if !ok {
		return nil
	}
	f := fetch{r: r, ctx: ctx, out: out}
	left := q.Limit
	err := s.run(ctx, func(number int64, b *block) bool {
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

// wantedAssets looks the assets up one by one. With ordinal = ANY a server that has no statistics yet goes
// through the library; the OFFSET keeps it from making a join of this that does.
const wantedAssets = "SELECT " + assetColumns + ` FROM unnest($2::int8[]) WITH ORDINALITY AS wanted (one, number)
	CROSS JOIN LATERAL (SELECT * FROM asset WHERE library = $1 AND ordinal = wanted.one OFFSET 0) a ORDER BY number`

// fetch yields assets in the order in which they are wanted.
type fetch struct {
	r      *assetReader
	ctx    context.Context
	out    func(assets.Record) bool
	wanted []int64
	over   bool // out wants no more
	err    error
}

func (f *fetch) want(ordinal int64) bool {
	f.wanted = append(f.wanted, ordinal)
	return len(f.wanted) < assetPortion || f.send()
}

// send yields what is wanted so far, and reports whether more may be.
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
func (r *assetReader) Count(ctx context.Context, q assets.AssetQuery) (n int64, err error) {
	if err := r.ready(ctx); err != nil {
		return 0, err
	}
	before := q.Before
	if before == 0 {
		before = math.MaxInt64
	}
	switch {
	case len(q.All) == 0:
		return r.number(ctx, "SELECT count(*) FROM asset WHERE library = $1 AND ordinal > $2 AND ordinal < $3", r.key, q.After, before)
	case len(q.All) == 1 && len(q.All[0]) == 1 && q.After <= 0 && q.Before == 0:
		return r.number(ctx, "SELECT coalesce(sum(count), 0)::int8 FROM asset_list WHERE library = $1 AND term = $2", r.key, q.All[0][0])
	}
	s, ok := r.newSearch(q.All, q.After, q.Before, false, allParts)
	if !ok {
		return 0, nil
	}
	err = s.run(ctx, func(_ int64, b *block) bool {
		n += int64(b.count())
		return true
	})
	return n, err
}

func (r *assetReader) number(ctx context.Context, sql string, args ...any) (int64, error) {
	found := r.c.query(ctx, sql, args...)
	if !found.next() {
		return 0, found.err
	}
	return found.int(0), nil
}
