package sqlite

import (
	"math/bits"
	"sync/atomic"
)

// Stats are figures of an open store, for metrics. The counters begin with Open.
type Stats struct {
	Updates     uint64             // updates that were committed
	Commits     uint64             // commits that they shared, each with one sync of the disk
	Batches     [BatchSizes]uint64 // how many of them had 1 update, 2, 3 to 4, 5 to 8 and so on, and at last more than 128
	LogBytes    int64              // of the write-ahead log after the last commit of this process, since it restarted last; the file may be longer
	Checkpoints uint64             // how often the log was copied into the file
	Readers     int                // connections of Views that are open; each has two descriptors
	ReadersBusy int                // of these, with a View
	ReadersMost int                // as many as may be open; more Views wait
}

// BatchSizes is how many sizes of commits Stats tells apart. Size i has at most 1<<i updates and more than size i-1; the
// last one has no bound.
const BatchSizes = 9

// counters are what Stats counts.
type counters struct {
	updates, commits, checkpoints atomic.Uint64
	batches                       [BatchSizes]atomic.Uint64
}

// commit counts a commit of so many updates.
func (c *counters) commit(updates uint64) {
	c.commits.Add(1)
	c.updates.Add(updates)
	c.batches[min(bits.Len64(updates-1), BatchSizes-1)].Add(1)
}

// Stats returns the figures of this moment.
func (db *DB) Stats() Stats {
	n := &db.store.writer.counters
	s := Stats{
		Updates: n.updates.Load(), Commits: n.commits.Load(), Checkpoints: n.checkpoints.Load(),
		LogBytes: db.store.log.size(), ReadersMost: mostReaders(),
	}
	s.Readers, s.ReadersBusy = db.store.readers.count()
	for i := range s.Batches {
		s.Batches[i] = n.batches[i].Load()
	}
	return s
}
