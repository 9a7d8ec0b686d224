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
	LogBytes    int64              // of the write-ahead log, since it restarted last; the file may be longer
	Checkpoints uint64             // how often the log was copied into the file
	CacheHits   uint64             // reads that were answered from memory
	CacheMisses uint64
	Readers     int // connections of Views that are open; each has two descriptors
	ReadersBusy int // of these, with a View
	ReadersMost int // as many as may be open; more Views wait
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

// Stats returns the figures of this moment, none after Close.
func (db *DB) Stats() Stats {
	if db.enter() != nil {
		return Stats{}
	}
	defer db.users.Done()
	now := db.watch.now()
	s := Stats{
		Updates: db.writer.counters.updates.Load(), Commits: db.writer.counters.commits.Load(),
		LogBytes: int64(now.frames()) * db.log.page, Checkpoints: db.writer.counters.checkpoints.Load(),
	}
	s.Readers, s.ReadersBusy = db.readers.count()
	s.ReadersMost = mostReaders()
	for i := range s.Batches {
		s.Batches[i] = db.writer.counters.batches[i].Load()
	}
	for _, c := range []*cache{db.cache, db.results} {
		c.mu.Lock()
		s.CacheHits, s.CacheMisses = s.CacheHits+c.hits, s.CacheMisses+c.misses
		c.mu.Unlock()
	}
	return s
}
