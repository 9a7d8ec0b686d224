// Package history encodes all versions of an app in little more space than the changes between versions take.
//
// A history is three things:
//
//   - the latest version, which the store keeps in full and reads without this package;
//   - its tail, at most some 2 KB in most apps, stored beside the latest version and replaced with it, nil at first;
//   - rows, each stored under the number of a version, added now and then (once in some sixty one-field edits) and
//     never changed again.
//
// [Append] takes the tail, the latest version and the next one. It returns the row to add, if any, and the new tail. It
// reads both bodies once, and no row, so its cost does not depend on the length of the history.
//
// [Read] and [List] make older versions from the tail and from rows. They are given the rows of the wanted version and
// of those below it, newest first, take rows until they meet a snapshot, and List goes on from there if it needs more
// versions. Tail and rows must be read in one snapshot of the store.
//
// # How it works
//
// A chain is a compressed snapshot of one version and up to 128 steps, which lead to the versions after it. Each step
// is an edit of the version before: the ranges of it to copy, and the bytes to put between them. The tail has the
// latest steps. When it is large enough for a row, it is stored as a row, and a new tail begins. A chain ends when its
// steps take 2 KiB more than its snapshot, or 1 MiB if that is less. Then the tail is empty, and the next version that
// is added makes a snapshot of the one before. So an app that was never changed has no rows.
//
// Reading an old version applies the steps to the snapshot one by one. Every version has a checksum over its body,
// number, time and editor. So if stored bytes are damaged or mixed up, the result is an error, [ErrCorrupt], and not a
// wrong version. A body may be any bytes.
package history
