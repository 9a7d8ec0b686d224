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

// CheckGroup reports what keeps s from naming a network or a site.
func CheckGroup(s string) error { return check(s, "site=") }

// CheckUser reports what keeps s from naming a user.
func CheckUser(s string) error {
	if strings.Count(s, ":") < 3 {
		return fmt.Errorf("%q is not a user URN: want urn:<vendor>:<network>:user=<id>", s)
	}
	return check(s, "user=")
}

// CheckCaller reports what is malformed in a caller: user must name a user, and each URN of scopes
// (what the caller moderates, what it reads) a network or a site. Every domain asks this before it
// gives a caller any right, so that a malformed URN is a mistake and never a right.
func CheckCaller(user string, scopes ...[]string) error {
	if err := CheckUser(user); err != nil {
		return fmt.Errorf("the caller: %w", err)
	}
	for _, scope := range scopes {
		for _, s := range scope {
			if err := CheckGroup(s); err != nil {
				return fmt.Errorf("a right of the caller: %w", err)
			}
		}
	}
	return nil
}

func check(s, last string) error {
	want := "urn:<vendor>:<network>[:" + last + "<id>]"
	if len(s) > MaxLen {
		return fmt.Errorf("a URN of %d bytes is too long: at most %d", len(s), MaxLen)
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return fmt.Errorf("%q has a space or control character: want %s", s, want)
	}
	seg := strings.Split(s, ":")
	ok := seg[0] == "urn" && (len(seg) == 3 || len(seg) == 4)
	for _, x := range seg {
		ok = ok && x != ""
	}
	if ok && len(seg) == 4 {
		id, found := strings.CutPrefix(seg[3], last)
		ok = found && id != ""
	}
	if !ok {
		return fmt.Errorf("%q is not a URN of the form %s", s, want)
	}
	return nil
}

// Contains reports whether outer contains inner: each segment of outer equals the segment of
// inner in the same position. A URN contains itself.
func Contains(outer, inner string) bool {
	rest, found := strings.CutPrefix(inner, outer)
	return found && outer != "" && (rest == "" || rest[0] == ':')
}

// Containers returns every URN that contains s, widest first and s last. It lets a store answer
// "contained by any of" with equality alone.
func Containers(s string) []string {
	var out []string
	for i := range len(s) {
		if s[i] == ':' {
			out = append(out, s[:i])
		}
	}
	return append(out, s)
}
