package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

// The updates of a group share one transaction. Their functions run in the goroutines of their callers, and the group in another one:
//
// They all begin at once, until each needs something from the server. That is read in one trip, also the lock of the space. Then
// they go on one after the other, each over what those before it have written, and at last everything is written, with the COMMIT,
// in another trip. So an update that reads once runs once.
//
// One that needs something else from the server waits until all others have ended or wait too, and their next reads share a trip
// again. If what it has read before was written by another one meanwhile, its function is called again, and finds all that it
// has read in the group's cache.
//
// One that fails or panics leaves nothing. One that reads or writes too much gets a transaction of its own.
type group struct {
	space  string
	se     *session
	seats  []*seat
	events chan *seat // a seat that waits for the server, or has ended

	// What follows is used by one goroutine at a time: that of the group, or of the update that it lets go on.
	all   *overlay   // what the updates before have written
	by    []*overlay // the same, by update
	found map[string][]byte
	read  map[ask]portion
}

// seat is one update in a group. It is the source of its reader.
type seat struct {
	g *group
	m *member

	keys   []string // what it waits for
	asks   []ask
	answer chan error

	trips  int
	failed error // every read returns it: errAgain, errAlone or an error of the server
	ended  bool
	gone   bool // fn has panicked or ended its goroutine
	err    error
	own    *overlay

	// What fn has read, when since updates had written.
	since  int
	reads  []string
	ranges []storage.Range
}

// errAgain ends a run of a function that will be called again.
var errAgain = errors.New("postgres: what the update has read was changed by another one; its function is called again")

// call calls fn.
func (p *seat) call(t *tx) {
	p.gone = true
	defer func() {
		p.ended = true
		p.g.events <- p
	}()
	if p.err = p.m.ctx.Err(); p.err == nil {
		p.err = p.m.fn(t)
	}
	p.gone = false
}

// fetch returns what the group has, with what the updates before have written, or waits until the group has it.
func (p *seat) fetch(ctx context.Context, keys []string, found map[string][]byte, portions []*portion) error {
	if p.failed != nil {
		return p.failed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	g := p.g
	for _, key := range keys {
		if _, there := g.found[key]; !there {
			p.keys = append(p.keys, key)
		}
	}
	for _, o := range portions {
		if _, there := g.read[o.ask]; !there {
			p.asks = append(p.asks, o.ask)
		}
	}
	if len(p.keys)+len(p.asks) > 0 {
		g.events <- p
		p.failed = <-p.answer
		if p.keys, p.asks = nil, nil; p.failed != nil {
			return p.failed
		}
	}
	if len(p.reads)+len(p.ranges) == 0 {
		p.since = len(g.by)
	}
	p.reads = append(p.reads, keys...)
	for _, key := range keys {
		value, written := g.all.get(key)
		if !written {
			value = g.found[key]
		}
		found[key] = value
	}
	for _, o := range portions {
		*o = g.all.over(g.read[o.ask])
		p.ranges = append(p.ranges, o.covers)
	}
	return nil
}

// outdated reports whether something that fn has read was written since.
func (p *seat) outdated() bool {
	for _, o := range p.g.by[p.since:] {
		if slices.ContainsFunc(p.ranges, o.touches) || slices.ContainsFunc(p.reads, func(key string) bool {
			_, written := o.get(key)
			return written
		}) {
			return true
		}
	}
	return false
}

// start has the function of a seat called.
func (g *group) start(p *seat) {
	*p = seat{g: g, m: p.m, answer: make(chan error), trips: p.trips, own: newOverlay(), since: len(g.by)}
	p.m.runs <- &tx{reader: reader{p, p.own, g.space}, most: groupBytes, full: func(context.Context) error {
		p.failed = errAlone
		return errAlone
	}}
}

// hear waits until n seats that run have ended or wait for the server, and returns those that wait.
func (g *group) hear(n int) (waiting []*seat) {
	heard := make([]*seat, n)
	for i := range heard {
		heard[i] = <-g.events
	}
	for _, p := range heard {
		switch {
		case !p.ended:
			waiting = append(waiting, p)
		case !p.gone && p.failed == nil && p.err == nil:
			g.all.add(p.own)
			g.by = append(g.by, p.own)
		}
	}
	return waiting
}

// run runs the functions of all seats. It returns the error of the transaction.
func (g *group) run() error {
	for _, p := range g.seats {
		g.start(p)
	}
	for waiting := g.hear(len(g.seats)); len(waiting) > 0; {
		err := g.fetch(waiting)
		var still []*seat
		for _, p := range waiting {
			again := false
			switch p.trips++; {
			case err != nil:
				p.answer <- err
			case p.trips > maxTrips:
				p.answer <- errAlone
			case p.outdated():
				again = true
				p.answer <- errAgain
			default:
				p.answer <- nil
			}
			still = append(still, g.hear(1)...)
			if again && !p.gone {
				g.start(p)
				still = append(still, g.hear(1)...)
			}
		}
		waiting = still
	}
	return g.se.err
}

// fetch reads what seats wait for.
func (g *group) fetch(waiting []*seat) error {
	var keys []string
	var portions []*portion
	for _, p := range waiting {
		keys = append(keys, p.keys...)
		for _, a := range p.asks {
			if !slices.ContainsFunc(portions, func(o *portion) bool { return o.ask == a }) {
				portions = append(portions, &portion{ask: a})
			}
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	ctx, cancel := context.WithTimeout(context.Background(), 2*g.se.s.busy) // a server may fall silent
	defer cancel()
	found := make(map[string][]byte, len(keys))
	if err := g.se.fetch(ctx, keys, found, portions); err != nil {
		if ctx.Err() != nil {
			g.se.err = silent(g.se.s.busy, err)
		}
		return g.se.err
	}
	for _, key := range keys {
		g.found[key] = found[key]
	}
	for _, o := range portions {
		g.read[o.ask] = *o
	}
	return nil
}

// silent returns errBusy for a server that has not answered a read.
func silent(busy time.Duration, err error) error {
	return fmt.Errorf("%w: the server did not answer within %s: %v", errBusy, 2*busy, err)
}

// runGroup runs the updates of a group, commits, and tells each its result.
func (s *store) runGroup(space string, members []*member) {
	pass := sync.OnceFunc(func() { s.next(space) })
	defer pass()
	seats := make([]*seat, len(members))
	for i, m := range members {
		seats[i] = &seat{m: m}
	}
	done, err := s.writer(context.Background(), false)
	if err == nil {
		err = s.again(context.Background(), func() error {
			seats = slices.DeleteFunc(seats, func(p *seat) bool { return p.gone })
			return s.attempt(space, seats, pass)
		})
		done()
	}
	told := wrap(err)
	for _, p := range seats {
		switch {
		case p.gone:
		case err == nil && p.failed != nil: // errAlone, since errors of the server are the group's
			p.m.done <- errAlone
		case err == nil:
			p.m.done <- p.err
		case len(seats) > 1 && p.g != nil && !errors.Is(told, storage.ErrUnknown) && !errors.Is(told, storage.ErrBusy):
			p.m.done <- errAlone // perhaps another update is the cause
		default:
			p.m.done <- told
		}
	}
}

// attempt runs a group in one transaction.
func (s *store) attempt(space string, seats []*seat, pass func()) error {
	g := &group{space: space, se: s.updating(space, false), seats: seats, events: make(chan *seat),
		all: newOverlay(), found: map[string][]byte{}, read: map[ask]portion{}}
	defer g.se.end()
	for _, p := range seats {
		p.g = g
	}
	err := g.run()
	if err == nil && !g.all.empty() {
		err = s.commit(space, g.se, g.all, pass)
	}
	return s.explain(context.Background(), err)
}
