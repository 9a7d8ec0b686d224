package storage

import (
	"context"
	"iter"
)

// Sub returns a Tx over the keys that begin with prefix. It adds the prefix to the keys and ranges of its callers,
// which are any bytes, and cuts it from results. The prefix begins with a space of the store and its blank. Spaces
// yields nothing.
func Sub(t Tx, prefix string) Tx { return sub{t, prefix} }

// Unwrap returns the Tx of the driver that t leads to: Checked, Sub and others put a Tx around it, which has a method
// Unwrap. It is for functions of drivers, such as SQL of package sqlite.
func Unwrap(t Tx) Tx {
	for {
		outer, ok := t.(interface{ Unwrap() Tx })
		if !ok {
			return t
		}
		t = outer.Unwrap()
	}
}

func (s sub) Unwrap() Tx { return s.t }

type sub struct {
	t      Tx
	prefix string
}

func (s sub) keys(keys []string) []string {
	whole := make([]string, len(keys))
	for i, key := range keys {
		whole[i] = s.prefix + key
	}
	return whole
}

func (s sub) within(r Range) Range {
	r.From = s.prefix + r.From
	r.Skip += len(s.prefix)
	if r.To == "" {
		r.To = after(s.prefix)
	} else {
		r.To = s.prefix + r.To
	}
	return r
}

func (s sub) Get(ctx context.Context, keys ...string) ([][]byte, error) {
	return s.t.Get(ctx, s.keys(keys)...)
}

func (s sub) Scan(ctx context.Context, ranges ...Range) iter.Seq2[Entry, error] {
	whole := make([]Range, len(ranges))
	for i, r := range ranges {
		whole[i] = s.within(r)
	}
	return func(yield func(Entry, error) bool) {
		for e, err := range s.t.Scan(ctx, whole...) {
			if err == nil {
				e.Key = e.Key[len(s.prefix):]
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (s sub) Estimate(ctx context.Context, r Range) (int, error) {
	return s.t.Estimate(ctx, s.within(r))
}

func (s sub) Spaces(context.Context, string) iter.Seq2[string, error] {
	return func(func(string, error) bool) {}
}

func (s sub) Put(ctx context.Context, entries ...Entry) error {
	whole := make([]Entry, len(entries))
	for i, e := range entries {
		whole[i] = Entry{s.prefix + e.Key, e.Value}
	}
	return s.t.Put(ctx, whole...)
}

func (s sub) Delete(ctx context.Context, keys ...string) error {
	return s.t.Delete(ctx, s.keys(keys)...)
}

func (s sub) DeleteRange(ctx context.Context, r Range) error {
	whole := s.within(r)
	whole.Skip = r.Skip
	return s.t.DeleteRange(ctx, whole)
}
