// Package history keeps every version of an app in little more space than what
// changed between them, for drivers that store bytes under keys.
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
// [Codec.Append] takes the tail, the latest version and the next one, and says
// which row to add, if any, and what the tail becomes. Its cost is a pass over
// both bodies, whatever the length of the history; it reads no row.
// [Codec.Read] and [Codec.List] return older versions, from the tail and the
// rows below the version, newest first, which they take until they meet a
// snapshot. Tail and rows must be read in one snapshot of the database.
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
// pieces, or keeps [Row.Snapshot] in a column and begins at the newest row that
// has it.
//
// # How it works
//
// A chain is a snapshot, compressed, and up to 1,024 steps, each an edit of the
// version before: which ranges of it to copy, from wherever they were, and
// which bytes to put between them. Steps fill the tail until it is as large as
// a row should be; then it becomes one. A chain ends when its steps take about
// as much as its snapshot. A snapshot is only made when the version stops being the
// latest, so an app that was never changed has no rows.
//
// Reading an old version composes the edits from the snapshot on, neighbours
// first, and makes the text once. Every version carries a checksum over its
// body, number, time and editor, so stored bytes that were damaged or mixed up
// are an error, [ErrCorrupt].
//
// The ids of elements follow their positions. They are left out before edits are
// taken and put back afterwards, so that an element put in front of a thousand
// others costs no more than itself. Nothing else depends on what a body is: any
// bytes come back as they were.
package history
