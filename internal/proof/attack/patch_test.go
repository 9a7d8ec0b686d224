//go:build proof

package attack

import (
	"fmt"
	"strings"
	"testing"
)

// repeat returns n copies of a text with commas between; # in it becomes the number.
func repeat(n int, text string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.ReplaceAll(text, "#", fmt.Sprint(i)))
	}
	return b.String()
}

const version0 = `{"op":"test","path":"/apps/0/version","value":"0"}`

// TestPatches sends patches that cost much, or pass by the test of the version, or reach what is
// read-only. What a patch may do is tested by appsvc, case by case; here are the bombs, and one of
// each kind of the others to show that nothing is lost on the way.
func TestPatches(t *testing.T) {
	s := start(t)
	s.component("any", "{}").want(201)
	small := s.newApp("any", `{"a":1}`, `{"b":[1.10,9007199254740993,"\u00e9"]}`)
	other := s.newApp("any", `{"a":1}`)
	wide := s.newApp("any", strings.Split(strings.Repeat(`{"x":1};`, 1000), ";")[:1000]...)
	large := s.newApp("any", `{"list":[`+repeat(400_000, "1")+`],"text":"`+strings.Repeat("x", 1<<20)+`"}`)
	patch := func(id, ops string) func(*server) reply { return func(s *server) reply { return s.patch(id, ops) } }
	raw := func(id, body string) func(*server) reply {
		return func(s *server) reply { return s.send("PATCH", "/apps/"+id, strings.NewReader(body)) }
	}
	const list = "/apps/0/elements/0/config/list"
	attacks := []attack{
		{name: "1,001 operations", send: patch(small, repeat(1000, version0)), want: "413"},
		{name: "20,000 operations", send: raw(small, "["+repeat(20_000, `{"op":"test","path":"","value":1}`)+"]"), want: "413"},
		{name: "index 10^9", send: patch(small, `{"op":"add","path":"/apps/0/elements/1000000000","value":{}}`), want: "422"},
		{name: "index 10^9 in a list", send: patch(large, `{"op":"add","path":"`+list+`/1000000000","value":1}`), want: "422"},
		{name: "index beyond any integer", send: patch(small, `{"op":"add","path":"/apps/0/elements/99999999999999999999","value":{}}`), want: "422"},
		{name: "a list copied into itself 40 times", send: patch(small, repeat(40, `{"op":"copy","from":"/apps/0/elements/1/config/b","path":"/apps/0/elements/1/config/b/-"}`)), want: "413"},
		{name: "a config copied into itself 40 times", send: patch(small, repeat(40, `{"op":"copy","from":"/apps/0/elements/0/config","path":"/apps/0/elements/0/config/a#"}`)), want: "413"},
		{name: "the document copied into itself", send: patch(small, repeat(30, `{"op":"copy","from":"","path":"/apps/0/elements/0/config/a#"}`)), want: "413"},
		{name: "2 MiB copied 900 times", send: patch(large, repeat(900, `{"op":"copy","from":"/apps/0/elements/0/config","path":"/apps/0/elements/0/config/a#"}`)), want: "413"},
		{name: "900 items put before 400,000", send: patch(large, repeat(900, `{"op":"add","path":"`+list+`/0","value":1}`)), want: "413"},
		{name: "900 items taken from before 400,000", send: patch(large, repeat(900, `{"op":"remove","path":"`+list+`/0"}`)), want: "413"},
		{name: "900 items moved to and fro", send: patch(large, repeat(900, `{"op":"move","from":"`+list+`/0","path":"`+list+`/300000"}`)), want: "413"},
		{name: "tests and changes by turns", send: patch(large, repeat(450, `{"op":"replace","path":"`+list+`/0","value":#},{"op":"test","path":"`+list+`/0","value":#}`)), want: "413"},
		{name: "900 elements moved", send: patch(wide, repeat(900, `{"op":"move","from":"/apps/0/elements/999","path":"/apps/0/elements/0"}`)), want: "200 413"},
		{name: "a thousand elements more", send: patch(wide, repeat(900, `{"op":"copy","from":"/apps/0/elements/0","path":"/apps/0/elements/-"}`)), want: "409 413 422"},
		{name: "a value 60 deep, a hundred times", send: patch(other, repeat(100, `{"op":"add","path":"/apps/0/elements/0/config/a","value":`+strings.Repeat("[", 58)+strings.Repeat("]", 58)+`}`)), want: "200 422"},
		{name: "deeper and deeper", send: patch(small, repeat(30, `{"op":"move","from":"/apps/0/elements/1/config","path":"/apps/0/elements/1"},{"op":"add","path":"/apps/0/elements/1/config","value":{}}`)), want: "409 413 422"},
		{name: "a path of 1 MB", send: patch(small, `{"op":"remove","path":"`+strings.Repeat("/a", 400_000)+`"}`), want: "422"},
		{name: "a path of 300,000 tildes", send: patch(small, `{"op":"remove","path":"/`+strings.Repeat("~1~0", 100_000)+`"}`), want: "422"},
		{name: "a wide object of empty names", send: patch(other, `{"op":"add","path":"/apps/0/elements/0/config/","value":{"":{"":{"":1}}}},`+repeat(500, `{"op":"test","path":"/apps/0/elements/0/config///","value":1}`)), want: "200 409 413 422"},

		{name: "no test of the version", send: raw(small, `[{"op":"replace","path":"/apps/0/title","value":"x"}]`), want: "400"},
		{name: "a test of null", send: raw(small, `[{"op":"test","path":"/apps/0/version","value":null},{"op":"replace","path":"/apps/0/title","value":"x"}]`), want: "400"},
		{name: "a test of nothing", send: raw(small, `[{"op":"test","path":"/apps/0/version"},{"op":"replace","path":"/apps/0/title","value":"x"}]`), want: "400"},
		{name: "a test of the tested", send: raw(small, `[{"op":"replace","path":"/apps/0/version","value":"7"},{"op":"test","path":"/apps/0/version","value":"7"}]`), want: "409"},
		{name: "a shadow app", send: raw(small, `[{"op":"add","path":"/apps/0","value":{"version":"7"}},{"op":"test","path":"/apps/0/version","value":"7"}]`), want: "409"},
		{name: "two tests, one stale", send: patch(small, `{"op":"test","path":"/apps/0/version","value":"1"},{"op":"replace","path":"/apps/0/title","value":"x"}`), want: "409"},
		{name: "a member twice", send: raw(small, `[{"op":"test","path":"/apps/0/version","value":"0","value":"9"},{"op":"replace","path":"/apps/0/title","value":"x"}]`), want: "400"},
		{name: "a member in another case", send: raw(small, `[{"op":"test","path":"/apps/0/version","Value":"0"},{"op":"replace","path":"/apps/0/title","value":"x"}]`), want: "400"},
	}
	for _, path := range []string{"id", "version", "owner", "owner/urn", "createdAt", "updatedAt", "updatedBy", "elements/0/id", "elements/0/component/main",
		"elements/0/component/configSchema", "elements/0/component/id"} {
		for op, text := range map[string]string{"replace": `"value":"evil"`, "move": `"from":"/apps/0/title"`, "copy": `"from":"/apps/0/title"`, "remove": `"value":0`} {
			attacks = append(attacks, attack{name: op + " " + path, want: "422", send: patch(small, fmt.Sprintf(`{"op":%q,"path":"/apps/0/%s",%s}`, op, path, text))})
		}
	}
	for _, path := range []string{"/apps/-1/title", "/apps/00/title", "/apps/+0/title", "/apps/0x0/title", "/apps/1/title", "zz/apps/0/title", "/apps/0/elements/01/config", "/apps/-/title", "apps/0/title", "/Apps/0/title"} {
		attacks = append(attacks, attack{name: "to " + path, want: "400 422", send: patch(small, fmt.Sprintf(`{"op":"replace","path":%q,"value":"x"}`, path))})
	}
	run(t, s, attacks)
	s.untouched(small)
}

// untouched: no attack has made a version, and what is cached is what is stored.
func (s *server) untouched(id string) {
	s.t.Helper()
	latest, first := s.get("/apps/"+id).want(200), s.get("/apps/"+id+"/versions/0").want(200)
	if latest.body != first.body {
		s.t.Errorf("after the attacks it is\n%s\nand was\n%s", latest.body, first.body)
	}
	if !strings.Contains(first.body, `{"b":[1.10,9007199254740993,"\u00e9"]}`) {
		s.t.Errorf("the config is no longer what was sent: %s", first.body)
	}
}
