package appsvc

import "github.com/vitrine-go/vitrine/internal/urn"

// Caller is the user on whose behalf a method is called, with the rights of that user. The embedding program makes
// it from what it knows of a request, and passes it right after ctx. It is a value: the service keeps no users, and
// rights that are given to a user count from the next call with a new Caller. No method changes the slices of a Caller, so
// several goroutines may use one, as long as nobody changes it.
//
// A Caller with a URN alone may create nothing and may use the apps that it owns. Every method returns ErrInvalid for a
// Caller with a malformed URN, so a mistake in a URN never gives a right. The package comment says under "Rights"
// what each right allows.
type Caller struct {
	URN              string   // of the user: urn:<vendor>:<network>:user=<id>
	Moderates        []string // URNs of networks and sites; a network includes its sites
	Reads            []string // URNs of networks and sites: the caller may read their apps, and not change them
	ManageComponents bool     // may create and delete components

	// TagsOnly restricts the caller to TaggedApp, for the tags in Tags and the apps of Reads. Its other rights do not
	// count, and every other method returns ErrForbidden. The apps that it reads name no users and no groups.
	// Such a Caller suits a token that stands in a public page.
	TagsOnly bool
	Tags     []string // names of tags. Tags without TagsOnly are ErrInvalid in every method
}

// wellFormed returns ErrInvalid for a caller with a malformed URN, and for one that has Tags without TagsOnly. The latter
// looks restricted, but would have all its other rights.
func (c Caller) wellFormed() error {
	if err := urn.CheckCaller(c.URN, c.Moderates, c.Reads); err != nil {
		return invalid("", "%s", err)
	}
	if len(c.Tags) > 0 && !c.TagsOnly {
		return invalid("", "the caller has Tags without TagsOnly: want both or none")
	}
	return nil
}
