package assets

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/index"
	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/internal/top"
	"github.com/vitrine-go/vitrine/storage"
)

// recordReader reads the records of a library.
type recordReader struct {
	s       *records
	r       storage.Reader
	lib     Library
	space   string
	assets  string // what the keys of assets begin with
	origins string // and those of origins
	state   libraryState
	index   *index.Reader
	tx      *recordTx // nil in a View

	// What was found last, and for what. A page and its total ask for the same.
	found      *index.Set
	conditions index.Query
}

var errNoAsset = fmt.Errorf("%w: there is no asset with this ordinal", vitrine.ErrNotFound)

func (r *recordReader) key(kind string) string  { return record.Key(r.space, kind) }
func (r *recordReader) asset(o int64) string    { return r.assets + record.Number(o) }
func (r *recordReader) origin(o Origin) string  { return r.origins + originText(o) }
func (r *recordReader) folder(id string) string { return record.Key(r.space, folderKind, id) }
func (r *recordReader) terms() index.Index {
	return index.Index{Space: r.space, Cache: r.s.segments}
}
func (r *recordReader) feed() record.Feed { return record.Feed{Space: r.space} }

// get returns values, in a transaction those that it has put.
func (r *recordReader) get(ctx context.Context, keys ...string) ([][]byte, error) {
	if r.tx != nil {
		return r.tx.get(ctx, keys)
	}
	return r.r.Get(ctx, keys...)
}

func (r *recordReader) State(ctx context.Context) (State, error) { return r.state.state(), ctx.Err() }

// atOnce is how many assets one trip to the store reads at most.
const atOnce = 200

// rows returns the assets with these ordinals, and an empty row for what is not there.
func (r *recordReader) rows(ctx context.Context, ordinals []int64) ([]assetRow, error) {
	keys := make([]string, len(ordinals))
	for i, o := range ordinals {
		keys[i] = r.asset(o)
	}
	values, err := r.get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	out := make([]assetRow, len(ordinals))
	for i, v := range values {
		if v == nil {
			continue
		}
		if out[i], err = r.decode(storage.Entry{Key: keys[i], Value: v}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *recordReader) row(ctx context.Context, ordinal int64) (assetRow, error) {
	if ordinal < 1 || ordinal > MaxOrdinal {
		return assetRow{}, errNoAsset
	}
	rows, err := r.rows(ctx, []int64{ordinal})
	if err != nil {
		return assetRow{}, err
	}
	if rows[0].Ordinal == 0 {
		return assetRow{}, errNoAsset
	}
	return rows[0], nil
}

func (r *recordReader) Asset(ctx context.Context, ordinal int64) (Record, error) {
	row, err := r.row(ctx, ordinal)
	return row.Record, err
}

// AssetsFrom looks all origins up at once.
func (r *recordReader) AssetsFrom(ctx context.Context, origins []Origin) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		keys := make([]string, len(origins))
		for i, o := range origins {
			keys[i] = r.origin(o)
		}
		values, err := r.get(ctx, keys...)
		if err != nil {
			yield(Record{}, err)
			return
		}
		for len(values) > 0 {
			n := min(atOnce, len(values))
			out, err := r.ofOrigins(ctx, values[:n])
			values = values[n:]
			if err != nil {
				yield(Record{}, err)
				return
			}
			for _, a := range out {
				if !yield(a, nil) {
					return
				}
			}
		}
	}
}

// ofOrigins returns the assets with the ordinals that some values have, and the zero Record for those that are nil.
func (r *recordReader) ofOrigins(ctx context.Context, values [][]byte) ([]Record, error) {
	var ordinals []int64
	for _, v := range values {
		if v != nil {
			o, err := record.ParseNumber(string(v))
			if err != nil {
				return nil, err
			}
			ordinals = append(ordinals, o)
		}
	}
	out := make([]Record, len(values))
	if len(ordinals) == 0 {
		return out, nil
	}
	rows, err := r.rows(ctx, ordinals)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if v != nil {
			out[i], rows = rows[0].Record, rows[1:]
		}
	}
	return out, nil
}

// find returns the assets that match the conditions of a query, without its bounds, and nil for a query without conditions.
func (r *recordReader) find(ctx context.Context, q AssetQuery) (*index.Set, error) {
	if len(q.All)+len(q.Prefixes) == 0 {
		return nil, nil
	}
	conditions := index.Query{All: texts(q.All), Prefixes: texts(q.Prefixes)}
	same := func(a, b [][]string) bool { return slices.EqualFunc(a, b, slices.Equal[[]string]) }
	if r.found != nil && same(r.conditions.All, conditions.All) && same(r.conditions.Prefixes, conditions.Prefixes) {
		return r.found, nil
	}
	found, err := r.index.Find(ctx, conditions)
	if err == nil && r.tx == nil {
		r.found, r.conditions = found, conditions
	}
	return found, err
}

func texts(sets []AnyOf) [][]string {
	out := make([][]string, len(sets))
	for i, s := range sets {
		out[i] = s
	}
	return out
}

// everyAsset matches all assets.
var everyAsset = []AnyOf{{""}}

// bounded returns the assets that match a query with its bounds, and nil for one that matches every asset.
func (r *recordReader) bounded(ctx context.Context, q AssetQuery) (*index.Set, error) {
	if len(q.All)+len(q.Prefixes) == 0 && (q.After != 0 || q.Before != 0) {
		q.All = everyAsset
	}
	found, err := r.find(ctx, q)
	if found == nil || err != nil {
		return nil, err
	}
	return found.Between(q.After, q.Before), nil
}

func (r *recordReader) Count(ctx context.Context, q AssetQuery) (int64, error) {
	if len(q.All)+len(q.Prefixes) == 0 {
		q.All = everyAsset
	}
	found, err := r.bounded(ctx, q)
	if err != nil {
		return 0, err
	}
	return int64(found.Count()), nil
}

func (r *recordReader) Assets(ctx context.Context, q AssetQuery) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		found, err := r.find(ctx, q)
		switch {
		case err != nil:
			yield(Record{}, err)
			return
		case found == nil:
			r.every(ctx, q, yield)
			return
		}
		left, part := q.Limit, make([]int64, 0, atOnce)
		// give yields the assets of a part, and reports whether more are wanted.
		give := func() bool {
			rows, err := r.rows(ctx, part)
			if part = part[:0]; err != nil {
				yield(Record{}, err)
				return false
			}
			for _, a := range rows {
				if a.Ordinal != 0 && !yield(a.Record, nil) {
					return false
				}
			}
			return true
		}
		for o := range found.Between(q.After, q.Before).All(q.Ascending) {
			part = append(part, o)
			if left--; left == 0 {
				break
			}
			if len(part) == cap(part) && !give() {
				return
			}
		}
		if len(part) > 0 {
			give()
		}
	}
}

// every yields all assets within the bounds of q.
func (r *recordReader) every(ctx context.Context, q AssetQuery, yield func(Record, error) bool) {
	if r.tx != nil {
		if err := r.tx.flush(ctx); err != nil {
			yield(Record{}, err)
			return
		}
	}
	in := storage.Prefix(r.assets)
	in.From = r.asset(max(q.After, 0) + 1)
	if q.Before != 0 {
		in.To = r.asset(q.Before)
	}
	if in.From >= in.To {
		return
	}
	in.Reverse, in.Limit, in.Expect = !q.Ascending, q.Limit, q.Limit
	for e, err := range r.r.Scan(ctx, in) {
		var a assetRow
		if err == nil {
			a, err = r.decode(e)
		}
		if !yield(a.Record, err) || err != nil {
			return
		}
	}
}

// decode returns the asset of an entry.
func (r *recordReader) decode(e storage.Entry) (a assetRow, err error) {
	ordinal, err := record.ParseNumber(e.Key[len(r.assets):])
	if err == nil {
		a, err = decodeAsset(ordinal, e.Value)
	}
	if err != nil {
		return a, fmt.Errorf("the record %q is damaged: %w", e.Key, err)
	}
	return a, nil
}

func (r *recordReader) CountTerms(ctx context.Context, q AssetQuery, prefix string) iter.Seq2[TermCount, error] {
	return func(yield func(TermCount, error) bool) {
		most, left := top.New(q.Limit, TermCount.Compare), false
		found, err := r.bounded(ctx, q)
		if err == nil {
			err = r.index.CountTerms(ctx, found, prefix, func(term string, n int64) bool {
				if q.Limit > 0 {
					most.Add(TermCount{Term: term, Count: n})
					return true
				}
				left = !yield(TermCount{Term: term, Count: n}, nil)
				return !left
			})
		}
		if err != nil && !left {
			yield(TermCount{}, err)
			return
		}
		for _, c := range most.Items() {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (r *recordReader) Folders(ctx context.Context) iter.Seq2[FolderRecord, error] {
	return func(yield func(FolderRecord, error) bool) {
		if r.tx != nil {
			if err := r.tx.flush(ctx); err != nil {
				yield(FolderRecord{}, err)
				return
			}
		}
		for e, err := range r.r.Scan(ctx, storage.Prefix(record.Prefix(r.space, folderKind))) {
			var f FolderRecord
			if err == nil {
				err = readJSON(e.Key, e.Value, &f)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// longValues is how many bytes the long values of a key have together at most.
const longValues = 64 << 20

// Values reads the values from the terms of the attributes. Those of long values do not have them whole, so each is read from an asset that
// has it.
func (r *recordReader) Values(ctx context.Context, key string, all []AnyOf) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		long, err := r.longValues(ctx, key, all)
		var found *index.Set
		if err == nil {
			found, err = r.find(ctx, AssetQuery{All: all})
		}
		left := false
		before := func(value string, all bool) bool {
			for !left && len(long) > 0 && (all || long[0] < value) {
				left = !yield(long[0], nil)
				long = long[1:]
			}
			return !left
		}
		if prefix := string(kindAttribute) + attributeKey(key); err == nil && len(prefix) <= MaxTerm {
			err = r.index.CountTerms(ctx, found, prefix, func(term string, _ int64) bool {
				value := term[len(prefix):]
				left = !before(value, false) || !yield(value, nil)
				return !left
			})
		}
		if err != nil && !left {
			yield("", err)
			return
		}
		before("", true)
	}
}

// longValues returns the values, sorted, that do not stand in terms.
func (r *recordReader) longValues(ctx context.Context, key string, all []AnyOf) (values []string, err error) {
	found, err := r.find(ctx, AssetQuery{All: all})
	if err != nil {
		return nil, err
	}
	var terms []string
	size := 0
	tooMany := errors.New("the long values of the attribute take too much room")
	err = r.index.CountTerms(ctx, found, longAttributeKey(key), func(term string, _ int64) bool {
		terms = append(terms, term)
		size += len(term)
		return size <= longValues
	})
	for _, term := range terms {
		if err != nil || size > longValues {
			return nil, errors.Join(err, tooMany)
		}
		var value string
		if value, err = r.longValue(ctx, term, key, all); err == nil {
			values = append(values, value)
			size += len(value)
		}
	}
	slices.Sort(values)
	return values, err
}

// longValue returns the value that the term of an attribute stands for.
func (r *recordReader) longValue(ctx context.Context, term, key string, all []AnyOf) (string, error) {
	found, err := r.index.Find(ctx, index.Query{All: append(texts(all), []string{term})})
	if err != nil {
		return "", err
	}
	for o := range found.All(false) {
		row, err := r.row(ctx, o)
		if err != nil {
			return "", err
		}
		x, err := row.entries()
		if err != nil {
			return "", err
		}
		for _, a := range x.Attributes {
			if a.Key == key && attributeTerm(a) == term {
				return strings.Clone(a.Value), nil
			}
		}
		break
	}
	return "", fmt.Errorf("the index has the term %q, and no asset has it", term)
}

func (r *recordReader) Feed(ctx context.Context) (FeedState, error) { return r.feed().State(ctx, r.r) }

func (r *recordReader) Entries(ctx context.Context, after FeedPosition, limit int) iter.Seq2[FeedEntry, error] {
	return r.feed().Entries(ctx, r.r, after, limit)
}
