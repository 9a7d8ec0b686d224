// Package layout holds the house rules of this module that a compiler does not know, as tests: which
// package may import which, what may be tested with whose libraries, and what the top level holds.
package layout
