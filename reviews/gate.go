package reviews

// maxSmall is how many bytes of a review, or of a collection without its reviews, an import has in memory without passing
// a Gate.
const maxSmall = 1 << 20

// A Gate bounds how many imports have a large review in memory at a time: a review of more than 1 MiB, or a collection of
// more than that without its reviews. A server gives one Gate to all of its imports, see Options.Gate. An import that meets a
// large review waits until the Gate has room, enters it, stores the review, and leaves. It is inside only while it reads its
// own temporary file and writes to the store, and never while it waits for its client, so that the others wait no longer than
// that. While it stores a large review it may call ImportRequest.Problem and Progress, which should not block. An import that
// has no large review hardly ever waits: only a value of more than 768 KiB may make it enter too. Waiting ends with the context
// of the import.
//
// A Gate is safe for concurrent use. A nil *Gate bounds nothing.
type Gate struct{ inside chan struct{} }

// NewGate returns a Gate with room for so many imports at a time. imports must be at least 1: with 0, an import with a large
// review would wait for ever.
func NewGate(imports int) *Gate { return &Gate{make(chan struct{}, imports)} }

// pass lets one import into a Gate and out again. It remembers whether the import is inside, so enter and leave may be called
// more often than needed. It is used by the goroutine that reads the line.
type pass struct {
	gate   *Gate
	done   <-chan struct{} // closed when nobody wants the rest of the import
	inside bool
}

// enter waits until the Gate has room, unless the import is inside. It returns errStopped if nobody wants the rest of the
// import any more.
func (p *pass) enter() error {
	if p.inside {
		return nil
	}
	// The channel has room for as many imports as may be inside. Without a Gate, nothing is waited for.
	if p.gate != nil {
		select {
		case p.gate.inside <- struct{}{}:
		case <-p.done:
			return errStopped
		}
	}
	p.inside = true
	return nil
}

// leave makes room for another import, if this one is inside.
func (p *pass) leave() {
	if p.inside && p.gate != nil {
		<-p.gate.inside
	}
	p.inside = false
}
