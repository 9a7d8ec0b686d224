package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vitrine-go/vitrine/appsvc"
)

// Updates that begin with Announce, as each patch does, are committed in groups. The updates of a group change
// different apps and share one transaction: their apps are locked and read in one round trip, and what they write goes out
// with one COMMIT in another. While two groups are under way, the updates that come wait for the next one, for
// Options.Busy at most. An update whose app waits for a group already gets a transaction of its own.
//
// The function of each update runs in the goroutine of its caller, and the group in another one. The group sends each member
// what it has read (member.read), waits for what each one writes (member.writes), and tells those that have written something
// the result of the commit (member.committed).
//
// An update stays in its group if it reads only what it has announced. Otherwise its function is called again in a
// transaction of its own. That happens too if the app does not exist or another transaction has locked it.
//
// A group that fails is rolled back. If the database was busy, or the outcome of the commit is unknown, each of its updates
// returns that error. Otherwise one of the updates may be the cause, and each is run in a transaction of its own.

const (
	maxGroups  = 2  // groups that are under way at a time
	maxMembers = 32 // updates in a group
)

// errAlone means that an update cannot stay in its group.
var errAlone = errors.New("postgres: the update needs a transaction of its own; the function is called again")

// member is an update that takes part in a group.
type member struct {
	app        string
	components []appsvc.ComponentRef
	joined     bool             // it waits for a group, or is in one
	read       chan groupRead   // receives what the group has read for it
	wrote      []statement      // what its function has written; nil if the function failed or left the group
	writes     chan []statement // receives wrote when the function has returned
	committed  chan error       // receives the result of the commit, if wrote is not empty
}

// groupRead is what a group has read for a member.
type groupRead struct {
	row        *appRow // nil if the app does not exist, or another transaction has locked it
	components announcedComponents
	err        error
}

// newMember returns a member that has joined no group. Its channels have room for one value, so that nobody waits to send.
func newMember() *member {
	return &member{read: make(chan groupRead, 1), writes: make(chan []statement, 1), committed: make(chan error, 1)}
}

// updateInGroup runs fn once, as a member of a group. If fn does not begin with Announce, it gets a transaction of its own when
// it runs its first statement. done is false if nothing was committed and fn has to be called again, in a transaction of its own.
func (db *DB) updateInGroup(ctx context.Context, fn func(appsvc.Tx) error) (done bool, err error) {
	if err := ctx.Err(); err != nil {
		return true, err
	}
	if err := db.enter(); err != nil {
		return true, err
	}
	defer db.users.Done()
	m, c := newMember(), db.newConn(ctx, beginUpdate)
	connect, own := c.connect, false
	c.connect = func() error {
		if m.joined {
			return errAlone
		}
		if err := db.writers.enter(ctx, db.busy, "other updates"); err != nil {
			return err
		}
		own = true
		return connect()
	}
	defer func() {
		if own {
			db.leave(c)
			db.writers.leave()
			db.changed.committed()
		}
	}()
	t := &appTx{appReader{db: db, c: c, member: m, apps: map[string]*appRow{}, locks: map[string]bool{}}}
	err = m.run(t, fn)
	if m.joined {
		return m.end(t, err)
	}
	if err = c.result(err); err == nil {
		err = c.commit()
	}
	return !repeatable(err), err
}

// run calls fn, and tells the group what fn has written: nothing, if it has failed or needs a transaction of its own.
func (m *member) run(t *appTx, fn func(appsvc.Tx) error) (err error) {
	defer func() { // also when fn panics
		t.ended = true
		m.writes <- m.wrote
	}()
	if err = fn(t); err == nil && m.joined && t.fitsGroup() {
		m.wrote = t.c.ahead
	}
	return err
}

// fitsGroup reports whether a group can still do the update: no statement has failed, and the update has locked nothing but what
// it has announced.
func (t *appTx) fitsGroup() bool { return t.c.broken == nil && len(t.locks) == 0 }

// end returns the result of an update that has joined a group, and whose function has returned err. done is false if the
// function has to be called again in a transaction of its own: because it needs one, or because the group has failed and another
// update may be the cause.
func (m *member) end(t *appTx, err error) (done bool, result error) {
	switch broken := t.c.broken; {
	case broken != nil && broken != errAlone:
		return true, broken
	case !t.fitsGroup():
		return false, nil
	case len(m.wrote) == 0:
		return true, err
	}
	err = <-m.committed
	return err == nil || errors.Is(err, errUnknown) || isBusy(err), err
}

// mayJoin reports whether the update may join a group: it belongs to none and has done nothing yet.
func (t *appTx) mayJoin() bool {
	return t.member != nil && !t.member.joined && t.c.raw == nil && t.fitsGroup() && len(t.c.ahead) == 0
}

// readInGroup waits for the group to read what was announced, for Options.Busy at most.
func (t *appTx) readInGroup(ctx context.Context) error {
	busy := time.NewTimer(t.db.busy)
	defer busy.Stop()
	select {
	case found := <-t.member.read:
		if found.err == nil && found.row == nil {
			found.err = errAlone
		}
		t.c.broken = found.err
		t.apps[t.member.app], t.announced = found.row, found.components
	case <-ctx.Done():
		t.c.broken = ctx.Err()
	case <-busy.C:
		t.c.broken = fmt.Errorf("%w: the updates before did not end within %s", errBusy, t.db.busy)
	}
	if t.c.broken != nil {
		t.db.groups.leave(t.member) // if its group has begun, the group gets what the member has written, which is nothing
	}
	return t.c.broken
}

// joinGroup adds a member to the next group. It returns false if an update of the same app waits already.
func (db *DB) joinGroup(m *member, appID string, components []appsvc.ComponentRef) bool {
	db.groups.mu.Lock()
	defer db.groups.mu.Unlock()
	if slices.ContainsFunc(db.groups.waiting, func(other *member) bool { return other.app == appID }) {
		return false
	}
	m.joined, m.app, m.components = true, appID, components
	db.groups.waiting = append(db.groups.waiting, m)
	if db.groups.running < maxGroups {
		db.groups.running++
		go db.runGroups()
	}
	return true
}

// runGroups runs one group after another until no update waits.
func (db *DB) runGroups() {
	for {
		members := db.groups.next(maxMembers)
		if len(members) == 0 {
			return
		}
		db.runGroup(members)
	}
}

// runGroup reads for the members, waits for what they write, and commits it. If it cannot read, each member gets the error. The
// functions of the members only compute meanwhile, so the transaction is not idle for long.
func (db *DB) runGroup(members []*member) {
	ctx, cancel := context.WithTimeout(context.Background(), db.busy) // for the reads; a server may fall silent
	defer cancel()
	given := false
	var writers []*member
	err := db.update(ctx, func(c *conn) error {
		if given { // a second run: the members have made their writes from rows that this transaction has not read
			return errAlone
		}
		found, components, err := c.readAnnounced(ctx, members)
		if err != nil {
			return err
		}
		given = true
		for _, m := range members {
			m.read <- groupRead{row: found[m.app], components: components}
		}
		for _, m := range members {
			if writes := <-m.writes; len(writes) > 0 {
				writers = append(writers, m)
				c.ahead = append(c.ahead, writes...)
			}
		}
		return nil
	})
	if !given {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: the server did not answer within %s: %w", errBusy, db.busy, err)
		}
		for _, m := range members {
			m.read <- groupRead{err: err}
		}
	}
	for _, m := range writers {
		m.committed <- err
	}
}

// readAnnounced locks the apps of members, and reads them and the components that the members need. Apps that another transaction
// has locked are left out: waiting for one would hold up the others.
func (c *conn) readAnnounced(ctx context.Context, members []*member) (apps map[string]*appRow, components announcedComponents, err error) {
	var ids []string
	var refs []appsvc.ComponentRef
	for _, m := range members {
		ids, refs = append(ids, m.app), append(refs, m.components...)
	}
	if len(refs) > 0 {
		c.later("LOCK TABLE components IN " + toRead + " MODE")
		c.alsoComponents(refs, func(found announcedComponents) { components = found })
	}
	apps = map[string]*appRow{}
	found := c.query(ctx, "SELECT "+lockedColumns+" FROM app WHERE id = ANY($1) FOR UPDATE SKIP LOCKED", ids)
	for found.next() {
		row := lockedRow(found)
		apps[row.ID] = row
	}
	return apps, components, found.err
}
