//go:build proof

package access

import (
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// The networks of the tests.
const (
	network   = "urn:vitrine:example.test"
	elsewhere = "urn:vitrine:other.test"
)

// allNetworks are all that the tests speak of.
var allNetworks = []string{network, elsewhere, "urn:vitrine:example.te", "urn:vitrine:nowhere.test",
	"urn:other:example.test"}

// caller is who asks. The tables have a column for each one that has a good token, in this order.
type caller struct {
	name  string
	token string // what is sent instead of a signed one
	anon  bool   // sends no token
	// like names the column that says what the caller may do, if the tables have none of its own: readers and
	// callers with tags are like somebody who has no rights at all, but for what Reads gives them.
	like    string
	session bool // is known by a cookie
	key     bool // is a program with a secret key of the user
	httpapi.Principal
}

func (c caller) known() bool { return !c.anon && c.token == "" }

var callers = []caller{
	{name: "nobody", anon: true},
	{name: "forger",
		token: "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1cm46dml0cmluZTpleGFtcGxlLnRlc3Q6dXNlcj1vd25lciIsImV4cCI6NDEwMjQ0NDgwMH0."},
	{name: "stranger", Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=stranger"}}},
	{name: "owner", Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=owner"}}},
	// of the owner, the viewer … in another network
	{name: "namesake", Principal: httpapi.Principal{Caller: vitrine.Caller{URN: elsewhere + ":user=owner"}}},
	{name: "site 1",
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=one",
			Moderates: []string{network + ":site=1"}}}},
	{name: "site 10",
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=ten",
			Moderates: []string{network + ":site=10"}}}},
	{name: "network",
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=all", Moderates: []string{network}}}},
	{name: "vendor",
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:hq.test:user=v",
			Moderates: allNetworks}}},
	// a site in which nothing is
	{name: "below",
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=below",
			Moderates: []string{network + ":site=3"}}}},
	{name: "other",
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: elsewhere + ":user=viewer",
			Moderates: []string{elsewhere}}}},
	{name: "prefix",
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:example.te:user=editor",
			Moderates: []string{"urn:vitrine:example.te"}}}},
	{name: "member",
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=member",
			Groups: []string{network + ":site=1", network}, Roles: []string{"moderator"}}}},
	{name: "components",
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=components", Components: true}}},
	{name: "viewer", Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=viewer"}}},
	{name: "editor", Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=editor"}}},
	{name: "manager", Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=manager"}}},
	{name: "role",
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=r", Roles: []string{"desk"}}}},
	{name: "group",
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=g",
			Groups: []string{network + ":group=team"}}}},
	{name: "reader", like: "member",
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=reader", Reads: []string{network}}}},
	{name: "site reader", like: "member",
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=reader",
			Reads: []string{network + ":site=1"}}}},
	// A page has the token of the owner of nearly everything, who also moderates everything. That counts for nothing.
	{name: "page", like: "member",
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=owner", Moderates: allNetworks,
			Components: true,
			Reads:      []string{network + ":site=1"}, TagsOnly: true, Tags: []string{"old", "none"}}}},
	{name: "page without tags", like: "member",
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=owner", Reads: []string{network},
			TagsOnly: true}}},
	// A secret key that was not made with owner has nothing of what its maker has by name: apps, and permissions on
	// folders.
	{name: "key of the owner", like: "member", key: true,
		Principal: narrow(vitrine.Caller{URN: network + ":user=owner"})},
	{name: "key that reads", like: "member", key: true,
		Principal: narrow(vitrine.Caller{URN: network + ":user=owner", Reads: []string{network + ":site=1"}})},
	{name: "key of site 1", like: "site 1", key: true,
		Principal: narrow(vitrine.Caller{URN: network + ":user=owner", Moderates: []string{network + ":site=1"}})},
	{name: "key of the editor", like: "member", key: true,
		Principal: narrow(vitrine.Caller{URN: network + ":user=editor"})},
	{name: "key with a role", like: "role", key: true,
		Principal: narrow(vitrine.Caller{URN: network + ":user=manager", Roles: []string{"desk"}})},
	{name: "key with owner", like: "owner", key: true,
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=owner"}}},
	{name: "editing key with owner", like: "editor", key: true,
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=editor"}}},
	// An agent reads what other keys do, and writes by the endpoints of a list.
	{name: "agent of site 1", like: "site 1", key: true, Principal: agent(vitrine.Caller{URN: network + ":user=owner",
		Moderates: []string{network + ":site=1"}})},
	{name: "agent of the network", like: "network", key: true, Principal: agent(vitrine.Caller{
		URN: network + ":user=owner", Moderates: []string{network}})},
	{name: "session", like: "network", session: true,
		Principal: httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=all", Moderates: []string{network}}}},
}

func narrow(c vitrine.Caller) httpapi.Principal {
	c.NotOwner = true
	return httpapi.Principal{Caller: c}
}

func agent(c vitrine.Caller) httpapi.Principal {
	c.Agent = "an agent"
	return narrow(c)
}

// contains reports whether each segment of the outer URN is the segment of the inner one at the same place.
func contains(outer, inner string) bool {
	a, b := strings.Split(outer, ":"), strings.Split(inner, ":")
	return len(a) <= len(b) && slices.Equal(a, b[:len(a)])
}

// seesToRead reports whether the caller may read an app that it may not change.
func (c caller) seesToRead(app string) bool {
	return usable.at(c, app) != '+' && slices.ContainsFunc(groupsOf(app), func(g string) bool {
		return slices.ContainsFunc(c.Reads, func(r string) bool { return contains(r, g) })
	})
}

// keepsToList reports whether lists of apps show the caller an app.
func (c caller) keepsToList(app string) bool { return usable.at(c, app) == '+' || c.seesToRead(app) }

// builder makes the worlds; it is in no table.
var builder = caller{name: "builder", Principal: httpapi.Principal{
	Caller: vitrine.Caller{URN: network + ":user=builder", Moderates: allNetworks, Components: true}}}

// as is the builder's work under the name of a user.
func as(urn string) caller {
	c := builder
	c.URN = urn
	return c
}

// knownCallers are the columns of the tables.
func knownCallers() []caller {
	var out []caller
	for _, c := range callers {
		if c.known() {
			out = append(out, c)
		}
	}
	return out
}
