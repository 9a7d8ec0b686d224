package reviews

import (
	"errors"
	"time"
)

// errStopped ends the reading of a long line that nobody wants to hear more of.
var errStopped = errors.New("reviews: stopped")

// longLine checks the line that begins with s through a window. It is read in a goroutine of its
// own, so that storing the first of its reviews goes on beside checking the next.
func (p *pipeline) longLine(in *lines, s stretch) (err error) {
	out := newSender(make(chan part, 2), make(chan struct{}), newRecycled())
	c := p.checker(out)
	lines := in.number - 1
	go out.run(func() { err = c.long(in, s, &spool{dir: p.dir, limit: p.plain}, out.done) })
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	stopped := false
	defer func() {
		if !stopped {
			close(out.done)
		}
		for range out.to { // until the goroutine has ended, whatever happens
		}
	}()
	for {
		select {
		case found, more := <-out.to:
			if !more {
				return err
			}
			found.replay(p.sink)
			out.used.put(found)
		case <-tick.C:
		}
		p.sink.progress(in.in.n.Load(), lines)
		if p.sink.stopped() && !stopped {
			stopped = true
			close(out.done)
		}
	}
}

// long reads the line until it ends or done is closed.
func (c *checker) long(in *lines, s stretch, temporary *spool, done chan struct{}) error {
	c.spool = temporary
	defer c.spool.close()
	c.watch = func() error {
		select {
		case <-done:
			return errStopped
		default:
			return nil
		}
	}
	rest := &longLine{lines: in, watch: c.watch}
	c.buf, c.base, c.rest = s.data, s.offset, rest
	c.read(s.number)
	if c.err != nil {
		return c.err
	}
	rest.finish(s)
	if in.failed() {
		return in.err
	}
	return nil
}
