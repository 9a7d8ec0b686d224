// Package sqlite keeps Vitrine's data in one SQLite file.
//
// [Open] builds the file when it is not there, and refuses one that is empty, foreign, damaged or
// newer than this package without touching it. A new file is built beside, as .NAME.new-*, and gets its
// name when it is whole; what a killed process has left there is removed by the next one that builds
// that name (but on Windows, where it stays). Other processes may use the same file meanwhile,
// with this package or with SQLite's own tools.
//
// # Durability
//
// An update is acknowledged when its commit is on the disk (WAL, synchronous=FULL). Updates that
// wait at the same time share one commit, each in a savepoint of its own, so that one that fails
// leaves its neighbours alone. A full disk is the domain's ErrFull, a file that another process
// keeps locked its ErrBusy; reads go on, and writing recovers by itself.
//
// # Reading
//
// A View is one snapshot. What is often read stays in a bounded cache, and a View that needs no
// more than that takes no transaction: it holds the cache's state against the header of the log's
// index in shared memory, which every commit of every process changes. So it never misses a commit
// that was acknowledged before it began.
//
// # Searching
//
// Which assets have a word, a tag or a folder is read from FTS5's tables once and held, bounded, as
// a set; pages and totals are intersections of sets. A set names the number of edits that its
// library had, which a snapshot is asked for, and so is right whoever else writes to the file. It
// follows what this process writes, and is read again after another one.
//
// # Adding a domain
//
// A domain's store is a type over *DB that uses these:
//
//   - DB.view runs a function on a reader's connection, in one snapshot;
//   - DB.update runs one on the writer's connection, as an update of its own: all of it is kept
//     when the function returns nil. Others wait for it, so it holds row work and nothing slow;
//   - conn.exec, conn.insert and conn.query run one statement each. Statements are kept prepared
//     under their text, so the text is a constant and what varies is an argument ($1, $2 …);
//   - cache.get and cache.put, with the state conn.at, and conn.remember, which tells the cache
//     what an update has changed.
//
// What goes wrong below is told by domainError, which names the domain's own ErrBusy and ErrFull.
// The schema is migrations/NNNN_name.sql: the next free number, forward only, STRICT tables.
package sqlite
