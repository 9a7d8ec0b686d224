package index

import (
	"context"
	"slices"

	"github.com/vitrine-go/vitrine/storage"
)

// backCursor goes through the entries of a segment from the last one to the first.
type backCursor struct {
	s       segment
	from    string    // the first term that counts
	block   int       // how many blocks were not read yet: those before
	entries []posting // those of a block that are left, ascending
	err     error
}

// seekBack returns a cursor at the last term below to.
func (s segment) seekBack(from, to string) (c backCursor) {
	c = backCursor{s: s, from: from}
	if c.block, c.err = s.blockOf(to); c.err != nil {
		return c
	}
	c.block++
	if c.read(to); len(c.entries) == 0 { // the block begins with to
		c.read(to)
	}
	return c
}

// read reads the block before, with the entries that count and are below to.
func (c *backCursor) read(to string) {
	n, from, err := c.s.blocks()
	if c.err = err; err != nil || n == 0 || c.block == 0 {
		return
	}
	c.block--
	b := from(c.block)
	if c.block+1 < n {
		b = b[:max(len(b)-len(from(c.block+1)), 0)]
	}
	c.entries, c.err = postings(b, Span{From: c.from, To: to})
}

// last returns the entry at which the cursor stands, nil if there are no more.
func (c *backCursor) last() *posting {
	if n := len(c.entries); n > 0 {
		return &c.entries[n-1]
	}
	return nil
}

// next goes to the entry before.
func (c *backCursor) next() {
	c.entries = c.entries[:len(c.entries)-1]
	if len(c.entries) == 0 {
		c.read("\xff")
	}
}

// postings returns the entries that have terms of a span. The first one has its whole term.
func postings(b []byte, in Span) (list []posting, err error) {
	c := cursor{rest: b}
	for c.next(); c.ok; c.next() {
		if string(c.term) >= in.From && string(c.term) < in.To {
			list = append(list, posting{string(c.term), c.changes})
		}
	}
	return list, c.err
}

// walkBack is walk from the last term of the span to the first.
func (r *Reader) walkBack(ctx context.Context, in Span, fn func(term string, parts, changes [][]byte) bool) error {
	cursors := make([]backCursor, len(r.all))
	for i, s := range r.all {
		cursors[i] = s.seekBack(r.firstIn(i, in), in.To)
	}
	damage := func() error {
		i := slices.IndexFunc(cursors, func(c backCursor) bool { return c.err != nil })
		if i < 0 {
			return nil
		}
		return cursors[i].err
	}
	// changesOf takes the changes of the last term in the segments that is not below one, with that term. There may be none.
	changesOf := func(least string) (term string, changes [][]byte) {
		for i := range cursors {
			if e := cursors[i].last(); e != nil && e.term >= max(least, term) {
				term = e.term
			}
		}
		for i := range cursors {
			if e := cursors[i].last(); e != nil && e.term == term && term >= least {
				changes = append(changes, e.value)
				cursors[i].next()
			}
		}
		return term, changes
	}
	// upTo calls fn with the terms from one on, which has these parts, that are left.
	upTo := func(term string, parts [][]byte) bool {
		for {
			at, changes := changesOf(term)
			switch {
			case changes != nil && (at != term || parts == nil):
				if !fn(at, nil, changes) {
					return false
				}
			case parts != nil:
				return fn(term, parts, changes)
			default:
				return true
			}
		}
	}
	if r.state.folded {
		term, parts := "", [][]byte(nil) // of the list that has begun
		for e, err := range r.r.Scan(ctx, storage.Range{From: r.pages(), To: r.pageKey(place{term: in.To}), Reverse: true}) {
			if err != nil {
				return err
			}
			list, err := postings(e.Value, Span{To: in.To})
			if err != nil {
				return err
			}
			for _, p := range slices.Backward(list) {
				switch {
				case parts != nil && p.term == term:
					parts = slices.Insert(parts, 0, p.value)
					continue
				case parts != nil && !upTo(term, parts):
					return damage()
				}
				if parts = nil; p.term < in.From {
					break
				}
				term, parts = p.term, [][]byte{p.value}
			}
			if len(list) > 0 && list[0].term < in.From {
				break
			}
		}
		if parts != nil && !upTo(term, parts) {
			return damage()
		}
	}
	upTo(in.From, nil)
	return damage()
}
