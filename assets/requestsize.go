package assets

// listSize is how many items a list of a request has. at is the pointer to it.
type listSize struct {
	at    string
	items int
}

// size is how much a request for a change sends.
type size struct {
	lists []listSize
	limit int // of the items of the lists together
	more  int // what else the request has to store: permissions of new folders, attributes
	bytes int // of content
}

// items is how many items the lists have together.
func (s size) items() (n int) {
	for _, l := range s.lists {
		n += l.items
	}
	return n
}

// check returns ErrInvalid if the lists have more items together than the limit. The error points to
// the list with the first item that is too many.
func (s size) check() error {
	before := 0
	for _, l := range s.lists {
		if before += l.items; before > s.limit {
			return invalid(l.at, "the request has %d items, at most %d are allowed: send it in parts", s.items(), s.limit)
		}
	}
	return nil
}

// heavy reports whether other changes have to wait for this one for so long that its caller may make
// only one such change at a time; see turns.
func (s size) heavy() bool { return s.items()+s.more > 256 || s.bytes > 1<<20 }
