package reviews

import "fmt"

// Caller is who asks.
type Caller struct {
	URN       string
	Moderates []string // URNs of networks and sites
	Operator  bool     // runs the program itself, as at the command line; never set from a request
}

// mayMove says whether the caller may import and export. Collections belong to no network, so that
// moderating any will do.
func (c Caller) mayMove() error {
	if c.Operator || len(c.Moderates) > 0 {
		return nil
	}
	return fmt.Errorf("%w: reviews are moved by those who moderate a network or a site", ErrForbidden)
}

// Service imports reviews into a store, exports them, and counts their ratings.
type Service struct {
	store Store
}

// New returns a service on a store.
func New(store Store) *Service {
	return &Service{store: store}
}
