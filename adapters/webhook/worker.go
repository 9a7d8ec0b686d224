package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/vitrine-go/vitrine/internal/lease"
)

// When feeds are read, and when positions are stored.
const (
	readRetry = time.Second            // the wait after a feed could not be read; it doubles each time
	readPause = time.Minute            // the longest wait after a feed could not be read
	readEvery = 100 * time.Millisecond // the shortest time between two readings, however often the feeds change
	// A position that advanced without a delivery, past changes that the endpoint does not get, is stored after this
	// time and after this many changes. The changes since the stored position are read again after a restart.
	storeAfter   = time.Minute
	storeUnsaved = 1000
	// overlap is how much of a feed with a new identity is delivered again.
	overlap = 5 * time.Minute
)

// worker delivers to one endpoint while this process has the lease: one change after the other, in the order of the
// feed, or by time where there are several feeds. It reads a page of each feed ahead, attempts the first change until
// the receiver accepts it or it is given up, and stores the position after each attempt.
//
// run loads the position and then calls step again and again. Each step finds the next change (next, which calls
// refresh and fill), posts it (attempt), decides what the response means for the position (settle), and stores the
// position (save). If there is no change, the step waits for one (idle).
type worker struct {
	d     *Deliverer
	lease *lease.Lease
	e     Endpoint
	log   *slog.Logger

	p       position // as it is now
	stored  string   // as it is stored; "" = it was not read yet
	unsaved int      // changes that it has advanced past since it was stored
	savedAt time.Time
	queues  []*queue
	readAt  time.Time // when refresh last asked the sources for their feeds
	// seen has for each source, in the order of Deliverer.sources, its channel from before it was last read. As long as
	// it is not closed, the source has nothing new. nil = the source must be read.
	seen []<-chan struct{}
}

// queue is a feed with the changes of a page of it that the position is not past yet.
type queue struct {
	feed
	source int // the index of its source in Deliverer.sources
	page       // its changes begin with the first one after the mark; more = there is more to read at once
	// after is set for a batch, which is the only change of a queue of its own: the position after all its changes.
	after *position
}

// run delivers until stopped is done, which is soon after valid is done, since the lease is lost. A delivery that is
// under way is completed when stopped is done, and given up when valid is. After an error the worker begins anew with
// the stored position.
func (w *worker) run(stopped, valid context.Context) {
	for failed := 0; stopped.Err() == nil; failed++ {
		err := w.load(valid)
		for err == nil && stopped.Err() == nil {
			if err = w.step(stopped, valid); err == nil {
				failed = 0
			}
		}
		if err != nil && stopped.Err() == nil {
			if valid.Err() == nil { // else err only means that the lease is lost
				w.log.Warn("webhook: the changes or the position cannot be read, trying again", "cause", err.Error())
			}
			lease.Wait(stopped, min(readRetry<<min(failed, 10), readPause))
		}
	}
	if w.stored != "" && valid.Err() == nil {
		_ = w.save(valid) // if this fails, some changes are delivered again
	}
}

// load reads the position and adapts it to changes of the endpoint.
func (w *worker) load(ctx context.Context) error {
	w.stored, w.queues, w.seen = "", nil, make([]<-chan struct{}, len(w.d.sources))
	p, found, err := w.d.readPosition(ctx, w.e)
	if err != nil {
		return err
	}
	if !found { // the record was deleted since Set
		p = w.e.newPosition()
	}
	w.stored = p.text()
	if r := w.e.receiver(); p.Receiver != r {
		p.Receiver, p.Off, p.Failed, p.Rejected, p.Until = r, false, 0, 0, 0
	}
	w.p = p
	if err := w.d.begin(ctx, w.e, &w.p); err != nil {
		return err
	}
	return w.save(ctx)
}

// save stores the position if it has changed.
func (w *worker) save(valid context.Context) error {
	next := w.p.text()
	if next != w.stored {
		if err := w.lease.Store(valid, positionKey(w.e.Name), w.p); err != nil {
			return err
		}
	}
	w.stored, w.unsaved, w.savedAt = next, 0, time.Now()
	return nil
}

// step makes one attempt to deliver the next change, or waits until there is one. An endpoint that is switched off
// waits for stopped.
func (w *worker) step(stopped, valid context.Context) error {
	progress := Progress{Endpoint: w.e.Name, Disabled: w.p.Off}
	if w.p.Off {
		w.d.tell(progress)
		<-stopped.Done()
		return nil
	}
	q, err := w.next(valid)
	if err != nil {
		return err
	}
	if w.unsaved >= storeUnsaved || w.unsaved > 0 && time.Since(w.savedAt) >= storeAfter {
		if err := w.save(valid); err != nil {
			return err
		}
	}
	if q != nil {
		progress.Waiting = time.UnixMilli(q.changes[0].At.UnixMilli())
	}
	w.d.tell(progress)
	if q == nil {
		w.idle(stopped)
		return nil
	}
	if w.e.Wait > 0 {
		if q, err = w.batch(stopped, valid); q == nil || err != nil {
			return err
		}
	}
	return w.attempt(stopped, valid, q)
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
	lease.Wait(stopped, time.Until(w.readAt.Add(readEvery)))
}

// next returns the queue whose first change is the next to deliver, or nil if there is none. That is the oldest of the
// first changes of all queues that the endpoint gets; of several with the same time, the one of the earlier queue.
func (w *worker) next(ctx context.Context) (first *queue, err error) {
	if err := w.refresh(ctx); err != nil {
		return nil, err
	}
	for _, q := range w.queues {
		for w.dropUnwanted(q); len(q.changes) == 0 && q.more; w.dropUnwanted(q) {
			if err := w.fill(ctx, q); err != nil {
				return nil, err
			}
		}
		if len(q.changes) > 0 && (first == nil || q.changes[0].At.Before(first.changes[0].At)) {
			first = q
		}
	}
	return first, nil
}

// dropUnwanted advances the position past the changes at the beginning of a queue that the endpoint does not get.
func (w *worker) dropUnwanted(q *queue) {
	for len(q.changes) > 0 {
		c := q.changes[0]
		told := w.e.Tags != nil && c.Release != "" && c.Release == w.p.Told
		if c.At.UnixMilli() >= w.p.Marks[q.name].Since && w.e.matches(c) && !told {
			return
		}
		w.advance(q)
	}
}

// refresh replaces the queues of all sources that may have new changes, to be read from their marks on. It does nothing
// while a change is still waiting in a queue.
func (w *worker) refresh(ctx context.Context) error {
	if slices.ContainsFunc(w.queues, func(q *queue) bool { return len(q.changes) > 0 }) {
		return nil
	}
	for i, s := range w.d.sources {
		if w.seen[i] != nil && !closed(w.seen[i]) {
			continue
		}
		changed := s.changed() // before the feeds are read: a change that is committed afterwards closes it
		feeds, err := s.feeds(ctx, w.e)
		if err != nil {
			return err
		}
		w.seen[i] = changed
		w.queues = slices.DeleteFunc(w.queues, func(q *queue) bool { return q.source == i })
		for _, f := range feeds {
			w.queues = append(w.queues, &queue{feed: f, source: i, page: page{more: true}})
		}
	}
	w.readAt = time.Now()
	return nil
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// fill reads a page of the feed into its queue, whose page is at its end. If the feed no longer goes back to the mark
// or has another identity, fill sets the mark to the beginning of the feed: then the changes that are older than the
// last one done by more than overlap are skipped.
func (w *worker) fill(ctx context.Context, q *queue) error {
	m := w.p.Marks[q.name]
	read, err := q.read(ctx, m.After, w.e)
	if errors.Is(err, errGone) && m.After != "" {
		w.log.Warn("webhook: the feed of changes was reset, or does not go back to the last delivery: going on by "+
			"time, some changes may be missing",
			"feed", q.name, "from", time.UnixMilli(m.At).UTC())
		w.p.Marks[q.name] = mark{At: m.At, Since: m.At - overlap.Milliseconds()}
		w.unsaved++
		return nil
	}
	if err != nil {
		return err
	}
	q.page = read
	if len(read.changes) == 0 && m.After != read.next {
		m.After = read.next
		w.p.Marks[q.name] = m
		w.unsaved++
	}
	return nil
}

// advance removes the first change from a queue and sets the position after it, or to the end of the page after its
// last change. The position is stored afterwards. If the process is killed before that, the change is delivered again,
// with the same id.
func (w *worker) advance(q *queue) {
	m, c := w.p.Marks[q.name], q.changes[0]
	q.changes = q.changes[1:]
	w.unsaved++
	if q.after != nil {
		w.p.Marks, w.p.Told = q.after.Marks, q.after.Told
		w.queues, w.seen = nil, make([]<-chan struct{}, len(w.d.sources))
		return
	}
	if w.e.Tags != nil && c.Release != "" && w.e.matches(c) {
		w.p.Told = c.Release
	}
	m.After = c.Cursor
	if len(q.changes) == 0 {
		m.After = q.next
	}
	at := c.At.UnixMilli()
	m.At = max(m.At, at)
	if at >= m.Since { // from here on nothing is skipped
		m.Since = 0
	}
	w.p.Marks[q.name] = m
}

// attempt waits until the next attempt at the first change of a queue is due, makes it, and stores the position.
func (w *worker) attempt(stopped, valid context.Context, q *queue) error {
	// Another machine may have stored Until, with a clock that is far ahead. So no wait is longer than the longest one
	// that retries have.
	due := min(time.Until(time.UnixMilli(w.p.Until)), longestWait+longestWait/5)
	if due > 0 && !lease.Wait(stopped, due) {
		return nil
	}
	c := q.changes[0]
	// While the endpoint does not respond, changes grow too old without an attempt of their own.
	if w.p.Failed > 0 && time.Since(c.At) >= keepTrying {
		w.skip(q, "too old")
		w.observe(c, 0, Skipped)
		return nil // step stores the position later: there may be many such changes
	}
	id := w.p.id(q.name, c)
	status, err := post(valid, w.d.transport, w.e, id, c.body())
	if valid.Err() != nil {
		return valid.Err()
	}
	log := w.log.With("id", id, "type", c.Type, "attempt", w.p.Failed+1)
	if err != nil {
		log = log.With("cause", fmt.Sprintf("%.200s", err)) // names in certificates may be long
	} else {
		log = log.With("status", status)
	}
	w.observe(c, status, w.settle(q, log, status, err))
	return w.save(valid)
}
