//go:build proof

package access

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// row is an endpoint, asked one question about some things by every caller.
type row struct {
	route string // as the description of the service names it: "GET /apps/{id}"
	what  string // the question
	table table
	// says holds the status for each character of the table: "+200 -404". A thing that stands for
	// itself has no table and one status for all: "200".
	says    string
	request func(w *world, thing string) request
	open    bool // needs no token
	known   bool // any token will do, one with tags too
	people  bool // is about people: secret keys are 403
	writers bool // it reads, and who may only read the app may not do it
	keys    int  // the status for keys, if it is another one
	talk    bool // a person who may read an app may do it, and a key that may only read it may not
	// the status for who has signed in, if it is another than for a token with the same rights
	session int
	after   func(w *world, thing string)                    // takes back what a request with success has changed
	check   func(w *world, c caller, thing string, r reply) // looks at the answer with success
}

// cells counts what was looked at.
type cells struct{ rows, cells, requests int }

// want is the status of a cell.
func (rw row) want(c caller, thing string) int {
	if !c.known() && !rw.open {
		return 401
	}
	if c.TagsOnly && !rw.open && !rw.known && !rw.delivers(c, thing) {
		if rw.isTagged() && !c.seesToRead(thing) {
			return 404
		}
		return 403
	}
	if c.Agent != "" && !rw.open && !rw.agents(c, thing) {
		return 403
	}
	if c.key && rw.keys > 0 {
		return rw.keys
	}
	if c.session && rw.session > 0 {
		return rw.session
	}
	char := ""
	if rw.table != nil {
		char = strings.ReplaceAll(string(rw.table.at(c, thing)), ".", "-")
	}
	if rw.isAboutApp(thing) && c.seesToRead(thing) {
		if (!strings.HasPrefix(rw.route, "GET") || rw.writers) && (!rw.talk || c.key) {
			return 403
		}
		char = "+"
	}
	for word := range strings.FieldsSeq(rw.says) {
		if status, ok := strings.CutPrefix(word, char); ok {
			if n, err := strconv.Atoi(status); err == nil {
				return n
			}
		}
	}
	panic(fmt.Sprintf("%s, %s: no status for %q", rw.route, rw.what, char))
}

// agents reports whether the row is about what agents may do: they read, add, propose and comment.
func (rw row) agents(c caller, thing string) bool {
	switch method, _, _ := strings.Cut(rw.route, " "); {
	case method == "GET", rw.talk && method == "POST":
		return true
	case rw.route == "PUT /x/releases/{id}", rw.what == "add elsewhere": // neither the release nor the asset is theirs
		return rw.table.at(c, thing) == '-'
	case strings.HasSuffix(rw.route, "/{library}/assets"):
		absent := strings.Contains(rw.what, "a library that is not") && c.like != "network" // 404 for others, too
		return absent || !strings.Contains(rw.what, "remove") && rw.what != "add again"
	}
	return slices.Contains([]string{"POST /apps/", "PATCH /apps/{id}", "POST /apps/versions/restore",
		"POST /x/releases/"}, rw.route) || strings.HasSuffix(rw.route, "/files")
}

// isAboutApp reports whether the thing is an app that is there.
func (rw row) isAboutApp(thing string) bool {
	return rw.table["absent"] != "" && usable[thing] != "" && thing != "absent"
}

func (rw row) isTagged() bool { return rw.route == "GET /apps/{id}/tagged/{tag}" }

// delivers reports whether the row is about what a caller with tags may ask.
func (rw row) delivers(c caller, thing string) bool {
	return rw.isTagged() && rw.what != "another" && len(c.Tags) > 0 && c.seesToRead(thing)
}

// hides reports whether the thing is hidden from the caller, so that its answer must be that of
// one that is absent. Who may manage a deleted folder knows of it.
func (rw row) hides(c caller, thing string) bool {
	if rw.table == nil || !c.known() || rw.want(c, thing) != 404 {
		return false
	}
	if rw.isAboutApp(thing) && c.seesToRead(thing) {
		return false
	}
	char := rw.table.at(c, thing)
	if _, deleted := gone[thing]; deleted && char != '!' && char != 'm' {
		return true
	}
	return (char == '-' || char == '.') && rw.table["absent"] != ""
}

// run looks at every cell of the row, in a world of its own. With keys the callers have secret keys of people whose
// rights change with each request, in place of tokens.
func (rw row) run(t *testing.T, n *cells, keys bool) {
	w := newWorld(t)
	if !rw.people {
		w.build(everything, everything, everything)
	}
	w.keyed = keys
	things := []string{""}
	if rw.table != nil {
		things = rw.table.things()
	}
	for _, thing := range things {
		for i, c := range callers {
			if testing.Short() && i%6 != n.rows%6 {
				continue // another sixth of the callers for each row
			}
			asked := c
			asked.key = c.key || keys && !c.session
			want := rw.want(asked, thing)
			if (keys || c.key) && rw.people && c.known() && !c.session {
				want = 403
			}
			rw.fromElsewhere(t, w, c, thing)
			r := w.send(c, rw.request(w, thing))
			n.cells++
			if r.status != want {
				t.Errorf("%s asks about %q: status %d, want %d: %s", r.what, thing, r.status, want, r.body)
			}
			rw.form(t, w, c, thing, r)
			if c.TagsOnly && !rw.open && (strings.Contains(r.body, ":user=") || strings.Contains(r.body, ":site=")) {
				t.Errorf("%s: a public token is told of people or groups: %s", r.what, r.body)
			}
			if want < 300 && rw.check != nil && r.status == want {
				rw.check(w, c, thing, r)
			}
			if r.status < 300 && rw.after != nil {
				rw.after(w, thing)
			}
		}
	}
	n.rows++
	n.requests += *w.sent
}

// fromElsewhere sends the request as a page of another site does for its visitor, who has a session. It must write
// nothing.
func (rw row) fromElsewhere(t *testing.T, w *world, c caller, thing string) {
	in := rw.request(w, thing)
	if !c.session || rw.open || in.method == "GET" {
		return
	}
	in.site = "cross-site"
	if r := w.send(c, in); r.status != 403 || !strings.Contains(r.body, "another site") {
		t.Errorf("%s asks about %q for a page of another site: %d %s", r.what, thing, r.status, r.body)
	}
}

// form checks what holds for every answer: its headers, the form of an error, HEAD like GET, and a hidden thing like an
// absent one.
func (rw row) form(t *testing.T, w *world, c caller, thing string, r reply) {
	if r.status == 401 && r.header.Get("Www-Authenticate") != "svctoken" {
		t.Errorf("%s: 401 with WWW-Authenticate %q", r.what, r.header.Get("Www-Authenticate"))
	}
	if r.status >= 300 && r.header.Get("Location")+r.header.Get("Link")+r.header.Get("Etag") != "" {
		t.Errorf("%s: %d with %v", r.what, r.status, r.header)
	}
	if r.status >= 400 {
		var body struct{ Error, Code string }
		if json.Unmarshal([]byte(r.body), &body) != nil || body.Error == "" || body.Code == "" {
			t.Errorf("%s: the body of an error is %q", r.what, r.body)
		}
	}
	if in := rw.request(w, thing); in.method == "GET" && !testing.Short() {
		in.method = "HEAD"
		if head := w.send(c, in); head.body != "" || head.seen() != strings.TrimSuffix(r.seen(), r.body) {
			t.Errorf("%s: HEAD answers\n%s\nGET\n%s", r.what, head.seen(), r.seen())
		}
	}
	if !rw.hides(c, thing) {
		return
	}
	if absent := w.send(c, rw.request(w, "absent")); absent.seen() != r.seen() {
		t.Errorf("%s asks about %q, which is hidden:\n%s\nwhat is absent reads\n%s", r.what, thing, r.seen(),
			absent.seen())
	}
}

// rows are all rows.
func rows() []row {
	return slices.Concat(otherRows(), reviewRows(), appRows(), deletionRows(), commentRows(), releaseRows(),
		folderRows(), assetRows(),
		libraryRows(), peopleRows())
}

func TestEveryCell(t *testing.T)         { everyCell(t, false) }
func TestEveryCellWithKeys(t *testing.T) { everyCell(t, true) }

func everyCell(t *testing.T, keys bool) {
	var n cells
	for _, rw := range rows() {
		t.Run(rw.route+" "+rw.what, func(t *testing.T) { rw.run(t, &n, keys) })
	}
	t.Logf("%d rows, %d callers, %d cells, %d requests", n.rows, len(callers), n.cells, n.requests)
}

// Each endpoint of the route table has a row, and each row an endpoint. Rows may name a collection with
// the slash at its end, which the description leaves out.
func TestEveryRouteHasARow(t *testing.T) {
	w := newWorld(t)
	var description struct {
		Paths map[string]map[string]any
	}
	w.send(callers[0], get("/openapi.json")).read(&description)
	missing := map[string]bool{}
	for path, methods := range description.Paths {
		for method := range methods { // beside them stands what they have in common
			if slices.Contains([]string{"get", "post", "put", "patch", "delete"}, method) {
				missing[strings.ToUpper(method)+" "+path] = true
			}
		}
	}
	for _, route := range w.routesOfPeople() {
		missing[route] = true
	}
	if len(missing) < 20 {
		t.Fatalf("the description has %d endpoints", len(missing))
	}
	delete(missing, "GET /x/public/reviews/{network}/{collection}")
	delete(missing, "GET /x/public/assets/{network}/{library}/{folder}")
	delete(missing, "GET /x/public/{tag}") // its caller is the key in its query; its own tests are in adapters/httpapi
	delete(missing, "GET /x/show/app")     // its caller is the secret of a link
	routes := maps.Clone(missing)
	for _, rw := range rows() {
		route := strings.TrimSuffix(rw.route, "/")
		if !routes[route] {
			t.Errorf("a row is about %s, which is no endpoint", rw.route)
		}
		delete(missing, route)
	}
	for _, route := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("%s has no row: who may ask it, and what is the answer?", route)
	}
}
