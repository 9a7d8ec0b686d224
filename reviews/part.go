package reviews

import (
	"fmt"
	"runtime/debug"
)

// maxPart is how many findings a worker hands over at once.
const maxPart = 256

// part is what a worker found: problems, and batches with the number of problems before each.
type part struct {
	problems []Problem
	batches  []batchAfter
	panicked string // what the worker panicked with, and where; else ""
}

type batchAfter struct {
	batch
	problems int
}

// recycled are parts that were replayed, for the workers to fill again: files with millions of lines
// or problems make little garbage.
type recycled chan part

func newRecycled() recycled { return make(recycled, 4) }

func (r recycled) get() part {
	select {
	case p := <-r:
		return p
	default:
		return part{problems: make([]Problem, 0, maxPart), batches: make([]batchAfter, 0, maxPart)}
	}
}

func (r recycled) put(p part) {
	clear(p.problems)
	clear(p.batches)
	select {
	case r <- part{problems: p.problems[:0], batches: p.batches[:0]}:
	default:
	}
}

// replay hands the findings on. A panic of the worker goes on here, in the goroutine of the caller.
func (p part) replay(to findings) {
	if p.panicked != "" {
		panic(p.panicked)
	}
	n := 0
	for _, b := range p.batches {
		for ; n < b.problems; n++ {
			to.problem(p.problems[n])
		}
		to.batch(b.batch)
		if b.settled != nil {
			close(b.settled)
		}
	}
	for ; n < len(p.problems); n++ {
		to.problem(p.problems[n])
	}
}

// sender collects what a worker finds and sends it in parts.
type sender struct {
	part
	to   chan part
	done chan struct{}
	used recycled
	size int
}

func newSender(to chan part, done chan struct{}, used recycled) *sender {
	return &sender{to: to, done: done, used: used}
}

// begin makes sure that there is a part to fill: one whose lists are there.
func (s *sender) begin() {
	if s.problems == nil {
		s.part = s.used.get()
	}
}

func (s *sender) problem(p Problem) {
	s.begin()
	s.problems = append(s.problems, p)
	if len(s.problems) == maxPart {
		s.send()
	}
}

func (s *sender) batch(b batch) {
	s.begin()
	s.batches = append(s.batches, batchAfter{b, len(s.problems)})
	if b.incoming != nil {
		s.size += b.incoming.size
	}
	if len(s.batches) == maxPart || s.size >= maxBatch/4 || b.settled != nil {
		s.send()
	}
}

// send blocks until the part is wanted: what was found and not taken stays small. Where nothing was
// found there is no part to send.
func (s *sender) send() {
	if s.problems == nil && s.panicked == "" {
		return
	}
	select {
	case s.to <- s.part:
	case <-s.done:
	}
	s.part, s.size = part{}, 0
}

// run has the findings of work sent, and closes the channel.
func (s *sender) run(work func()) {
	defer close(s.to)
	defer func() {
		if v := recover(); v != nil {
			s.part = part{panicked: fmt.Sprintf("%v\n\n%s", v, debug.Stack())}
		}
		s.send()
	}()
	work()
}
