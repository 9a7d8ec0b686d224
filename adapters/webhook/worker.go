package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

const (
	readRetry = time.Second            // after a feed could not be read, doubling
	readPause = time.Minute            // at most between two attempts to read
	readEvery = 100 * time.Millisecond // at least, however often the feeds change
	// A position that moved without a delivery, past changes that the endpoint does not get, is stored after this time
	// and after this many changes. What was not stored is read again after a restart.
	storeAfter  = time.Minute
	storePassed = 1000
	// overlap is how much of a feed with a new identity is delivered again.
	overlap = 5 * time.Minute
)

// worker delivers to one endpoint: one change after the other, in the order of the feed, or by time where there are
// several feeds.
type worker struct {
	d    *Deliverer
	e    Endpoint
	term string
	log  *slog.Logger
	told *progress

	stored  []byte // the position as it is stored
	p       position
	passed  int       // changes since the position was stored
	savedAt time.Time // when the position was stored
	lanes   []*lane
	readAt  time.Time // when the feeds were last asked
	// calm are channels of the sources, in their order, that were taken before the source was last read to its end. As long as
	// one is open, its source has nothing new.
	calm []<-chan struct{}
}

// lane is a feed with the changes that were read ahead.
type lane struct {
	feed
	source int
	ahead  []waiting
	more   bool // there is more to read at once
}

// waiting is a change that the endpoint gets, with the cursor behind it and behind those that follow and that the
// endpoint does not get.
type waiting struct {
	change
	through mark
}

// run delivers until stopped is done, which it is when held is. It completes a delivery that is under way when stopped is done, and
// gives it up when held is done. It returns errLost if another process has changed the position.
func (w *worker) run(stopped, held context.Context) error {
	for failed := 0; stopped.Err() == nil; {
		err := w.load(held)
		for err == nil && stopped.Err() == nil {
			if err = w.step(stopped, held); err == nil {
				failed = 0
			}
		}
		if errors.Is(err, errLost) {
			return err
		}
		if err != nil && stopped.Err() == nil {
			w.log.Warn("webhook: the changes cannot be read, trying again", "cause", err.Error())
			_ = sleep(stopped, min(readRetry<<min(failed, 10), readPause))
			failed++
		}
	}
	if w.dirty() && held.Err() == nil {
		return w.save(held)
	}
	return nil
}

// load reads the position and stores it with the term of this process, which keeps all others from replacing it.
func (w *worker) load(ctx context.Context) error {
	text, err := w.d.store.Get(ctx, w.e.stored())
	if err != nil {
		return err
	}
	w.p = w.e.newPosition()
	if text != nil {
		if w.p, err = readPosition(text); err != nil {
			return err
		}
	}
	if r := w.e.receiver(); w.p.Receiver != r {
		w.p.Receiver, w.p.Off, w.p.Failed, w.p.Refused, w.p.Until = r, false, 0, 0, 0
	}
	if err := w.d.begin(ctx, w.e, &w.p); err != nil {
		return err
	}
	w.p.Term, w.stored, w.lanes, w.calm = w.term, text, nil, nil
	return w.save(ctx)
}

// dirty reports whether the position has moved since it was stored.
func (w *worker) dirty() bool { return w.stored != nil && string(w.stored) != string(w.p.text()) }

// save stores the position.
func (w *worker) save(ctx context.Context) error {
	next := w.p.text()
	if string(next) != string(w.stored) {
		if err := put(ctx, w.d.store, w.log, w.e.stored(), w.stored, next); err != nil {
			return err
		}
	}
	w.stored, w.passed, w.savedAt = next, 0, time.Now()
	return nil
}

// step delivers the next change, or waits for one.
func (w *worker) step(stopped, held context.Context) error {
	if w.p.Off {
		w.told.since.Store(0)
		w.told.off.Store(true)
		<-stopped.Done()
		return nil
	}
	// The channels come first: a change that is committed after the feeds were read closes one of them.
	woken := w.wakes()
	l, err := w.next(held)
	if err != nil {
		return err
	}
	if w.passed >= storePassed || w.passed > 0 && time.Since(w.savedAt) >= storeAfter {
		if err := w.save(held); err != nil {
			return err
		}
	}
	if l == nil {
		w.told.since.Store(0)
		w.calm = woken
		w.idle(stopped)
		return nil
	}
	w.told.since.Store(l.ahead[0].At.UnixMilli())
	return w.attempt(stopped, held, l)
}

// wakes returns, for each source, a channel that is closed when there may be new changes, or nil.
func (w *worker) wakes() []<-chan struct{} {
	out := make([]<-chan struct{}, len(w.d.sources))
	for i, s := range w.d.sources {
		if s.wants(w.e) {
			out[i] = s.changed()
		}
	}
	return out
}

// idle waits for a change. Without one it ends when it is time to store the position, and has all sources be read.
func (w *worker) idle(stopped context.Context) {
	ctx, cancel := context.WithTimeout(stopped, storeAfter)
	defer cancel()
	for _, c := range w.calm {
		go func() {
			select {
			case <-c:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	<-ctx.Done()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		w.calm = nil
	}
	_ = sleep(stopped, time.Until(w.readAt.Add(readEvery)))
}

// isCalm reports whether a source has nothing new.
func (w *worker) isCalm(source int) bool {
	if w.calm == nil {
		return false
	}
	select {
	case <-w.calm[source]:
		return false
	default:
		return true
	}
}

// next returns the lane whose first change is the next to deliver, or nil if there is none.
func (w *worker) next(ctx context.Context) (first *lane, err error) {
	if err := w.refresh(ctx); err != nil {
		return nil, err
	}
	for _, l := range w.lanes {
		for len(l.ahead) == 0 && l.more {
			if err := w.fill(ctx, l); err != nil {
				return nil, err
			}
		}
		if len(l.ahead) > 0 && (first == nil || l.ahead[0].At.Before(first.ahead[0].At)) {
			first = l
		}
	}
	return first, nil
}

// refresh has the sources that may have new changes be read, and looks for new feeds of them, if no change is ahead.
func (w *worker) refresh(ctx context.Context) error {
	if slices.ContainsFunc(w.lanes, func(l *lane) bool { return len(l.ahead) > 0 }) {
		return nil
	}
	for i, s := range w.d.sources {
		if !s.wants(w.e) || w.isCalm(i) {
			continue
		}
		feeds, err := s.feeds(ctx, w.e)
		if err != nil {
			return err
		}
		for _, f := range feeds {
			if !slices.ContainsFunc(w.lanes, func(l *lane) bool { return l.name == f.name }) {
				w.lanes = append(w.lanes, &lane{feed: f, source: i})
			}
		}
		for _, l := range w.lanes {
			l.more = l.more || l.source == i
		}
	}
	w.readAt = time.Now()
	return nil
}

// fill reads a page of the feed.
func (w *worker) fill(ctx context.Context, l *lane) error {
	m := w.p.Marks[l.name]
	read, err := l.read(ctx, m.After, w.e)
	if errors.Is(err, errGone) && m.After != "" {
		w.log.Warn("webhook: the feed of changes was reset, or does not go back to the last delivery: going on by time, some changes may be missing",
			"feed", l.name, "from", time.UnixMilli(m.At).UTC())
		w.p.Marks[l.name] = mark{At: m.At, Since: m.At - overlap.Milliseconds()}
		w.passed++
		return nil
	}
	if err != nil {
		return err
	}
	for _, c := range read.changes {
		at := c.At.UnixMilli()
		m.After, m.At = c.Cursor, max(m.At, at)
		if at >= m.Since {
			m.Since = 0
		}
		switch n := len(l.ahead); {
		case m.Since == 0 && w.e.matches(c):
			l.ahead = append(l.ahead, waiting{c, m})
		case n > 0:
			l.ahead[n-1].through = m
		default:
			w.p.Marks[l.name] = m
		}
		w.passed++
	}
	m.After = read.next
	if n := len(l.ahead); n > 0 {
		l.ahead[n-1].through = m
	} else if w.p.Marks[l.name] != m {
		w.p.Marks[l.name] = m
		w.passed++
	}
	l.more = read.more
	return nil
}

// pass moves the position past the first change of a lane.
func (w *worker) pass(l *lane) {
	w.p.Marks[l.name] = l.ahead[0].through
	w.p.Refused = 0
	w.passed++
	l.ahead[0] = waiting{}
	l.ahead = l.ahead[1:]
}

// attempt waits until the next attempt is due, and makes it.
func (w *worker) attempt(stopped, held context.Context, l *lane) error {
	if due := time.Until(time.UnixMilli(w.p.Until)); due > 0 {
		// Clocks of two machines differ, so the time may be far away.
		if sleep(stopped, min(due, longestWait+longestWait/5)) != nil {
			return nil
		}
	}
	c := l.ahead[0].change
	// While the endpoint does not answer, changes grow too old without an attempt of their own.
	if w.p.Failed > 0 && time.Since(c.At) >= keepTrying {
		w.skip(l, "too old")
		w.observe(c, 0, Skipped)
		return nil // the position is stored with others
	}
	id := w.p.id(l.name, c)
	status, err := post(held, w.d.transport, w.e, id, c.body())
	if held.Err() != nil {
		return held.Err()
	}
	log := w.log.With("id", id, "type", c.Type, "attempt", w.p.Failed+1)
	if err != nil {
		log = log.With("cause", fmt.Sprintf("%.200s", err)) // names in certificates may be long
	} else {
		log = log.With("status", status)
	}
	w.observe(c, status, w.judge(l, log, status, err))
	return w.save(held)
}

// judge moves the position as an attempt has ended, and returns its outcome.
func (w *worker) judge(l *lane, log *slog.Logger, status int, err error) Outcome {
	switch {
	case err == nil && status >= 200 && status <= 299:
		log.Debug("webhook: delivered")
		w.p.Failed, w.p.Until = 0, 0
		w.pass(l)
		return Delivered
	case err == nil && status == http.StatusGone:
		log.Warn("webhook: the receiver answered 410: nothing more is delivered until its url or its secret changes")
		w.p.Off = true
		return Disabled
	}
	w.p.Failed++
	if err == nil && refuses(status) {
		w.p.Refused++
	}
	pause := time.Duration(float64(wait(w.p.Failed)) * (1 - jitter + 2*jitter*rand.Float64()))
	w.p.Until = time.Now().Add(pause).UnixMilli()
	switch {
	case w.p.Refused >= mostRefusals:
		// The endpoint is well, it does not want this change.
		w.p.Failed, w.p.Until = 0, 0
		w.skip(l, fmt.Sprintf("refused %d times", mostRefusals))
		return Skipped
	case time.Since(l.ahead[0].At) >= keepTrying:
		w.skip(l, "too old")
		return Skipped
	}
	log.Warn("webhook: not delivered, trying again", "in", pause.Round(time.Millisecond))
	return Retried
}

// refuses reports whether a status says that the receiver does not want this very delivery.
func refuses(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusUnprocessableEntity
}

// skip gives up the first change of a lane.
func (w *worker) skip(l *lane, why string) {
	c := l.ahead[0].change
	w.log.Error("webhook: skipped a change that could not be delivered: "+why, "id", w.p.id(l.name, c), "type", c.Type, "at", c.At.UTC())
	w.pass(l)
}

// now is the time in milliseconds since the epoch.
func now() int64 { return time.Now().UnixMilli() }
