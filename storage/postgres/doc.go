// Package postgres keeps a [storage.Store] in a PostgreSQL database, for several processes at once. It needs PostgreSQL 13 or newer.
//
// # Tables
//
// The table vitrine_record has the entries, vitrine_space the spaces, each with the number of its last update, and vitrine_format one row, which says what the tables are. Keys and values are bytea; in psql,
// convert_from(key, 'UTF8') shows a key.
//
// # Transactions
//
// An update locks the row of its space until its commit. In one process, updates of a space that come at the same time share a
// transaction: they are read for in one round trip, together with the lock, and written in another, together with the COMMIT. With
// each, an answer that is lost leaves the outcome of all its updates unknown. The server ends an update that is idle for five
// seconds, since its space waits for it. An eighth of all connections, and at least one, is reserved for Views.
//
// A View that is one Get is one statement, which it shares with others when many come at once. Any other View is a transaction with one
// snapshot; its function is called again if its first Get has become outdated before the snapshot was taken.
//
// A transaction runs again, for at most [Options].Busy, if the connection is lost or the server stops before the COMMIT was
// sent. A server that does not answer within 30 seconds makes a call storage.ErrBusy. If the answer to a COMMIT is lost, or does
// not come within that time or within the context of the update, the update returns storage.ErrUnknown. A commit is
// acknowledged when it is on the disk of the server, and on those of its synchronous standbys: a weaker synchronous_commit is
// overruled. If the server stops waiting for a standby because somebody cancels the wait, the update returns storage.ErrUnknown too.
//
// # Several machines
//
// A standby can be opened by its address and serves Views, which are as old as its replication lag; updates are storage.ErrBusy.
// With several hosts in the address and target_session_attrs=read-write a store follows a failover.
//
// The address may lead to a pooler that gives each transaction another connection, such as PgBouncer with pool_mode = transaction. Open
// notices that, and then makes all settings within each transaction. pool_mode = statement does not work.
//
// # Upkeep
//
// Autovacuum must be on: each new value of a key leaves a dead one. The server cannot reuse their room while a snapshot is open that
// may still see them.
package postgres
