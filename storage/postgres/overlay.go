package postgres

import (
	"maps"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/storage"
)

// overlay has the writes of an update that the server does not have yet.
type overlay struct {
	values map[string][]byte // nil for a key that was deleted
	gone   []storage.Range   // deleted before values were written
	size   int               // bytes, roughly
	sorted []string          // the keys of values; nil if they must be sorted again
}

func newOverlay() *overlay { return &overlay{values: map[string][]byte{}} }

func (o *overlay) empty() bool { return len(o.values)+len(o.gone) == 0 }

func contains(r storage.Range, key string) bool { return key >= r.From && (r.To == "" || key < r.To) }

// get returns the value that was written at a key, nil for an entry that was deleted.
func (o *overlay) get(key string) (value []byte, written bool) {
	if value, written = o.values[key]; written {
		return value, true
	}
	return nil, slices.ContainsFunc(o.gone, func(r storage.Range) bool { return contains(r, key) })
}

// set puts a value, or deletes the entry of a key if value is nil.
func (o *overlay) set(key string, value []byte) {
	if _, there := o.values[key]; !there {
		o.sorted = nil
	}
	o.values[key] = value
	o.size += len(key) + len(value) + 32
}

func (o *overlay) deleteRange(r storage.Range) {
	for key := range o.values {
		if contains(r, key) {
			delete(o.values, key)
			o.sorted = nil
		}
	}
	o.gone = append(o.gone, r)
}

// add applies the writes of top to o.
func (o *overlay) add(top *overlay) {
	for _, r := range top.gone {
		o.deleteRange(r)
	}
	for key, value := range top.values {
		o.set(key, value)
	}
}

// within returns the keys of a range that were written, in order.
func (o *overlay) within(r storage.Range) []string {
	if o.sorted == nil {
		o.sorted = slices.Sorted(maps.Keys(o.values))
	}
	from, _ := slices.BinarySearch(o.sorted, r.From)
	to := len(o.sorted)
	if r.To != "" {
		to, _ = slices.BinarySearch(o.sorted, r.To)
	}
	return o.sorted[from:max(from, to)]
}

// over returns a portion with the writes applied. The portion itself is not changed.
func (o *overlay) over(p portion) portion {
	switch {
	case o.empty():
		return p
	case p.count:
		for _, key := range o.within(storage.Range{From: p.from, To: p.to}) {
			if o.values[key] != nil {
				p.n++
			}
		}
		return p
	}
	var list []storage.Entry
	for _, e := range p.entries {
		if _, written := o.get(e.Key); !written {
			list = append(list, e)
		}
	}
	before := len(list)
	for _, key := range o.within(p.covers) {
		if value := o.values[key]; value != nil {
			list = append(list, storage.Entry{Key: key, Value: value})
		}
	}
	if p.entries = list; len(list) > before {
		slices.SortFunc(list, func(a, b storage.Entry) int {
			if p.reverse {
				a, b = b, a
			}
			return strings.Compare(a.Key, b.Key)
		})
	}
	return p
}

// statements returns the statements that execute the writes.
func (o *overlay) statements() (list []stmt) {
	for _, r := range o.gone {
		list = append(list,
			stmt{sql: "DELETE FROM vitrine_record WHERE key >= $1 AND key < $2",
				args: []any{[]byte(r.From), []byte(r.To)}})
	}
	var gone, keys, values [][]byte
	for key, value := range o.values {
		if value == nil {
			gone = append(gone, []byte(key))
		} else {
			keys, values = append(keys, []byte(key)), append(values, value)
		}
	}
	if gone != nil {
		list = append(list, stmt{sql: "DELETE FROM vitrine_record WHERE key = ANY($1)", args: []any{gone}})
	}
	if keys != nil {
		list = append(list,
			stmt{sql: `INSERT INTO vitrine_record (key, value) SELECT * FROM unnest($1::bytea[], $2::bytea[])
			ON CONFLICT (key) DO UPDATE SET value = excluded.value`, args: []any{keys, values}})
	}
	return list
}
