package record

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine/storage"
)

// Reader is a Reader of a store that can read ahead: a function that knows which keys it is going to ask for names them all at once,
// and then reads them one by one without another trip to where the data is.
type Reader struct {
	storage.Reader
	known map[string][]byte // nil for keys that are not there
}

// Ahead reads the values of keys that are not known yet, in one trip.
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

// Get returns what was read ahead without another trip, and reads the other keys in one.
func (r *Reader) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	if len(r.known) == 0 {
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
	return values, nil
}

// View calls fn with a Reader of one snapshot, as the View of a store does.
func View(ctx context.Context, s storage.Store, fn func(*Reader) error) error {
	return s.View(ctx, func(r storage.Reader) error { return fn(&Reader{Reader: r}) })
}

// Tx is a Tx of a store that takes as few trips as it can: it reads no key twice, and writes all at once when its function has
// returned, or before it reads a range.
type Tx struct {
	Reader
	tx        storage.Tx
	written   []string // keys whose known values are not in the store yet
	unwritten map[string]bool
	committed []func()
}

// Update calls fn with a Tx, as the Update of a store does.
func Update(ctx context.Context, s storage.Store, space string, o storage.UpdateOptions, fn func(*Tx) error) error {
	var last *Tx
	err := s.Update(ctx, space, o, func(inner storage.Tx) error {
		last = &Tx{Reader: Reader{Reader: inner, known: map[string][]byte{}}, tx: inner, unwritten: map[string]bool{}}
		if err := fn(last); err != nil {
			return err
		}
		return last.flush(ctx)
	})
	if err == nil {
		for _, fn := range last.committed {
			fn()
		}
	}
	return err
}

// Committed calls fn when the transaction has been committed. Until then nothing that it has read or written may go into a cache that
// others use.
func (t *Tx) Committed(fn func()) { t.committed = append(t.committed, fn) }

// Get reads no key twice.
func (t *Tx) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	if err := t.Ahead(ctx, keys...); err != nil {
		return nil, err
	}
	return t.Reader.Get(ctx, keys...)
}

// Scan writes what was not written yet, when the loop begins.
func (t *Tx) Scan(ctx context.Context, ranges ...storage.Range) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		if err := t.flush(ctx); err != nil {
			yield(storage.Entry{}, err)
			return
		}
		t.tx.Scan(ctx, ranges...)(yield)
	}
}

// Estimate counts what was written too.
func (t *Tx) Estimate(ctx context.Context, r storage.Range) (int, error) {
	if err := t.flush(ctx); err != nil {
		return 0, err
	}
	return t.tx.Estimate(ctx, r)
}

// Put writes entries later.
func (t *Tx) Put(_ context.Context, entries ...storage.Entry) error {
	for _, e := range entries {
		if e.Value == nil {
			e.Value = []byte{}
		}
		t.write(e.Key, e.Value)
	}
	return nil
}

// Delete deletes entries later.
func (t *Tx) Delete(_ context.Context, keys ...string) error {
	for _, key := range keys {
		t.write(key, nil)
	}
	return nil
}

func (t *Tx) write(key string, value []byte) {
	if t.known[key] = value; !t.unwritten[key] {
		t.unwritten[key] = true
		t.written = append(t.written, key)
	}
}

// DeleteRange deletes the entries of a range.
func (t *Tx) DeleteRange(ctx context.Context, r storage.Range) error {
	if err := t.flush(ctx); err != nil {
		return err
	}
	for key := range t.known {
		if key >= r.From && (r.To == "" || key < r.To) {
			delete(t.known, key)
		}
	}
	return t.tx.DeleteRange(ctx, r)
}

// flush writes what was not written yet.
func (t *Tx) flush(ctx context.Context) error {
	if len(t.written) == 0 {
		return nil
	}
	var puts []storage.Entry
	var deleted []string
	for _, key := range t.written {
		if value := t.known[key]; value != nil {
			puts = append(puts, storage.Entry{Key: key, Value: value})
		} else {
			deleted = append(deleted, key)
		}
	}
	t.written = t.written[:0]
	clear(t.unwritten)
	if len(deleted) > 0 {
		if err := t.tx.Delete(ctx, deleted...); err != nil {
			return err
		}
	}
	if len(puts) == 0 {
		return nil
	}
	return t.tx.Put(ctx, puts...)
}
