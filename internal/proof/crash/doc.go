// Package crash shows that nothing that was acknowledged is lost when a server is killed, when its machine loses power,
// and when PostgreSQL loses its primary.
//
// # A kill
//
// The example server runs on a SQLite file. Writers change apps, tags and assets over HTTP at the same time, while
// another process imports reviews into the same file. At a random moment both are killed (SIGKILL). Then the invariants
// of the file are checked: an integrity check, versions without gaps, tags that point to versions, an index of assets
// equal to the assets. The next server on the file is compared with the responses that each writer got. A write without
// a response may be there as a whole or not at all. A control shows that the tests detect a loss: a server that
// acknowledges before it commits must fail them.
//
// # A loss of power
//
// A plain kill cannot show this, since the kernel keeps what a dead process wrote. So the SQLite
// driver runs under strace, which records every write and every sync in their order, and, in the
// same order, a mark for each acknowledgement. From that record disks are made, as they may be
// after a loss of power between two calls: what was synced is there; of what was not, nothing is
// there, or all, or some writes, some pages, some sectors, or a write in part. Names in the
// directory count as lost until the directory was synced. Each disk must open, hold every update
// acknowledged before that moment and nothing in part.
//
// Two controls, the same driver with synchronous=NORMAL and synchronous=OFF, must lose updates.
// They are built with that line of the source replaced; the driver itself has no such switch.
//
// # A failover
//
// Several server processes on one PostgreSQL go on when its primary is lost, and none is restarted.
//
// Four example servers use a primary and a standby that is named in synchronous_standby_names. Their
// address lists both hosts with target_session_attrs=read-write. Writers change apps, tags and assets
// and import reviews over HTTP at the same time, each request through any of the processes. At a
// random moment the primary is stopped as by a crash and the standby promoted, sometimes after it was
// cut off for a while. Then the tests compare the service's data with the responses that each writer got.
// A write that was answered 503 with an unknown outcome must be there as a whole or not at all, one
// that was refused as busy must not be there. The writers go on and can also change what they made before
// the failover; versions have no gaps. The lost server comes back as the standby of the new primary, for the
// next failover.
//
// The servers of the database are set to synchronous_commit=off, which the driver overrides.
//
// Two controls show that the tests detect a loss: a standby that commits do not wait for, and a driver that
// does not override the setting.
//
// The tests do not include a failover manager, such as Patroni, which detects that a primary is lost, promotes a
// standby, and keeps the old primary from coming back as a second one. The test knows at once, so the measured gap is
// that of the driver and of PostgreSQL alone.
//
// The package also tests that the caches of the processes stay correct: after one process has acknowledged a
// write, every other one returns it.
//
// The long forms print their figures:
//
//	go test -tags proof ./internal/proof/crash -run Kill -v -timeout 0 -args -kills 10000
//	go test -tags proof ./internal/proof/crash -run 'Acknowledged|Controls' -v -timeout 0 -args -images 100000
//	go test -tags proof ./internal/proof/crash -run Failover -v -timeout 0 -args -failovers 20
package crash
