// Package linear shows that the app service is linearizable: every operation takes effect at one
// moment between its call and its answer, whoever asks and whichever process answers.
//
// Clients patch, restore, tag and read two apps at the same time. What they were answered is a
// history, and porcupine looks for an order of the operations that explains all of it by the
// sequential model in model_test.go, in which a write of unknown outcome takes effect once between its call and its return, or never. A history that it cannot decide in time counts as a failure.
// The service runs in memory, in SQLite, and in several openings of one SQLite file or of one PostgreSQL database, as
// several processes have them. What a kill may do is in package crash.
//
// A follower reads the feed of changes during every history. It must get each change once, in the order in
// which they were made, and nothing else. Histories of an asset library need no porcupine, since the feed gives the order
// of the changes: the answer to each change must follow from the changes before it in the feed, and the answer to each
// read from the state of the library at some moment between its call and its answer.
//
// # A cluster
//
// Vitrine on a PostgreSQL cluster loses nothing and goes on by itself, whatever happens to
// the cluster. The cluster is that of examples/deploy/postgres: three nodes with Patroni and etcd, and HAProxy and
// PgBouncer before four processes of Vitrine. It runs on one machine, from the very files, with other addresses,
// ports and directories. There is no watchdog device, so what Patroni does with one is not tested.
//
// Clients patch and read apps and move a tag of each at the same time, each request through any process, and a follower goes
// along with the feed of changes through each. Meanwhile PostgreSQL, Patroni and whole nodes are killed, the primary's node
// stands still and wakes up, members of etcd are killed, nodes are restarted in turn, the primary is switched over, PostgreSQL is
// restarted everywhere, and a node is replaced by an empty one. After each of these every process must acknowledge writes
// again. In the end the history of all answers must hold:
//
//   - no acknowledged patch is lost, none that was refused is kept, and no version is given to two bodies;
//   - the operations on each app are linearizable, as porcupine judges by the same model: each took
//     effect at one moment between its call and its answer, patches that were refused for their version included. A write
//     of unknown outcome may take effect at any time after its call, or never;
//   - each follower met each version once, in order.
//
// A primary that wakes up when another has taken over, or that has run on without Patroni, must not acknowledge a write, also
// not on a session that was open before. A base backup and the WAL archive restore the database to a moment: with all that
// was acknowledged before it and nothing that was begun after it, also when a primary was lost that had not archived its WAL.
//
// Two controls show that the tests detect faults: histories with faults in them, and a cluster whose commits wait for no
// standby, which loses writes.
//
// The programs that this needs are Debian packages: etcd-server, etcd-client, patroni, haproxy, pgbouncer and postgresql. A
// plain run of the tests suspends the primary and later switches it over, which takes a minute and a half. With -long all
// troubles happen in turn, in rounds, one at least, and the cluster that loses writes is tried too. How long no write was
// acknowledged is printed and not judged, since a test may run on a busy machine. With -only the rounds have only the troubles whose name
// contains a text, such as "stopped and started".
//
// The long forms print their figures:
//
//	go test -tags proof ./internal/proof/linear -run Histories -v -timeout 0 -args -memory 1000000 -sqlite 20000 -shared 20000
//	go test -tags proof ./internal/proof/linear -run Cluster -v -timeout 0 -args -long 1h
package linear
