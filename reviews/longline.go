package reviews

import (
	"errors"
	"time"
)

// errStopped ends the reading of a long line that nobody wants to hear more of.
var errStopped = errors.New("reviews: stopped")

// longLine is what a checker of a line that is not all in memory needs.
type longLine struct {
	spool *spool       // where the line, or the reviews of it, may wait; nil: the line is all in memory
	from  int64        // offset in the file of the first byte in spool
	watch func() error // called while the line is read; an error ends it
	pass  pass         // to hold more than maxSmall in memory
}

// longLine checks the line that begins with s through a window. It is read in a goroutine of its
// own, so that storing the first of its reviews goes on beside checking the next.
func (p *pipeline) longLine(in *lines, s stretch) (err error) {
	out := newSender(make(chan batch, 2), make(chan struct{}), newRecycled())
	c := p.lineChecker(out)
	lines := in.number - 1
	c.spool = &spool{dir: p.dir, limit: p.uncompressed, all: p.spool}
	c.pass = pass{gate: p.gate, done: out.done}
	go out.run(func() { err = c.readLong(in, s) })
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

// readLong reads the line until it ends or nobody wants the rest.
func (c *lineChecker) readLong(in *lines, s stretch) error {
	defer c.spool.close()
	defer c.pass.leave()
	c.watch = func() error {
		select {
		case <-c.pass.done:
			return errStopped
		default:
			return nil
		}
	}
	rest := &restOfLine{lines: in, watch: c.watch, most: len(s.data)}
	c.window = window{buf: s.data, base: s.offset, rest: rest, small: s.data, most: maxWindow, held: -1, counted: s.offset}
	if c.load {
		c.most = maxSmall // the source may take any time to give the rest
	}
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

// copyRecord copies the record to disk, as far as it is JSON, and has it read from there: what is large in it is held in
// memory only while nobody waits for the source of an import.
func (c *lineChecker) copyRecord() verdict {
	c.copyOut(func() verdict {
		if c.stepOver() == accepted {
			c.end()
		}
		c.pos = len(c.buf) // a fault is met again
		return accepted
	})
	if c.err != nil {
		return c.fail(c.offset(), ruleJSON, "")
	}
	c.depth, c.fault, c.most = 0, nil, maxWindow
	c.admit, c.shed = c.pass.enter, func() {
		if !c.collection.large {
			c.pass.leave()
		}
	}
	return c.readFrom(c.start)
}

// copyOut copies what read reads to disk.
func (c *lineChecker) copyOut(read func() verdict) verdict {
	c.from, c.tee, c.teed = c.offset(), c.spool, c.pos
	v := read()
	c.write(c.pos)
	c.tee = nil
	if c.err != nil {
		return c.fail(c.offset(), ruleJSON, "")
	}
	return v
}

// readFrom has the line read from a place in what was copied.
func (c *lineChecker) readFrom(at position) verdict {
	rest, err := c.spool.reader(at.offset-c.from, c.watch)
	if err != nil {
		c.err = err
		return c.fail(at.offset, ruleJSON, "")
	}
	c.window.begin(rest, at.offset, at.column)
	c.next()
	return accepted
}
