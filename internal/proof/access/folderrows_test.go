//go:build proof

package access

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// lib is where the description of the service has the asset manager.
const lib = manager + "{network}/assetLibrary/{library}"

// ofFolder is a row about every folder of a table. %s in path and body is its id.
func ofFolder(t table, method, route, what, path, body, says string) row {
	return row{route: method + " " + lib + route, what: what, table: t, says: says,
		request: func(w *world, thing string) request {
			fill := strings.NewReplacer("%s", w.folders[thing])
			return request{method: method, path: library + fill.Replace(path), body: fill.Replace(body)}
		}}
}

// folderRows are the endpoints that name a folder, by a folder's own table.
func folderRows() []row {
	const one, permissions, into = "/folder/{folder}", "/folder/{folder}/permissions", "/folder/{folder}/assets"
	add := `{"add":[` + newAsset("cell", []string{"%s"}) + `]}`
	grant := `{"create":[` + userGrant("someone", "manage") + `]}`
	list := []row{
		ofFolder(levels, "GET", one, "", "/folder/%s", "", "m200 e200 v200 -404 !403"),
		ofFolder(gone, "GET", one, "deleted", "/folder/%s", "", "m200 e404 v404 -404 !403"),
		ofFolder(levels, "GET", "/explain", "", "/explain?folder=%s", "", "m200 e200 v200 -404 !403"),
		ofFolder(gone, "GET", "/explain", "deleted", "/explain?folder=%s", "", "m200 e404 v404 -404 !403"),
		ofFolder(levels, "GET", permissions, "", "/folder/%s/permissions", "", "m200 e403 v403 -404 !403"),
		ofFolder(gone, "GET", permissions, "deleted", "/folder/%s/permissions", "", "m200 e404 v404 -404 !403"),
		ofFolder(levels, "POST", permissions, "grant", "/folder/%s/permissions", grant, "m200 e403 v403 -404 !403"),
		ofFolder(levels, "POST", permissions, "nothing", "/folder/%s/permissions", "{}", "m200 e403 v403 -404 !403"),
		ofFolder(gone, "POST", permissions, "deleted", "/folder/%s/permissions", grant, "m404 e404 v404 -404 !403"),
		ofFolder(levels, "POST", into, "nothing", "/folder/%s/assets", "{}", "m200 e200 v403 -404 !403"),
		ofFolder(gone, "POST", into, "deleted", "/folder/%s/assets", "{}", "m404 e404 v404 -404 !403"),
		ofFolder(levels, "GET", "/assets", "of a folder", "/assets?folder=%s", "", "m200 e200 v200 -404 !403"),
		ofFolder(gone, "GET", "/assets", "of a deleted folder", "/assets?folder=%s", "", "m404 e404 v404 -404 !403"),
		ofFolder(levels, "GET", "/assets", "below a folder", "/assets?folderTree=%s", "", "m200 e200 v200 -404 !403"),
		ofFolder(gone, "GET", "/assets", "below a deleted folder", "/assets?folderTree=%s", "",
			"m404 e404 v404 -404 !403"),
		ofFolder(levels, "GET", "/folders", "after one", "/folders?since=%s", "", "m200 e200 v200 -400 !403"),
		ofFolder(gone, "GET", "/folders", "after a deleted one", "/folders?since=%s", "", "m200 e400 v400 -400 !403"),
		ofFolder(levels, "POST", "/files", "into a folder", "/files?folder=%s", svg, "m200 e200 v403 -404 !403"),
		ofFolder(gone, "POST", "/files", "into a deleted folder", "/files?folder=%s", svg, "m404 e404 v404 -404 !403"),
		ofFolder(gone, "POST", "/assets", "into a deleted folder", "/assets", add, "m404 e404 v404 -404 !403"),
		ofFolder(levels, "POST", "/folders", "label", "/folders", `{"update":[{"id":"%s","label":"new"}]}`,
			"m200 e403 v403 -404 !403"),
		ofFolder(gone, "POST", "/folders", "label of a deleted one", "/folders",
			`{"update":[{"id":"%s","label":"new"}]}`, "m404 e404 v404 -404 !403"),
		ofFolder(levels, "POST", "/folders", "nothing new", "/folders", `{"update":[{"id":"%s"}]}`,
			"m200 e403 v403 -404 !403"),
		ofFolder(gone, "POST", "/folders", "delete again", "/folders", `{"delete":["%s"]}`, "m404 e404 v404 -404 !403"),
		ofFolder(levels, "POST", "/folders", "move to nowhere", "/folders", `{"update":[{"id":"%s","path":""}]}`,
			"m400 e403 v403 -404 !403"),
		ofFolder(levels, "POST", "/folders", "inherit from now on", "/folders",
			`{"update":[{"id":"%s","inherit":false}]}`, "m200 e403 v403 -404 !403"),
	}
	for i, rw := range list {
		if strings.Contains(rw.route, "GET "+lib+"/folder") && !strings.Contains(rw.route, "permissions") {
			list[i].check = showsPermissions
		}
		if strings.HasSuffix(rw.route, "/explain") {
			list[i].check = explainsFolder
		}
		switch rw.what {
		case "inherit from now on":
			list[i].after = func(w *world, thing string) { w.inherits(thing) }
		case "grant":
			list[i].after = func(w *world, thing string) { // a folder with a grant is no longer open
				w.must(builder, "POST", library+"/folder/"+w.folders[thing]+"/permissions",
					`{"remove":[`+userGrant("someone", "manage")+`]}`, 200)
				w.inherits(thing)
			}
		}
	}
	fresh := ofFolder(levels, "POST", "/assets", "into a folder", "/assets", add, "m200 e200 v403 -404 !403")
	fresh.after = func(w *world, _ string) { w.removeForeign("cell") }
	list = append(list, fresh, listsFolder("by id", "/folders?id=%s"), listsFolder("all", "/folders?limit=500"),
		listsGone(), listsDeleted())
	return slices.Concat(list, nestRows(), deleteRows(), grantRows(), []row{revokes()})
}

// explainsFolder: the verdicts say what the tables say.
func explainsFolder(w *world, c caller, thing string, r reply) {
	t, visible := levels, true
	if gone[thing] != "" {
		t, visible = gone, false
	}
	level := t.at(c, thing)
	for operation, allowed := range map[string]bool{"view": visible, "edit": visible && level != 'v', "manage": level == 'm'} {
		w.holds(r, fmt.Sprintf(`"%s":{"allowed":%t`, operation, allowed), thing, true)
	}
}

// showsPermissions: a folder shows its permissions to those who may manage it.
func showsPermissions(w *world, c caller, thing string, r reply) {
	t := levels
	if gone[thing] != "" {
		t = gone
	}
	if r.body != `{"folders":[]}` && !strings.Contains(r.what, "since") {
		w.holds(r, `"permissions":[`, thing, t.at(c, thing) == 'm')
	}
}

// revokes takes away the last permission of a folder below an open one: that publishes nothing.
func revokes() row {
	rw := ofFolder(table{"open/view": levels["open/view"], "open/child": levels["open/child"]}, "POST",
		"/folder/{folder}/permissions", "take the last away",
		"/folder/%s/permissions", `{"remove":[`+userGrant("viewer", "view")+`]}`, "m200 v403 -404 !403")
	rw.check = func(w *world, _ caller, thing string, _ reply) {
		want := map[string]int{"open/view": 404, "open/child": 200}[thing]
		for _, c := range knownCallers() {
			if r := w.send(c, get(library+"/folder/"+w.folders[thing])); levels.at(c, thing) != 'm' &&
				r.status != want && r.status != 403 {
				w.t.Errorf("%s after the last permission was taken away: %d, want %d", r.what, r.status, want)
			}
		}
	}
	rw.after = func(w *world, thing string) {
		if thing == "open/view" {
			w.must(builder, "POST", library+"/folder/"+w.folders[thing]+"/permissions",
				`{"create":[`+userGrant("viewer", "view")+`]}`, 200)
			w.inherits(thing)
		}
	}
	return rw
}

// inherits makes a folder inherit as it did when the world was built.
func (w *world) inherits(thing string) {
	for _, f := range foldersOf {
		if f.name == thing {
			w.must(builder, "POST", library+"/folders",
				fmt.Sprintf(`{"update":[{"id":%q,"inherit":%t}]}`, w.folders[thing], !f.cut), 200)
		}
	}
}

// removeForeign removes the asset with a foreign id.
func (w *world) removeForeign(name string) {
	id := w.assetIn(library, name, nil)
	w.must(builder, "POST", library+"/assets", fmt.Sprintf(`{"remove":[%q]}`, id), 200)
}

// listsFolder is a list that holds a folder when the caller sees it.
func listsFolder(what, path string) row {
	rw := ofFolder(levels, "GET", "/folders", what, path, "", "m200 e200 v200 -200 !403")
	rw.check = func(w *world, c caller, thing string, r reply) {
		var out struct{ Folders []struct{ ID string } }
		r.read(&out)
		holds := false
		for _, f := range out.Folders {
			holds = holds || f.ID == w.folders[thing]
		}
		want := levels.at(c, thing) != '-' && (what != "all" || !strings.Contains(thing, "/"))
		if what == "by id" {
			showsPermissions(w, c, thing, r)
		}
		if holds != want {
			w.t.Errorf("%s holds %q: %t, want %t", r.what, thing, holds, want)
		}
	}
	return rw
}

// listsGone: no list holds a deleted folder.
func listsGone() row {
	rw := ofFolder(gone, "GET", "/folders", "of deleted ones", "/folders?id=%s", "", "m200 e200 v200 -200 !403")
	rw.check = func(w *world, _ caller, _ string, r reply) {
		if r.body != `{"folders":[]}` {
			w.t.Errorf("%s: %s", r.what, r.body)
		}
	}
	return rw
}

// listsDeleted: the list of deleted folders holds those that the caller may bring back. One that is only below another
// comes back with that, and is not in the list.
func listsDeleted() row {
	rw := ofFolder(gone, "GET", "/folders", "the deleted ones", "/folders?deleted=true", "", "m200 e200 v200 -200 !403")
	rw.check = func(w *world, c caller, thing string, r reply) {
		w.holds(r, fmt.Sprintf(`"id":%q`, w.folders[thing]), thing, gone.at(c, thing) == 'm' &&
			!strings.Contains(thing, "/"))
	}
	return rw
}

// nestRows put folders into folders: edit on the parent, moderators at the top.
func nestRows() []row {
	create := row{route: "POST " + lib + "/folders", what: "create in one", table: levels,
		says: "m200 e200 v403 -404 !403",
		request: func(w *world, thing string) request {
			return post(library+"/folders", fmt.Sprintf(`{"create":[{"label":"x","path":%q}]}`, w.path(thing)))
		}}
	inGone := create
	inGone.table, inGone.what, inGone.says = gone, "create in a deleted one", "m404 e404 v404 -404 !403"
	atTop := row{route: create.route, what: "create at the top", table: atTheTop, says: "+200 -403 !403",
		request: func(*world, string) request { return post(library+"/folders", `{"create":[{"label":"x"}]}`) }}
	toTop := row{route: create.route, what: "move to the top", table: movesUp, says: "+200 f403 -404 !403",
		request: func(w *world, thing string) request {
			return post(library+"/folders", fmt.Sprintf(`{"update":[{"id":%q,"path":"/"}]}`, w.folders[thing]))
		},
		after: func(w *world, thing string) { w.moveBack(thing) }}
	intoGrant := row{route: create.route, what: "move into grant/in", table: movesIn, says: "+200 f403 -404 !403",
		request: func(w *world, thing string) request {
			return post(library+"/folders",
				fmt.Sprintf(`{"update":[{"id":%q,"path":%q}]}`, w.folders[thing], w.path("grant/in")))
		}, after: toTop.after}
	return []row{create, inGone, atTop, toTop, intoGrant}
}

// moveBack moves a folder into the one that it was built in, with the permissions that it was built with: it has kept
// those of the places that it was moved out of.
func (w *world) moveBack(name string) {
	f := foldersOf[slices.IndexFunc(foldersOf, func(f folder) bool { return f.name == name })]
	path := "/"
	if f.parent != "" {
		path = w.path(f.parent)
	}
	id := w.folders[name]
	permissions := library + "/folder/" + id + "/permissions"
	var kept struct{ Permissions []json.RawMessage }
	w.must(builder, "GET", permissions, "", 200).read(&kept)
	if len(kept.Permissions) > len(f.grants) {
		w.must(builder, "POST", permissions, `{"remove":`+text(kept.Permissions)+`}`, 200)
		w.must(builder, "POST", permissions, `{"create":[`+strings.Join(f.grants, ",")+`]}`, 200)
	}
	w.must(builder, "POST", library+"/folders",
		fmt.Sprintf(`{"update":[{"id":%q,"path":%q,"open":true,"inherit":%t}]}`, id, path, !f.cut), 200)
}

// Moving a folder takes manage on it, and edit on where it goes: f is forbidden.
var (
	atTheTop = table{
		//             str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
		"the top": "    -   -   !   -   -   +   +   -   !   !   -   -   -   -   -   -   -",
	}
	movesUp = table{
		//                str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
		"open/child": "    f   f   !   f   f   +   +   f   !   !   f   f   f   f   f   f   f",
		"grant/more": "    -   -   !   -   -   +   +   -   !   !   -   -   f   f   f   f   f",
		"grant/own":  "    f   -   !   -   -   +   +   -   !   !   -   -   -   f   -   -   -",
		"absent":     "    -   -   !   -   -   -   -   -   !   !   -   -   -   -   -   -   -",
	}
	movesIn = table{ // into grant/in, which editor, manager and group may edit
		//                str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
		"open/child": "    f   f   !   f   f   +   +   f   !   !   f   f   f   f   f   f   f",
		"grant/more": "    -   -   !   -   -   +   +   -   !   !   -   -   f   f   +   f   f",
		"grant/own":  "    f   -   !   -   -   +   +   -   !   !   -   -   -   +   -   -   -",
		"absent":     "    -   -   !   -   -   -   -   -   !   !   -   -   -   -   -   -   -",
	}
)

// deleteRows delete folders and bring them back.
func deleteRows() []row {
	remove := ofFolder(levels, "POST", "/folders", "delete", "/folders", `{"delete":["%s"]}`,
		"m200 e403 v403 -404 !403")
	remove.after = func(w *world, thing string) {
		w.must(builder, "POST", library+"/folders",
			fmt.Sprintf(`{"update":[{"id":%q,"deleted":false}]}`, w.folders[thing]), 200)
	}
	const deletedNo = `{"update":[{"id":"%s","deleted":false}]}`
	revive := ofFolder(table{"gone": gone["gone"], "void": gone["void"]}, "POST", "/folders", "bring back", "/folders",
		deletedNo, "m200 e404 v404 -404 !403")
	revive.after = func(w *world, thing string) {
		w.must(builder, "POST", library+"/folders", fmt.Sprintf(`{"delete":[%q]}`, w.folders[thing]), 200)
	}
	below := ofFolder(table{"gone/in": gone["gone/in"], "void/in": gone["void/in"]}, "POST", "/folders",
		"bring back below a deleted one", "/folders", deletedNo, "m400 e404 v404 -404 !403")
	out := ofFolder(below.table, "POST", "/folders", "bring back, out of a deleted one", "/folders", "",
		"m200 e404 v404 -404 !403")
	out.request = func(w *world, thing string) request {
		return post(library+"/folders",
			fmt.Sprintf(`{"update":[{"id":%q,"deleted":false,"path":%q}]}`, w.folders[thing], w.path("grant/in")))
	}
	out.after = func(w *world, thing string) { // and into it again
		above := w.folders[strings.TrimSuffix(thing, "/in")]
		w.must(builder, "POST", library+"/folders", fmt.Sprintf(`{"update":[{"id":%q,"deleted":false}]}`, above), 200)
		w.moveBack(thing)
		w.must(builder, "POST", library+"/folders", fmt.Sprintf(`{"delete":[%q]}`, above), 200)
	}
	return []row{remove, revive, below, out}
}

// grantRows: to grant takes manage, on a new folder manage on its parent. In grant/in, the editor holds edit and
// the manager manage.
func grantRows() []row {
	rows := []row{}
	for _, operation := range []string{"view", "edit", "manage"} {
		rows = append(rows,
			row{route: "POST " + lib + "/folders", what: "create with " + operation, table: grantsBelow,
				says: "m200 e403 v403 -404 !403",
				request: func(w *world, thing string) request {
					return post(library+"/folders",
						fmt.Sprintf(`{"create":[{"label":"x","path":%q,"permissions":[%s]}]}`, w.path(thing),
							userGrant("x", operation)))
				}})
	}
	return rows
}

// grantsBelow are some of the rows of levels.
var grantsBelow = table{"grant/in": levels["grant/in"], "grant/own": levels["grant/own"], "open": levels["open"],
	"grant/more": levels["grant/more"], "absent": levels["absent"]}
