// Package hygiene tests, on Linux, that the example server survives clients that are slow, silent, many or
// disconnected, and that it stops on a signal.
//
// The server is built with its time limits shortened to seconds and with room for 200 connections, runs
// on a SQLite file, and is put through scenarios over plain TCP. After each, its goroutines and file
// descriptors are counted: there must be as many as before. If the tests run with the race detector, the
// server does too.
package hygiene
