package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestProtectedTagsTakeAModeratorOfEveryGroup(t *testing.T) {
	const one, two, owner = "urn:vitrine:example.test:site=1", "urn:vitrine:example.test:site=2", "urn:vitrine:example.test:user=owner"
	dir := t.TempDir()
	s := start(t, dir, nil, "-db", "v.db", "-protect-tags", "production,live")
	token := func(args ...string) string {
		out := run(t, dir, nil, append([]string{"token", "-db", "v.db", "-urn", owner}, args...)...)
		if out.status != 0 {
			t.Fatalf("token: %+v", out)
		}
		return strings.TrimSpace(out.stdout)
	}
	both, alone := token("-moderates", one+","+two), token("-moderates", one)
	var app struct{ ID string }
	if err := json.Unmarshal([]byte(s.do(both, "POST", "/apps/", `{"title":"x","groups":["`+one+`","`+two+`"]}`, 201)), &app); err != nil {
		t.Fatal(err)
	}
	tag := func(name string) string { return "/apps/" + app.ID + "/tags/" + name }
	s.do(alone, "PUT", tag("staging"), `{"appVersion":"0"}`, 201)
	for _, name := range []string{"production", "live"} {
		s.do(alone, "PUT", tag(name), `{"appVersion":"0"}`, 403)
		s.do(both, "PUT", tag(name), `{"appVersion":"0","from":null}`, 201)
	}
}
