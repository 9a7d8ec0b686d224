package appsvc

import (
	"encoding/json"
	"errors"
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

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
)

// TestSchemaVerdicts has a valid and an invalid config for each keyword, and for what drafts differ in.
func TestSchemaVerdicts(t *testing.T) {
	const (
		d4 = `{"$schema":"http://json-schema.org/draft-04/schema#",`
		d6 = `{"$schema":"http://json-schema.org/draft-06/schema#",`
		d7 = `{"$schema":"http://json-schema.org/draft-07/schema#",`
		d9 = `{"$schema":"https://json-schema.org/draft/2019-09/schema",`
		d0 = `{"$schema":"https://json-schema.org/draft/2020-12/schema",`
	)
	for _, tc := range []struct{ name, schema, valid, invalid, says string }{
		{"type", `{"type":"object"}`, `{}`, `[]`, "want object, have array"},
		{"types", `{"type":["string","null"]}`, `null`, `1`, "want null or string, have number"},
		{"integer", `{"type":"integer"}`, `1.0`, `1.5`, "want integer"},
		{"enum", `{"enum":["a",{"b":1.0}]}`, `{"b":1}`, `"b"`, `want one of "a", {"b":1.0}`},
		{"const", `{"const":null}`, `null`, `false`, "want null"},
		{"multipleOf", `{"multipleOf":0.1}`, `0.3`, `0.35`, "not a multiple of 0.1"},
		{"minimum", `{"minimum":2}`, `2`, `1.9`, "want at least 2"},
		{"maximum", `{"maximum":2}`, `2`, `2.1`, "want at most 2"},
		{"exclusiveMinimum", `{"exclusiveMinimum":2}`, `2.1`, `2`, "want more than 2"},
		{"exclusiveMaximum", `{"exclusiveMaximum":2}`, `1.9`, `2`, "want less than 2"},
		{"exclusiveMinimum, draft 04", d4 + `"minimum":2,"exclusiveMinimum":true}`, `3`, `2`, "want more than 2"},
		{"numbers beyond float64", `{"const":9007199254740993}`, `9007199254740993`, `9007199254740992`,
			"9007199254740993"},
		{"bounds beyond float64", `{"maximum":9007199254740992}`, `9007199254740992`, `9007199254740993`,
			"at most 9007199254740992"},
		{"minLength counts characters", `{"minLength":2}`, `"éé"`, `"é"`, "1 character, want at least 2"},
		{"maxLength", `{"maxLength":1}`, `"𝄞"`, `"ab"`, "2 characters, want at most 1"},
		{"pattern", `{"pattern":"^\\d+\\/$"}`, `"12/"`, `"x"`, "does not match the pattern"},
		{"a pattern that looks ahead", `{"pattern":"^(?!x-)[a-z-]+$"}`, `"a-x"`, `"x-a"`, "does not match the pattern"},
		{"a pattern that looks behind", `{"pattern":"(?<!-)$"}`, `"a"`, `"a-"`, "does not match the pattern"},
		{"a pattern that refers back", `{"pattern":"^(['\"]).*\\1$"}`, `"'a'"`, `"'a\""`, "does not match the pattern"},
		{"a property name that looks ahead",
			`{"patternProperties":{"^(?!x-)":{"type":"number"}},"additionalProperties":{"type":"string"}}`,
			`{"a":1,"x-a":""}`, `{"a":"","x-a":""}`, "/a: want number"},
		{"minItems", `{"minItems":1}`, `[1]`, `[]`, "0 items, want at least 1"},
		{"maxItems", `{"maxItems":1}`, `[1]`, `[1,2]`, "2 items, want at most 1"},
		{"uniqueItems", `{"uniqueItems":true}`, `[1,true]`, `[1,{},1.0]`, "items 0 and 2 are equal"},
		{"items", `{"items":{"type":"number"}}`, `[1]`, `[1,"a"]`, "/1: want number"},
		{"items by position, draft 07", d7 + `"items":[true],"additionalItems":false}`, `[1]`, `[1,2]`,
			"the last item is not allowed"},
		{"prefixItems", `{"prefixItems":[{"type":"string"}],"items":false}`, `["a"]`, `["a",1]`,
			"/1: nothing is allowed"},
		{"contains", `{"contains":{"type":"string"}}`, `[1,"a"]`, `[1]`, "/0: want string"},
		{"minContains", `{"contains":{"const":1},"minContains":2}`, `[1,1]`, `[1]`,
			"1 item found that contains asks for, want at least 2"},
		{"maxContains", `{"contains":{"const":1},"maxContains":1}`, `[1]`, `[1,1]`, "want at most 1"},
		{"unevaluatedItems", `{"allOf":[{"prefixItems":[true]}],"unevaluatedItems":false}`, `[1]`, `[1,2]`,
			"/1: nothing"},
		{"properties", `{"properties":{"a":{"type":"number"}}}`, `{"a":1,"b":""}`, `{"a":""}`, "/a: want number"},
		{"an escaped property", `{"properties":{"a/b~c":{"type":"number"}}}`, `{}`, `{"a/b~c":""}`,
			"/a~1b~0c: want number"},
		{"patternProperties", `{"patternProperties":{"^x":{"type":"number"}}}`, `{"x":1,"y":""}`, `{"x":""}`,
			"/x: want number"},
		{"additionalProperties", `{"properties":{"a":{}},"additionalProperties":false}`, `{"a":1}`, `{"b":1,"c":1}`,
			`not allowed: "b", "c"`},
		{"additionalProperties beside a nested property",
			`{"properties":{"a":{"properties":{"b":{}}}},"additionalProperties":false}`, `{"a":{"b":1}}`,
			`{"a":{"b":1},"b":1}`, `not allowed: "b"`},
		{"unevaluatedProperties", `{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}`, `{"a":1}`,
			`{"b":1}`, "/b: nothing"},
		{"required", `{"required":["a","b"]}`, `{"a":1,"b":1}`, `{}`, `missing: "a", "b"`},
		{"minProperties", `{"minProperties":1}`, `{"a":1}`, `{}`, "0 members, want at least 1"},
		{"maxProperties", `{"maxProperties":0}`, `{}`, `{"a":1}`, "1 member, want at most 0"},
		{"propertyNames", `{"propertyNames":{"maxLength":1}}`, `{"a":1}`, `{"ab":1}`, "2 characters"},
		{"dependentRequired", `{"dependentRequired":{"a":["b"]}}`, `{"b":1}`, `{"a":1}`, `missing beside "a": "b"`},
		{"dependentSchemas", `{"dependentSchemas":{"a":{"required":["b"]}}}`, `{"a":1,"b":1}`, `{"a":1}`,
			`missing: "b"`},
		{"dependencies, draft 04", d4 + `"dependencies":{"a":["b"]}}`, `{"a":1,"b":1}`, `{"a":1}`,
			`missing beside "a": "b"`},
		{"dependencies, draft 06", d6 + `"dependencies":{"a":false}}`, `{"b":1}`, `{"a":1}`, "nothing is allowed"},
		{"allOf", `{"allOf":[{"minimum":1},{"maximum":3}]}`, `2`, `4`, "want at most 3"},
		{"anyOf", `{"anyOf":[{"type":"string"},{"minimum":3}]}`, `3`, `2`, "want string, have number; want at least 3"},
		{"oneOf, none", `{"oneOf":[{"type":"string"},{"type":"null"}]}`, `null`, `2`, "want string, have number"},
		{"oneOf, two", `{"oneOf":[{"type":"number"},{"minimum":3}]}`, `1`, `4`, "alternatives 0 and 1"},
		{"not", `{"not":{"type":"string"}}`, `1`, `"a"`, "what not excludes"},
		{"if, then", `{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{}`, `{"a":1}`, `missing: "b"`},
		{"if, else", d7 + `"if":{"required":["a"]},"else":{"required":["b"]}}`, `{"a":1}`, `{}`, `missing: "b"`},
		{"if is not known to draft 06", d6 + `"type":"object","if":true,"then":false}`, `{}`, `1`, "want object"},
		{"$ref", `{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, `""`, `1`, "want string"},
		{"$ref alone counts, draft 07",
			d7 + `"$ref":"#/definitions/a","maximum":1,"definitions":{"a":{"type":"number"}}}`, `5`, `""`,
			"want number"},
		{"beside $ref, 2019-09", d9 + `"$ref":"#/$defs/a","maximum":1,"$defs":{"a":{"type":"number"}}}`, `1`, `5`,
			"want at most 1"},
		{"$anchor", `{"$ref":"#a","$defs":{"x":{"$anchor":"a","type":"string"}}}`, `""`, `1`, "want string"},
		{"an embedded $id",
			d0 + `"$id":"https://example.test/a/","$ref":"b","$defs":{"x":{"$id":"b","type":"string"}}}`, `""`, `1`,
			"want string"},
		{"$recursiveRef",
			d9 + `"$recursiveAnchor":true,"properties":{"a":{"$recursiveRef":"#"}},"additionalProperties":false}`,
			`{"a":{"a":{}}}`, `{"a":{"b":1}}`, `/a: not allowed: "b"`},
		{"$dynamicRef to the outermost",
			d0 + `"$id":"https://example.test/strict","$dynamicAnchor":"n","$ref":"loose","unevaluatedProperties":false,
			"$defs":{"l":{"$id":"loose","$dynamicAnchor":"n","properties":{"kids":{"items":{"$dynamicRef":"#n"}}}}}}`,
			`{"kids":[{}]}`, `{"kids":[{"kid":[]}]}`, "/kids/0/kid: nothing"},
		{"a meta-schema", `{"$ref":"http://json-schema.org/draft-07/schema#"}`, `{"type":"object"}`, `{"type":"text"}`,
			"/type"},
		{"formats are annotations", d4 + `"type":"string","format":"date-time"}`, `"yesterday"`, `1`, "want string"},
		{"also regex", d7 + `"type":"string","format":"regex"}`, `"("`, `1`, "want string"},
		{"content is an annotation",
			`{"type":"string","contentEncoding":"base64","contentMediaType":"application/json"}`, `"?"`, `1`,
			"want string"},
		{"false", `{"properties":{"a":false}}`, `{}`, `{"a":1}`, "/a: nothing is allowed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSchemas(nil)
			if err := s.check([]byte(tc.schema)); err != nil {
				t.Fatal(err)
			}
			if err := s.validate([]byte(tc.schema), []byte(tc.valid)); err != nil {
				t.Errorf("%s: %v", tc.valid, err)
			}
			if err := s.validate([]byte(tc.schema), []byte(tc.invalid)); err == nil ||
				!strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: have %v, want an error that says %q", tc.invalid, err, tc.says)
			}
		})
	}
}

func TestSchemaSentences(t *testing.T) {
	s := newSchemas(nil)
	const schema = `{"items":{"type":"string","maxLength":3,"enum":["a"]},"additionalProperties":false}`
	var first string
	for range 20 { // the same sentence each time, whatever the order of maps
		err := s.validate([]byte(schema), []byte(`["a",1,2,3,4,5,6,7,8]`))
		if err == nil {
			t.Fatal("valid")
		}
		if first == "" {
			first = err.Error()
		}
		if err.Error() != first {
			t.Fatalf("%v, then %v", first, err)
		}
	}
	if strings.Count(first, ";") != maxSentences-1 || !strings.HasPrefix(first, "/1: want string, have number; /2:") {
		t.Error(first)
	}
	object := jsonObject(1000, func(i int) (string, string) { return strings.Repeat("n", 1000) + fmt.Sprint(i), "1" })
	if err := s.validate([]byte(schema), []byte(object)); err == nil || len(err.Error()) > 1000 ||
		!strings.Contains(err.Error(), "and 995 more") {
		t.Errorf("have %v", err)
	}
}

// TestPatternsWithoutAVerdict uses a pattern that no matcher finishes with, behind the guard's
// estimate and without it.
func TestPatternsWithoutAVerdict(t *testing.T) {
	const schema = `{"pattern":"^(a*)*\\1b"}`
	config := []byte(`"` + strings.Repeat("a", 64) + `"`)
	if err := newSchemas(nil).validate([]byte(schema), config); !errors.Is(err, schemaguard.ErrCostly) {
		t.Errorf("the service: have %v", err)
	}
	compiled, err := NewSchemaEngine(nil).Compile([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if violations, err := compiled.Validate(config); !errors.Is(err, schemaguard.ErrCostly) || violations != nil {
			t.Errorf("the engine: have %v, %v", violations, err)
		}
	}
	var all sync.WaitGroup // one compiled pattern matches for many at a time
	for i := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 20 {
				if v, err := compiled.Validate([]byte(`"` + strings.Repeat("a", 2+i%3) + `b"`)); err != nil ||
					len(v) > 0 {
					t.Error(v, err)
				}
			}
		}()
	}
	all.Wait()
}

// TestViolations reads what is wrong as values: no program has to take the sentence apart.
func TestViolations(t *testing.T) {
	const d7 = `{"$schema":"http://json-schema.org/draft-07/schema#",`
	for _, tc := range []struct {
		name, schema, config string
		want                 []vitrine.Violation
	}{
		{"type", `{"properties":{"a":{"type":"string"}}}`, `{"a":1}`,
			[]vitrine.Violation{{Pointer: "/a", Keyword: "type", Message: "want string, have number"}}},
		{"an escaped pointer", `{"properties":{"a/b~c":{"minimum":1}}}`, `{"a/b~c":0}`,
			[]vitrine.Violation{{Pointer: "/a~1b~0c", Keyword: "minimum", Message: "want at least 1"}}},
		{"required is at the object", `{"items":{"required":["a"]}}`, `[{}]`,
			[]vitrine.Violation{{Pointer: "/0", Keyword: "required", Message: `missing: "a"`}}},
		{"several, by pointer", `{"properties":{"b":{"maxLength":1},"a":{"enum":[1]}}}`, `{"b":"xx","a":2}`,
			[]vitrine.Violation{{Pointer: "/a", Keyword: "enum", Message: "want one of 1"},
				{Pointer: "/b", Keyword: "maxLength", Message: "2 characters, want at most 1"}}},
		{"two at one place, by keyword", `{"maximum":1,"type":"string","not":{}}`, `2`,
			[]vitrine.Violation{{Pointer: "", Keyword: "type", Message: "want string, have number"}}},
		{"not", `{"not":{"type":"object"}}`, `{}`,
			[]vitrine.Violation{{Pointer: "", Keyword: "not", Message: "it is what not excludes"}}},
		{"oneOf", `{"oneOf":[{},{}]}`, `{}`,
			[]vitrine.Violation{{Pointer: "", Keyword: "oneOf", Message: "alternatives 0 and 1 of oneOf both apply"}}},
		{"const", `{"properties":{"a":{"const":"x"}}}`, `{"a":1}`,
			[]vitrine.Violation{{Pointer: "/a", Keyword: "const", Message: `want "x"`}}},
		{"dependencies", d7 + `"dependencies":{"a":["b"]}}`, `{"a":1}`,
			[]vitrine.Violation{{Pointer: "", Keyword: "dependencies", Message: `missing beside "a": "b"`}}},
		{"dependentRequired", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`,
			[]vitrine.Violation{{Pointer: "", Keyword: "dependentRequired", Message: `missing beside "a": "b"`}}},
		{"additionalProperties", `{"additionalProperties":false}`, `{"a":1}`,
			[]vitrine.Violation{{Pointer: "", Keyword: "additionalProperties", Message: `not allowed: "a"`}}},
		{"a property that is false", `{"properties":{"not":false}}`, `{"not":1}`,
			[]vitrine.Violation{{Pointer: "/not", Keyword: "properties", Message: "nothing is allowed here"}}},
		{"items that are false", `{"prefixItems":[true],"items":false}`, `[1,1]`,
			[]vitrine.Violation{{Pointer: "/1", Keyword: "items", Message: "nothing is allowed here"}}},
		{"a position that is false", `{"prefixItems":[false]}`, `[1]`,
			[]vitrine.Violation{{Pointer: "/0", Keyword: "prefixItems", Message: "nothing is allowed here"}}},
		{"unevaluatedProperties", `{"unevaluatedProperties":false}`, `{"a":1}`,
			[]vitrine.Violation{{Pointer: "/a", Keyword: "unevaluatedProperties", Message: "nothing is allowed here"}}},
		{"false behind a reference", `{"properties":{"a":{"$ref":"#/$defs/not"}},"$defs":{"not":false}}`, `{"a":1}`,
			[]vitrine.Violation{{Pointer: "/a", Keyword: "$defs", Message: "nothing is allowed here"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := fmt.Errorf("wrapped: %w", newSchemas(nil).validate([]byte(tc.schema), []byte(tc.config)))
			have, ok := errors.AsType[violations](err)
			if !ok || !slices.Equal(have, tc.want) {
				t.Errorf("have %v of %v, want %v", have, err, tc.want)
			}
		})
	}
	t.Run("a hundred at most, the same each time", func(t *testing.T) {
		config := jsonObject(500, func(i int) (string, string) { return fmt.Sprintf("p%03d", i), "1" })
		var first violations
		for range 5 {
			have, _ := errors.AsType[violations](
				newSchemas(nil).validate([]byte(`{"additionalProperties":{"type":"string"}}`), []byte(config)))
			if len(have) != 100 || have[0].Pointer != "/p000" || have[99].Pointer != "/p099" {
				t.Fatalf("%d violations, %v", len(have), have)
			}
			if first == nil {
				first = have
			}
			if !slices.Equal(first, have) {
				t.Fatalf("%v, then %v", first, have)
			}
		}
		if n := strings.Count(first.Error(), ";"); n != maxSentences-1 {
			t.Errorf("the sentence names %d: %v", n+1, first)
		}
		many := engineFunc(func([]byte) ([]vitrine.Violation, error) { return make([]vitrine.Violation, 200), nil })
		if have, _ := errors.AsType[violations](newSchemas(many).validate([]byte(`{}`),
			[]byte(`{}`))); len(have) != 100 {
			t.Errorf("%d violations of an engine of one's own", len(have))
		}
	})
}

// TestSchemaFetchesNothing points every kind of reference at a server and at a file.
func TestSchemaFetchesNothing(t *testing.T) {
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
	if err := os.WriteFile(file, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(file))
	s := newSchemas(nil)
	for _, url := range []string{server.URL + "/schema.json", "file://" + file, file, "schema.json", "./schema.json",
		strings.TrimPrefix(server.URL, "http:") + "/schema.json"} {
		for _, schema := range []string{
			`{"$ref":"URL"}`, `{"$ref":"URL#/a"}`, `{"$ref":"URL#a"}`, `{"$dynamicRef":"URL"}`, `{"$schema":"URL"}`,
			`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveRef":"URL"}`,
			`{"$defs":{"a":{"$ref":"URL"}}}`, `{"$defs":{"a":{"$id":"x","$schema":"URL"}}}`,
			`{"x":{"$ref":"URL"},"$ref":"#/x"}`, `{"properties":{"a":{"items":{"$ref":"URL"}}}}`,
			`{"$schema":"http://json-schema.org/draft-04/schema#","id":"URL","$ref":"schema.json"}`,
		} {
			schema = strings.ReplaceAll(schema, "URL", url)
			if err := s.check([]byte(schema)); err == nil {
				t.Errorf("%s is taken", schema)
			}
			if err := s.validate([]byte(schema), []byte(`{}`)); err == nil {
				t.Errorf("%s validates", schema)
			}
		}
		own := fmt.Sprintf(`{"$id":%q,"$schema":"https://json-schema.org/draft/2020-12/schema",`+
			`"properties":{"a":{"$ref":"#"}}}`, url)
		if err := s.validate([]byte(own), []byte(`{"a":{}}`)); err != nil {
			t.Errorf("%s: %v", own, err)
		}
	}
	server.Close()
	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

// TestSchemaIDsNeverMeet validates with two schemas of the same id at the same time.
func TestSchemaIDsNeverMeet(t *testing.T) {
	s := newSchemas(nil)
	const frame = `{"$id":"https://example.test/a","$ref":"#/$defs/x","$defs":{"x":{"$anchor":"x","type":%q}}}`
	var all sync.WaitGroup
	for i := range 16 {
		all.Add(1)
		go func() {
			defer all.Done()
			text, number := fmt.Sprintf(frame, "string"), fmt.Sprintf(frame, "number")
			mine, other, config := text, number, `"a"`
			if i%2 == 0 {
				mine, other, config = number, text, "1"
			}
			for range 20 {
				if err := s.validate([]byte(mine), []byte(config)); err != nil {
					t.Error(err)
				}
				if err := s.validate([]byte(other), []byte(config)); err == nil {
					t.Error("validated against another schema")
				}
			}
		}()
	}
	all.Wait()
}

// countingEngine counts what it is asked to compile.
type countingEngine struct {
	SchemaEngine
	compiled atomic.Int32
}

func (e *countingEngine) Compile(schema []byte) (Schema, error) {
	e.compiled.Add(1)
	return e.SchemaEngine.Compile(schema)
}

func TestSchemaCache(t *testing.T) {
	t.Run("a schema is compiled once", func(t *testing.T) {
		engine := &countingEngine{SchemaEngine: NewSchemaEngine(nil)}
		s := newSchemas(engine)
		var all sync.WaitGroup
		for range 50 {
			all.Add(1)
			go func() {
				defer all.Done()
				if err := s.validate([]byte(`{"type":"object"}`), []byte(`{}`)); err != nil {
					t.Error(err)
				}
			}()
		}
		all.Wait()
		if n := engine.compiled.Load(); n != 1 {
			t.Errorf("compiled %d times", n)
		}
	})
	t.Run("the number of schemas is bounded, the last used stay", func(t *testing.T) {
		engine := &countingEngine{SchemaEngine: NewSchemaEngine(nil)}
		s := newSchemas(engine)
		for i := range 2 * maxCachedSchemas {
			_ = s.validate([]byte(`{}`), []byte(`{}`))
			_ = s.validate(fmt.Appendf(nil, `{"title":"%d"}`, i), []byte(`{}`))
		}
		if n := s.compiled.Len(); n != maxCachedSchemas {
			t.Errorf("%d schemas", n)
		}
		if n := engine.compiled.Load(); n != 2*maxCachedSchemas+1 {
			t.Errorf("compiled %d times", n)
		}
	})
	t.Run("their bytes are bounded", func(t *testing.T) {
		s := newSchemas(nil)
		for i := range 40 {
			_ = s.validate(fmt.Appendf(nil, `{"title":"%d%s"}`, i, strings.Repeat("x", 200_000)), []byte(`{}`))
		}
		if n := s.compiled.Size(); n > maxCachedBytes || n < maxCachedBytes/2 {
			t.Errorf("%d bytes", n)
		}
	})
	t.Run("patterns count as they are compiled", func(t *testing.T) {
		s := newSchemas(nil)
		for i := range 60 {
			_ = s.validate(fmt.Appendf(nil, `{"pattern":"%d%s"}`, i, strings.Repeat("a{1000}", 9)), []byte(`{}`))
		}
		if n := s.compiled.Len(); n < 10 || n == 60 {
			t.Errorf("%d schemas", n)
		}
	})
	t.Run("what does not compile is not kept", func(t *testing.T) {
		s := newSchemas(nil)
		for range 3 {
			if err := s.validate([]byte(`{"type":5}`), []byte(`{}`)); err == nil {
				t.Error("valid")
			}
		}
		if s.compiled.Len() != 0 || s.compiled.Size() != 0 {
			t.Errorf("%d schemas, %d bytes", s.compiled.Len(), s.compiled.Size())
		}
	})
}

// engineFunc is an engine whose schemas all validate by one function.
type engineFunc func(config []byte) ([]vitrine.Violation, error)

func (f engineFunc) Compile([]byte) (Schema, error)                      { return f, nil }
func (f engineFunc) Validate(config []byte) ([]vitrine.Violation, error) { return f(config) }

func TestOwnEngine(t *testing.T) {
	for _, tc := range []struct {
		name   string
		engine engineFunc
		says   string
	}{
		{"valid", func([]byte) ([]vitrine.Violation, error) { return nil, nil }, ""},
		{"violations", func([]byte) ([]vitrine.Violation, error) {
			return []vitrine.Violation{{Pointer: "/a", Keyword: "colour", Message: "too blue"},
				{Pointer: "", Keyword: "", Message: "too old"}}, nil
		}, "/a: too blue; too old"},
		{"no verdict", func([]byte) ([]vitrine.Violation, error) { return nil, errors.New("no ink") }, "no ink"},
		{"a panic", func([]byte) ([]vitrine.Violation, error) { panic("oops") }, "validating the config failed: oops"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := newSchemas(tc.engine).validate([]byte(`{}`), []byte(`{}`))
			if (err == nil) != (tc.says == "") || err != nil && err.Error() != tc.says {
				t.Errorf("have %v, want %q", err, tc.says)
			}
		})
	}
	t.Run("behind the guard", func(t *testing.T) {
		s := newSchemas(engineFunc(func([]byte) ([]vitrine.Violation, error) {
			t.Error("the engine was asked")
			return nil, nil
		}))
		if err := s.check([]byte(`{"$ref":"#"}`)); err == nil {
			t.Error("taken")
		}
		if err := s.validate([]byte(`{"multipleOf":2}`), []byte(`1e1000000`)); !errors.Is(err, schemaguard.ErrCostly) {
			t.Errorf("have %v", err)
		}
	})
}

func FuzzSchema(f *testing.F) {
	for _, seed := range [][2]string{
		{`{}`, `{}`},
		{`{"$ref":"#"}`, `{}`},
		{`{"type":[]}`, `1`},
		{`{"properties":{"a":{"$ref":"#"}},"additionalProperties":{"type":"string"}}`, `{"a":{"a":{}},"b":""}`},
		{`{"$dynamicAnchor":"n","items":{"$dynamicRef":"#n"},"unevaluatedItems":false}`, `[[],[[1]]]`},
		{`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,` +
			`"items":{"$recursiveRef":"#"}}`, `[[]]`},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","id":"http://x.test/a",` +
			`"definitions":{"a":{"id":"b"}},"allOf":[{"$ref":"b"}]}`, `{}`},
		{`{"pattern":"((a{0,100}){0,10}){0,1}$","patternProperties":{"^\\s[]":false}}`, `"aaa"`},
		{`{"pattern":"^(?!a*b)(?<=(c*)\\1)","patternProperties":{"(?=(?<!x)y)*":false}}`, `"aaa"`},
		{`{"pattern":"^(a*)*\\1b","propertyNames":{"pattern":"(?<n>a)\\k<n>"}}`,
			`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`},
		{`{"format":"regex","properties":{"a":{"format":"date"},"b":{"format":"uri-template"}}}`, `"(?=a)\\1{1,1001}"`},
		{`{"multipleOf":0.1,"enum":[1,1.0,1e2],"uniqueItems":true}`, `1e1000000`},
		{`{"oneOf":[{"const":1},{"not":{"if":{},"then":{},"else":false}}],"dependencies":{"a":["b"]}}`, `{"a":1}`},
		{`{"x":{"y":[{"contains":{}}]},"$ref":"#/x/y/0"}`, `[1]`},
		{`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"type":"x"}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	s, asserting := newSchemas(nil), newSchemas(NewSchemaEngine(&SchemaOptions{AssertFormats: true}))
	f.Fuzz(func(t *testing.T, schema, config []byte) {
		_, unsound := newSchemas(nil).warnings(schema)
		if err := s.check(schema); err != nil {
			if strings.Contains(err.Error(), "cannot be compiled: runtime") {
				t.Errorf("%s: %v", schema, err)
			}
			return
		}
		if unsound != nil {
			t.Errorf("%s is taken and has no warnings: %v", schema, unsound)
		}
		for _, s := range []*schemas{s, asserting} {
			if err := s.validate(schema, config); err != nil && strings.Contains(err.Error(), "failed") {
				t.Errorf("%s, %s: %v", schema, config, err) // a panic was caught
			}
		}
		if json.Valid(config) {
			_, _ = withConfig(schema, config).WithDefaults(t.Context())
		}
	})
}

// withConfig returns an app with an element of a component with this schema.
func withConfig(schema, config []byte) App {
	return App{Body: fmt.Appendf(nil,
		`{"title":"x","owner":null,"groups":[],"elements":[{"id":"0","key":"0.0","component":{"name":"c",`+
			`"version":"1","configSchema":%s},"config":%s}]}`, schema, config)}
}

// validate returns an error that says where and why config breaks schema, or that validating it would take too long.
func (s *schemas) validate(schema, config []byte) error {
	compiled, err := s.get(schema)
	if err != nil {
		return err
	}
	return compiled.validateWithin(new(schemaguard.Usage), languages{}, config)
}

// check returns an error if a configSchema is not accepted.
func (s *schemas) check(schema []byte) error {
	_, err := s.compile(schema)
	return err
}
