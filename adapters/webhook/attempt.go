package webhook

import "time"

// Outcome is what became of an attempt to deliver a change.
type Outcome string

const (
	Delivered Outcome = "delivered" // the receiver has accepted it
	Retried   Outcome = "retried"   // it failed and is repeated later
	Skipped   Outcome = "skipped"   // it was given up: refused too often, or too old
	Disabled  Outcome = "disabled"  // the receiver answered 410 and gets nothing more
)

// Attempt is an attempt to deliver a change to an endpoint.
type Attempt struct {
	Endpoint string // its name
	Type     string // of the change, such as "tag.set"
	At       time.Time
	Status   int // of the response; 0 = there was none
	Outcome  Outcome
}

// observe reports an attempt to the observer of the options.
func (w *worker) observe(c change, status int, o Outcome) {
	if w.d.observer != nil {
		w.d.observer(Attempt{Endpoint: w.e.Name, Type: c.Type, At: c.At, Status: status, Outcome: o})
	}
}
