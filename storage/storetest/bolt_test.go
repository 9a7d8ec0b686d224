package storetest_test

import (
	"bytes"
	"context"
	"iter"
	"path/filepath"
	"slices"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/storetest"
)

// boltStore is the shortest driver there is: bbolt has one writer at a time and snapshots, and keeps keys in order.
type boltStore struct {
	storage.Bells
	db     *bolt.DB
	writer chan struct{} // has a token while nobody writes
}

var bucket = []byte("kv")

func openBolt(t testing.TB, path string) storage.Store {
	// A map of this size need not grow, for which an update would wait for Views.
	db, err := bolt.Open(path, 0o600, &bolt.Options{InitialMmapSize: 1 << 30})
	if err == nil {
		err = db.Update(func(t *bolt.Tx) error {
			_, err := t.CreateBucketIfNotExists(bucket)
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &boltStore{db: db, writer: make(chan struct{}, 1)}
	s.writer <- struct{}{}
	checked := storage.Checked(s)
	t.Cleanup(func() { checked.Close() })
	return opened{checked, path}
}

// opened is a checked store, and where it is.
type opened struct {
	storage.Store
	path string
}

func (s *boltStore) View(_ context.Context, fn func(storage.Reader) error) error {
	return s.db.View(func(t *bolt.Tx) error { return fn(boltTx{t.Bucket(bucket)}) })
}

func (s *boltStore) Update(
	ctx context.Context, space string, _ storage.UpdateOptions, fn func(storage.Tx) error,
) error {
	select {
	case <-s.writer:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { s.writer <- struct{}{} }()
	defer s.Ring(space)
	return s.db.Update(func(t *bolt.Tx) error { return fn(boltTx{t.Bucket(bucket)}) })
}

func (s *boltStore) Close() error {
	s.Bells.Close()
	return s.db.Close()
}

type boltTx struct{ b *bolt.Bucket }

func (t boltTx) Get(_ context.Context, keys ...string) ([][]byte, error) {
	values := make([][]byte, len(keys))
	for i, key := range keys {
		if v := t.b.Get([]byte(key)); v != nil {
			values[i] = append([]byte{}, v...) // bbolt's own is good until the transaction ends
		}
	}
	return values, nil
}

func (t boltTx) Scan(_ context.Context, ranges ...storage.Range) iter.Seq2[storage.Entry, error] {
	return storage.Merge(ranges, t.scan)
}

// scan looks for each entry anew, since writes move what a cursor points to. Backwards it reads the range first: Prev
// stops at a page that a transaction has emptied.
func (t boltTx) scan(in storage.Range) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		if in.Reverse {
			limit := in.Limit
			in.Reverse, in.Limit = false, 0
			var all []storage.Entry
			for e := range t.scan(in) {
				all = append(all, e)
			}
			for i, e := range slices.Backward(all) {
				if !yield(e, nil) || len(all)-i == limit {
					return
				}
			}
			return
		}
		at := []byte(in.From)
		for n := 0; in.Limit == 0 || n < in.Limit; n++ {
			key, value := t.b.Cursor().Seek(at)
			if key == nil || in.To != "" && string(key) >= in.To ||
				!yield(storage.Entry{Key: string(key), Value: bytes.Clone(value)}, nil) {
				return
			}
			at = append(bytes.Clone(key), 0)
		}
	}
}

func (t boltTx) Estimate(_ context.Context, in storage.Range) (n int, err error) {
	for range t.scan(in) {
		n++
	}
	return n, nil
}

func (t boltTx) Spaces(_ context.Context, prefix string) iter.Seq2[string, error] {
	return storage.Spaces(prefix, t.scan)
}

func (t boltTx) Put(_ context.Context, entries ...storage.Entry) error {
	for _, e := range entries {
		if err := t.b.Put([]byte(e.Key), bytes.Clone(e.Value)); err != nil {
			return err
		}
	}
	return nil
}

func (t boltTx) Delete(_ context.Context, keys ...string) error {
	for _, key := range keys {
		if err := t.b.Delete([]byte(key)); err != nil {
			return err
		}
	}
	return nil
}

func (t boltTx) DeleteRange(ctx context.Context, r storage.Range) error {
	for e := range t.scan(r) {
		if err := t.Delete(ctx, e.Key); err != nil {
			return err
		}
	}
	return nil
}

// A driver is written against package storage alone.
func TestBolt(t *testing.T) {
	storetest.Run(t, storetest.Driver{
		Open: func(t testing.TB) storage.Store { return openBolt(t, filepath.Join(t.TempDir(), "kv.db")) },
		Again: func(t testing.TB, closed storage.Store) storage.Store {
			return openBolt(t, closed.(opened).path)
		},
	})
}
