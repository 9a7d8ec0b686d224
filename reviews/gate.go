package reviews

// maxSmall is how many bytes of one review, or of one collection without its reviews, an import holds without
// a place in a Gate.
const maxSmall = 1 << 20

// A Gate bounds how many imports hold a large review in memory at a time: one of more than 1 MiB, or a
// collection of more than that without its reviews. An import that meets one waits for a place, stores it, and
// gives the place back. It holds a place only while it reads its own temporary file and stores, and never while it
// waits for its source, so that every place comes free. An import holds one place at most.
//
// A Gate is safe for concurrent use. A nil *Gate bounds nothing.
type Gate struct{ places chan struct{} }

// NewGate returns a Gate for so many imports at a time.
func NewGate(places int) *Gate { return &Gate{make(chan struct{}, places)} }

// pass is what one import has to do with a Gate.
type pass struct {
	gate   *Gate
	done   <-chan struct{} // closed when nobody wants the rest of the import
	inside bool
}

// enter waits for a place, unless the import has one. errStopped if nobody wants the rest any more.
func (p *pass) enter() error {
	if p.inside {
		return nil
	}
	if p.gate != nil {
		select {
		case p.gate.places <- struct{}{}:
		case <-p.done:
			return errStopped
		}
	}
	p.inside = true
	return nil
}

// leave gives the place back, if the import has one.
func (p *pass) leave() {
	if p.inside && p.gate != nil {
		<-p.gate.places
	}
	p.inside = false
}
