package reviews

import (
	"context"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// Admit returns nil if the caller may import, export, list and erase the reviews of this network, and otherwise the
// error that every method returns. A server calls Admit before it reads the body of a request. Admit does not read the
// store, so a network without reviews is like any other.
//
// It returns ErrInvalid if the network is not a name or the caller is malformed, and ErrForbidden if the caller has
// TagsOnly set or does not moderate urn:<vendor>:<network> itself. A site of the network is not enough. For an
// operator, only the name of the network is checked.
func (s *Service) Admit(by vitrine.Caller, network string) error {
	if err := checkNetwork(network); err != nil {
		return err
	}
	// An operator is the program itself, so its URN is not checked.
	if by.Operator {
		return nil
	}
	if err := by.CheckUnrestricted(); err != nil {
		return err
	}
	whole := s.NetworkURN(network)
	if !slices.Contains(by.Moderates, whole) {
		return forbidden("the reviews of a network are for moderators of the whole network, here %s", whole)
	}
	return nil
}

// NetworkOf returns the name of the one network that the caller moderates as a whole, for a request that names none.
// Sites, and networks of other vendors, do not count. It returns ErrForbidden if there is no such network or the caller
// has TagsOnly set, and ErrInvalid if the caller is malformed or moderates several networks: the request must then name
// one. It ignores Caller.Operator.
func (s *Service) NetworkOf(by vitrine.Caller) (string, error) {
	if err := by.CheckUnrestricted(); err != nil {
		return "", err
	}
	var networks []string
	for _, moderated := range by.Moderates {
		// A network is urn:<vendor>:<network>. One more colon begins a site, urn:<vendor>:<network>:site=<id>.
		name, ok := strings.CutPrefix(moderated, s.prefix())
		if ok && !strings.Contains(name, ":") && !slices.Contains(networks, name) {
			networks = append(networks, name)
		}
	}
	// Without a network, the caller has no right. With several, the request must name one.
	switch len(networks) {
	case 0:
		return "", forbidden("only a moderator of a whole network may import, export, list or delete its reviews, " +
			"and the caller moderates none")
	case 1:
		return networks[0], nil
	}
	return "", invalid("network", "the caller moderates %d networks, so the request must name one of them",
		len(networks))
}

// authorizedNetwork returns the network of a request if the caller may access it: the named one or, without a name, the
// only one that the caller moderates. It returns the errors of Admit and NetworkOf, and ErrInvalid if an operator names
// no network.
func (s *Session) authorizedNetwork(named string) (string, error) {
	if named != "" {
		return named, s.service.Admit(s.by, named)
	}
	if s.by.Operator {
		return "", invalid("network", "an operator moderates every network, so the request must name one of them")
	}
	return s.service.NetworkOf(s.by)
}

// Networks returns the names of the networks that have collections, in ascending order of their bytes. It is for
// programs of the operator: a moderator of one network is not told which others there are.
func (s *Service) Networks(ctx context.Context) ([]string, error) {
	return s.networks(ctx, false)
}

// NetworkURN returns the URN of a network.
func (s *Service) NetworkURN(network string) string { return s.prefix() + network }

// prefix returns the URN of a network without its name.
func (s *Service) prefix() string { return "urn:" + s.vendor + ":" }

// checkNetwork returns ErrInvalid if name cannot be the name of a network.
func checkNetwork(name string) error {
	if err := urn.CheckNetwork(name); err != nil {
		return invalid("network", "%s", err)
	}
	return nil
}
