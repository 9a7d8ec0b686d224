package index

import (
	"context"
	"slices"

	"github.com/vitrine-go/vitrine/storage"
)

// A page is a list of entries in the format of a segment, with one posting list per term. A term has at most one entry
// in a page. It has the ordinals from the beginning of the page up to the beginning of the next page.

var pageLimit = 4000 // the maximum size of a page in bytes; tests change it

// fold is one slice of a fold: a bounded number of changes that are moved from segments into pages.
type fold struct {
	*Writer
	m           merger   // of the segments that are being folded
	term        string   // the term of the next changes
	changes     []change // the remaining changes of term; empty at the end
	begun       bool     // some changes of term were folded
	pages, most int      // how many pages and changes the slice may still fold
	puts        []storage.Entry
	deletes     []string
}

// fold folds changes into pages until it reaches one of the two limits. It always completes a term that it has begun.
func (w *Writer) fold(ctx context.Context, pages, changes int) error {
	if err := w.loadSegments(ctx); err != nil {
		return err
	}
	w.state.folded = true
	f := fold{Writer: w, pages: pages, most: changes}
	for _, s := range w.stored[:w.state.folding] {
		f.m.cursors = append(f.m.cursors, s.seek(w.state.at))
	}
	for f.next(); f.more(); {
		if err := f.run(ctx); err != nil {
			return err
		}
	}
	if err := damage(f.m.cursors); err != nil {
		return err
	}
	if len(f.deletes) > 0 {
		if err := w.tx.Delete(ctx, f.deletes...); err != nil {
			return err
		}
	}
	if len(f.puts) > 0 {
		if err := w.tx.Put(ctx, f.puts...); err != nil {
			return err
		}
	}
	if len(f.changes) > 0 {
		w.state.at = f.term
		return nil
	}
	if err := w.drop(ctx, w.state.segments[:w.state.folding]); err != nil {
		return err
	}
	w.state.segments = slices.Clone(w.state.segments[w.state.folding:])
	w.stored, w.state.folding, w.state.at, w.state.owed = nil, 0, "", 0
	return nil
}

// next advances to the next term that has changes.
func (f *fold) next() {
	f.changes, f.begun = nil, false
	for len(f.changes) == 0 {
		if f.m.next(); !f.m.ok {
			return
		}
		f.changes = together(f.m.changes)
	}
	f.term = string(f.m.term)
}

// more reports whether the slice continues.
func (f *fold) more() bool {
	return len(f.changes) > 0 && (f.begun || f.pages > 0 && f.most > 0)
}

// here returns the place of the next change.
func (f *fold) here() place { return place{f.term, f.changes[0].ordinal} }

const (
	// atOnce is the number of pages that one scan reads.
	atOnce = 64
	// farAway is the number of unchanged pages after which run stops scanning; the next page is then looked up by key.
	farAway = 8
)

// run folds changes into the page of the next change and into the pages that follow it, until the next change is too
// far away.
func (f *fold) run(ctx context.Context) error {
	page := storage.Entry{Key: f.pageKey(place{term: f.term})} // used if no page begins early enough
	for e, err := range f.r.Scan(ctx, f.pageWith(f.here())) {
		if err != nil {
			return err
		}
		page = e
	}
	idle, read := 0, 0
	for e, err := range f.r.Scan(ctx,
		storage.Range{From: page.Key + "\x00", To: storage.Prefix(f.Index.pages()).To, Limit: atOnce}) {
		if err != nil {
			return err
		}
		end, err := f.placeOf(e.Key)
		if err != nil {
			return err
		}
		if idle++; f.here().before(end) {
			if err := f.rewrite(page, &end); err != nil {
				return err
			}
			idle = 0
		}
		if read++; !f.more() || idle > farAway || read == atOnce {
			return nil
		}
		page = e
	}
	return f.rewrite(page, nil)
}

// posting is the posting list of a term in a page.
type posting struct {
	term  string
	value []byte
}

// rewrite applies the changes before end to a page, or all changes if end is nil. The page may be absent.
func (f *fold) rewrite(page storage.Entry, end *place) error {
	var list []posting
	c := cursor{rest: page.Value}
	c.next()
	keep := func() { list = append(list, posting{string(c.term), c.changes}); c.next() }
	for f.more() && (end == nil || f.here().before(*end)) {
		for c.ok && string(c.term) < f.term {
			keep()
		}
		var have []int64
		if c.ok && string(c.term) == f.term {
			have = ordinals(c.changes)
			c.next()
		}
		n := len(f.changes)
		if end != nil && end.term == f.term {
			n, _ = slices.BinarySearchFunc(f.changes, end.ordinal, func(c change, o int64) int {
				return int(min(max(c.ordinal-o, -1), 1))
			})
		}
		if have = changed(have, f.changes[:n]); len(have) > 0 {
			list = append(list, posting{f.term, appendList(nil, have)})
		}
		f.most -= n
		if f.changes, f.begun = f.changes[n:], true; len(f.changes) == 0 {
			f.next()
		}
	}
	for c.ok {
		keep()
	}
	if c.err != nil {
		return c.err
	}
	f.pages--
	return f.put(page, list)
}

// put replaces a page by as many pages as its lists need.
func (f *fold) put(page storage.Entry, list []posting) error {
	at, err := f.placeOf(page.Key)
	if err != nil {
		return err
	}
	const overhead = 4 // bytes of an entry besides its term and its value
	size := 0          // total size of the lists that fit into one page
	for _, l := range list {
		if n := len(l.term) + len(l.value) + overhead; n <= pageLimit {
			size += n
		}
	}
	limit := pageLimit
	if n := (size + pageLimit - 1) / pageLimit; n > 1 { // make the pages equally large
		limit = min(size/n+pageLimit/16, pageLimit)
	}
	var key string
	var value, last []byte
	replaced := false
	begin := func(p place) {
		if len(value) > 0 {
			f.puts = append(f.puts, storage.Entry{Key: key, Value: value})
			replaced = replaced || key == page.Key
		}
		key, value, last = f.pageKey(p), nil, nil
	}
	for i, l := range list {
		p := place{term: l.term}
		if i == 0 && l.term == at.term {
			p = at
		}
		whole := true
		for len(l.term)+len(l.value)+overhead > pageLimit { // split a list that is longer than a page
			all := ordinals(l.value)
			n := fits(all, pageLimit-len(l.term)-overhead)
			begin(p)
			value = appendEntry(nil, nil, []byte(l.term), appendList(nil, all[:n]))
			l.value, p, whole = appendList(nil, all[n:]), place{l.term, all[n]}, false
		}
		if !whole || len(value) == 0 || len(value)+len(l.term)+len(l.value)+overhead > limit {
			begin(p)
		}
		value = appendEntry(value, last, []byte(l.term), l.value)
		last = []byte(l.term)
	}
	begin(place{})
	if !replaced && page.Value != nil {
		f.deletes = append(f.deletes, page.Key)
	}
	return nil
}
