// Package faults shows what happens to a request when the storage fails: the caller is told, nothing
// is kept in part, nothing acknowledged is lost, reading goes on, and writing works again as soon as
// the storage does, without a restart.
//
// The whole service, from HTTP down to a SQLite file, makes every change that it knows, while the
// Nth call fails that it makes to its stores, or that SQLite makes to the operating system. For the
// latter, SQLite uses a file system of this package (disk_test.go), in which reads, writes, syncs, locks and
// shared memory fail: one call, or all from the Nth on, with an I/O error, a full disk or a lock; a write may
// fail in its middle. After each fault the responses of the service and every row of the file are compared with
// the correct ones, byte by byte.
//
// The same is done to stores while they are built, opened, closed, copied and brought to a newer
// schema. Real faults are tested too: a file system without room, one that cannot be written to,
// another process that keeps the lock.
//
// The long form, which prints its figures:
//
//	go test -tags proof ./internal/proof/faults -v -timeout 0 -args -rounds 1000
package faults
