// Package sqlite keeps Vitrine's data in one SQLite file.
//
// [Open] builds the file if it does not exist. It refuses a file that is empty, read-only, foreign or newer than this
// package, or in which it finds damage, and does not change it. To find damage it reads all pages of a file of up to 16 MiB,
// and of a larger one the header and the size. A new file is built under a name .NAME.new-* in the same directory, and gets
// its own name when it is complete. If a process is killed meanwhile, its files stay, and the next process that builds the
// same name removes them. On systems without flock, such as Windows, they stay for good. Several processes may use one store
// at a time, with this package or with SQLite's own tools.
//
// # A file of its own
//
// A store needs a file of its own. Open refuses a file that contains tables of another program, since the names
// of the store's tables (app, tag, component, …) are common ones and a later schema may add more. For the same
// reason a program must not add tables to a store. It opens the store at a path of its own. For a query over both files
// it attaches the store to a connection of its own:
//
//	ATTACH 'file:vitrine.db?mode=ro' AS vitrine
//
// The connection can then read the store and not change it. The tables are not part of the API: a later schema may change them.
//
// # Durability
//
// An update is acknowledged when its commit is on the disk (WAL, synchronous=FULL). Updates that wait at the
// same time share one commit. Each has a savepoint of its own, so an update that fails does not affect the
// others, unless its error ends the whole transaction, as a full disk does; then all of them fail. Each domain (the packages
// appsvc, assets, reviews and webhook) has errors of its own for a failed update. If the disk is full, an update returns
// ErrFull; if another process keeps the file locked for longer than [Options].Busy, it returns ErrBusy. Reads still work, and
// updates succeed again when the cause has ended. If a commit fails with an I/O error, its updates return ErrUnknown: this
// process does not see them, but they may be in the store after a restart.
//
// # The feeds of changes
//
// An update writes the entry of its change in its own transaction. Only one update of all processes writes at a time, so entries
// have consecutive numbers in the order of commits. Followers are woken by the commits of their own process. To notice commits of
// other processes, the package looks at the header of the WAL index every 100 ms, until about five seconds after nobody follows
// any more. The WAL index is the file with the suffix -shm, which all processes have in shared memory, and every commit of every
// process changes its header. Backup gives the feeds of the copy another identity. If a store is brought back from a copy of its
// file that was made by other means, call DB.ResetFeed (vitrine feed reset): otherwise the store gives the numbers of the lost
// changes to other changes, and readers with old cursors miss these.
//
// # Upgrades
//
// Open migrates a file with an older schema to the newest one. Each step is a transaction, so a process that is
// killed meanwhile leaves the complete schema of some step, and the next process continues. Processes of the older release that
// have the file open can still read, as long as their statements fit the tables, but their updates return ErrBusy. To notice the
// newer schema, each writing transaction that follows a commit of another connection reads the schema's number again.
//
// # Reading
//
// A View is one snapshot. A bounded cache keeps rows that are often read. A View that reads only cached rows begins no
// transaction. It uses the cache only if the header of the WAL index has not changed since the cache was brought up to date:
// every commit of every process changes it. So it never misses a commit that was acknowledged before the View began.
//
// # The log
//
// A commit is written to the write-ahead log. Checkpoints copy the log into the file while readers and writers work.
// The log restarts at a moment when no reader uses it. While Views overlap there is no such moment by itself, so the
// package makes one: if the log has 16 MiB, updates wait up to about 15 ms; if it has 32 MiB, new Views wait up to 250 ms for the
// running ones. So the log stays below 64 MiB plus the bytes that are written during the longest View of this process.
// The package does not wait for long Views, such as a backup, and it cannot hold up the Views of other processes: the log grows
// until they end.
//
// # Searching
//
// The set of the assets that have a word, a tag or a folder is read from FTS5's tables once and kept in a
// bounded cache. Pages and totals are computed by intersecting sets. Every library counts its edits, and a cached
// set carries the count at which it was read. A View reads the count of its library in its snapshot, and uses only a set of the
// same count. After small edits by this process the set is updated; after large ones, and after an edit by another process, it
// is read again. A facet reads the posting lists of all terms of its field, and counts how many assets each has in common with
// the result of the search. The counts are cached too, and counted again after any edit.
//
// # Erasing
//
// Updates of reviews overwrite with zeros what they delete or replace (secure_delete), also in pages of the file that become
// free. Two kinds of copies are left by then: in the log, and in the free part of pages from which SQLite has moved rows to others.
// The method Scrub of the store of reviews, which reviews.Service calls after each deletion, removes both: it overwrites the free
// part of each page of reviews, and empties the log. It reads all pages of reviews for that, while others read and write. It waits
// up to a minute for Views of other processes that read from the log, and updates wait for a quarter of a second out of each second
// meanwhile.
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
