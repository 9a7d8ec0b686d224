package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestProtectedTagsTakeAModeratorOfEveryGroup(t *testing.T) {
	const one, two, owner = "urn:vitrine:example.test:site=1", "urn:vitrine:example.test:site=2",
		"urn:vitrine:example.test:user=owner"
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
	created := s.do(both, "POST", "/apps/", `{"title":"x","groups":["`+one+`","`+two+`"]}`, 201)
	if err := json.Unmarshal([]byte(created), &app); err != nil {
		t.Fatal(err)
	}
	tag := func(name string) string { return "/apps/" + app.ID + "/tags/" + name }
	s.do(alone, "PUT", tag("staging"), `{"appVersion":"0"}`, 201)
	for _, name := range []string{"production", "live"} {
		s.do(alone, "PUT", tag(name), `{"appVersion":"0"}`, 403)
		s.do(both, "PUT", tag(name), `{"appVersion":"0","from":null}`, 201)
	}
	// The rules stay in the store until a flag changes them.
	for _, test := range []struct {
		args       []string
		log        string
		alone, all int
	}{
		{nil, "", 403, 201},
		{[]string{"-protect-tags", "live,production"}, "", 403, 201},
		{[]string{"-approve", "production=1"}, "the rules of tags were changed", 403, 403},
		{nil, "", 403, 403},
		{[]string{"-approve", "production=1:independent"}, "Independent:true", 403, 403},
		{[]string{"-approve", "production=1:independent"}, "", 403, 403},
		{[]string{"-protect-tags", "none"}, "the rules of tags were changed", 201, 201},
	} {
		s.stop()
		s = start(t, dir, nil, append([]string{"-db", "v.db"}, test.args...)...)
		s.do(alone, "PUT", tag("production"), `{"appVersion":"0"}`, test.alone)
		if body := s.do(both, "PUT", tag("production"), `{"appVersion":"0"}`, test.all); test.all == 403 &&
			!strings.Contains(body, "needs 1 approval:") {
			t.Errorf("%q: %s", test.args, body)
		}
		log := s.stderr.String()
		if got := strings.Contains(log, "rules of tags"); got != (test.log != "") || !strings.Contains(log, test.log) {
			t.Errorf("%q: the log has the change of rules: %v: %s", test.args, got, log)
		}
	}
}

// Who reads what approvals are for also reads whom they do not keep out.
func TestTheHelpSaysWhoCanBeTwoPeople(t *testing.T) {
	out := run(t, t.TempDir(), nil, "serve", "-h")
	text := strings.Join(strings.Fields(out.stdout), " ")
	if !strings.Contains(text, "whoever may make people can be two of them") {
		t.Errorf("the help of serve: %s", text)
	}
}
