//go:build proof

package attack

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestDefaults reads apps whose configs, completed with the defaults of their schemas, would be very large
// or take very long. The configs themselves are good, so that the apps are there.
func TestDefaults(t *testing.T) {
	s := start(t)
	multiply := `{"$ref":"#/$defs/n","$defs":{"n":{"properties":{`
	for i := range 12 {
		multiply += fmt.Sprintf(`"p%d":{"default":{"v":%d},"$ref":"#/$defs/n"},`, i, i)
	}
	multiply = strings.TrimSuffix(multiply, ",") + `}}}}`
	const inItems = `{"properties":{"a":{"items":{"properties":{"b":{"default":%s}}}}}}`
	objects := func(n int) string { return `{"a":[` + repeat(n, `{}`) + `]}` }
	var attacks []attack
	for name, c := range map[string]struct {
		schema  string
		configs []string
		want    string
	}{
		"defaults that multiply": {multiply, []string{`{}`}, "422"},
		"a large default in many items": {fmt.Sprintf(inItems, `"`+strings.Repeat("x", 100<<10)+`"`),
			[]string{objects(1000)}, "422"},
		"a small default in 100,000 items": {fmt.Sprintf(inItems, "1"), []string{objects(100_000)}, "200 422"},
		"an anchor in a large schema": {`{"properties":{"a":{"items":{"properties":{"b":{"$ref":"#x"}}}}},` +
			`"$defs":{"x":{"$anchor":"x"},` + repeat(3000, `"d#":{}`) + `}}`, []string{objects(30_000)}, "200 422"},
		"forty elements with many properties": {`{"properties":{` + repeat(3000, `"p#":{}`) + `}}`,
			strings.Split(strings.Repeat("{};", 39)+"{}", ";"), "200 422"},
		"lists in lists": {`{"properties":{"a":{"$ref":"#/$defs/x"}},` +
			`"$defs":{"x":{"items":{"$ref":"#/$defs/x"}}}}`, []string{`{"a":[` + repeat(50_000, `[]`) + `]}`},
			"200 422"},
		"a default within itself, sixty levels": {`{"properties":{"a":{"$ref":"#","default":{}}}}`,
			[]string{nested(50, `{"a":`, "{}", "}")}, "200"},
		"many alternatives of one property": {`{"allOf":[` + repeat(900, `{"properties":{"a":{"title":"#"}}}`) + `]}`,
			[]string{`{"a":{}}`}, "200 422"},
	} {
		if r := s.component(name, c.schema); r.status != 201 {
			t.Fatalf("%s: %s", name, r.body)
		}
		path := "/apps/" + s.newApp(name, c.configs...) + "?withDefaults=true"
		attacks = append(attacks,
			attack{name: name, want: c.want, cpu: 600 * time.Millisecond, mib: 100, send: func(s *server) reply {
				return s.get(path)
			}})
	}
	run(t, s, attacks)
}
