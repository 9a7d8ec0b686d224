package assets

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
)

// changeSet is what a request has changed so far.
type changeSet struct {
	added, changed, removed map[int64]bool // ordinals of assets
	folders                 []string       // ids
}

func (c *changeSet) empty() bool {
	return len(c.added)+len(c.changed)+len(c.removed)+len(c.folders) == 0
}

// add notes that an asset was added.
func (c *changeSet) add(ordinal int64) { note(&c.added, ordinal) }

// put notes that an asset was stored; a new one counts as added alone.
func (c *changeSet) put(ordinal int64) {
	if !c.added[ordinal] {
		note(&c.changed, ordinal)
	}
}

// remove notes that an asset was removed.
func (c *changeSet) remove(ordinal int64) {
	delete(c.changed, ordinal)
	note(&c.removed, ordinal)
}

func note(set *map[int64]bool, ordinal int64) {
	if *set == nil {
		*set = map[int64]bool{}
	}
	(*set)[ordinal] = true
}

// entry returns the changes as they are stored: the number of the ordinals of each kind, and the differences between
// them in ascending order, and then the ids of the folders, each with its length.
func (c *changeSet) entry(by string, at int64) FeedEntry {
	e := FeedEntry{At: at, Names: []string{by}}
	for _, set := range []map[int64]bool{c.added, c.changed, c.removed} {
		e.Data = binary.AppendUvarint(e.Data, uint64(len(set)))
		last := int64(0)
		for _, ordinal := range slices.Sorted(maps.Keys(set)) {
			e.Data = binary.AppendUvarint(e.Data, uint64(ordinal-last))
			last = ordinal
		}
	}
	for _, id := range unique(c.folders) {
		e.Data = append(binary.AppendUvarint(e.Data, uint64(len(id))), id...)
	}
	return e
}

var errStoredEntry = errors.New("stored entry of the feed: not one that a service wrote")

// readChanges reads what entry wrote. The seal makes the ids of the assets.
func readChanges(e FeedEntry, ids seal) (Event, error) {
	if len(e.Names) != 1 {
		return Event{}, errStoredEntry
	}
	out := Event{At: e.At, By: e.Names[0]}
	rest, ok := e.Data, true
	number := func() int64 {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > MaxOrdinal {
			ok, rest = false, nil
			return 0
		}
		rest = rest[size:]
		return int64(n)
	}
	for _, list := range []*[]string{&out.Added, &out.Changed, &out.Removed} {
		*list = []string{}
		ordinal := int64(0)
		for n := number(); n > 0 && ok; n-- {
			ordinal += number()
			*list = append(*list, ids.encrypt(sealedID, ordinal))
		}
	}
	out.Folders = []string{}
	for len(rest) > 0 {
		n := number()
		if n > int64(len(rest)) {
			ok, n = false, 0
		}
		out.Folders = append(out.Folders, string(rest[:n]))
		rest = rest[n:]
	}
	if !ok {
		return Event{}, errStoredEntry
	}
	return out, nil
}
