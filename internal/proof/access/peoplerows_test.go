//go:build proof

package access

import (
	"fmt"
	"slices"
	"strings"
)

// managesPeople: the people of a network, and its public keys, are for those who moderate the whole network.
var managesPeople = table{
	//             str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
	"mine":   "    -   -   -   -   -   +   +   -   -   -   -   -   .   .   .   .   .",
	"theirs": "    -   -   -   -   -   -   +   -   +   -   -   -   .   .   .   .   .", // of the other network
	"absent": "    -   -   -   -   -   -   -   -   -   -   -   -   .   .   .   .   .",
}

// managesSome: who moderates any whole network lists its people.
var managesSome = table{
	//          str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
	"mine": "    -   -   -   -   -   +   +   -   +   +   -   -   .   .   .   .   .",
}

// knows: the names of people are for the callers of their network, and for those who moderate it.
var knows = table{
	//          str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
	"mine": "    +   +   -   +   +   +   +   +   -   -   +   +   +   +   +   +   +",
}

// makes is managesPeople for what is made in a network.
var makes = table{"mine": managesPeople["mine"], "theirs": managesPeople["theirs"]}

// networkOf is the network of a person or a key of the tables.
func networkOf(thing string) string {
	if thing == "theirs" {
		return elsewhere
	}
	return network
}

// made is what a request of the builder has made in a network.
type made struct{ ID, URN string }

// make makes a person or a public key in a network. What is absent has another id.
func (w *world) make(path, body, thing string) (out made) {
	if thing == "absent" {
		return made{ID: "absent"}
	}
	keyed := w.keyed
	w.keyed = false // since no key makes people or keys
	defer func() { w.keyed = keyed }()
	w.must(builder, "POST", path, fmt.Sprintf(body, networkOf(thing)), 201).read(&out)
	return out
}

const (
	newPerson = `{"name":"somebody","network":%q}`
	newKey    = `{"name":"page","kind":"public","reads":[%q],"tags":["old"]}`
)

// peopleRows are about people, keys and who has signed in. Secret keys may do nothing of it but ask for names.
func peopleRows() []row {
	of := func(method, path, below, create, body, says string) row {
		return row{route: method + " " + path + "{id}" + below, table: managesPeople, says: says, people: true,
			request: func(w *world, thing string) request {
				return request{method: method, path: path + w.make(path, create, thing).ID + below, body: body}
			}}
	}
	own := func(method, path, says string, session int) row {
		return row{route: method + " /x/signin/" + path, says: says, people: true, session: session,
			request: func(*world, string) request {
				in := request{method: method, path: "/x/signin/" + strings.ReplaceAll(path, "{id}", "absent")}
				if method == "PATCH" {
					in.body = `{"name":"phone"}`
				}
				return in
			}}
	}
	create := func(path, body string) row {
		return row{route: "POST " + path, table: makes, says: "+201 -403", people: true,
			request: func(_ *world, thing string) request { return post(path, fmt.Sprintf(body, networkOf(thing))) }}
	}
	everywhere := own("DELETE", "sessions/", "403", 204)
	everywhere.after = func(w *world, _ string) { w.cookie = "" }
	return []row{
		{route: "GET /x/people/", table: managesSome, says: "+200 -403", people: true,
			request: func(w *world, thing string) request {
				if !w.peopled {
					w.make("/x/people/", newPerson, thing)
					w.peopled = true
				}
				return get("/x/people/")
			},
			check: func(w *world, c caller, thing string, r reply) {
				if has, want := strings.Contains(r.body, network+":"), managesPeople.at(c, thing) == '+'; has != want {
					w.t.Errorf("%s has people of the network: %t, want %t", r.what, has, want)
				}
			}},
		{route: "GET /x/people/", what: "names", table: knows, says: "+200 -200",
			request: func(w *world, thing string) request {
				return get("/x/people/?urn=" + w.make("/x/people/", newPerson, thing).URN)
			},
			check: func(w *world, c caller, thing string, r reply) {
				if has, want := strings.Contains(r.body, "somebody"), knows.at(c, thing) == '+'; has != want {
					w.t.Errorf("%s has the name: %t, want %t", r.what, has, want)
				}
			}},
		create("/x/people/", newPerson),
		of("GET", "/x/people/", "", newPerson, "", "+200 -404"),
		of("PATCH", "/x/people/", "", newPerson, `{"name":"another"}`, "+200 -404"),
		of("DELETE", "/x/people/", "", newPerson, "", "+204 -404"),
		of("POST", "/x/people/", "/invite", newPerson, "{}", "+201 -404"),
		{route: "GET /x/keys/", says: "200", people: true, request: func(*world, string) request {
			return get("/x/keys/")
		}},
		create("/x/keys/", newKey),
		{route: "POST /x/keys/", what: "a secret one", says: "403", session: 201, people: true,
			request: func(*world, string) request { return post("/x/keys/", `{"name":"program","kind":"secret"}`) }},
		of("GET", "/x/keys/", "", newKey, "", "+200 -404"),
		of("DELETE", "/x/keys/", "", newKey, "", "+204 -404"),
		{route: "GET /x/me/mail", says: "403", session: 200, people: true, request: func(*world, string) request {
			return get("/x/me/mail")
		}},
		{route: "PUT /x/me/mail", says: "403", session: 200, people: true, request: func(*world, string) request {
			return request{method: "PUT", path: "/x/me/mail", body: `{"off":true}`}
		}},
		own("GET", "passkeys/", "403", 200),
		own("PATCH", "passkeys/{id}", "403", 404),
		own("DELETE", "passkeys/{id}", "403", 404),
		own("GET", "sessions/", "403", 200),
		own("DELETE", "sessions/{id}", "403", 404),
		everywhere,
		{route: "GET /x/signin", says: "200", open: true, request: func(*world, string) request {
			return get("/x/signin")
		}},
	}
}

// signInRoutes are the endpoints for people who are not signed in yet. They need no token, and are limited by address;
// adapters/signin tests them.
var signInRoutes = []string{"POST /x/signin/invitation", "POST /x/signin/register/begin",
	"POST /x/signin/register/finish", "POST /x/signin/begin",
	"POST /x/signin/finish", "POST /x/signin/link", "GET /x/signin/oidc", "GET /x/signin/oidc/callback"}

// routesOfPeople are the endpoints of people and keys, without the slash at the end.
func (w *world) routesOfPeople() (routes []string) {
	for _, e := range w.people.Endpoints() {
		if route := e.Method + " " + e.Path; !slices.Contains(signInRoutes, route) {
			routes = append(routes, strings.TrimSuffix(route, "/"))
		}
	}
	return routes
}
