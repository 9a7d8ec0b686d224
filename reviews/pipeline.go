package reviews

import (
	"bytes"
	"io"
	"runtime"
	"sync"
)

const (
	defaultBuffer = 512 << 10 // bytes of a block; a longer line is read through a window that moves
	maxWorkers    = 8         // more of them would wait for the disk
)

// pipeline checks a file on several cores. The goroutine that calls run reads the file in blocks of whole lines, gives each
// block to a worker, and hands the findings of the workers to the sink, in the order of the file. A line that is longer than
// a block is checked by one goroutine, see longLine.
type pipeline struct {
	workers      int
	buffer       int    // bytes of a block
	dir          string // of temporary files
	uncompressed int64  // bytes of these that are not compressed
	spool        *Spool
	gate         *Gate
	load         bool // for an import
	limit        int  // bytes of JSON that are stored of a review, or of a collection without its reviews
	hash         *hasher
	sink         sink
}

// sink gets the findings of a pipeline: fileChecker for a check, importer for an import.
type sink interface {
	findings
	begin(kind string, offset int64) // the kind that the file may be of, see fileKind, and the offset of its first line
	progress(bytes, lines int64)
	stopped() bool // whether the pipeline is to read no further
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

// lineChecker returns a checker for one goroutine.
func (p *pipeline) lineChecker(out findings) *lineChecker {
	return newLineChecker(p.hash.clone(), out, p.load, p.limit)
}

// run reads r to its end, or until the sink has stopped. It returns the error of reading.
func (p *pipeline) run(r io.Reader) error {
	in, err := newLines(r)
	if err != nil {
		return err
	}
	own := p.lineChecker(p.sink)
	crew := &crew{pipeline: p, done: make(chan struct{}), used: newRecycled()}
	defer crew.stop()
	for !p.sink.stopped() {
		b := in.next(crew.buffer())
		if b.number == 1 {
			p.sink.begin(fileKind(in.head), b.offset)
		}
		switch {
		case b.long:
			crew.drain(0)
			if err := p.longLine(in, b); err != nil {
				return err
			}
		case len(b.data) == 0:
			crew.drain(0)
			p.sink.progress(in.in.n.Load(), in.number-1)
			if in.failed() {
				return in.err
			}
			return nil
		case in.ended && crew.idle(): // a small file needs no worker
			own.block(b)
		default:
			crew.work(b)
			crew.drain(p.workers)
		}
		p.sink.progress(in.in.n.Load(), in.number-1)
	}
	return nil
}

// block checks the lines of a block.
func (c *lineChecker) block(b block) {
	for data := b.data; len(data) > 0; b.number++ {
		line, rest, newline := bytes.Cut(data, []byte{'\n'})
		c.reset(line, b.offset)
		c.read(b.number)
		b.offset += int64(len(line))
		if newline {
			b.offset++
		}
		data = rest
	}
}

// crew is the workers of one run, and the blocks that they have.
type crew struct {
	*pipeline
	jobs    chan *job     // nil before the first block
	done    chan struct{} // closed when nobody receives findings any more
	wait    sync.WaitGroup
	pending []*job   // blocks whose findings are not all handed over, in the order of the file
	free    [][]byte // buffers for blocks
	used    recycled
}

// job is a block that a worker checks, its buffer, and the findings so far.
type job struct {
	block
	buf []byte
	out chan batch
}

func (c *crew) idle() bool { return len(c.pending) == 0 }

// buffer returns a buffer for the next block.
func (c *crew) buffer() []byte {
	if len(c.free) == 0 {
		c.free = append(c.free, make([]byte, c.pipeline.buffer))
	}
	return c.free[len(c.free)-1]
}

// work gives a block, which is in the buffer that the last call of buffer returned, to a worker.
func (c *crew) work(b block) {
	if c.jobs == nil {
		c.jobs = make(chan *job, c.workers+1)
		for range c.workers {
			c.wait.Go(c.worker)
		}
	}
	last := len(c.free) - 1
	j := &job{block: b, buf: c.free[last], out: make(chan batch, 2)}
	c.free = c.free[:last]
	c.pending = append(c.pending, j)
	c.jobs <- j
}

// drain hands over the findings of the oldest blocks until at most n blocks are open, or the sink has stopped.
func (c *crew) drain(n int) {
	for len(c.pending) > n && !c.sink.stopped() {
		j := c.pending[0]
		for b := range j.out {
			b.replay(c.sink)
			c.used.put(b)
		}
		c.pending = c.pending[1:]
		c.free = append(c.free, j.buf)
	}
}

// stop ends the workers and waits for them. Findings that are not handed over are lost.
func (c *crew) stop() {
	close(c.done)
	if c.jobs != nil {
		close(c.jobs)
		c.wait.Wait()
	}
}

// worker checks blocks until there are no more.
func (c *crew) worker() {
	check := c.lineChecker(nil)
	for j := range c.jobs {
		out := newSender(j.out, c.done, c.used)
		check.out = out
		out.run(func() { check.block(j.block) })
	}
}
