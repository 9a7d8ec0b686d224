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
// Problems and results are two lists, since nearly all files have many of one and few of the other. Each result says how many
// problems come before it, which gives the order of both together.
type batch struct {
	problems []Problem
	results  []resultAfter
	panicked string // what the worker panicked with, and its stack; "" if it did not
}

// resultAfter is the result of a line, and how many problems of the batch come before it.
type resultAfter struct {
	lineResult
	problems int
}

// recycled are batches that were replayed and are filled again, so that a file with millions of lines or problems makes
// little garbage.
type recycled chan batch

func newRecycled() recycled { return make(recycled, 4) }

// get returns an empty batch: a used one, or a new one if there is none.
func (r recycled) get() batch {
	select {
	case b := <-r:
		return b
	default:
		return batch{problems: make([]Problem, 0, maxBatch), results: make([]resultAfter, 0, maxBatch)}
	}
}

// put keeps a batch that was replayed for get. It clears the batch, so that what the findings refer to is garbage.
func (r recycled) put(b batch) {
	clear(b.problems)
	clear(b.results)
	select {
	case r <- batch{problems: b.problems[:0], results: b.results[:0]}:
	default:
	}
}

// replay hands the findings on in their order. If the worker panicked, replay panics in the goroutine of the caller, which can
// recover it; a panic in the goroutine of a worker would end the program. A result whose sender waits until it is settled has
// been stored or refused when the receiver returns, so replay tells the sender.
func (b batch) replay(to findings) {
	if b.panicked != "" {
		panic(b.panicked)
	}
	n := 0
	for _, r := range b.results {
		for ; n < r.problems; n++ {
			to.problem(b.problems[n])
		}
		to.result(r.lineResult)
		if r.settled != nil {
			close(r.settled)
		}
	}
	for ; n < len(b.problems); n++ {
		to.problem(b.problems[n])
	}
}

// sender collects what a worker finds and sends it in batches. It is the findings that a lineChecker writes to.
type sender struct {
	batch
	to   chan batch
	done chan struct{} // closed when nobody receives any more
	used recycled
	size int // bytes that an import is to store of the results
}

// newSender returns a sender of batches to a channel. Once done is closed, it drops them.
func newSender(to chan batch, done chan struct{}, used recycled) *sender {
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

// result adds the result of a line to the batch. It sends the batch if it is full, if an import has much to store of it, or if
// the line is read on only when the result is settled.
func (s *sender) result(r lineResult) {
	s.begin()
	s.results = append(s.results, resultAfter{r, len(s.problems)})
	if r.incoming != nil {
		s.size += r.incoming.size
	}
	if len(s.results) == maxBatch || s.size >= maxTransaction/4 || r.settled != nil {
		s.send()
	}
}

// send sends the batch, if there is one. It blocks until the channel has room, so that a worker that is ahead of the reader of
// its findings does not pile them up. It returns at once when nobody receives any more.
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

// run calls work, sends all of its findings, or its panic with the stack, and closes the channel.
func (s *sender) run(work func()) {
	defer close(s.to)
	defer func() {
		if v := recover(); v != nil {
			s.batch = batch{panicked: fmt.Sprintf("%v\n\n%s", v, debug.Stack())}
		}
		s.send()
	}()
	work()
}
