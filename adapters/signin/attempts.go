package signin

import (
	"errors"
	"net/netip"
	"sync"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// attempts limits how often an address may try to sign in. Each address has a number of points, which come back at one
// a second. A request takes one, and a failure several more.
type attempts struct {
	mu sync.Mutex
	of map[netip.Prefix]points
}

type points struct {
	left float64
	at   time.Time
}

const (
	mostPoints    = 60
	failureCosts  = 6
	mostAddresses = 10_000 // that are remembered; then all begin anew
)

// take takes points from an address, and reports whether it had any. All addresses of an IPv6 network of 64 bits count
// as one.
func (a *attempts) take(address string, cost float64, now time.Time) bool {
	addr, _ := netip.ParseAddr(address) // all malformed addresses count as one, the zero address
	addr = addr.Unmap().WithZone("")
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	whose := netip.PrefixFrom(addr, bits).Masked()
	a.mu.Lock()
	defer a.mu.Unlock()
	p, known := a.of[whose]
	if !known {
		if p.left = mostPoints; len(a.of) >= mostAddresses || a.of == nil {
			a.of = map[netip.Prefix]points{}
		}
	} else {
		p.left = min(mostPoints, p.left+now.Sub(p.at).Seconds())
	}
	enough := p.left >= 1
	a.of[whose] = points{max(p.left-cost, 0), now}
	return enough
}

// errNowhere is the error of a server without sign-in.
var errNowhere = fault.Forbidden(
	"nobody can sign in at this server: it needs -base-url with https, or to be reached as http://localhost; use a " +
		"token")

// limited returns an endpoint whose attempts are limited. It is 403 at a server without sign-in.
func (s *Service) limited(serve func(*httpapi.Request) (any, error)) func(*httpapi.Request) (any, error) {
	return func(r *httpapi.Request) (any, error) {
		if s.origin == "" {
			return nil, errNowhere
		}
		if !s.attempts.take(r.Address(), 1, time.Now()) {
			r.Header.Set("Retry-After", "60")
			return nil, httpapi.ErrTooMany
		}
		out, err := serve(r)
		if errors.Is(err, httpapi.ErrUnauthenticated) || errors.Is(err, vitrine.ErrNotFound) {
			s.attempts.take(r.Address(), failureCosts, time.Now())
			s.access(r.Context(), "sign-in failed", "address", r.Address(), "cause", err.Error())
		}
		return out, err
	}
}
