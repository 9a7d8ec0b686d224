// Package feed has what the feeds of changes of the domains share: their entries, and the cursors that
// readers hold.
//
// A change and its entry are written in one transaction. Entries have positions, in an order in which the
// changes of one thing stand as they were committed. A reader goes on after the position that it has reached, and
// no entry appears later at or before a position that was read.
package feed

// Position is where an entry stands in a feed: they are numbered from 1 on.
type Position int64

// Entry is a change in a feed.
type Entry struct {
	Position Position
	At       int64    // milliseconds since the epoch
	Names    []string // strings that many entries have alike, so that each is stored once; none has a U+0000
	Data     []byte   // the rest
}

// State is what is known about a feed as a whole.
type State struct {
	Key      []byte // random, made with the store; a copy of the store has it too
	Identity []byte // random; a copy of the store has another one
	// Removed is the position of the last entry that was removed.
	Removed Position
	// Last is the position of the last entry that a Reader yields, or Removed if there is none.
	Last Position
}
