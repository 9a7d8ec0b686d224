package reviews

// Caller is who calls a method. The program that makes a Caller has authenticated it: the service checks no tokens. Methods
// return ErrInvalid for a Caller whose URN is not that of a user or whose Moderates are not URNs of networks and sites, unless
// it is an Operator. The zero Caller is malformed, so a caller that was forgotten has no rights.
type Caller struct {
	URN       string   // urn:<vendor>:<network>:user=<id>
	Moderates []string // URNs of networks and sites; only whole networks give rights here
	TagsOnly  bool     // may read apps by some tags and nothing else: every method returns ErrForbidden, unless Operator is set
	Operator  bool     // runs the program itself, as at the command line, and may do everything; never set it from a request
}
