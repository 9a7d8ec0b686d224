package sqlite

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/internal/stream"
)

// Reviews returns the store's reviews.
func (db *DB) Reviews() reviews.Store { return reviewStore{db} }

type reviewStore struct{ db *DB }

// View runs fn in one snapshot.
func (s reviewStore) View(ctx context.Context, fn func(reviews.Reader) error) error {
	err := s.db.view(ctx, func(c *conn) error {
		r := &reviewReader{c: c}
		defer func() { r.ended = true }()
		return fn(r)
	})
	return domainError(err, reviews.ErrBusy, reviews.ErrFull)
}

// Update runs fn in the turn that the writer gives it.
func (s reviewStore) Update(ctx context.Context, fn func(reviews.Tx) error) error {
	err := s.db.update(ctx, func(c *conn) error {
		t := &reviewTx{reviewReader: reviewReader{c: c}}
		defer func() { t.ended = true }()
		return fn(t)
	})
	return domainError(err, reviews.ErrBusy, reviews.ErrFull)
}

// reviewReader is the reading half of a transaction.
type reviewReader struct {
	c     *conn
	ended bool

	// The collection that was looked for last: an import comes back to it again and again.
	last   reviews.Key
	looked bool
	row    int64 // its key; 0 where it is absent
}

func (r *reviewReader) remember(key reviews.Key, row int64) { r.last, r.looked, r.row = key, true, row }

func (r *reviewReader) check(ctx context.Context) error {
	if r.ended {
		return errEnded
	}
	return ctx.Err()
}

const collectionColumns = "source, id, tally, fields, key"

func scanCollection(r *rows) reviews.Collection {
	return reviews.Collection{Key: reviews.Key{Source: r.text(0), ID: r.text(1)}, Tally: r.blob(2), Fields: r.blob(3)}
}

// Collection returns a collection.
func (r *reviewReader) Collection(ctx context.Context, key reviews.Key) (reviews.Collection, error) {
	if err := r.check(ctx); err != nil {
		return reviews.Collection{}, err
	}
	rows := r.c.query("SELECT "+collectionColumns+" FROM review_collection WHERE source = $1 AND id = $2", key.Source, key.ID)
	defer rows.close()
	if rows.next() {
		r.remember(key, rows.int(4))
		return scanCollection(rows), nil
	}
	if rows.err != nil {
		return reviews.Collection{}, rows.err
	}
	r.remember(key, 0)
	return reviews.Collection{}, noCollection(key)
}

// Collections yields all collections in the order of adding.
func (r *reviewReader) Collections(ctx context.Context) iter.Seq2[reviews.Collection, error] {
	return eachRow(ctx, r, scanCollection, "SELECT "+collectionColumns+" FROM review_collection ORDER BY key")
}

func scanReview(r *rows) reviews.Review { return reviews.Review{ID: r.text(0), Data: r.blob(1)} }

// Reviews yields the reviews of a collection in the order of adding.
func (r *reviewReader) Reviews(ctx context.Context, key reviews.Key) iter.Seq2[reviews.Review, error] {
	return func(yield func(reviews.Review, error) bool) {
		number, _, err := r.number(ctx, key)
		if err != nil {
			yield(reviews.Review{}, err)
			return
		}
		eachRow(ctx, r, scanReview, "SELECT id, data FROM review WHERE key BETWEEN $1 AND $2 ORDER BY key",
			firstReview(number), firstReview(number+1)-1)(yield)
	}
}

// ReviewsByID yields the reviews with the given ids that are there.
func (r *reviewReader) ReviewsByID(ctx context.Context, key reviews.Key, ids []string) iter.Seq2[reviews.Review, error] {
	return func(yield func(reviews.Review, error) bool) {
		number, found, err := r.number(ctx, key)
		if err != nil {
			yield(reviews.Review{}, err)
		}
		if err != nil || !found {
			return
		}
		for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
			for review, err := range eachRow(ctx, r, scanReview, "SELECT id, data FROM review WHERE collection = $1 AND id = $2", number, id) {
				if !yield(review, err) || err != nil {
					return
				}
			}
		}
	}
}

// eachRow yields what scan makes of each row of a query.
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

// number returns the key of a collection's row.
func (r *reviewReader) number(ctx context.Context, key reviews.Key) (number int64, found bool, err error) {
	if err := r.check(ctx); err != nil {
		return 0, false, err
	}
	if !r.looked || r.last != key {
		number, err = r.c.value("SELECT key FROM review_collection WHERE source = $1 AND id = $2", key.Source, key.ID)
		if err != nil {
			return 0, false, err
		}
		r.remember(key, number)
	}
	return r.row, r.row != 0, nil
}

// firstReview is the lowest key of a review in the collection with the given key.
func firstReview(number int64) int64 { return number << 32 }

// reviewTx is a writing transaction, on the writer's connection.
type reviewTx struct {
	reviewReader
	filled int64 // the collection that reviews were last added to; 0: none yet
	next   int64 // the key of its next review
}

// PutCollection adds a collection or replaces what is said of it.
func (t *reviewTx) PutCollection(ctx context.Context, c reviews.Collection) error {
	_, found, err := t.number(ctx, c.Key)
	if err != nil {
		return err
	}
	if found {
		_, err = t.c.exec("UPDATE review_collection SET tally = $1, fields = $2 WHERE key = $3", orNull(c.Tally), orNull(c.Fields), t.row)
		return err
	}
	number, err := t.c.insert("INSERT INTO review_collection (source, id, tally, fields) VALUES ($1, $2, $3, $4)",
		c.Source, c.ID, orNull(c.Tally), orNull(c.Fields))
	if err != nil {
		return err
	}
	t.remember(c.Key, number)
	t.filled, t.next = number, firstReview(number)
	return nil
}

// PutReviews adds reviews, or replaces them in their place.
func (t *reviewTx) PutReviews(ctx context.Context, key reviews.Key, list []reviews.Review) error {
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
	for _, r := range list {
		if t.next == firstReview(number+1) {
			return fmt.Errorf("sqlite: collection %q of %q is full", key.ID, key.Source)
		}
		if _, err := t.c.exec(`INSERT INTO review (key, collection, id, data) VALUES ($1, $2, $3, $4)
			ON CONFLICT (collection, id) DO UPDATE SET data = excluded.data`, t.next, number, r.ID, orNull(r.Data)); err != nil {
			return err
		}
		t.next++
	}
	return nil
}

func noCollection(key reviews.Key) error {
	return fmt.Errorf("%w: collection %q of %q", reviews.ErrNotFound, key.ID, key.Source)
}
