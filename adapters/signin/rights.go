package signin

import (
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// Rights are the rights of a person or a key, or those that a value of a provider's claim gives: those of a
// vitrine.Caller, and admin.
type Rights struct {
	Admin      bool     `json:"admin"`
	Moderates  []string `json:"moderates"`
	Reads      []string `json:"reads"`
	Roles      []string `json:"roles"`
	Groups     []string `json:"groups"`
	Components bool     `json:"components"`
}

// rightsOf returns the rights of a caller who is no administrator.
func rightsOf(c vitrine.Caller) Rights {
	return Rights{Moderates: c.Moderates, Reads: c.Reads, Roles: c.Roles, Groups: c.Groups, Components: c.Components}
}

// caller returns the caller with these rights. An administrator also moderates the network of the URN, and may create
// and delete components.
func (r Rights) caller(user string) vitrine.Caller {
	c := vitrine.Caller{URN: user, Moderates: r.Moderates, Reads: r.Reads, Roles: r.Roles, Groups: r.Groups,
		Components: r.Components || r.Admin}
	if own := networkOf(user); r.Admin && !within(r.Moderates, own) {
		c.Moderates = append(slices.Clip(r.Moderates), own)
	}
	return c
}

// none reports whether there is no right.
func (r Rights) none() bool {
	return !r.Admin && !r.Components && len(r.Moderates)+len(r.Reads)+len(r.Roles)+len(r.Groups) == 0
}

// grown returns an error if there are more rights than mostRights, and more than before. A record may have more: it was
// stored when there was another limit, or a provider gives them.
func (r Rights) grown(before Rights) error {
	count := func(r Rights) int { return len(r.Moderates) + len(r.Reads) + len(r.Roles) + len(r.Groups) }
	if n := count(r); n > mostRights && n > count(before) {
		return fault.Unprocessable(vitrine.CodeLimit, "",
			"there are %d networks, sites, roles and groups together: want at most %d", n, mostRights)
	}
	return nil
}

// check returns an error for a right that is malformed or given twice.
func (r Rights) check() error {
	for name, list := range map[string][]string{"moderates": r.Moderates, "reads": r.Reads, "roles": r.Roles,
		"groups": r.Groups} {
		for i, one := range list {
			var err error
			if name == "moderates" || name == "reads" {
				err = urn.CheckGroup(one)
			} else {
				err = checkText(one, urn.MaxLen)
			}
			if err != nil {
				return fault.Invalid(at("/"+name, i), "%s", err)
			}
			if slices.Contains(list[:i], one) {
				return fault.Invalid(at("/"+name, i), "%q stands there twice", one)
			}
		}
	}
	return nil
}

// lacks returns a right in want that r does not have, as a sentence names it, or "".
func (r Rights) lacks(want Rights) string {
	if r.Admin {
		return ""
	}
	switch {
	case want.Admin:
		return "admin"
	case want.Components && !r.Components:
		return "components"
	}
	for _, m := range want.Moderates {
		if !within(r.Moderates, m) {
			return "moderates " + m
		}
	}
	for _, m := range want.Reads {
		if !within(r.Moderates, m) && !within(r.Reads, m) {
			return "reads " + m
		}
	}
	for _, role := range want.Roles {
		if !slices.Contains(r.Roles, role) {
			return "the role " + role
		}
	}
	for _, group := range want.Groups {
		if !slices.Contains(r.Groups, group) {
			return "the group " + group
		}
	}
	return ""
}

// both returns the rights that c and r have in common: those of a person's key.
func (r Rights) both(c vitrine.Caller) Rights {
	keep := func(list, other []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !slices.Contains(other, s) })
	}
	return Rights{
		Moderates: meet(r.Moderates, c.Moderates), Reads: meet(r.Reads, slices.Concat(c.Moderates, c.Reads)),
		Roles: keep(r.Roles, c.Roles), Groups: keep(r.Groups, c.Groups), Components: r.Components && c.Components,
	}
}

// union adds the rights of o to r.
func (r Rights) union(o Rights) Rights {
	add := func(a, b []string) []string {
		out := slices.Concat(a, b)
		slices.Sort(out)
		return slices.Compact(out)
	}
	return Rights{r.Admin ||
		o.Admin, add(r.Moderates, o.Moderates), add(r.Reads, o.Reads), add(r.Roles, o.Roles), add(r.Groups, o.Groups),
		r.Components || o.Components}
}

// meet returns the networks and sites that both lists contain.
func meet(a, b []string) (out []string) {
	for _, x := range a {
		for _, y := range b {
			inner := y
			if urn.Contains(y, x) {
				inner = x
			} else if !urn.Contains(x, y) {
				continue
			}
			if !slices.Contains(out, inner) {
				out = append(out, inner)
			}
		}
	}
	return out
}

// within reports whether one of the networks and sites contains s.
func within(list []string, s string) bool {
	return slices.ContainsFunc(list, func(outer string) bool { return urn.Contains(outer, s) })
}

// networkOf returns the URN of the network that a user, a site or a network belongs to.
func networkOf(s string) string {
	colons := 0
	for i := range len(s) {
		if s[i] == ':' {
			if colons++; colons == 3 {
				return s[:i]
			}
		}
	}
	return s
}
