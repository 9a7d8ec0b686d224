// Package postgres keeps a [storage.Store] in a PostgreSQL database, for several processes at once. It needs PostgreSQL
// 13 or newer.
//
//	db, err := postgres.Open(ctx, "postgres://127.0.0.1/vitrine", nil) // or New, with a pool that the program has
//	apps := appsvc.New(db, nil)
//
//	go doc postgres.SQL       tables of a program's own, in the transaction of a change; Options.Migrate makes them
//	go doc postgres.New       a pool that the program has
//	go doc postgres.Options   connections, waiting, the schema
//
// # Tables
//
// The table vitrine_record has the entries. vitrine_space has the spaces, each with the number of its last update.
// vitrine_format has one row with the format of the tables. Keys and values are bytea; in psql, convert_from(key,
// 'UTF8') shows a key.
//
// # Transactions
//
// An update locks the row of its space until its commit. In one process, updates of a space that come at the same time
// share a transaction: one round trip acquires the lock and reads what all of them need, and another writes and
// commits. If the response to the COMMIT is lost, the outcome of all these updates is unknown. The server ends an
// update that is idle for five seconds, since the other updates of its space wait for it. An eighth of all connections,
// and at least one, is reserved for Views.
//
// A View that is one Get is one statement, which many such Views share when they come at once. Any other View is a
// transaction with one snapshot; its function is called again if the result of its first Get was outdated when the
// snapshot was taken.
//
// A transaction is retried, for at most [Options].Busy, if the connection is lost or the server stops before the COMMIT
// was sent. If the server does not respond within 30 seconds, a call returns storage.ErrBusy. If the response to a
// COMMIT is lost, or does not come within that time or within the context of the update, the update returns
// storage.ErrUnknown.
//
// A commit is acknowledged when it is on the disk of the server, and on those of its synchronous standbys: a weaker
// synchronous_commit is overruled. If the server stops waiting for a standby because somebody cancels the wait, the
// update returns storage.ErrUnknown too.
//
// # Several machines
//
// A standby can be opened by its address. It serves Views, which may lag behind the primary; updates return
// storage.ErrBusy. With several hosts in the address and target_session_attrs=read-write a store follows a failover.
//
// The address may lead to a pooler that gives each transaction another connection, such as PgBouncer with pool_mode =
// transaction. Open notices that, and then makes all settings within each transaction. pool_mode = statement does not
// work.
//
// # Upkeep
//
// Autovacuum must be on: each new value of a key leaves a dead row. The server cannot reuse the space of dead rows
// while a snapshot is open that may still see them.
package postgres
