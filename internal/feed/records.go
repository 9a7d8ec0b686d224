package feed

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/lru"
	"github.com/vitrine-go/vitrine/storage"
)

// Feed is the feed of changes in a space. Its records are:
//
//	feed/             the state, with the last entries: feedState
//	log/<number>      a block of entries, and the number of the last one; see parseBlock
//	name/<name>       the number of a name
//	named/<number>    the name of a number
//
// Entries contain the numbers of names, since many have the same names. A number is never given to another name. New
// entries are stored in the state, which each update writes anyway, until they fill a block: a row of a database takes
// more space than an entry.
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

// feedState is the state of a feed. It is stored as JSON on one line, followed by the recent entries.
type feedState struct {
	Last    int64  `json:"last"`    // number of the last entry, which may have been removed
	Removed int64  `json:"removed"` // number of the last entry that was removed
	Names   int64  `json:"names"`   // how many names have a number
	recent  []byte // the entries after those of the last block
}

// blockBytes is the size at which entries become a block.
const blockBytes = 512

// Kinds returns the prefixes of the keys of feeds in a space, for package archive to leave out.
func Kinds(space string) []string {
	return []string{space + " feed", space + " log/", space + " name/", space + " named/"}
}

func (f Feed) stateKey() string           { return keyval.Key(f.Space, "feed/") }
func (f Feed) entryKey(n int64) string    { return keyval.Key(f.Space, "log/", keyval.Number(n)) }
func (f Feed) nameKey(name string) string { return keyval.Key(f.Space, "name/", name) }
func (f Feed) namedKey(n int64) string    { return keyval.Key(f.Space, "named/", keyval.Number(n)) }

// read returns the state, and the values of more keys, in one round trip.
func (f Feed) read(ctx context.Context, r storage.Reader, more ...string) (s feedState, values [][]byte, err error) {
	values, err = r.Get(ctx, append(more[:len(more):len(more)], f.stateKey())...)
	if err != nil {
		return s, nil, err
	}
	if state := values[len(more)]; state != nil {
		s, err = f.parseState(state)
	}
	return s, values[:len(more)], err
}

func (f Feed) parseState(value []byte) (s feedState, err error) {
	line, recent, _ := bytes.Cut(value, []byte("\n"))
	s.recent = slices.Clip(recent)
	if err := json.Unmarshal(line, &s); err != nil {
		return s, keyval.Damaged(f.stateKey(), err)
	}
	return s, nil
}

func (f Feed) put(ctx context.Context, t storage.Tx, s feedState, more ...storage.Entry) error {
	value, err := json.Marshal(s)
	if err != nil {
		return err
	}
	value = append(append(value, '\n'), s.recent...)
	return t.Put(ctx, append(more, storage.Entry{Key: f.stateKey(), Value: value})...)
}

// State returns the state of the feed. Its Key and Identity are those of the store, which must have them.
func (f Feed) State(ctx context.Context, r storage.Reader) (State, error) {
	id, err := storage.ReadIdentity(ctx, r)
	if err != nil {
		return State{}, err
	}
	s, _, err := f.read(ctx, r)
	return State{Key: id.Secret, Identity: id.Name, Removed: Position(s.Removed), Last: Position(s.Last)}, err
}

// most is the largest number of entries that are read at once.
const most = 256

// Entries yields up to limit entries after a position, in their order; 0 is for all.
func (f Feed) Entries(ctx context.Context, r storage.Reader, after Position, limit int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for part, err := range keyval.Chunks(f.numbered(ctx, r, int64(after), limit), most) {
			if err == nil {
				err = f.name(ctx, r, part)
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, e := range part {
				if !yield(e.Entry, nil) {
					return
				}
			}
		}
	}
}

// name sets the names of entries. It reads those that the cache does not have in one round trip.
func (f Feed) name(ctx context.Context, r storage.Reader, entries []numbered) error {
	names := map[uint64]string{}
	var missing []uint64
	var keys []string
	for _, e := range entries {
		for _, n := range e.names {
			if _, met := names[n]; met {
				continue
			}
			name, known := f.Names.name(int64(n))
			if names[n] = name; !known {
				missing, keys = append(missing, n), append(keys, f.namedKey(int64(n)))
			}
		}
	}
	values, err := r.Get(ctx, keys...)
	if err != nil {
		return err
	}
	for i, n := range missing {
		if values[i] == nil {
			return fmt.Errorf("the record %q is missing", keys[i])
		}
		names[n] = string(values[i])
		f.learn(r, names[n], int64(n))
	}
	for i := range entries {
		for _, n := range entries[i].names {
			entries[i].Names = append(entries[i].Names, names[n])
		}
	}
	return nil
}

// learn adds a name to the cache when it is committed.
func (f Feed) learn(r storage.Reader, name string, number int64) {
	switch r := r.(type) {
	case *keyval.Tx:
		r.Committed(func() { f.Names.add(name, number) })
	case storage.Tx: // it may be rolled back
	default:
		f.Names.add(name, number)
	}
}

// numbered is an entry with the numbers of its names instead of these.
type numbered struct {
	Entry
	names []uint64
}

// numbered yields up to limit entries after a number, without removed ones.
func (f Feed) numbered(ctx context.Context, r storage.Reader, after int64, limit int) iter.Seq2[numbered, error] {
	return func(yield func(numbered, error) bool) {
		state := storage.Range{From: f.stateKey(), To: f.stateKey() + "\x00", Expect: 1}
		prefix := keyval.Prefix(f.Space, "log/")
		blocks := storage.Prefix(prefix)
		blocks.From, blocks.Expect = f.entryKey(after+1), 1+min(limit, most)/16
		var s feedState
		// yieldBlock yields the entries of a block, of which the last one has the number last.
		yieldBlock := func(block storage.Entry, last int64) bool {
			list, err := parseBlock(block)
			if err != nil {
				yield(numbered{}, err)
				return false
			}
			for i, e := range list {
				e.Position = Position(last - int64(len(list)-1-i))
				if int64(e.Position) <= max(after, s.Removed) {
					continue
				}
				if limit--; !yield(e, nil) || limit == 0 {
					return false
				}
			}
			return true
		}
		for e, err := range r.Scan(ctx, state, blocks) { // the state comes first
			var last int64
			switch {
			case err != nil:
			case e.Key == f.stateKey():
				if s, err = f.parseState(e.Value); err == nil {
					continue
				}
			default:
				last, err = keyval.ParseNumber(e.Key[len(prefix):])
			}
			if err != nil {
				yield(numbered{}, err)
				return
			}
			if !yieldBlock(e, last) {
				return
			}
		}
		yieldBlock(storage.Entry{Key: f.stateKey(), Value: s.recent}, s.Last)
	}
}

// parseBlock returns the entries of a block.
func parseBlock(block storage.Entry) (list []numbered, err error) {
	fields := keyval.Fields{Key: block.Key, Rest: block.Value}
	for len(fields.Rest) > 0 {
		e := numbered{Entry: Entry{At: int64(fields.Uint())}}
		for count := fields.Uint(); count > 0 && fields.Err() == nil; count-- {
			e.names = append(e.names, fields.Uint())
		}
		e.Data = bytes.Clone(fields.Text())
		list = append(list, e)
	}
	return list, fields.Err()
}

// Keys returns the keys that Add reads for an entry with these names, so that they can be read ahead.
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
func (f Feed) Add(ctx context.Context, t storage.Tx, entries ...Entry) error {
	numbers := map[string]int64{}
	var names, keys []string // those that the cache does not have
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
			if numbers[name], err = keyval.ParseNumber(string(known[i])); err != nil {
				return err
			}
		} else {
			s.Names++
			numbers[name] = s.Names
			puts = append(puts, storage.Entry{Key: keys[i], Value: []byte(keyval.Number(s.Names))},
				storage.Entry{Key: f.namedKey(s.Names), Value: []byte(name)})
		}
		f.learn(t, name, numbers[name])
	}
	for _, e := range entries {
		s.Last++
		s.recent = binary.AppendUvarint(s.recent, uint64(e.At))
		s.recent = binary.AppendUvarint(s.recent, uint64(len(e.Names)))
		for _, name := range e.Names {
			s.recent = binary.AppendUvarint(s.recent, uint64(numbers[name]))
		}
		if s.recent = keyval.AppendText(s.recent, e.Data); len(s.recent) >= blockBytes {
			puts = append(puts, storage.Entry{Key: f.entryKey(s.Last), Value: s.recent})
			s.recent = nil
		}
	}
	return f.put(ctx, t, s, puts...)
}

// Remove removes the oldest entries, up to limit, until the first one that is later than before, in milliseconds since
// the epoch.
func (f Feed) Remove(ctx context.Context, t storage.Tx, before int64, limit int) error {
	s, _, err := f.read(ctx, t)
	if err != nil {
		return err
	}
	removed := s.Removed
	for e, err := range f.numbered(ctx, t, s.Removed, limit) {
		if err != nil {
			return err
		}
		if e.At > before {
			break
		}
		removed = int64(e.Position)
	}
	if removed == s.Removed {
		return nil
	}
	if s.Removed = removed; s.Removed == s.Last {
		s.recent = nil
	}
	// A block is removed with its last entry.
	whole := storage.Range{From: f.entryKey(0), To: f.entryKey(removed + 1)}
	if err := t.DeleteRange(ctx, whole); err != nil {
		return err
	}
	return f.put(ctx, t, s)
}
