// Package urn reads the names of networks, sites and users and says which contains which.
//
//	urn:<vendor>:<network>               a network
//	urn:<vendor>:<network>:site=<id>     a site of it
//	urn:<vendor>:<network>:user=<id>     a user of it
package urn

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxLen is the longest URN accepted, in bytes.
const MaxLen = 512

// Author returns a user as histories and feeds keep it: the URN and, for what an agent has written in the name of the
// user, the name of the agent in a second line. Split is the inverse.
func Author(user, agent string) string {
	if agent == "" {
		return user
	}
	return user + "\n" + agent
}

// Split returns the URN and the name in a text that Author has returned.
func Split(author string) (user, agent string) {
	user, agent, _ = strings.Cut(author, "\n")
	return user, agent
}

// CheckGroup returns an error unless s is the URN of a network or a site.
func CheckGroup(s string) error { return check(s, "site=") }

// CheckNetwork returns an error unless name can be the name of a network: one segment of a URN, such as example.test in
// urn:vitrine:example.test.
func CheckNetwork(name string) error {
	if strings.Contains(name, ":") {
		return fmt.Errorf("%q is not the name of a network: want the name alone, without colons, and not its URN", name)
	}
	if err := CheckGroup("urn:vitrine:" + name); err != nil {
		return fmt.Errorf("%q is not the name of a network: %w", name, err)
	}
	return nil
}

// CheckUser returns an error unless s is the URN of a user.
func CheckUser(s string) error {
	if strings.Count(s, ":") < 3 {
		return fmt.Errorf("%q is not a user URN: want urn:<vendor>:<network>:user=<id>", s)
	}
	return check(s, "user=")
}

// check returns an error unless s is a URN of a network, or one with a fourth segment that begins with last.
func check(s, last string) error {
	if len(s) > MaxLen {
		return fmt.Errorf("a URN of %d bytes is too long: at most %d", len(s), MaxLen)
	}
	plain := utf8.ValidString(s)
	for i := range len(s) { // by bytes: each request does this
		plain = plain && s[i] > ' ' && s[i] != 0x7f
	}
	if !plain {
		return fmt.Errorf("%q has a space or control character: want urn:<vendor>:<network>[:%s<id>]", s, last)
	}
	rest, ok := strings.CutPrefix(s, "urn:")
	vendor, rest, two := strings.Cut(rest, ":")
	network, id, four := strings.Cut(rest, ":")
	ok = ok && two && vendor != "" && network != ""
	if four {
		var found bool
		id, found = strings.CutPrefix(id, last)
		ok = ok && found && id != "" && !strings.Contains(id, ":")
	}
	if !ok {
		return fmt.Errorf("%q is not a URN of the form urn:<vendor>:<network>[:%s<id>]", s, last)
	}
	return nil
}

// Contains reports whether outer contains inner: whether each segment of outer equals the segment of inner at the same
// position. So a network contains its sites, and site=1 does not contain site=10. A URN contains itself, and ""
// contains nothing.
func Contains(outer, inner string) bool {
	rest, found := strings.CutPrefix(inner, outer)
	return found && outer != "" && (rest == "" || rest[0] == ':')
}

// Containers returns every text that contains s, the widest first and s last. With it a store finds what is contained
// by any of many URNs by looking for equal texts alone.
func Containers(s string) []string {
	var out []string
	for i := range len(s) {
		if s[i] == ':' {
			out = append(out, s[:i])
		}
	}
	return append(out, s)
}
