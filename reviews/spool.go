package reviews

import (
	"fmt"
	"sync/atomic"
)

// Spool bounds the bytes that the temporary files of several checks and imports take on disk together. A server gives one Spool
// to all of them, see Options.Spool. Nobody waits for room: a check or an import that finds none ends with ErrSpool, and an
// import keeps what it has stored before. A Spool is safe for concurrent use. A nil *Spool bounds nothing.
type Spool struct {
	most int64
	used atomic.Int64 // bytes of the files that are there, or are about to be written
}

// NewSpool returns a Spool with room for so many bytes.
func NewSpool(most int64) *Spool { return &Spool{most: most} }

// Used returns how many bytes the temporary files take at the moment, as they are on disk. A nil *Spool counts none.
func (s *Spool) Used() int64 {
	if s == nil {
		return 0
	}
	return s.used.Load()
}

// take counts n bytes that are about to be written. It returns an error that wraps ErrSpool, and counts nothing, if there is no
// room for them.
func (s *Spool) take(n int64) error {
	if s == nil {
		return nil
	}
	// Count first and look then, so that two that take at the same time cannot both get the last room.
	if s.used.Add(n) > s.most {
		s.used.Add(-n)
		return fmt.Errorf("%w: those of all imports have reached %d bytes", ErrSpool, s.most)
	}
	return nil
}

// give takes n bytes off the count when their file is removed.
func (s *Spool) give(n int64) {
	if s != nil {
		s.used.Add(-n)
	}
}
