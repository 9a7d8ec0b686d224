package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Reviews returns the store's reviews.
func (db *DB) Reviews() reviews.Store { return reviewStore{db} }

type reviewStore struct{ db *DB }

var reviewErrors = sentinels{reviews.ErrBusy, reviews.ErrFull, reviews.ErrUnknown}

// View runs fn, once, in one snapshot.
func (s reviewStore) View(ctx context.Context, fn func(reviews.Reader) error) error {
	err := s.db.viewOnce(ctx, func(c *conn) error {
		r := &reviewReader{c: c}
		defer func() { r.ended = true }()
		return fn(r)
	})
	return reviewErrors.wrap(err)
}

// Update runs fn in a transaction that locks the collections it looks at.
func (s reviewStore) Update(ctx context.Context, fn func(reviews.Tx) error) error {
	err := s.db.update(ctx, func(c *conn) error {
		t := &reviewTx{reviewReader{c: c, locks: map[string]bool{}}}
		defer func() { t.ended = true }()
		return fn(t)
	})
	return reviewErrors.wrap(err)
}

// reviewReader is the reading half of a transaction.
type reviewReader struct {
	c     *conn
	locks map[string]bool // gates of collections, and ""; nil in a View
	ended bool
}

func (r *reviewReader) check(ctx context.Context) error {
	if r.ended {
		return errEnded
	}
	return ctx.Err()
}

// lock has a collection, there or not, and its reviews stay as they are in an Update.
func (r *reviewReader) lock(key string) {
	if r.locks != nil && !r.locks[key] {
		r.locks[key] = true
		r.c.gate("reviews", key)
	}
}

// lockAll does so for all collections.
func (r *reviewReader) lockAll() {
	if r.locks != nil && !r.locks[""] {
		r.locks[""] = true
		r.c.later("LOCK TABLE review_collection IN SHARE ROW EXCLUSIVE MODE")
	}
}

// digest is what a list of strings of any length is found by.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return string(h.Sum(nil)[:16])
}

func collectionKey(k reviews.Key) string { return digest(k.Source, k.ID) }

const collectionColumns = "source, id, tally, fields"

func scanCollection(r *rows) reviews.Collection {
	return reviews.Collection{Key: reviews.Key{Source: r.text(0), ID: r.text(1)}, Tally: r.blob(2), Fields: r.blob(3)}
}

// Collection returns a collection.
func (r *reviewReader) Collection(ctx context.Context, k reviews.Key) (reviews.Collection, error) {
	if err := r.check(ctx); err != nil {
		return reviews.Collection{}, err
	}
	key := collectionKey(k)
	r.lock(key)
	found := r.c.query(ctx, "SELECT "+collectionColumns+" FROM review_collection WHERE key = $1", key)
	if found.next() {
		return scanCollection(found), nil
	}
	if found.err != nil {
		return reviews.Collection{}, found.err
	}
	return reviews.Collection{}, noCollection(k)
}

// Collections yields all collections in the order of adding.
func (r *reviewReader) Collections(ctx context.Context) iter.Seq2[reviews.Collection, error] {
	return eachRow(ctx, r, r.lockAll, scanCollection, "SELECT "+collectionColumns+" FROM review_collection ORDER BY number")
}

func scanReview(r *rows) reviews.Review { return reviews.Review{ID: r.text(0), Data: r.blob(1)} }

// Reviews yields the reviews of a collection in the order of adding.
func (r *reviewReader) Reviews(ctx context.Context, k reviews.Key) iter.Seq2[reviews.Review, error] {
	key := collectionKey(k)
	return eachRow(ctx, r, func() { r.lock(key) }, scanReview, "SELECT id, data FROM review WHERE collection = $1 ORDER BY place", key)
}

// ReviewsByID yields the reviews with the given ids that are there.
func (r *reviewReader) ReviewsByID(ctx context.Context, k reviews.Key, ids []string) iter.Seq2[reviews.Review, error] {
	key, digests := collectionKey(k), make([]string, len(ids))
	for i, id := range ids {
		digests[i] = digest(id)
	}
	return eachRow(ctx, r, func() { r.lock(key) }, scanReview, "SELECT id, data FROM review WHERE collection = $1 AND key = ANY($2)", key, digests)
}

// reviewPortion is how many rows come in one round trip; the largest review has 16 MiB.
const reviewPortion = 64

// eachRow yields what scan makes of each row of a query.
func eachRow[T any](ctx context.Context, r *reviewReader, lock func(), scan func(*rows) T, sql string, args ...any) iter.Seq2[T, error] {
	return stream.Limited(ctx, r.check, 0, func(out func(T) bool) error {
		if err := r.check(ctx); err != nil {
			return err
		}
		lock()
		found := r.c.walk(ctx, reviewPortion, sql, append([]any(nil), args...)...)
		defer found.close()
		for found.next() && out(scan(found)) {
		}
		return found.err
	})
}

// reviewTx is a writing transaction.
type reviewTx struct{ reviewReader }

// PutCollection adds a collection or replaces what is said of it.
func (t *reviewTx) PutCollection(ctx context.Context, c reviews.Collection) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	key := collectionKey(c.Key)
	t.lock(key)
	n, err := t.c.exec(ctx, "UPDATE review_collection SET tally = $2, fields = $3 WHERE key = $1", key, orEmpty(c.Tally), orEmpty(c.Fields))
	if err != nil || n > 0 {
		return err
	}
	_, err = t.c.exec(ctx, `WITH next AS (UPDATE review_collections SET number = number + 1 RETURNING number)
		INSERT INTO review_collection (key, number, places, source, id, tally, fields) SELECT $1, number, 0, $2, $3, $4, $5 FROM next`,
		key, c.Source, c.ID, orEmpty(c.Tally), orEmpty(c.Fields))
	return err
}

// PutReviews adds reviews, or replaces them in their place.
func (t *reviewTx) PutReviews(ctx context.Context, k reviews.Key, list []reviews.Review) error {
	if err := t.check(ctx); err != nil {
		return err
	}
	key := collectionKey(k)
	t.lock(key)
	keys, ids, data := columns(list)
	n, err := t.c.exec(ctx, `WITH c AS (UPDATE review_collection SET places = places + $2 WHERE key = $1 RETURNING places - $2 AS before),
		put AS (INSERT INTO review (collection, key, place, id, data)
			SELECT $1, u.key, c.before + u.place, u.id, u.data FROM c, unnest($3::bytea[], $4::bytea[], $5::bytea[]) WITH ORDINALITY AS u (key, id, data, place)
			ON CONFLICT (collection, key) DO UPDATE SET data = excluded.data)
		SELECT FROM c`, key, int64(len(keys)), keys, ids, data)
	if err == nil && n == 0 {
		return noCollection(k)
	}
	return err
}

// columns are the reviews, each once: at the place where it is first, as it is last.
func columns(list []reviews.Review) (keys, ids []string, data [][]byte) {
	at := make(map[string]int, len(list))
	for _, r := range list {
		i, twice := at[r.ID]
		if !twice {
			i = len(keys)
			at[r.ID] = i
			keys, ids, data = append(keys, digest(r.ID)), append(ids, r.ID), append(data, nil)
		}
		data[i] = orEmpty(r.Data)
	}
	return keys, ids, data
}

func noCollection(k reviews.Key) error {
	return fmt.Errorf("%w: collection %q of %q", reviews.ErrNotFound, k.ID, k.Source)
}
