// Package hygiene tests, on Linux, that the example server survives clients that are slow, silent, many or
// disconnected, and panics in its own code, and that it stops on a signal.
//
// The server is built with its time limits shortened to seconds and with room for 200 connections, runs
// on a SQLite file, and is put through scenarios over plain TCP. After each, its goroutines and file
// descriptors are counted: there must be as many as before. If the tests run with the race detector, the
// server does too.
//
// The tests show that they detect errors: in that build each guard can be switched off, and its scenario must
// fail then. Three leaks that can be switched on must be found by the counts.
//
// The long form, which sends more requests and prints the figures of the server as it is, with a
// thousand connections and its own time limits:
//
//	go test -tags proof ./internal/proof/hygiene -v -timeout 0 -args -requests 1000000 -flood 10000
package hygiene
