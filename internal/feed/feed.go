// Package feed has what the feeds of changes of the domains share: the rows that drivers keep, and the cursors that
// readers hold.
//
// A change and its entry are written in one transaction. Entries have positions, in an order in which the
// changes of one thing stand as they were committed. A reader goes on after the position that it has reached, and
// no entry appears later at or before a position that was read.
package feed

import "cmp"

// Position is where an entry stands in a feed: by Round, and then by Number. The zero Position is before the first
// entry. A driver that commits one update at a time leaves Round 0.
type Position struct{ Round, Number int64 }

// Compare is negative when p comes before o.
func (p Position) Compare(o Position) int {
	return cmp.Or(cmp.Compare(p.Round, o.Round), cmp.Compare(p.Number, o.Number))
}

// Entry is a change in a feed, as a driver stores it.
type Entry struct {
	Position Position // given by the driver
	At       int64    // milliseconds since the epoch
	Names    []string // strings that many entries have alike, so a driver may store each once; none has a U+0000
	Data     []byte   // the rest; opaque to a driver
}

// State is what a driver knows about a feed as a whole.
type State struct {
	Key      []byte // random, made with the store; a copy of the store has it too
	Identity []byte // random; a copy of the store has another one
	// Removed is the position of the last entry that was removed.
	Removed Position
	// Last is the position of the last entry that a Reader yields, or Removed if there is none.
	Last Position
}
