// Package fts5 reads posting lists directly from the tables of an FTS5 index. A posting list has the rowids of the
// rows that have a term. Reading it takes a tenth of the time that SQL takes to step through the rows of a MATCH, and
// a range of terms can be read too, with the terms.
//
// The index must be contentless with contentless_delete=1 and detail=none. The format is described at the head of
// SQLite's ext/fts5/fts5_index.c:
//
//   - The row of the _data table with the id 10 has the structure of the index: its segments, in levels.
//   - A segment is a sequence of leaf pages, rows of the _data table, with terms in byte order. Each term is followed
//     by its posting list, which may go on over the next pages. Terms of the main index begin with the byte '0'.
//   - The _idx table has, for each segment, a term for each page on which one begins. The term is not above the first
//     term of the page, and it is above all terms of the pages before.
//   - The tombstones of a segment are the rowids that were deleted from it. They are in a hash table of their own,
//     whose pages are rows of the _data table as well.
//   - While segments are merged bit by bit, those that are read lose the terms that were written, and their first page
//     is rewritten. A segment that is merged completely stays in the structure, without pages, until the merge ends.
//
// SQLite keeps the format of existing files. Whatever this package does not know is ErrFormat; MATCH still works then.
// What a transaction has written is in these tables only when FTS5 has flushed it, so the package is for readers.
package fts5
