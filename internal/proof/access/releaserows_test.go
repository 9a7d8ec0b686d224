//go:build proof

package access

import (
	"fmt"
	"maps"
	"strings"
)

// changeable are the apps that are there. Where only those who may change an app meet it, it is absent for readers too.
var changeable = func() table {
	t := maps.Clone(usable)
	delete(t, "absent")
	return t
}()

// erases: who moderates every group of an app may erase it.
var erases = table{"one": protects["one"]}

// deletionRows delete apps, bring them back and erase them.
func deletionRows() []row {
	remove := ofApp("DELETE", "/apps/{id}", "", "", "", "+204 -404")
	remove.after = func(w *world, thing string) { w.must(builder, "POST", "/apps/"+w.apps[thing]+"/undelete", "", 200) }
	undelete := row{route: "POST /apps/{id}/undelete", what: "a deleted one", table: changeable, says: "+200 -404",
		request: func(w *world, thing string) request {
			w.send(builder, request{method: "DELETE", path: "/apps/" + w.apps[thing]})
			return request{method: "POST", path: "/apps/" + w.apps[thing] + "/undelete"}
		}}
	list := row{route: "GET /apps/", what: "deleted ones", table: changeable, says: "+200 -200",
		request: func(w *world, thing string) request {
			w.send(builder, request{method: "DELETE", path: "/apps/" + w.apps[thing]})
			return get("/apps/?deleted=true")
		},
		check: func(w *world, c caller, thing string, r reply) {
			if has, want := strings.Contains(r.body, w.apps[thing]), changeable.at(c, thing) == '+'; has != want {
				w.t.Errorf("%s holds %q: %t, want %t", r.what, thing, has, want)
			}
		}}
	erase := row{route: "POST /apps/{id}/erase", what: "a deleted one", table: erases, says: "+204 f403 -404",
		request: func(w *world, _ string) request {
			var out struct{ ID string }
			w.must(as(network+":user=owner"), "POST", "/apps/",
				fmt.Sprintf(`{"title":"gone","groups":%s}`, text(groupsOf("one"))), 201).read(&out)
			w.must(builder, "DELETE", "/apps/"+out.ID, "", 204)
			return request{method: "POST", path: "/apps/" + out.ID + "/erase"}
		}}
	return []row{remove, undelete, list, erase,
		ofApp("POST", "/apps/{id}/undelete", "one that is there", "/undelete", "", "+409 -404"),
		ofApp("POST", "/apps/{id}/erase", "one that is there", "/erase", "", "+409 -404"),
	}
}

// release returns the id of a release that moves a tag of an app, the same each time.
func (w *world) release(thing string) string {
	if thing == "absent" {
		return "absent"
	}
	if w.releases == nil {
		w.releases = map[string]string{}
	}
	if w.releases[thing] == "" {
		var out struct{ ID string }
		w.must(builder, "POST", "/x/releases/", moving(w, thing), 201).read(&out)
		w.releases[thing] = out.ID
	}
	return w.releases[thing]
}

// moving is the body of a release that moves a tag of an app.
func moving(w *world, thing string) string {
	return fmt.Sprintf(`{"name":"release of %s","moves":[{"app":%q,"tag":"old","to":"1"}]}`, thing, w.apps[thing])
}

// releaseRows are about releases of one app each. They are seen by readers of the app, and changed by those who may
// move its tags.
func releaseRows() []row {
	release := func(method, below, body, says string) row {
		return row{route: method + " /x/releases/{id}" + below, table: usable, says: says,
			request: func(w *world, thing string) request {
				return request{method: method, path: "/x/releases/" + w.release(thing) + below, body: body}
			}}
	}
	approvers := release("GET", "/approvers", "", "+200 -404")
	approvers.writers = true
	rows := []row{
		release("GET", "", "", "+200 -404"),
		approvers,
		release("PUT", "", `{"version":"0","name":"another","moves":[]}`, "+400 -404"),
		release("POST", "/run", `{"version":"9"}`, "+409 -404"),
		release("POST", "/approve", `{"version":"9"}`, "+409 -404"),
		release("POST", "/cancel", `{"version":"9"}`, "+409 -404"),
		release("POST", "/undo", `{"version":"9"}`, "+409 -404"),
	}
	return append(rows,
		row{route: "POST /x/releases/", table: usable, says: "+201 -404",
			request: func(w *world, thing string) request { return post("/x/releases/", moving(w, thing)) }},
		row{route: "GET /x/releases/", table: usable, says: "+200 -200", request: func(w *world, thing string) request {
			w.release(thing)
			return get("/x/releases/?app=" + w.apps[thing])
		}, check: func(w *world, c caller, thing string, r reply) {
			if has, want := strings.Contains(r.body, "release of "+thing), c.keepsToList(thing); has != want {
				w.t.Errorf("%s holds the release of %q: %t, want %t", r.what, thing, has, want)
			}
		}},
		row{route: "POST /x/replace", table: changeable, says: "+200 -200",
			request: func(*world, string) request {
				return post("/x/replace?dryRun=true", `{"find":"XX","replace":"yy"}`)
			},
			check: func(w *world, c caller, thing string, r reply) {
				if has, want := strings.Contains(r.body, w.apps[thing]), changeable.at(c, thing) == '+'; has != want {
					w.t.Errorf("%s would change %q: %t, want %t", r.what, thing, has, want)
				}
			}},
		row{route: "POST /components/{name}/upgrade", table: changeable, says: "+200 -200",
			request: func(w *world, _ string) request {
				w.send(builder,
					post("/components/",
						`{"name":"used","version":"1.1.0","main":"https://x.example/a.js","configSchema":{}}`))
				return post("/components/used/upgrade?dryRun=true", `{"to":"1.1.0"}`)
			},
			check: func(w *world, c caller, thing string, r reply) {
				if has, want := strings.Contains(r.body, w.apps[thing]), changeable.at(c, thing) == '+'; has != want {
					w.t.Errorf("%s would change %q: %t, want %t", r.what, thing, has, want)
				}
			}})
}
