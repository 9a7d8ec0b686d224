package reviews

import (
	"bytes"
	"io"
	"runtime"
	"sync"
	"time"
)

// The sizes of a pipeline, if its Options leave them out. Each worker has a block in memory, so they bound its memory together.
const (
	defaultBuffer = 512 << 10 // bytes of a block; a longer line is read through a window that moves
	maxWorkers    = 8         // the most that Options.Workers 0 stands for: more of them would wait for the disk
)

// pipeline checks a file on several cores. The goroutine that calls run reads the file in blocks of whole lines, gives each
// block to a worker, and hands the findings of the workers to the sink, in the order of the file:
//
//	lines ── block ──> worker (lineChecker) ── batches ──┐
//	      ── block ──> worker (lineChecker) ── batches ──┴──> sink (fileChecker or importer)
//
// Each worker takes the next block that no other has taken. Blocks are pending in the order of the file, and the sink gets all
// findings of the oldest before those of the next, so the number of workers changes no result. In memory are a block
// for each worker, one that is read or replayed, and the piece of a line after it, see lines.
//
// A line that is longer than a block is checked by one goroutine while no block is pending. The page in howitworks.go follows
// such a line, and a short one, step by step.
//
// A check or an import makes a pipeline for its file and calls run once.
type pipeline struct {
	workers    int
	buffer     int    // bytes of a block
	dir        string // of temporary files; "": that of the system
	plainLimit int64  // bytes at the beginning of a temporary file that are not compressed
	spool      *Spool // bounds all temporary files together; nil: nothing does
	gate       *Gate  // nil: an import never waits to have a large review in memory
	forImport  bool   // the lineCheckers fill lineResult.incoming
	sizeLimit  int    // the most bytes of JSON that a review, or a collection without its reviews, may have
	hash       *hasher
	horizon    horizon
	sink       sink
}

// sink is the receiver of a whole file: fileChecker for a check, importer for an import. All calls come from the goroutine that
// has called run.
type sink interface {
	receiver
	// begin is called before the first finding, with the kind that the file may be of, see fileKind, and the offset of its
	// first line.
	begin(k kind, offset int64)
	// progress is called after each block; in a line that is longer than a block, after each batch and at least every 100 ms.
	// bytes were read of the file as it is given, compressed or not. lines are the whole lines that were read.
	progress(bytes, lines int64)
	// stopped returns whether the pipeline is to read no further. run asks before each block; in a long line, after each
	// batch and at least every 100 ms.
	stopped() bool
}

// newPipeline returns a pipeline with the options of a caller, where 0 stands for the usual value. forImport says that it reads
// for an import, which needs what is accepted and not the problems alone.
func newPipeline(o Options, forImport bool, s sink) *pipeline {
	p := &pipeline{workers: o.Workers, buffer: o.buffer, dir: o.TempDir, plainLimit: o.plainLimit, spool: o.Spool, gate: o.Gate,
		forImport: forImport, sizeLimit: o.sizeLimit, hash: newHasher(), sink: s}
	if p.workers <= 0 {
		p.workers = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	if p.buffer == 0 {
		p.buffer = defaultBuffer
	}
	if p.plainLimit == 0 {
		p.plainLimit = maxPlain
	}
	if p.sizeLimit == 0 {
		p.sizeLimit = maxStored
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	p.horizon = newHorizon(o.Now())
	return p
}

// lineChecker returns a checker for one goroutine. The fingerprints of all of them can be compared.
func (p *pipeline) lineChecker(out receiver) *lineChecker {
	c := newLineChecker(p.hash.clone(), out, p.forImport, p.sizeLimit)
	c.horizon = p.horizon
	return c
}

// run reads r to its end, or until the sink has stopped. It returns the error of reading, or of a temporary file; lines that were
// read before it are checked. All of its goroutines have ended when it returns. If a worker panics, run panics with the same
// message and the stack of the worker.
func (p *pipeline) run(r io.Reader) error {
	in, err := newLines(r)
	if err != nil {
		return err
	}
	// own checks in this goroutine. The pool has the workers, which start with the first block that they get.
	own := p.lineChecker(p.sink)
	pool := &workerPool{pipeline: p, done: make(chan struct{}), used: newBatchPool()}
	defer pool.stop()
	for !p.sink.stopped() {
		b := in.next(pool.buffer())
		if b.number == 1 { // the first block
			p.sink.begin(fileKind(in.head), b.offset)
		}
		switch {
		case b.long: // the problems of the blocks before come first
			pool.drain(0)
			if err := p.longLine(in, b); err != nil {
				return err
			}
		case len(b.data) == 0: // the end of the file
			pool.drain(0)
			p.sink.progress(in.in.n.Load(), in.number-1)
			if in.failed() {
				return in.err
			}
			return nil
		case in.ended && pool.idle(): // a small file needs no worker
			own.block(b)
		default:
			pool.work(b)
			pool.drain(p.workers)
		}
		p.sink.progress(in.in.n.Load(), in.number-1)
	}
	return nil
}

// block checks the lines of a block of whole lines, one after the other.
func (c *lineChecker) block(b block) {
	for data := b.data; len(data) > 0; b.number++ {
		// The window is set to the line without its LF. Offsets count the LF.
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

// workerPool is the workers of one run, and the blocks that they have. Its methods are called by the goroutine of run, except
// worker, which is the goroutine of a worker.
//
// A block goes round: buffer returns free memory, lines.next fills it, work gives it to a worker, the block is pending until
// drain has replayed all of its findings, and then its memory is free again.
type workerPool struct {
	*pipeline
	jobs    chan *job     // nil before the first block
	done    chan struct{} // closed when nobody receives findings any more
	wait    sync.WaitGroup
	pending []*job   // blocks whose findings are not all handed over, in the order of the file
	free    [][]byte // buffers for blocks
	used    batchPool
}

// job is a block that a worker checks. The worker sends its findings to out, and closes out after the last of them. A channel for
// each block lets drain replay the blocks in order, whichever is ready first.
type job struct {
	block
	buf []byte // the memory of the block; it becomes free when all findings were handed over
	out chan batch
}

// idle returns whether the findings of all blocks were handed over.
func (c *workerPool) idle() bool { return len(c.pending) == 0 }

// buffer returns a buffer for the next block. The buffer stays free until work is called, so a block that is checked without
// a worker leaves it for the next.
func (c *workerPool) buffer() []byte {
	if len(c.free) == 0 {
		c.free = append(c.free, make([]byte, c.pipeline.buffer))
	}
	return c.free[len(c.free)-1]
}

// work gives a block, which is in the buffer that the last call of buffer returned, to a worker. The first call starts the
// workers, so that a small file starts none.
func (c *workerPool) work(b block) {
	if c.jobs == nil {
		c.jobs = make(chan *job, c.workers+1)
		for range c.workers {
			c.wait.Go(c.worker)
		}
	}
	// The buffer goes with the block, and comes back to free when drain has replayed it. jobs never blocks here: it has room for
	// all blocks that may be pending.
	last := len(c.free) - 1
	j := &job{block: b, buf: c.free[last], out: make(chan batch, 2)}
	c.free = c.free[:last]
	c.pending = append(c.pending, j)
	c.jobs <- j
}

// drain replays the findings of the oldest blocks to the sink until at most n blocks are pending, or the sink has stopped. It
// waits for the workers of these blocks. Called with the number of workers, it leaves each of them a block while the next one is
// read.
func (c *workerPool) drain(n int) {
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

// stop ends the workers and waits for them. Findings that were not handed over are lost: closing done frees the workers that
// wait to send them.
func (c *workerPool) stop() {
	// Workers that are behind check the blocks that they were given. What they find is dropped.
	close(c.done)
	if c.jobs != nil {
		close(c.jobs)
		c.wait.Wait()
	}
}

// worker checks blocks until there are no more. sender.run sends a panic to the channel of the block, so the worker itself goes
// on and ends when stop closes jobs.
func (c *workerPool) worker() {
	check := c.lineChecker(nil)
	for j := range c.jobs {
		out := newSender(j.out, c.done, c.used)
		check.out = out
		out.run(func() { check.block(j.block) })
	}
}
