//go:build proof

package attack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// TestPermissionsWithoutMeasure has every member pay for what one manager has made: many folders
// below many levels, each with as many permissions as a folder may have.
func TestPermissionsWithoutMeasure(t *testing.T) {
	s := start(t)
	const levels, permissions, below = 30, 1000, 1000
	const aLook = 300 * time.Millisecond // it takes up to 80, and from 500 without what is remembered
	create := func(s *server, folders string) (id string, r reply) {
		var out struct{ Folders []struct{ ID string } }
		if r = s.post(library+"/folders", `{"create":[`+folders+`]}`); r.status == 200 {
			r.read(&out)
			id = out.Folders[0].ID
		}
		return id, r
	}
	path, deepest := "/", ""
	for i := range levels {
		grants := repeat(permissions, fmt.Sprintf(`{"operation":"manage","user":{"id":"%d-#"}}`, i))
		if i == 0 {
			grants = repeat(permissions-1, `{"operation":"view","user":{"id":"#"}}`) +
				`,{"operation":"manage","user":{"id":"reader"}}`
		}
		var r reply
		deepest, r = create(s, fmt.Sprintf(`{"label":"x","path":"%s","permissions":[%s]}`, path, grants))
		r.want(200)
		path = strings.TrimSuffix(path, "/") + "/" + deepest
	}
	many := repeat(below, fmt.Sprintf(`{"label":"x#","path":%q}`, path))
	for range 2 {
		_, r := create(s, many)
		r.want(200)
	}
	s.token = s.sign(httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=reader"}})
	get := func(path string) func(*server) reply { return func(s *server) reply { return s.get(library + path) } }
	run(t, s, []attack{
		{name: "a search", want: "200", cpu: aLook, send: get("/assets")},
		{name: "another search", want: "200", cpu: aLook, send: get("/assets?query=x")},
		{name: "one below a folder", want: "200", cpu: aLook, send: get("/assets?folderTree=" + deepest)},
		{name: "folders at the end", want: "200", cpu: aLook, send: get("/folders?limit=500&path=" + path)},
		{name: "values", want: "200", cpu: aLook, send: get("/attributes?key=x")},
		{name: "more folders", want: "200", cpu: 3 * usualCPU, send: func(s *server) reply {
			_, r := create(s, many)
			return r
		}},
		{name: "1,000 changes of one", want: "200", cpu: 3 * usualCPU, send: func(s *server) reply {
			return s.post(library+"/folders",
				`{"update":[`+repeat(1000, fmt.Sprintf(`{"id":%q,"label":"y#"}`, deepest))+`]}`)
		}},
	})
}
