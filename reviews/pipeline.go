package reviews

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

const (
	defaultBuffer = 512 << 10 // bytes of a block; a longer line is read by itself
	maxWorkers    = 8         // the most that Options.Workers 0 stands for: more of them would wait for the disk
	maxBatch      = 256       // findings that a worker sends at once
	longLine      = 1 << 20   // bytes from which a line needs one of Options.LongLines
	maxLine       = 32 << 20  // bytes of a line, unless the options say otherwise
)

// pipeline checks a file on several cores. The goroutine that calls run reads the file in blocks of whole lines, gives each
// block to a worker, and hands the findings of the workers to the sink, in the order of the file:
//
//	lines ── block ──> worker (lineChecker) ── findings ──┐
//	      ── block ──> worker (lineChecker) ── findings ──┴──> sink (fileChecker or importer)
//
// The number of workers changes no result. A line that is longer than a block is read into memory and checked by the goroutine of run,
// while no block is pending.
type pipeline struct {
	*fileOptions
	workers int
	buffer  int           // bytes of a block
	places  chan struct{} // Options.LongLines
	sink    sink
}

// sink is the receiver of a whole file: fileChecker for a check, importer for an import. All calls come from the goroutine that
// has called run.
type sink interface {
	receiver
	// begin is called before the first finding, with the kind that the file may be of, see fileKind, and the offset of its
	// first line.
	begin(k kind, offset int64)
	// progress is called after each block, and each time that a part of a long line was read. bytes were read of the file as it is
	// given, compressed or not. lines are the whole lines that were read.
	progress(bytes, lines int64)
	// stopped returns whether the pipeline is to read no further.
	stopped() bool
	// done is closed when nobody waits for the result any more.
	done() <-chan struct{}
}

// newPipeline returns a pipeline with the options of a caller, where 0 stands for the usual value. forImport says that it reads
// for an import, which needs what is accepted and not the problems alone.
func newPipeline(o Options, forImport bool, s sink) *pipeline {
	now := time.Now
	if o.Now != nil {
		now = o.Now
	}
	p := &pipeline{workers: o.Workers, buffer: cmp.Or(o.buffer, defaultBuffer), places: o.LongLines, sink: s}
	p.fileOptions = &fileOptions{seeds: newSeeds(), horizon: newHorizon(now()), maxLine: cmp.Or(o.MaxLine, maxLine), forImport: forImport}
	if p.workers <= 0 {
		p.workers = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	return p
}

// errStopped ends the reading of a long line when nobody wants the rest of it.
var errStopped = errors.New("reviews: stopped")

// run reads r to its end, or until the sink has stopped. It returns the error of reading; lines that were read before it are checked. All
// of its goroutines have ended when it returns. If a worker panics, run panics with the same message and the stack of the worker.
func (p *pipeline) run(r io.Reader) error {
	in, err := newLines(r)
	if err != nil {
		return err
	}
	own := newLineChecker(p.fileOptions, p.sink)
	pool := &workerPool{pipeline: p, stop: make(chan struct{})}
	defer pool.end()
	for !p.sink.stopped() {
		b := in.next(pool.memory())
		if b.number == 1 { // the first block
			p.sink.begin(fileKind(in.head), b.offset)
		}
		switch {
		case b.long: // the problems of the blocks before come first
			pool.drain(0)
			if err := p.longLine(in, b, own); err != nil {
				return err
			}
		case len(b.data) == 0: // the end of the file
			pool.drain(0)
			p.sink.progress(in.in.n.Load(), in.number-1)
			if in.failed() {
				return in.err
			}
			return nil
		case in.atEnd() && len(pool.pending) == 0: // a small file needs no worker
			own.block(b)
		default:
			pool.work(b)
			pool.drain(p.workers)
		}
		p.sink.progress(in.in.n.Load(), in.number-1)
	}
	return nil
}

// longLine reads and checks the line that begins with b. A line of more than longLine bytes takes one of the places for such lines
// meanwhile.
func (p *pipeline) longLine(in *lines, b block, check *lineChecker) error {
	lines, inside, told := in.number-1, false, false
	defer func() {
		if inside {
			<-p.places
		}
	}()
	line, tooLong, err := in.rest(b, p.maxLine, func(size int) error {
		p.sink.progress(in.in.n.Load(), lines)
		if size > p.maxLine && !told { // its end may be far away
			told = true
			check.tooLong(b.number, b.offset)
		}
		if p.sink.stopped() {
			return errStopped
		}
		if p.places != nil && !inside && size >= longLine {
			select {
			case p.places <- struct{}{}:
				inside = true
			case <-p.sink.done():
				return errStopped
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case told:
	case tooLong:
		check.tooLong(b.number, b.offset)
	default:
		check.check(line, b.number, b.offset)
	}
	return nil
}

// block checks the lines of a block, one after the other.
func (c *lineChecker) block(b block) {
	for data := b.data; len(data) > 0; b.number++ {
		line, rest, _ := bytes.Cut(data, []byte{'\n'})
		c.check(line, b.number, b.offset)
		b.offset += int64(len(data) - len(rest))
		data = rest
	}
}

// finding is a problem or, without one, the result of a line.
type finding struct {
	problem *Problem
	result  lineResult
}

// job is a block that a worker checks. A channel for each block lets drain replay the blocks in order, whichever is ready first.
type job struct {
	block
	buf      []byte // the memory of the block, which is free when all findings were handed over
	findings []finding
	out      chan []finding // closed after the last of them
	stop     chan struct{}
	panicked string // set before out is closed, if the worker has panicked
}

func (j *job) problem(p Problem)   { j.add(finding{problem: &p}) }
func (j *job) result(r lineResult) { j.add(finding{result: r}) }
func (j *job) add(f finding) {
	if j.findings = append(j.findings, f); len(j.findings) == maxBatch {
		j.send()
	}
}

// send hands over the findings, unless nobody receives them any more. It blocks while there are many, so that a worker that is ahead
// does not pile them up.
func (j *job) send() {
	select {
	case j.out <- j.findings:
	case <-j.stop:
	}
	j.findings = nil
}

// run checks the block.
func (j *job) run(check *lineChecker) {
	defer close(j.out)
	defer func() {
		if v := recover(); v != nil {
			j.panicked = fmt.Sprintf("%v\n\n%s", v, debug.Stack())
		} else {
			j.send()
		}
	}()
	check.out = j
	check.block(j.block)
}

// workerPool is the workers of one run, and the blocks that they have. All but the workers themselves is used by the goroutine of run.
type workerPool struct {
	*pipeline
	jobs    chan *job     // nil before the first block
	stop    chan struct{} // closed when nobody receives findings any more
	wait    sync.WaitGroup
	pending []*job   // blocks whose findings are not all handed over, in the order of the file
	free    [][]byte // memory for blocks
}

// memory returns memory for the next block. It stays free until work is called.
func (w *workerPool) memory() []byte {
	if len(w.free) == 0 {
		w.free = append(w.free, make([]byte, w.buffer))
	}
	return w.free[len(w.free)-1]
}

// work gives a block, which is in the memory that was returned last, to a worker. The first call starts the workers.
func (w *workerPool) work(b block) {
	if w.jobs == nil {
		w.jobs = make(chan *job, w.workers+1)
		for range w.workers {
			w.wait.Go(func() {
				check := newLineChecker(w.fileOptions, nil)
				for j := range w.jobs {
					j.run(check)
				}
			})
		}
	}
	last := len(w.free) - 1
	j := &job{block: b, buf: w.free[last], out: make(chan []finding, 2), stop: w.stop}
	w.free = w.free[:last]
	w.pending = append(w.pending, j)
	w.jobs <- j
}

// drain replays the findings of the oldest blocks to the sink until at most n blocks are pending, or the sink has stopped.
func (w *workerPool) drain(n int) {
	for len(w.pending) > n && !w.sink.stopped() {
		j := w.pending[0]
		for findings := range j.out {
			replay(findings, w.sink)
		}
		if j.panicked != "" {
			panic(j.panicked)
		}
		w.pending = w.pending[1:]
		w.free = append(w.free, j.buf)
	}
}

// replay hands findings to a sink, until it has stopped.
func replay(findings []finding, to sink) {
	for _, f := range findings {
		switch {
		case to.stopped():
			return
		case f.problem != nil:
			to.problem(*f.problem)
		default:
			to.result(f.result)
		}
	}
}

// end ends the workers and waits for them. What they find is dropped.
func (w *workerPool) end() {
	close(w.stop)
	if w.jobs != nil {
		close(w.jobs)
		w.wait.Wait()
	}
}
