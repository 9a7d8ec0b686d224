// Package cluster gives tests a PostgreSQL of their own: a throw-away cluster from the programs that
// are installed on the machine, which needs no server, no port and no rights, and leaves nothing.
//
//	url := cluster.Database(t)          // an empty database of a cluster that all tests of a process share
//	url := cluster.Schema(t)            // an empty schema of one of its databases, which is there sooner
//	c := cluster.New(t, nil)            // a cluster of its own, to stop and start: c.URL("postgres")
//
// It listens on a Unix socket in its own directory alone. When tests run as root it runs as the user
// postgres, or nobody, since PostgreSQL refuses root. A shell keeps it: that one ends it and removes
// its directory when the test process ends, however that ends.
//
// Where PostgreSQL is not installed, tests that ask for it are skipped; with VITRINE_CI set they fail.
package cluster
