package reviews

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/reviews/internal/format"
	"github.com/vitrine-go/vitrine/storage"
)

// Each network has a space, reviews/<network>. Its collections are numbered in the order in which they were first put,
// and so are the reviews of a collection. The records of the space, with what writes them:
//
//	collection/<source> <id>       a collection: its number, and all of it                      putCollection
//	order/<number>                 what its key has behind the kind                             create
//	with/<id> <source>             nothing, or a long source                                    create
//	review/<collection> <id>       a review: its number, its time, its parent, and all of it    putReviews
//	time/<collection> <time> <id>  its number, its parent, and a long id; the latest come first putReviews
//	large/…                        what a collection/ or review/ record has that is longer than maxInline
//	network/                       a name of a network that is too long for the name of a space create
//	feed/, log/                    the feed of changes: feed.Feed                             Service.change
//
// A collection of few reviews has no time/ records: all of its reviews are read to list them.
//
// Deleting a collection or a review deletes all of its records, and their numbers may be reused. A long source or id is
// cut in keys. The records contain it as a whole.
//
// The space "reviews" has only the record that scrub writes.
const scrubSpace, scrubKey = "reviews", "reviews scrub/"

// networkSpaces is the prefix of the spaces of networks.
const networkSpaces = "reviews/"

const (
	maxInline = 16 << 10 // the maximum size of a record in bytes; a longer body has a large/ record
	maxFew    = 256      // the number of reviews up to which a collection has no time/ records
	maxLoaded = 256      // the number of records that one trip reads
)

// CollectionKey identifies a collection within its network: the site that its reviews come from, and its article there.
type CollectionKey struct {
	Source string `json:"source"`
	ID     string `json:"id"` // Base64, compared as it is written
}

// place is a position in the order of reviews by time: after those with a later time, and after those with the same
// time and an id up to this one.
type place struct {
	time int64
	id   string
}

// stored is a stored collection without its reviews. Its record has this as JSON, followed by the fields.
type stored struct {
	CollectionKey
	Number  int64  `json:"number"`  // 0 if it is not stored
	Next    int64  `json:"next"`    // the number of its next review
	Indexed bool   `json:"indexed"` // its reviews have time/ records
	Tally   tally  `json:"tally"`
	fields  []byte // a JSON object: the record without its reviews
	large   bool   // most of it is in a large/ record
}

// row is a review with its stored state.
type row struct {
	format.Review
	n      int64  // its number; 0 if it is not stored
	was    int64  // the time that is stored
	parent string // the id of the stored parent as it is in keys; "" if there is none
	large  bool   // most of what is stored is in a large/ record
	old    []byte // the stored text; only with Options.Check
}

// listed is the part of a review that lists need. The ids are in the form of keys.
type listed struct {
	n, time    int64
	id, parent string
}

// rows reads the records of a network in a transaction and, in an update, writes them.
type rows struct {
	ctx     context.Context
	network string
	space   string
	r       storage.Reader
	t       storage.Tx                // nil in a View
	next    int64                     // the number of the next collection; 0: not known
	changed []CollectionKey           // the collections that this transaction has put or deleted
	changes map[CollectionKey]*Change // for Options.Check; nil without
}

func spaceOf(network string) string { return keyval.Space("reviews", network) }

// view calls fn with the rows of a network in one snapshot.
func view(ctx context.Context, db storage.Store, network string, fn func(*rows) error) error {
	return db.View(ctx, func(r storage.Reader) error {
		return fn(&rows{ctx: ctx, space: spaceOf(network), network: network, r: r})
	})
}

// key and prefix return a key of the space, and a prefix of its keys.
func (s *rows) key(kind string, parts ...string) string { return keyval.Key(s.space, kind, parts...) }
func (s *rows) prefix(kind string, parts ...string) string {
	return keyval.Prefix(s.space, kind, parts...)
}

// of returns the prefix of the keys of a collection's reviews or times.
func (s *rows) of(kind string, c stored) string { return s.prefix(kind, keyval.Number(c.Number)) }

// largeKey returns the key of the large/ record that belongs to another record.
func (s *rows) largeKey(key string) string { return s.space + " large/" + key[len(s.space)+1:] }

// scrub removes deleted records from the files of the store, in an update.
func scrub(ctx context.Context, db storage.Store) error {
	return db.Update(ctx, scrubSpace, storage.UpdateOptions{Erase: true}, func(t storage.Tx) error {
		return t.Put(ctx, storage.Entry{Key: scrubKey})
	})
}

// networkOf returns the name of the network of a space.
func networkOf(ctx context.Context, r storage.Reader, space string) (string, error) {
	if !keyval.SpaceCut(space) {
		return keyval.SpaceParts(space)[1], nil
	}
	values, err := r.Get(ctx, keyval.Key(space, "network/"))
	if err != nil {
		return "", err
	}
	return string(values[0]), nil
}

// networks returns the names of the networks that have records, in byte order, with those that have no collections only
// if empty is true.
func (s *Service) networks(ctx context.Context, empty bool) (names []string, err error) {
	err = s.made().db.View(ctx, func(r storage.Reader) error {
		names = nil
		for space, err := range r.Spaces(ctx, networkSpaces) {
			if err != nil {
				return err
			}
			name, err := networkOf(ctx, r, space)
			if err != nil {
				return err
			}
			first := storage.Prefix(keyval.Prefix(space, "order/"))
			first.Limit = 1
			listed := empty
			for _, err := range r.Scan(ctx, first) {
				if err != nil {
					return err
				}
				listed = true
			}
			if listed {
				names = append(names, name)
			}
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// put stores a record: a first byte, which says whether the body is in a large/ record, the head, and the body.
// wasLarge says whether the replaced record has a large/ record.
func (s *rows) put(key string, head, body []byte, wasLarge bool) error {
	if len(body) > maxInline {
		return s.t.Put(s.ctx, storage.Entry{Key: key, Value: append([]byte{1}, head...)},
			storage.Entry{Key: s.largeKey(key), Value: body})
	}
	if wasLarge {
		if err := s.t.Delete(s.ctx, s.largeKey(key)); err != nil {
			return err
		}
	}
	return s.t.Put(s.ctx, storage.Entry{Key: key, Value: slices.Concat([]byte{0}, head, body)})
}

// isLarge returns whether the record has a large/ record.
func isLarge(e storage.Entry) bool { return len(e.Value) > 0 && e.Value[0] == 1 }

// fields returns the head of a record, without a part in a large/ record.
func fields(e storage.Entry) *keyval.Fields {
	if len(e.Value) > 0 {
		e.Value = e.Value[1:]
	}
	return &keyval.Fields{Key: e.Key, Rest: e.Value}
}

// whole returns the head and the body of a record.
func (s *rows) whole(e storage.Entry) (*keyval.Fields, error) {
	if isLarge(e) {
		values, err := s.r.Get(s.ctx, s.largeKey(e.Key))
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
	if err == nil {
		err = json.Unmarshal(f.Text(), &c)
	}
	if err == nil {
		err = c.Tally.check()
	}
	if err != nil {
		return stored{}, keyval.Damaged(e.Key, err)
	}
	c.fields, c.large = f.Rest, isLarge(e)
	return c, nil
}

// decodeReview returns the review of a record.
func (s *rows) decodeReview(e storage.Entry) (out row, err error) {
	f, err := s.whole(e)
	if err != nil {
		return out, err
	}
	out.n, out.Time, out.parent, out.large = int64(f.Uint()), f.Int(), string(f.Text()), isLarge(e)
	out.was, out.ID, out.Data = out.Time, string(f.Text()), f.Rest
	return out, f.Err()
}

// collectionsOf reads the collections with these keys in one trip, and returns those that are stored.
func (s *rows) collectionsOf(keys []CollectionKey) (map[CollectionKey]stored, error) {
	at, found := make([]string, len(keys)), make(map[CollectionKey]stored, len(keys))
	for i, key := range keys {
		at[i] = s.key("collection/", key.Source, key.ID)
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
func (s *rows) existing(key CollectionKey) (stored, error) {
	found, err := s.collectionsOf([]CollectionKey{key})
	c, ok := found[key]
	if err == nil && !ok {
		err = fault.NotFound("the network has no collection %q of %q", key.ID, key.Source)
	}
	return c, err
}

// all yields the collections in the order in which they were first put.
func (s *rows) all() iter.Seq2[stored, error] {
	collections := s.prefix("collection/")
	keys := keyval.Map(s.r.Scan(s.ctx, storage.Prefix(s.prefix("order/"))), func(e storage.Entry) (string, error) {
		return collections + string(e.Value), nil
	})
	return keyval.Map(keyval.Load(s.ctx, s.r, keys, maxLoaded), s.decodeCollection)
}

// byKey yields the collections of a source, or of all sources if source is "", after a key: by source and then by id,
// both in byte order. The zero key is before all others. expect is how many collections the caller needs.
func (s *rows) byKey(source string, after CollectionKey, expect int) iter.Seq2[stored, error] {
	prefix, parts := s.prefix("collection/"), func(k CollectionKey) []string { return []string{k.Source, k.ID} }
	if source != "" {
		prefix, parts = s.prefix("collection/", source), func(k CollectionKey) []string { return []string{k.ID} }
	}
	var from []string
	if after != (CollectionKey{}) {
		from = parts(after)
	}
	whole := func(e storage.Entry) []string {
		c, _ := s.decodeCollection(e)
		return parts(c.CollectionKey)
	}
	return keyval.Map(keyval.Sorted(s.ctx, s.r, prefix, from, expect, whole), s.decodeCollection)
}

// withID yields the collections that have an id, by source. There are few, so each is read by itself.
func (s *rows) withID(id string) iter.Seq2[stored, error] {
	prefix := s.prefix("with/", id)
	source := func(e storage.Entry) []string {
		if len(e.Value) > 0 {
			return []string{string(e.Value)}
		}
		return keyval.Parts(e.Key, prefix)
	}
	return keyval.Map(keyval.Sorted(s.ctx, s.r, prefix, nil, 2, source), func(e storage.Entry) (stored, error) {
		return s.existing(CollectionKey{Source: source(e)[0], ID: id})
	})
}

// list returns the reviews of a collection, in the order of their time/ records or, without these, of their review/
// records. It reads no texts if the collection has an index.
func (s *rows) list(c stored) (list []listed, err error) {
	kind := "review/"
	if c.Indexed {
		kind = "time/"
	}
	prefix := s.of(kind, c)
	for e, err := range s.r.Scan(s.ctx, storage.Prefix(prefix)) {
		if err != nil {
			return nil, err
		}
		l, f := listed{id: e.Key[len(prefix):]}, fields(e)
		l.n, l.time, l.parent = int64(f.Uint()), f.Int(), string(f.Text())
		if c.Indexed {
			_, l.id, _ = strings.Cut(l.id, " ")
		}
		if f.Err() != nil {
			return nil, f.Err()
		}
		list = append(list, l)
	}
	return list, nil
}

// inOrder returns the reviews of a collection in the order in which they were first stored, except that a parent comes
// before its replies. It returns an error if a reply has no parent or is its own ancestor, which only a damaged store
// can cause.
func (s *rows) inOrder(c stored) (out []listed, err error) {
	list, err := s.list(c)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b listed) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.id, b.id)) })
	at := map[string]int{"": -1} // the index in list of each parent
	for _, l := range list {
		at[l.parent] = -1
	}
	for i, l := range list {
		if _, replied := at[l.id]; replied {
			at[l.id] = i
		}
	}
	// 0, or 1 more than the index of the review whose path to its ancestors has come here first
	met := make([]int, len(list))
	for i := range list {
		begin := len(out)
		for j := i; j >= 0 && (met[j] == 0 || met[j] == i+1); j = at[list[j].parent] {
			switch l := list[j]; {
			case met[j] == i+1:
				return nil, fmt.Errorf("stored review %q: its parents go round in a circle", keyval.Unescape(l.id))
			case l.parent != "" && at[l.parent] < 0:
				return nil, fmt.Errorf("stored review %q: its parent is missing", keyval.Unescape(l.id))
			}
			met[j] = i + 1
			out = append(out, list[j])
		}
		slices.Reverse(out[begin:])
	}
	return out, nil
}

// reviews yields the reviews of a collection in the order of inOrder.
func (s *rows) reviews(c stored) iter.Seq2[row, error] {
	list, err := s.inOrder(c)
	return s.load(c, list, err)
}

// byID yields the reviews of a collection that have one of the ids, in their order.
func (s *rows) byID(c stored, ids []string) iter.Seq2[row, error] {
	list := make([]listed, len(ids))
	for i, id := range ids {
		list[i].id = keyval.Part(id)
	}
	return s.load(c, list, nil)
}

// load yields the listed reviews of a collection, or the error of listing them.
func (s *rows) load(c stored, list []listed, err error) iter.Seq2[row, error] {
	prefix := s.of("review/", c)
	keys := func(yield func(string, error) bool) {
		if err != nil {
			yield("", err)
			return
		}
		for _, l := range list {
			if !yield(prefix+l.id, nil) {
				return
			}
		}
	}
	return keyval.Map(keyval.Load(s.ctx, s.r, keys, maxLoaded), s.decodeReview)
}

// byTime yields the reviews of a collection after a position, the latest first, and those of the same time by id. A nil
// after means the beginning. It yields at most most reviews, or all if most is 0.
func (s *rows) byTime(c stored, after *place, most int) iter.Seq2[row, error] {
	list, err := s.latest(c, after, most)
	return s.load(c, list, err)
}

// latest returns the reviews that byTime yields.
func (s *rows) latest(c stored, after *place, most int) (list []listed, err error) {
	if !c.Indexed {
		list, err = s.list(c)
		if after != nil {
			list = slices.DeleteFunc(list, func(l listed) bool {
				return latestFirst(l, listed{time: after.time, id: keyval.Part(after.id)}) <= 0
			})
		}
		slices.SortFunc(list, latestFirst)
		return list[:min(len(list), cmp.Or(most, len(list)))], err
	}
	var from []string
	if after != nil {
		from = []string{timePart(after.time), after.id}
	}
	prefix := s.of("time/", c)
	whole := func(e storage.Entry) []string {
		f, parts := fields(e), keyval.Parts(e.Key, prefix)
		f.Uint()
		f.Int()
		f.Text()
		if id := f.Rest; len(id) > 0 {
			parts[1] = string(id)
		}
		return parts
	}
	for e, err := range keyval.Sorted(s.ctx, s.r, prefix, from, most, whole) {
		if err != nil {
			return nil, err
		}
		_, id, _ := strings.Cut(e.Key[len(prefix):], " ")
		if list = append(list, listed{id: id}); len(list) == most {
			break
		}
	}
	return list, nil
}

// latestFirst is the order of byTime.
func latestFirst(a, b listed) int {
	return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.id, b.id))
}

// timePart encodes a time for a key. The highest time sorts first.
func timePart(time int64) string { return keyval.Number(^time) }

// create assigns a number to a collection that is not stored yet.
func (s *rows) create(c *stored) error {
	orders := s.prefix("order/")
	if s.next == 0 {
		last := storage.Prefix(orders)
		last.Reverse, last.Limit = true, 1
		for e, err := range s.r.Scan(s.ctx, last) {
			if err == nil {
				s.next, err = keyval.ParseNumber(e.Key[len(orders):])
			}
			if err != nil {
				return err
			}
		}
		s.next++
	}
	c.Number, c.Next = s.next, 1
	s.next++
	entries := s.finders(*c)
	if keyval.SpaceCut(s.space) {
		entries = append(entries, storage.Entry{Key: s.key("network/"), Value: []byte(s.network)})
	}
	return s.t.Put(s.ctx, entries...)
}

// finders returns the additional records by which a collection is found: order/ and with/.
func (s *rows) finders(c stored) []storage.Entry {
	return []storage.Entry{
		{Key: s.key("order/", keyval.Number(c.Number)), Value: []byte(keyval.Part(c.Source) + " " + keyval.Part(c.ID))},
		{Key: s.key("with/", c.ID, c.Source), Value: ifCut(c.Source)},
	}
}

// ifCut returns a part that is cut in keys, or nil for any other.
func ifCut(part string) []byte {
	if keyval.Cut(part) {
		return []byte(part)
	}
	return nil
}

// putCollection stores a collection that has a number. It is called after putReviews, which changes the collection.
func (s *rows) putCollection(c stored) error {
	head, err := json.Marshal(c)
	if err != nil {
		return err
	}
	s.changed = append(s.changed, c.CollectionKey)
	if change := s.changes[c.CollectionKey]; change != nil {
		after, err := newCollectionRecord(c)
		if err != nil {
			return err
		}
		change.After = &after
	}
	return s.put(s.key("collection/", c.Source, c.ID), nil, append(keyval.AppendText(nil, head), c.fields...), c.large)
}

// putReviews stores reviews of a collection; no id may occur twice. New reviews come after stored ones. The caller must
// then store the collection.
func (s *rows) putReviews(c *stored, list []row) error {
	reviews, last, long := s.of("review/", *c), c.Next-1, false
	for _, r := range list {
		long = long || keyval.Cut(r.ID) // list cannot sort by whole ids
		if r.n == 0 {
			last++
		}
	}
	if !c.Indexed && (long || last > maxFew) {
		if err := s.makeIndex(c); err != nil {
			return err
		}
	}
	for _, r := range list {
		parent, err := parentOf(r.Data)
		if err != nil {
			return fmt.Errorf("reviews: stored review %q: %w", r.ID, err)
		}
		l := listed{r.n, r.Time, keyval.Part(r.ID), keyval.Part(parent)}
		if r.n == 0 {
			l.n = c.Next
			c.Next++
		}
		body := keyval.AppendText(make([]byte, 0, len(r.ID)+len(r.Data)+8), r.ID)
		err = s.put(reviews+l.id, l.append(make([]byte, 0, 24+len(l.parent))), append(body, r.Data...), r.large)
		if err == nil && c.Indexed && r.n > 0 && r.was != r.Time {
			err = s.t.Delete(s.ctx, s.timeKey(*c, r.was, l.id))
		}
		if err == nil && c.Indexed {
			err = s.t.Put(s.ctx, s.timeEntry(*c, l, r.ID))
		}
		if err == nil {
			err = s.noteReview(*c, r.old, r.Data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// append appends the common head of the records of a review.
func (l listed) append(to []byte) []byte {
	return keyval.AppendText(binary.AppendVarint(binary.AppendUvarint(to, uint64(l.n)), l.time), l.parent)
}

// timeEntry returns the time/ record of a review. id is the whole id if it is cut in keys, and otherwise "".
func (s *rows) timeEntry(c stored, l listed, id string) storage.Entry {
	return storage.Entry{Key: s.timeKey(c, l.time, l.id), Value: append(l.append([]byte{0}), ifCut(id)...)}
}

func (s *rows) timeKey(c stored, time int64, id string) string {
	return s.of("time/", c) + timePart(time) + " " + id
}

// makeIndex stores the time/ records of the stored reviews of a collection that has none.
func (s *rows) makeIndex(c *stored) (err error) {
	var list []listed
	if c.Next > 1 {
		list, err = s.list(*c)
	}
	c.Indexed = true
	for _, l := range list {
		if err == nil {
			err = s.t.Put(s.ctx, s.timeEntry(*c, l, ""))
		}
	}
	return err
}

// deleteCollection removes a collection with its reviews.
func (s *rows) deleteCollection(c stored) error {
	reviews := s.of("review/", c)
	for _, prefix := range []string{reviews, s.largeKey(reviews), s.of("time/", c)} {
		if err := s.t.DeleteRange(s.ctx, storage.Prefix(prefix)); err != nil {
			return err
		}
	}
	key := s.key("collection/", c.Source, c.ID)
	keys := []string{key, s.largeKey(key)}
	for _, e := range s.finders(c) {
		keys = append(keys, e.Key)
	}
	s.changed = append(s.changed, c.CollectionKey)
	return s.t.Delete(s.ctx, keys...)
}

// deleteReviews removes stored reviews.
func (s *rows) deleteReviews(c stored, list []row) error {
	reviews := s.of("review/", c)
	var keys []string
	for _, r := range list {
		if err := s.noteReview(c, r.old, nil); err != nil {
			return err
		}
		id := keyval.Part(r.ID)
		keys = append(keys, reviews+id, s.timeKey(c, r.was, id))
		if r.large {
			keys = append(keys, s.largeKey(reviews+id))
		}
	}
	return s.t.Delete(s.ctx, keys...)
}
