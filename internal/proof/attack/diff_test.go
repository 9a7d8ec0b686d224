//go:build proof

package attack

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestDiffs compares versions that have little in common and much to compare. The work is bounded, and so is the
// memory.
func TestDiffs(t *testing.T) {
	s := start(t)
	s.component("any", "{}").want(201)
	configs := func(n int, text string) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = strings.ReplaceAll(text, "#", fmt.Sprint(i))
		}
		return out
	}
	elements := func(configs []string) string {
		for i, c := range configs {
			configs[i] = `{"component":{"name":"any","version":"1.0.0"},"config":` + c + `}`
		}
		return "[" + strings.Join(configs, ",") + "]"
	}
	list := func(n int, text string) []string { return []string{`{"list":[` + repeat(n, text) + `]}`} }
	var attacks []attack
	for name, c := range map[string]struct{ from, to []string }{
		"lists of different numbers": {list(450_000, `#`), list(120_000, `-#`)},
		"objects of objects": {[]string{"{" + repeat(100_000, `"a#":{"b":[#]}`) + "}"},
			[]string{"{" + repeat(40_000, `"a#":{"b":[0]}`) + "}"}},
		"deep objects around a long text": {
			[]string{nested(50, `{"a":`, `{"b":"`+strings.Repeat("x", 3<<20)+`"}`, "}")},
			[]string{nested(50, `{"a":`, `{"b":"`+strings.Repeat("x", 900<<10)+`"}`, "}")}},
		"a thousand elements that resemble each other": {configs(1000,
			`{"a":"one two three four five six seven eight nine ten eleven #","b":1,"c":true}`),
			configs(1000, `{"a":"eleven ten nine eight seven six five four three two one # #","b":1,"c":false}`)},
		"a thousand texts of a thousand words": {configs(900,
			`{"a":"`+strings.TrimSpace(strings.Repeat("word# text# ", 200))+`"}`),
			configs(200, `{"a":"`+strings.TrimSpace(strings.Repeat("text# other# ", 150))+`"}`)},
	} {
		id := s.newApp("any", c.from...)
		s.patch(id, `{"op":"replace","path":"/apps/0/elements","value":`+elements(c.to)+`}`).want(200)
		for _, path := range []string{"versions/0/diff/1", "history"} {
			attacks = append(attacks,
				attack{name: name + ", " + path, want: "200", cpu: 600 * time.Millisecond, mib: 100,
					send: func(s *server) reply { return s.get("/apps/" + id + "/" + path) }})
		}
	}
	run(t, s, attacks)
}
