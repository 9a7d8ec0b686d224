// Package feed has the feeds of changes, which the domains share: their records ([Feed]), cursors ([Seal]) and pages
// ([Page]), and how a follower waits for more ([Follow]).
//
// A change and its entry are written in one transaction. Entries have positions: the changes of one object are in the
// order of their commits. A reader continues after the last position that it has read, and no entry is added at or
// before that position.
package feed

// Position is the number of an entry in a feed, from 1 on.
type Position int64

// Entry is a change in a feed.
type Entry struct {
	Position Position
	At       int64    // milliseconds since the epoch
	Names    []string // strings that occur in many entries, so that each is stored once; none has a U+0000
	Data     []byte   // the rest
}

// State is the state of a feed.
type State struct {
	Key      []byte // random, generated with the store; a copy of the store has it too
	Identity []byte // random; a copy of the store has another one
	// Removed is the position of the last entry that was removed.
	Removed Position
	// Last is the position of the last entry that Feed.Entries yields, or Removed if there is none.
	Last Position
}
