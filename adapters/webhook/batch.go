package webhook

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/vitrine-go/vitrine/internal/lease"
)

const (
	batchType   = "batch" // of a delivery with several changes
	mostInBatch = 1000    // changes of a batch; of more it has the first ones
	longestHold = 10      // times Endpoint.Wait: when a batch is posted although there are more and more changes
)

// batch waits until no change has come for as long as the endpoint says, or until the first one is ten times as old,
// and returns a queue with a change of the type batch, which has the changes since the position. It returns nil if
// stopped is done before.
func (w *worker) batch(stopped, valid context.Context) (*queue, error) {
	for {
		q, last, err := w.collect(valid)
		if err != nil || q == nil {
			return nil, err
		}
		due := q.changes[0].At.Add(longestHold * w.e.Wait)
		if quiet := last.Add(w.e.Wait); quiet.Before(due) {
			due = quiet
		}
		// Times of changes may be of a clock that is ahead.
		pause := min(time.Until(due), w.e.Wait)
		if pause <= 0 {
			return q, nil
		}
		if !lease.Wait(stopped, pause) {
			return nil, nil
		}
	}
}

// collect reads all changes since the position, which stays, into a batch, and returns the time of the last one. An
// attempt that is repeated has the changes that have come since, and then another id.
func (w *worker) collect(ctx context.Context) (*queue, time.Time, error) {
	p, queues, seen, unsaved := w.p, w.queues, w.seen, w.unsaved
	defer func() { w.p, w.queues, w.seen, w.unsaved = p, queues, seen, unsaved }()
	w.p.Marks = maps.Clone(p.Marks)
	w.queues, w.seen = nil, make([]<-chan struct{}, len(w.d.sources))
	var first, last change
	data := struct {
		Changes   []json.RawMessage `json:"changes"`
		Truncated bool              `json:"truncated,omitzero"`
	}{}
	for {
		q, err := w.next(ctx)
		if err != nil {
			return nil, time.Time{}, err
		}
		if q == nil {
			break
		}
		last = q.changes[0]
		if data.Changes == nil {
			first = last
		}
		if data.Truncated = len(data.Changes) == mostInBatch; !data.Truncated {
			data.Changes = append(data.Changes, json.RawMessage(last.body()))
		}
		w.advance(q)
	}
	if data.Changes == nil {
		return nil, time.Time{}, nil
	}
	text, err := json.Marshal(data)
	c := change{Cursor: first.Cursor + "\x00" + last.Cursor, Type: batchType, At: first.At, Data: text}
	after := w.p
	return &queue{feed: feed{name: batchType}, page: page{changes: []change{c}}, after: &after}, last.At, err
}
