// Package postgres keeps Vitrine's data in a PostgreSQL database, for several processes at once.
//
// [Open] creates the tables in an empty database or schema. It refuses a database that has other tables, and a store of a
// newer release. If several processes open a new store at the same time, one creates the tables and the others wait. The same
// happens when a newer release migrates the tables. A process of the older release that has the store open then can still
// read, as long as its statements fit the tables. Its Updates return the domain's ErrBusy, with a sentence that names the newer
// schema: each Update first reads the schema's number, and keeps others from changing it until the commit. Processes from
// before v0.1.0 do not check this: their writes name tables and columns that a newer schema does not have, and fail.
// [Build] creates a store and fills it. Until it is done, the table vitrine_building marks the store as unfinished, and Open
// refuses it.
//
// # Transactions
//
// A View is one snapshot (REPEATABLE READ, READ ONLY). A View of apps that needs one row is one statement and
// takes no transaction. Nothing is cached between Views, so another process's writes are never missed.
//
// An Update takes the lock of a row before it reads or writes it. So updates of different apps do not block each other, and
// those of one app wait for the lock instead of failing. An Update runs again after a deadlock, and if the connection is lost
// before the commit. If it has no success within [Options].Busy, it returns the domain's ErrBusy.
//
// A patch takes three round trips: one reads the app, one locks and reads it again together with the components that it
// needs, and one writes and commits. Patches of different apps share the last two, and one transaction, when more of them come
// than two at a time. With 32 clients this takes half of the processor time that a transaction for each takes. A patch of an
// app that another transaction has locked gets a transaction of its own, so it holds up no other. If the answer to a shared
// COMMIT is lost, the outcome of each of its patches is unknown. A batch of some thousand assets takes four or five round
// trips: one statement looks up what it adds, and one inserts it.
//
// An update locks an existing row with SELECT FOR UPDATE. It locks a key that has no row yet with a claim: it
// inserts a row with a digest of the key into the table claim, and deletes that row in the same
// transaction. Another update that claims the same key waits for the commit. Digests have 128 bits, so two
// keys do not share one. Claims are rows, so they take no entry in the server's lock table. Advisory locks
// would, and an update that adds many things would exhaust it.
//
// Updates wait for each other at most [Options].Busy. Updates of one library in one process wait
// before they take a connection. An eighth of all connections, and at least one, is reserved for Views, so that
// reads go on while updates wait. A pool of a single connection reserves none.
//
// The server ends a transaction that is idle for too long (idle_in_transaction_session_timeout), and thereby releases its
// locks and its snapshot; the call then returns the domain's ErrBusy. An Update may be idle for a minute:
// between two statements it only computes. A View may be idle for an hour, since it may
// stream to a client that reads slowly: the client has an hour for the rows of one statement.
// No writer waits for a lock of a View. The transaction of [Build] that keeps the mark locked has no such limit.
//
// If the connection is lost after COMMIT was sent and before its answer came, it is not known whether the update was
// committed. The update is not repeated and returns the domain's ErrUnknown. Over HTTP a client may repeat a request that
// has an Idempotency-Key or a version test.
//
// An update is acknowledged when the server says that the commit is on its disk, and on the disks of its synchronous
// standbys if synchronous_standby_names names some. If the server's setting of synchronous_commit promises less, the package
// overrules it. If the server stops waiting for a standby because somebody cancels the wait, the update returns ErrUnknown.
//
// # The feeds of changes
//
// An update writes the entry of its change in its own transaction. Updates commit in parallel, so a number from a sequence may
// become visible after higher ones, and a reader that goes on after the highest number would step over it. A number that is
// given under a lock until the commit would avoid that, but updates of different apps would then commit one after the
// other, each with its own wait for the disk and the standbys. So a position is a pair of a round and a number. The round is the
// transaction id of the update or the highest round that it sees, whichever is higher; the number comes from a sequence. Readers get
// entries of rounds below pg_snapshot_xmin alone, in the order of rounds and numbers. An update that is not visible yet
// has a higher transaction id, and so a higher round: nothing can appear before a position that was read. The changes of
// one app stand in the order of their commits, since an update writes its entry when it holds the lock of the app, and then sees
// the entry of the update before.
//
// A transaction with a transaction id delays the feeds while it is open, whatever it does and in whatever database of the
// server. It delays nothing else. Followers of this process are woken by its commits; for those of others it asks for the end of
// the feeds, at most every 200 ms and only while somebody follows. There is no LISTEN.
//
// A failover to a standby keeps the order, as transaction ids go on there. If it loses commits, or if a server is brought
// back from a backup, DB.ResetFeed gives the feeds another identity, so that readers begin anew. If a dump is restored on a
// server with lower transaction ids, Open notices it, orders the entries by their numbers alone, and gives the feeds
// another identity.
//
// # Several machines
//
// A standby can be opened by its address and serves reads, since opening a store of the newest schema writes nothing. It
// returns data as old as its replication lag. With several hosts in the address and target_session_attrs=read-write a store
// follows a failover: a call that the failover interrupts is retried within [Options].Busy. After that it returns ErrBusy, or
// ErrUnknown if it was interrupted at its commit.
//
// Views are not distributed over standbys automatically. A View must see every acknowledged update of every process. So a
// View on a standby would first have to ask the primary for its position in the log, and then wait until the standby has
// reached it. Or every commit would have to wait for every standby that serves reads (synchronous_commit = remote_apply). The
// question to the primary took 0.08 ms on a busy machine where a read of 5 KB took 0.09 to 0.21 ms. So reads of one row, which
// are most reads, would become slower and take little load from the primary. For reads that may be outdated, such as an export
// or a report, open the address of a standby.
//
// The tables are made to be spread over machines, by Citus or an engine like it, by the first column
// of their keys: app by id, and app_history, tag and tag_move by app beside it; app_scope, app_component and
// app_used, the projections that lists and checks need, by scope and component, written in the same transaction; answer
// by caller; webhook by name; components as a reference table; claim by its digest. There is no sequence but those of the feeds,
// no foreign key between tables, no trigger, no LISTEN, and no lock but those of rows and tables. A patch touches one app's
// rows and nothing else, unless it changes groups or components. Patches that share a transaction may touch several
// machines, which then commit in two phases. A list asks for positions in one
// statement and for apps in others, so no join crosses machines; one by time of change asks all of
// them, and so does deleting expired idempotency keys.
//
// Of assets, library goes by its key, a digest of network and id, and folder, asset, asset_list and
// asset_value by library beside it: an update, a page and a total touch one machine, but for a
// library's first update, which claims its key. Updates of one library stand in line. Of reviews,
// review_network and review_collection go by their keys and review by collection beside it. Collections
// of a network are numbered by its row of review_network. An update numbers those that it adds with its
// commit, so it holds up others that add to this network for the time of the commit; Citus asks for the index
// review_collection_in_order to be made without UNIQUE, which nothing depends on. The lists of all
// libraries and of all collections of a network ask every machine.
//
// The feed of changes of apps is one table, app_change, in the order of one server's transactions. It stays on one machine,
// and every write of an app adds a row there.
//
// Such an engine must support row locks and READ COMMITTED for updates. For Views that read more than one thing it must
// support one snapshot over all machines. Citus does not: there a View may see half of an update of two apps. Rows of one app
// are on one machine and are read in one snapshot.
//
// Without such an engine, several stores can each have a database and processes of their own, and a router in front of
// them. The best key is the network: its apps, with their versions, tags and history, its library and its reviews are in one
// store then, and each list and feed that a page of this network needs comes from it. Apps of one network may also be spread, if
// the router keeps which store has given which id, and sends a creation and its repetition with the same Idempotency-Key
// to the same store. The router finds the app in the path (/apps/{id}) or in the body (appId), and the network in the path
// of the asset manager, in the parameter network or in the groups of a new app. Components are created in every store. What spans stores is up to the router: a list of apps of several
// networks asks each store and merges, a cursor of a feed or a list belongs to the store that gave it.
//
// [Build] is for one machine: it keeps a row of vitrine_building locked, on a connection of its own.
//
// Tested is PostgreSQL 15 on one machine: several openings and processes of one database, histories
// of concurrent operations, connections cut at each side of a commit, a server that is killed and
// started, failovers to a synchronous standby under several server processes, by hand and by Patroni 3.0.2 behind HAProxy
// and PgBouncer. Not tested are Citus, YugabyteDB, CockroachDB, poolers other than PgBouncer 1.18, and other managers of
// failovers.
//
// # Poolers
//
// The address may lead to a pooler that gives each transaction another connection, such as PgBouncer with
// pool_mode = transaction. Open notices a pooler by the process number that it gives its clients. All
// settings, the search path included, are then set within each transaction, statements are not kept
// prepared, and each View is a transaction. That takes a little more time of the server, and no more
// round trips, but for Views of one row, which then end with a ROLLBACK that nobody waits for. pool_mode = session works
// as well, pool_mode = statement does not. When an address begins to lead to a pooler while a store is
// open there, new connections are refused with an error that says so. A pooler's own time limits for
// transactions (idle_transaction_timeout, query_wait_timeout) hold besides those of the store.
//
// # Searching
//
// The index of assets is lists: of each term the ordinals of the assets that have it, a bit or a few
// bytes for each, in rows of up to 1.5 KB. The server adds new assets to the ends of rows, so a batch reads only the rows
// that are full, which it compresses again. A page reads the rows at its end of the lists, a total of
// several terms the lists, one of a single term a sum of counts. A GIN index over an array of the
// terms has no order and no counts: a page of what is neither frequent nor rare is read as a whole and
// sorted, and a total visits each asset, so both grow with the posts. Where little is found, GIN is faster.
// A table with a row for each term of an asset would have the order, but took 1,808 bytes a post, ten times as much as the
// lists, and 4 ms for that total. See BenchmarkAssetsSearch in storage/internal/agree.
//
// # Upkeep
//
// Autovacuum must be on. Each new version leaves a dead row of its app, with the body. Each new asset leaves a dead row in the
// posting list of each of its terms, and each claim leaves one. In the posting lists the server reuses most of this room at
// once, within the page, since no index changes.
//
// The server cannot reuse a dead row that the oldest snapshot may still see. While a snapshot is open, the tables
// grow with each write: by the body of each patched app, and by about 8 KiB for each asset that is added by itself. The
// growth ends with the snapshot. Then autovacuum makes the room available to later writes; it does not shrink the files. So the
// tables grow at most by what is written during the longest snapshot and one round of autovacuum (autovacuum_naptime, a
// minute). A View's snapshot ends with its function, or after an hour without a statement. The store cannot end the snapshots
// of dumps, replication slots and standbys with hot_standby_feedback. An operator finds the oldest snapshot as the row of
// pg_stat_activity with the lowest backend_xmin, and the dead rows that wait for it as n_dead_tup in pg_stat_user_tables. To
// limit the snapshots of other programs, set idle_in_transaction_session_timeout for their roles.
//
// Strings are stored as bytea; psql shows them by convert_from(id, 'UTF8').
//
// # Adding a domain
//
// A domain's store is a type over *DB that uses these:
//
//   - DB.view runs a function in one snapshot. DB.viewOnce does the same for a function that may not run twice;
//   - DB.update runs a function as an update. The function must lock what it reads before it reads it: an existing row with
//     SELECT … FOR UPDATE, and a key without a row with conn.claim, after which it must look for the row again. If each
//     update belongs to one thing (a library), it is enough to lock that;
//   - conn.exec, conn.query and conn.walk run one statement each. conn.later sends a statement whose result is not needed
//     in the round trip of the next one or of the commit. Prepared statements are cached by their text, so the text should
//     be a constant and values should be arguments ($1, $2 …), lists too (= ANY($1)). An error ends the transaction, so an
//     INSERT of a key that may exist needs ON CONFLICT DO NOTHING;
//   - a string is stored as bytea, and rows.text reads it: PostgreSQL's text cannot contain U+0000 and is ordered by
//     locale. rows.int, rows.blob and rows.bool read the other types.
//
// Errors pass through sentinels.wrap, which adds the domain's own errors. A change of the schema is a new file
// migrations/NNNN_name.sql with the next free number; there is no step back. Numbers are int8. The first column of each
// primary key is the one by which an engine such as Citus distributes the rows.
package postgres
