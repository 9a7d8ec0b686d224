package storage

import "fmt"

// Fault is what an audit of a domain finds: an entry that contradicts others, or that the domain cannot have written.
type Fault struct {
	Key   string // of the entry, or of one that is missing
	Wrong string
}

func (f Fault) String() string { return fmt.Sprintf("%q: %s", f.Key, f.Wrong) }
