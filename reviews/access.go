package reviews

import (
	"context"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// Network returns the network that a request is about: the named one or, if named is "", the only one that the caller
// moderates as a whole. Each method applies this rule, and it does not read the store, so a network without reviews is
// like any other. A server asks it before it reads the body of a request.
//
// It returns ErrForbidden if the caller has TagsOnly set or does not moderate urn:<vendor>:<network> itself; a site of
// the network is not enough. It returns ErrInvalid if the network is not a name, if the caller is malformed, or if the
// request must name a network, because the caller moderates several or is an operator. For an operator, only the name
// of the network is checked.
func (s *Session) Network(named string) (string, error) { return s.calls("Network").network(named) }

// network is Network for the method that was called.
func (s *Session) network(named string) (string, error) {
	if named != "" {
		return named, s.mayUse(named)
	}
	if s.by.Operator {
		return "", fault.Invalid("network", "an operator moderates every network, so the request must name one of them")
	}
	if err := s.by.CheckUnrestricted("reviews." + s.method); err != nil {
		return "", err
	}
	var networks []string
	for _, moderated := range s.by.Moderates {
		// A network is urn:<vendor>:<network>. One more colon begins a site, urn:<vendor>:<network>:site=<id>.
		name, ok := strings.CutPrefix(moderated, s.service.NetworkURN(""))
		if ok && !strings.Contains(name, ":") && !slices.Contains(networks, name) {
			networks = append(networks, name)
		}
	}
	switch len(networks) {
	case 0:
		return "", fault.Forbidden(
			"only a moderator of a whole network may import, export, list or delete its reviews, and " +
				"the caller moderates none")
	case 1:
		return networks[0], nil
	}
	return "", fault.Invalid("network", "the caller moderates %d networks, so the request must name one of them",
		len(networks))
}

// mayUse returns the error of Network for a name, which may be "".
func (s *Session) mayUse(network string) error {
	if err := checkNetwork(network); err != nil {
		return err
	}
	// An operator is the program itself, so its URN is not checked.
	if s.by.Operator {
		return nil
	}
	if err := s.by.CheckUnrestricted("reviews." + s.method); err != nil {
		return err
	}
	whole := s.service.NetworkURN(network)
	if !slices.Contains(s.by.Moderates, whole) {
		return fault.Forbidden("the reviews of a network are for moderators of the whole network, here %s", whole)
	}
	return nil
}

// Networks returns the names of the networks that have collections, in ascending order of their bytes. It is for
// programs of the operator: a moderator of one network is not told which others there are.
func (s *Service) Networks(ctx context.Context) ([]string, error) {
	return s.networks(ctx, false)
}

// NetworkURN returns the URN of a network.
func (s *Service) NetworkURN(network string) string { return "urn:" + s.made().vendor + ":" + network }

// checkNetwork returns ErrInvalid if name cannot be the name of a network.
func checkNetwork(name string) error {
	if err := urn.CheckNetwork(name); err != nil {
		return fault.Invalid("network", "%s", err)
	}
	return nil
}
