package memory

import (
	"bytes"
	"context"
	"crypto/rand"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/vitrine-go/vitrine/internal/feed"
)

// origin has the key and the identity of the store's feeds of changes. It is not part of a state: ResetFeed replaces the
// identity for Views that are open too.
type origin struct{ key, identity []byte }

func newOrigin() *origin { return &origin{randomBytes(), randomBytes()} }

func randomBytes() []byte {
	b := make([]byte, 32)
	rand.Read(b)
	return b
}

// changes is one state of a feed of changes. list has the entries that were not removed. The first entry that was ever
// added has position 1, and each later one the next number. removed is kept when the list becomes empty, so a position is
// never assigned twice. Updates run one after another, so no entry with a lower position can appear later, and Entries has
// none to leave out.
type changes struct {
	origin  *atomic.Pointer[origin]
	removed int64 // the number of entries that were removed
	list    []feed.Entry
}

func (c *changes) state() feed.State {
	o := c.origin.Load()
	return feed.State{
		Key: bytes.Clone(o.key), Identity: bytes.Clone(o.identity),
		Removed: feed.Position{Number: c.removed}, Last: feed.Position{Number: c.removed + int64(len(c.list))},
	}
}

// add appends to the list. Older states share the array, but read only up to their own length; only one state is
// built at a time.
func (c *changes) add(e feed.Entry) {
	e.Position = feed.Position{Number: c.removed + int64(len(c.list)) + 1}
	e.Names, e.Data = slices.Clone(e.Names), bytes.Clone(e.Data)
	c.list = append(c.list, e)
}

// remove removes entries from the beginning, up to the first that is newer than before, and at most limit of them.
func (c *changes) remove(before int64, limit int) {
	n := 0
	for n < min(limit, len(c.list)) && c.list[n].At <= before {
		n++
	}
	c.removed += int64(n)
	c.list = c.list[n:]
}

// entries yields copies of the entries after a position, at most limit of them.
func (c *changes) entries(ctx context.Context, after feed.Position, limit int) iter.Seq2[feed.Entry, error] {
	return func(yield func(feed.Entry, error) bool) {
		out := limited(ctx, limit, yield)
		for _, e := range c.list[min(max(after.Number-c.removed, 0), int64(len(c.list))):] {
			e.Names, e.Data = slices.Clone(e.Names), bytes.Clone(e.Data)
			if !out(e) {
				return
			}
		}
	}
}
