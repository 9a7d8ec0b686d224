package postgres

import (
	"context"
	"slices"
	"time"
)

// Views that read the latest version of an app share queries when many come at once. While maxReads of them read, the Views that
// come wait, and the next query reads the apps of up to maxReaders of them. It begins after its Views, so it sees every update
// that was acknowledged before them. Behind a pooler, Views do not share queries.
//
// A View waits at most readWait for its query to begin, and then at most Options.Busy for the result. It reads by itself, beside
// the others, if no query has begun for it within readWait; if its query has failed; or if its app has a body of more than
// sharedBody bytes, since many large ones would take much memory.
//
// With 32 clients on the machine of the server, sharing lowers the processor time per read by about a third.

const (
	maxReads   = 4                      // Views, or shared queries, during which others wait
	maxReaders = 32                     // Views that share a query
	sharedBody = 64 << 10               // bytes
	readWait   = 100 * time.Millisecond // until a shared query begins
)

// latestApps reads the latest versions of apps. A body that is too large is NULL.
const latestApps = "SELECT " + headColumns + ", CASE WHEN octet_length(body) <= $2 THEN body END, NULL::bytea FROM app WHERE id = ANY($1)"

// sharedRead is a View that waits for an app.
type sharedRead struct {
	app  string
	rows chan *rows // receives the app, or no row if there is none; nil if the View has to read it by itself
}

// readShared reads the app with this id together with others, if many Views read at the moment. If found is nil, the View has to
// read the app by itself. If ctx ends meanwhile, found has its error. The caller calls done when it has read the app.
func (db *DB) readShared(ctx context.Context, id string) (found *rows, done func()) {
	r := db.joinRead(id)
	if r == nil {
		return nil, func() { db.runReads(db.reads.next(maxReaders)) }
	}
	defer func(begun time.Time) {
		db.sharedWaits.Add(1)
		db.sharedWaited.Add(int64(time.Since(begun)))
	}(time.Now())
	patience := time.NewTimer(db.readWait)
	defer patience.Stop()
	select {
	case found = <-r.rows:
	case <-ctx.Done():
		db.reads.leave(r)
		found = &rows{err: ctx.Err()}
	case <-patience.C:
		if db.reads.leave(r) {
			break
		}
		select { // its query has begun, and ends within Options.Busy
		case found = <-r.rows:
		case <-ctx.Done():
			found = &rows{err: ctx.Err()}
		}
	}
	return found, func() {}
}

// joinRead adds a View to those that wait for the next query, and returns it. If fewer than maxReads queries run, the caller need
// not wait: joinRead counts the caller's own query and returns nil, and the caller calls next after that query.
func (db *DB) joinRead(id string) *sharedRead {
	s := &db.reads
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

// runReads starts a goroutine that runs the query of these Views, and then further queries until no View waits. If there are no
// views, it starts none.
func (db *DB) runReads(views []*sharedRead) {
	if len(views) == 0 {
		return
	}
	go func() {
		for ; len(views) > 0; views = db.reads.next(maxReaders) {
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
	ids = slices.Compact(ids)
	apps := map[string]row{}
	err := db.attempt(ctx, beginView, func(c *conn) error {
		found, ok := c.alone(ctx, latestApps, ids, sharedBody)
		if !ok {
			found = c.query(ctx, latestApps, ids, sharedBody)
		}
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
		v.rows <- rowsOf(apps[v.app])
	}
}

// rowsOf returns the rows of a View whose app has this row of latestApps: none if there is no such app. It returns nil if the
// body was left out.
func rowsOf(app row) *rows {
	switch {
	case app == nil:
		return new(rows)
	case app[8] == nil:
		return nil
	}
	return &rows{values: []row{app}}
}
