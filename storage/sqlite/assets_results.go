package sqlite

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/storage/sqlite/internal/fts5"
)

// cachedSet is a cached result: the assets of a library that meet some conditions, as of one edit count of the
// library. Every update that changes an asset raises the count of its library by one, and a snapshot reads it, so a reader
// knows whether a cached set is current. The changes of this process are cached too, one edit for each count. A reader
// applies them to an older set instead of reading the index again.
type cachedSet struct {
	set
	edits int64
}

// resultKey is the cache's key for a result.
type resultKey struct {
	library int64
	text    string // of the conditions
}

// editKey is the cache's key for an edit: the update that raised the library's edit count to number.
type editKey struct{ library, number int64 }

// edit lists the changes that an update made to assets, in order.
type edit struct {
	changes []change
	size    int // estimated bytes; above maxEdit if the changes were dropped
}

// maxEdit bounds the memory for the changes of one update, in estimated bytes. If they take more, they are not cached, and the
// cached sets of the library are read again.
const maxEdit = 1 << 20

// change says which terms an asset has after a write of an update.
type change struct {
	ordinal int64
	terms   []string // nil if the asset was removed
}

// add adds a change, or drops all changes if they take more than maxEdit.
func (e *edit) add(ordinal int64, terms []string) {
	const perTerm = 32
	e.size += perTerm * (2 + len(terms))
	if e.size > maxEdit {
		e.changes = nil
		return
	}
	e.changes = append(e.changes, change{ordinal, slices.Clone(terms)})
}

// timeless is the state of caches whose values carry their own edit count, and so need no stamp.
var timeless stamp

func newTimelessCache(limit int) *cache { return newCache(limit, func() stamp { return timeless }) }

// condition is one of the things that a query asks of an asset: to have one of the terms, or, if prefixes is true, a
// term that begins with one of them.
type condition struct {
	terms    assetstore.AnyOf
	prefixes bool
}

// conditionsOf returns the conditions of a query. The bounds of its ordinals and its limit are not among them.
func conditionsOf(q assetstore.AssetQuery) []condition {
	all := make([]condition, 0, len(q.All)+len(q.Prefixes))
	for _, terms := range q.All {
		all = append(all, condition{terms, false})
	}
	for _, terms := range q.Prefixes {
		all = append(all, condition{terms, true})
	}
	return all
}

// queryOf returns a query with these conditions and no bounds.
func queryOf(all []condition) (q assetstore.AssetQuery) {
	for _, c := range all {
		if c.prefixes {
			q.Prefixes = append(q.Prefixes, c.terms)
		} else {
			q.All = append(q.All, c.terms)
		}
	}
	return q
}

// textOf returns a text that no other conditions have. Each condition begins with its kind, ends with a NUL, and has a NUL
// after each term. No term is empty or has a NUL, so the text can be read back in one way only.
func textOf(all []condition) string {
	var b strings.Builder
	for _, c := range all {
		if c.prefixes {
			b.WriteByte('p')
		} else {
			b.WriteByte('t')
		}
		for _, term := range c.terms {
			b.WriteString(term)
			b.WriteByte(0)
		}
		b.WriteByte(0)
	}
	return b.String()
}

// result returns the assets that meet all conditions. ok is false if there is no condition, in an update, or if the index
// cannot be read directly; then the caller uses MATCH, or reads the table if there is no condition.
//
// The result of a query is cached, and so is that of each of its conditions. The first time, the conditions' posting
// lists are read from the index and intersected. When the query is repeated, its cached result is used as it is if the
// library has not been edited since, and with the edits of this process applied if it has.
func (r *assetReader) result(ctx context.Context, all []condition) (out set, ok bool, err error) {
	if r.writes || len(all) == 0 {
		return set{}, false, nil
	}
	out, err = r.cached(all, func() (set, error) {
		if len(all) == 1 {
			return r.readIndex(ctx, all[0])
		}
		sets := make([]set, len(all))
		for i, c := range all {
			sets[i], err = r.cached(all[i:i+1], func() (set, error) { return r.readIndex(ctx, c) })
			if err != nil {
				return set{}, err
			}
		}
		return intersection(sets), nil
	})
	return out, err == nil, unlessUnreadable(err)
}

func intersection(sets []set) set {
	slices.SortFunc(sets, func(a, b set) int { return a.n - b.n })
	out := sets[0]
	for _, s := range sets[1:] {
		out = out.and(s)
	}
	return out
}

// cached returns the cached result of the conditions if it is current, or can be made current by follow, and otherwise what read
// returns. It caches the new result, unless the cached one is of a later edit count than the snapshot.
func (r *assetReader) cached(all []condition, read func() (set, error)) (out set, err error) {
	key := resultKey{library: r.number, text: textOf(all)}
	v, found := r.db.results.get(key, timeless)
	have, _ := v.(cachedSet)
	if found && have.edits == r.edits {
		return have.set, nil
	}
	followed := false
	if found {
		out, followed = r.follow(have, all)
	}
	if !followed {
		if out, err = read(); err != nil {
			return set{}, err
		}
	}
	if !found || have.edits < r.edits {
		r.db.results.put(timeless, effect{key, cachedSet{out, r.edits}, perEntry + len(key.text) + out.size()})
	}
	return out, nil
}

// maxFollowed bounds the comparisons of terms that bring a cached set up to date. Beyond it the set is read
// again, which takes about the same time.
const maxFollowed = 20_000

// follow applies the edits since have to its set. It returns false if have is later than the snapshot, if an edit is not
// cached, if there are too many changes, or if a changed asset has an ordinal that a set has no room for.
func (r *assetReader) follow(have cachedSet, all []condition) (set, bool) {
	q := queryOf(all)
	changes, looks, each := map[uint32]bool{}, 0, 0
	for _, c := range all {
		each += len(c.terms)
	}
	for number := have.edits + 1; number <= r.edits; number++ {
		v, found := r.db.edits.get(editKey{r.number, number}, timeless)
		if !found {
			return set{}, false
		}
		for _, c := range v.(edit).changes {
			looks += each
			if looks > maxFollowed || c.ordinal > math.MaxUint32 {
				return set{}, false
			}
			changes[uint32(c.ordinal)] = q.Match(c.ordinal, c.terms)
		}
	}
	return have.with(changes), have.edits <= r.edits
}

// readAtOnce is the number of terms whose lists are read before the context is checked again.
const readAtOnce = 1024

// readIndex reads the assets that meet a condition from the index.
func (r *assetReader) readIndex(ctx context.Context, c condition) (out set, err error) {
	x, err := r.fts()
	if err != nil {
		return set{}, err
	}
	var list []uint32
	in := r.ordinals(0, 0)
	if c.prefixes {
		for _, prefix := range encodedTerms(c.terms) {
			err = x.Terms(prefix, in, func(_ []byte, have []uint32) error {
				list = append(list, have...)
				return r.check(ctx)
			})
			if err != nil {
				return set{}, err
			}
		}
		return setOf(list), nil
	}
	for terms := range slices.Chunk(c.terms, readAtOnce) {
		if err := r.check(ctx); err != nil {
			return set{}, err
		}
		if list, err = x.Postings(encodedTerms(terms), in, list); err != nil {
			return set{}, err
		}
	}
	return setOf(list), nil
}

// unlessUnreadable returns nil for an error after which MATCH still works, and other errors unchanged.
func unlessUnreadable(err error) error {
	if errors.Is(err, fts5.ErrFormat) || errors.Is(err, fts5.ErrRange) {
		return nil
	}
	return err
}

// fts returns the index as the snapshot has it. It reads the list of segments once for a reader.
func (r *assetReader) fts() (*fts5.Index, error) {
	var err error
	if r.index == nil {
		r.index, err = fts5.Open(indexConn{r.c}, "asset_term")
	}
	return r.index, err
}

// ordinals is the range of rowids of the library's assets with ordinals above after and below before, as package fts5
// wants it: its lists have the ordinals.
func (r *assetReader) ordinals(after, before int64) fts5.Range {
	first, last := r.places(after, before)
	return fts5.Range{Base: r.place(0), First: first, Last: last}
}

// indexConn lets package fts5 run its queries.
type indexConn struct{ c *conn }

func (i indexConn) Query(sql string, args ...any) fts5.Rows {
	return indexRows{i.c.query(sql, args...)}
}

type indexRows struct{ *rows }

func (r indexRows) Next() bool        { return r.next() }
func (r indexRows) Int(i int) int64   { return r.int(i) }
func (r indexRows) Blob(i int) []byte { return r.blob(i) }
func (r indexRows) Err() error        { return r.err }
func (r indexRows) Close()            { r.close() }
