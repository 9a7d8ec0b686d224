package index

import (
	"context"
	"testing"
)

// Small makes pages, segments and folds small for a test, so that a few records meet all that many do.
func Small(t *testing.T) {
	a, b, c, d, e, f := foldAt, fanout, sliceAt, slicePages, recentBytes, pageLimit
	t.Cleanup(func() { foldAt, fanout, sliceAt, slicePages, recentBytes, pageLimit = a, b, c, d, e, f })
	foldAt, fanout, sliceAt, slicePages, recentBytes, pageLimit = 200, 3, 10, 2, 150, 400
}

// FoldAt sets for a test how many changes there are when a fold begins.
func FoldAt(t *testing.T, n int) {
	before := foldAt
	t.Cleanup(func() { foldAt = before })
	foldAt = n
}

// SetList returns a page with another list for a term, nil for none.
func SetList(page []byte, term string, value []byte) (out []byte) {
	var last []byte
	add := func(t string, v []byte) {
		if v != nil {
			out = appendEntry(out, last, []byte(t), v)
			last = []byte(t)
		}
	}
	c, done := cursor{rest: page}, false
	for c.next(); c.ok; c.next() {
		if !done && string(c.term) >= term {
			add(term, value)
			done = true
		}
		if string(c.term) != term {
			add(string(c.term), c.changes)
		}
	}
	if !done {
		add(term, value)
	}
	return out
}

// Fold folds everything at once.
func (w *Writer) Fold(ctx context.Context) error {
	for _, begin := range []bool{false, true} {
		for more := true; more; begin = false {
			var err error
			if more, err = w.FoldSome(ctx, begin); err != nil {
				return err
			}
		}
	}
	return nil
}
