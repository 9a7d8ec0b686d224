// Package failover shows that several server processes on one PostgreSQL go on when its primary is
// lost: no acknowledged write is lost, and no process is restarted.
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
// The tests do not include a failover manager, which detects that a primary is lost, promotes a standby, and keeps
// the old primary from coming back as a second one. The test knows at once, so the measured gap is that of the
// driver and of PostgreSQL alone.
//
// The package also tests that the caches of the processes stay correct: after one process has acknowledged a
// write, every other one returns it.
//
// The long form, which prints its figures:
//
//	go test -tags proof ./internal/proof/failover -v -timeout 0 -args -failovers 20
package failover
