package storage

import (
	"context"
	"fmt"
	"iter"
)

// Maintenance is what the operator of a store does to the records of one package, such as appsvc. A program that
// checks, archives or imports a store does it for each package that keeps records there.
type Maintenance struct {
	// Audit reads all records and yields a fault for each one that contradicts others, or that the package cannot have
	// written. An error of the store is the last pair. It is nil for a package whose records need no audit.
	Audit func(ctx context.Context, s Store) iter.Seq2[Fault, error]
	// Rebuild makes the indices of a package anew, in many updates. It may be called again after an interruption. It is
	// nil for a package without such indices.
	Rebuild func(ctx context.Context, s Store) error
	// NotArchived has the prefixes of the keys that archives leave out, see Without of package archive.
	NotArchived []string
}

// Fault is a finding of an audit: an entry that contradicts others, or that its package cannot have written.
type Fault struct {
	Key   string // of the entry, or of one that is missing
	Wrong string
}

// String returns the key and what is wrong.
func (f Fault) String() string { return fmt.Sprintf("%q: %s", f.Key, f.Wrong) }
