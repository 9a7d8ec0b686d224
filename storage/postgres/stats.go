package postgres

import "time"

// Stats are figures of the connections and the shared queries of an open store, for metrics. The counters begin with Open.
type Stats struct {
	Connections int           // open connections
	Busy        int           // open connections that a View or an Update uses
	Most        int           // how many connections may be open
	Taken       uint64        // how often a View or an Update has taken a connection
	Waits       uint64        // how often it had to wait, since none was free
	Waited      time.Duration // sum of the times that they have waited
	ReadWaits   uint64        // how often a View has waited for a query that it shares with others
	ReadWaited  time.Duration // sum of the times until these Views had a result, or gave up
}

// Stats returns the figures of this moment.
func (db *DB) Stats() Stats {
	s := db.pool.Stat()
	return Stats{Connections: int(s.TotalConns()), Busy: int(s.AcquiredConns()), Most: int(s.MaxConns()),
		Taken: uint64(s.AcquireCount()), Waits: uint64(s.EmptyAcquireCount()) + db.waits.Load(),
		Waited:    s.AcquireDuration() + time.Duration(db.waited.Load()),
		ReadWaits: db.sharedWaits.Load(), ReadWaited: time.Duration(db.sharedWaited.Load())}
}
