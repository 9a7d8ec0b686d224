package reviews

import "github.com/vitrine-go/vitrine/internal/urn"

// Caller is who asks. Whoever makes one vouches for it: the service checks no tokens, but it refuses
// a caller with a malformed URN.
type Caller struct {
	URN       string   // urn:<vendor>:<network>:user=<id>
	Moderates []string // URNs of networks and sites
	TagsOnly  bool     // may read apps by some tags and nothing else: every method answers ErrForbidden
	Operator  bool     // runs the program itself, as at the command line; never set from a request
}

// check returns ErrInvalid unless the caller is a user and moderates nothing but networks and sites.
func (c Caller) check() error {
	if err := urn.CheckCaller(c.URN, c.Moderates); err != nil {
		return invalid("", "%s", err)
	}
	if c.TagsOnly {
		return forbidden("this caller may read apps by their tags, and do nothing else")
	}
	return nil
}
