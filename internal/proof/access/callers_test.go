package access

import "github.com/vitrine-go/vitrine/adapters/httpapi"

// The networks of the tests.
const (
	network   = "urn:vitrine:example.test"
	elsewhere = "urn:vitrine:other.test"
)

// caller is who asks. The tables have a column for each one that has a good token, in this order.
type caller struct {
	name  string
	token string // what is sent instead of a signed one
	anon  bool   // sends no token
	httpapi.Principal
}

func (c caller) known() bool { return !c.anon && c.token == "" }

var callers = []caller{
	{name: "nobody", anon: true},
	{name: "forger", token: "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0."},
	{name: "stranger", Principal: httpapi.Principal{URN: network + ":user=stranger"}},
	{name: "owner", Principal: httpapi.Principal{URN: network + ":user=owner"}},
	{name: "namesake", Principal: httpapi.Principal{URN: elsewhere + ":user=owner"}}, // of the owner, the viewer … in another network
	{name: "site 1", Principal: httpapi.Principal{URN: network + ":user=one", Moderates: []string{network + ":site=1"}}},
	{name: "site 10", Principal: httpapi.Principal{URN: network + ":user=ten", Moderates: []string{network + ":site=10"}}},
	{name: "network", Principal: httpapi.Principal{URN: network + ":user=all", Moderates: []string{network}}},
	{name: "vendor", Principal: httpapi.Principal{URN: "urn:vitrine:hq.test:user=v", Moderates: []string{"urn:vitrine"}}},
	{name: "below", Principal: httpapi.Principal{URN: network + ":user=below", Moderates: []string{network + ":site=1:page=1"}}},
	{name: "other", Principal: httpapi.Principal{URN: elsewhere + ":user=viewer", Moderates: []string{elsewhere}}},
	{name: "prefix", Principal: httpapi.Principal{URN: "urn:vitrine:example.te:user=editor", Moderates: []string{"urn:vitrine:example.te"}}},
	{name: "member", Principal: httpapi.Principal{URN: network + ":user=member", Groups: []string{network + ":site=1", network}, Roles: []string{"moderator"}}},
	{name: "components", Principal: httpapi.Principal{URN: network + ":user=components", Components: true}},
	{name: "viewer", Principal: httpapi.Principal{URN: network + ":user=viewer"}},
	{name: "editor", Principal: httpapi.Principal{URN: network + ":user=editor"}},
	{name: "manager", Principal: httpapi.Principal{URN: network + ":user=manager"}},
	{name: "role", Principal: httpapi.Principal{URN: network + ":user=r", Roles: []string{"desk"}}},
	{name: "group", Principal: httpapi.Principal{URN: network + ":user=g", Groups: []string{network + ":group=team"}}},
}

// builder makes the worlds; it is in no table.
var builder = caller{name: "builder", Principal: httpapi.Principal{
	URN: network + ":user=builder", Moderates: []string{"urn:vitrine"}, Components: true}}

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
