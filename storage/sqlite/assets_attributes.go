package sqlite

import (
	"context"
	"iter"
	"math"

	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Values yields the values that attributes with this key have in the assets that match all the sets, in byte order and each once.
func (r *assetReader) Values(ctx context.Context, key string, all []assetstore.AnyOf) iter.Seq2[string, error] {
	return stream.Of(func(out func(string) bool) error { return r.values(ctx, key, all, out) })
}

// values walks the index of attributes by value, and looks for one matching asset of each value. A value that has
// matched may have many more assets. They are skipped one by one if they are few, and otherwise by a new query, which begins
// after the value.
func (r *assetReader) values(ctx context.Context, key string, all []assetstore.AnyOf, out func(string) bool) error {
	matches, err := r.matcher(ctx, conditionsOf(assetstore.AssetQuery{All: all}))
	if err != nil {
		return err
	}
	w := valueWalk{matches: matches, out: out}
	rows := r.c.query("SELECT value, ordinal FROM attribute WHERE library = $1 AND key = $2 ORDER BY value, ordinal", r.number, key)
	for w.leap = true; w.leap; {
		w.leap = false
		err = w.walk(ctx, r, rows)
		rows.close()
		if err != nil {
			return err
		}
		if w.leap {
			rows = r.c.query("SELECT value, ordinal FROM attribute WHERE library = $1 AND key = $2 AND value > $3 ORDER BY value, ordinal",
				r.number, key, w.last)
		}
	}
	return nil
}

// valueWalk is the state of one walk over the values of a key and the assets of each value.
type valueWalk struct {
	matches func(ordinal int64) (bool, error)
	out     func(value string) bool
	last    string // the value that was yielded last, if some is true
	some    bool
	leap    bool // skip the other assets of last with a new query, since they are many
}

// near is the number of assets of a yielded value that are skipped one by one before a new query skips the rest.
const near = 16

// walk reads rows until they end, until out wants no more, or until leap asks for a new query.
func (w *valueWalk) walk(ctx context.Context, r *assetReader, rows *rows) error {
	passed := 0
	for rows.next() {
		value := rows.text(0)
		if w.some && value == w.last {
			passed++
			if passed == near {
				w.leap = true
				return nil
			}
			continue
		}
		if err := r.check(ctx); err != nil {
			return err
		}
		ok, err := w.matches(rows.int(1))
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		w.last, w.some, passed = value, true, 0
		if !w.out(value) {
			return nil
		}
	}
	return rows.err
}

// matcher returns a function that reports whether an asset meets all conditions: by the cached set or, if the index cannot be
// read directly, by MATCH for each asset.
func (r *assetReader) matcher(ctx context.Context, all []condition) (func(ordinal int64) (bool, error), error) {
	if len(all) == 0 {
		return func(int64) (bool, error) { return true, nil }, nil
	}
	found, ok, err := r.result(ctx, all)
	if ok || err != nil {
		return func(ordinal int64) (bool, error) { return ordinal <= math.MaxUint32 && found.has(uint32(ordinal)), nil }, err
	}
	pieces, ok := split(all)
	return func(ordinal int64) (bool, error) {
		if !ok {
			return false, nil
		}
		n, err := r.count(ctx, pieces, r.place(ordinal), r.place(ordinal))
		return n > 0, err
	}, nil
}
