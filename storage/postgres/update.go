package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vitrine-go/vitrine/storage"
)

const (
	// An update waits for the lock of its space before it reads. In READ COMMITTED the statements that follow see what the update
	// before has committed.
	beginUpdate = "BEGIN ISOLATION LEVEL READ COMMITTED"
	// lockSpace locks the row of a space, which it inserts if it is not there, and counts up its number. It finds no row if the store
	// is not as this process knows it. Having read the row of the format, the transaction keeps exclusive updates from beginning until it
	// ends: they lock the table. That writes nothing, as a lock of the row would.
	lockSpace = `INSERT INTO vitrine_space AS s (name, number) SELECT $1::bytea, 1::int8 FROM vitrine_format WHERE number = $2 AND building = $3
		ON CONFLICT (name) DO UPDATE SET number = s.number + 1
		RETURNING set_config('idle_in_transaction_session_timeout', $4, true)`
	lockStore = "LOCK TABLE vitrine_format IN ACCESS EXCLUSIVE MODE"

	maxMembers = 32      // updates in a group
	maxTrips   = 64      // of an update in a group
	groupBytes = 1 << 20 // that an update in a group may write
	flushBytes = 4 << 20 // that an update by itself writes at once
)

// errAlone means that an update cannot stay in its group.
var errAlone = errors.New("postgres: the update needs a transaction of its own; its function is called again")

// lane has the updates of a space that wait, in the order in which they came. There is one for each space with an update that has
// not sent its COMMIT. Those that wait next to each other share a transaction, as a group, unless they go alone. The next turn
// begins when the COMMIT is sent: it waits for the lock on the server then.
type lane struct{ waiting []*member }

// member is an update.
type member struct {
	ctx       context.Context
	fn        func(storage.Tx) error
	alone     bool // it shares its transaction with no other
	exclusive bool
	turn      chan struct{} // it is the turn of this update, which is alone
	runs      chan *tx      // what its group wants to have fn called with
	done      chan error    // receives its result from its group
}

// tx is the Tx of an update.
type tx struct {
	reader
	full func(context.Context) error // called when own has become large; it empties it or returns an error
	most int                         // bytes
}

func (t *tx) Put(ctx context.Context, entries ...storage.Entry) error {
	for _, e := range entries {
		if e.Value == nil {
			e.Value = []byte{}
		}
		t.own.set(e.Key, e.Value)
		if t.own.size > t.most {
			if err := t.full(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tx) Delete(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		t.own.set(key, nil)
	}
	if t.own.size > t.most {
		return t.full(ctx)
	}
	return nil
}

func (t *tx) DeleteRange(_ context.Context, r storage.Range) error {
	if r.From < r.To {
		t.own.deleteRange(storage.Range{From: r.From, To: r.To})
	}
	return nil
}

func (s *store) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	s.updates.Add(1)
	m := &member{ctx: ctx, fn: fn, alone: o.Large || o.Exclusive, exclusive: o.Exclusive,
		turn: make(chan struct{}, 1), runs: make(chan *tx), done: make(chan error, 1)}
	s.enter(space, m)
	err := s.follow(space, m)
	if err == errAlone {
		m.alone = true
		s.enter(space, m)
		err = s.follow(space, m)
	}
	return wrap(err)
}

// enter queues an update, and begins its turn at once if no other one waits.
func (s *store) enter(space string, m *member) {
	s.mu.Lock()
	l := s.lanes[space]
	idle := l == nil
	if idle {
		l = new(lane)
		s.lanes[space] = l
	}
	l.waiting = append(l.waiting, m)
	s.mu.Unlock()
	if idle {
		s.next(space)
	}
}

// next begins the next turn of a space.
func (s *store) next(space string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lanes[space]
	if len(l.waiting) == 0 {
		delete(s.lanes, space)
		return
	}
	n := slices.IndexFunc(l.waiting, func(m *member) bool { return m.alone })
	if n == 0 {
		l.waiting[0].turn <- struct{}{}
		l.waiting = l.waiting[1:]
		return
	}
	if n < 0 {
		n = len(l.waiting)
	}
	n = min(n, maxMembers)
	members := l.waiting[:n:n]
	l.waiting = l.waiting[n:]
	go s.runGroup(space, members)
}

// leave removes an update that waits. It reports false if its turn has begun.
func (s *store) leave(space string, m *member) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lanes[space]
	if l == nil {
		return false
	}
	i := slices.Index(l.waiting, m)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	return i >= 0
}

// follow waits for the turn of an update, for Options.Busy at most, and does what its group asks for. It returns the result of
// the update, or errAlone.
func (s *store) follow(space string, m *member) error {
	patience := time.NewTimer(s.busy)
	defer patience.Stop()
	ended, late := m.ctx.Done(), patience.C
	for {
		select {
		case t := <-m.runs:
			ended, late = nil, nil
			t.source.(*seat).call(t)
		case <-m.turn:
			return s.runAlone(space, m)
		case err := <-m.done:
			return err
		case <-ended:
			if s.leave(space, m) {
				return m.ctx.Err()
			}
			ended = nil
		case <-late:
			if s.leave(space, m) {
				return fmt.Errorf("%w: the updates of the space %q that came before did not end within %s", errBusy, space, s.busy)
			}
			late = nil
		}
	}
}

// writer waits until one more update may run: some connections are left to Views, which wait for no lock. One that is exclusive
// waits until no other one of this process runs. The caller calls done afterwards.
func (s *store) writer(ctx context.Context, exclusive bool) (done func(), err error) {
	patience := time.NewTimer(s.busy)
	defer patience.Stop()
	n := 1
	if exclusive {
		n = cap(s.writers)
		s.alone.Lock() // so that two of them do not wait for each other
		defer s.alone.Unlock()
	}
	for i := range n {
		select {
		case s.writers <- struct{}{}:
			continue
		case <-ctx.Done():
			err = ctx.Err()
		case <-patience.C:
			err = fmt.Errorf("%w: other updates did not end within %s", errBusy, s.busy)
		}
		n = i
		break
	}
	done = func() {
		for range n {
			<-s.writers
		}
	}
	if err != nil {
		done()
	}
	return done, err
}

// updating returns a session that begins with the lock of a space.
func (s *store) updating(space string, exclusive bool) *session {
	begin := s.opening(beginUpdate)
	if exclusive {
		begin = append(begin, stmt{sql: lockStore})
	}
	se := &session{s: s, writes: true}
	args := []any{[]byte(space), formatNumber, s.builder, milliseconds(idleUpdate)}
	se.begin = append(begin, stmt{lockSpace, args, func(rows pgx.Rows) error {
		found := rows.Next()
		rows.Close()
		if err := rows.Err(); err != nil || found {
			return err
		}
		return errOther
	}})
	return se
}

// errOther means that the row of the format is not what this process knows.
var errOther = errors.New("the format was changed")

// explain replaces errOther by what is wrong with the store.
func (s *store) explain(ctx context.Context, err error) error {
	if !errors.Is(err, errOther) {
		return err
	}
	f, err := s.readFormat(ctx)
	if err == nil {
		err = f.usable(s.builder)
	}
	if err == nil {
		return fmt.Errorf("%w: %w", errLost, errOther) // and back
	}
	return err
}

// runAlone runs an update in a transaction of its own.
func (s *store) runAlone(space string, m *member) error {
	pass := sync.OnceFunc(func() { s.next(space) })
	defer pass()
	done, err := s.writer(m.ctx, m.exclusive)
	if err != nil {
		return err
	}
	defer done()
	return s.again(m.ctx, func() error {
		se := s.updating(space, m.exclusive)
		defer se.end() // also when fn panics
		t := &tx{reader: reader{se, newOverlay(), space}, most: flushBytes}
		t.full = func(ctx context.Context) error {
			writes := t.own.statements()
			*t.own = *newOverlay()
			return se.send(ctx, writes...)
		}
		if err := m.ctx.Err(); err != nil {
			return err
		}
		err := se.result(m.fn(t))
		if err != nil || se.conn == nil && t.own.empty() {
			return s.explain(m.ctx, err)
		}
		return s.explain(m.ctx, s.commit(space, se, t.own, pass))
	})
}

// commit writes what an overlay has and commits. It calls sent when the COMMIT is sent.
func (s *store) commit(space string, se *session, o *overlay, sent func()) error {
	s.commits.Add(1)
	err := se.commit(o.statements(), sent)
	if err == nil || errors.Is(err, errUnknown) {
		s.bells.Ring(space)
	}
	return err
}
