package reviews

import (
	"context"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/reviews/reviewstore"
)

// DefaultNetwork is the network of the reviews that a store has from before reviews had networks, and of commands that name
// none.
const DefaultNetwork = reviewstore.DefaultNetwork

// Service imports reviews into a store, exports, lists and erases them, and counts their ratings. It is safe for concurrent
// use.
//
// Every method takes the caller, and a request that names a network. A request may leave the network out if the caller
// moderates exactly one; Delete always needs its name. A method returns ErrForbidden for a caller that does not moderate the
// network as a whole, and ErrInvalid for a malformed caller or network. The reviews of one network change no answer about
// another one.
type Service struct {
	store  Store
	vendor string
}

// ServiceOptions are the options of New. The zero value works.
type ServiceOptions struct {
	Vendor string // second segment of URNs; default "vitrine"
}

// New returns a service on a store. o may be nil.
func New(store Store, o *ServiceOptions) *Service {
	s := &Service{store: store, vendor: "vitrine"}
	if o != nil && o.Vendor != "" {
		s.vendor = o.Vendor
	}
	return s
}

// Admit returns the error with which every method refuses the caller in this network; nil for a caller that may import and
// export. A server can call it before it reads a request.
func (s *Service) Admit(by Caller, network string) error {
	if err := CheckNetwork(network); err != nil {
		return err
	}
	if by.Operator {
		return nil
	}
	if err := by.check(); err != nil {
		return err
	}
	whole := s.prefix() + network
	if !slices.Contains(by.Moderates, whole) {
		return forbidden("reviews of a network are imported and exported by those who moderate %s as a whole", whole)
	}
	return nil
}

// NetworkOf returns the one network that the caller moderates as a whole. Sites, and networks of other vendors, do not count. It
// returns ErrForbidden if there is none, and ErrInvalid if there are several, because the request must name one of them then.
func (s *Service) NetworkOf(by Caller) (string, error) {
	if err := by.check(); err != nil {
		return "", err
	}
	var networks []string
	for _, moderated := range by.Moderates {
		name, ok := strings.CutPrefix(moderated, s.prefix())
		if ok && !strings.Contains(name, ":") && !slices.Contains(networks, name) {
			networks = append(networks, name)
		}
	}
	switch len(networks) {
	case 0:
		return "", forbidden("reviews are imported and exported by those who moderate a network as a whole, and the caller moderates none")
	case 1:
		return networks[0], nil
	}
	return "", invalid("network", "the caller moderates %d networks, so the request must name one of them", len(networks))
}

// admitted returns the network of a request if the caller may import and export there. It is the one that the request names, or
// without a name the only one that the caller moderates.
func (s *Service) admitted(by Caller, named string) (string, error) {
	if named != "" {
		return named, s.Admit(by, named)
	}
	if by.Operator {
		return "", invalid("network", "an operator moderates every network, so the request must name one of them")
	}
	return s.NetworkOf(by)
}

// Networks returns the names of the networks that have collections, in ascending order. It returns ErrForbidden unless the caller
// is an operator.
func (s *Service) Networks(ctx context.Context, by Caller) ([]string, error) {
	if !by.Operator {
		return nil, forbidden("the networks of a store are listed for its operator")
	}
	var names []string
	for name, err := range s.store.Networks(ctx) {
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// prefix returns the URN of a network without its name.
func (s *Service) prefix() string { return "urn:" + s.vendor + ":" }

// CheckNetwork returns ErrInvalid if name cannot be the name of a network. A name is one segment of a URN.
func CheckNetwork(name string) error {
	if strings.Contains(name, ":") {
		return invalid("network", "%q is not the name of a network: want the name alone, without colons, and not its URN", name)
	}
	if err := urn.CheckGroup("urn:vitrine:" + name); err != nil {
		return invalid("network", "%q is not the name of a network: %s", name, err)
	}
	return nil
}
