package index

import (
	"context"
	"slices"

	"github.com/vitrine-go/vitrine/storage"
)

// A page is a list of entries as a segment has them, with the list of a term each. A term has at most one entry in a page: the ordinals
// from the place on at which the page begins, up to that at which the next one does.

var pageLimit = 4000 // how many bytes a page has at most; tests change it

// fold is a slice of a fold.
type fold struct {
	*Writer
	m           merger   // of the segments that are folded
	term        string   // the term whose changes are next
	changes     []change // those that are left of it, none at the end
	begun       bool     // some of it were folded
	pages, most int      // how many pages, and how many changes, the slice may still fold
	puts        []storage.Entry
	deletes     []string
}

// fold folds changes into pages, until there are so many pages or changes, but always all changes of a term.
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

// next goes to the next term that has changes.
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

// more reports whether the slice goes on.
func (f *fold) more() bool {
	return len(f.changes) > 0 && (f.begun || f.pages > 0 && f.most > 0)
}

// here is the place of the next change.
func (f *fold) here() place { return place{f.term, f.changes[0].ordinal} }

const (
	// atOnce is how many pages are read at once.
	atOnce = 64
	// farAway is after how many pages without changes the next one with a change is looked up.
	farAway = 8
)

// run folds into the page to which the next change belongs, and into those after it, as long as they are not far from each other.
func (f *fold) run(ctx context.Context) error {
	page := storage.Entry{Key: f.pageKey(place{term: f.term})} // if there is none that begins so early
	for e, err := range f.r.Scan(ctx, f.pageWith(f.here())) {
		if err != nil {
			return err
		}
		page = e
	}
	idle, read := 0, 0
	for e, err := range f.r.Scan(ctx, storage.Range{From: page.Key + "\x00", To: storage.Prefix(f.Index.pages()).To, Limit: atOnce}) {
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

// posting is an entry of a page.
type posting struct {
	term  string
	value []byte
}

// rewrite applies the changes before a place, nil for all, to a page. The page may be absent.
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
			n, _ = slices.BinarySearchFunc(f.changes, end.ordinal, func(c change, o int64) int { return int(min(max(c.ordinal-o, -1), 1)) })
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

// put replaces a page by as many as its lists need.
func (f *fold) put(page storage.Entry, list []posting) error {
	at, err := f.placeOf(page.Key)
	if err != nil {
		return err
	}
	const overhead = 4 // of an entry
	size := 0          // of the lists that fit into a page
	for _, l := range list {
		if n := len(l.term) + len(l.value) + overhead; n <= pageLimit {
			size += n
		}
	}
	limit := pageLimit
	if n := (size + pageLimit - 1) / pageLimit; n > 1 { // pages of the same size
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
		for len(l.term)+len(l.value)+overhead > pageLimit { // a long list
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
