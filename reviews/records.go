package reviews

import (
	"cmp"
	"context"
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/storage"
)

// Each network has a space, reviews/<network>. Its collections are numbered in the order in which they were first put, and so are
// the reviews of a collection. The records of the space, with what changes them:
//
//	collection/<source> <id>       a collection: its number, and all of it                          putCollection
//	order/<number>                 some collections from this number on: the numbers and the keys   putCollection
//	with/<id> <source>             nothing, or a long source                                        putCollection
//	review/<collection> <id>       a review: its number, its time, and all of it                    putReviews
//	time/<collection> <time> <id>  nothing, or a long id; the latest come first                     putReviews
//	nth/<collection> <number>      some reviews from this number on: the numbers and the keys       putReviews
//	large/…                        what a collection/ or review/ record has that is longer than maxInline
//	name/                          a name of a network that is too long for the name of a space     putCollection
//
// A collection of few reviews has no time/ and nth/ records: all of its reviews are read to list them.
//
// Deleting a collection or a review deletes all of its records, and their numbers may be given again. A long source or id is cut in
// keys. The records have it as a whole.
//
// The space "reviews" has nothing but a record that scrub writes.
type networkKeys struct{ space string }

func keysOf(network string) networkKeys { return networkKeys{record.Space("reviews", network)} }

func (k networkKeys) collection(c Key) string {
	return record.Key(k.space, "collection/", c.Source, c.ID)
}
func (k networkKeys) with(c Key) string { return record.Key(k.space, "with/", c.ID, c.Source) }
func (k networkKeys) name() string      { return record.Key(k.space, "name/") }

// What the keys of all collections begin with, in each of their orders, and of all reviews of a collection.
func (k networkKeys) collections() string     { return record.Prefix(k.space, "collection/") }
func (k networkKeys) orders() string          { return record.Prefix(k.space, "order/") }
func (k networkKeys) withID(id string) string { return record.Prefix(k.space, "with/", id) }
func (k networkKeys) reviews(of int64) string {
	return record.Prefix(k.space, "review/", record.Number(of))
}
func (k networkKeys) times(of int64) string {
	return record.Prefix(k.space, "time/", record.Number(of))
}
func (k networkKeys) nths(of int64) string { return record.Prefix(k.space, "nth/", record.Number(of)) }

// large returns the key of the large/ record that belongs to another record.
func (k networkKeys) large(key string) string {
	return k.space + " large/" + key[len(k.space)+1:]
}

const scrubSpace, scrubKey = "reviews", "reviews scrub/"

// NotArchived returns what the keys begin with that no archive has (see archive.Without): the record that scrub writes.
func NotArchived() []string { return []string{scrubKey} }

const (
	maxInline = 16 << 10 // bytes of a collection or a review in its record; what is longer has a record of its own
	maxFew    = 64       // reviews of a collection without time/ and nth/ records
	maxListed = 64       // keys in a record order/ or nth/
	maxLoaded = 256      // records that are read in one trip
)

// Key identifies a collection within its network: the site that its reviews come from, and its article there.
type Key struct {
	Source string `json:"source"`
	ID     string `json:"id"` // Base64, compared as it is written
}

// Collection is a stored collection without its reviews.
type Collection struct {
	Key
	Fields []byte // a JSON object: the record without its reviews
	Tally  []byte // statistics of the reviews
}

// Review is a stored review.
type Review struct {
	ID   string // unique in its collection
	Time int64  // when it was written, in microseconds since 1970
	Data []byte // a JSON object: the record
}

// place is a position in the order of reviews by time: after those with a later time, and after those with the same time and an id
// up to this one.
type place struct {
	time int64
	id   string
}

// stored is a collection with what the store knows of it beside.
type stored struct {
	Collection
	number  int64 // 0 if it is not stored
	next    int64 // the number of its next review
	indexed bool  // its reviews have time/ and nth/ records
	large   bool  // most of it is in a large/ record
}

// row is a review with what the store knows of it beside.
type row struct {
	Review
	n     int64 // its number; 0 if it is not stored
	was   int64 // the time that is stored
	large bool  // most of what is stored is in a large/ record
}

// rows reads the records of a network in a transaction and, in an update, writes them.
type rows struct {
	ctx     context.Context
	keys    networkKeys
	network string
	r       storage.Reader
	t       storage.Tx // nil in a View

	// What is to be written by flush. Reads do not see it.
	puts []storage.Entry
	gone []string
	made []listed // new collections
	next int64    // the number of the next collection; 0: not known
}

// view calls fn with the rows of a network in one snapshot.
func view(ctx context.Context, db storage.Store, network string, fn func(*rows) error) error {
	return db.View(ctx, func(r storage.Reader) error {
		return fn(&rows{ctx: ctx, keys: keysOf(network), network: network, r: r})
	})
}

// update calls fn with the rows of a network in a transaction, and writes what fn has put.
func update(ctx context.Context, db storage.Store, network string, o storage.UpdateOptions, fn func(*rows) error) error {
	keys := keysOf(network)
	return db.Update(ctx, keys.space, o, func(t storage.Tx) error {
		s := &rows{ctx: ctx, keys: keys, network: network, r: t, t: t}
		if err := fn(s); err != nil {
			return err
		}
		return s.flush()
	})
}

// scrub makes an update that erases what was deleted from the files of the store.
func scrub(ctx context.Context, db storage.Store) error {
	return db.Update(ctx, scrubSpace, storage.UpdateOptions{Erase: true}, func(t storage.Tx) error {
		return t.Put(ctx, storage.Entry{Key: scrubKey})
	})
}

// networks returns the names of the networks that have collections, in byte order.
func networks(ctx context.Context, db storage.Store) (names []string, err error) {
	err = db.View(ctx, func(r storage.Reader) error {
		names = nil
		for space, err := range r.Spaces(ctx, "reviews/") {
			if err != nil {
				return err
			}
			name := record.SpaceParts(space)[1]
			if record.SpaceCut(space) {
				values, err := r.Get(ctx, networkKeys{space}.name())
				if err != nil {
					return err
				}
				name = string(values[0])
			}
			names = append(names, name)
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// flush writes what was put and deleted.
func (s *rows) flush() error {
	s.puts = appendLists(s.puts, s.keys.orders(), s.made)
	if len(s.gone) > 0 {
		if err := s.t.Delete(s.ctx, s.gone...); err != nil {
			return err
		}
	}
	if len(s.puts) > 0 {
		slices.SortFunc(s.puts, func(a, b storage.Entry) int { return cmp.Compare(a.Key, b.Key) })
		if err := s.t.Put(s.ctx, s.puts...); err != nil {
			return err
		}
	}
	s.puts, s.gone, s.made = nil, nil, nil
	return nil
}

// put puts a record: a first byte, which says whether the body is in a large/ record, the head, and the body. wasLarge says whether
// the record that it replaces has a large/ record.
func (s *rows) put(key string, head, body []byte, wasLarge bool) {
	if len(body) > maxInline {
		s.puts = append(s.puts, storage.Entry{Key: key, Value: append([]byte{1}, head...)}, storage.Entry{Key: s.keys.large(key), Value: body})
		return
	}
	value := make([]byte, 0, 1+len(head)+len(body))
	s.puts = append(s.puts, storage.Entry{Key: key, Value: append(append(append(value, 0), head...), body...)})
	if wasLarge {
		s.gone = append(s.gone, s.keys.large(key))
	}
}

// isLarge returns whether the record has a large/ record.
func isLarge(e storage.Entry) bool { return len(e.Value) > 0 && e.Value[0] == 1 }

// fields returns the head of a record, without what may be in a large/ record.
func fields(e storage.Entry) *record.Fields {
	if len(e.Value) > 0 {
		e.Value = e.Value[1:]
	}
	return record.FieldsOf(e)
}

// whole returns the head and the body of a record.
func (s *rows) whole(e storage.Entry) (*record.Fields, error) {
	if isLarge(e) {
		values, err := s.r.Get(s.ctx, s.keys.large(e.Key))
		if err != nil {
			return nil, err
		}
		e.Value = append(slices.Clone(e.Value), values[0]...)
	}
	return fields(e), nil
}

// decodeCollection returns the collection of a record.
func (s *rows) decodeCollection(e storage.Entry) (c stored, err error) {
	f, err := s.whole(e)
	if err != nil {
		return c, err
	}
	c.number, c.next, c.indexed, c.large = int64(f.Uint()), int64(f.Uint()), f.Uint() == 1, isLarge(e)
	c.Source, c.ID, c.Tally, c.Fields = string(f.Text()), string(f.Text()), f.Text(), f.Rest()
	return c, f.Err()
}

// decodeReview returns the review of a record.
func (s *rows) decodeReview(e storage.Entry) (out row, err error) {
	f, err := s.whole(e)
	if err != nil {
		return out, err
	}
	out.n, out.Time, out.large = int64(f.Uint()), f.Int(), isLarge(e)
	out.was, out.ID, out.Data = out.Time, string(f.Text()), f.Rest()
	return out, f.Err()
}

// collection returns a collection. Its number is 0 if it is not stored.
func (s *rows) collection(key Key) (stored, error) {
	at := s.keys.collection(key)
	values, err := s.r.Get(s.ctx, at)
	if err != nil || values[0] == nil {
		return stored{Collection: Collection{Key: key}}, err
	}
	return s.decodeCollection(storage.Entry{Key: at, Value: values[0]})
}

// collectionsOf reads the collections with these keys in one trip, and returns those that are stored.
func (s *rows) collectionsOf(keys []Key) (map[Key]stored, error) {
	at, found := make([]string, len(keys)), make(map[Key]stored, len(keys))
	for i, key := range keys {
		at[i] = s.keys.collection(key)
	}
	values, err := s.r.Get(s.ctx, at...)
	for i := range values {
		if err == nil && values[i] != nil {
			found[keys[i]], err = s.decodeCollection(storage.Entry{Key: at[i], Value: values[i]})
		}
	}
	return found, err
}

// existing returns a collection, or ErrNotFound if it is not stored.
func (s *rows) existing(key Key) (stored, error) {
	c, err := s.collection(key)
	if err == nil && c.number == 0 {
		err = notFound("the network has no collection %q of %q", key.ID, key.Source)
	}
	return c, err
}

// all yields the collections in the order in which they were first put.
func (s *rows) all() iter.Seq2[stored, error] {
	return record.Map(record.Load(s.ctx, s.r, s.listedIn(s.keys.orders(), s.keys.collections()), maxLoaded), s.decodeCollection)
}

// byKey yields the collections after a key by source and then by id, both in byte order. The zero key stands before all. expect is how
// many the caller will take.
func (s *rows) byKey(after Key, expect int) iter.Seq2[stored, error] {
	var from []string
	if after != (Key{}) {
		from = []string{after.Source, after.ID}
	}
	whole := func(e storage.Entry) []string {
		c, _ := s.decodeCollection(e)
		return []string{c.Source, c.ID}
	}
	return record.Map(record.Sorted(s.ctx, s.r, s.keys.collections(), from, expect, whole), s.decodeCollection)
}

// withID yields the collections that have an id, by source. These are few, so each is read by itself.
func (s *rows) withID(id string) iter.Seq2[stored, error] {
	prefix := s.keys.withID(id)
	source := func(e storage.Entry) []string {
		if len(e.Value) > 0 {
			return []string{string(e.Value)}
		}
		return record.Parts(e.Key, prefix)
	}
	return record.Map(record.Sorted(s.ctx, s.r, prefix, nil, 2, source), func(e storage.Entry) (stored, error) {
		return s.existing(Key{Source: source(e)[0], ID: id})
	})
}

// few yields the records of the reviews of a collection that is not indexed, in the order of compare.
func (s *rows) few(c stored, compare func(a, b storage.Entry) int) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		var list []storage.Entry
		for e, err := range s.r.Scan(s.ctx, storage.Prefix(s.keys.reviews(c.number))) {
			if err != nil {
				yield(e, err)
				return
			}
			list = append(list, e)
		}
		slices.SortFunc(list, compare)
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// byNumber and latestFirst are orders of records review/.
func byNumber(a, b storage.Entry) int { return cmp.Compare(fields(a).Uint(), fields(b).Uint()) }
func latestFirst(a, b storage.Entry) int {
	return cmp.Or(cmp.Compare(timeOf(b), timeOf(a)), cmp.Compare(a.Key, b.Key))
}

func timeOf(e storage.Entry) int64 {
	f := fields(e)
	f.Uint()
	return f.Int()
}

// reviews yields the reviews of a collection in the order in which they were first put.
func (s *rows) reviews(c stored) iter.Seq2[row, error] {
	entries := s.few(c, byNumber)
	if c.indexed {
		entries = record.Load(s.ctx, s.r, s.listedIn(s.keys.nths(c.number), s.keys.reviews(c.number)), maxLoaded)
	}
	return record.Map(entries, s.decodeReview)
}

// byID yields the reviews of a collection that have one of the ids, in their order.
func (s *rows) byID(c stored, ids iter.Seq[string]) iter.Seq2[row, error] {
	prefix := s.keys.reviews(c.number)
	keys := func(yield func(string, error) bool) {
		for id := range ids {
			if !yield(record.Join(prefix, id), nil) {
				return
			}
		}
	}
	if c.number == 0 {
		return func(func(row, error) bool) {}
	}
	return record.Map(record.Load(s.ctx, s.r, keys, maxLoaded), s.decodeReview)
}

// byTime yields the reviews of a collection after a position, the latest first, and those of the same time by id. If after is
// nil, it yields all. expect is how many the caller will take.
func (s *rows) byTime(c stored, after *place, expect int) iter.Seq2[row, error] {
	if !c.indexed {
		return record.Map(func(yield func(storage.Entry, error) bool) {
			for e, err := range s.few(c, latestFirst) {
				if err == nil && after != nil && (timeOf(e) > after.time ||
					timeOf(e) == after.time && e.Key <= record.Join(s.keys.reviews(c.number), after.id)) {
					continue
				}
				if !yield(e, err) {
					return
				}
			}
		}, s.decodeReview)
	}
	var from []string
	if after != nil {
		from = []string{timePart(after.time), after.id}
	}
	prefix := s.keys.times(c.number)
	whole := func(e storage.Entry) []string {
		parts := record.Parts(e.Key, prefix)
		if len(e.Value) > 0 {
			parts[1] = string(e.Value)
		}
		return parts
	}
	keys := record.Map(record.Sorted(s.ctx, s.r, prefix, from, expect, whole), func(e storage.Entry) (string, error) {
		_, id, _ := strings.Cut(e.Key[len(prefix):], " ")
		return s.keys.reviews(c.number) + id, nil
	})
	return record.Map(record.Load(s.ctx, s.r, limited(expect, keys), maxLoaded), s.decodeReview)
}

// timePart returns the part of a key for a time. The highest time comes first.
func timePart(time int64) string { return record.Number(^time) }

// listed is an entry of a record order/ or nth/: a number, and what follows the prefix in the key that has it.
type listed struct {
	number int64
	key    string
}

// appendLists appends records to entries that list what is listed, which is in the order of the numbers.
func appendLists(entries []storage.Entry, prefix string, list []listed) []storage.Entry {
	for some := range slices.Chunk(list, maxListed) {
		entries = append(entries, listRecord(prefix+record.Number(some[0].number), some))
	}
	return entries
}

func listRecord(key string, list []listed) storage.Entry {
	var value []byte
	for _, l := range list {
		value = record.AppendText(binary.AppendUvarint(value, uint64(l.number)), l.key)
	}
	return storage.Entry{Key: key, Value: value}
}

func parseList(e storage.Entry) (list []listed, err error) {
	f := record.FieldsOf(e)
	for len(f.Rest()) > 0 && f.Err() == nil {
		list = append(list, listed{int64(f.Uint()), string(f.Text())})
	}
	return list, f.Err()
}

// listedIn yields the keys that the records with a prefix list. of is what these begin with.
func (s *rows) listedIn(prefix, of string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for e, err := range s.r.Scan(s.ctx, storage.Prefix(prefix)) {
			var list []listed
			if err == nil {
				list, err = parseList(e)
			}
			if err != nil {
				yield("", err)
				return
			}
			for _, l := range list {
				if !yield(of+l.key, nil) {
					return
				}
			}
		}
	}
}

// unlist takes keys out of the records of a range that list them.
func (s *rows) unlist(in storage.Range, gone func(listed) bool) error {
	for e, err := range s.r.Scan(s.ctx, in) {
		if err != nil {
			return err
		}
		list, err := parseList(e)
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(slices.Clone(list), gone)
		switch {
		case len(left) == len(list):
		case len(left) == 0:
			err = s.t.Delete(s.ctx, e.Key)
		default:
			err = s.t.Put(s.ctx, listRecord(e.Key, left))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// limited yields the first values of list, up to limit; all if limit is 0.
func limited[T any](limit int, list iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		n := 0
		for v, err := range list {
			n++
			if !yield(v, err) || n == limit {
				return
			}
		}
	}
}

// create gives a collection that is not stored its number.
func (s *rows) create(c *stored) error {
	if s.next == 0 {
		last := storage.Prefix(s.keys.orders())
		last.Reverse, last.Limit = true, 1
		for e, err := range s.r.Scan(s.ctx, last) {
			var list []listed
			if err == nil {
				list, err = parseList(e)
			}
			if err != nil {
				return err
			}
			s.next = list[len(list)-1].number
		}
		s.next++
	}
	c.number, c.next = s.next, 1
	s.next++
	s.made = append(s.made, listed{c.number, s.keys.collection(c.Key)[len(s.keys.collections()):]})
	s.puts = append(s.puts, storage.Entry{Key: s.keys.with(c.Key), Value: ifCut(c.Source)})
	if record.SpaceCut(s.keys.space) {
		s.puts = append(s.puts, storage.Entry{Key: s.keys.name(), Value: []byte(s.network)})
	}
	return nil
}

// putCollection puts a collection that has a number. It comes after putReviews, which changes what is to be put.
func (s *rows) putCollection(c stored) {
	indexed := uint64(0)
	if c.indexed {
		indexed = 1
	}
	head := binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(c.number)), uint64(c.next)), indexed)
	body := make([]byte, 0, len(c.Source)+len(c.ID)+len(c.Tally)+len(c.Fields)+16)
	body = record.AppendText(record.AppendText(record.AppendText(body, c.Source), c.ID), c.Tally)
	s.put(s.keys.collection(c.Key), head, append(body, c.Fields...), c.large)
}

// ifCut returns a part that is cut in keys, and nothing for any other.
func ifCut(part string) []byte {
	if record.Cut(part) {
		return []byte(part)
	}
	return nil
}

// putReviews puts reviews of a collection, no id twice. One that is not stored comes after those that are. The collection is to be put
// afterwards.
func (s *rows) putReviews(c *stored, list []row) error {
	prefix, indexed, first := s.keys.reviews(c.number), c.indexed, c.next
	var nths []listed
	known := map[string]bool{} // keys of list that are stored, while an index is made
	for i := range list {
		r := &list[i]
		key := record.Join(prefix, r.ID)
		c.indexed = c.indexed || record.Cut(r.ID)
		if r.n == 0 {
			r.n = c.next
			c.next++
			nths = append(nths, listed{r.n, key[len(prefix):]})
		} else if !indexed {
			known[key] = true
		}
		head := binary.AppendVarint(binary.AppendUvarint(make([]byte, 0, 24), uint64(r.n)), r.Time)
		body := record.AppendText(make([]byte, 0, len(r.ID)+len(r.Data)+8), r.ID)
		s.put(key, head, append(body, r.Data...), r.large)
	}
	c.indexed = c.indexed || c.next > maxFew+1
	if !c.indexed {
		return nil
	}
	times := s.keys.times(c.number)
	if !indexed && first > 1 { // those that are stored get their index now
		var before []listed
		for e, err := range s.few(*c, byNumber) {
			if err != nil {
				return err
			}
			id := e.Key[len(prefix):]
			before = append(before, listed{int64(fields(e).Uint()), id})
			if !known[e.Key] {
				s.puts = append(s.puts, storage.Entry{Key: times + timePart(timeOf(e)) + " " + id})
			}
		}
		nths = append(before, nths...)
	}
	s.puts = appendLists(s.puts, s.keys.nths(c.number), nths)
	for _, r := range list {
		stored := indexed && r.n < first
		if stored && r.was == r.Time {
			continue
		}
		if stored {
			s.gone = append(s.gone, record.Join(times, timePart(r.was), r.ID))
		}
		s.puts = append(s.puts, storage.Entry{Key: record.Join(times, timePart(r.Time), r.ID), Value: ifCut(r.ID)})
	}
	return nil
}

// deleteCollection removes a collection with its reviews.
func (s *rows) deleteCollection(c stored) error {
	for _, prefix := range []string{s.keys.reviews(c.number), s.keys.large(s.keys.reviews(c.number)), s.keys.times(c.number), s.keys.nths(c.number)} {
		if err := s.t.DeleteRange(s.ctx, storage.Prefix(prefix)); err != nil {
			return err
		}
	}
	key := s.keys.collection(c.Key)
	if err := s.t.Delete(s.ctx, key, s.keys.large(key), s.keys.with(c.Key)); err != nil {
		return err
	}
	in := storage.Range{From: s.keys.orders(), To: s.keys.orders() + record.Number(c.number) + "\x00", Reverse: true, Limit: 1}
	if err := s.unlist(in, func(l listed) bool { return l.number == c.number }); err != nil || !record.SpaceCut(s.keys.space) {
		return err
	}
	for range s.listedIn(s.keys.orders(), "") {
		return nil
	}
	return s.t.Delete(s.ctx, s.keys.name())
}

// deleteReviews removes reviews that are stored.
func (s *rows) deleteReviews(c stored, list []row) error {
	gone := map[int64]bool{}
	for _, r := range list {
		gone[r.n] = true
		key := record.Join(s.keys.reviews(c.number), r.ID)
		s.gone = append(s.gone, key)
		if r.large {
			s.gone = append(s.gone, s.keys.large(key))
		}
		if c.indexed {
			s.gone = append(s.gone, record.Join(s.keys.times(c.number), timePart(r.was), r.ID))
		}
	}
	if !c.indexed {
		return nil
	}
	return s.unlist(storage.Prefix(s.keys.nths(c.number)), func(l listed) bool { return gone[l.number] })
}
