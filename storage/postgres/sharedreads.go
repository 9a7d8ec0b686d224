package postgres

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"
)

// Views that read the latest version of an app share queries when many come at once. While maxReads of these queries are under
// way, the Views that come wait, and the next query reads the apps of all of them. Such a query begins after its Views, so it
// sees every update that was acknowledged before them. It leaves out bodies of more than sharedBody bytes: so many large ones
// would take much memory. A View whose app is left out, or whose query has failed, reads by itself.
//
// With 32 clients a read takes about two thirds of the processor time that a query for each takes. A client that is alone is as
// fast as without this.

const (
	maxReads   = 2        // queries that are under way at a time
	maxReaders = 32       // Views that share a query
	sharedBody = 64 << 10 // bytes
)

// latestApps reads the latest versions of apps. A body that is too large is NULL.
const latestApps = "SELECT " + headColumns + ", CASE WHEN octet_length(body) <= $2 THEN body END, NULL::bytea FROM app WHERE id = ANY($1)"

// sharedReads has the Views that wait for a shared query, and counts the queries that are under way.
type sharedReads struct {
	mu      sync.Mutex
	waiting []*sharedRead // in the order in which they came
	running int
}

// sharedRead is a View that waits for an app.
type sharedRead struct {
	app  string
	rows chan *rows // receives the app, or no row if there is none; nil if the View has to read it by itself
}

// readShared reads the app with this id together with others, if many Views read at the moment. Otherwise found is nil: the View
// reads the app by itself, and then calls done.
func (db *DB) readShared(ctx context.Context, id string) (found *rows, done func()) {
	s := &db.reads
	r := s.join(id)
	if r == nil {
		return nil, func() { db.runReads(s.next()) }
	}
	busy := time.NewTimer(db.busy)
	defer busy.Stop()
	select {
	case found = <-r.rows:
	case <-ctx.Done():
		s.leave(r)
		found = &rows{err: ctx.Err()}
	case <-busy.C:
		s.leave(r)
	}
	return found, func() {}
}

// join returns a View that waits for the next query. It returns nil, and counts a query of the caller, if so few are under way
// that it may begin at once; the caller calls next after that query.
func (s *sharedReads) join(id string) *sharedRead {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running < maxReads {
		s.running++
		return nil
	}
	r := &sharedRead{app: id, rows: make(chan *rows, 1)}
	s.waiting = append(s.waiting, r)
	return r
}

// leave takes a View out of those that wait. If its query has begun already, it does nothing.
func (s *sharedReads) leave(r *sharedRead) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = slices.DeleteFunc(s.waiting, func(other *sharedRead) bool { return other == r })
}

// next takes the Views of the next query out of those that wait. If none waits, it counts the query of its caller as ended.
func (s *sharedReads) next() []*sharedRead {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.waiting), maxReaders)
	if n == 0 {
		s.running--
		return nil
	}
	next := slices.Clone(s.waiting[:n])
	s.waiting = slices.Delete(s.waiting, 0, n)
	return next
}

// runReads runs the query of these Views, and then one after another until no View waits. It does not wait for that.
func (db *DB) runReads(views []*sharedRead) {
	if len(views) == 0 {
		return
	}
	go func() {
		for ; len(views) > 0; views = db.reads.next() {
			db.runRead(views)
		}
	}()
}

// runRead reads the apps of views in one query.
func (db *DB) runRead(views []*sharedRead) {
	ctx, cancel := context.WithTimeout(context.Background(), db.busy)
	defer cancel()
	ids := make([]string, len(views))
	for i, v := range views {
		ids[i] = v.app
	}
	slices.Sort(ids)
	apps := map[string]row{}
	err := db.attempt(ctx, beginView, func(c *conn) error {
		found, _ := c.alone(ctx, latestApps, slices.Compact(ids), sharedBody)
		for found.next() {
			apps[found.text(0)] = found.values[found.at-1]
		}
		return found.err
	}, endView)
	for _, v := range views {
		if err != nil {
			v.rows <- nil
			continue
		}
		v.rows <- ownRows(apps[v.app])
	}
}

// ownRows returns a copy of a row of latestApps, no row for nil, and nil if its body was left out.
func ownRows(app row) *rows {
	if app == nil {
		return new(rows)
	}
	if app[8] == nil {
		return nil
	}
	own := make(row, len(app))
	for i, v := range app {
		own[i] = bytes.Clone(v)
	}
	return &rows{values: []row{own}}
}
