package httpapi

import "time"

// Principal is the user who sends a request, with the rights of that user. Config.Authenticate returns it, and each domain
// gets the fields that it knows as its own Caller. What a right allows is said in the documentation of the domains; the
// handler itself judges only TagsOnly.
type Principal struct {
	URN       string   // of the user, urn:<vendor>:<network>:user=<id>; required
	Moderates []string // URNs of networks and sites
	Reads     []string // URNs of networks and sites whose apps the caller may read and not change

	// TagsOnly restricts the caller to reading the apps of Reads by the tags of Tags, so that its token can
	// stand in a public page: GET /apps/{id}/tagged/{tag} and nothing else, whatever else the Principal has.
	TagsOnly bool
	Tags     []string // names of the tags that TagsOnly allows; empty unless TagsOnly is set

	Roles      []string  // ids of roles, for folder permissions
	Groups     []string  // URNs of groups, for folder permissions
	Components bool      // may create and delete components
	Expires    time.Time // when the identity ends; zero = unknown
}
