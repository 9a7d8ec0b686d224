//go:build proof

package access

import (
	"fmt"
	"strings"
)

// members: + moderates the network, m is a member of it, ! is none. A library that nobody has
// written to is not there; one of another network is forbidden whether it is there or not.
var members = table{
	//                 str own nam s1 s10 net ven bel oth pre mem com vie edi man rol grp
	"the network's": "  m   m   !   m   m   +   +   m   !   !   m   m   m   m   m   m   m",
	"second":        "  m   m   !   m   m   +   +   m   !   !   m   m   m   m   m   m   m",
	"unused":        "  m   m   !   m   m   +   +   m   !   !   m   m   m   m   m   m   m",
	"elsewhere":     "  !   !   m   !   !   !   +   !   +   !   !   !   !   !   !   !   !",
	"no network":    "  !   !   !   !   !   !   +   !   !   !   !   !   !   !   !   !   !",
}

var libraries = map[string]string{"the network's": library, "second": second, "unused": unused, "elsewhere": foreign,
	"no network": manager + "nowhere.test/assetLibrary/nowhere.test"}

// libraryRows ask every endpoint of the asset manager in every library, with ids that are in none of them
// or in another one.
func libraryRows() []row {
	rows := []row{}
	for _, ask := range []struct {
		method, route, path, body string
		there                     string // statuses where the library is there
		absent                    string // and where it is not
	}{
		{"GET", "/assets", "/assets", "", "+200 m200 !403", "+404 m404 !403"},
		{"POST", "/assets", "/assets", `{"add":[],"remove":["A"]}`, "+200 m200 !403", "+200 m404 !403"},
		{"POST", "/assets", "/assets", `{"add":[` + newAsset("x", []string{"F"}) + `]}`, "+404 m404 !403",
			"+404 m404 !403"},
		{"GET", "/asset/{asset}", "/asset/A", "", "+404 m404 !403", "+404 m404 !403"},
		{"GET", "/folders", "/folders", "", "+200 m200 !403", "+404 m404 !403"},
		{"GET", "/assets", "/assets?folder=F", "", "+404 m404 !403", "+404 m404 !403"},
		{"POST", "/folders", "/folders", `{}`, "+200 m200 !403", "+200 m404 !403"},
		{"POST", "/folders", "/folders", `{"create":[{"label":"x","path":"/F"}]}`, "+404 m404 !403", "+404 m404 !403"},
		{"POST", "/folders", "/folders", `{"update":[{"id":"F","label":"x"}]}`, "+404 m404 !403", "+404 m404 !403"},
		{"POST", "/folders", "/folders", `{"delete":["F"]}`, "+404 m404 !403", "+404 m404 !403"},
		{"GET", "/folder/{folder}", "/folder/F", "", "+404 m404 !403", "+404 m404 !403"},
		{"GET", "/folder/{folder}/permissions", "/folder/F/permissions", "", "+404 m404 !403", "+404 m404 !403"},
		{"POST", "/folder/{folder}/permissions", "/folder/F/permissions", "{}", "+404 m404 !403", "+404 m404 !403"},
		{"POST", "/folder/{folder}/assets", "/folder/F/assets", `{"assign":["A"]}`, "+404 m404 !403", "+404 m404 !403"},
		{"GET", "/attributes", "/attributes?key=name", "", "+200 m200 !403", "+404 m404 !403"},
		{"GET", "/explain", "/explain?folder=F", "", "+404 m404 !403", "+404 m404 !403"},
		{"POST", "/attributes", "/attributes", `{"assets":["A"]}`, "+200 m200 !403", "+200 m404 !403"},
	} {
		for _, never := range []bool{false, true} {
			t, says, what := table{}, ask.there, "libraries that are there"
			if never {
				says, what = ask.absent, "a library that is not"
			}
			for name, line := range members {
				if (name == "unused") == never {
					t[name] = line
				}
			}
			rows = append(rows,
				row{route: ask.method + " " + lib + ask.route,
					what:  fmt.Sprintf("in %s: %s %s", what, ask.path, ask.body),
					table: t, says: says, request: func(w *world, thing string) request {
						fill := func(s string) string { return foreignIDs(w, thing, s) }
						in := libraries[thing]
						if thing == "unused" {
							in += fmt.Sprint(*w.sent) // a write of a moderator makes it: each caller has one of its own
						}
						return request{method: ask.method, path: in + fill(ask.path), body: fill(ask.body)}
					}})
		}
	}
	return rows
}

// foreignIDs puts ids of another library in the place of A and F.
func foreignIDs(w *world, thing, s string) string {
	asset, folder := w.assets["open"], w.folders["open"]
	if thing == "the network's" {
		asset, folder = w.assets["second"], w.folders["second"]
	}
	return strings.NewReplacer("/A", "/"+asset, `"A"`, `"`+asset+`"`, "/F", "/"+folder, `"F"`, `"`+folder+`"`, "=F",
		"="+folder).Replace(s)
}
