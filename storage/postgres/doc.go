// Package postgres keeps Vitrine's data in a PostgreSQL database, for several processes at once. It needs PostgreSQL 13 or
// newer. A View is a transaction that reads and an Update one that writes; the packages of the domains (appsvc, assets,
// reviews, webhook) say what both promise.
//
// [Open] creates the tables in an empty database or schema. It refuses a schema that has other tables and no store, and a store
// of a newer release. If several processes open a new store at the same time, one creates the tables and the others wait. The
// same happens when a newer release migrates the tables. A process of the older release that has the store open then can still
// read, as long as its statements fit the tables. Its Updates return the ErrBusy of the domain, and the text of the error names
// the newer schema. To notice it, each Update first reads the number of the schema, which also keeps others from changing the
// schema until the commit. Processes from before v0.1.0 do not check this: their writes name tables and columns that a newer
// schema does not have, and fail.
//
// [Build] creates a store and fills it. Until it is done, the table vitrine_building marks the store as unfinished, and Open
// refuses it.
//
// # Transactions
//
// A View is one snapshot (REPEATABLE READ, READ ONLY). A View of apps that needs one row is one statement and takes no
// transaction, except behind a pooler. The store caches nothing between Views, so another process's writes are never missed.
//
// An Update takes the lock of a row before it reads or writes it. So updates of different apps do not block each other, and
// those of one app wait for the lock instead of failing. An Update runs again after a deadlock, and if the connection is lost
// or the server stops before the commit. If it has no success within [Options].Busy, it returns the domain's ErrBusy.
//
// Views that read the latest version of an app share queries when many come at once: while four of them read, up to 32 of those
// that come share the next query. It begins after its Views, so it sees what was acknowledged before them. If none begins for a
// View within a tenth of a second, the View reads by itself. A View whose app has a body of more than 64 KiB always reads it by
// itself. Behind a pooler, Views do not share queries.
//
// A patch takes three round trips: one reads the app, one locks and reads it again together with the components that it needs,
// and one writes and commits. A patch whose components are not in the cache of package appsvc takes one more, and one that
// changes groups may. The locking and the writing round trip are shared by a group of patches of different apps, in one
// transaction. Two groups run at a time, and the patches that come meanwhile wait for the next one. With 32 clients, grouping
// halves the processor time per patch. A patch of an app that another transaction has locked gets a transaction of its own, so
// it holds up no other. If the answer to a shared COMMIT is lost, the outcome of each of its patches is unknown.
//
// A batch of 1,000 new assets usually takes four to six round trips: one locks the library, one reads its folders unless
// package assets has cached them, one looks up which of the assets exist, one appends to the posting lists of the search index,
// one reads the rows of the lists that are full, and one writes them and commits.
//
// An update locks an existing row with SELECT FOR UPDATE. It locks a key that may have no row with a claim: it
// inserts a row with a digest of the key into the table claim, and deletes that row in the same
// transaction. Another update that claims the same key waits for the commit. Digests have 128 bits, so two
// keys do not share one. Claims are rows, so they take no entry in the server's lock table. Advisory locks would, and an update
// that adds many things would exhaust it. An update that reads a list of apps or of idempotency keys, or any component, locks
// the whole table with LOCK TABLE; one that reads the collections of a network locks the row of the network.
//
// An Update waits at most [Options].Busy for a connection and for each lock. Updates of one library in one process wait
// before they take a connection. An eighth of all connections, and at least one, is reserved for Views, so that
// reads go on while updates wait. A pool of a single connection reserves none.
//
// The server ends a transaction that is idle for too long (idle_in_transaction_session_timeout), and thereby releases its
// locks and its snapshot; the call then returns the domain's ErrBusy. An Update may be idle for a minute:
// between two statements it only computes. A View may be idle for an hour, since it may
// stream to a client that reads slowly: the client has an hour for the rows of one statement.
// No writer waits for a lock of a View. The transaction in which [Build] keeps its row of vitrine_building locked has no
// such limit.
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
// other, each with its own wait for the disk and the standbys.
//
// So a position is a pair of a round and a number. The round is the higher one of two numbers: the transaction id of the
// update, and the highest round that the update sees. The number comes from a sequence. Readers get only entries whose round
// is below pg_snapshot_xmin, sorted by round and then by number. An update that is not visible yet has a transaction id of at
// least pg_snapshot_xmin, so its round is not lower either, and its entry cannot appear before a position that was read. The
// changes of one app are in the order of their commits: an update writes its entry while it holds the lock of the app. It then
// sees the entry of the update before, so its own round is not lower, and its number is higher. For the changes of a library
// the lock is that of the library.
//
// A transaction with a transaction id delays the feeds while it is open, whatever it does and in whatever database of the
// server. It delays nothing else.
//
// Followers are woken by the commits of their own process. To notice commits of other processes, the package polls the ends
// of the feeds while somebody follows: 2 ms after it begins to poll, and then at intervals that double up to
// 200 ms. A commit of this process that wakes a follower starts the intervals at 2 ms again. The polling ends about five
// seconds after nobody follows any more. There is no LISTEN.
//
// A failover to a standby keeps the order, as transaction ids go on there. If a failover loses commits, or if a server is
// brought back from a backup, call DB.ResetFeed (vitrine feed reset). It gives the feeds another identity, so that readers
// begin anew. If a dump is restored on a server with lower transaction ids, Open notices it, orders the entries by their
// numbers alone, and gives the feeds another identity.
//
// # Several machines
//
// A standby can be opened by its address and serves reads, since opening a store of the newest schema writes nothing. It
// returns data as old as its replication lag. With several hosts in the address and target_session_attrs=read-write a store
// follows a failover: a call that the failover interrupts is retried within [Options].Busy, except a View of reviews that has
// begun to read. After that it returns ErrBusy, or ErrUnknown if it was interrupted at its commit.
//
// Views are not distributed over standbys automatically. A View must see every acknowledged update of every process. So a
// View on a standby would first have to ask the primary for its position in the log, and then wait until the standby has
// reached it. Or every commit would have to wait for every standby that serves reads (synchronous_commit = remote_apply). The
// question to the primary took 0.08 ms on a busy machine where a read of 5 KB took 0.09 to 0.21 ms. So reads of one row, which
// are most reads, would become slower and take little load from the primary. For reads that may be outdated, such as an export
// or a report, open the address of a standby.
//
// The tables are made to be spread over machines, by Citus or an engine like it. Most tables are spread by one column:
//
//	app                by id
//	app_history        by app, so on the machine of the app
//	app_restoration    by app, so on the machine of the app
//	tag                by app, so on the machine of the app
//	tag_move           by app, so on the machine of the app
//	app_scope          by scope, an owner or a group; lists of apps need it
//	app_component      by component; lists of the apps with a component need it
//	app_used           by component; checks of a component need it
//	app_change         not spread: the feed of the changes of apps
//	components         a copy on each machine (a reference table of Citus)
//	answer             by caller; it keeps the results of idempotency keys
//	webhook            by name
//	library            by key, a digest of network and id
//	folder             by library, so on the machine of the library
//	asset              by library, so on the machine of the library
//	asset_list         by library, so on the machine of the library
//	asset_value        by library, so on the machine of the library
//	asset_change       by library, so on the machine of the library
//	review_network     by key, a digest of the name
//	review_collection  by key, a digest of network, source and id
//	review             by collection, so on the machine of the collection
//	claim              by key, a digest
//	feed               not spread: one row, with the key and the identity of all feeds
//	vitrine_schema     not spread: the migrations that were run
//	vitrine_building   not spread: exists during a Build only
//
// There is no sequence but those of the feeds, no foreign key between tables, no trigger, no LISTEN, and no lock but those of
// rows and tables. The server need not join tables of different machines for a list of apps: one statement finds the apps,
// others read them. The state of a library's feed is read from feed and from the tables of the library. A list by time of
// change asks all machines, and so do the removal of expired idempotency keys, the lists of all libraries and of all
// collections of a network, and the polling for followers.
//
// A patch writes the rows of one app, and its entry in app_change. It writes app_scope, app_component and app_used only if it
// changes groups or components. So it may touch several machines, and patches that share a transaction touch more; the
// machines then commit in two phases. Every change of an app, a tag or a component adds a row to app_change, whose order is
// that of the transactions of one server. So app_change stays on one machine.
//
// An update, a page and a total of assets touch the rows of one library. The first update of a library also claims its key.
// Updates of one library wait for each other.
//
// The collections of a network are numbered, and the row of review_network has the highest number. An update gives numbers to
// the collections that it adds when it commits. It holds up others that add collections to this network only meanwhile,
// unless it adds more than 8 MiB or lists the collections of the network. Citus wants the index review_collection_in_order
// without UNIQUE; nothing depends on its being unique.
//
// An engine that spreads the tables must support row locks and READ COMMITTED for updates. For Views that read more than one
// thing it should have one snapshot over all machines. Citus has none: there a View may see what an update has written on one
// machine, and not yet what the same update has written on another. The rows of one app are on one machine and are read in one
// snapshot.
//
// Without such an engine, there can be several stores, each with a database and processes of its own, and one router in front
// of all. The best key is the network: its apps, with their versions, tags and history, its library and its reviews are in one
// store then, and each list and feed that a page of this network needs comes from it. Apps of one network may also be spread, if
// the router remembers which store has given which id, and sends a creation and its repetition with the same Idempotency-Key
// to the same store. The router finds the app in the path (/apps/{id}) or in the body (appId), and the network in the path
// of the asset manager, in the parameter network or in the groups of a new app. Components are created in every store. What
// spans stores is up to the router. For a list of apps of several networks it asks each store and merges the answers. A cursor
// of a feed or of a list belongs to the store that gave it.
//
// [Build] is for one machine: it creates the tables and fills them at once, so nobody can spread them in between. It keeps a
// row of vitrine_building locked meanwhile, on a connection of its own.
//
// The package was tested with PostgreSQL 15 on one machine: several openings and processes of one database, histories
// of concurrent operations, connections cut at each side of a commit, a server that is killed and
// started, failovers to a synchronous standby under several server processes, by hand and by Patroni 3.0.2 behind HAProxy
// and PgBouncer. It was not tested with Citus, YugabyteDB, CockroachDB, poolers other than PgBouncer 1.18, and other managers
// of failovers.
//
// # Poolers
//
// The address may lead to a pooler that gives each transaction another connection, such as PgBouncer with
// pool_mode = transaction. Open notices a pooler, since a pooler tells its clients another process number than that of the
// server process. All settings, the search path included, are then set within each transaction, and each View is a transaction.
// Statements are not kept prepared, unless the address sets default_query_exec_mode. That takes a little more time of the server.
// It takes no more round trips, except that a View of one row then ends with a ROLLBACK, for which nobody waits.
// pool_mode = session works as well, pool_mode = statement does not. When an address begins to lead to a pooler while a store
// is open there, new connections are refused with an error that says so. A pooler's own time limits for transactions
// (idle_transaction_timeout, query_wait_timeout) apply in addition to those of the store.
//
// # Searching
//
// The index of assets consists of posting lists. Each term has a list of the ordinals of the assets that have it, a bit or a
// few bytes for each asset, in rows of up to 1.5 KB. The server itself appends new assets to the last row of a list. A row is
// read and written anew only if it is full, or if an asset that is not new gets or loses the term.
//
// The total of a query with one term is a sum of counts that are stored with the rows, and a page of it reads the rows at
// its end of the list. The total of a query with several terms reads their lists, and the page takes its ordinals from what
// the total has found. A facet of a search with conditions reads the lists of all terms that it
// counts.
//
// Two other ways were measured. A GIN index over an array of the terms has no order and no counts: for a page, all assets
// that match are read and sorted, unless they are so frequent that a walk through the newest assets finds enough. A total
// visits each asset that matches. So the time of both grows with the number of assets. Where little is found, GIN is faster.
// A table with a row for each term of an asset would have the order. But among 100,000 assets it took 1,808 bytes an asset, ten
// times as much as the lists, and 4 ms for the total of a frequent word, where the lists took 0.1 ms. See BenchmarkAssetsSearch
// in storage/internal/bench.
//
// # Upkeep
//
// Autovacuum must be on. Each new version leaves a dead row of its app, with the body. Each update that adds assets leaves a
// dead row in the posting list of each of their terms, and each claim leaves one. In the posting lists the server reuses most
// of this room at once, within the page, since no index changes.
//
// The server cannot reuse a dead row that the oldest snapshot may still see. While a snapshot is open, the tables
// grow with each write: by the body of each patched app, and by about 8 KiB for each asset that is added by itself. The
// growth ends with the snapshot. Then autovacuum makes the room available to later writes; it does not shrink the files. So the
// tables grow at most by what is written during the longest snapshot and one round of autovacuum (autovacuum_naptime, a
// minute).
//
// A View's snapshot ends with its function, or after an hour without a statement. The store cannot end the snapshots
// of dumps, replication slots and standbys with hot_standby_feedback. An operator finds the oldest snapshot by the greatest
// age(backend_xmin) in pg_stat_activity, or age(xmin) in pg_replication_slots, and the dead rows that wait for it as n_dead_tup
// in pg_stat_user_tables. To limit the snapshots of other programs, set idle_in_transaction_session_timeout and
// statement_timeout for their roles.
//
// Strings are stored as bytea; in psql, convert_from(id, 'UTF8') shows them.
//
// # Adding a domain
//
// A domain's store is a type over *DB that uses these:
//
//   - DB.view runs a function in one snapshot. DB.viewOnce does the same for a function that may not run twice;
//   - DB.update runs a function as an update. The function must lock what it reads before it reads it: an existing row with
//     SELECT … FOR UPDATE, and a key without a row with conn.claim, after which it must look for the row again. If each
//     update belongs to one thing (a library), it is enough to lock that;
//   - conn.exec and conn.query run one statement each. conn.walk is for a query with many rows. It prepares its FETCH for as long
//     as the connection lives, so the text and the portion must each be one of a few constants. conn.later takes a statement
//     whose result is not needed, and conn.also a query whose rows may come later: both go out together with the next statement
//     or with the commit, and take no round trip of their own. Prepared statements are cached by their text, so the text
//     should be a constant and values should be arguments ($1, $2 …), lists too (= ANY($1)). An error ends the transaction,
//     so an INSERT of a key that may exist needs ON CONFLICT DO NOTHING;
//   - a string is stored as bytea, and rows.text reads it: PostgreSQL's text cannot contain U+0000 and is ordered by
//     locale. rows.int, rows.blob and rows.bool read the other types.
//
// Errors pass through sentinels.wrap, which adds the domain's own errors. A change of the schema is a new file
// migrations/NNNN_name.sql with the next free number; there is no step back. Numbers are int8. The first column of a primary
// key is the one by which rows are spread, except in app_change and components; see "Several machines". Name the new tables
// there.
package postgres
