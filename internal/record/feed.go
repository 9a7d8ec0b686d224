package record

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/storage"
)

// Feed is the feed of changes in a space. Its records are:
//
//	feed/             the state: feedState
//	log/<number>      an entry: its time, the numbers of its names, and its data
//	name/<name>       the number of a name
//	named/<number>    the name of a number
//
// Names are kept by their numbers, since many entries have the same.
type Feed struct{ Space string }

// feedState is the state of a feed as it is stored.
type feedState struct {
	Last    int64 `json:"last"`    // number of the last entry that there ever was
	Removed int64 `json:"removed"` // number of the last one that was removed
	Names   int64 `json:"names"`   // how many names have a number
}

func (f Feed) stateKey() string           { return Key(f.Space, "feed/") }
func (f Feed) entryKey(n int64) string    { return Key(f.Space, "log/", Number(n)) }
func (f Feed) nameKey(name string) string { return Key(f.Space, "name/", name) }
func (f Feed) namedKey(n int64) string    { return Key(f.Space, "named/", Number(n)) }

// read returns the state, and the values of more keys of which it is known that they are needed too.
func (f Feed) read(ctx context.Context, r storage.Reader, more ...string) (s feedState, values [][]byte, err error) {
	values, err = r.Get(ctx, append(more[:len(more):len(more)], f.stateKey())...)
	if err != nil {
		return s, nil, err
	}
	if state := values[len(more)]; state != nil {
		if err := json.Unmarshal(state, &s); err != nil {
			return s, nil, fmt.Errorf("the record %q is damaged: %w", f.stateKey(), err)
		}
	}
	return s, values[:len(more)], nil
}

func (f Feed) put(ctx context.Context, t storage.Tx, s feedState, more ...storage.Entry) error {
	value, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return t.Put(ctx, append(more, storage.Entry{Key: f.stateKey(), Value: value})...)
}

// State returns the state of the feed. Its Key and Identity are those of the store, which must have them.
func (f Feed) State(ctx context.Context, r storage.Reader) (feed.State, error) {
	id, err := storage.ReadIdentity(ctx, r)
	if err != nil {
		return feed.State{}, err
	}
	s, _, err := f.read(ctx, r)
	return feed.State{Key: id.Secret, Identity: id.Name, Removed: feed.Position{Number: s.Removed}, Last: feed.Position{Number: s.Last}}, err
}

// Entries yields up to limit entries after a position, in their order.
func (f Feed) Entries(ctx context.Context, r storage.Reader, after feed.Position, limit int) iter.Seq2[feed.Entry, error] {
	return func(yield func(feed.Entry, error) bool) {
		prefix, names := Prefix(f.Space, "log/"), map[uint64]string{}
		in := storage.Prefix(prefix)
		in.From, in.Limit, in.Expect = f.entryKey(after.Number+1), limit, limit
		for e, err := range r.Scan(ctx, in) {
			var out feed.Entry
			if err == nil {
				out, err = f.entry(ctx, r, e, prefix, names)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

// entry reads an entry, and adds to names those that it has looked up.
func (f Feed) entry(ctx context.Context, r storage.Reader, e storage.Entry, prefix string, names map[uint64]string) (out feed.Entry, err error) {
	if out.Position.Number, err = ParseNumber(e.Key[len(prefix):]); err != nil {
		return out, err
	}
	fields := FieldsOf(e)
	out.At = int64(fields.Uint())
	for count := fields.Uint(); count > 0 && fields.Err() == nil; count-- {
		n := fields.Uint()
		if _, known := names[n]; !known {
			values, err := r.Get(ctx, f.namedKey(int64(n)))
			if err != nil {
				return out, err
			}
			names[n] = string(values[0])
		}
		out.Names = append(out.Names, names[n])
	}
	out.Data = fields.Rest()
	return out, fields.Err()
}

// Add adds entries at the end of the feed, and gives them their positions.
func (f Feed) Add(ctx context.Context, t storage.Tx, entries ...feed.Entry) error {
	var keys []string
	numbers := map[string]int64{}
	for _, e := range entries {
		for _, name := range e.Names {
			if _, twice := numbers[name]; !twice {
				numbers[name] = 0
				keys = append(keys, name)
			}
		}
	}
	names := keys
	keys = make([]string, len(names))
	for i, name := range names {
		keys[i] = f.nameKey(name)
	}
	s, known, err := f.read(ctx, t, keys...)
	if err != nil {
		return err
	}
	var puts []storage.Entry
	for i, name := range names {
		if known[i] != nil {
			if numbers[name], err = ParseNumber(string(known[i])); err != nil {
				return err
			}
			continue
		}
		s.Names++
		numbers[name] = s.Names
		puts = append(puts, storage.Entry{Key: keys[i], Value: []byte(Number(s.Names))}, storage.Entry{Key: f.namedKey(s.Names), Value: []byte(name)})
	}
	for _, e := range entries {
		s.Last++
		value := binary.AppendUvarint(make([]byte, 0, 16+len(e.Data)), uint64(e.At))
		value = binary.AppendUvarint(value, uint64(len(e.Names)))
		for _, name := range e.Names {
			value = binary.AppendUvarint(value, uint64(numbers[name]))
		}
		puts = append(puts, storage.Entry{Key: f.entryKey(s.Last), Value: append(value, e.Data...)})
	}
	return f.put(ctx, t, s, puts...)
}

// Remove removes the first entries, up to limit, as far as they are not after the time before, in milliseconds since the epoch.
func (f Feed) Remove(ctx context.Context, t storage.Tx, before int64, limit int) error {
	s, _, err := f.read(ctx, t)
	if err != nil {
		return err
	}
	removed := s.Removed
	for e, err := range f.Entries(ctx, t, feed.Position{Number: s.Removed}, limit) {
		if err != nil {
			return err
		}
		if e.At > before {
			break
		}
		removed = e.Position.Number
	}
	if removed == s.Removed {
		return nil
	}
	from, to := f.entryKey(s.Removed+1), f.entryKey(removed+1)
	s.Removed = removed
	if err := t.DeleteRange(ctx, storage.Range{From: from, To: to}); err != nil {
		return err
	}
	return f.put(ctx, t, s)
}
