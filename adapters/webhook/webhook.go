package webhook

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage"
)

// Options configure a Deliverer. The zero value of each field means its default.
type Options struct {
	// Allow are networks that deliveries may go to although their addresses are not public.
	Allow []netip.Prefix
	// TLS is the configuration of connections, with certificates of an own authority for instance. nil = that of
	// the system.
	TLS *tls.Config
	// Log gets a line for each delivery that fails or is skipped, and for each change of the lease. nil = slog.Default.
	Log *slog.Logger
	// Observer is called after each attempt, and for each change that is given up without one, in the goroutine that
	// delivers to the endpoint: for metrics. nil = nothing is called.
	Observer func(Attempt)
}

// Deliverer delivers the changes of a store. Each process that uses the store may have one; one of them delivers at a
// time, the one that holds the lease (see lease). All of them need the same endpoints.
//
// While it delivers, it runs one worker for each endpoint. A worker reads the feeds that its endpoint gets, posts one change
// after the other, and stores after each how far it is (see position).
type Deliverer struct {
	db        storage.Store
	sources   []source
	transport http.RoundTripper
	log       *slog.Logger
	observer  func(Attempt)

	mu        sync.Mutex
	endpoints []Endpoint
	changed   chan struct{}      // closed when the endpoints change
	workers   map[string]*worker // by the names of their endpoints; none while another process delivers
}

// Services are the services whose changes are delivered. One that is nil is left out.
type Services struct {
	Apps   *appsvc.Service
	Assets *assets.Service
}

// New returns a Deliverer of the changes of these services. db keeps the positions; it must be the store
// of the services. The Deliverer has no endpoints yet: call Set, and then Run.
// It is safe for concurrent use; opts may be nil.
func New(db storage.Store, services Services, opts *Options) *Deliverer {
	var sources []source
	if services.Apps != nil {
		sources = append(sources, appSource{services.Apps})
	}
	if services.Assets != nil {
		sources = append(sources, assetSource{services.Assets})
	}
	return newDeliverer(db, sources, opts)
}

// newDeliverer is New for any sources.
func newDeliverer(db storage.Store, sources []source, opts *Options) *Deliverer {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Deliverer{db: db, sources: sources, transport: newTransport(o), log: o.Log, observer: o.Observer, changed: make(chan struct{}), workers: map[string]*worker{}}
}

// Set replaces the endpoints, also while Run runs. Their names must differ, as those that Parse returns do. An endpoint whose
// name the store does not know gets the changes that come after Set returns; any other goes on where it was. Deliveries that
// are under way are completed. If Set returns an error, the endpoints stay as they were.
func (d *Deliverer) Set(ctx context.Context, endpoints []Endpoint) error {
	for _, e := range endpoints {
		if err := d.register(ctx, e); err != nil {
			return fmt.Errorf("webhook %q: %w", e.Name, err)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.endpoints = slices.Clone(endpoints)
	close(d.changed)
	d.changed = make(chan struct{})
	return nil
}

// current returns the endpoints, and a channel that is closed when they change.
func (d *Deliverer) current() ([]Endpoint, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.endpoints, d.changed
}

// Run delivers until ctx is done, while this process holds the lease. Then it waits for the deliveries that are under
// way, at most 15 seconds, and returns nil.
func (d *Deliverer) Run(ctx context.Context) error {
	defer d.closeIdle()
	for d.awaitEndpoints(ctx) {
		l, err := acquire(ctx, d.db, d.log)
		if err != nil {
			return nil // ctx is done
		}
		d.log.Info("webhooks: this process delivers")
		l.while(ctx, func(held context.Context, lose context.CancelCauseFunc) { d.deliver(ctx, held, l, lose) })
		if ctx.Err() == nil {
			d.log.Warn("webhooks: another process delivers, or the store could not be reached")
		}
	}
	return nil
}

// closeIdle closes the connections that wait for further deliveries.
func (d *Deliverer) closeIdle() {
	if t, ok := d.transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// awaitEndpoints waits until there are endpoints. It returns false if ctx is done before.
func (d *Deliverer) awaitEndpoints(ctx context.Context) bool {
	for ctx.Err() == nil {
		endpoints, changed := d.current()
		if len(endpoints) > 0 {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	return false
}

// deliver runs a worker for each endpoint until ctx or held is done, and waits for all of them to end. lose ends held.
func (d *Deliverer) deliver(ctx, held context.Context, l *lease, lose context.CancelCauseFunc) {
	var running sync.WaitGroup
	defer func() {
		running.Wait()
		d.mu.Lock()
		defer d.mu.Unlock()
		clear(d.workers)
	}()
	for {
		d.mu.Lock()
		changed := d.changed
		for _, e := range d.endpoints {
			if d.workers[e.Name] == nil {
				w := &worker{d: d, lease: l, log: d.log.With("webhook", e.Name)}
				d.workers[e.Name] = w // and it stays there: the endpoint may come back
				running.Go(func() { w.work(ctx, held, lose, e.Name) })
			}
		}
		d.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-held.Done():
			return
		}
	}
}

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
		if w := d.workers[e.Name]; w != nil {
			p := Progress{Endpoint: e.Name, Disabled: w.off.Load()}
			if since := w.since.Load(); since != 0 {
				p.Waiting = time.UnixMilli(since)
			}
			all = append(all, p)
		}
	}
	return all
}
