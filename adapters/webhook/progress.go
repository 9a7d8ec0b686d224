package webhook

import (
	"sync/atomic"
	"time"
)

// Progress is how far the deliveries to an endpoint are.
type Progress struct {
	Endpoint string    // its name
	Waiting  time.Time // of the oldest change that is known and not delivered yet; zero = the endpoint has got everything
	Disabled bool      // the receiver answered 410, and gets nothing until its url or its secret changes
}

// Progress returns how far the deliveries to each endpoint are, in the order of Set. It is empty where this process does not
// deliver: another one may.
func (d *Deliverer) Progress() (all []Progress) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.endpoints {
		if p := d.progress[e.Name]; p != nil {
			all = append(all, Progress{Endpoint: e.Name, Waiting: p.waiting(), Disabled: p.off.Load()})
		}
	}
	return all
}

// progress is what a worker reports about its endpoint.
type progress struct {
	since atomic.Int64 // time of the oldest change that is not delivered yet, in milliseconds since the epoch; 0 = there is none
	off   atomic.Bool
}

func (p *progress) waiting() time.Time {
	if since := p.since.Load(); since != 0 {
		return time.UnixMilli(since)
	}
	return time.Time{}
}

// tells has a new worker tell of an endpoint, in place of the one before.
func (d *Deliverer) tells(name string) *progress {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.progress == nil {
		d.progress = map[string]*progress{}
	}
	p := new(progress)
	d.progress[name] = p
	return p
}

// tellsNothing is called when this process delivers no more.
func (d *Deliverer) tellsNothing() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.progress = nil
}
