package feed

import (
	"context"
	"errors"
	"iter"
)

// Now is the cursor that stands for the end of a feed.
const Now = "now"

// ErrFull is returned by the function take of Walk if an entry does not fit on the page any more. The entry is the first one of the next
// page.
var ErrFull = errors.New("the page is full")

// Walk reads one page of a feed. It calls take with the entries after a cursor, from the oldest stored one if after is "", and with none
// if after is Now. take adds an entry to the page, or skips it. It returns full if the page is full with this entry, and ErrFull if it
// is full without it. The page ends then, or when looks entries were read. cursor returns the cursor of the entry; it is a function,
// since computing a cursor takes time and skipped entries need none.
//
// Walk returns the cursor of the last entry that take has added or skipped, or where it began if there is none, and whether there are
// entries after it. Its errors are those of Seal.Open, of entries, and of take.
func Walk(seal *Seal, state State, after string, looks int, entries func(after Position, limit int) iter.Seq2[Entry, error],
	take func(e Entry, cursor func() string) (full bool, err error)) (next string, more bool, err error) {
	at := state.Removed
	switch after {
	case "":
	case Now:
		return seal.Close(state.Last), false, nil
	default:
		if at, err = seal.Open(after); err != nil {
			return "", false, err
		}
	}
	full, seen := false, 0
	for e, err := range entries(at, looks+1) {
		if err != nil {
			return "", false, err
		}
		if more = full || seen == looks; more {
			break
		}
		full, err = take(e, func() string { return seal.Close(e.Position) })
		if errors.Is(err, ErrFull) {
			more = true
			break
		}
		if err != nil {
			return "", false, err
		}
		at, seen = e.Position, seen+1
	}
	return seal.Close(at), more, nil
}

// Follow yields the items of page after page, from a cursor on. When there are no more it waits until the channel of changed is closed.
// It calls changed before each page, so that no change between the page and the wait is missed. changed also returns the cursor to read
// from, which is its argument or a later one. Follow ends with the error of page, or with that of ctx.
func Follow[T any](ctx context.Context, after string, changed func(after string) (from string, wake <-chan struct{}), page func(after string) (items []T, next string, more bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for at := after; ; {
			from, wake := changed(at)
			items, next, more, err := page(from)
			if err != nil {
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			at = next
			if more {
				continue
			}
			select {
			case <-wake:
			case <-ctx.Done():
				yield(none, ctx.Err())
				return
			}
		}
	}
}
