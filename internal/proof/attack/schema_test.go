//go:build proof

package attack

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// nested is open n times around inner, closed likewise.
func nested(n int, open, inner, closing string) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
}

// TestSchemas sends schemas that never end, that fetch something or that cost much, and configs that
// are the worst for those that are taken.
func TestSchemas(t *testing.T) {
	s := start(t)
	fetched, address := listen(t)
	file := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(file, []byte(`{"type":"string"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	var attacks []attack
	for name, schema := range map[string]string{
		"a schema that is itself": `{"$ref":"#"}`, "two that are each other": `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
		"allOf of itself": `{"allOf":[{"$ref":"#"}]}`, "anyOf of itself": `{"anyOf":[{"type":"string"},{"$ref":"#"}]}`, "not itself": `{"not":{"$ref":"#"}}`,
		"if itself":                    `{"if":{"$ref":"#"},"then":false}`,
		"recursiveRef":                 `{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveRef":"#"}`,
		"recursiveRef, anchored":       `{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"allOf":[{"$recursiveRef":"#"}]}`,
		"dynamicRef":                   `{"$dynamicAnchor":"a","$dynamicRef":"#a"}`,
		"dynamicRef by allOf":          `{"$dynamicAnchor":"a","allOf":[{"$dynamicRef":"#a"}]}`,
		"draft 4 that is itself":       `{"$schema":"http://json-schema.org/draft-04/schema#","$ref":"#"}`,
		"dependentSchemas of itself":   `{"dependentSchemas":{"a":{"$ref":"#"}}}`,
		"a null subschema":             `{"properties":{"a":null}}`,
		"null items":                   `{"items":null}`,
		"a null in allOf":              `{"allOf":[null]}`,
		"no types":                     `{"type":[]}`,
		"null":                         `null`,
		"a list":                       `[]`,
		"http":                         `{"$ref":"http://` + address + `/a.json"}`,
		"http by $id":                  `{"$id":"http://` + address + `/a.json","$ref":"b.json"}`,
		"http by $schema":              `{"$schema":"http://` + address + `/meta.json"}`,
		"https":                        `{"properties":{"a":{"$ref":"https://` + address + `/a.json#/x"}}}`,
		"a file":                       `{"$ref":"file://` + file + `"}`,
		"a file by $id":                `{"$id":"file://` + filepath.Dir(file) + `/","$ref":"schema.json"}`,
		"a file by path":               `{"$ref":"` + file + `"}`,
		"a relative path":              `{"$ref":"../../../../../../../..` + file + `"}`,
		"a pointer out of it":          `{"$ref":"#/no/such"}`,
		"a pointer into data":          `{"const":{"a":{"type":"string"}},"$ref":"#/const/a/x"}`,
		"200 KB of pattern":            `{"pattern":"` + strings.Repeat("a", 200<<10) + `"}`,
		"a pattern that will not do":   `{"pattern":"("}`,
		"patterns of 5 KB in all":      `{"allOf":[` + repeat(50, `{"pattern":"`+strings.Repeat("a", 100)+`"}`) + `]}`,
		"a pattern that grows":         `{"pattern":"((((a{0,100}){0,100}){0,100}){0,100}){0,100}"}`,
		"a pattern name that grows":    `{"patternProperties":{"((((a{0,100}){0,100}){0,100}){0,100}){0,100}":true}}`,
		"65 deep":                      nested(65, `{"items":`, "{}", "}"),
		"257 KB":                       `{"description":"` + strings.Repeat("x", 257<<10) + `"}`,
		"10^5 references to one":       `{"allOf":[` + repeat(15_000, `{"$ref":"#/$defs/a"}`) + `],"$defs":{"a":{"$ref":"#"}}}`,
		"a $ref in properties of $ref": `{"properties":{"$ref":{"$ref":"#/properties"}}}`,
	} {
		attacks = append(attacks, attack{name: name, want: "400", send: func(s *server) reply { return s.component(name, schema) }})
	}
	attacks = append(attacks, configAttacks(s)...)
	run(t, s, attacks)
	if n := fetched.Load(); n > 0 {
		t.Errorf("the server has made %d connections to fetch schemas", n)
	}
}

// listen counts connections to an address.
func listen(t *testing.T) (*atomic.Int64, string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var n atomic.Int64
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n.Add(1)
			c.Close()
		}
	}()
	return &n, l.Addr().String()
}

// oneConfig is what checking one config may cost: a quarter of a second is promised of a core that
// has nothing else to do.
const oneConfig = 600 * time.Millisecond

// configAttacks make a component whose schema may be taken, and send it a config.
func configAttacks(s *server) (attacks []attack) {
	fan := `{"$ref":"#/$defs/0","$defs":{`
	for i := range 18 {
		fan += fmt.Sprintf(`"%d":{"allOf":[{"$ref":"#/$defs/%d"},{"$ref":"#/$defs/%[2]d"}]},`, i, i+1)
	}
	fan += `"18":{"required":["no"]}}}`
	var unique strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&unique, `,{"id":%d,"name":"x"}`, i)
	}
	for name, c := range map[string]struct{ schema, config string }{
		"2^18 times allOf":           {fan, `{"a":1}`},
		"2^18 times anyOf":           {strings.ReplaceAll(fan, "allOf", "anyOf"), `{"a":1}`},
		"2^18 times oneOf":           {strings.ReplaceAll(fan, "allOf", "oneOf"), `{"a":1}`},
		"a pattern of nested counts": {`{"properties":{"a":{"pattern":"((a{0,100}){0,10}){0,1}$"}}}`, `{"a":"` + strings.Repeat("a", 200<<10) + `"}`},
		"a pattern of alternatives":  {`{"properties":{"a":{"pattern":"^(a|a|aa|aaa)*b$"}}}`, `{"a":"` + strings.Repeat("a", 1<<20) + `"}`},
		"20,000 unique objects":      {`{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[` + unique.String()[1:] + `]}`},
		"100,000 unique numbers":     {`{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[` + repeat(100_000, "#") + `]}`},
		"contains, over and over":    {`{"properties":{"a":{"contains":{"contains":{"const":1}}}}}`, `{"a":[` + repeat(1000, `[`+strings.Repeat("2,", 500)+`2]`) + `]}`},
		"a number of 10^6 digits":    {`{"properties":{"a":{"multipleOf":0.0000001,"minimum":3}}}`, `{"a":` + strings.Repeat("7", 1_000_000) + `}`},
		"an exponent of 10^9":        {`{"properties":{"a":{"multipleOf":3}}}`, `{"a":1e1000000000}`},
		"an exponent of -10^9":       {`{"properties":{"a":{"multipleOf":3}}}`, `{"a":1e-1000000000}`},
		"a const of great exponent":  {`{"properties":{"a":{"const":1e999999999}}}`, `{"a":10e999999998}`},
		"recursion along the config": {`{"properties":{"a":{"$ref":"#"}},"anyOf":[{"required":["x"]},{"required":["y"]},{"required":["a"]}]}`, nested(60, `{"a":`, "{}", "}")},
		"branches at every level":    {`{"anyOf":[{"properties":{"a":{"$ref":"#"}},"required":["x"]},{"properties":{"a":{"$ref":"#"}},"required":["y"]}]}`, nested(58, `{"a":`, "{}", "}")},
		"unevaluatedProperties":      {`{"unevaluatedProperties":false,"allOf":[` + repeat(30, `{"properties":{"a#":true}}`) + `]}`, `{` + repeat(40_000, `"a#":1`) + `}`},
		"many pattern properties":    {`{"patternProperties":{` + repeat(100, `"^a#.*x$":{"type":"string"}`) + `}}`, `{` + repeat(20_000, `"a#b":1`) + `}`},
		"an enum of a thousand":      {`{"properties":{"a":{"items":{"enum":[` + repeat(5000, `{"v":#}`) + `]}}}}`, `{"a":[` + repeat(5000, `{"v":"#"}`) + `]}`},
		"a thousand faults":          {`{"properties":{"a":{"items":{"type":"string"}}}}`, `{"a":[` + repeat(300_000, "1") + `]}`},
	} {
		attacks = append(attacks, attack{name: name, want: "201 400 413 422", cpu: oneConfig, mib: 100, send: func(s *server) reply {
			if r := s.component(name, c.schema); r.status != 201 {
				return r
			}
			return s.app(name, c.config)
		}})
	}
	s.component("dear", `{"properties":{"a":{"uniqueItems":true}}}`).want(201)
	list := `{"a":[` + repeat(2000, `{"v":#}`) + `]}`
	return append(attacks, attack{name: "forty dear configs in one request", want: "201 413 422", cpu: oneConfig, send: func(s *server) reply {
		return s.app("dear", strings.Split(strings.Repeat(list+";", 40), ";")[:40]...)
	}})
}
