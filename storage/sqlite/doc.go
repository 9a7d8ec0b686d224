// Package sqlite keeps a store in one SQLite file:
//
//	db, err := sqlite.Open("vitrine.db", nil)
//	apps := appsvc.New(db, nil)
//
//	go doc sqlite.SQL         tables of a program's own, in the transaction of a change; Options.Migrate makes them
//	go doc sqlite.DB.Backup   a copy while the store is in use, and sqlite.Restore: from a copy
//	go doc sqlite.Options     waiting, reading alone
//
// [Open] builds the file if it does not exist. It refuses a file that is empty, read-only, foreign, damaged or of
// another format, and does not change it. To find damage it reads all pages of a file of up to 16 MiB, and the header
// and the size of a larger one.
//
// A new file is built under a name .NAME.new-* in the same directory, and gets its own name when it is complete. If a
// process is killed meanwhile, its files stay, and the next process that builds the same name while nobody else builds
// in the directory removes them. On systems without flock, such as Windows, they stay for good. Several processes may
// use one store at a time, with this package or with SQLite's own tools.
//
// # Reading the file with other tools
//
// The view kv has all keys as texts, and their values as blobs:
//
//	sqlite3 vitrine.db "SELECT key, value FROM kv WHERE key GLOB 'apps tag/*'"
//
// The tables below it are not part of the API. A program has tables of its own beside them, which [Options].Migrate
// makes and [SQL] writes, or attaches the store to a connection to a file of its own:
//
//	ATTACH 'file:vitrine.db?mode=ro' AS vitrine
//
// # Durability
//
// An update is acknowledged when its commit is on the disk (WAL, synchronous=FULL). Updates that wait at the same time
// share one commit. An update that fails does not affect the others, unless its error ends the whole transaction, as a
// full disk does; then all of them fail.
//
// If the disk is full, an update returns storage.ErrFull. If another process keeps the file locked for longer than
// [Options].Busy, has migrated it to a newer format, or has removed or replaced it, it returns storage.ErrBusy. Views
// still work, and updates succeed again when the cause has ended. If a commit fails with an I/O error, its updates
// return storage.ErrUnknown: this process does not see them, but they may be in the store after a restart.
//
// # Changes
//
// Commits of this process close the channels of Changed at once. While somebody waits, the package checks every 100 ms
// whether another process has committed, and then closes all channels.
//
// # The log
//
// A commit is written to the write-ahead log. Checkpoints copy the log into the file while readers and writers work.
// The log restarts at a moment when no reader uses it. While Views overlap there is no such moment, so the package
// makes one: if the log has 16 MiB, updates wait up to about 15 ms; if it has 32 MiB, new Views wait up to 250 ms for
// the running ones; and if it has 48 MiB, the commit that has reached this waits until it has restarted. So the log
// stays below 64 MiB while no View takes longer than 250 ms and no update writes more than 16 MiB.
//
// The package does not wait for longer Views, such as a backup, and it cannot delay the Views of other processes: the
// log grows until they end, and restarts soon afterwards.
//
// # Erasing
//
// Updates overwrite deleted and replaced data with zeros (secure_delete), also in pages of the file that become free.
// Two kinds of copies are left: in the log, and in the free part of pages from which SQLite has moved rows to others.
// An update with storage.UpdateOptions.Erase removes both.
//
// Updates that come while one of them erases wait, and then erase together.
//
// Erasing reads all b-trees of the file, of up to 256 GiB, and overwrites the free part of each page, while others read
// and write. It reads no page that has only a part of a large value. If others change pages all the time, it reads them
// a last time while updates wait. Then it empties the log. It waits up to a minute for Views that read from the log,
// and meanwhile updates wait for a quarter of each second.
package sqlite
