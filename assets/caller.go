package assets

import (
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/urn"
)

// Caller is who asks. A Service checks no tokens: it believes what the Caller says, so the program
// that makes a Caller must have verified it. The zero Caller has no rights.
//
// Every method of a Service returns ErrInvalid if URN is not the URN of a user, or if Moderates has
// anything other than URNs of networks and sites.
type Caller struct {
	URN       string   // urn:<vendor>:<network>:user=<id>
	Moderates []string // URNs of the networks and sites that the caller moderates; a network includes its sites
	Roles     []string // ids of the caller's roles
	Groups    []string // URNs of the caller's groups; a permission of a group is for callers with exactly this URN
	TagsOnly  bool     // the caller may read apps by some tags and nothing else, so every method returns ErrForbidden
}

// userSegment stands in a user's URN between the network's URN and the user's id.
const userSegment = ":user="

// member is a caller within one network, for the time of one request. It knows the caller's rights,
// and nothing of the library except the folders that it is asked about.
type member struct {
	Caller
	network   string                // URN of the network
	id        string                // the caller's user id in this network; "" if the caller is a user of another network
	moderator bool                  // moderates the network, and so may do everything in its libraries
	best      map[*node]*Permission // a cache of own, for folders with more than fewGrants permissions
}

// memberOf returns the caller as a member of the network. A caller belongs to the network if the
// caller is one of its users or moderates it. A moderator of one site is no moderator of its
// network.
//
// It returns ErrInvalid if one of the caller's URNs is malformed, and ErrForbidden if the caller
// does not belong to the network or has TagsOnly set. The HTTP handler refuses callers with TagsOnly
// before it asks this package; this check is for programs that call the service themselves. Packages
// appsvc and reviews have the same one, in the method check of their Callers.
func memberOf(by Caller, networkURN string) (member, error) {
	if err := urn.CheckCaller(by.URN, by.Moderates); err != nil {
		return member{}, invalid("", "%s", err)
	}
	if by.TagsOnly {
		return member{}, forbidden("", "this caller may read apps by their tags, and do nothing else")
	}
	m := member{Caller: by, network: networkURN, best: map[*node]*Permission{}}
	if id, ok := strings.CutPrefix(by.URN, networkURN+userSegment); ok {
		m.id = id
	}
	m.moderator = slices.ContainsFunc(by.Moderates, func(u string) bool { return urn.Contains(u, networkURN) })
	if !m.moderator && !urn.Contains(networkURN, by.URN) {
		return member{}, forbidden("", "the caller does not belong to the network")
	}
	return m, nil
}
