package appsvc

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
)

func TestFormats(t *testing.T) {
	asserted := newSchemas(NewSchemaEngine(&SchemaOptions{AssertFormats: true}))
	for _, tc := range []struct{ format, valid, invalid string }{
		{"date-time", "2026-11-22T02:00:00Z", "yesterday"},
		{"date", "2028-02-29", "2026-02-29"},
		{"time", "02:00:00Z", "25:00:00Z"},
		{"duration", "P1DT2H", "1 day"},
		{"email", "a@example.test", "a"},
		{"hostname", "a.example.test", "a_b.-"},
		{"ipv4", "192.0.2.1", "192.0.2.256"},
		{"ipv6", "2001:db8::1", "2001:db8::1::2"},
		{"uri", "https://example.test/a", "/a"},
		{"uri-reference", "/a?b#c", `\\a`},
		{"iri", "https://example.test/é", "/é"},
		{"iri-reference", "/é", `\\é`},
		{"uri-template", "/a/{b}", "/a/{b"},
		{"uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08"},
		{"json-pointer", "/a~1b", "a"},
		{"relative-json-pointer", "1/a", "/a"},
		{"regex", `^(?!a)\p{L}$`, `^(?!a`},
	} {
		for _, draft := range []string{"http://json-schema.org/draft-04/schema#",
			"https://json-schema.org/draft/2020-12/schema"} {
			schema := fmt.Appendf(nil, `{"$schema":%q,"properties":{"a":{"format":%q}}}`, draft, tc.format)
			for config, valid := range map[string]bool{tc.valid: true, tc.invalid: false} {
				text := fmt.Appendf(nil, `{"a":%q}`, config)
				err := asserted.validate(schema, text)
				if have, _ := errors.AsType[violations](err); (err == nil) != valid ||
					!valid && (len(have) != 1 ||
						have[0] != vitrine.Violation{Pointer: "/a", Keyword: "format",
							Message: fmt.Sprintf("not of the format %q", tc.format)}) {
					t.Errorf("%s, %s, %q: have %v, want valid: %v", draft, tc.format, config, err, valid)
				}
				if err := newSchemas(nil).validate(schema, text); err != nil {
					t.Errorf("%s is no annotation by default: %v", tc.format, err)
				}
			}
			if err := asserted.validate(schema, []byte(`{"a":1}`)); err != nil {
				t.Errorf("%s refuses a number: %v", tc.format, err)
			}
		}
	}
	t.Run("what no draft defines stays an annotation", func(t *testing.T) {
		for _, format := range []string{"semver", "period", "colour", "idn-email"} {
			if err := asserted.validate(fmt.Appendf(nil, `{"format":%q}`, format), []byte(`"?"`)); err != nil {
				t.Errorf("%s: %v", format, err)
			}
		}
	})
	t.Run("formats of one's own", func(t *testing.T) {
		own := map[string]func(string) error{
			"sku": func(s string) error {
				return map[bool]error{false: errors.New("begin with SKU-")}[strings.HasPrefix(s, "SKU-")]
			},
			"email": func(s string) error { return nil },
			"regex": func(s string) error { return errors.New("no") },
			"bad":   func(string) error { panic("oops") },
		}
		for _, all := range []bool{false, true} {
			s := newSchemas(NewSchemaEngine(&SchemaOptions{AssertFormats: all, Formats: own}))
			for _, tc := range []struct{ format, config, says string }{
				{"sku", "SKU-1", ""},
				{"sku", "1", `not of the format "sku": begin with SKU-`},
				{"email", "?", ""},
				{"regex", "a", `not of the format "regex": no`},
				{"date", "?", map[bool]string{true: `not of the format "date"`}[all]},
				{"bad", "?", "validating the config failed: oops"},
			} {
				err := s.validate(fmt.Appendf(nil, `{"format":%q}`, tc.format), fmt.Appendf(nil, "%q", tc.config))
				if (err == nil) != (tc.says == "") || err != nil && err.Error() != tc.says {
					t.Errorf("all %v, %s of %q: have %v, want %q", all, tc.format, tc.config, err, tc.says)
				}
			}
		}
	})
	t.Run("regex for many at a time", func(t *testing.T) {
		compiled, err := NewSchemaEngine(&SchemaOptions{AssertFormats: true}).Compile([]byte(`{"format":"regex"}`))
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range 8 {
			all.Add(1)
			go func() {
				defer all.Done()
				for j := range 30 { // more text than the patterns of a schema may have
					if v, err := compiled.Validate(fmt.Appendf(nil, `"%d-%d%s"`, i, j,
						strings.Repeat("a", 1000))); err != nil || len(v) > 0 {
						t.Error(v, err)
					}
				}
			}()
		}
		all.Wait()
	})
}

// TestFormatsAreFast checks the texts that take each format longest.
func TestFormatsAreFast(t *testing.T) {
	s := newSchemas(NewSchemaEngine(&SchemaOptions{AssertFormats: true}))
	for _, tc := range []struct {
		format, text string
		costly       bool
	}{
		{"iri-reference", strings.Repeat("{}", 1<<19), false},
		{"uri-template", strings.Repeat("{a,", 1<<18), false},
		{"relative-json-pointer", "1" + strings.Repeat("/", 1<<20), false},
		{"ipv4", strings.Repeat(".", 1<<20), false},
		{"regex", strings.Repeat("(?=[\\p{L}\\p{N}])", 200), false},
		{"regex", strings.Repeat("(", 1<<20), false},
		{"regex", "(?i:" + strings.Repeat("[B-\U0001e942]", 16) + ")", false},
	} {
		start := time.Now()
		err := s.validate(fmt.Appendf(nil, `{"format":%q}`, tc.format), fmt.Appendf(nil, "%q", tc.text))
		if errors.Is(err, schemaguard.ErrCostly) != tc.costly {
			t.Errorf("%s of %.20q: have %v, want too costly %v", tc.format, tc.text, err, tc.costly)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s of %.20q took %v", tc.format, tc.text, took)
		}
	}
	many := jsonArray(2000, same(fmt.Sprintf("%q", strings.Repeat(`[\p{L}\P{N}]`, 30))))
	if err := s.validate([]byte(`{"items":{"format":"regex"}}`), []byte(many)); !errors.Is(err, schemaguard.ErrCostly) {
		t.Errorf("many patterns: have %v", err)
	}
}

// TestFormatsDecideBetweenAlternatives checks that a oneOf whose alternatives differ in their formats alone can be met,
// and that formats stay annotations everywhere else.
func TestFormatsDecideBetweenAlternatives(t *testing.T) {
	const both = "alternatives 0 and 1 of oneOf both apply"
	tests := []struct {
		name, schema, config string
		says                 string // "" if the config is valid
	}{
		{"the first", `{"oneOf":[{"format":"ipv4"},{"format":"ipv6"}]}`, `"192.0.2.1"`, ""},
		{"the second", `{"oneOf":[{"format":"ipv4"},{"format":"ipv6"}]}`, `"::1"`, ""},
		{"none", `{"oneOf":[{"format":"ipv4"},{"format":"ipv6"}]}`, `"?"`,
			`not of the format "ipv4"; not of the format "ipv6"`},
		{"two", `{"oneOf":[{"format":"hostname"},{"format":"uri-reference"},{"format":"ipv6"}]}`, `"a"`, both},
		{"two without a format", `{"oneOf":[{},{"maxLength":1},{"format":"ipv6"}]}`, `"a"`, both},
		{"the one without a format", `{"oneOf":[{"format":"date"},{"type":"string"}]}`, `"?"`, ""},
		{"with a format beside none", `{"oneOf":[{"format":"date"},{"type":"string"}]}`, `"2026-01-01"`, both},
		{"by type, and not of its format", `{"oneOf":[{"type":"string","format":"date"},{"type":"number"}]}`, `"?"`,
			""},
		{"of neither type", `{"oneOf":[{"type":"string","format":"date"},{"type":"number"}]}`, `true`,
			"want string, have boolean; want number, have boolean"},
		{"behind references",
			`{"oneOf":[{"$ref":"#/definitions/4"},{"$ref":"#/definitions/6"}],"definitions":{"4":{"format":"ipv4"},` +
				`"6":{"format":"ipv6"}}}`,
			`"::1"`, ""},
		{"below", `{"items":{"oneOf":[{"properties":{"a":{"format":"date"}}},{"properties":{"a":{"format":"time"}}}]}}`,
			`[{"a":"2026-01-01"},{"a":"02:00:00Z"}]`, ""},
		{"in allOf, in oneOf",
			`{"oneOf":[{"allOf":[{"oneOf":[{"format":"ipv4"},{"format":"ipv6"}]}]},{"type":"number"}]}`, `"::1"`, ""},
		{"a tie of numbers", `{"oneOf":[{"format":"ipv4"},{"format":"ipv6"}]}`, `1`, both},
		{"no oneOf", `{"anyOf":[{"format":"ipv4"},{"format":"ipv6"}],"format":"date"}`, `"?"`, ""},
		{"beside a oneOf",
			`{"properties":{"a":{"oneOf":[{"$ref":"#/definitions/4"},{"format":"ipv6"}]},"b":{"$ref":"#/definitions/4"}},
			"definitions":{"4":{"format":"ipv4"}}}`, `{"a":"::1","b":"?"}`, ""},
	}
	s := newSchemas(nil)
	for _, draft := range []string{"http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-07/schema#",
		"https://json-schema.org/draft/2020-12/schema"} {
		for _, test := range tests {
			schema := fmt.Sprintf(`{"$schema":%q,%s`, draft, test.schema[1:])
			err := s.validate([]byte(schema), []byte(test.config))
			if (err == nil) != (test.says == "") || err != nil && err.Error() != test.says {
				t.Errorf("%s, %s: have %v, want %q", test.name, draft, err, test.says)
			}
		}
	}
	t.Run("members of the alternative that fits are evaluated, no others", func(t *testing.T) {
		schema := []byte(`{"unevaluatedProperties":false,"oneOf":[{"properties":{"a":{"format":"date"},"b":{}}},` +
			`{"properties":{"a":{"format":"time"},"c":{}}}]}`)
		for config, valid := range map[string]bool{`{"a":"2026-01-01","b":1}`: true, `{"a":"2026-01-01","c":1}`: false,
			`{"a":"02:00:00Z","c":1}`: true} {
			if err := s.validate(schema, []byte(config)); (err == nil) != valid {
				t.Errorf("%s: have %v, want valid: %v", config, err, valid)
			}
		}
	})
	t.Run("no schema takes longer than its steps", func(t *testing.T) {
		tie := `{"type":"string","format":"date"}` // nested: each level is tried with formats and without
		for range 18 {
			tie = `{"oneOf":[` + tie + `,{"allOf":[` + tie + `]}]}`
			if len(tie) > 100_000 {
				break
			}
		}
		deep := `{"oneOf":[{"items":{"$ref":"#"},"type":"array"},{"type":"string","format":"date"},{"type":"string",` +
			`"format":"time"}]}`
		for _, test := range []struct{ schema, config string }{
			{tie, `"?"`},
			{tie, `"2026-01-01"`},
			{deep, strings.Repeat("[", 60) + `"?"` + strings.Repeat("]", 60)},
			{deep, "[" + strings.Repeat(`"?",`, 250_000) + `"?"]`},
		} {
			start := time.Now()
			if err := s.validate([]byte(test.schema), []byte(test.config)); err == nil {
				t.Errorf("%.80s accepts %.80s", test.schema, test.config)
			}
			if took := time.Since(start); took > 10*time.Second { // 0.3 s where nobody else is at work
				t.Errorf("%.80s: %.80s took %v", test.schema, test.config, took)
			}
		}
	})
}
