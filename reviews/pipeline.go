package reviews

import (
	"bytes"
	"io"
	"runtime"
	"sync"
)

const (
	defaultBuffer = 512 << 10 // bytes of a stretch; a longer line is read through a window
	maxWorkers    = 8         // more cores than that wait for the disk
)

// pipeline reads a file on several cores. The calling goroutine reads and takes the findings, in
// the order of the file; workers check stretches of lines. A line that is longer than a buffer is
// checked by the calling goroutine alone.
type pipeline struct {
	workers      int
	buffer       int    // bytes of a stretch
	dir          string // of temporary files
	uncompressed int64  // bytes of these that are not compressed
	spool        *Spool
	gate         *Gate
	load         bool
	limit        int // bytes of JSON that are stored of a review, or of a collection without its reviews
	hash         *hasher
	sink         sink
}

// sink takes the findings of a pipeline.
type sink interface {
	findings
	begin(kind string, offset int64) // what the file may be, see fileKind, and where its first line begins
	progress(bytes, lines int64)
	stopped() bool // whether to read no further
}

func newPipeline(o Options, load bool, s sink) *pipeline {
	p := &pipeline{workers: o.Workers, buffer: o.buffer, dir: o.TempDir, uncompressed: o.uncompressed, spool: o.Spool, gate: o.Gate, load: load, limit: o.limit, hash: newHasher(), sink: s}
	if p.workers <= 0 {
		p.workers = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	if p.buffer == 0 {
		p.buffer = defaultBuffer
	}
	if p.uncompressed == 0 {
		p.uncompressed = maxUncompressed
	}
	if p.limit == 0 {
		p.limit = maxStored
	}
	return p
}

func (p *pipeline) lineChecker(out findings) *lineChecker {
	return newLineChecker(p.hash.clone(), out, p.load, p.limit)
}

// run reads r to its end, or until the sink has enough.
func (p *pipeline) run(r io.Reader) error {
	in, err := newLines(r)
	if err != nil {
		return err
	}
	own := p.lineChecker(p.sink)
	crew := &crew{pipeline: p, done: make(chan struct{}), used: newRecycled()}
	defer crew.stop()
	for !p.sink.stopped() {
		s := in.next(crew.buffer())
		if s.number == 1 {
			p.sink.begin(fileKind(in.head), s.offset)
		}
		switch {
		case s.long:
			crew.drain(0)
			if err := p.longLine(in, s); err != nil {
				return err
			}
		case len(s.data) == 0:
			crew.drain(0)
			p.sink.progress(in.in.n.Load(), in.number-1)
			if in.failed() {
				return in.err
			}
			return nil
		case in.over && crew.idle():
			own.stretch(s)
		default:
			crew.work(s)
			crew.drain(p.workers)
		}
		p.sink.progress(in.in.n.Load(), in.number-1)
	}
	return nil
}

// stretch checks whole lines.
func (c *lineChecker) stretch(s stretch) {
	for data := s.data; len(data) > 0; s.number++ {
		line, rest, newline := bytes.Cut(data, []byte{'\n'})
		c.whole(line, s.offset)
		c.read(s.number)
		s.offset += int64(len(line))
		if newline {
			s.offset++
		}
		data = rest
	}
}

// crew is the workers of one run, and the stretches under way.
type crew struct {
	*pipeline
	jobs chan *job
	done chan struct{}
	wait sync.WaitGroup
	open []*job // in the order of the file
	free [][]byte
	used recycled
}

type job struct {
	stretch
	buf []byte
	out chan batch
}

func (c *crew) idle() bool { return len(c.open) == 0 }

func (c *crew) buffer() []byte {
	if len(c.free) == 0 {
		c.free = append(c.free, make([]byte, c.pipeline.buffer))
	}
	return c.free[len(c.free)-1]
}

// work gives a stretch, in the buffer of the last call of buffer, to a worker.
func (c *crew) work(s stretch) {
	if c.jobs == nil {
		c.jobs = make(chan *job, c.workers+1)
		for range c.workers {
			c.wait.Go(c.worker)
		}
	}
	last := len(c.free) - 1
	j := &job{stretch: s, buf: c.free[last], out: make(chan batch, 2)}
	c.free = c.free[:last]
	c.open = append(c.open, j)
	c.jobs <- j
}

// drain takes the findings of the oldest stretches until at most n are under way.
func (c *crew) drain(n int) {
	for len(c.open) > n && !c.sink.stopped() {
		j := c.open[0]
		for p := range j.out {
			p.replay(c.sink)
			c.used.put(p)
		}
		c.open = c.open[1:]
		c.free = append(c.free, j.buf)
	}
}

// stop ends the workers, whatever they are at.
func (c *crew) stop() {
	close(c.done)
	if c.jobs != nil {
		close(c.jobs)
		c.wait.Wait()
	}
}

func (c *crew) worker() {
	check := c.lineChecker(nil)
	for j := range c.jobs {
		out := newSender(j.out, c.done, c.used)
		check.out = out
		out.run(func() { check.stretch(j.stretch) })
	}
}
