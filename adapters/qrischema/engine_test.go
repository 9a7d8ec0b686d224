package qrischema_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/qrischema"
	"github.com/vitrine-go/vitrine/appsvc"
)

func ExampleNew() {
	schema, err := qrischema.New().Compile([]byte(`{"properties": {"size": {"type": "number"}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	violations, err := schema.Validate([]byte(`{"size": "large"}`))
	fmt.Println(violations, err)
	// Output: [/size: type should be number, got string] <nil>
}

func verdict(t *testing.T, engine appsvc.SchemaEngine, schema, config string) bool {
	t.Helper()
	compiled, err := engine.Compile([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	violations, err := compiled.Validate([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	return len(violations) == 0
}

// TestVerdicts tests verdicts that are the same for both engines.
func TestVerdicts(t *testing.T) {
	for _, tc := range []struct {
		schema, config string
		valid          bool
	}{
		{`{}`, `{"a":[1]}`, true},
		{`{"type":"object","required":["a"]}`, `{}`, false},
		{`{"properties":{"a":{"type":"string","maxLength":2}}}`, `{"a":"abc"}`, false},
		{`{"properties":{"a":{"enum":["x","y"]}}}`, `{"a":"x"}`, true},
		{`{"properties":{"a":{}},"additionalProperties":false}`, `{"b":1}`, false},
		{`{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"number","minimum":2}}}`, `[2,3]`, true},
		{`{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"number","minimum":2}}}`, `[2,1]`, false},
		{`{"$id":"https://example.test/a","allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"object"}}}`, `1`, false},
		{`{"oneOf":[{"type":"string"},{"type":"number"}]}`, `true`, false},
		{`{"oneOf":[{"format":"ipv4"},{"format":"ipv6"}]}`, `"::1"`, true},
		{`{"oneOf":[{"format":"ipv4"},{"format":"ipv6"}]}`, `"x"`, false},
		{`{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1}`, false},
		{`{"patternProperties":{"^x":{"type":"number"}}}`, `{"x":""}`, false},
		{`{"uniqueItems":true}`, `[1,2,1]`, false},
	} {
		if got := verdict(t, appsvc.NewSchemaEngine(nil), tc.schema, tc.config); got != tc.valid {
			t.Errorf("default engine, %s, %s: have %v", tc.schema, tc.config, got)
		}
		if got := verdict(t, qrischema.New(), tc.schema, tc.config); got != tc.valid {
			t.Errorf("%s, %s: have %v", tc.schema, tc.config, got)
		}
	}
}

// TestWrongVerdicts tests the faults of the library that the package comment names. If it fails, the library has
// changed, and the comment must be changed too.
func TestWrongVerdicts(t *testing.T) {
	for _, tc := range []struct {
		name, schema, config string
		valid                bool // what is right
	}{
		{"additionalProperties takes what a nested object declares",
			`{"properties":{"a":{"properties":{"b":{}}}},"additionalProperties":false}`, `{"a":{"b":1},"b":1}`, false},
		{"2^53+1 is 2^53", `{"const":9007199254740993}`, `9007199254740992`, false},
		{"multipleOf is a float64 division", `{"multipleOf":0.1}`, `0.3`, true},
		{"dependencies is ignored", `{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]}}`,
			`{"a":1}`, false},
		{"prefixItems is ignored", `{"prefixItems":[{"type":"string"}]}`, `[1]`, false},
		{"$dynamicRef is ignored", `{"$defs":{"a":{"$dynamicAnchor":"a","type":"string"}},"$dynamicRef":"#a"}`, `1`,
			false},
		{"#/definitions is never resolved",
			`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a",` +
				`"definitions":{"a":{"type":"string"}}}`, `"a"`, true},
		{"beside $ref, keywords count in draft 07",
			`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/properties/b",` +
				`"maximum":1},"b":{"type":"number"}}}`, `{"a":5}`, true},
		{"formats are assertions", `{"format":"email"}`, `"x"`, true},
		{"\\s is that of package regexp", `{"pattern":"^\\s$"}`, `"\u00a0"`, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := verdict(t, appsvc.NewSchemaEngine(nil), tc.schema, tc.config); got != tc.valid {
				t.Errorf("the default engine says %v", got)
			}
			if got := verdict(t, qrischema.New(), tc.schema, tc.config); got == tc.valid {
				t.Errorf("the verdict is right: %v", got)
			}
		})
	}
	t.Run("a number beyond float64 has no verdict", func(t *testing.T) {
		compiled, err := qrischema.New().Compile([]byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := compiled.Validate([]byte(`1e400`)); err == nil {
			t.Error("want an error")
		}
	})
	t.Run("exclusiveMinimum of draft 04 is refused", func(t *testing.T) {
		if _, err := qrischema.New().Compile([]byte(`{"minimum":1,"exclusiveMinimum":true}`)); err == nil {
			t.Error("want an error")
		}
	})
}

// TestViolations tests what each keyword of the library reports.
func TestViolations(t *testing.T) {
	for _, tc := range []struct{ schema, config, pointer, keyword string }{
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":1}`, "/a", "type"},
		{`{"properties":{"a":{"type":["string","null"]}}}`, `{"a":1}`, "/a", "type"},
		{`{"properties":{"a/b":{"enum":["x"]}}}`, `{"a/b":1}`, "/a~1b", "enum"},
		{`{"items":{"const":1}}`, `[2]`, "/0", "const"},
		{`{"multipleOf":2}`, `3`, "", "multipleOf"},
		{`{"maximum":2}`, `3`, "", "maximum"},
		{`{"minimum":2}`, `-1`, "", "minimum"},
		{`{"exclusiveMaximum":-2.5}`, `-2.5`, "", "exclusiveMaximum"},
		{`{"exclusiveMinimum":2}`, `2`, "", "exclusiveMinimum"},
		{`{"maxLength":1}`, `"ab"`, "", "maxLength"},
		{`{"minLength":1}`, `""`, "", "minLength"},
		{`{"pattern":"^a"}`, `"b"`, "", "pattern"},
		{`{"format":"email"}`, `"b"`, "", "format"},
		{`{"maxItems":1}`, `[1,2]`, "", "maxItems"},
		{`{"minItems":1}`, `[]`, "", "minItems"},
		{`{"uniqueItems":true}`, `[1,1]`, "", "uniqueItems"},
		{`{"contains":{"type":"string"}}`, `[1]`, "", "contains"},
		{`{"additionalProperties":false}`, `{"a":1}`, "", "additionalProperties"},
		{`{"maxProperties":0}`, `{"a":1}`, "", "maxProperties"},
		{`{"minProperties":1}`, `{}`, "", "minProperties"},
		{`{"required":["a"]}`, `{}`, "", "required"},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, "", "dependentRequired"},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, "", "anyOf"},
		{`{"oneOf":[{},{}]}`, `1`, "", "oneOf"},
		{`{"oneOf":[{"type":"string"},{"type":"null"}]}`, `1`, "", "oneOf"},
		{`{"not":{}}`, `1`, "", "not"},
	} {
		compiled, err := qrischema.New().Compile([]byte(tc.schema))
		if err != nil {
			t.Fatal(err)
		}
		violations, err := compiled.Validate([]byte(tc.config))
		if err != nil || !slices.ContainsFunc(violations, func(v vitrine.Violation) bool {
			return v.Pointer == tc.pointer && v.Keyword == tc.keyword && v.Message != ""
		}) {
			t.Errorf("%s, %s: have %+v, %v, want %q at %q", tc.schema, tc.config, violations, err, tc.keyword,
				tc.pointer)
		}
	}
	t.Run("a hundred at most, the same each time", func(t *testing.T) {
		compiled, err := qrischema.New().Compile([]byte(`{"items":{"additionalProperties":{"type":"string"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		config := "[" + strings.Repeat(`{"a":1,"b":2,"c":3},`, 60) + "{}]"
		first, err := compiled.Validate([]byte(config))
		if err != nil || len(first) != 100 {
			t.Fatalf("%d violations, %v", len(first), err)
		}
		for range 5 {
			if have, _ := compiled.Validate([]byte(config)); !slices.Equal(first, have) {
				t.Fatalf("%v, then %v", first, have)
			}
		}
	})
}

func TestCompileRefuses(t *testing.T) {
	for _, tc := range []struct{ name, schema, says string }{
		{"not JSON", `{`, "not JSON"},
		{"itself", `{"$ref":"#"}`, "no recursive schemas"},
		{"itself in allOf", `{"allOf":[{"$ref":"#"}]}`, "no recursive schemas"},
		{"recursion through properties", `{"properties":{"a":{"$ref":"#"}}}`, "no recursive schemas"},
		{"recursion through a definition", `{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/a"}}}}`,
			"no recursive schemas"},
		{"each other", `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"not":{"$ref":"#/$defs/a"}}}}`, "no recursive schemas"},
		{"recursion beside a reference, draft 07",
			`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/$defs/a","allOf":[{"$ref":"#"}],` +
				`"$defs":{"a":{}}}`, "no recursive schemas"},
		{"$recursiveRef", `{"properties":{"a":{"$recursiveRef":"#"}}}`, "no recursive schemas"},
		{"an index into items that is none", `{"items":{"0":{},"$ref":"#/items/0"}}`, "through items"},
		{"an anchor", `{"$ref":"#a","$defs":{"x":{"$anchor":"a"}}}`, "JSON pointer"},
		{"an escape", `{"$ref":"#/$defs/a~1b","$defs":{"a/b":{}}}`, "JSON pointer"},
		{"an encoded character", `{"$ref":"#/%24defs/a","$defs":{"a":{}}}`, "JSON pointer"},
		{"an embedded id", `{"$defs":{"a":{"$id":"http://127.0.0.1:1/a"}}}`, "id at the root only"},
		{"a pattern that does not compile", `{"pattern":"\\u0041"}`, "error unmarshaling pattern"},
		{"a pattern that looks ahead", `{"pattern":"^(?!x)"}`, "error unmarshaling pattern"},
		{"a property name that looks ahead", `{"patternProperties":{"^(?!x)":{}}}`,
			"error unmarshaling patternProperties"},
		{"a pattern that refers back", `{"pattern":"(a)\\1"}`, "error unmarshaling pattern"},
		{"format regex", `{"properties":{"a":{"format":"regex"}}}`, "does not take the format regex"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := qrischema.New().Compile([]byte(tc.schema)); err == nil ||
				!strings.Contains(err.Error(), tc.says) {
				t.Errorf("have %v, want an error that says %q", err, tc.says)
			}
		})
	}
}

func TestFetchesNothing(t *testing.T) {
	var connections atomic.Int32
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	file := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(file, []byte(`{"type":"string"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{server.URL + "/a", "file://" + file} {
		for _, schema := range []string{`{"$ref":"URL"}`, `{"$ref":"URL#/a"}`, `{"$id":"URL","$ref":"b"}`,
			`{"$recursiveRef":"URL"}`, `{"$id":"URL","$defs":{"a":{}},"allOf":[{"$ref":"#/$defs/a"}]}`,
			`{"$schema":"URL","$id":"URL","definitions":{"a":{}},"$ref":"#/definitions/a"}`} {
			compiled, err := qrischema.New().Compile([]byte(strings.ReplaceAll(schema, "URL", url)))
			if err != nil {
				continue
			}
			violations, err := compiled.Validate([]byte(`1`))
			if err != nil || strings.Contains(fmt.Sprint(violations), "want string") {
				t.Errorf("%s: %v, %v", schema, violations, err)
			}
		}
	}
	server.Close()
	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestSameIDInParallel(t *testing.T) {
	engine := qrischema.New()
	var all sync.WaitGroup
	for i := range 16 {
		all.Add(1)
		go func() {
			defer all.Done()
			kind, config := "string", `"a"`
			if i%2 == 0 {
				kind, config = "number", `1`
			}
			schema, err := engine.Compile(fmt.Appendf(nil,
				`{"$id":"https://example.test/a","$ref":"#/$defs/x","$defs":{"x":{"type":%q}}}`, kind))
			if err != nil {
				t.Error(err)
				return
			}
			for range 50 {
				if violations, err := schema.Validate([]byte(config)); err != nil || len(violations) > 0 {
					t.Error(violations, err)
				}
				if violations, err := schema.Validate([]byte(`true`)); err != nil || len(violations) == 0 {
					t.Error("validated against another schema", err)
				}
			}
		}()
	}
	all.Wait()
}

func TestCostIsBounded(t *testing.T) {
	items := func(n int, element string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
	}
	fan := `{"type":"string"}`
	for range 10 {
		fan = `{"type":"string","allOf":[` + fan + `,` + fan + `]}`
	}
	for _, tc := range []struct {
		name, schema, config string
		refused              bool
	}{
		{"a thousand items", `{"items":{"type":"object","properties":{"a":{"type":"number"}},"required":["a"]}}`,
			items(1000, `{"a":1}`), false},
		{"a million items", `{"items":{"type":"number"}}`, items(500_000, "1"), true},
		{"unique items", `{"uniqueItems":true}`, items(20_000, "1"), true},
		{"fan-out behind a wrong type", `{"items":` + fan + `}`, items(1000, "1"), true},
		{"a pattern behind a wrong type", `{"type":"number","pattern":"((a{0,100}){0,10}){0,1}$"}`,
			`"` + strings.Repeat("a", 200_000) + `"`, true},
		{"a long text many times", `{"allOf":` + items(200, `{"maxLength":1}`) + `}`,
			`"` + strings.Repeat("a", 1<<20) + `"`, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			schema, err := qrischema.New().Compile([]byte(tc.schema))
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			_, err = schema.Validate([]byte(tc.config))
			if (err != nil) != tc.refused {
				t.Errorf("have %v, want refused %v", err, tc.refused)
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("took %v", took)
			}
		})
	}
}

func FuzzCompileAndValidate(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"$ref":"#/$defs/a","$defs":{"a":{"items":{"type":"string"}}}}`, `["a",1]`},
		{`{"items":{"0":{},"$ref":"#/items/0"}}`, `[[[]]]`},
		{`{"dependentSchemas":{"a":{"required":["b"]}},"unevaluatedProperties":false}`, `{"a":1}`},
		{`{"oneOf":[{"const":1},{"not":{}}],"contains":{},"uniqueItems":true}`, `[1,1]`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, schema, config []byte) {
		if _, err := appsvc.NewSchemaEngine(nil).Compile(schema); err != nil {
			return // the guard keeps it out
		}
		compiled, err := qrischema.New().Compile(schema)
		if err != nil {
			return
		}
		_, _ = compiled.Validate(config)
	})
}
