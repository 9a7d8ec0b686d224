package reviews

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/record"
	"github.com/vitrine-go/vitrine/reviews/reviewstore"
	"github.com/vitrine-go/vitrine/storage"
)

// Each network has a space, reviews/<network>. Its collections are numbered in the order in which they were first put, and so are
// the reviews of a collection. The records of the space, with what changes them:
//
//	collection/<source> <id>    a collection: its number, and all of it                        PutCollection
//	order/<number>              the source and the id of a collection, and about its size      PutCollection
//	with/<id> <source>          nothing, or a long source                                      PutCollection
//	review/<collection> <n>     a review: its time, and all of it                              PutReviews
//	id/<collection> <id>        n of a review, its size and its time                           PutReviews
//	time/<collection> <t> <id>  n of a review, its size, and a long id; the latest come first  PutReviews
//	name/                       a name of a network that is too long for the name of a space   PutCollection
//
// Deleting a collection or a review deletes all of its records, and their numbers may be given again. A long source or id is cut in
// keys. The records have it as a whole.
//
// The space "reviews" has nothing but a record that Scrub writes.
type networkKeys struct{ space string }

func keysOf(network string) networkKeys { return networkKeys{record.Space("reviews", network)} }

func (k networkKeys) collection(c Key) string {
	return record.Key(k.space, "collection/", c.Source, c.ID)
}
func (k networkKeys) order(number int64) string {
	return record.Key(k.space, "order/", record.Number(number))
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
func (k networkKeys) reviewIDs(of int64) string {
	return record.Prefix(k.space, "id/", record.Number(of))
}
func (k networkKeys) reviewTimes(of int64) string {
	return record.Prefix(k.space, "time/", record.Number(of))
}

const scrubSpace, scrubKey = "reviews", "reviews scrub/"

// NotArchived returns what the keys begin with that no archive has (see archive.Without): the record that Scrub writes.
func NotArchived() []string { return []string{scrubKey} }

// records is the store of reviews in a store of keys and values.
type records struct{ db storage.Store }

// NewRecords returns the store of reviews that a storage.Store has.
func NewRecords(db storage.Store) reviewstore.Store { return records{db} }

// Networks yields the names of the networks that have collections. It reads all names, since long ones are in no order.
func (s records) Networks(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var names []string
		err := s.db.View(ctx, func(r storage.Reader) error {
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
		if err != nil {
			yield("", err)
			return
		}
		slices.Sort(names)
		for _, name := range names {
			if !yield(name, nil) {
				return
			}
		}
	}
}

// View calls fn with a Reader of the network.
func (s records) View(ctx context.Context, network string, fn func(Reader) error) error {
	return s.db.View(ctx, func(r storage.Reader) error {
		return fn(&recordReader{keys: keysOf(network), r: r})
	})
}

// Update calls fn with a transaction on the network.
func (s records) Update(ctx context.Context, network string, fn func(Tx) error) error {
	keys := keysOf(network)
	return s.db.Update(ctx, keys.space, storage.UpdateOptions{}, func(t storage.Tx) error {
		return fn(&recordTx{recordReader: recordReader{keys: keys, r: t}, t: t, network: network})
	})
}

// Scrub makes an update that erases.
func (s records) Scrub(ctx context.Context) error {
	return s.db.Update(ctx, scrubSpace, storage.UpdateOptions{Erase: true}, func(t storage.Tx) error {
		return t.Put(ctx, storage.Entry{Key: scrubKey})
	})
}

// recordReader reads a network.
type recordReader struct {
	keys networkKeys
	r    storage.Reader
	at   found
}

// found is what a transaction knows of the collection that it has used last. Nobody else changes it meanwhile.
type found struct {
	key    Key
	looked bool  // the rest is known
	number int64 // 0: there is no such collection
	size   int   // about the size of its record: how many bits the number of its bytes has
	next   int64 // the number of the next review; 0: not known
	empty  bool  // it has no reviews
}

// decodeCollection returns the collection of a record.
func decodeCollection(e storage.Entry) (Collection, error) {
	c, _, err := numberedCollection(e)
	return c, err
}

// numberedCollection returns the collection of a record, and its number.
func numberedCollection(e storage.Entry) (c Collection, number int64, err error) {
	f := record.FieldsOf(e)
	number = int64(f.Uint())
	c.Source, c.ID, c.Tally, c.Fields = string(f.Text()), string(f.Text()), f.Text(), f.Rest()
	return c, number, f.Err()
}

func encodeCollection(number int64, c Collection) []byte {
	to := make([]byte, 0, len(c.Source)+len(c.ID)+len(c.Tally)+len(c.Fields)+32)
	to = record.AppendText(record.AppendText(binary.AppendUvarint(to, uint64(number)), c.Source), c.ID)
	return append(record.AppendText(to, c.Tally), c.Fields...)
}

func decodeReview(e storage.Entry) (out Review, err error) {
	f := record.FieldsOf(e)
	out.Time, out.ID, out.Data = f.Int(), string(f.Text()), f.Rest()
	return out, f.Err()
}

func encodeReview(r Review) []byte {
	to := make([]byte, 0, len(r.ID)+len(r.Data)+16)
	return append(record.AppendText(binary.AppendVarint(to, r.Time), r.ID), r.Data...)
}

// Collection returns a collection.
func (r *recordReader) Collection(ctx context.Context, key Key) (c Collection, err error) {
	at := r.keys.collection(key)
	values, err := r.r.Get(ctx, at)
	if err != nil {
		return c, err
	}
	now := found{key: key, looked: true, size: sizeOf(values[0])}
	if values[0] != nil {
		if c, now.number, err = numberedCollection(storage.Entry{Key: at, Value: values[0]}); err != nil {
			return c, err
		}
	}
	if !r.at.looked || r.at.key != key {
		r.at = now
	}
	if now.number == 0 {
		err = noCollection(key)
	}
	return c, err
}

// sizeOf returns how many bits the number of bytes of a record has.
func sizeOf(value []byte) int { return bits.Len(uint(len(value))) }

// find sets r.at to a collection.
func (r *recordReader) find(ctx context.Context, key Key) error {
	if r.at.looked && r.at.key == key {
		return ctx.Err()
	}
	if _, err := r.Collection(ctx, key); !errors.Is(err, vitrine.ErrNotFound) {
		return err
	}
	return nil
}

// Collections yields all collections in the order of their numbers.
func (r *recordReader) Collections(ctx context.Context) iter.Seq2[Collection, error] {
	refs := mapped(r.r.Scan(ctx, storage.Prefix(r.keys.orders())), func(e storage.Entry) (ref, error) {
		f := record.FieldsOf(e)
		size := 1 << f.Uint()
		key := Key{Source: string(f.Text()), ID: string(f.Text())}
		return ref{r.keys.collection(key), size}, f.Err()
	})
	return mapped(r.load(ctx, refs), decodeCollection)
}

// CollectionsByKey yields the collections after q.After by source and then by id.
func (r *recordReader) CollectionsByKey(ctx context.Context, q reviewstore.CollectionQuery) iter.Seq2[Collection, error] {
	var after []string
	if q.After != (Key{}) {
		after = []string{q.After.Source, q.After.ID}
	}
	whole := func(e storage.Entry) []string {
		c, _ := decodeCollection(e)
		return []string{c.Source, c.ID}
	}
	return limited(q.Limit, mapped(record.Sorted(ctx, r.r, r.keys.collections(), after, q.Limit, whole), decodeCollection))
}

// CollectionsWithID yields the collections that have an id, by source. These are few, so each is read by itself.
func (r *recordReader) CollectionsWithID(ctx context.Context, id string) iter.Seq2[Collection, error] {
	prefix := r.keys.withID(id)
	source := func(e storage.Entry) []string {
		if len(e.Value) > 0 {
			return []string{string(e.Value)}
		}
		return record.Parts(e.Key, prefix)
	}
	refs := mapped(record.Sorted(ctx, r.r, prefix, nil, 2, source), func(e storage.Entry) (ref, error) {
		return ref{r.keys.collection(Key{Source: source(e)[0], ID: id}), mostLoaded}, nil
	})
	return mapped(r.load(ctx, refs), decodeCollection)
}

// Reviews yields the reviews of a collection in the order of their numbers.
func (r *recordReader) Reviews(ctx context.Context, key Key) iter.Seq2[Review, error] {
	return r.within(ctx, key, func(number int64) iter.Seq2[Review, error] {
		return mapped(r.r.Scan(ctx, storage.Prefix(r.keys.reviews(number))), decodeReview)
	})
}

// ReviewsByID yields the reviews of a collection that have one of the ids.
func (r *recordReader) ReviewsByID(ctx context.Context, key Key, ids []string) iter.Seq2[Review, error] {
	return r.within(ctx, key, func(number int64) iter.Seq2[Review, error] {
		refs := func(yield func(ref, error) bool) {
			known, err := r.knownReviews(ctx, number, slices.Compact(slices.Sorted(slices.Values(ids))))
			if err != nil {
				yield(ref{}, err)
				return
			}
			prefix := r.keys.reviews(number)
			for _, k := range known {
				if k.n != 0 && !yield(ref{prefix + record.Number(k.n), k.size}, nil) {
					return
				}
			}
		}
		return mapped(r.load(ctx, refs), decodeReview)
	})
}

// ReviewsByTime yields the reviews of a collection after q.After, the latest first, and those of the same time by id.
func (r *recordReader) ReviewsByTime(ctx context.Context, q reviewstore.ReviewQuery) iter.Seq2[Review, error] {
	return r.within(ctx, q.Collection, func(number int64) iter.Seq2[Review, error] {
		var after []string
		if q.After != nil {
			after = []string{timePart(q.After.Time), q.After.ID}
		}
		prefix, reviews := r.keys.reviewTimes(number), r.keys.reviews(number)
		whole := func(e storage.Entry) []string {
			parts, f := record.Parts(e.Key, prefix), record.FieldsOf(e)
			f.Uint()
			f.Uint()
			if id := f.Rest(); len(id) > 0 {
				parts[1] = string(id)
			}
			return parts
		}
		refs := mapped(record.Sorted(ctx, r.r, prefix, after, q.Limit, whole), func(e storage.Entry) (ref, error) {
			f := record.FieldsOf(e)
			return ref{reviews + record.Number(int64(f.Uint())), int(f.Uint())}, f.Err()
		})
		return mapped(r.load(ctx, limited(q.Limit, refs)), decodeReview)
	})
}

// timePart returns the part of a key for a time. The highest time comes first.
func timePart(time int64) string { return record.Number(^time) }

// within yields what list yields for the number of a collection, and nothing if there is no such collection.
func (r *recordReader) within(ctx context.Context, key Key, list func(number int64) iter.Seq2[Review, error]) iter.Seq2[Review, error] {
	return func(yield func(Review, error) bool) {
		if err := r.find(ctx, key); err != nil {
			yield(Review{}, err)
		} else if r.at.number != 0 {
			list(r.at.number)(yield)
		}
	}
}

// known is what the record id/ says of a review.
type known struct {
	n    int64 // 0: there is no such review
	size int   // bytes of the record review/
	time int64
}

// knownReviews returns what is known of the reviews of a collection with these ids, in their order. It reads them in one trip.
func (r *recordReader) knownReviews(ctx context.Context, number int64, ids []string) ([]known, error) {
	out, keys, prefix := make([]known, len(ids)), make([]string, len(ids)), r.keys.reviewIDs(number)
	for i, id := range ids {
		keys[i] = record.Join(prefix, id)
	}
	values, err := r.r.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for i, value := range values {
		if value == nil {
			continue
		}
		f := record.FieldsOf(storage.Entry{Key: keys[i], Value: value})
		out[i] = known{int64(f.Uint()), int(f.Uint()), f.Int()}
		if err := f.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ref is the key of a record, with about its size in bytes.
type ref struct {
	key  string
	size int
}

// mostLoaded is how many bytes load reads in one trip, and so has in memory, unless one record has more.
const mostLoaded = 1 << 20

// load yields the records of refs that are there, in their order.
func (r *recordReader) load(ctx context.Context, refs iter.Seq2[ref, error]) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		var keys []string
		size := 0
		flush := func() bool {
			values, err := r.r.Get(ctx, keys...)
			if err != nil {
				yield(storage.Entry{}, err)
				return false
			}
			for i, value := range values {
				if value != nil && !yield(storage.Entry{Key: keys[i], Value: value}, nil) {
					return false
				}
			}
			keys, size = nil, 0
			return true
		}
		for ref, err := range refs {
			if err != nil {
				yield(storage.Entry{}, err)
				return
			}
			cost := len(ref.key) + ref.size
			if size > 0 && size+cost > mostLoaded && !flush() {
				return
			}
			keys, size = append(keys, ref.key), size+cost
		}
		if len(keys) > 0 {
			flush()
		}
	}
}

// mapped yields what fn makes of the values of list, up to the first error.
func mapped[A, B any](list iter.Seq2[A, error], fn func(A) (B, error)) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {
		for a, err := range list {
			var b B
			if err == nil {
				b, err = fn(a)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// limited yields the first values of list, up to limit; all if limit is 0.
func limited[T any](limit int, list iter.Seq2[T, error]) iter.Seq2[T, error] {
	if limit == 0 {
		return list
	}
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

// recordTx is a transaction on a network.
type recordTx struct {
	recordReader
	t       storage.Tx
	network string
	next    int64 // the number of the next collection; 0: not known
}

// Announce does nothing: updates of a space run one after the other.
func (t *recordTx) Announce(ctx context.Context, _ []Key) error { return ctx.Err() }

// PutCollection adds a collection, or replaces its fields and its tally.
func (t *recordTx) PutCollection(ctx context.Context, c Collection) (err error) {
	if err := t.find(ctx, c.Key); err != nil {
		return err
	}
	var puts []storage.Entry
	if t.at.number == 0 {
		if t.next, err = t.following(ctx, t.next, t.keys.orders()); err != nil {
			return err
		}
		t.at = found{key: c.Key, looked: true, number: t.next, next: 1, empty: true}
		t.next++
		puts = append(puts, storage.Entry{Key: t.keys.with(c.Key), Value: ifCut(c.Source)})
		if record.SpaceCut(t.keys.space) {
			puts = append(puts, storage.Entry{Key: t.keys.name(), Value: []byte(t.network)})
		}
	}
	value := encodeCollection(t.at.number, c)
	if size := sizeOf(value); size != t.at.size {
		t.at.size = size
		order := record.AppendText(binary.AppendUvarint(nil, uint64(size)), c.Source)
		puts = append(puts, storage.Entry{Key: t.keys.order(t.at.number), Value: record.AppendText(order, c.ID)})
	}
	return t.t.Put(ctx, append(puts, storage.Entry{Key: t.keys.collection(c.Key), Value: value})...)
}

// ifCut returns a part that is cut in keys, and nothing for any other.
func ifCut(part string) []byte {
	if record.Cut(part) {
		return []byte(part)
	}
	return nil
}

// following returns next if that is known, and otherwise the number after the last of the keys that prefix and a number make.
func (t *recordTx) following(ctx context.Context, next int64, prefix string) (int64, error) {
	if next != 0 {
		return next, nil
	}
	last := storage.Prefix(prefix)
	last.Reverse, last.Limit = true, 1
	for e, err := range t.r.Scan(ctx, last) {
		if err == nil {
			next, err = record.ParseNumber(e.Key[len(prefix):])
		}
		if err != nil {
			return 0, err
		}
	}
	return next + 1, nil
}

// PutReviews adds reviews after those of the collection. One that replaces a review keeps its number.
func (t *recordTx) PutReviews(ctx context.Context, key Key, list []Review) (err error) {
	if err := t.existing(ctx, key); err != nil {
		return err
	}
	list, ids := lastOfEach(list)
	old := make([]known, len(list))
	if !t.at.empty {
		if old, err = t.knownReviews(ctx, t.at.number, ids); err != nil {
			return err
		}
	}
	if t.at.next, err = t.following(ctx, t.at.next, t.keys.reviews(t.at.number)); err != nil {
		return err
	}
	t.at.empty = t.at.empty && len(list) == 0
	reviews, byID, byTime := t.keys.reviews(t.at.number), t.keys.reviewIDs(t.at.number), t.keys.reviewTimes(t.at.number)
	puts, stale := make([]storage.Entry, 0, 3*len(list)), []string(nil)
	for i, r := range list {
		now := known{old[i].n, 0, r.Time}
		if now.n == 0 {
			now.n = t.at.next
			t.at.next++
		} else if r.Time != old[i].time {
			stale = append(stale, record.Join(byTime, timePart(old[i].time), r.ID))
		}
		value := encodeReview(r)
		now.size = len(value)
		puts = append(puts, storage.Entry{Key: reviews + record.Number(now.n), Value: value})
		if now != old[i] {
			at := binary.AppendUvarint(binary.AppendUvarint(make([]byte, 0, 24), uint64(now.n)), uint64(now.size))
			puts = append(puts,
				storage.Entry{Key: record.Join(byTime, timePart(r.Time), r.ID), Value: slices.Concat(at, ifCut(r.ID))},
				storage.Entry{Key: record.Join(byID, r.ID), Value: binary.AppendVarint(at, r.Time)})
		}
	}
	if len(stale) > 0 {
		if err := t.t.Delete(ctx, stale...); err != nil {
			return err
		}
	}
	return t.t.Put(ctx, puts...)
}

// existing sets t.at to a collection. It returns ErrNotFound if there is none.
func (t *recordTx) existing(ctx context.Context, key Key) error {
	if err := t.find(ctx, key); err != nil {
		return err
	}
	if t.at.number == 0 {
		return noCollection(key)
	}
	return nil
}

// lastOfEach returns the reviews of a list with their ids. Of several with one id it returns the last, in the place of the first.
func lastOfEach(list []Review) (reviews []Review, ids []string) {
	ids, at := make([]string, 0, len(list)), make(map[string]int, len(list))
	reviews = make([]Review, 0, len(list))
	for _, r := range list {
		if i, twice := at[r.ID]; twice {
			reviews[i] = r
			continue
		}
		at[r.ID] = len(reviews)
		reviews, ids = append(reviews, r), append(ids, r.ID)
	}
	return reviews, ids
}

// DeleteCollection removes a collection with its reviews.
func (t *recordTx) DeleteCollection(ctx context.Context, key Key) error {
	if err := t.existing(ctx, key); err != nil {
		return err
	}
	number := t.at.number
	t.at = found{key: key, looked: true}
	for _, prefix := range []string{t.keys.reviews(number), t.keys.reviewIDs(number), t.keys.reviewTimes(number)} {
		if err := t.t.DeleteRange(ctx, storage.Prefix(prefix)); err != nil {
			return err
		}
	}
	if err := t.t.Delete(ctx, t.keys.collection(key), t.keys.order(number), t.keys.with(key)); err != nil {
		return err
	}
	if !record.SpaceCut(t.keys.space) {
		return nil
	}
	if left, err := t.following(ctx, 0, t.keys.orders()); err != nil || left > 1 {
		return err
	}
	return t.t.Delete(ctx, t.keys.name())
}

// DeleteReviews removes those of the reviews that exist.
func (t *recordTx) DeleteReviews(ctx context.Context, key Key, ids []string) error {
	if err := t.existing(ctx, key); err != nil {
		return err
	}
	old, err := t.knownReviews(ctx, t.at.number, ids)
	if err != nil {
		return err
	}
	var gone []string
	for i, k := range old {
		if k.n != 0 {
			gone = append(gone, t.keys.reviews(t.at.number)+record.Number(k.n),
				record.Join(t.keys.reviewIDs(t.at.number), ids[i]),
				record.Join(t.keys.reviewTimes(t.at.number), timePart(k.time), ids[i]))
		}
	}
	return t.t.Delete(ctx, gone...)
}

func noCollection(key Key) error {
	return fmt.Errorf("%w: collection %q of %q", vitrine.ErrNotFound, key.ID, key.Source)
}
