// Package history keeps every version of an app in little more space than the
// changes from version to version take, for drivers that store bytes under keys.
//
// A history is three things to a driver:
//
//   - the latest version, stored in full by the driver, which it reads without
//     this package;
//   - its tail, at most some 2 KB in most apps, stored beside the latest version
//     and replaced with it, nil at first;
//   - rows, each stored under the number of a version, added now and then (once
//     in some sixty one-field edits) and never changed again.
//
// [Codec.Append] takes the tail, the latest version and the next one. It returns
// the row to add, if any, and the new tail. It reads both bodies once, and no
// row, so its cost does not depend on the length of the history.
//
// [Codec.Read] and [Codec.List] make older versions from the tail and from rows.
// The driver gives them the rows of the wanted version and of those below it,
// newest first. They take rows until they meet a snapshot, and List goes on from
// there if it needs more versions. Tail and rows must be read in one snapshot of
// the database.
//
// # Tables
//
// For SQLite, with the row's key made of the app's number and the version's:
//
//	CREATE TABLE latest  (app INTEGER PRIMARY KEY, tail BLOB, body BLOB NOT NULL) STRICT;
//	CREATE TABLE history (key INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
//
//	INSERT INTO history VALUES (app<<32 | version, data);
//	SELECT key, data FROM history WHERE key BETWEEN app<<32 AND app<<32 | version ORDER BY key DESC;
//
// Close the query when the loop over the rows ends. A table WITHOUT ROWID takes
// up to twice the space: it moves what is longer than a quarter of a page to
// pages of its own. Put tail before body, so that reading it does not walk
// through the body's pages.
//
// A driver whose database sends all rows of a query at once asks for them in
// portions. Or it keeps [Row.Snapshot] in a column, and asks for the rows down to
// the newest one at or below the wanted version that is a snapshot.
//
// # How it works
//
// A chain is a compressed snapshot of one version and up to 1,024 steps, which
// lead to the versions after it. Each step is an edit of the version before: the
// ranges of it to copy, and the bytes to put between them. The tail has the
// latest steps. When it is large enough for a row, it is stored as a row, and a
// new tail begins. A chain ends when its steps take 2 KiB more than its snapshot,
// or 1 MiB if that is less. Then the tail is empty, and the next version that is
// added makes a snapshot of the one before. So an app that was never changed has no rows.
//
// Reading an old version composes the edits from the snapshot on, neighbours
// first, and makes the text once. Every version carries a checksum over its
// body, number, time and editor. So if stored bytes are damaged or mixed up, the
// result is an error, [ErrCorrupt], and not a wrong version.
//
// The id of an element is its position. The ids are removed before an edit is
// computed and inserted again when a version is read, so an element that is
// inserted before a thousand others takes only its own space. Nothing else
// depends on the content of a body: any bytes can be stored.
package history
