package storage

import "fmt"

// Fault is a finding of an audit: an entry that contradicts others, or that its domain cannot have written.
type Fault struct {
	Key   string // of the entry, or of one that is missing
	Wrong string
}

func (f Fault) String() string { return fmt.Sprintf("%q: %s", f.Key, f.Wrong) }
