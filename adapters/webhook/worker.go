package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

// When feeds are read, and when positions are stored.
const (
	readRetry = time.Second            // the wait after a feed could not be read; it doubles each time
	readPause = time.Minute            // the longest wait after a feed could not be read
	readEvery = 100 * time.Millisecond // the shortest time between two readings, however often the feeds change
	// A position that moved without a delivery, past changes that the endpoint does not get, is stored after this time
	// and after this many changes. What was not stored is read again after a restart.
	storeAfter  = time.Minute
	storePassed = 1000
	// overlap is how much of a feed with a new identity is delivered again.
	overlap = 5 * time.Minute
)

// worker delivers to the endpoint of one name while this process holds the lease: one change after the other, in the order of the feed,
// or by time where there are several feeds. It reads ahead into queues, attempts the first change until the receiver accepts it or it is
// given up, and stores the position after each attempt. Its fields are used in one goroutine, except for those that Progress reads.
//
// run loads the position and then calls step again and again. Each step finds the next change (next, which calls refresh and
// fill), posts it (attempt), decides what the response means for the position (judge), and stores the position (save). If
// there is no change, the step waits for one (idle).
type worker struct {
	d     *Deliverer
	lease *lease
	e     Endpoint
	log   *slog.Logger

	since atomic.Int64 // time of the oldest change that is not delivered yet, in milliseconds since the epoch; 0 = there is none
	off   atomic.Bool  // the position's Off

	p       position // as it is now
	stored  string   // as it is stored; "" = it was not read yet
	passed  int      // changes that it has moved past since it was stored
	savedAt time.Time
	queues  []*queue
	readAt  time.Time // when refresh last asked the sources for their feeds
	// seen has for each source, in the order of Deliverer.sources, its channel from before it was last read. As long as that is
	// open, the source has nothing new. nil = the source is to be read.
	seen []<-chan struct{}
}

// work delivers to the endpoint of the worker's name, as Set has it, until ctx or held is done. When the endpoints change, a delivery
// that is under way is completed first. lose is called if another process has taken over.
func (w *worker) work(ctx, held context.Context, lose context.CancelCauseFunc, name string) {
	for ctx.Err() == nil && held.Err() == nil {
		endpoints, changed := w.d.current()
		stopped, stop := context.WithCancel(ctx)
		go func() {
			defer stop()
			select {
			case <-changed:
			case <-held.Done():
			case <-stopped.Done():
			}
		}()
		if at := slices.IndexFunc(endpoints, func(e Endpoint) bool { return e.Name == name }); at >= 0 {
			w.e = endpoints[at]
			if err := w.run(stopped, held); errors.Is(err, errLost) {
				lose(err)
			}
		}
		<-stopped.Done()
	}
}

// queue is a feed with the changes of it that were read and not delivered yet.
type queue struct {
	feed
	source int       // the index of its source in Deliverer.sources
	ahead  []waiting // only changes that the endpoint gets, in the order of the feed
	more   bool      // there is more to read at once
}

// waiting is a change in a queue. after is the mark to store once it is delivered: it is past the change itself and past the
// changes that follow in the feed and that the endpoint does not get.
type waiting struct {
	change
	after mark
}

// run delivers until stopped is done. held is done when this process has lost the lease, and stopped is done soon after that.
// A delivery that is under way is completed when stopped is done, and given up when held is done. run returns errLost
// if another process has taken over. Any other error is of the last save; errors before that are logged, and the
// worker begins anew with the stored position.
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
			if held.Err() == nil { // else err says only that the lease is lost
				w.log.Warn("webhook: the changes or the position cannot be read, trying again", "cause", err.Error())
			}
			_ = sleep(stopped, min(readRetry<<min(failed, 10), readPause))
			failed++
		}
	}
	if w.stored != "" && held.Err() == nil {
		return w.save(held)
	}
	return nil
}

// load reads the position and adapts it to what has changed in the endpoint.
func (w *worker) load(ctx context.Context) error {
	w.stored, w.queues, w.seen = "", nil, make([]<-chan struct{}, len(w.d.sources))
	p, found, err := w.d.readPosition(ctx, w.e)
	if err != nil {
		return err
	}
	if !found { // somebody has deleted the record since Set
		p = w.e.newPosition()
	}
	w.p, w.stored = p, p.text()
	if r := w.e.receiver(); w.p.Receiver != r {
		w.p.Receiver, w.p.Off, w.p.Failed, w.p.Rejected, w.p.Until = r, false, 0, 0, 0
	}
	w.off.Store(w.p.Off)
	if err := w.d.begin(ctx, w.e, &w.p); err != nil {
		return err
	}
	return w.save(ctx)
}

// save stores the position if it has moved. It returns errLost if this process no longer holds the lease.
func (w *worker) save(ctx context.Context) error {
	next := w.p.text()
	if next != w.stored {
		if err := w.lease.update(ctx, func(t storage.Tx, _ leaseRecord) error { return write(ctx, t, positionKey(w.e.Name), w.p) }); err != nil {
			return err
		}
	}
	w.stored, w.passed, w.savedAt = next, 0, time.Now()
	return nil
}

// step makes one attempt to deliver the next change, or waits until there is one. An endpoint that is switched off
// waits for stopped.
func (w *worker) step(stopped, held context.Context) error {
	if w.p.Off {
		w.since.Store(0)
		w.off.Store(true)
		<-stopped.Done()
		return nil
	}
	q, err := w.next(held)
	if err != nil {
		return err
	}
	if w.passed >= storePassed || w.passed > 0 && time.Since(w.savedAt) >= storeAfter {
		if err := w.save(held); err != nil {
			return err
		}
	}
	if q == nil {
		w.since.Store(0)
		w.idle(stopped)
		return nil
	}
	w.since.Store(q.ahead[0].At.UnixMilli())
	return w.attempt(stopped, held, q)
}

// idle waits until a source may have a change, at most until it is time to store the position. After that time all
// sources are read again, in case a notification was lost.
func (w *worker) idle(stopped context.Context) {
	ctx, cancel := context.WithTimeout(stopped, storeAfter)
	defer cancel()
	for _, c := range w.seen {
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
		clear(w.seen)
	}
	_ = sleep(stopped, time.Until(w.readAt.Add(readEvery)))
}

// next returns the queue whose first change is the next to deliver, or nil if there is none. That is the oldest of the first
// changes of all queues; of several with the same time, the one of the earlier queue.
func (w *worker) next(ctx context.Context) (first *queue, err error) {
	if err := w.refresh(ctx); err != nil {
		return nil, err
	}
	for _, q := range w.queues {
		for len(q.ahead) == 0 && q.more {
			if err := w.fill(ctx, q); err != nil {
				return nil, err
			}
		}
		if len(q.ahead) > 0 && (first == nil || q.ahead[0].At.Before(first.ahead[0].At)) {
			first = q
		}
	}
	return first, nil
}

// refresh marks the queues of all sources that may have new changes as having more to read, and adds queues for new
// feeds. It does nothing while a change is still waiting in a queue, since what was read is delivered first.
func (w *worker) refresh(ctx context.Context) error {
	if slices.ContainsFunc(w.queues, func(q *queue) bool { return len(q.ahead) > 0 }) {
		return nil
	}
	for i, s := range w.d.sources {
		if !s.wants(w.e) || w.seen[i] != nil && !closed(w.seen[i]) {
			continue
		}
		changed := s.changed() // before the feeds are read: a change that is committed afterwards closes it
		feeds, err := s.feeds(ctx, w.e)
		if err != nil {
			return err
		}
		w.seen[i] = changed
		for _, f := range feeds {
			if !slices.ContainsFunc(w.queues, func(q *queue) bool { return q.name == f.name }) {
				w.queues = append(w.queues, &queue{feed: f, source: i})
			}
		}
		for _, q := range w.queues {
			q.more = q.more || q.source == i
		}
	}
	w.readAt = time.Now()
	return nil
}

// closed reports whether a channel is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// fill reads a page of the feed into its queue. Changes that the endpoint does not get only move the mark. If the feed no
// longer goes back to the mark or has another identity, fill moves the mark to the beginning of the feed and returns: the
// next fills pass over the changes that are older than the last one done by more than overlap.
func (w *worker) fill(ctx context.Context, q *queue) error {
	m := w.p.Marks[q.name]
	read, err := q.read(ctx, m.After, w.e)
	if errors.Is(err, errGone) && m.After != "" {
		w.log.Warn("webhook: the feed of changes was reset, or does not go back to the last delivery: going on by time, some changes may be missing",
			"feed", q.name, "from", time.UnixMilli(m.At).UTC())
		w.p.Marks[q.name] = mark{At: m.At, Since: m.At - overlap.Milliseconds()}
		w.passed++
		return nil
	}
	if err != nil {
		return err
	}
	for _, c := range read.changes {
		at := c.At.UnixMilli()
		m.After, m.At = c.Cursor, max(m.At, at)
		if at >= m.Since { // from here on nothing is passed over
			m.Since = 0
		}
		// A change that the endpoint does not get moves the mark of the change before it, or of the feed if there is none.
		switch n := len(q.ahead); {
		case m.Since == 0 && w.e.matches(c):
			q.ahead = append(q.ahead, waiting{c, m})
		case n > 0:
			q.ahead[n-1].after = m
		default:
			w.p.Marks[q.name] = m
		}
		w.passed++
	}
	// The end of the page may be after its last change, so the mark moves there, too.
	m.After = read.next
	if n := len(q.ahead); n > 0 {
		q.ahead[n-1].after = m
	} else if w.p.Marks[q.name] != m {
		w.p.Marks[q.name] = m
		w.passed++
	}
	q.more = read.more
	return nil
}

// advance removes the first change from a queue and moves the position past it. The position is stored afterwards. If the
// process is killed before that, the change is delivered again, with the same id.
func (w *worker) advance(q *queue) {
	w.p.Marks[q.name] = q.ahead[0].after
	w.p.Rejected = 0
	w.passed++
	q.ahead[0] = waiting{}
	q.ahead = q.ahead[1:]
}

// attempt waits until the next attempt at the first change of a queue is due, makes it, and stores the position.
func (w *worker) attempt(stopped, held context.Context, q *queue) error {
	if due := time.Until(time.UnixMilli(w.p.Until)); due > 0 {
		// Another machine may have stored Until, with a clock that is far ahead. So no wait is longer than the longest one that
		// wait and the jitter give.
		if sleep(stopped, min(due, longestWait+longestWait/5)) != nil {
			return nil
		}
	}
	c := q.ahead[0].change
	// While the endpoint does not answer, changes grow too old without an attempt of their own.
	if w.p.Failed > 0 && time.Since(c.At) >= keepTrying {
		w.skip(q, "too old")
		w.observe(c, 0, Skipped)
		return nil // step stores the position later: there may be many such changes
	}
	id := w.p.id(q.name, c)
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
	w.observe(c, status, w.judge(q, log, status, err))
	return w.save(held)
}

// now is the time in milliseconds since the epoch.
func now() int64 { return time.Now().UnixMilli() }
