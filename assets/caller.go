package assets

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
