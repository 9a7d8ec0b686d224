package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews/reviewstore"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Reviews returns the store's reviews.
func (db *DB) Reviews() reviewstore.Store { return reviewStore{db} }

type reviewStore struct{ db *DB }

var reviewErrors = sentinels{vitrine.ErrBusy, vitrine.ErrFull, vitrine.ErrUnknown}

// Networks yields the names of the networks that have collections, sorted. A row of review_network stays when the last collection
// of the network is deleted, so each is checked.
func (s reviewStore) Networks(ctx context.Context) iter.Seq2[string, error] {
	return stream.Of(func(out func(string) bool) error {
		err := s.db.viewOnce(ctx, func(c *conn) error {
			found := c.walk(ctx, 1024, `SELECT name FROM review_network n
				WHERE EXISTS (SELECT FROM review_collection c WHERE c.network = n.key) ORDER BY name`)
			defer found.close()
			for found.next() && out(found.text(0)) {
			}
			return found.err
		})
		return reviewErrors.wrap(err)
	})
}

// View runs fn in one snapshot. It runs fn at most once, since fn may pass reviews on as it reads them.
func (s reviewStore) View(ctx context.Context, network string, fn func(reviewstore.Reader) error) error {
	err := s.db.viewOnce(ctx, func(c *conn) error {
		r := &reviewReader{c: c, network: network}
		defer func() { r.ended = true }()
		return fn(r)
	})
	return reviewErrors.wrap(err)
}

// Update runs fn in a transaction that locks each collection which fn reads or writes, until the commit. fn may run again.
func (s reviewStore) Update(ctx context.Context, network string, fn func(reviewstore.Tx) error) error {
	err := s.db.update(ctx, func(c *conn) error {
		t := &reviewTx{reviewReader: reviewReader{c: c, network: network, locks: map[string]bool{}, absent: map[string]bool{}, known: map[string]reviewstore.Collection{}}}
		defer func() { t.ended = true }()
		if err := fn(t); err != nil {
			return err
		}
		t.added.insert(c, network)
		return nil
	})
	return reviewErrors.wrap(err)
}

// Scrub does nothing: vacuum removes deleted rows from the files.
func (s reviewStore) Scrub(ctx context.Context) error {
	if err := s.db.enter(); err != nil {
		return err
	}
	s.db.users.Done()
	return ctx.Err()
}

// reviewReader reads the reviews of one network, in a View or an Update.
type reviewReader struct {
	c       *conn
	network string
	locks   map[string]bool                   // keys of collections that an Update has locked; "" = all; nil in a View
	absent  map[string]bool                   // collections that an Update has locked and not found
	known   map[string]reviewstore.Collection // collections that an Update has locked and read; see Announce
	added   addedCollections                  // by an Update, and not inserted yet
	ended   bool
}

// check returns errEnded after the function that was given the reader has returned, and the error of ctx if ctx is done.
func (r *reviewReader) check(ctx context.Context) error {
	if r.ended {
		return errEnded
	}
	return ctx.Err()
}

// lock locks a collection and its reviews in an Update, whether or not the collection exists, with the claim of its key. In a
// View it does nothing.
func (r *reviewReader) lock(key string) {
	if r.locks != nil && !r.locks[key] {
		r.locks[key] = true
		r.c.claim("reviews", key)
	}
}

// lockAll locks all collections of the network in an Update, and keeps others from adding one. For that it locks the row of
// the network, which every transaction that writes in the network locks too; see write. It adds the row if there is none. In a
// View it does nothing.
func (r *reviewReader) lockAll() {
	if r.locks != nil && !r.locks[""] {
		r.locks[""] = true
		r.c.later("INSERT INTO review_network (key, name, number) VALUES ($1, $2, 0) ON CONFLICT (key) DO NOTHING", digest(r.network), r.network)
		r.c.later("SELECT FROM review_network WHERE key = $1 FOR UPDATE", digest(r.network))
	}
}

// digest returns a key of 16 bytes for a list of strings of any length: the beginning of their SHA-256, each with its length in
// front. It is used for things whose names are longer than an index holds.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return string(h.Sum(nil)[:16])
}

// key returns the key of a collection of the network. Collections of the default network have keys without its name, since the
// first release knew no networks.
func (r *reviewReader) key(k reviewstore.Key) string {
	if r.network == reviewstore.DefaultNetwork {
		return digest(k.Source, k.ID)
	}
	return digest(r.network, k.Source, k.ID)
}

// collectionColumns are what collectionAt reads.
const collectionColumns = "source, id, tally, fields"

// scanCollection reads a row of collectionColumns or of listedCollections. whole is false if the list has left out the fields.
func scanCollection(r *rows) (c reviewstore.Collection, whole bool) {
	c = collectionAt(r, 0)
	return c, c.Tally != nil
}

// collectionAt reads collectionColumns from column i on.
func collectionAt(r *rows, i int) reviewstore.Collection {
	return reviewstore.Collection{Key: reviewstore.Key{Source: r.text(i), ID: r.text(i + 1)}, Tally: r.blob(i + 2), Fields: r.blob(i + 3)}
}

// Collection returns a collection. An Update locks it first, and sees what it has written itself.
func (r *reviewReader) Collection(ctx context.Context, k reviewstore.Key) (reviewstore.Collection, error) {
	if err := r.check(ctx); err != nil {
		return reviewstore.Collection{}, err
	}
	key := r.key(k)
	if own := r.added.byKey[key]; own != nil {
		return own.Collection, nil
	}
	if c, known := r.known[key]; known {
		return c, nil
	}
	if r.absent[key] {
		return reviewstore.Collection{}, noCollection(k)
	}
	r.lock(key)
	found := r.c.query(ctx, "SELECT "+collectionColumns+" FROM review_collection WHERE key = $1", key)
	if found.next() {
		return collectionAt(found, 0), nil
	}
	if found.err != nil {
		return reviewstore.Collection{}, found.err
	}
	if r.locks != nil {
		r.absent[key] = true
	}
	return reviewstore.Collection{}, noCollection(k)
}

// beforeList prepares a query over all collections of the network. In an Update it locks them, and inserts those that were
// added, so that the query finds them. In a View it does nothing.
func (r *reviewReader) beforeList() {
	r.lockAll()
	r.added.insert(r.c, r.network)
}

// Collections yields all collections in the order of adding.
func (r *reviewReader) Collections(ctx context.Context) iter.Seq2[reviewstore.Collection, error] {
	return r.collections(ctx, listedCollections+" ORDER BY number", digest(r.network))
}

// keyOrder sorts collections by source and id, and keyPlace is the position of the source $2 and the id $3 in this order. Sources
// and ids may be longer than an index holds. So the index of this order has the first 1,000 bytes of each source, and the first
// 1,000 bytes of the id only if the source is shorter; the expressions must be those of the index.
const (
	keyOrder = `substring(source FOR 1000), CASE WHEN length(source) < 1000 THEN substring(id FOR 1000) ELSE '' END, source, id`
	keyPlace = `substring($2::bytea FOR 1000), CASE WHEN length($2::bytea) < 1000 THEN substring($3::bytea FOR 1000) ELSE '' END, $2::bytea, $3::bytea`

	collectionsByKey  = listedCollections + " AND (" + keyOrder + ") > (" + keyPlace + ") ORDER BY " + keyOrder + " LIMIT $4"
	collectionsWithID = listedCollections + " AND substring(id FOR 1000) = substring($2::bytea FOR 1000) AND id = $2 ORDER BY source"
	collectionsFirst  = listedCollections + " ORDER BY " + keyOrder + " LIMIT $2"
)

// CollectionsByKey yields the collections after q.After, sorted by source and then by id.
func (r *reviewReader) CollectionsByKey(ctx context.Context, q reviewstore.CollectionQuery) iter.Seq2[reviewstore.Collection, error] {
	if q.After == (reviewstore.Key{}) {
		return r.collections(ctx, collectionsFirst, digest(r.network), rowLimit(q.Limit))
	}
	return r.collections(ctx, collectionsByKey, digest(r.network), q.After.Source, q.After.ID, rowLimit(q.Limit))
}

// rowLimit returns the argument of a LIMIT. 0 means no limit.
func rowLimit(n int) any {
	if n == 0 {
		return nil
	}
	return int64(n)
}

// CollectionsWithID yields the collections that have this id, each of another source, sorted by source.
func (r *reviewReader) CollectionsWithID(ctx context.Context, id string) iter.Seq2[reviewstore.Collection, error] {
	return r.collections(ctx, collectionsWithID, digest(r.network), id)
}

// scanReview reads a row of id, time and data, or of listedReviews. whole is false if the list has left out the data.
func scanReview(r *rows) (one reviewstore.Review, whole bool) {
	one = reviewstore.Review{ID: r.text(0), Time: r.int(1), Data: r.blob(2)}
	return one, one.Data != nil
}

// Reviews are listed by time, the latest first, and those of the same time by id. The index has the first 1,000 bytes of each id.
const (
	reviewsByTime = listedReviews + ` AND time <= $2 AND (time < $2 OR (substring(id FOR 1000), id) > (substring($3::bytea FOR 1000), $3::bytea))
		ORDER BY time DESC, substring(id FOR 1000), id LIMIT $4`
	reviewsLatest = listedReviews + " ORDER BY time DESC, substring(id FOR 1000), id LIMIT $2"
)

// ReviewsByTime yields the reviews of a collection after q.After, the latest first.
func (r *reviewReader) ReviewsByTime(ctx context.Context, q reviewstore.ReviewQuery) iter.Seq2[reviewstore.Review, error] {
	key := r.key(q.Collection)
	if q.After == nil {
		return r.reviews(ctx, reviewsLatest, key, rowLimit(q.Limit))
	}
	return r.reviews(ctx, reviewsByTime, key, q.After.Time, q.After.ID, rowLimit(q.Limit))
}

// Reviews yields the reviews of a collection in the order of adding.
func (r *reviewReader) Reviews(ctx context.Context, k reviewstore.Key) iter.Seq2[reviewstore.Review, error] {
	return r.reviews(ctx, listedReviews+" ORDER BY place", r.key(k))
}

// ReviewsByID yields the reviews with the given ids that exist.
func (r *reviewReader) ReviewsByID(ctx context.Context, k reviewstore.Key, ids []string) iter.Seq2[reviewstore.Review, error] {
	digests := make([]string, len(ids))
	for i, id := range ids {
		digests[i] = digest(id)
	}
	return r.reviews(ctx, listedReviews+" AND key = ANY($2)", r.key(k), digests)
}

// A list reads reviewPortion rows in one round trip, and they are in memory together. A review, or a collection, may have 16 MiB.
// So of a row with more than 64 KiB a list reads the key alone, and eachRow then reads the row by itself. So the data of a portion
// take at most 4 MiB, beside the keys. To learn the length of a large value the server does not read it.
const (
	reviewPortion     = 64
	fitsReview        = "CASE WHEN octet_length(data) <= 65536 THEN "
	fitsCollection    = "CASE WHEN octet_length(tally) + octet_length(fields) <= 65536 THEN "
	listedReviews     = "SELECT id, time, " + fitsReview + "data END FROM review WHERE collection = $1"
	listedCollections = "SELECT source, id, " + fitsCollection + "tally END, " + fitsCollection + "fields END FROM review_collection WHERE network = $1"
)

// reviews yields the reviews of a collection that a query of listedReviews finds. key is the key of the collection.
func (r *reviewReader) reviews(ctx context.Context, sql, key string, args ...any) iter.Seq2[reviewstore.Review, error] {
	alone := func(one reviewstore.Review) *rows {
		return r.c.query(ctx, "SELECT id, time, data FROM review WHERE collection = $1 AND key = $2", key, digest(one.ID))
	}
	return eachRow(ctx, r, func() { r.lock(key) }, scanReview, alone, sql, append([]any{key}, args...)...)
}

// collections yields the collections that a query of listedCollections finds.
func (r *reviewReader) collections(ctx context.Context, sql string, args ...any) iter.Seq2[reviewstore.Collection, error] {
	alone := func(one reviewstore.Collection) *rows {
		return r.c.query(ctx, "SELECT "+collectionColumns+" FROM review_collection WHERE key = $1", r.key(one.Key))
	}
	return eachRow(ctx, r, r.beforeList, scanCollection, alone, sql, args...)
}

// eachRow calls lock, and then yields what scan makes of each row of a query. If a row is not whole, it is read again by alone.
// In an Update the row may have been deleted since the query; then it is left out.
func eachRow[T any](ctx context.Context, r *reviewReader, lock func(), scan func(*rows) (one T, whole bool), alone func(one T) *rows,
	sql string, args ...any) iter.Seq2[T, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(T) bool) error {
		if err := r.check(ctx); err != nil {
			return err
		}
		lock()
		found := r.c.walk(ctx, reviewPortion, sql, append([]any(nil), args...)...)
		defer found.close()
		for found.next() {
			one, whole := scan(found)
			if !whole {
				large := alone(one)
				if !large.next() {
					if large.err != nil {
						return large.err
					}
					continue
				}
				one, _ = scan(large)
			}
			if !out(one) {
				return nil
			}
		}
		return found.err
	})
}

// reviewTx writes the reviews of one network. It sends statements whose results it does not need together with a later one:
// writes to collections that Announce has read, or that the Update adds, take no round trip of their own.
type reviewTx struct {
	reviewReader
	writes bool // write was called
	unsent int  // bytes of the statements that later has added since it last sent some
}

// write must be called before a write in the network. It locks the row of the network against transactions that list its
// collections, see lockAll, but not against others that write. If the network has no row yet, there is nothing to list; then the
// insertion of the first collections adds and locks the row.
func (t *reviewTx) write() {
	if !t.writes {
		t.writes = true
		t.c.later("SELECT FROM review_network WHERE key = $1 FOR KEY SHARE", digest(t.network))
	}
}

// announced reads the collections with the keys $1, by key, until they have $2 bytes together. Of the others that exist it
// returns the keys alone.
const announced = `SELECT key, sent, source, id, CASE WHEN sent THEN tally END, CASE WHEN sent THEN fields END FROM (
		SELECT *, sum(octet_length(fields) + octet_length(tally)) OVER (ORDER BY key) <= $2 AS sent FROM review_collection WHERE key = ANY($1)
	) AS found`

// announcedBytes is how many bytes of collections Announce reads at most.
const announcedBytes = 4 << 20

// Announce locks the collections and reads them, in one round trip. It is then known which of them exist. So writes to those
// that were read need no answer of the server, and are sent with the COMMIT.
func (t *reviewTx) Announce(ctx context.Context, keys []reviewstore.Key) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	var free []string
	for _, k := range keys {
		if key := t.key(k); !t.locks[key] {
			t.locks[key] = true
			free = append(free, key)
		}
	}
	if len(free) == 0 {
		return nil
	}
	t.c.claimAll("reviews", free)
	for _, key := range free {
		t.absent[key] = true
	}
	found := t.c.query(ctx, announced, free, announcedBytes)
	for found.next() {
		key := found.text(0)
		delete(t.absent, key)
		if found.bool(1) {
			t.known[key] = collectionAt(found, 2)
		}
	}
	return found.err
}

// maxUnsent is how many bytes of writes may wait for the next round trip.
const maxUnsent = 4 << 20

// later is like conn.later, for a statement with values of size bytes. When maxUnsent bytes or more wait, it sends them.
func (t *reviewTx) later(ctx context.Context, size int, sql string, args ...any) error {
	t.c.later(sql, args...)
	t.unsent += size
	if t.unsent < maxUnsent {
		return nil
	}
	t.unsent = 0
	return t.c.query(ctx, "SELECT").err
}

// PutCollection adds a collection, or replaces its Tally and Fields. A collection that it adds is inserted at the end of the
// Update, or before a statement that needs its row; see addedCollections.
func (t *reviewTx) PutCollection(ctx context.Context, c reviewstore.Collection) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	key := t.key(c.Key)
	t.write()
	t.lock(key)
	const update = "UPDATE review_collection SET tally = $2, fields = $3 WHERE key = $1"
	if _, known := t.known[key]; known {
		c.Tally, c.Fields = orEmpty(bytes.Clone(c.Tally)), orEmpty(bytes.Clone(c.Fields))
		t.known[key] = c
		return t.later(ctx, len(c.Tally)+len(c.Fields), update, key, c.Tally, c.Fields)
	}
	if t.added.byKey[key] == nil && !t.absent[key] {
		n, err := t.c.exec(ctx, update, key, orEmpty(c.Tally), orEmpty(c.Fields))
		if err != nil || n > 0 {
			return err
		}
	}
	t.added.put(key, c)
	delete(t.absent, key)
	if t.added.size > maxAdded {
		t.added.insert(t.c, t.network)
	}
	return nil
}

// PutReviews adds reviews, or replaces those with the same ids, which keep their places in the order of adding. It returns
// ErrNotFound if the collection does not exist. Each call takes as many new places as it has reviews, so places have gaps.
func (t *reviewTx) PutReviews(ctx context.Context, k reviewstore.Key, list []reviewstore.Review) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	key := t.key(k)
	t.write()
	t.lock(key)
	keys, ids, times, data, size := columns(list)
	if own := t.added.byKey[key]; own != nil {
		own.places += int64(len(keys))
		return t.later(ctx, size, `INSERT INTO review (collection, key, place, time, id, data)
			SELECT $1, u.key, $2 + u.place, u.time, u.id, u.data FROM unnest($3::bytea[], $4::bytea[], $5::int8[], $6::bytea[]) WITH ORDINALITY AS u (key, id, time, data, place)
			ON CONFLICT (collection, key) DO UPDATE SET time = excluded.time, data = excluded.data`, key, own.places-int64(len(keys)), keys, ids, times, data)
	}
	const put = `WITH c AS (UPDATE review_collection SET places = places + $2 WHERE key = $1 RETURNING places - $2 AS before),
		put AS (INSERT INTO review (collection, key, place, time, id, data)
			SELECT $1, u.key, c.before + u.place, u.time, u.id, u.data FROM c, unnest($3::bytea[], $4::bytea[], $5::int8[], $6::bytea[]) WITH ORDINALITY AS u (key, id, time, data, place)
			ON CONFLICT (collection, key) DO UPDATE SET time = excluded.time, data = excluded.data)
		SELECT FROM c`
	if _, known := t.known[key]; known {
		return t.later(ctx, size, put, key, int64(len(keys)), keys, ids, times, data)
	}
	n, err := t.c.exec(ctx, put, key, int64(len(keys)), keys, ids, times, data)
	if err == nil && n == 0 {
		return noCollection(k)
	}
	return err
}

// DeleteCollection removes a collection with its reviews. It returns ErrNotFound if there is none.
func (t *reviewTx) DeleteCollection(ctx context.Context, k reviewstore.Key) error {
	key, err := t.begin(ctx, k)
	if err != nil {
		return err
	}
	t.c.later("DELETE FROM review WHERE collection = $1", key)
	n, err := t.c.exec(ctx, "DELETE FROM review_collection WHERE key = $1", key)
	if err == nil && n == 0 {
		err = noCollection(k)
	}
	if err == nil {
		t.absent[key] = true
		delete(t.known, key)
	}
	return err
}

// DeleteReviews removes those of the reviews that exist. It returns ErrNotFound if the collection does not exist.
func (t *reviewTx) DeleteReviews(ctx context.Context, k reviewstore.Key, ids []string) error {
	key, err := t.begin(ctx, k)
	if err != nil {
		return err
	}
	found := t.c.query(ctx, "SELECT FROM review_collection WHERE key = $1", key)
	if !found.next() {
		if found.err != nil {
			return found.err
		}
		return noCollection(k)
	}
	digests := make([]string, len(ids))
	for i, id := range ids {
		digests[i] = digest(id)
	}
	_, err = t.c.exec(ctx, "DELETE FROM review WHERE collection = $1 AND key = ANY($2)", key, digests)
	return err
}

// begin prepares a change of a collection in the tables: it locks the collection and, if this Update has added it, inserts its
// row. It returns the key of the collection.
func (t *reviewTx) begin(ctx context.Context, k reviewstore.Key) (string, error) {
	if err := t.check(ctx); err != nil {
		return "", err
	}
	key := t.key(k)
	t.write()
	t.lock(key)
	if t.added.byKey[key] != nil {
		t.added.insert(t.c, t.network)
	}
	return key, nil
}

// columns returns the reviews as columns, for an INSERT of all of them, and how many bytes they have. A review that is in the
// list twice has the place of the first and the content of the last.
func columns(list []reviewstore.Review) (keys, ids []string, times []int64, data [][]byte, size int) {
	at := make(map[string]int, len(list))
	for _, r := range list {
		i, twice := at[r.ID]
		if !twice {
			i = len(keys)
			at[r.ID] = i
			keys, ids, times, data = append(keys, digest(r.ID)), append(ids, r.ID), append(times, 0), append(data, nil)
		}
		times[i], data[i] = r.Time, orEmpty(bytes.Clone(r.Data))
		size += len(r.ID) + len(r.Data)
	}
	return keys, ids, times, data, size
}

func noCollection(k reviewstore.Key) error {
	return fmt.Errorf("%w: collection %q of %q", vitrine.ErrNotFound, k.ID, k.Source)
}
