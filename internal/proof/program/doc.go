// Package program builds the programs that proofs run and kill: as they are, or with lines of
// their source replaced, which leaves the source itself alone.
package program
