package reviews

import (
	"errors"
	"time"
)

// errStopped ends the reading of a long line when nobody wants the rest of it.
var errStopped = errors.New("reviews: stopped")

// longLine is what a lineChecker needs for a line that is longer than a block, see howitworks.go. Such a line has no bound: all
// reviews of a popular article are in one line.
//
// An import stores no review before it knows the whole collection, whose members may come after the reviews. So it copies the
// record to a temporary file first and reads it from there. That also keeps a slow client from holding up other imports: whoever
// is inside the Gate reads a file of this machine. A check copies only reviews with no dimensions before them, since it
// must know the number of dimensions to judge their ratings.
type longLine struct {
	temp  *tempFile    // the temporary file; nil: the line is all in memory
	from  int64        // offset in the file of the first byte in temp
	watch func() error // called before each read of the line; its error, errStopped, ends the reading
	pass  pass         // to have more than maxSmall in memory
}

// longLine checks the line that begins with b, and reads in up to the next line. It returns the error of reading or of the
// temporary file, and errStopped if the sink has stopped.
//
// The line is read in a goroutine of its own, so that the first of its reviews are stored while the next are checked. Findings
// come back as from a worker, and the sink is called in the goroutine of run.
//
// A timer asks the sink every 100 ms whether it has stopped, since a line may give no finding for long. done then tells the
// reading goroutine to end, which it notices before its next read and wherever it waits. longLine returns when that goroutine has
// ended, also if the sink panics.
func (p *pipeline) longLine(in *lines, b block) (err error) {
	out := newSender(make(chan batch, 2), make(chan struct{}), newBatchPool())
	c := p.lineChecker(out)
	lines := in.number - 1 // read before the goroutine below moves in
	c.temp = &tempFile{dir: p.dir, plainLimit: p.plainLimit, spool: p.spool}
	c.pass = pass{gate: p.gate, done: out.done}
	go out.run(func() { err = c.readLong(in, b) })
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	stopped := false
	defer func() {
		if !stopped {
			close(out.done)
		}
		for range out.to { // until the goroutine has ended, also if the sink panics
		}
	}()
	// The goroutine closes out.to at its end, when err is set.
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

// readLong reads the line that begins with b until it ends, cannot be read on, or nobody wants the rest. It moves in to the next
// line. When it returns, the temporary file is removed and the Gate left. It runs in a goroutine of its own, see
// pipeline.longLine.
func (c *lineChecker) readLong(in *lines, b block) error {
	defer c.temp.close()
	defer c.pass.leave()
	c.watch = func() error {
		select {
		case <-c.pass.done:
			return errStopped
		default:
			return nil
		}
	}
	// The window begins with the block that the line has filled, and reads on from the file.
	rest := &restOfLine{lines: in, watch: c.watch, most: len(b.data)}
	c.window = window{buf: b.data, base: b.offset, rest: rest, small: b.data, most: maxWindow, pinned: -1, counted: b.offset}
	if c.forImport {
		c.most = maxSmall // a client may send the rest slowly, and memory must not wait for it
	}
	c.read(b.number)
	if c.err != nil {
		return c.err
	}
	// The record may have ended before the line, or may be no JSON. A client may send the rest slowly, so large memory is
	// dropped and the Gate left before.
	c.window, c.fields = window{}, nil
	c.pass.leave()
	// Read over what follows the record, up to the next line. If that fails, the findings of the line were handed over already.
	rest.finish(b)
	if in.failed() {
		return in.err
	}
	return nil
}

// copyRecord copies the record to the temporary file, up to its end or to where it is no JSON, and sets the window to its
// beginning there. It is called by an import only. The record is stepped over, which finds its end but reports nothing: the rules
// are applied when the copy is read. So an import has a large review in memory only while it reads its own file.
func (c *lineChecker) copyRecord() verdict {
	c.copyOut(func() verdict {
		if c.stepOver() == accepted {
			c.end()
		}
		c.pos = len(c.buf) // all of the window is copied, with the byte at fault
		return accepted    // a fault is met again when the copy is read
	})
	if c.err != nil {
		return c.fail(c.offset(), ruleJSON, "")
	}
	// From here on the window may grow, inside the Gate. A large collection stays inside until the end of the line, since each
	// result of the line refers to its memory.
	c.depth, c.fault, c.most = 0, nil, maxWindow
	c.beforeLarge, c.afterLarge = c.pass.enter, func() {
		if !c.collection.large {
			c.pass.leave()
		}
	}
	return c.readFrom(c.start)
}

// copyOut calls read, and copies what it reads to the temporary file: the bytes from pos on that leave the window meanwhile, and
// those in front of pos when read has returned. It returns the verdict of read, or broken if the file could not be written.
func (c *lineChecker) copyOut(read func() verdict) verdict {
	// The window writes what leaves it while read runs. What is still in it then is written here.
	c.from, c.tee, c.teed = c.offset(), c.temp, c.pos
	v := read()
	c.write(c.pos)
	c.tee = nil
	if c.err != nil {
		return c.fail(c.offset(), ruleJSON, "")
	}
	return v
}

// readFrom sets the window to a position in the file whose text is in the temporary file, to read it from there. It returns
// broken if that file cannot be read.
func (c *lineChecker) readFrom(at position) verdict {
	rest, err := c.temp.reader(at.offset-c.from, c.watch)
	if err != nil {
		c.err = err
		return c.fail(at.offset, ruleJSON, "")
	}
	c.window.begin(rest, at.offset, at.column)
	c.peek()
	return accepted
}
