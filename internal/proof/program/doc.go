// Package program builds the programs that proofs run and kill, unchanged or with lines of their source replaced. The
// source files themselves are not changed.
package program
