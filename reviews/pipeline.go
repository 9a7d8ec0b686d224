package reviews

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"sync"
)

const (
	defaultBuffer = 512 << 10 // bytes of a stretch; a longer line is read through a window
	maxWorkers    = 8         // more cores than that wait for the disk
	maxPart       = 256       // findings that a worker hands over at once
)

// pipeline reads a file on several cores. The calling goroutine reads and takes the findings, in
// the order of the file; workers check stretches of lines. A line that is longer than a buffer is
// checked by the calling goroutine alone.
type pipeline struct {
	workers int
	buffer  int    // bytes of a stretch
	dir     string // of temporary files
	load    bool
	limit   int // bytes of a review that an import stores
	hash    *hasher
	sink    sink
}

// sink takes the findings of a pipeline.
type sink interface {
	findings
	progress(bytes, lines int64)
	stopped() bool // whether to read no further
}

func newPipeline(o Options, load bool, s sink) *pipeline {
	p := &pipeline{workers: o.Workers, buffer: o.buffer, dir: o.TempDir, load: load, limit: o.limit, hash: newHasher(), sink: s}
	if p.workers <= 0 {
		p.workers = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	if p.buffer == 0 {
		p.buffer = defaultBuffer
	}
	if p.limit == 0 {
		p.limit = maxStored
	}
	return p
}

func (p *pipeline) checker(out findings) *checker {
	return newChecker(p.hash.clone(), out, p.load, p.limit)
}

// run reads r to its end, or until the sink has enough.
func (p *pipeline) run(r io.Reader) error {
	in, err := newLines(r)
	if err != nil {
		return err
	}
	own := p.checker(p.sink)
	crew := &crew{pipeline: p, done: make(chan struct{})}
	defer crew.stop()
	for !p.sink.stopped() {
		s := in.next(crew.buffer())
		switch {
		case s.long:
			crew.drain(0)
			if err := p.longLine(own, in, s); err != nil {
				return err
			}
		case len(s.data) == 0:
			crew.drain(0)
			p.sink.progress(in.in.n, in.number-1)
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
		p.sink.progress(in.in.n, in.number-1)
	}
	return nil
}

// stretch checks whole lines.
func (c *checker) stretch(s stretch) {
	c.rest, c.spool, c.last = nil, nil, 0
	for data := s.data; len(data) > 0; s.number++ {
		line, rest, newline := bytes.Cut(data, []byte{'\n'})
		c.buf, c.pos, c.base = line, 0, s.offset
		c.read(s.number)
		s.offset += int64(len(line))
		if newline {
			s.offset++
		}
		data = rest
	}
}

// errStopped ends the reading of a long line that nobody wants to hear more of.
var errStopped = errors.New("reviews: stopped")

// longLine checks a line through a window.
func (p *pipeline) longLine(c *checker, in *lines, s stretch) error {
	c.spool = &spool{dir: p.dir}
	defer c.spool.close()
	c.watch = func() error {
		p.sink.progress(in.in.n, in.number-1)
		if p.sink.stopped() {
			return errStopped
		}
		return nil
	}
	rest := &longLine{lines: in, watch: c.watch}
	c.buf, c.pos, c.base, c.last, c.rest = s.data, 0, s.offset, 0, rest
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

// crew is the workers of one run, and the stretches under way.
type crew struct {
	*pipeline
	jobs chan *job
	done chan struct{}
	wait sync.WaitGroup
	open []*job // in the order of the file
	free [][]byte
}

type job struct {
	stretch
	buf []byte
	out chan part
}

// part is what a worker found: problems, and batches with the number of problems before each.
type part struct {
	problems []Problem
	batches  []batchAfter
}

type batchAfter struct {
	batch
	problems int
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
	j := &job{stretch: s, buf: c.free[last], out: make(chan part, 2)}
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
		}
		c.open = c.open[1:]
		c.free = append(c.free, j.buf)
	}
}

func (p part) replay(to findings) {
	n := 0
	for _, b := range p.batches {
		for ; n < b.problems; n++ {
			to.problem(p.problems[n])
		}
		to.batch(b.batch)
	}
	for ; n < len(p.problems); n++ {
		to.problem(p.problems[n])
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
	out := &sender{done: c.done}
	check := c.checker(out)
	for j := range c.jobs {
		out.to = j.out
		check.stretch(j.stretch)
		out.send()
		close(j.out)
	}
}

// sender collects what a worker finds and sends it in parts.
type sender struct {
	part
	to   chan part
	done chan struct{}
	size int
}

func (s *sender) problem(p Problem) {
	s.problems = append(s.problems, p)
	if len(s.problems) == maxPart {
		s.send()
	}
}

func (s *sender) batch(b batch) {
	s.batches = append(s.batches, batchAfter{b, len(s.problems)})
	if b.incoming != nil {
		s.size += b.incoming.size
	}
	if len(s.batches) == maxPart || s.size >= maxBatch/4 {
		s.send()
	}
}

// send blocks until the part is wanted: what was found and not taken stays small.
func (s *sender) send() {
	select {
	case s.to <- s.part:
	case <-s.done:
	}
	s.part, s.size = part{}, 0
}
