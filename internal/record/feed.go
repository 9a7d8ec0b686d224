package record

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/lru"
	"github.com/vitrine-go/vitrine/storage"
)

// Feed is the feed of changes in a space. Its records are:
//
//	feed/             the state: feedState
//	log/<number>      an entry: its time, the numbers of its names, and its data
//	name/<name>       the number of a name
//	named/<number>    the name of a number
//
// Names are kept by their numbers, since many entries have the same. A number is never given to another name.
type Feed struct {
	Space string
	Names *Names // a cache of all feeds in this space; nil for none
}

// Names is a cache of names and their numbers.
type Names struct {
	numbers *lru.Cache[string, int64]
	names   *lru.Cache[int64, string]
}

// NewNames returns a cache of about this many bytes.
func NewNames(size int) *Names {
	return &Names{numbers: lru.New[string, int64](size / 2), names: lru.New[int64, string](size / 2)}
}

func (n *Names) add(name string, number int64) {
	if n == nil {
		return
	}
	n.numbers.Put(name, number, len(name)+100)
	n.names.Put(number, name, len(name)+100)
}

func (n *Names) number(name string) (number int64, found bool) {
	if n == nil {
		return 0, false
	}
	return n.numbers.Get(name)
}

func (n *Names) name(number int64) (name string, found bool) {
	if n == nil {
		return "", false
	}
	return n.names.Get(number)
}

// feedState is the state of a feed as it is stored.
type feedState struct {
	Last    int64 `json:"last"`    // number of the last entry that there ever was
	Removed int64 `json:"removed"` // number of the last one that was removed
	Names   int64 `json:"names"`   // how many names have a number
}

// FeedKinds returns what the keys of feeds begin with in a space, as package archive leaves it out.
func FeedKinds(space string) []string {
	return []string{space + " feed", space + " log/", space + " name/", space + " named/"}
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

// most is how many entries are read at once at most.
const most = 256

// Entries yields up to limit entries after a position, in their order; 0 is for all.
func (f Feed) Entries(ctx context.Context, r storage.Reader, after feed.Position, limit int) iter.Seq2[feed.Entry, error] {
	return func(yield func(feed.Entry, error) bool) {
		for left, after := limit, after.Number; ; {
			size := most
			if limit > 0 {
				size = min(size, left)
			}
			entries, err := f.portion(ctx, r, after, size)
			if err != nil {
				yield(feed.Entry{}, err)
				return
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
				after = e.Position.Number
			}
			if left -= len(entries); len(entries) < size || left == 0 {
				return
			}
		}
	}
}

// portion reads up to size entries after a number, in two trips.
func (f Feed) portion(ctx context.Context, r storage.Reader, after int64, size int) ([]feed.Entry, error) {
	var entries []feed.Entry
	var numbers [][]uint64 // of the names of each entry
	names, missing := map[uint64]string{}, []uint64(nil)
	prefix := Prefix(f.Space, "log/")
	in := storage.Prefix(prefix)
	in.From, in.Limit, in.Expect = f.entryKey(after+1), size, size
	for e, err := range r.Scan(ctx, in) {
		if err != nil {
			return nil, err
		}
		out, named, err := parseEntry(e, prefix)
		if err != nil {
			return nil, err
		}
		for _, n := range named {
			if _, known := names[n]; !known {
				if names[n], known = f.Names.name(int64(n)); !known {
					missing = append(missing, n)
				}
			}
		}
		entries, numbers = append(entries, out), append(numbers, named)
	}
	keys := make([]string, len(missing))
	for i, n := range missing {
		keys[i] = f.namedKey(int64(n))
	}
	values, err := r.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for i, n := range missing {
		if values[i] == nil {
			return nil, fmt.Errorf("the record %q is missing", keys[i])
		}
		names[n] = string(values[i])
		f.learn(r, names[n], int64(n))
	}
	for i, named := range numbers {
		for _, n := range named {
			entries[i].Names = append(entries[i].Names, names[n])
		}
	}
	return entries, nil
}

// learn adds a name to the cache, as soon as it is certain that it is in the store.
func (f Feed) learn(r storage.Reader, name string, number int64) {
	switch r := r.(type) {
	case *Tx:
		r.Committed(func() { f.Names.add(name, number) })
	case storage.Tx: // which may be rolled back
	default:
		f.Names.add(name, number)
	}
}

// parseEntry returns an entry without its names, and the numbers of these.
func parseEntry(entry storage.Entry, prefix string) (e feed.Entry, names []uint64, err error) {
	if e.Position.Number, err = ParseNumber(entry.Key[len(prefix):]); err != nil {
		return e, nil, err
	}
	fields := FieldsOf(entry)
	e.At = int64(fields.Uint())
	for count := fields.Uint(); count > 0 && fields.Err() == nil; count-- {
		names = append(names, fields.Uint())
	}
	e.Data = bytes.Clone(fields.Rest())
	return e, names, fields.Err()
}

// Keys returns the keys of what Add reads to add an entry with these names, so that it can be read ahead.
func (f Feed) Keys(names ...string) []string {
	keys := []string{f.stateKey()}
	for _, name := range names {
		if _, known := f.Names.number(name); !known {
			keys = append(keys, f.nameKey(name))
		}
	}
	return keys
}

// Add adds entries at the end of the feed, and gives them their positions.
func (f Feed) Add(ctx context.Context, t storage.Tx, entries ...feed.Entry) error {
	numbers := map[string]int64{}
	var names, keys []string // which the cache does not have
	for _, e := range entries {
		for _, name := range e.Names {
			if _, twice := numbers[name]; twice {
				continue
			}
			number, known := f.Names.number(name)
			if numbers[name] = number; !known {
				names, keys = append(names, name), append(keys, f.nameKey(name))
			}
		}
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
		} else {
			s.Names++
			numbers[name] = s.Names
			puts = append(puts, storage.Entry{Key: keys[i], Value: []byte(Number(s.Names))}, storage.Entry{Key: f.namedKey(s.Names), Value: []byte(name)})
		}
		f.learn(t, name, numbers[name])
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
	removed, prefix := s.Removed, Prefix(f.Space, "log/")
	in := storage.Prefix(prefix)
	in.From, in.Limit, in.Expect = f.entryKey(s.Removed+1), limit, limit
	for e, err := range t.Scan(ctx, in) {
		var entry feed.Entry
		if err == nil {
			entry, _, err = parseEntry(e, prefix)
		}
		if err != nil {
			return err
		}
		if entry.At > before {
			break
		}
		removed = entry.Position.Number
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
