package format

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

const (
	defaultBuffer = 512 << 10 // bytes of a block, without the rest of its last line
	maxWorkers    = 8         // the maximum that Checker.Workers 0 means: more workers would wait for the disk
	maxBatch      = 256       // results that a job sends at once
	longLine      = 1 << 20   // the length in bytes from which a line needs a slot of Checker.LongLines
	maxLine       = 32 << 20  // bytes of a line, unless the options say otherwise
)

// pipeline checks a file on several cores. The goroutine that calls run reads the file in blocks of whole lines, starts
// a goroutine to check each block, and passes the results to a Checker in the order of the file:
//
//	lines ── block ──> job (lineChecker) ── results ──┐
//	      ── block ──> job (lineChecker) ── results ──┴──> Checker
//
// The number of jobs does not change the results.
type pipeline struct {
	fileOptions
	workers int           // jobs that run at a time
	buffer  int           // bytes of a block
	slots   chan struct{} // Checker.LongLines
	hasSlot bool          // one of the slots is in use
	to      *Checker
	stop    chan struct{} // closed when nobody receives results any more
	wait    sync.WaitGroup
	pending []*job // not all of their results were passed on; in the order of the file
	free    []*job
}

// job checks a block. Each job has a channel of its own, so drain can pass the results on in order, whichever job is
// ready first.
type job struct {
	*pipeline
	check lineChecker
	block
	results  []Result
	batches  chan []Result // closed after the last results
	panicked string        // set before batches is closed, if the job has panicked
}

// newPipeline returns a pipeline for a Checker.
func newPipeline(to *Checker) *pipeline {
	p := &pipeline{workers: to.Workers, buffer: cmp.Or(to.Buffer, defaultBuffer), slots: to.LongLines, to: to,
		stop: make(chan struct{})}
	if p.workers <= 0 {
		p.workers = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	now := time.Now
	if to.Now != nil {
		now = to.Now
	}
	p.fileOptions = fileOptions{latest: now().Add(maxAhead).UnixMicro(), maxLine: cmp.Or(to.MaxLine, maxLine),
		forImport: to.Store != nil}
	return p
}

// maxAhead is how far in the future a time may be. A local time written without its zone is up to 14 hours ahead of
// UTC.
const maxAhead = 14 * time.Hour

// run reads a file to its end, or until the Checker has stopped. It returns the error of reading; lines before the
// error are checked. All of its goroutines have ended when it returns. If a job panics, run panics with the same
// message and the stack of the job.
func (p *pipeline) run(file io.Reader) error {
	in, err := newLines(file, p.buffer, p.maxLine)
	if err != nil {
		return err
	}
	p.to.kind, p.to.start = in.kind, in.offset
	defer p.end()
	for !p.to.stopped() {
		j := p.job()
		j.block = in.next(j.data, func(size int) bool { return p.longer(in, size) })
		if len(j.data) == 0 && !j.tooLong { // the end of the file
			p.drain(0)
			p.to.progress(in.read, in.number-1)
			if in.err != io.EOF {
				return in.err
			}
			return nil
		}
		p.drain(p.workers - 1)
		j.batches = make(chan []Result, 2)
		p.pending = append(p.pending, j)
		p.wait.Go(j.run)
		if len(j.data) > 2*p.buffer || j.tooLong || p.hasSlot { // only one long line is in memory at a time
			p.drain(0)
			j.data = nil
			p.releaseSlot()
		}
		p.to.progress(in.read, in.number-1)
	}
	return nil
}

// longer is called while a line longer than a block is read, with the bytes read so far. From longLine bytes on, the
// line needs a slot. longer returns whether to continue reading.
func (p *pipeline) longer(in *lines, size int) bool {
	p.to.progress(in.read, in.number-1)
	if p.slots != nil && !p.hasSlot && size >= longLine {
		p.drain(0)
		select {
		case p.slots <- struct{}{}:
			p.hasSlot = true
		case <-p.to.ctx.Done():
		}
	}
	return !p.to.stopped()
}

// releaseSlot releases the slot of a long line.
func (p *pipeline) releaseSlot() {
	if p.hasSlot {
		p.hasSlot = false
		<-p.slots
	}
}

// job returns a job that has ended, or a new one.
func (p *pipeline) job() *job {
	if n := len(p.free); n > 0 {
		j := p.free[n-1]
		p.free = p.free[:n-1]
		return j
	}
	j := &job{pipeline: p}
	j.check = lineChecker{fileOptions: &p.fileOptions, out: j.add, ids: map[string]bool{}}
	return j
}

// run checks the lines of the block.
func (j *job) run() {
	defer close(j.batches)
	defer func() {
		if v := recover(); v != nil {
			j.panicked = fmt.Sprintf("%v\n\n%s", v, debug.Stack())
		}
	}()
	number, offset := j.number, j.offset
	for line := range bytes.Lines(j.data) {
		j.check.check(bytes.TrimSuffix(line, []byte{'\n'}), number, offset)
		number++
		offset += int64(len(line))
	}
	if j.tooLong {
		j.add(j.tooLongResult(number, offset))
	}
	j.send()
}

// add adds the result of a line.
func (j *job) add(r Result) {
	if j.results == nil {
		j.results = make([]Result, 0, maxBatch)
	}
	if j.results = append(j.results, r); len(j.results) >= maxBatch {
		j.send()
	}
}

// send passes the results on, unless nobody receives them any more. It blocks while the channel is full, so that a job
// that is ahead of others does not fill the memory.
func (j *job) send() {
	select {
	case j.batches <- j.results:
	case <-j.stop:
	}
	j.results = nil
}

// drain passes on the results of the oldest blocks until at most n blocks are pending, or the Checker has stopped.
func (p *pipeline) drain(n int) {
	for len(p.pending) > n && !p.to.stopped() {
		j := p.pending[0]
		for results := range j.batches {
			for _, r := range results {
				if !p.to.stopped() {
					p.to.line(r)
				}
			}
		}
		if j.panicked != "" {
			panic(j.panicked)
		}
		p.pending = p.pending[1:]
		p.free = append(p.free, j)
	}
}

// end waits for the running jobs and drops their results.
func (p *pipeline) end() {
	close(p.stop)
	p.wait.Wait()
	p.releaseSlot()
}
