// Package failover shows that several server processes on one PostgreSQL go on when its primary is
// lost: no acknowledged write is lost, and no process is restarted.
//
// Four example servers use a primary and a standby that is named in synchronous_standby_names. Their
// address lists both hosts with target_session_attrs=read-write. Writers change apps, tags and assets
// and import reviews over HTTP at the same time, each request through any of the processes. At a
// random moment the primary is stopped as by a crash and the standby promoted, sometimes after it was
// cut off for a while. Then what the service answers is held against what each writer was answered.
// A write that was answered 503 with an unknown outcome may be there as a whole or not at all, one
// that was refused as busy may not be there. Writers go on, also with what they had; versions have
// no gaps. The lost server comes back as the standby of the new primary, for the next failover.
//
// The servers of the database are set to synchronous_commit=off, which the driver overrules.
//
// That a loss would be seen is shown with a standby that nobody waits for, and with a driver that
// does not overrule.
//
// What tells that a primary is lost and promotes a standby, and keeps the old one from coming back
// as a second primary, is no part of this: the test knows at once, so the figures for the gap are
// those of the driver and of PostgreSQL alone.
//
// Package failover shows as well that what the processes keep in memory stays right when another
// one writes: a write that one has acknowledged is what each other answers next.
//
// The long form, which prints its figures:
//
//	go test ./internal/proof/failover -v -timeout 0 -args -failovers 20
package failover
