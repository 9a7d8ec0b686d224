// Package sqlite keeps Vitrine's data in one SQLite file.
//
// [Open] builds the file if it does not exist. It refuses a file that is empty, foreign, damaged or newer than
// this package, and does not change it. A new file is built under the name .NAME.new-* in the same directory, and is
// renamed when it is complete. If a process is killed meanwhile, the next process that builds the same name
// removes these files, except on Windows, where they stay. Several processes may use one store at a
// time, with this package or with SQLite's own tools.
//
// # A file of its own
//
// A store needs a file of its own. Open refuses a file that contains tables of another program, since the names
// of the store's tables (app, tag, component, …) are common ones and a later schema may add more. For the same
// reason a program must not add tables to a store. It opens the store at a path of its own. If one query shall
// read both files, it attaches the store to its own connection:
//
//	ATTACH 'file:vitrine.db?mode=ro' AS vitrine
//
// Such a connection can only read. The tables are not part of the API: a later schema may change them.
//
// # Durability
//
// An update is acknowledged when its commit is on the disk (WAL, synchronous=FULL). Updates that wait at the
// same time share one commit. Each has a savepoint of its own, so an update that fails does not affect the
// others. If the disk is full, an update returns the domain's ErrFull; if another process keeps the file
// locked, it returns ErrBusy. Reads still work, and updates succeed again when the cause has ended. A commit that fails with
// an I/O error returns the domain's ErrUnknown: this process does not see the update, but it may be in the store after a
// restart.
//
// # The feeds of changes
//
// An update writes the entry of its change in its own transaction. Only one update of all processes writes at a time, so
// entries have consecutive numbers in the order of commits. Followers of this process are woken by its commits. While
// somebody follows, the package compares the header of the log's index every 100 ms to notice commits of other processes.
// Backup gives the copy another identity. A store that was brought back from a copy of its file by other means needs
// DB.ResetFeed, as its numbers would otherwise be given to other changes than before.
//
// # Upgrades
//
// Open migrates a file with an older schema to the newest one. Each step is a transaction, so a process that is
// killed meanwhile leaves a complete schema, and the next process continues. Processes of the older release that have
// the file open can still read, but their updates return ErrBusy. To detect this, each writing transaction that
// follows a commit of another connection reads the schema's number again.
//
// # Reading
//
// A View is one snapshot. A bounded cache keeps rows that are often read. A View that reads only cached rows
// begins no transaction. It compares the cache's state with the header of the log's index in shared memory,
// which every commit of every process changes, so it never misses a commit that was acknowledged before the
// View began.
//
// # The log
//
// A commit is written to the write-ahead log. Checkpoints copy the log into the file while readers and writers work.
// The log restarts at a moment when no reader uses it. While Views overlap there is no such moment by itself, so the
// package makes one: if the log has 16 MiB, updates wait a few milliseconds; if it has 32 MiB, new Views wait up to 250 ms for the
// running ones. So the log stays below 64 MiB plus the bytes that are written during the longest View of this process.
// The package does not wait for long Views, such as a backup, and the log grows until they end.
//
// # Searching
//
// The set of the assets that have a word, a tag or a folder is read from FTS5's tables once and kept in a
// bounded cache. Pages and totals are computed by intersecting sets. Every library counts its edits, and a cached
// set carries the count at which it was read. A snapshot reads the count of its library, and uses only a set of the
// same count. After an edit by this process the set is updated; after an edit by another process it is read again.
// A facet reads the posting lists of all terms of its field, with the terms, and counts what each has in common with the
// set of the search. The counts are cached too, and counted again after any edit.
//
// # Erasing
//
// Updates of reviews overwrite with zeros what they delete or replace (secure_delete), in the file's free pages, too. The log has
// it until the log restarts, and is removed when the last process closes the store. When SQLite splits a page, the old
// page can keep a part of rows that it gave away, which nothing overwrites later. [DB.Vacuum] writes the file anew, without any of it.
//
// # Adding a domain
//
// A domain's store is a type over *DB that uses these:
//
//   - DB.view runs a function on a reader's connection, in one snapshot;
//   - DB.update runs a function on the writer's connection, as one update: all of its writes are committed
//     if the function returns nil. Other updates wait for it, so it should do nothing slow;
//   - conn.exec, conn.insert and conn.query run one statement each. Prepared statements are cached by their
//     text, so the text should be a constant and values should be arguments ($1, $2 …);
//   - cache.get and cache.put read and fill the cache for the state conn.at, and conn.remember records what an
//     update has changed.
//
// Errors pass through sentinels.wrap, which adds the domain's own ErrBusy, ErrFull or ErrUnknown. A change of the
// schema is a new file migrations/NNNN_name.sql with the next free number. Its tables are STRICT, and there is no
// step back.
package sqlite
