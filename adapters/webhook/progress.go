package webhook

import (
	"sync/atomic"
	"time"
)

// Progress is how far the deliveries to an endpoint are.
type Progress struct {
	Endpoint string    // its name
	Waiting  time.Time // of the oldest change that is known and not delivered yet; zero = there is none, or Disabled
	Disabled bool      // the receiver answered 410, and gets nothing until its url or its secret changes
}

// Progress returns how far the deliveries to each endpoint are, in the order of Set. It is empty if this process does
// not deliver: another one may.
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

// waiting is the field Waiting of Progress.
func (p *progress) waiting() time.Time {
	if since := p.since.Load(); since != 0 {
		return time.UnixMilli(since)
	}
	return time.Time{}
}

// startProgress returns the progress for a new worker of an endpoint, which Progress reports from then on.
func (d *Deliverer) startProgress(name string) *progress {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.progress == nil {
		d.progress = map[string]*progress{}
	}
	p := new(progress)
	d.progress[name] = p
	return p
}

// clearProgress removes the progress of all endpoints, when this process no longer delivers.
func (d *Deliverer) clearProgress() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.progress = nil
}
