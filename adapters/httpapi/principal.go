package httpapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// Principal is the caller who sends a request, and when that is to be found out again. Config.Authenticate returns it. What a right
// allows is said in the documentation of the domains; the handler itself judges only TagsOnly. Operator is never passed on.
type Principal struct {
	vitrine.Caller
	Expires time.Time // when the identity ends; zero = unknown
}

// looksRestricted reports whether p has Tags without TagsOnly. Such a Principal is a mistake of the program that made it: it
// looks restricted to these tags, and would have all its other rights.
func (p Principal) looksRestricted() bool { return len(p.Tags) > 0 && !p.TagsOnly }

// Check returns an error, which begins with the name of a claim, if a token cannot say what p says: if URN does not name a
// user, a URN in Moderates or Reads names neither a network nor a site, there are Tags without TagsOnly, or a text is not
// UTF-8 or has a U+0000.
func (p Principal) Check() error {
	if p.URN == "" {
		return errors.New("sub: missing; want the URN of a user, urn:<vendor>:<network>:user=<id>")
	}
	if err := urn.CheckUser(p.URN); err != nil {
		return fmt.Errorf("sub: %w", err)
	}
	for i, u := range p.Moderates {
		if err := urn.CheckGroup(u); err != nil {
			return fmt.Errorf("moderates/%d: %w", i, err)
		}
	}
	for i, u := range p.Reads {
		if err := urn.CheckGroup(u); err != nil {
			return fmt.Errorf("reads/%d: %w", i, err)
		}
	}
	if p.looksRestricted() {
		return errors.New("tags: given without TagsOnly; want TagsOnly to be true, which restricts the caller to these tags")
	}
	for _, s := range slices.Concat(p.Roles, p.Groups, p.Tags) {
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			return fmt.Errorf("roles, groups and tags: %q is not valid UTF-8 or has U+0000", s)
		}
	}
	return nil
}
