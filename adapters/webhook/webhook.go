package webhook

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"sync"

	"github.com/vitrine-go/vitrine/adapters/webhook/webhookstore"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
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
	store     webhookstore.Store
	sources   []source
	transport http.RoundTripper
	log       *slog.Logger
	observer  func(Attempt)

	mu        sync.Mutex
	endpoints []Endpoint
	changed   chan struct{}        // closed when the endpoints change
	progress  map[string]*progress // of the endpoints that this process delivers to, by name
}

// Services are the services whose changes are delivered. One that is nil is left out.
type Services struct {
	Apps   *appsvc.Service
	Assets *assets.Service
}

// New returns a Deliverer of the changes of these services. store keeps the positions; it must belong to the same store
// as the services (the method Webhooks of a driver's DB). The Deliverer has no endpoints yet: call Set, and then Run.
// It is safe for concurrent use; opts may be nil.
func New(store webhookstore.Store, services Services, opts *Options) *Deliverer {
	var sources []source
	if services.Apps != nil {
		sources = append(sources, appSource{services.Apps})
	}
	if services.Assets != nil {
		sources = append(sources, assetSource{services.Assets})
	}
	return newDeliverer(store, sources, opts)
}

// newDeliverer is New for any sources.
func newDeliverer(store webhookstore.Store, sources []source, opts *Options) *Deliverer {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Deliverer{store: store, sources: sources, transport: newTransport(o), log: o.Log, observer: o.Observer, changed: make(chan struct{})}
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
		l, err := acquire(ctx, d.store, d.log)
		if err != nil {
			return nil // ctx is done
		}
		d.log.Info("webhooks: this process delivers")
		l.while(ctx, func(held context.Context, lose context.CancelCauseFunc) { d.deliver(ctx, held, lose) })
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

// running is a worker in its goroutine, as deliver knows it.
type running struct {
	endpoint Endpoint
	cancel   context.CancelFunc // tells the worker to stop
	stopped  bool               // it was told to stop
	ended    chan struct{}      // closed when its goroutine has ended
}

// stop lets the worker complete its delivery and end.
func (r *running) stop() {
	r.stopped = true
	r.cancel()
}

// deliver runs a worker for each endpoint until ctx or held is done, and waits for all of them to end. lose ends held.
func (d *Deliverer) deliver(ctx, held context.Context, lose context.CancelCauseFunc) {
	workers, term := map[string]*running{}, rand.Text()
	defer d.clearProgress()
	defer func() {
		for _, r := range workers {
			r.stop()
		}
		for _, r := range workers {
			<-r.ended
		}
	}()
	for {
		endpoints, changed := d.current()
		d.adjust(ctx, held, lose, workers, endpoints, term)
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-held.Done():
			return
		}
	}
}

// adjust stops the workers of endpoints that were removed or changed, and starts those of new ones. A worker of a
// changed endpoint begins when the one before has completed its delivery; nobody else waits for that.
func (d *Deliverer) adjust(ctx, held context.Context, lose context.CancelCauseFunc, workers map[string]*running, endpoints []Endpoint, term string) {
	for name, r := range workers {
		if !slices.ContainsFunc(endpoints, func(e Endpoint) bool { return e.Name == name }) {
			r.stop() // and stays in workers: a later one of the same name waits for its end
		}
	}
	for _, e := range endpoints {
		before := workers[e.Name]
		if before != nil && !before.stopped && before.endpoint.equal(e) {
			continue
		}
		if before != nil {
			before.stop()
		}
		stopped, cancel := context.WithCancel(ctx)
		r := &running{endpoint: e, cancel: cancel, ended: make(chan struct{})}
		workers[e.Name] = r
		progress := d.startProgress(e.Name)
		go func() {
			defer close(r.ended)
			if before != nil {
				<-before.ended
			}
			w := worker{d: d, e: e, term: term, log: d.log.With("webhook", e.Name), progress: progress}
			if err := w.run(stopped, held); errors.Is(err, errLost) {
				lose(err)
			}
		}()
	}
}

// equal reports whether two endpoints are the same in all members.
func (e Endpoint) equal(o Endpoint) bool {
	return e.Name == o.Name && e.receiver() == o.receiver() && same(e.Types, o.Types) && same(e.Groups, o.Groups)
}

// same is slices.Equal for lists where nil, which stands for all, differs from an empty one.
func same(a, b []string) bool { return (a == nil) == (b == nil) && slices.Equal(a, b) }
