package reviews

import "github.com/vitrine-go/vitrine/internal/urn"

// Caller is who calls a method. The program that makes a Caller has authenticated it: the service checks no tokens. Methods
// return ErrInvalid for a Caller whose URN is not that of a user or whose Moderates are not URNs of networks and sites, unless
// it is an Operator. The zero Caller is malformed, so a caller that was forgotten has no rights.
type Caller struct {
	URN       string   // urn:<vendor>:<network>:user=<id>
	Moderates []string // URNs of networks and sites; only whole networks give rights here
	TagsOnly  bool     // may read apps by some tags and nothing else: every method returns ErrForbidden, unless Operator is set
	Operator  bool     // runs the program itself, as at the command line, and may do everything; never set it from a request
}

// check returns ErrInvalid unless the URN is that of a user and Moderates are URNs of networks and sites, and ErrForbidden for
// a caller that may only read apps by tags. The HTTP handler refuses callers with TagsOnly before it asks this package; this
// check is for programs that call the service themselves. The packages appsvc (Caller.check) and assets (memberOf) have the
// same one.
func (c Caller) check() error {
	if err := urn.CheckCaller(c.URN, c.Moderates); err != nil {
		return invalid("", "%s", err)
	}
	if c.TagsOnly {
		return forbidden("this caller may read apps by their tags, and do nothing else")
	}
	return nil
}
