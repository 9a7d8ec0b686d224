package sqlite

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews/reviewstore"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Reviews returns the store's reviews.
func (db *DB) Reviews() reviewstore.Store { return reviewStore{db} }

type reviewStore struct{ db *DB }

var reviewErrors = sentinels{vitrine.ErrBusy, vitrine.ErrFull, vitrine.ErrUnknown}

// Networks yields the names of the networks that have collections, sorted. A network may have many collections. So it looks up
// each name in the index, as the first after the name before, and does not read the collections.
func (s reviewStore) Networks(ctx context.Context) iter.Seq2[string, error] {
	return stream.Of(func(out func(string) bool) error {
		err := s.db.view(ctx, func(c *conn) error {
			rows := c.query("SELECT network FROM review_collection ORDER BY network LIMIT 1")
			for rows.next() {
				name := rows.text(0)
				rows.close()
				if !out(name) {
					return nil
				}
				rows = c.query("SELECT network FROM review_collection WHERE network > $1 ORDER BY network LIMIT 1", name)
			}
			rows.close()
			return rows.err
		})
		return reviewErrors.wrap(err)
	})
}

// View runs fn once, in one snapshot.
func (s reviewStore) View(ctx context.Context, network string, fn func(reviewstore.Reader) error) error {
	err := s.db.view(ctx, func(c *conn) error {
		r := &reviewReader{c: c, network: network}
		defer func() { r.ended = true }()
		return fn(r)
	})
	return reviewErrors.wrap(err)
}

// Update runs fn as an update of the writer, at most once.
func (s reviewStore) Update(ctx context.Context, network string, fn func(reviewstore.Tx) error) error {
	err := s.db.update(ctx, func(c *conn) error {
		// SQLite overwrites what is deleted or replaced with zeros: people have a right to the erasure of their reviews.
		if err := c.script("PRAGMA secure_delete=ON"); err != nil {
			return err
		}
		defer func() { _ = c.script("PRAGMA secure_delete=OFF") }() // other updates free much that needs no overwriting
		t := &reviewTx{reviewReader: reviewReader{c: c, network: network}}
		defer func() { t.ended = true }()
		return fn(t)
	})
	return reviewErrors.wrap(err)
}

// reviewReader is the reading half of a transaction on a network.
type reviewReader struct {
	c       *conn
	network string
	ended   bool

	// The collection that was looked for last. An import looks for the same one again and again.
	last   reviewstore.Key
	looked bool
	row    int64 // the key of its row; 0: the collection does not exist
}

// remember notes the key of the row of a collection, 0 if it does not exist, so that number need not read it again.
func (r *reviewReader) remember(key reviewstore.Key, row int64) {
	r.last, r.looked, r.row = key, true, row
}

// check returns errEnded after the function that was given the reader has returned, and the error of ctx if ctx is done.
func (r *reviewReader) check(ctx context.Context) error {
	if r.ended {
		return errEnded
	}
	return ctx.Err()
}

const collectionColumns = "source, id, tally, fields, key"

func scanCollection(r *rows) reviewstore.Collection {
	return reviewstore.Collection{Key: reviewstore.Key{Source: r.text(0), ID: r.text(1)}, Tally: r.blob(2), Fields: r.blob(3)}
}

// Collection returns a collection.
func (r *reviewReader) Collection(ctx context.Context, key reviewstore.Key) (reviewstore.Collection, error) {
	if err := r.check(ctx); err != nil {
		return reviewstore.Collection{}, err
	}
	rows := r.c.query("SELECT "+collectionColumns+" FROM review_collection WHERE network = $1 AND source = $2 AND id = $3", r.network, key.Source, key.ID)
	defer rows.close()
	if rows.next() {
		r.remember(key, rows.int(4))
		return scanCollection(rows), nil
	}
	if rows.err != nil {
		return reviewstore.Collection{}, rows.err
	}
	r.remember(key, 0)
	return reviewstore.Collection{}, noCollection(key)
}

// collectionsInOrder reads the index review_collection_in_order, so it reads no collection of another network.
const collectionsInOrder = "SELECT " + collectionColumns + " FROM review_collection WHERE network = $1 ORDER BY key"

// Collections yields all collections in the order of adding.
func (r *reviewReader) Collections(ctx context.Context) iter.Seq2[reviewstore.Collection, error] {
	return eachRow(ctx, r, scanCollection, collectionsInOrder, r.network)
}

// collectionsByKey reads the index of network, source and id.
const collectionsByKey = "SELECT " + collectionColumns + " FROM review_collection WHERE network = $1"

// CollectionsByKey yields the collections after q.After, sorted by source and then by id.
func (r *reviewReader) CollectionsByKey(ctx context.Context, q reviewstore.CollectionQuery) iter.Seq2[reviewstore.Collection, error] {
	const order = " ORDER BY source, id LIMIT "
	if q.After == (reviewstore.Key{}) {
		return eachRow(ctx, r, scanCollection, collectionsByKey+order+"$2", r.network, rowLimit(q.Limit))
	}
	return eachRow(ctx, r, scanCollection, collectionsByKey+" AND (source, id) > ($2, $3)"+order+"$4", r.network, q.After.Source, q.After.ID, rowLimit(q.Limit))
}

// rowLimit returns the LIMIT of a query for n rows, where 0 means all: SQLite takes a negative LIMIT for none.
func rowLimit(n int) int64 {
	if n == 0 {
		return -1
	}
	return int64(n)
}

// withID orders by an expression. Otherwise SQLite would read all collections of the network in the order of their sources,
// rather than the few with the id by the index review_collection_by_id.
const withID = " AND id = $2 ORDER BY +source"

// CollectionsWithID yields the collections that have this id, each of another source, sorted by source.
func (r *reviewReader) CollectionsWithID(ctx context.Context, id string) iter.Seq2[reviewstore.Collection, error] {
	return eachRow(ctx, r, scanCollection, collectionsByKey+withID, r.network, id)
}

const reviewColumns = "id, time, data"

func scanReview(r *rows) reviewstore.Review {
	return reviewstore.Review{ID: r.text(0), Time: r.int(1), Data: r.blob(2)}
}

// reviewsByTime reads the index review_by_time.
const reviewsByTime = "SELECT " + reviewColumns + " FROM review WHERE collection = $1"

// ReviewsByTime yields the reviews of a collection after q.After, the latest first, and those of the same time by id.
func (r *reviewReader) ReviewsByTime(ctx context.Context, q reviewstore.ReviewQuery) iter.Seq2[reviewstore.Review, error] {
	return func(yield func(reviewstore.Review, error) bool) {
		number, _, err := r.number(ctx, q.Collection)
		if err != nil {
			yield(reviewstore.Review{}, err)
			return
		}
		const order = " ORDER BY time DESC, id LIMIT "
		if q.After == nil {
			eachRow(ctx, r, scanReview, reviewsByTime+order+"$2", number, rowLimit(q.Limit))(yield)
			return
		}
		eachRow(ctx, r, scanReview, reviewsByTime+" AND time <= $2 AND (time < $2 OR id > $3)"+order+"$4", number, q.After.Time, q.After.ID, rowLimit(q.Limit))(yield)
	}
}

// Reviews yields the reviews of a collection in the order of adding.
func (r *reviewReader) Reviews(ctx context.Context, key reviewstore.Key) iter.Seq2[reviewstore.Review, error] {
	return func(yield func(reviewstore.Review, error) bool) {
		number, _, err := r.number(ctx, key)
		if err != nil {
			yield(reviewstore.Review{}, err)
			return
		}
		eachRow(ctx, r, scanReview, "SELECT "+reviewColumns+" FROM review WHERE key BETWEEN $1 AND $2 ORDER BY key",
			firstReview(number), firstReview(number+1)-1)(yield)
	}
}

// ReviewsByID yields the reviews of a collection that have one of the ids.
func (r *reviewReader) ReviewsByID(ctx context.Context, key reviewstore.Key, ids []string) iter.Seq2[reviewstore.Review, error] {
	return func(yield func(reviewstore.Review, error) bool) {
		number, found, err := r.number(ctx, key)
		if err != nil {
			yield(reviewstore.Review{}, err)
		}
		if err != nil || !found {
			return
		}
		for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
			for review, err := range eachRow(ctx, r, scanReview, "SELECT "+reviewColumns+" FROM review WHERE collection = $1 AND id = $2", number, id) {
				if !yield(review, err) || err != nil {
					return
				}
			}
		}
	}
}

// eachRow yields the result of scan for each row of a query.
func eachRow[T any](ctx context.Context, r *reviewReader, scan func(*rows) T, sql string, args ...any) iter.Seq2[T, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(T) bool) error {
		if err := r.check(ctx); err != nil {
			return err
		}
		rows := r.c.query(sql, args...)
		defer rows.close()
		for rows.next() && out(scan(rows)) {
		}
		return rows.err
	})
}

// number returns the key of the row of a collection. found is false, and number 0, if the collection does not exist; no review
// has the collection 0, so a query with it yields none.
func (r *reviewReader) number(ctx context.Context, key reviewstore.Key) (number int64, found bool, err error) {
	if err := r.check(ctx); err != nil {
		return 0, false, err
	}
	if !r.looked || r.last != key {
		number, err = r.c.value("SELECT key FROM review_collection WHERE network = $1 AND source = $2 AND id = $3", r.network, key.Source, key.ID)
		if err != nil {
			return 0, false, err
		}
		r.remember(key, number)
	}
	return r.row, r.row != 0, nil
}

// firstReview returns the lowest key of a review in a collection. The key of a review has the key of its collection in the upper
// 32 bits, so the reviews of a collection are next to each other in the file, in the order in which they were added.
func firstReview(number int64) int64 { return number << 32 }

// reviewTx is a writing transaction, on the writer's connection.
type reviewTx struct {
	reviewReader
	filled int64 // the collection that reviews were last added to; 0: none yet
	next   int64 // the key of its next review
}

// Announce does nothing. Updates run one after another, so there is nothing to lock.
func (t *reviewTx) Announce(ctx context.Context, _ []reviewstore.Key) error { return t.check(ctx) }

// PutCollection adds a collection, or replaces its fields and its tally. The row of a collection that exists keeps its key, and so
// the collection keeps its place and its reviews.
func (t *reviewTx) PutCollection(ctx context.Context, c reviewstore.Collection) error {
	_, found, err := t.number(ctx, c.Key)
	if err != nil {
		return err
	}
	if found {
		_, err = t.c.exec("UPDATE review_collection SET tally = $1, fields = $2 WHERE key = $3", orNull(c.Tally), orNull(c.Fields), t.row)
		return err
	}
	number, err := t.c.insert("INSERT INTO review_collection (network, source, id, tally, fields) VALUES ($1, $2, $3, $4, $5)",
		t.network, c.Source, c.ID, orNull(c.Tally), orNull(c.Fields))
	if err != nil {
		return err
	}
	t.remember(c.Key, number)
	t.filled, t.next = number, firstReview(number)
	return nil
}

// PutReviews adds reviews after those of the collection. A review with the id of an earlier one replaces it, and keeps its key
// and so its place in the order. It returns ErrNotFound if the collection does not exist.
func (t *reviewTx) PutReviews(ctx context.Context, key reviewstore.Key, list []reviewstore.Review) error {
	number, found, err := t.number(ctx, key)
	if err != nil {
		return err
	}
	if !found {
		return noCollection(key)
	}
	if t.filled != number {
		highest, err := t.c.value("SELECT coalesce(max(key), 0) FROM review WHERE key BETWEEN $1 AND $2", firstReview(number), firstReview(number+1)-1)
		if err != nil {
			return err
		}
		t.filled, t.next = number, max(highest+1, firstReview(number))
	}
	args := make([]any, 0, 5*rowsTogether)
	for len(list) > 0 {
		n, sql := 1, putOne
		if len(list) >= rowsTogether {
			n, sql = rowsTogether, putSome
		}
		if t.next+int64(n) > firstReview(number+1) {
			return fmt.Errorf("sqlite: collection %q of %q is full", key.ID, key.Source)
		}
		args = args[:0]
		for _, r := range list[:n] {
			args = append(args, t.next, number, r.ID, r.Time, orNull(r.Data))
			t.next++
		}
		if _, err := t.c.exec(sql, args...); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// rowsTogether is how many reviews one statement puts, to share the cost of a statement.
const rowsTogether = 5

const (
	putRows = "INSERT INTO review (key, collection, id, time, data) VALUES "
	onKnown = " ON CONFLICT (collection, id) DO UPDATE SET time = excluded.time, data = excluded.data"
	putOne  = putRows + "($1, $2, $3, $4, $5)" + onKnown
	putSome = putRows + "($1, $2, $3, $4, $5), ($6, $7, $8, $9, $10), ($11, $12, $13, $14, $15), ($16, $17, $18, $19, $20), ($21, $22, $23, $24, $25)" + onKnown
)

// DeleteCollection removes a collection with its reviews. It returns ErrNotFound if there is none.
func (t *reviewTx) DeleteCollection(ctx context.Context, key reviewstore.Key) error {
	number, found, err := t.number(ctx, key)
	if err != nil {
		return err
	}
	if !found {
		return noCollection(key)
	}
	t.remember(key, 0)
	t.filled = 0
	if _, err := t.c.exec("DELETE FROM review WHERE key BETWEEN $1 AND $2", firstReview(number), firstReview(number+1)-1); err != nil {
		return err
	}
	_, err = t.c.exec("DELETE FROM review_collection WHERE key = $1", number)
	return err
}

// DeleteReviews removes those of the reviews that exist. It returns ErrNotFound if the collection does not exist.
func (t *reviewTx) DeleteReviews(ctx context.Context, key reviewstore.Key, ids []string) error {
	number, found, err := t.number(ctx, key)
	if err != nil {
		return err
	}
	if !found {
		return noCollection(key)
	}
	for _, id := range ids {
		if _, err := t.c.exec("DELETE FROM review WHERE collection = $1 AND id = $2", number, id); err != nil {
			return err
		}
	}
	return nil
}

// noCollection returns the error for a collection that does not exist.
func noCollection(key reviewstore.Key) error {
	return fmt.Errorf("%w: collection %q of %q", vitrine.ErrNotFound, key.ID, key.Source)
}
