// Package cluster shows that Vitrine on a PostgreSQL cluster loses nothing and goes on by itself, whatever happens to
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
//   - the operations on each app are linearizable, as porcupine judges by the model of internal/proof/appmodel: each took
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
// acknowledged is printed and not judged, since a test may run on a busy machine:
//
//	go test -tags proof ./internal/proof/cluster -v -timeout 0 -args -long 1h
//
// With -only the rounds have only the troubles whose name contains a text, such as "stopped and started".
package cluster
