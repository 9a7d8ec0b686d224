package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vitrine-go/vitrine/storage"
)

const (
	// An update waits for the lock of its space before it reads. In READ COMMITTED the statements that follow see the
	// commit of the previous update.
	beginUpdate = "BEGIN ISOLATION LEVEL READ COMMITTED"
	// lockSpace locks the row of a space, which it inserts if it does not exist, and increments its number. It returns
	// no row if the format of the store is not what this process knows. Since the transaction has read vitrine_format,
	// an exclusive update, which locks that table, cannot begin before it ends. Unlike a lock of the row, reading
	// writes nothing.
	lockSpace = `INSERT INTO vitrine_space AS s (name, number)
		SELECT $1::bytea, 1::int8 FROM vitrine_format WHERE number = $2 AND building = $3
		ON CONFLICT (name) DO UPDATE SET number = s.number + 1
		RETURNING set_config('idle_in_transaction_session_timeout', $4, true)`
	lockStore = "LOCK TABLE vitrine_format IN ACCESS EXCLUSIVE MODE"

	flushBytes = 4 << 20 // that an update by itself writes at once
)

// member is an update. A goroutine of its lane calls fn.
type member struct {
	ctx       context.Context
	fn        func(storage.Tx) error
	alone     bool // the update shares its transaction with no other
	exclusive bool
	result    error      // of the last call of fn
	done      chan error // receives the result of the update

	mu     sync.Mutex // is locked while fn runs
	worked bool       // fn has returned nil
	gone   bool       // fn has panicked or ended its goroutine, or the caller waits no longer
	thrown any        // the value with which fn has panicked
}

var errGone = errors.New("postgres: nobody waits for the update")

// call calls fn. It returns errGone if nobody waits for the result.
func (m *member) call(t *tx) (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone {
		return errGone
	}
	m.gone, m.worked = true, false
	defer func() {
		if p := recover(); p != nil {
			err, m.thrown = errGone, p
		}
	}()
	if err = m.ctx.Err(); err == nil {
		err = m.fn(t)
	}
	m.gone, m.worked = false, err == nil
	return err
}

// end returns the result of an update whose context has ended.
func (m *member) end() error {
	m.mu.Lock() // so that fn does not run any more
	defer m.mu.Unlock()
	select {
	case err := <-m.done:
		return err
	default:
	}
	if m.gone = true; m.worked { // the update may still be committed
		return fmt.Errorf("%w: %w", errUnknown, m.ctx.Err())
	}
	return m.ctx.Err()
}

// tx is the Tx of an update.
type tx struct {
	reader
	full func(context.Context) error // called when own has become large; empties own or returns an error
	most int                         // bytes
	sql  func() (pgx.Tx, error)      // see SQL
}

// Spaces sends the writes to the server, and reads from it.
func (t *tx) Spaces(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := t.full(ctx); err != nil {
			yield("", err)
			return
		}
		t.reader.Spaces(ctx, prefix)(yield)
	}
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

func (t *tx) DeleteRange(ctx context.Context, r storage.Range) error {
	if r.From < r.To {
		t.own.deleteRange(storage.Range{From: r.From, To: r.To})
	}
	if t.own.size > t.most {
		return t.full(ctx)
	}
	return nil
}

func (s *store) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	s.updates.Add(1)
	m := &member{ctx: ctx, fn: fn, alone: o.Large || o.Exclusive, exclusive: o.Exclusive, done: make(chan error, 1)}
	err := s.take(space, m)
	if err == errAlone {
		m.alone = true
		err = s.take(space, m)
	}
	if m.thrown != nil {
		panic(m.thrown)
	}
	return wrap(err)
}

// take queues an update, and returns its result.
func (s *store) take(space string, m *member) error {
	s.enter(space, m)
	patience := time.NewTimer(s.busy)
	defer patience.Stop()
	for {
		select {
		case err := <-m.done:
			return err
		case <-m.ctx.Done():
			s.leave(space, m)
			return m.end()
		case <-patience.C:
			if s.leave(space, m) {
				return fmt.Errorf("%w: the updates of the space %q that came before did not end within %s", errBusy,
					space, s.busy)
			}
		}
	}
}

// lanes has the queue of waiting updates of each space. A space has a lane while there is an update that has not sent
// its COMMIT. Neighbours in the queue share a transaction, unless one of them goes alone. The next turn begins when the
// COMMIT is sent, and waits for the lock on the server.
type lanes map[string][]*member

// enter queues an update, and begins its turn at once if there is no other one.
func (s *store) enter(space string, m *member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting, busy := s.lanes[space]
	if s.lanes[space] = append(waiting, m); !busy {
		s.next(space)
	}
}

// next begins the next turn of a space. The caller has locked mu.
func (s *store) next(space string) {
	waiting := s.lanes[space]
	if len(waiting) == 0 {
		delete(s.lanes, space)
		return
	}
	n := slices.IndexFunc(waiting, func(m *member) bool { return m.alone })
	switch {
	case n < 0:
		n = min(len(waiting), maxMembers)
	case n == 0:
		n = 1
	}
	s.lanes[space] = waiting[n:]
	go s.turn(space, waiting[:n:n])
}

// leave removes an update from the queue. It returns false if its turn has begun.
func (s *store) leave(space string, m *member) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.lanes[space], m)
	if i >= 0 {
		s.lanes[space] = slices.Delete(s.lanes[space], i, i+1)
	}
	return i >= 0
}

// turn runs updates in one transaction, and sends each its result.
func (s *store) turn(space string, members []*member) {
	beginNext := sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.next(space)
	})
	defer beginNext()
	err := errAlone // if a function ends this goroutine
	defer func() {
		told := wrap(err)
		for _, m := range members {
			switch {
			case err == nil || m.result == errGone:
				m.done <- m.result
			case len(members) > 1 && !errors.Is(told, storage.ErrUnknown) && !errors.Is(told, storage.ErrBusy):
				m.done <- errAlone // perhaps another update is the cause
			default:
				m.done <- told
			}
		}
	}()
	err = s.writer(members[0].exclusive, func() error {
		return s.again(context.Background(), func() error { return s.attempt(space, members, beginNext) })
	})
}

// writer calls do when one more update may run, since some connections are reserved for Views. An exclusive update
// waits until no other update of this process runs.
func (s *store) writer(exclusive bool, do func() error) error {
	late := time.After(s.busy)
	n := 1
	if exclusive {
		n = cap(s.writers)
		s.alone.Lock() // so that two exclusive updates do not wait for each other
		defer s.alone.Unlock()
	}
	for range n {
		select {
		case s.writers <- struct{}{}:
			defer func() { <-s.writers }()
		case <-late:
			return fmt.Errorf("%w: other updates did not end within %s", errBusy, s.busy)
		}
	}
	return do()
}

// attempt runs updates in one transaction. It returns the error of the transaction; those of functions are in members.
func (s *store) attempt(space string, members []*member, sent func()) error {
	se := s.updating(space, members[0].exclusive)
	defer se.end()
	written := newOverlay()
	var err error
	if len(members) > 1 {
		g := &group{all: written, found: map[string][]byte{}, read: map[ask]portion{}, keys: map[string]bool{},
			portions: map[ask]*portion{}}
		err = g.run(se, members)
	} else {
		err = s.single(se, members[0], written)
	}
	if err == nil && (se.dirty || !written.empty()) {
		s.commits.Add(1)
		if err = se.commit(written.statements(), sent); err == nil || errors.Is(err, errUnknown) {
			s.bells.Ring(space)
		}
	}
	se.end() // explain may need its connection
	return s.explain(err)
}

// single runs the function of an update that has its transaction alone. It reads directly, and sends its writes when
// they are large.
func (s *store) single(se *session, m *member, written *overlay) error {
	t := &tx{reader: reader{se, written}, most: flushBytes}
	sql := &ownSQL{se: se, m: m}
	t.full = func(ctx context.Context) error {
		if written.empty() {
			return nil
		}
		if sql.tx != nil && sql.tx.Conn().PgConn().TxStatus() == 'I' {
			return errEnded
		}
		writes, wait := written.statements(), s.responseWait+time.Duration(written.size)*4*time.Microsecond
		*written = *newOverlay()
		se.dirty = true
		return se.within(ctx, wait, writes...)
	}
	t.sql = func() (pgx.Tx, error) { return sql.begin(t) }
	m.result = m.call(t)
	sql.end()
	if m.result != nil {
		*written, se.dirty = *newOverlay(), false
	}
	if err := se.result(m.result); m.result == nil || repeatable(err) {
		return err
	}
	return nil
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
func (s *store) explain(err error) error {
	if !errors.Is(err, errOther) {
		return err
	}
	f, found := s.find(context.Background())
	switch {
	case errors.Is(found, ErrAbsent): // a Build that has failed has removed it
		return errTaken
	case found != nil:
		return found
	case f.usable(s.builder) == nil: // it was changed back
		return err
	}
	return f.usable(s.builder)
}
