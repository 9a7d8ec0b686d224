// Package hygiene tests, on Linux, that the example server survives clients that are slow, silent, many or
// disconnected, and panics in its own code, and that it stops on a signal.
//
// The server is built with its time limits shortened to seconds and its room to 200 connections, runs
// on a SQLite file, and is put through scenarios over plain TCP. After each, its goroutines and file
// descriptors are counted: they return to where they were. With the race detector on the tests it
// is on in the server as well.
//
// That each guard is needed is shown by the same server without it: the guards have switches in
// that build, and the scenario of each fails when it is off. Three leaks that can be switched on are
// found by the counts.
//
// The long form, which sends more requests and prints the figures of the server as it is, with a
// thousand connections and its own time limits:
//
//	go test ./internal/proof/hygiene -v -timeout 0 -args -requests 1000000 -flood 10000
package hygiene
