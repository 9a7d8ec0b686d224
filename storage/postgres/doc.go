// Package postgres keeps Vitrine's data in a PostgreSQL database, for several processes at once.
//
// [Open] builds its tables in an empty database or schema, and refuses one that holds something else
// or a store of a newer release. Processes that open it at the same time wait for the one that
// builds it, and so they do when a newer release brings new tables. [Build] makes a store and fills it;
// until it is done the table vitrine_building marks the store as unfinished, which Open refuses.
//
// # Transactions
//
// A View is one snapshot (REPEATABLE READ, READ ONLY). A View of apps that needs one row is one statement and
// takes no transaction. Nothing is cached between Views, so another process's writes are never missed.
//
// An Update locks what it reads and writes by row locks and reads it when it has them, so updates of
// different apps do not meet, and those of one app stand in line instead of failing. It runs again
// after a deadlock, and when the connection is lost before the commit; that ends after
// [Options].Busy, with the domain's ErrBusy.
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
// # Several machines
//
// Standbys take reads when their address is opened (a database that is up to date needs no write to
// open); what they read is as old as they are. With several hosts in the address and
// target_session_attrs=read-write a store follows a failover: what meets it runs again within
// [Options].Busy, or is ErrBusy, or ErrUnknown at a commit.
//
// The tables are made to be spread over machines, by Citus or an engine like it, by the first column
// of their keys: app by id, and app_history and tag by app beside it; app_scope and app_component,
// the projections that lists need, by scope and component, written in the same transaction; answer
// by caller; component as a reference table, gate anyhow. There is no sequence, no foreign key between
// tables, no trigger, no LISTEN, and no lock but those of rows and tables. A patch touches one app's
// rows and nothing else, unless it changes groups or components. A list asks for positions in one
// statement and for apps in others, so no join crosses machines; one by time of change asks all of
// them, and so does the forgetting of answers that are over.
//
// Of assets, library goes by its key, a digest of network and id, and folder, asset, asset_list and
// asset_value by library beside it: an update, a page and a total touch one machine, but for a
// library's first update, which goes through a gate. Updates of one library stand in line. Of reviews,
// review_collection goes by its key and review by collection beside it. Collections are numbered in
// the order of adding by the one row of review_collections, which holds up other first imports; Citus
// asks for review_collection's UNIQUE (number) to be dropped, which nothing depends on. The lists of
// all libraries and of all collections ask every machine.
//
// What such an engine must give is row locks and READ COMMITTED for updates. For Views that read
// more than one thing it must give one snapshot over all machines, which Citus does not: a View may
// see an update of two apps by half there. Rows of one app are on one machine, and read as one.
//
// [Build] is for one machine: it keeps a row of vitrine_building locked, on a connection of its own.
//
// Tested is PostgreSQL 15 on one machine: several openings and processes of one database, histories
// of concurrent operations, connections cut at each side of a commit, a server that is killed and
// started, failovers to a synchronous standby under several server processes. Not tested are Citus,
// YugabyteDB, CockroachDB, poolers such as PgBouncer, and what decides on a failover.
//
// # Searching
//
// The index of assets is lists: of each term the ordinals of the assets that have it, a bit or a few
// bytes for each, in rows of up to 1 KB. A page reads the rows at its end of the lists, a total of
// several terms the lists, one of a single term a sum of counts. A GIN index over an array of the
// terms has no order and no counts: a page of what is neither frequent nor rare is read as a whole and
// sorted, and a total visits each asset, so both grow with the posts. Of 100,000 posts two words took
// 3.5 ms a page and a frequent word 16 ms a total that way, where lists take 0.7 and 0.1 ms; where
// little is found GIN is ahead, with 0.3 ms a page to 0.4. A row for each term of an asset has the order,
// but took 1,808 bytes a post instead of 178, and 4 ms for that total. See BenchmarkAssetsSearch in
// storage/internal/agree.
//
// # Upkeep
//
// A version replaces its app's row and leaves the old one, with its body, to autovacuum, which has
// to be on; so does adding an asset with the last row of the list of each of its terms. Strings are bytea; psql shows them by convert_from(id, 'UTF8').
//
// # Adding a domain
//
// A domain's store is a type over *DB that uses these:
//
//   - DB.view runs a function in one snapshot, DB.viewOnce one that may not run twice;
//   - DB.update runs one as an update. It must lock what it reads first: a row that is there with
//     SELECT … FOR UPDATE, what is not there with conn.gate, and then look again. A domain whose
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
