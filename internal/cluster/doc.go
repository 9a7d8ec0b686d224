// Package cluster gives tests a PostgreSQL of their own: a temporary cluster made with the programs that are installed
// on the machine. It needs no running server, no port and no rights, and leaves nothing behind.
//
//	url := cluster.Database(t)          // an empty database of a cluster that all tests of a process share
//	url := cluster.Schema(t)            // an empty schema of one of its databases, which is made faster
//	c := cluster.New(t, nil)            // a cluster of its own, to stop and start: c.URL("postgres")
//
// It listens only on a Unix socket in its own directory. PostgreSQL refuses to run as root, so tests that run as root
// run it as the user postgres, or nobody. The server is a child of a shell, which ends it and removes its directory
// when the test process ends, whatever ends the process.
//
// Where PostgreSQL is not installed, tests that ask for it are skipped; with VITRINE_CI set they fail.
package cluster
