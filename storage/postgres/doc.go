// Package postgres keeps Vitrine's data in a PostgreSQL database, for several processes at once.
//
// [Open] builds its tables in an empty database or schema, and refuses one that holds something else
// or a store of a newer release. Processes that open it at the same time wait for the one that
// builds it, and so they do when a newer release brings new tables. A process that has a store open
// while a newer release migrates it goes on reading, as far as its statements still fit the tables. Its
// Updates are refused with the domain's ErrBusy and a sentence that names the newer schema: each of them
// reads the schema's number first, and keeps it as it is until the commit. Processes from before v0.1.0
// do not look: their writes name tables and columns that a newer schema does not have, and fail.
// [Build] makes a store and fills it; until it is done the table vitrine_building marks the store as unfinished, which Open refuses.
//
// # Transactions
//
// A View is one snapshot (REPEATABLE READ, READ ONLY). A View of apps that needs one row is one statement and
// takes no transaction. Nothing is cached between Views, so another process's writes are never missed.
//
// An Update takes the lock of a row before it reads or writes it, so updates of
// different apps do not block each other, and those of one app wait for the lock instead of failing. It runs again
// after a deadlock, and when the connection is lost before the commit; that ends after
// [Options].Busy, with the domain's ErrBusy.
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
// before they take a connection. Of all connections an eighth, one at least, is left to Views, so that
// reads go on whatever updates wait for; a pool of a single connection has none to leave.
//
// The server ends a transaction that is idle for too long (idle_in_transaction_session_timeout), and its
// locks and its snapshot with it; the domain's ErrBusy tells of it. An Update may be idle for a minute:
// between two statements it computes, and waits for nobody. A View may be idle for an hour, since it may
// stream to a client that reads slowly: the client has an hour for what one statement gave.
// A View holds no lock that a writer waits for. The mark of [Build] is
// held for as long as it takes.
//
// When the connection is lost after COMMIT was sent and before its answer came, nobody knows whether
// the update was kept. It is the domain's ErrUnknown then and not repeated. Over HTTP a client may
// repeat what carries an Idempotency-Key, or a version test.
//
// An update is acknowledged when the server says it is kept: on its disk, and on those of its
// synchronous standbys where synchronous_standby_names names some. A server with a synchronous_commit
// that promises less is overruled; when it gives up waiting for a standby, because somebody cancels
// that, the outcome is ErrUnknown.
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
// Standbys take reads when their address is opened (a database that is up to date needs no write to
// open); what they read is as old as they are. With several hosts in the address and
// target_session_attrs=read-write a store follows a failover: a call that it interrupts is retried within
// [Options].Busy, or is ErrBusy, or ErrUnknown at a commit.
//
// Views do not spread over standbys by themselves. A View sees every acknowledged update, of whatever
// process. So a View on a standby would first ask the primary how far it is, and then wait until the standby has got
// there; or every commit would wait for every standby that is read (synchronous_commit = remote_apply). The question
// to the primary took 0.08 ms on a busy machine where a read of 5 KB took 0.09 to 0.21 ms. So reads of one row, which are
// most, would become slower and take little load from the primary. Reads that may be old, such as an export or a report,
// can open the address of a standby.
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
// What such an engine must give is row locks and READ COMMITTED for updates. For Views that read
// more than one thing it must give one snapshot over all machines, which Citus does not: a View may
// see an update of two apps by half there. Rows of one app are on one machine, and read as one.
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
// Autovacuum has to be on. A new version leaves the old row of its app, with the body, to autovacuum. A new asset leaves
// the last row of the list of each of its terms, and a claim leaves its row. Of the lists the server reuses most of that at once, in the same page, since no
// index changes.
//
// Nothing can be reused that the oldest snapshot on the server may still see. While a snapshot is held the tables
// grow with each write: by the body of each patched app, and by about 8 KiB for each asset that is added by itself. The
// growth ends with the snapshot, and autovacuum gives the room to later writes; it does not shrink the files. So the bound is
// what is written during the longest snapshot and one round of autovacuum (autovacuum_naptime, a minute). A
// View's snapshot ends with its function, and after an hour without a statement; the store cannot end those of
// others: dumps, replication slots, standbys with hot_standby_feedback. The operator sees a held snapshot as the row of pg_stat_activity
// with the oldest backend_xmin, and what waits for it as n_dead_tup in pg_stat_user_tables.
// A limit for foreign sessions, idle_in_transaction_session_timeout of their roles, bounds it.
//
// Strings are stored as bytea; psql shows them by convert_from(id, 'UTF8').
//
// # Adding a domain
//
// A domain's store is a type over *DB that uses these:
//
//   - DB.view runs a function in one snapshot, DB.viewOnce one that may not run twice;
//   - DB.update runs one as an update. It must lock what it reads first: a row that is there with
//     SELECT … FOR UPDATE, what is not there with conn.claim, and then look again. A domain whose
//     updates belong to one thing (a library) locks that and nothing else;
//   - conn.exec, conn.query and conn.walk run one statement each, and conn.later one whose result
//     nobody needs, in the round trip of the next one or of the commit. Statements are kept prepared
//     under their text, so the text is a constant and what varies is an argument ($1, $2 …), also a
//     list (= ANY($1)). An error ends the transaction, so what may be taken is asked for with
//     ON CONFLICT DO NOTHING;
//   - a string goes out as bytea, and rows.text makes it one again: PostgreSQL's text cannot hold
//     U+0000, and is ordered by locale. rows.int, rows.blob and rows.bool read the rest.
//
// What goes wrong below is told by sentinels.wrap, which names the domain's own errors. The schema is
// migrations/NNNN_name.sql: the next free number, forward only, int8 for numbers. The first column of
// each primary key is what rows are spread by.
package postgres
