package feed

import (
	"context"
	"fmt"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/paging"
	"github.com/vitrine-go/vitrine/storage"
)

// Page returns a page of a feed: what item returns for the entries after a cursor, from the oldest stored one if after
// is "", and for none if after is vitrine.Now. item also returns about how many bytes of JSON its item has; 0 leaves
// the entry out. cursor returns the cursor of the entry; it is a function, since computing a cursor takes time, and an
// entry that is left out needs none. name tells the feeds of a store apart.
//
// The page ends at limit items, before the entry that would bring it above this number of bytes, but never before its
// first item, or when MaxWalked entries were read. Next is the cursor of the last entry that was read, or where the
// page began if there is none. The errors of Page are those of Seal.Open, of the store, and of item.
func Page[T any](
	ctx context.Context, r storage.Reader, f Feed, name, after string, limit, bytes int,
	item func(e Entry, cursor func() string) (T, int, error),
) (none vitrine.ChangesPage[T], err error) {
	state, err := f.State(ctx, r)
	if err != nil {
		return none, err
	}
	seal, at := NewSeal(state, name), state.Removed
	out := vitrine.ChangesPage[T]{Changes: []T{}}
	switch after {
	case "":
	case vitrine.Now:
		out.Next = seal.Close(state.Last)
		return out, nil
	default:
		if at, err = seal.Open(after); err == nil && at > state.Last {
			err = ErrGone // its entry was lost, for instance in a failover
		}
		if err != nil {
			return none, err
		}
	}
	room, walked := paging.NewRoom(limit, bytes), 0
	for e, err := range f.Entries(ctx, r, at, MaxWalked+1) {
		if err != nil {
			return none, err
		}
		if out.More = room.Full() || walked == MaxWalked; out.More {
			break
		}
		made, size, err := item(e, func() string { return seal.Close(e.Position) })
		if err != nil {
			return none, fmt.Errorf("at %v: %w", e.Position, err)
		}
		if size > 0 {
			if out.More = !room.Takes(size); out.More {
				break
			}
			out.Changes = append(out.Changes, made)
		}
		at, walked = e.Position, walked+1
	}
	out.Next = seal.Close(at)
	return out, nil
}
