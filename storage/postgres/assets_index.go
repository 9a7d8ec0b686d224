package postgres

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/assets/assetstore"
)

// assetIndex collects the changes that an Update makes to the posting lists of a library and to the table of attribute values. It
// writes them together: once for each list, however many assets were added to the list. assets_list.go says how a list is
// stored. The name of a list is a term, or is made of an attribute by listOf.
type assetIndex struct {
	part    int                             // bytes of a part that is written anew, see partBytes
	top     int64                           // no list has a higher ordinal, so a higher one can be appended to any list
	changes map[string][]listChange         // by the names of the lists, in the order in which they were made
	waiting int                             // how many changes there are
	added   map[string]assetstore.Attribute // attributes that assets got, by the names of their lists
	removed map[string]bool                 // lists of attributes that may have become empty
}

// listChange adds an ordinal to a list, or removes it.
type listChange struct {
	ordinal int64
	in      bool // false = removed
}

// newAssetIndex returns an assetIndex without changes. part is partBytes, or less in tests.
func newAssetIndex(part int) assetIndex {
	x := assetIndex{part: part}
	x.reset()
	return x
}

func (x *assetIndex) reset() {
	x.changes, x.waiting = map[string][]listChange{}, 0
	x.added, x.removed = map[string]assetstore.Attribute{}, map[string]bool{}
}

// listsOf returns the names of the lists that an asset with these index entries is in, sorted and each once.
func listsOf(x assetstore.Index) []string {
	terms := slices.Clone(x.Terms)
	for _, a := range x.Attributes {
		terms = append(terms, listOf(a))
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// change notes that an asset was in the lists from and is in the lists to now, both sorted. attributes are those that it has
// now.
func (x *assetIndex) change(ordinal int64, from, to []string, attributes []assetstore.Attribute) {
	leaves, comes := diff(from, to)
	for _, term := range leaves {
		x.changes[term] = append(x.changes[term], listChange{ordinal, false})
		if strings.HasPrefix(term, attributeList) {
			x.removed[term] = true
		}
	}
	for _, term := range comes {
		x.changes[term] = append(x.changes[term], listChange{ordinal, true})
	}
	for _, a := range attributes {
		if term := listOf(a); len(x.changes[term]) > 0 {
			x.added[term] = a
		}
	}
	x.waiting += len(leaves) + len(comes)
}

const (
	flushTerms  = 2048  // lists that are read and written anew in one round trip
	appendTerms = 16384 // lists that are appended to in one round trip
)

// flush writes the changes to the lists and to the table of values, some of them with the next statement or the commit. First it
// appends to as many lists as it can; the others are read and written anew.
func (x *assetIndex) flush(ctx context.Context, c *conn, library string) error {
	if x.waiting == 0 {
		return nil
	}
	terms, err := x.appendLists(ctx, c, library)
	if err != nil {
		return err
	}
	for terms := range slices.Chunk(terms, flushTerms) {
		if err := x.flushLists(ctx, c, library, terms); err != nil {
			return err
		}
	}
	x.flushValues(c, library)
	x.reset()
	return nil
}

// lastOfEach returns the last change of each ordinal, in the order of ordinals. It reuses the memory of changes.
func lastOfEach(changes []listChange) []listChange {
	slices.SortStableFunc(changes, func(a, b listChange) int { return cmp.Compare(a.ordinal, b.ordinal) })
	out := changes[:0]
	for i, l := range changes {
		if i+1 == len(changes) || changes[i+1].ordinal != l.ordinal {
			out = append(out, l)
		}
	}
	return out
}

// appendToLists appends pieces to the last parts of lists, and creates the lists that do not exist. It returns the names of
// lists whose last part has no room or was written by the first release, and leaves these lists unchanged. The byte 2 is
// formatPieces.
const appendToLists = `WITH last AS (SELECT u.*, p.low AS at, p.room
		FROM unnest($2::bytea[], $3::int8[], $4::int8[], $5::bytea[]) AS u (term, low, count, piece)
		LEFT JOIN LATERAL (SELECT low, get_byte(ordinals, 0) = 2 AND octet_length(ordinals) + octet_length(u.piece) <= $6 AS room
			FROM asset_list WHERE library = $1 AND term = u.term ORDER BY low DESC LIMIT 1) p ON true),
	put AS (INSERT INTO asset_list AS l (library, term, low, count, ordinals)
		SELECT $1, term, coalesce(at, low), count, CASE WHEN at IS NULL THEN '\x02'::bytea || piece ELSE piece END FROM last WHERE at IS NULL OR room
		ON CONFLICT (library, term, low) DO UPDATE SET count = l.count + excluded.count, ordinals = l.ordinals || excluded.ordinals)
	SELECT term FROM last WHERE NOT room`

// appendLists makes the changes that only append ordinals to a list whose last part has room. It returns the names of the other
// lists, sorted. To read the parts and write them anew would take twice as long.
func (x *assetIndex) appendLists(ctx context.Context, c *conn, library string) (others []string, err error) {
	var (
		names        []string
		lows, counts []int64
		pieces       [][]byte
	)
	send := func() error {
		if len(names) == 0 {
			return nil
		}
		// Appending fills a part to 1.5 times the bytes of a part that is written anew. So there is room again after that.
		found := c.query(ctx, appendToLists, library, names, lows, counts, pieces, x.part+x.part/2)
		for found.next() {
			others = append(others, found.text(0))
		}
		names, lows, counts, pieces = nil, nil, nil, nil
		return found.err
	}
	for _, term := range slices.Sorted(maps.Keys(x.changes)) {
		x.changes[term] = lastOfEach(x.changes[term])
		piece, ok := x.piece(x.changes[term])
		if !ok {
			others = append(others, term)
			continue
		}
		names, lows, counts, pieces = append(names, term), append(lows, x.changes[term][0].ordinal), append(counts, int64(len(x.changes[term]))), append(pieces, piece)
		if len(names) == appendTerms {
			if err := send(); err != nil {
				return nil, err
			}
		}
	}
	if err := send(); err != nil {
		return nil, err
	}
	slices.Sort(others)
	return others, nil
}

// piece returns the changes of a list as a piece to append. ok is false if they do more than append, or are too many for one
// part.
func (x *assetIndex) piece(changes []listChange) (piece []byte, ok bool) {
	ordinals, steps := make([]int64, len(changes)), 0
	for i, l := range changes {
		if !l.in || l.ordinal <= x.top {
			return nil, false
		}
		ordinals[i] = l.ordinal
		if i > 0 {
			steps += uvarintLen(l.ordinal - ordinals[i-1])
		}
	}
	if min(steps, bitsLen(ordinals[0], ordinals[len(ordinals)-1])) > x.part {
		return nil, false
	}
	return appendPiece(nil, ordinals, steps), true
}

// flushLists makes the changes of some lists: it reads the parts that change, and writes them anew with the next statement or the
// commit.
func (x *assetIndex) flushLists(ctx context.Context, c *conn, library string, terms []string) error {
	read, err := x.read(ctx, c, library, terms)
	if err != nil {
		return err
	}
	var (
		names        []string
		lows, counts []int64
		ordinals     [][]byte
	)
	for _, term := range terms {
		err := x.rewrite(read[term], x.changes[term], func(low int64, parts []part) {
			if len(parts) == 0 {
				c.later("DELETE FROM asset_list WHERE library = $1 AND term = $2 AND low = $3", library, term, low)
			}
			for i, p := range parts {
				if i > 0 {
					low = p.low
				}
				names, lows, counts, ordinals = append(names, term), append(lows, low), append(counts, int64(p.count)), append(ordinals, p.data)
			}
		})
		if err != nil {
			return err
		}
	}
	c.later(`INSERT INTO asset_list (library, term, low, count, ordinals)
		SELECT $1, u.* FROM unnest($2::bytea[], $3::int8[], $4::int8[], $5::bytea[]) AS u
		ON CONFLICT (library, term, low) DO UPDATE SET count = excluded.count, ordinals = excluded.ordinals`,
		library, names, lows, counts, ordinals)
	return nil
}

// read returns the parts that the changes belong to, by the name of the list and low.
func (x *assetIndex) read(ctx context.Context, c *conn, library string, terms []string) (map[string]map[int64][]byte, error) {
	var names []string
	var at []int64
	for _, term := range terms {
		for _, l := range x.changes[term] {
			names, at = append(names, term), append(at, l.ordinal)
			if l.ordinal > x.top {
				break // the later changes have higher ordinals, which all belong to the last part
			}
		}
	}
	found := c.query(ctx, `SELECT DISTINCT u.term, p.low, p.ordinals FROM unnest($2::bytea[], $3::int8[]) AS u (term, at)
		CROSS JOIN LATERAL (SELECT low, ordinals FROM asset_list WHERE library = $1 AND term = u.term AND low <= u.at ORDER BY low DESC LIMIT 1) p`,
		library, names, at)
	out := map[string]map[int64][]byte{}
	for found.next() {
		term := found.text(0)
		if out[term] == nil {
			out[term] = map[int64][]byte{}
		}
		out[term][found.int(1)] = found.blob(2)
	}
	return out, found.err
}

// rewrite makes the changes of one list in its parts, which are given by low. The changes are in the order of ordinals. It calls
// put with the low of each changed part and the parts that replace it: none if it is empty now, several if it has grown too
// large. The first of them keeps the low. Ordinals below the first part go into a new part that begins at 0.
func (x *assetIndex) rewrite(parts map[int64][]byte, changes []listChange, put func(low int64, parts []part)) error {
	lows := slices.Sorted(maps.Keys(parts))
	for len(changes) > 0 {
		low, next := int64(0), len(changes)
		i, there := slices.BinarySearch(lows, changes[0].ordinal)
		if !there {
			i--
		}
		if i >= 0 {
			low = lows[i]
		}
		if i+1 < len(lows) {
			next, _ = slices.BinarySearchFunc(changes, lows[i+1], func(l listChange, low int64) int { return cmp.Compare(l.ordinal, low) })
		}
		var ordinals []int64
		if data, there := parts[low]; there {
			var err error
			if ordinals, err = decodePart(data); err != nil {
				return err
			}
		}
		appends := len(ordinals) == 0 || changes[0].ordinal > ordinals[len(ordinals)-1]
		put(low, x.encode(merge(ordinals, changes[:next]), appends))
		changes = changes[next:]
	}
	return nil
}

// encode encodes ordinals as parts. If the new ordinals were appended, or one part is enough, the parts are filled. Otherwise the
// ordinals are halved until each half fits a part, which leaves room for more ordinals in between.
func (x *assetIndex) encode(ordinals []int64, appends bool) []part {
	parts := encodeParts(ordinals, x.part)
	if len(parts) < 2 || appends {
		return parts
	}
	half := len(ordinals) / 2
	return append(x.encode(ordinals[:half], false), x.encode(ordinals[half:], false)...)
}

// merge returns ascending ordinals after the changes, which are in the order of ordinals.
func merge(ordinals []int64, changes []listChange) []int64 {
	out := make([]int64, 0, len(ordinals)+len(changes))
	for _, l := range changes {
		n, found := slices.BinarySearch(ordinals, l.ordinal)
		out = append(out, ordinals[:n]...)
		if l.in {
			out = append(out, l.ordinal)
		}
		if found {
			n++
		}
		ordinals = ordinals[n:]
	}
	return append(out, ordinals...)
}

// flushValues adds the rows of new attributes, and deletes those of attributes that no asset has any more, with the next
// statement or the commit. It comes after the changes of the lists, since an attribute is in use if it has a list.
func (x *assetIndex) flushValues(c *conn, library string) {
	if len(x.added) > 0 {
		var terms, keys, heads, values []string
		for _, term := range slices.Sorted(maps.Keys(x.added)) {
			a := x.added[term]
			terms, keys, values = append(terms, term), append(keys, digest(a.Key)), append(values, a.Value)
			heads = append(heads, a.Value[:min(len(a.Value), valueHead)])
		}
		c.later(`INSERT INTO asset_value (library, term, key, head, value) SELECT $1, u.* FROM unnest($2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[]) AS u
			ON CONFLICT (library, term) DO NOTHING`, library, terms, keys, heads, values)
	}
	for term := range x.removed {
		c.later(`DELETE FROM asset_value WHERE library = $1 AND term = $2
			AND NOT EXISTS (SELECT FROM asset_list WHERE library = $1 AND term = $2)`, library, term)
	}
}
