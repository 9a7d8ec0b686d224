package postgres

import "time"

// Stats are figures of the connections of an open store, for metrics. The counters begin with Open.
type Stats struct {
	Connections int           // open
	Busy        int           // of these, with a View or an Update
	Most        int           // as many as may be open
	Taken       uint64        // how often a connection was taken for a View or an Update
	Waits       uint64        // of these, how often none was free
	Waited      time.Duration // in all, for connections
}

// Stats returns the figures of this moment.
func (db *DB) Stats() Stats {
	s := db.pool.Stat()
	return Stats{Connections: int(s.TotalConns()), Busy: int(s.AcquiredConns()), Most: int(s.MaxConns()),
		Taken: uint64(s.AcquireCount()), Waits: uint64(s.EmptyAcquireCount()) + db.waits.Load(),
		Waited: s.AcquireDuration() + time.Duration(db.waited.Load())}
}
