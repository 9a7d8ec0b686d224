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

// nested is open n times around inner, closed likewise.
func nested(n int, open, inner, closing string) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
}

const version0 = `{"op":"test","path":"/apps/0/version","value":"0"}`

// TestPatches sends patches that cost much. What a patch may do is tested by appsvc.
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
		{name: "20,000 operations", send: raw(small, "["+repeat(20_000, `{"op":"test","path":"","value":1}`)+"]"),
			want: "413"},
		{name: "index 10^9", send: patch(small, `{"op":"add","path":"/apps/0/elements/1000000000","value":{}}`),
			want: "422"},
		{name: "index 10^9 in a list", send: patch(large, `{"op":"add","path":"`+list+`/1000000000","value":1}`),
			want: "422"},
		{name: "index beyond any integer",
			send: patch(small, `{"op":"add","path":"/apps/0/elements/99999999999999999999","value":{}}`), want: "422"},
		{name: "a list copied into itself 40 times",
			send: patch(small,
				repeat(40, `{"op":"copy","from":"/apps/0/elements/1/config/b",`+
					`"path":"/apps/0/elements/1/config/b/-"}`)), want: "413"},
		{name: "a config copied into itself 40 times",
			send: patch(small,
				repeat(40, `{"op":"copy","from":"/apps/0/elements/0/config","path":"/apps/0/elements/0/config/a#"}`)),
			want: "413"},
		{name: "the document copied into itself",
			send: patch(small, repeat(30, `{"op":"copy","from":"","path":"/apps/0/elements/0/config/a#"}`)),
			want: "413"},
		{name: "2 MiB copied 900 times",
			send: patch(large,
				repeat(900, `{"op":"copy","from":"/apps/0/elements/0/config","path":"/apps/0/elements/0/config/a#"}`)),
			want: "413"},
		{name: "900 items put before 400,000",
			send: patch(large, repeat(900, `{"op":"add","path":"`+list+`/0","value":1}`)), want: "413"},
		{name: "900 items taken from before 400,000",
			send: patch(large, repeat(900, `{"op":"remove","path":"`+list+`/0"}`)), want: "413"},
		{name: "900 items moved to and fro",
			send: patch(large, repeat(900, `{"op":"move","from":"`+list+`/0","path":"`+list+`/300000"}`)), want: "413"},
		{name: "tests and changes by turns",
			send: patch(large,
				repeat(450, `{"op":"replace","path":"`+list+`/0","value":#},{"op":"test","path":"`+list+
					`/0","value":#}`)), want: "413"},
		{name: "900 elements moved",
			send: patch(wide, repeat(900, `{"op":"move","from":"/apps/0/elements/999","path":"/apps/0/elements/0"}`)),
			want: "200 413"},
		{name: "a thousand elements more",
			send: patch(wide, repeat(900, `{"op":"copy","from":"/apps/0/elements/0","path":"/apps/0/elements/-"}`)),
			want: "409 413 422"},
		{name: "a value 60 deep, a hundred times",
			send: patch(other,
				repeat(100, `{"op":"add","path":"/apps/0/elements/0/config/a","value":`+strings.Repeat("[", 58)+
					strings.Repeat("]", 58)+`}`)), want: "200 422"},
		{name: "deeper and deeper",
			send: patch(small,
				repeat(30, `{"op":"move","from":"/apps/0/elements/1/config","path":"/apps/0/elements/1"},`+
					`{"op":"add","path":"/apps/0/elements/1/config","value":{}}`)), want: "409 413 422"},
		{name: "a path of 1 MB", send: patch(small, `{"op":"remove","path":"`+strings.Repeat("/a", 400_000)+`"}`),
			want: "422"},
		{name: "a path of 300,000 tildes",
			send: patch(small, `{"op":"remove","path":"/`+strings.Repeat("~1~0", 100_000)+`"}`), want: "422"},
		{name: "a wide object of empty names",
			send: patch(other,
				`{"op":"add","path":"/apps/0/elements/0/config/","value":{"":{"":{"":1}}}},`+
					repeat(500, `{"op":"test","path":"/apps/0/elements/0/config///","value":1}`)),
			want: "200 409 413 422"},
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
