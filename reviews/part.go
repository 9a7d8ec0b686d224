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

// recycled are lists of problems that were replayed, for the workers to fill again: a file with
// millions of problems makes little garbage.
type recycled chan []Problem

func newRecycled() recycled { return make(recycled, 4) }

// replay hands the findings on. A panic of the worker goes on here, in the goroutine of the caller.
func (p part) replay(to findings, used recycled) {
	if p.panicked != "" {
		panic(p.panicked)
	}
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
	select {
	case used <- p.problems[:0]:
	default:
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

func (s *sender) problem(p Problem) {
	if s.problems == nil {
		select {
		case s.problems = <-s.used:
		default:
			s.problems = make([]Problem, 0, maxPart)
		}
	}
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
