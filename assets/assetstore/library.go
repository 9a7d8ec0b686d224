package assetstore

// Library names an asset library of a network. The library whose ID equals the network's always
// exists. Another one exists once a moderator of the network has written to it.
type Library struct {
	Network string
	ID      string
}

// State is the row of a library itself. The Service takes the ordinals of new assets and the key of their ids from it. A
// library to which nothing was written yet has the zero State.
type State struct {
	Key   Key   // random; encrypts the ids and cursors of the library's assets
	Last  int64 // the highest ordinal so far; ordinals start at 1 and are never reused
	At    int64 // when Last was assigned, in milliseconds since the epoch; it never decreases
	Count int64 // assets in the library
	Tree  int64 // random; it changes with every change of a folder or a permission
}

// Key is an AES-128 key.
type Key [16]byte
