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
	"github.com/vitrine-go/vitrine/internal/lease"
	"github.com/vitrine-go/vitrine/internal/required"
	"github.com/vitrine-go/vitrine/reviews"
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
// time, the one that has the lease (see Several processes). All of them need the same endpoints.
//
// While it delivers, it runs one worker for each endpoint. A worker reads the feeds that its endpoint gets, posts one
// change after the other, and stores after each how far it is (see Positions).
type Deliverer struct {
	db        storage.Store
	sources   []source
	transport http.RoundTripper
	log       *slog.Logger
	observer  func(Attempt)

	mu        sync.Mutex
	endpoints []Endpoint
	changed   chan struct{}       // closed when the endpoints change
	progress  map[string]Progress // by the names of endpoints; none while another process delivers
}

// Services are the services whose changes are delivered. One that is nil is left out.
type Services struct {
	Apps    *appsvc.Service
	Assets  *assets.Service
	Reviews *reviews.Service
}

// New returns a Deliverer of the changes of these services. db keeps the positions; it must be the store
// of the services. The Deliverer has no endpoints yet: call Set, and then Run.
// It is safe for concurrent use; opts may be nil. New panics if db is nil.
func New(db storage.Store, services Services, opts *Options) *Deliverer {
	var o Options
	if opts != nil {
		o = *opts
	}
	required.Argument("webhook.New", "store", db)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	d := &Deliverer{db: db, transport: newTransport(o), log: o.Log, observer: o.Observer, changed: make(chan struct{}),
		progress: map[string]Progress{}}
	if services.Apps != nil {
		d.sources = append(d.sources, appSource{services.Apps})
	}
	if services.Assets != nil {
		d.sources = append(d.sources, assetSource{services.Assets})
	}
	if services.Reviews != nil {
		d.sources = append(d.sources, reviewSource{services.Reviews})
	}
	return d
}

// Set replaces the endpoints, also while Run runs. Their names must differ, as those that Parse returns do. An endpoint
// whose name the store does not know gets the changes that come after Set returns; any other goes on where it was.
// Deliveries that are under way are completed. If Set returns an error, the endpoints stay as they were.
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

// Run delivers until ctx is done, while this process has the lease. Then it waits for the deliveries that are under
// way, at most 15 seconds, and returns nil.
func (d *Deliverer) Run(ctx context.Context) error {
	if t, ok := d.transport.(*http.Transport); ok {
		defer t.CloseIdleConnections()
	}
	for ctx.Err() == nil {
		endpoints, changed := d.current()
		if len(endpoints) == 0 {
			select {
			case <-changed:
			case <-ctx.Done():
			}
			continue
		}
		l, valid := lease.Acquire(ctx, d.db, leaseKey, d.log)
		if l == nil {
			break
		}
		d.log.Info("webhooks: this process delivers")
		d.deliver(ctx, valid, l)
		l.Release(ctx)
		if ctx.Err() == nil {
			d.log.Warn("webhooks: another process delivers, or the store could not be reached")
		}
	}
	return nil
}

// deliver runs a worker for each endpoint until ctx is done, or valid since the lease is lost. When the endpoints
// change, all workers are replaced. Each of the new ones waits for the one before to complete its delivery.
func (d *Deliverer) deliver(ctx, valid context.Context, l *lease.Lease) {
	ended := map[string]chan struct{}{} // by the names of endpoints; closed when the last worker has ended
	for ctx.Err() == nil && valid.Err() == nil {
		endpoints, changed := d.current()
		stopped, stop := context.WithCancel(ctx)
		for _, e := range endpoints {
			w := &worker{d: d, lease: l, e: e, log: d.log.With("webhook", e.Name)}
			before, end := ended[e.Name], make(chan struct{})
			if before == nil {
				d.tell(Progress{Endpoint: e.Name})
			}
			ended[e.Name] = end
			go func() {
				defer close(end)
				if before != nil {
					<-before
				}
				w.run(stopped, valid)
			}()
		}
		select {
		case <-changed:
		case <-ctx.Done():
		case <-valid.Done():
		}
		stop()
	}
	for _, end := range ended {
		<-end
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.progress)
}

// Progress is how far the deliveries to an endpoint are.
type Progress struct {
	Endpoint string    // its name
	Waiting  time.Time // of the oldest change that is known and not delivered yet; zero = there is none, or Disabled
	Disabled bool      // the receiver returned 410, and gets nothing until its url or its secret changes
}

// tell replaces the progress of an endpoint.
func (d *Deliverer) tell(p Progress) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.progress[p.Endpoint] = p
}

// Progress returns how far the deliveries to each endpoint are, in the order of Set. It is empty if this process does
// not deliver: another one may.
func (d *Deliverer) Progress() (all []Progress) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.endpoints {
		if p, delivers := d.progress[e.Name]; delivers {
			all = append(all, p)
		}
	}
	return all
}
