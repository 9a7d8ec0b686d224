package assets

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// changeSet is what a request has changed so far. At the end of the request it becomes an entry of
// the feed. The zero value is empty.
type changeSet struct {
	added, changed, removed map[int64]bool // ordinals of assets
	folders                 []string       // ids
}

// empty reports whether the request has changed nothing.
func (c *changeSet) empty() bool {
	return len(c.added)+len(c.changed)+len(c.removed)+len(c.folders) == 0
}

// add notes that an asset was added.
func (c *changeSet) add(ordinal int64) { note(&c.added, ordinal) }

// put notes that an asset was stored. An asset that the request has added counts as added alone.
func (c *changeSet) put(ordinal int64) {
	if !c.added[ordinal] {
		note(&c.changed, ordinal)
	}
}

// remove notes that an asset was removed. A request removes assets before it adds any, so the asset
// is not an added one.
func (c *changeSet) remove(ordinal int64) {
	delete(c.changed, ordinal)
	note(&c.removed, ordinal)
}

// note adds an ordinal to a set, which may be nil.
func note(set *map[int64]bool, ordinal int64) {
	if *set == nil {
		*set = map[int64]bool{}
	}
	(*set)[ordinal] = true
}

// entry returns the changes as they are stored, at this time and by the caller with this URN. Most
// requests change neighbouring assets, so an ordinal takes about one byte. All numbers are unsigned
// varints, as in package encoding/binary. Three lists of ordinals, of the added, changed and
// removed assets, are followed by the ids of folders up to the end:
//
//	the number of ordinals, the lowest ordinal, the difference to the next one, …
//	the same for the changed assets
//	the same for the removed assets
//	the length of an id, the id, the length of the next id, …
func (c *changeSet) entry(by string, at int64) feed.Entry {
	e := feed.Entry{At: at, Names: []string{by}}
	for _, set := range []map[int64]bool{c.added, c.changed, c.removed} {
		e.Data = binary.AppendUvarint(e.Data, uint64(len(set)))
		last := int64(0)
		for _, ordinal := range slices.Sorted(maps.Keys(set)) {
			e.Data = binary.AppendUvarint(e.Data, uint64(ordinal-last))
			last = ordinal
		}
	}
	for _, id := range unique(c.folders) {
		e.Data = record.AppendText(e.Data, id)
	}
	return e
}

// errStoredEntry is the error of an entry that entry has not returned: the store was damaged, or
// another program wrote to it.
var errStoredEntry = errors.New("stored entry of the feed: not one that a service wrote")

// readChanges is the inverse of entry. ids makes the ids of the assets from their ordinals. It
// takes no more memory than the data can fill, so an entry with false numbers does no harm.
func readChanges(e feed.Entry, ids seal) (Event, error) {
	if len(e.Names) != 1 {
		return Event{}, errStoredEntry
	}
	out := Event{At: e.At, By: e.Names[0], Folders: []string{}}
	f, ok := record.FieldsOf(storage.Entry{Value: e.Data}), true
	for _, list := range []*[]string{&out.Added, &out.Changed, &out.Removed} {
		*list = []string{}
		ordinal := int64(0)
		for n := f.Uint(); n > 0 && f.Err() == nil; n-- {
			gap := f.Uint()
			ok = ok && gap <= MaxOrdinal
			ordinal += int64(gap)
			*list = append(*list, ids.encrypt(sealedID, ordinal))
		}
	}
	for len(f.Rest()) > 0 {
		out.Folders = append(out.Folders, string(f.Text()))
	}
	if f.Err() != nil || !ok {
		return Event{}, errStoredEntry
	}
	return out, nil
}
