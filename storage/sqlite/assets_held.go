package sqlite

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/assets"
)

// held is the assets of a library that all of some sets of terms match, as they were after so many
// edits of it. The number of edits is read in the snapshot, so what is held is never taken for what
// it is not, whoever wrote meanwhile; what this process wrote itself is followed.
type held struct {
	set
	edits int64
}

// heldKey is the cache's key for a held.
type heldKey struct {
	library int64
	terms   string // with a NUL behind each, and one more behind each set
}

// editKey is the cache's key for what one edit of a library has changed, an edit.
type editKey struct{ library, number int64 }

// edit is what an update has done to assets, in its order.
type edit struct {
	changes []change
	size    int // about how many bytes it takes; more than maxEdit when the changes are not kept
}

// maxEdit bounds the memory for the changes of one update. A set is read again when there are more.
const maxEdit = 1 << 20

// change is an asset as it is from then on.
type change struct {
	ordinal int64
	terms   []string // nil for one that is removed
}

func (e *edit) add(ordinal int64, terms []string) {
	const perTerm = 32
	if e.size += perTerm * (2 + len(terms)); e.size > maxEdit {
		e.changes = nil
		return
	}
	e.changes = append(e.changes, change{ordinal, slices.Clone(terms)})
}

// timeless is the state that those caches are read in whose values tell by themselves when they were true.
var timeless stamp

func newTimelessCache(limit int) *cache { return newCache(limit, func() stamp { return timeless }) }

// matching returns the assets that all the sets of terms match. Not ok means that MATCH has to be asked.
func (r *assetReader) matching(all []assets.AnyOf) (out set, ok bool, err error) {
	if r.writes || len(all) == 0 {
		return set{}, false, nil
	}
	key := heldKey{library: r.number, terms: textOf(all)}
	v, found := r.db.held.get(key, timeless)
	have, _ := v.(held)
	if found && have.edits == r.edits {
		return have.set, true, nil
	}
	followed := false
	if found {
		out, followed = r.follow(have, all)
	}
	if !followed {
		if out, ok, err = r.read(all); !ok || err != nil {
			return set{}, false, err
		}
	}
	if !found || have.edits < r.edits {
		r.db.held.put(timeless, effect{key, held{out, r.edits}, perEntry + len(key.terms) + out.size()})
	}
	return out, true, nil
}

func textOf(all []assets.AnyOf) string {
	var b strings.Builder
	for _, terms := range all {
		for _, term := range terms {
			b.WriteString(term)
			b.WriteByte(0)
		}
		b.WriteByte(0)
	}
	return b.String()
}

// maxFollowed is how many times an asset's terms are looked through to bring a set to the present. Then
// it is read again, in about that time.
const maxFollowed = 20_000

// follow brings a set to the present, if what has changed since is known and not too much.
func (r *assetReader) follow(have held, all []assets.AnyOf) (set, bool) {
	q := assets.AssetQuery{All: all}
	changes, looks, each := map[uint32]bool{}, 0, 0
	for _, terms := range all {
		each += len(terms)
	}
	for number := have.edits + 1; number <= r.edits; number++ {
		v, found := r.db.edits.get(editKey{r.number, number}, timeless)
		if !found {
			return set{}, false
		}
		for _, c := range v.(edit).changes {
			if looks += each; looks > maxFollowed || c.ordinal > math.MaxUint32 {
				return set{}, false
			}
			changes[uint32(c.ordinal)] = q.Match(c.ordinal, c.terms)
		}
	}
	return have.with(changes), have.edits <= r.edits
}

// read makes the set anew: of one set of terms from the index, of more from the set of each. Not ok
// means that it is none.
func (r *assetReader) read(all []assets.AnyOf) (out set, ok bool, err error) {
	if len(all) == 1 {
		return r.readAny(all[0])
	}
	sets := make([]set, len(all))
	for i := range all {
		if sets[i], ok, err = r.matching(all[i : i+1]); !ok || err != nil {
			return set{}, false, err
		}
	}
	slices.SortFunc(sets, func(a, b set) int { return a.n - b.n })
	out = sets[0]
	for _, s := range sets[1:] {
		out = out.and(s)
	}
	return out, true, nil
}

// readAny reads the assets that have one of the terms.
func (r *assetReader) readAny(terms assets.AnyOf) (out set, ok bool, err error) {
	if r.lists == nil {
		if r.lists, err = r.c.postings(); err != nil {
			return set{}, false, unlessNoSet(err)
		}
	}
	first, last := r.places(0, 0)
	encoded := make([][]byte, len(terms))
	for i, term := range terms {
		var b strings.Builder
		encodeTerm(&b, term)
		encoded[i] = []byte(b.String())
	}
	list, err := r.lists.read(encoded, first, last)
	if err != nil {
		return set{}, false, unlessNoSet(err)
	}
	return setOf(list), true, nil
}

// unlessNoSet returns an error that asking MATCH would have as well.
func unlessNoSet(err error) error {
	if errors.Is(err, errFormat) || errors.Is(err, errHigh) {
		return nil
	}
	return err
}
