//go:build proof

package access

import (
	"fmt"
	"slices"
	"strings"
)

// assetRows are the endpoints that name an asset, or find it.
func assetRows() []row {
	rows := []row{
		{route: "GET " + lib + "/asset/{asset}", table: rights, says: "e200 d200 v200 -404 !403",
			request: func(w *world, thing string) request {
				return get(library + "/asset/" + w.assets[thing])
			}, check: showsFolders},
		{route: "POST " + lib + "/assets", what: "add to no folder", table: atTheTop, says: "+200 -403 !403",
			request: func(*world, string) request {
				return post(library+"/assets", `{"add":[`+newAsset("cell", nil)+`]}`)
			},
			after: func(w *world, _ string) { w.removeForeign("cell") }},
	}
	rows = append(rows, explainsAsset(), explainsOthers())
	rows = append(rows, fileRows()...)
	rows = append(rows,
		row{route: "GET " + lib + "/changes", table: atTheTop, says: "+200 -403 !403",
			request: func(*world, string) request { return get(library + "/changes?limit=1") }},
		row{route: "GET " + lib + "/changes", what: "after another cursor", table: atTheTop, says: "+400 -403 !403",
			request: func(*world, string) request { return get(library + "/changes?after=AAAA") }})
	rows = append(rows,
		row{route: "POST " + lib + "/assets", what: "add too much", table: atTheTop, says: "+413 -413 !403",
			request: func(*world, string) request {
				return post(library+"/assets",
					`{"add":[{"id":"cell","generator":{"id":"g"},"content":{"content":"`+strings.Repeat("x", 256<<10)+
						`"}}]}`)
			}})
	rows = append(rows, changesAsset(), addsAgainElsewhere(), removesAsset(), labels(), values(), putsInto(),
		takesOut())
	return append(rows, searches()...)
}

// svg is a file to upload.
const svg = `<svg xmlns="http://www.w3.org/2000/svg"/>`

// fileRows are the endpoints of files: an asset without one is found out about only by who may change it, and who has
// the address of a file may read it.
func fileRows() []row {
	of := func(method, below, body string) row {
		return row{route: method + " " + lib + "/asset/{asset}" + below, table: rights,
			says: "e422 d422 v403 -404 !403",
			request: func(w *world, thing string) request {
				return request{method: method, path: library + "/asset/" + w.assets[thing] + below, body: body}
			}}
	}
	return []row{
		of("PATCH", "", `{"title":"cell"}`), of("PUT", "/file", svg),
		{route: "POST " + lib + "/files", what: "into no folder", table: atTheTop, says: "+200 -403 !403",
			request: func(*world, string) request { return post(library+"/files", svg) }},
		{route: "GET /x/file/{id}/{name}", says: "200", open: true,
			request: func(w *world, _ string) request {
				if w.file == "" {
					r := w.must(builder, "POST", library+"/files?name=a.svg", svg, 200)
					_, rest, _ := strings.Cut(r.body, `"href":"`)
					w.file, _, _ = strings.Cut(rest, `"`)
				}
				return get(w.file)
			}},
		{route: "GET /x/file/{id}/{name}", what: "another name", says: "404", open: true,
			request: func(*world, string) request { return get("/x/file/" + strings.Repeat("0", 32) + "/a.svg") }},
	}
}

// explainsAsset tells those who see an asset what they may do with it, and names no folder that is hidden.
func explainsAsset() row {
	return row{route: "GET " + lib + "/explain", table: rights, says: "e200 d200 v200 -404 !403",
		request: func(w *world, thing string) request { return get(library + "/explain?asset=" + w.assets[thing]) },
		check: func(w *world, c caller, thing string, r reply) {
			w.holds(r, `"view":{"allowed":true`, thing, true)
			w.holds(r, fmt.Sprintf(`{"view":{"allowed":true,"rule":"%s"`, "moderator"), thing, c.rulesNetwork())
			mayEdit := rights.at(c, thing) != 'v'
			_, edit, _ := strings.Cut(r.body, `"edit":{"allowed":`)
			if strings.HasPrefix(edit, "true") != mayEdit {
				w.t.Errorf("%s: edit of %q, want %t: %s", r.what, thing, mayEdit, r.body)
			}
			for name, id := range w.folders {
				if levels[name] != "" && (levels.at(c, name) == '-' || levels.at(c, name) == '!') {
					w.holds(r, id, name, false)
				}
			}
		}}
}

// explainsOthers: only moderators may ask what others may do. Anybody else is refused alike for a folder that exists
// and for one that does not.
func explainsOthers() row {
	return row{route: "GET " + lib + "/explain", what: "about another", table: atTheTop, says: "+200 -403 !403",
		request: func(w *world, _ string) request {
			return get(library + "/explain?user=viewer&folder=" + w.folders["grant"])
		},
		check: func(w *world, _ caller, thing string, r reply) {
			w.holds(r, `"edit":{"allowed":false`, thing, true)
			w.holds(r, `"view":{"allowed":true,"rule":"grant"`, thing, true)
		}}
}

// changesAsset adds an asset again. For a caller who may not see the asset it is 403 too, the only response that
// differs from that for an absent thing.
func changesAsset() row {
	t := table{}
	for thing, line := range rights {
		if thing != "absent" && thing != "second" {
			t[thing] = line
		}
	}
	return row{route: "POST " + lib + "/assets", what: "add again", table: t, says: "e200 d200 v403 -403 !403",
		request: func(_ *world, thing string) request {
			return post(library+"/assets", `{"add":[`+newAsset(thing, nil)+`]}`)
		}}
}

// addsAgainElsewhere adds again what is there, into grant/in: c is a conflict, as the asset is in other folders.
func addsAgainElsewhere() row {
	t := table{
		//                  str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
		"loose":        "    -   -   !   -   -   +   +   -   !   !   -   -   f   f   f   f   f",
		"open":         "    -   -   !   -   -   c   c   -   !   !   -   -   f   f   f   f   f",
		"grant":        "    -   -   !   -   -   c   c   -   !   !   -   -   f   c   c   f   c",
		"grant/in":     "    -   -   !   -   -   +   +   -   !   !   -   -   f   +   +   f   +",
		"grant/own":    "    -   -   !   -   -   c   c   -   !   !   -   -   f   c   f   f   f",
		"gone":         "    -   -   !   -   -   c   c   -   !   !   -   -   f   f   f   f   f",
		"gone+grant":   "    -   -   !   -   -   c   c   -   !   !   -   -   f   c   c   f   c",
		"all of grant": "    -   -   !   -   -   +   +   -   !   !   -   -   f   +   +   f   +",
	}
	return row{route: "POST " + lib + "/assets", what: "add elsewhere", table: t, says: "+200 c409 f403 -404 !403",
		request: func(w *world, thing string) request {
			return post(library+"/assets", `{"add":[`+newAsset(thing, []string{w.folders["grant/in"]})+`]}`)
		},
		after: func(w *world, thing string) {
			if thing == "loose" {
				w.must(builder, "POST", library+"/folder/"+w.folders["grant/in"]+"/assets",
					fmt.Sprintf(`{"remove":[%q]}`, w.assets[thing]), 200)
			}
		}}
}

// removesAsset removes an asset; what is hidden is left out of the answer like what is absent.
func removesAsset() row {
	rw := row{route: "POST " + lib + "/assets", what: "remove", table: rights, says: "e200 d200 v403 -200 !403"}
	rw.request = func(w *world, thing string) request {
		return post(library+"/assets", fmt.Sprintf(`{"remove":[%q]}`, w.assets[thing]))
	}
	rw.check = func(w *world, c caller, thing string, r reply) {
		want := `{"added":[],"removed":[]}`
		if removes := rights.at(c, thing); removes == 'e' || removes == 'd' {
			want = fmt.Sprintf(`{"added":[],"removed":[%q]}`, w.assets[thing])
		}
		if r.body != want {
			w.t.Errorf("%s: %q: %s, want %s", r.what, thing, r.body, want)
		}
	}
	rw.after = func(w *world, thing string) {
		if w.send(builder, get(library+"/asset/"+w.assets[thing])).status == 404 {
			w.rebuildAsset(thing)
		}
	}
	return rw
}

// rebuildAsset adds a removed asset again. For this it brings back deleted folders for a moment.
func (w *world) rebuildAsset(name string) {
	for i, a := range assetsOf {
		if a.name != name {
			continue
		}
		for _, deleted := range []bool{false, true} {
			for _, f := range []string{"gone", "void"} {
				if w.deleted(f) != deleted {
					w.must(builder, "POST", library+"/folders",
						fmt.Sprintf(`{"update":[{"id":%q,"deleted":%t}]}`, w.folders[f], deleted), 200)
				}
			}
			if !deleted {
				w.buildAsset(i, everything)
			}
		}
	}
}

func (w *world) deleted(folder string) bool {
	var out struct{ Folder struct{ Deleted bool } }
	w.must(builder, "GET", library+"/folder/"+w.folders[folder], "", 200).read(&out)
	return out.Folder.Deleted
}

// item checks the status of the one item of an answer.
func (w *world) item(r reply, thing string, want int, format string) {
	if text := fmt.Sprintf(format, want); !strings.Contains(r.body, text) {
		w.t.Errorf("%s: about %q want %s: %s", r.what, thing, text, r.body)
	}
}

// labels sets an attribute, judged asset by asset.
func labels() row {
	rw := row{route: "POST " + lib + "/attributes", table: rights, says: "e200 d200 v200 -200 !403",
		request: func(w *world, thing string) request {
			return post(library+"/attributes",
				fmt.Sprintf(`{"assets":[%q],"set":[{"key":"cell","value":"x"}]}`, w.assets[thing]))
		}}
	rw.check = func(w *world, c caller, thing string, r reply) {
		status := map[byte]int{'e': 200, 'd': 200, 'v': 403, '-': 404}[rights.at(c, thing)]
		w.item(r, thing, status, `{"result":[%d]`)
		if status == 404 && strings.Contains(r.body, w.assets[thing]) {
			w.t.Errorf("%s: %s", r.what, r.body)
		}
	}
	return rw
}

// values: the values of an attribute are those of the assets that a search finds.
func values() row {
	rw := row{route: "GET " + lib + "/attributes", table: rights, says: "e200 d200 v200 -200 !403",
		request: func(*world, string) request { return get(library + "/attributes?key=name") }}
	rw.check = func(w *world, c caller, thing string, r reply) {
		w.holds(r, fmt.Sprintf(`{"key":"name","value":%q}`, thing), thing, found(c, thing))
	}
	return rw
}

// found reports whether a search shows the asset to the caller.
func found(c caller, thing string) bool {
	right := rights.at(c, thing)
	return thing != "second" && (right == 'v' || right == 'e')
}

func (w *world) holds(r reply, text, thing string, want bool) {
	if has := strings.Contains(r.body, text); has != want {
		w.t.Errorf("%s holds %q: %t, want %t: %s", r.what, thing, has, want, r.body)
	}
}

// showsFolders: of an asset's folders those are shown that the caller sees.
func showsFolders(w *world, c caller, thing string, r reply) {
	for _, a := range assetsOf {
		if a.name != thing || thing == "taken out" {
			continue
		}
		for _, f := range a.folders {
			sees := gone[f] == "" && levels.at(c, f) != '-'
			w.holds(r, `"id":"`+w.folders[f]+`"`, f, sees) // the path of a folder below names it in any case
		}
	}
}

// searches find an asset for those who may see it, and count it.
func searches() []row {
	rows := []row{}
	for what, query := range map[string]string{
		"all": "limit=500", "oldest first": "limit=500&order=asc", "by a word": "limit=500&query=words",
		"by a tag":       "limit=500&tags=tag",
		"by a generator": "limit=500&generator=g.example",
		"by a prefix":    "limit=500&query=wo*", "by a key": "limit=500&attribute=name",
		"by time": "limit=500&from=1970-01-01&to=9999-12-31"} {
		rows = append(rows,
			row{route: "GET " + lib + "/assets", what: what, table: rights, says: "e200 d200 v200 -200 !403",
				request: func(*world, string) request { return get(library + "/assets?" + query) },
				check: func(w *world, c caller, thing string, r reply) {
					w.holds(r, w.assets[thing], thing, found(c, thing))
					total := 0
					for other := range rights {
						if found(c, other) {
							total++
						}
					}
					w.holds(r, fmt.Sprintf(`"total":%d,"totalItems":%[1]d}`, total), "the total", true)
				}})
	}
	return append(rows, counts())
}

// counts: the facets of a search count what the caller finds, and name no folder that is hidden.
func counts() row {
	return row{route: "GET " + lib + "/assets", what: "with facets", table: rights, says: "e200 d200 v200 -200 !403",
		request: func(*world, string) request {
			return get(library + "/assets?limit=1&facets=attribute:name,folder,generator")
		},
		check: func(w *world, c caller, thing string, r reply) {
			_, r.body, _ = strings.Cut(r.body, `"facets":`)
			total, inFolder := 0, map[string]int{}
			for _, a := range assetsOf {
				if !found(c, a.name) {
					continue
				}
				total++
				for _, f := range a.folders {
					if a.name != "taken out" {
						inFolder[f]++
					}
				}
			}
			w.holds(r, fmt.Sprintf(`{"value":%q,"count":1}`, thing), thing, found(c, thing))
			w.holds(r, fmt.Sprintf(`"generator":[{"value":"g.example","count":%d}]`, total), "the count of all", true)
			for f, id := range w.folders {
				sees := gone[f] == "" && levels[f] != "" && levels.at(c, f) != '-' && inFolder[f] > 0
				w.holds(r, id, f, sees)
				if sees {
					w.holds(r, fmt.Sprintf(`{"value":%q,"count":%d}`, id, inFolder[f]), f, true)
				}
			}
		}}
}

// putsInto assigns an asset to a folder that editor, manager and group may edit: those that the caller may change.
func putsInto() row {
	rw := row{route: "POST " + lib + "/folder/{folder}/assets", what: "put into grant/in", table: rights,
		says: "e200 d200 v200 -200 !403"}
	rw.request = func(w *world, thing string) request {
		return post(library+"/folder/"+w.folders["grant/in"]+"/assets", fmt.Sprintf(`{"assign":[%q]}`, w.assets[thing]))
	}
	rw.table, rw.says = assigns, "+200 a200 f403 -404 !403"
	rw.check = func(w *world, c caller, thing string, r reply) {
		w.item(r, thing, map[byte]int{'e': 200, 'd': 200, 'v': 403, '-': 404}[rights.at(c, thing)], `"status":%d`)
	}
	rw.after = func(w *world, thing string) {
		if thing != "grant/in" && thing != "all of grant" {
			w.must(builder, "POST", library+"/folder/"+w.folders["grant/in"]+"/assets",
				fmt.Sprintf(`{"remove":[%q]}`, w.assets[thing]), 200)
		}
	}
	return rw
}

// assigns: + may put assets into grant/in, f sees the folder and may not, - does not see it.
var assigns = func() table {
	t := table{}
	for thing := range rights {
		//       str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
		t[thing] = "-   -   !   -   -   +   +   -   !   !   -   -   f   +   +   f   +"
	}
	return t
}()

// rulesNetwork reports whether the caller moderates the network of the library.
func (c caller) rulesNetwork() bool {
	return c.name == "vendor" || slices.Contains([]string{c.name, c.like}, "network")
}

// takesOut takes assets out of grant. Only moderators may take an asset out of its last folder.
func takesOut() row {
	rw := row{route: "POST " + lib + "/folder/{folder}/assets", what: "take out of grant", table: assigns,
		says: "+200 f403 -404 !403"}
	rw.request = func(w *world, thing string) request {
		return post(library+"/folder/"+w.folders["grant"]+"/assets", fmt.Sprintf(`{"remove":[%q]}`, w.assets[thing]))
	}
	rw.check = func(w *world, c caller, thing string, r reply) {
		status := 200
		switch {
		case rights.at(c, thing) == '-':
			status = 404
		case thing == "grant" && !c.rulesNetwork():
			status = 403
		}
		w.item(r, thing, status, `"status":%d`)
	}
	rw.after = func(w *world, thing string) {
		for _, a := range assetsOf {
			if a.name == thing && strings.Contains(fmt.Sprint(a.folders, " "), "grant") && thing != "taken out" {
				w.reassign(a.folders, thing)
			}
		}
	}
	return rw
}

// reassign puts an asset back into grant, if it was in it.
func (w *world) reassign(folders []string, thing string) {
	for _, f := range folders {
		if f == "grant" {
			w.must(builder, "POST", library+"/folder/"+w.folders[f]+"/assets",
				fmt.Sprintf(`{"assign":[%q]}`, w.assets[thing]), 200)
		}
	}
}
