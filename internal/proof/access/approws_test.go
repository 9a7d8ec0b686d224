//go:build proof

package access

import (
	"fmt"
	"slices"
	"strings"
)

// otherRows are the endpoints for everybody, and the import.
func otherRows() []row {
	return []row{
		{route: "GET /healthz", says: "200", open: true, request: func(*world, string) request {
			return get("/healthz")
		}},
		{route: "GET /cors.html", says: "200", open: true, request: func(*world, string) request {
			return get("/cors.html")
		}},
		{route: "GET /openapi.json", says: "200", open: true, request: func(*world, string) request {
			return get("/openapi.json")
		}},
		meRow(),
		{route: "GET /x/languages", says: "200", known: true, request: func(*world, string) request {
			return get("/x/languages")
		}},
	}
}

// ofApp is a row about every app, asked with a path below it.
func ofApp(method, path, what, below, body, says string) row {
	return row{route: method + " " + path, what: what, table: usable, says: says,
		request: func(w *world, thing string) request {
			return request{method: method, path: "/apps/" + w.apps[thing] + below, body: body}
		}}
}

// appRows are the endpoints of apps, tags and components.
func appRows() []row {
	const id, versions, tags = "/apps/{id}", "/apps/{id}/versions/", "/apps/{id}/tags/"
	list := []row{
		ofApp("GET", id, "", "", "", "+200 -404"),
		ofApp("GET", versions, "", "/versions/", "", "+200 -404"),
		ofApp("GET", versions, "without its slash", "/versions", "", "+200 -404"),
		ofApp("GET", versions+"{version}", "the first", "/versions/0", "", "+200 -404"),
		ofApp("GET", versions+"{version}", "the latest", "/versions/1", "", "+200 -404"),
		ofApp("GET", versions+"{version}", "one that is not", "/versions/2", "", "+404 -404"),
		ofApp("GET", versions+"{from}/diff/{to}", "", "/versions/0/diff/1", "", "+200 -404"),
		ofApp("GET", versions+"{from}/diff/{to}", "backwards", "/versions/1/diff/0", "", "+200 -404"),
		ofApp("GET", versions+"{from}/diff/{to}", "to one that is not", "/versions/0/diff/2", "", "+404 -404"),
		ofApp("GET", versions+"{from}/diff/{to}", "from one that is not", "/versions/2/diff/0", "", "+404 -404"),
		ofApp("GET", id+"/history", "", "/history", "", "+200 -404"),
		ofApp("GET", id+"/history", "in pages", "/history/?limit=1&before=1", "", "+200 -404"),
		ofApp("GET", tags, "", "/tags/", "", "+200 -404"),
		ofApp("GET", tags, "with apps", "/tags?embedApps=true", "", "+200 -404"),
		ofApp("GET", tags+"{tag}", "", "/tags/old", "", "+200 -404"),
		ofApp("GET", tags+"{tag}", "one that is not", "/tags/none", "", "+404 -404"),
		ofApp("GET", tags+"{tag}/history", "", "/tags/old/history", "", "+200 -404"),
		ofApp("GET", tags+"{tag}/history", "in pages", "/tags/new/history/?limit=1", "", "+200 -404"),
		ofApp("GET", tags+"{tag}/history", "of one that never was", "/tags/none/history/", "", "+404 -404"),
		ofApp("GET", tags+"{tag}/history", "after another cursor", "/tags/old/history/?before=AAAA", "", "+400 -404"),
		ofApp("GET", "/apps/{id}/tagged/{tag}", "", "/tagged/old", "", "+200 -404"),
		ofApp("GET", "/apps/{id}/tagged/{tag}", "another", "/tagged/new", "", "+200 -404"),
		ofApp("GET", "/apps/{id}/tagged/{tag}", "one that is not", "/tagged/none", "", "+404 -404"),
		ofApp("PUT", tags+"{tag}", "", "/tags/mine?embedApps=true", `{"appVersion":"0"}`, "+201 -404"),
		ofApp("PUT", tags+"{tag}", "a version that is not", "/tags/mine", `{"appVersion":"9"}`, "+404 -404"),
		ofApp("PUT", tags+"{tag}", "from elsewhere", "/tags/new", `{"appVersion":"0","from":"9"}`, "+409 -404"),
		ofApp("PUT", tags+"{tag}", "that should not be there", "/tags/new", `{"appVersion":"0","from":null}`,
			"+409 -404"),
		ofApp("DELETE", tags+"{tag}", "one that is not", "/tags/none", "", "+404 -404"),
	}
	remove := ofApp("DELETE", tags+"{tag}", "", "/tags/old", "", "+204 -404")
	remove.after = func(w *world, thing string) {
		w.must(builder, "PUT", "/apps/"+w.apps[thing]+"/tags/old", `{"appVersion":"0"}`, 201)
	}
	list = append(list, remove, byQuery("appId"), byQuery("id"))
	list = append(list, protectedRows()...)
	return slices.Concat(list, changeRows(), listRows(), createRows(), componentRows())
}

// protectedRows move the tag production.
func protectedRows() []row {
	const below = "/tags/production"
	put := ofApp("PUT", "/apps/{id}/tags/{tag}", "a protected one", below, `{"appVersion":"0"}`, "+201 f403 -404")
	put.after = func(w *world, thing string) {
		w.must(builder, "DELETE", "/apps/"+w.apps[thing]+below, "", 204)
	}
	refused := ofApp("PUT", "/apps/{id}/tags/{tag}", "a protected one, without a body", below, "", "+400 f403 -404")
	guarded := ofApp("PUT", "/apps/{id}/tags/{tag}", "a protected one, from elsewhere", below,
		`{"appVersion":"0","from":"1"}`, "+409 f403 -404")
	absent := ofApp("DELETE", "/apps/{id}/tags/{tag}", "a protected one that is not", below, "", "+404 f403 -404")
	rows := []row{put, refused, guarded, absent}
	for i := range rows {
		rows[i].table = protects
	}
	return rows
}

// byQuery asks for versions of an app that is named in the query.
func byQuery(name string) row {
	return row{route: "GET /apps/versions/", what: "by " + name, table: usable, says: "+200 -404",
		request: func(w *world, thing string) request { return get("/apps/versions/?" + name + "=" + w.apps[thing]) }}
}

// latestOf is the number of the latest version of an app.
func (w *world) latestOf(thing string) string {
	if thing == "absent" {
		return "1"
	}
	var out struct{ Apps []struct{ Version string } }
	w.must(builder, "GET", "/apps/"+w.apps[thing], "", 200).read(&out)
	return out.Apps[0].Version
}

// groupsOf are the groups of the latest version of an app, as the world was built.
func groupsOf(thing string) []string {
	for _, a := range appsOf {
		if a.name == thing {
			return a.versions[len(a.versions)-1]
		}
	}
	return nil
}

// changeRows are PATCH and restore. What they add to an app's groups must be the caller's too.
func changeRows() []row {
	reset := func(w *world, thing string) {
		w.must(builder, "PATCH", "/apps/"+w.apps[thing], patch(w.latestOf(thing), "reset", groupsOf(thing)), 200)
	}
	with := func(added ...string) func(w *world, thing string) request {
		return func(w *world, thing string) request {
			groups := groupsOf(thing)
			for _, g := range added {
				if !slices.Contains(groups, g) {
					groups = append(slices.Clone(groups), g)
				}
			}
			return request{method: "PATCH", path: "/apps/" + w.apps[thing],
				body: patch(w.latestOf(thing), "patched", groups)}
		}
	}
	without := func(dropped string) func(w *world, thing string) request {
		return func(w *world, thing string) request {
			groups := slices.DeleteFunc(slices.Clone(groupsOf(thing)), func(g string) bool { return g == dropped })
			return request{method: "PATCH", path: "/apps/" + w.apps[thing],
				body: patch(w.latestOf(thing), "patched", groups)}
		}
	}
	restore := func(w *world, thing string) request {
		return post("/apps/versions/restore", fmt.Sprintf(`{"appId":%q,"appVersion":"0"}`, w.apps[thing]))
	}
	rows := []row{
		{what: "the title", table: usable, says: "+200 -404", request: with()},
		{what: "adding site 2", table: addsSiteTwo, says: "+200 f403 -404", request: with(network + ":site=2")},
		{what: "taking site 2 away", table: dropsSiteTwo, says: "+200 f403 -404",
			request: without(network + ":site=2")},
		{what: "adding a site elsewhere", table: addsElsewhere, says: "+200 f403 -404",
			request: with(elsewhere + ":site=1")},
	}
	for i := range rows {
		rows[i].route, rows[i].after = "PATCH /apps/{id}", reset
	}
	return append(rows,
		row{route: "POST /apps/versions/restore", what: "the first version", table: restores, says: "+201 f403 -404",
			request: restore, after: reset},
		row{route: "POST /apps/versions/restore", what: "a version that is not", table: usable, says: "+404 -404",
			request: func(w *world, thing string) request {
				return post("/apps/versions/restore", fmt.Sprintf(`{"id":%q,"version":"999"}`, w.apps[thing]))
			}})
}

// What those who may use an app may do with it that touches its groups: f is forbidden.
var (
	addsSiteTwo = table{
		//             str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
		"one":     "    -   f   -   f   -   +   +   -   -   -   -   -   .   .   .   .   .",
		"ten":     "    -   f   -   -   f   +   +   -   -   -   -   -   .   .   .   .   .",
		"two":     "    -   +   -   +   -   +   +   -   -   -   -   -   .   .   .   .   .", // is in it already
		"net":     "    -   f   -   -   -   +   +   -   -   -   -   -   .   .   .   .   .",
		"foreign": "    -   f   -   -   -   -   +   -   f   -   -   -   .   .   .   .   .",
		"moved":   "    -   +   -   -   -   +   +   -   -   -   -   -   .   .   .   .   .", // is in it already
		"came":    "    -   f   -   f   -   +   +   -   -   -   -   -   .   .   .   .   .", // was in it
		"hers":    "    f   -   -   f   -   +   +   -   -   -   -   -   .   .   .   .   .",
		"absent":  "    -   -   -   -   -   -   -   -   -   -   -   -   .   .   .   .   .",
	}
	dropsSiteTwo = table{
		//             str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
		"one":    "    -   +   -   +   -   +   +   -   -   -   -   -   .   .   .   .   .", // is not in it
		"two":    "    -   +   -   f   -   +   +   -   -   -   -   -   .   .   .   .   .",
		"absent": "    -   -   -   -   -   -   -   -   -   -   -   -   .   .   .   .   .",
	}
	// Who moderates every group of an app may move its protected tags.
	protects = table{
		//             str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
		"one":     "    -   f   -   +   -   +   +   -   -   -   -   -   .   .   .   .   .",
		"ten":     "    -   f   -   -   +   +   +   -   -   -   -   -   .   .   .   .   .",
		"two":     "    -   f   -   f   -   +   +   -   -   -   -   -   .   .   .   .   .", // is in site 2 too
		"net":     "    -   f   -   -   -   +   +   -   -   -   -   -   .   .   .   .   .",
		"foreign": "    -   f   -   -   -   -   +   -   +   -   -   -   .   .   .   .   .",
		"moved":   "    -   f   -   -   -   +   +   -   -   -   -   -   .   .   .   .   .", // is in site 2
		"came":    "    -   f   -   +   -   +   +   -   -   -   -   -   .   .   .   .   .",
		"hers":    "    f   -   -   +   -   +   +   -   -   -   -   -   .   .   .   .   .",
		"absent":  "    -   -   -   -   -   -   -   -   -   -   -   -   .   .   .   .   .",
	}
	addsElsewhere = table{
		//             str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
		"one":     "    -   f   -   f   -   f   +   -   -   -   -   -   .   .   .   .   .",
		"net":     "    -   f   -   -   -   f   +   -   -   -   -   -   .   .   .   .   .",
		"foreign": "    -   +   -   -   -   -   +   -   +   -   -   -   .   .   .   .   .", // is in it already
		"absent":  "    -   -   -   -   -   -   -   -   -   -   -   -   .   .   .   .   .",
	}
	restores = table{
		//             str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
		"one":     "    -   +   -   +   -   +   +   -   -   -   -   -   .   .   .   .   .",
		"two":     "    -   +   -   +   -   +   +   -   -   -   -   -   .   .   .   .   .",
		"foreign": "    -   +   -   -   -   -   +   -   +   -   -   -   .   .   .   .   .",
		"moved":   "    -   f   -   -   -   +   +   -   -   -   -   -   .   .   .   .   .", // would bring site 1 back
		"came":    "    -   f   -   f   -   +   +   -   -   -   -   -   .   .   .   .   .", // would bring site 2 back
		"hers":    "    +   -   -   +   -   +   +   -   -   -   -   -   .   .   .   .   .",
		"absent":  "    -   -   -   -   -   -   -   -   -   -   -   -   .   .   .   .   .",
	}
)

// listRows are the lists: they answer everybody, and hold a thing when the caller may use it.
func listRows() []row {
	holds := func(w *world, c caller, thing string, r reply) {
		if has, want := strings.Contains(r.body, w.apps[thing]), c.keepsToList(thing); has != want {
			w.t.Errorf("%s holds %q: %t, want %t", r.what, thing, has, want)
		}
	}
	list := func(what, query string) row {
		return row{route: "GET /apps/", what: what, table: usable, says: "+200 -200", check: holds,
			request: func(*world, string) request { return get("/apps/" + query) }}
	}
	return []row{
		list("", ""), list("by creation", "?sort=createdAt"), list("by update", "?sort=updatedAt"),
		list("last updated", "?sort=-updatedAt"),
		list("using a component", "?usingComponent=used"), list("using one that is deleted", "?usingComponent=dropped"),
		{route: "GET /apps/", what: "using one that none uses", says: "200", request: func(*world, string) request {
			return get("/apps?usingComponent=unused")
		},
			check: func(w *world, _ caller, _ string, r reply) {
				if r.body != `{"apps":[]}` {
					w.t.Errorf("%s: %s", r.what, r.body)
				}
			}},
		{route: "GET /x/changes", what: "of one app", table: usable, says: "+200 -200", check: tellsChanges,
			request: func(w *world, thing string) request { return get("/x/changes?app=" + w.apps[thing]) }},
		{route: "GET /x/changes", what: "that are new", says: "200", request: func(*world, string) request {
			return get("/x/changes?after=now")
		},
			check: func(w *world, _ caller, _ string, r reply) {
				if !strings.HasPrefix(r.body, `{"changes":[],"next":"`) {
					w.t.Errorf("%s: %s", r.what, r.body)
				}
			}},
		{route: "GET /x/changes", what: "after another cursor", says: "400", request: func(*world, string) request {
			return get("/x/changes?after=AAAA")
		}},
		{route: "GET /tags/{name}", table: usable, says: "+200 -200", check: holds,
			request: func(w *world, thing string) request { return get("/tags/old?appId=" + w.apps[thing]) }},
		{route: "GET /tags/{name}", what: "among all apps", table: usable, says: "+200 -200",
			check: func(w *world, c caller, thing string, r reply) {
				if thing != "absent" {
					holds(w, c, thing, r)
				}
			}, request: func(w *world, _ string) request {
				query := "/tags/new?appId=" + absentApp
				for _, a := range appsOf {
					query += "&appId=" + w.apps[a.name]
				}
				return get(query)
			}},
	}
}

// tellsChanges: the feed of an app that the caller may not read has no entry, but for those who could read it app.left,
// which says nothing but that.
func tellsChanges(w *world, c caller, thing string, r reply) {
	var page struct{ Changes []map[string]any }
	r.read(&page)
	told := 0
	for _, e := range page.Changes {
		if e["type"] != "app.left" {
			told++
		} else if len(e) != 4 || e["cursor"] == nil || e["at"] == nil || e["app"] != w.apps[thing] {
			w.t.Errorf("%s: %v tells more than that the app has left", r.what, e)
		}
	}
	if want := c.keepsToList(thing); (told > 0) != want {
		w.t.Errorf("%s tells of %q: %t, want %t", r.what, thing, told > 0, want)
	}
}

// meRow asks who one is.
func meRow() row {
	return row{route: "GET /x/me", says: "200", request: func(*world, string) request { return get("/x/me") },
		check: func(w *world, c caller, _ string, r reply) {
			var me struct {
				URN              string
				Moderates, Reads []string
				Components       bool
				Owner            bool
			}
			if r.read(&me); me.Owner == c.NotOwner || me.URN != c.URN || !slices.Equal(me.Moderates, c.Moderates) ||
				!slices.Equal(me.Reads, c.Reads) || me.Components != c.Components {
				w.t.Errorf("%s: %s, want %+v", r.what, r.body, c.Principal)
			}
		}}
}

func createRows() []row {
	groups := map[string][]string{
		"site 1": {network + ":site=1"}, "site 10": {network + ":site=10"},
		"site 1+2": {network + ":site=1", network + ":site=2"},
		"site 1+x": {network + ":site=1", elsewhere + ":site=1"}, "network": {network},
		"other":  {elsewhere + ":site=1"},
		"prefix": {"urn:vitrine:example.te:site=1"},
	}
	return []row{{route: "POST /apps/", table: createIn, says: "+201 -403",
		request: func(_ *world, thing string) request {
			return post("/apps/", fmt.Sprintf(`{"title":"new","groups":%s}`, text(groups[thing])))
		}}}
}

// checkUsed checks a version of the component used that would break every element.
func checkUsed(*world, string) request {
	return post("/components/used/check",
		`{"id":"new","name":"used","version":"2.0.0","main":"https://x.example/a.js",`+
			`"configSchema":{"required":["absent"]}}`)
}

func componentRows() []row {
	again := func(w *world, _ string) { w.addComponent("unused") }
	return []row{
		{route: "GET /components/", says: "200", request: func(*world, string) request { return get("/components/") }},
		{route: "GET /components/{name}", what: "in use", says: "200", request: func(*world, string) request {
			return get("/components/used")
		}},
		{route: "GET /components/{name}", what: "not in use", says: "200", request: func(*world, string) request {
			return get("/components/unused")
		}},
		{route: "GET /components/{name}", what: "deleted", says: "404", request: func(*world, string) request {
			return get("/components/dropped")
		}},
		{route: "GET /components/{name}/versions/", says: "200", request: func(*world, string) request {
			return get("/components/used/versions/")
		}},
		{route: "GET /components/{name}/versions/", what: "without its slash", says: "200",
			request: func(*world, string) request { return get("/components/unused/versions") }},
		{route: "GET /components/{name}/versions/", what: "deleted", says: "404",
			request: func(*world, string) request { return get("/components/dropped/versions/") }},
		{route: "GET /components/{name}/versions/{version}", says: "200", request: func(*world, string) request {
			return get("/components/used/versions/1.0.0")
		}},
		{route: "GET /components/{name}/versions/{version}", what: "one that is not", says: "404",
			request: func(*world, string) request { return get("/components/used/versions/9.9.9") }},
		{route: "GET /components/{name}/versions/{version}", what: "of one deleted", says: "404",
			request: func(*world, string) request { return get("/components/dropped/versions/1.0.0") }},
		{route: "POST /components/", table: manages, says: "+201 -403", request: func(*world, string) request {
			return post("/components/",
				`{"name":"new","version":"1.0.0","main":"https://x.example/a.js","configSchema":{}}`)
		}, after: func(w *world, _ string) { w.must(builder, "DELETE", "/components/new", "", 204) }},
		{route: "POST /components/{name}/check", table: manages, says: "+200 -403", request: checkUsed,
			check: func(w *world, c caller, _ string, r reply) {
				var found struct{ Broken []struct{ App string } }
				if r.status != 200 {
					return
				}
				r.read(&found)
				told := map[string]bool{}
				for _, b := range found.Broken {
					told[b.App] = true
				}
				for _, a := range appsOf {
					if told[w.apps[a.name]] != c.keepsToList(a.name) {
						w.t.Errorf("%s tells of %q: %t", r.what, a.name, told[w.apps[a.name]])
					}
				}
			}},
		{route: "POST /components/{name}/check", what: "of another name", table: manages, says: "+400 -403",
			request: func(w *world, thing string) request {
				in := checkUsed(w, thing)
				in.path = "/components/unused/check"
				return in
			}},
		{route: "DELETE /components/{name}", table: manages, says: "+204 -403", after: again,
			request: func(*world, string) request { return request{method: "DELETE", path: "/components/unused"} }},
		{route: "DELETE /components/{name}", what: "one that is not", table: manages, says: "+404 -403",
			request: func(*world, string) request { return request{method: "DELETE", path: "/components/dropped"} }},
	}
}
