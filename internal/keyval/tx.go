package keyval

import (
	"context"

	"github.com/vitrine-go/vitrine/storage"
)

// Reader is a Reader of a store that can read ahead: a function that knows which keys it needs fetches them in one
// round trip, and then reads them one by one without another.
type Reader struct {
	storage.Reader
	known map[string][]byte // nil for absent keys
	keeps bool              // Get adds what it reads to known, so that no key is read twice
}

// Ahead reads the values of keys that are not known yet, in one round trip.
func (r *Reader) Ahead(ctx context.Context, keys ...string) error {
	missing := make([]string, 0, len(keys))
	for _, key := range keys {
		if _, known := r.known[key]; !known {
			missing = append(missing, key)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	values, err := r.Reader.Get(ctx, missing...)
	if err != nil {
		return err
	}
	if r.known == nil {
		r.known = make(map[string][]byte, len(missing))
	}
	for i, key := range missing {
		r.known[key] = values[i]
	}
	return nil
}

// Get returns the values that were read ahead, and reads the other keys in one round trip.
func (r *Reader) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	if len(r.known) == 0 && !r.keeps {
		return r.Reader.Get(ctx, keys...)
	}
	var missing []string
	values := make([][]byte, len(keys))
	for i, key := range keys {
		value, known := r.known[key]
		if values[i] = value; !known {
			missing = append(missing, key)
		}
	}
	if len(missing) == 0 {
		return values, ctx.Err()
	}
	read, err := r.Reader.Get(ctx, missing...)
	if err != nil {
		return nil, err
	}
	for i, key := range keys {
		if _, known := r.known[key]; !known {
			values[i], read = read[0], read[1:]
		}
	}
	for i := 0; r.keeps && i < len(keys); i++ {
		r.known[keys[i]] = values[i]
	}
	return values, nil
}

// Tx is a Tx of a store that reads no key twice. It does not cache its writes, since drivers do that.
type Tx struct {
	Reader
	tx        storage.Tx
	committed []func()
}

// Update calls fn with a Tx, as the Update of a store does.
func Update(ctx context.Context, s storage.Store, space string, o storage.UpdateOptions, fn func(*Tx) error) error {
	var last *Tx
	err := s.Update(ctx, space, o, func(inner storage.Tx) error {
		last = &Tx{Reader: Reader{Reader: inner, known: map[string][]byte{}, keeps: true}, tx: inner}
		return fn(last)
	})
	if err == nil {
		for _, fn := range last.committed {
			fn()
		}
	}
	return err
}

// Committed calls fn when the transaction has been committed. Until then nothing that it has read or written may be
// added to a shared cache.
func (t *Tx) Committed(fn func()) { t.committed = append(t.committed, fn) }

// Unwrap returns the Tx of the store.
func (t *Tx) Unwrap() storage.Tx { return t.tx }

// Put, Delete and DeleteRange write to the store, and drop what they change from the values that were read ahead.
func (t *Tx) Put(ctx context.Context, entries ...storage.Entry) error {
	for _, e := range entries {
		delete(t.known, e.Key)
	}
	return t.tx.Put(ctx, entries...)
}

func (t *Tx) Delete(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		delete(t.known, key)
	}
	return t.tx.Delete(ctx, keys...)
}

func (t *Tx) DeleteRange(ctx context.Context, r storage.Range) error {
	for key := range t.known {
		if key >= r.From && (r.To == "" || key < r.To) {
			delete(t.known, key)
		}
	}
	return t.tx.DeleteRange(ctx, r)
}
