package assetstore

// Library names an asset library of a network. The library whose ID equals the network's always
// exists. Another one exists once a moderator of the network has written to it. A network may have
// any number of libraries, which share nothing.
type Library struct {
	Network string // the network's name, which is the third segment of its URN
	ID      string
}

// State is the row of a library itself. The Service takes the ordinals of new assets and the key of
// their ids from it. A library to which nothing was written yet has the zero State.
//
// Every request that changes something in a library also stores the library's State. So a driver
// gains nothing by running two updates of one library at the same time.
type State struct {
	Key   Key   // random; encrypts the ids and cursors of the library's assets
	Last  int64 // the highest ordinal so far; ordinals start at 1 and are never reused
	At    int64 // when Last was assigned, in milliseconds since the epoch; it never decreases
	Count int64 // assets in the library
	Tree  int64 // a random number that changes with every change of a folder or a permission, so that caches recognize a tree
}

// Key is an AES-128 key. The zero Key means that the library has none yet.
type Key [16]byte
