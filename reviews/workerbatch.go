package reviews

import (
	"fmt"
	"runtime/debug"
)

// maxBatch is how many problems, or results of lines, a batch has at most.
const maxBatch = 256

// batch is what a worker found in some lines. Workers send batches, and the goroutine that reads the file replays them in
// the order of the file. One send for many findings keeps the cost of the channel small.
//
// Problems and results are two lists. In one list, an element would need room for either a Problem or a lineResult, though nearly
// all files have many of one and few of the other. Each result says how many problems come before it, which gives the order of
// both together.
type batch struct {
	problems []Problem // nil: there is no batch, see sender.begin
	results  []resultAfter
	panicked string // what the worker panicked with, and its stack; "" if it did not
}

// resultAfter is the result of a line, and how many problems of the batch come before it.
type resultAfter struct {
	lineResult
	problems int
}

// batchPool keeps batches that were replayed, so that senders fill them again: a file with millions of lines or problems then
// makes little garbage. Senders take from it and the goroutine of run returns to it, so it is a channel. A batch takes some 70
// KB, so the pool keeps four at most and leaves the others to the garbage collector.
type batchPool chan batch

// newBatchPool returns an empty pool. Each run of a pipeline, and each long line, has a pool of its own.
func newBatchPool() batchPool { return make(batchPool, 4) }

// get returns an empty batch: one of the pool, or a new one if the pool is empty.
func (r batchPool) get() batch {
	select {
	case b := <-r:
		return b
	default:
		return batch{problems: make([]Problem, 0, maxBatch), results: make([]resultAfter, 0, maxBatch)}
	}
}

// put keeps a replayed batch, so that get can return it. It clears the batch first, so that the memory that its findings refer to
// can be freed.
func (r batchPool) put(b batch) {
	clear(b.problems)
	clear(b.results)
	select {
	case r <- batch{problems: b.problems[:0], results: b.results[:0]}:
	default:
	}
}

// replay hands the findings on in their order. If the worker panicked, replay panics with the same message in the goroutine of
// the caller, which can recover from it; a panic in the goroutine of a worker would end the program.
//
// The sender of a result may wait until the result was handled, that is, stored, rejected or given up. When to.result returns,
// the result has been handled, see lineResult.handled. replay then closes the channel for which the sender waits.
func (b batch) replay(to receiver) {
	if b.panicked != "" {
		panic(b.panicked)
	}
	// n is how many of the problems were handed on.
	n := 0
	for _, r := range b.results {
		for ; n < r.problems; n++ {
			to.problem(b.problems[n])
		}
		to.result(r.lineResult)
		if r.handled != nil {
			close(r.handled)
		}
	}
	for ; n < len(b.problems); n++ {
		to.problem(b.problems[n])
	}
}

// sender collects what a worker finds and sends it in batches. It is the receiver of the lineChecker of that worker. It is used
// by the goroutine of the worker alone. A worker makes a sender for each block, and pipeline.longLine makes one for its line,
// since each of them has a channel of its own.
type sender struct {
	batch // the one that is filled; empty after a send
	to    chan batch
	done  chan struct{} // closed when nobody receives any more
	used  batchPool
	size  int // bytes that an import will store of the results in the batch
}

// newSender returns a sender of batches to a channel. Once done is closed, it drops them.
func newSender(to chan batch, done chan struct{}, used batchPool) *sender {
	return &sender{to: to, done: done, used: used}
}

// begin gives the sender a batch to fill, unless it has one.
func (s *sender) begin() {
	if s.problems == nil {
		s.batch = s.used.get()
	}
}

// problem adds a problem to the batch, and sends a full batch.
func (s *sender) problem(p Problem) {
	s.begin()
	s.problems = append(s.problems, p)
	if len(s.problems) == maxBatch {
		s.send()
	}
}

// result adds the result of a line to the batch. It sends the batch if it has maxBatch results, if its results fill a quarter of
// a transaction of an import, or if the worker waits until this result is handled.
func (s *sender) result(r lineResult) {
	s.begin()
	s.results = append(s.results, resultAfter{r, len(s.problems)})
	if r.incoming != nil {
		s.size += r.incoming.size
	}
	if len(s.results) == maxBatch || s.size >= maxTransaction/4 || r.handled != nil {
		s.send()
	}
}

// send sends the batch, if there is one. It blocks until the channel has room, so that a worker that is ahead of the goroutine
// that replays its batches does not pile them up. When nobody receives any more, it drops the batch and returns at once.
func (s *sender) send() {
	if s.problems == nil && s.panicked == "" {
		return
	}
	select {
	case s.to <- s.batch:
	case <-s.done:
	}
	s.batch, s.size = batch{}, 0
}

// run calls work, sends what work has left in the batch, and closes the channel. If work panics, run sends the panic with its
// stack in place of that batch: findings that were sent before stay, and the others are lost.
func (s *sender) run(work func()) {
	// The deferred functions run from the last to the first: what is left is sent before the channel is closed.
	defer close(s.to)
	defer func() {
		if v := recover(); v != nil {
			s.batch = batch{panicked: fmt.Sprintf("%v\n\n%s", v, debug.Stack())}
		}
		s.send()
	}()
	work()
}
