package appsvc

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSchemaWarnings(t *testing.T) {
	warned := newSchemas(
		NewSchemaEngine(
			&SchemaOptions{Formats: map[string]func(string) error{"sku": func(string) error { return nil }}}))
	const (
		d4 = `{"$schema":"http://json-schema.org/draft-04/schema#",`
		d6 = `{"$schema":"http://json-schema.org/draft-06/schema#",`
		d7 = `{"$schema":"http://json-schema.org/draft-07/schema#",`
		d9 = `{"$schema":"https://json-schema.org/draft/2019-09/schema",`

		d12     = `{"$schema":"https://json-schema.org/draft/2020-12/schema",`
		formats = "alternatives 0 and 1 are told apart by their formats alone"
		checked = ": they are checked here, and are annotations elsewhere in the schema"
	)
	for _, tc := range []struct {
		name, schema string
		want         []string // as "pointer message"
	}{
		{"nothing", `{"type":"object","properties":{"const":{"type":"string"}},"required":["const"]}`, nil},
		{"const under draft-04", d4 + `"properties":{"a":{"const":1}}}`,
			[]string{`/properties/a/const draft-04 ignores "const"; it came with draft-06`}},
		{"const under draft-06", d6 + `"const":1}`, nil},
		{"contains and propertyNames under draft-04", d4 + `"contains":{},"propertyNames":{}}`, []string{
			`/contains draft-04 ignores "contains"; it came with draft-06`,
			`/propertyNames draft-04 ignores "propertyNames"; it came with draft-06`}},
		{"if under draft-06", d6 + `"if":{},"then":{}}`, []string{
			`/if draft-06 ignores "if"; it came with draft-07`,
			`/then draft-06 ignores "then"; it came with draft-07`}},
		{"unevaluatedProperties under draft-07", d7 + `"unevaluatedProperties":false}`, []string{
			`/unevaluatedProperties draft-07 ignores "unevaluatedProperties"; it came with draft 2019-09`}},
		{"prefixItems under 2019-09", d9 + `"prefixItems":[{}]}`,
			[]string{`/prefixItems draft 2019-09 ignores "prefixItems"; it came with draft 2020-12`}},
		{"$recursiveRef under 2020-12", d12 + `"properties":{"a":{"$recursiveRef":"#"}}}`, []string{
			`/properties/a/$recursiveRef draft 2020-12 has no "$recursiveRef": it is followed here, and other ` +
				`validators ignore it; $dynamicRef has taken its place`}},
		{"additionalItems under 2020-12", d12 + `"items":{},"additionalItems":false}`, []string{
			`/additionalItems draft 2020-12 ignores "additionalItems"; items beside prefixItems has taken its place`}},
		{"additionalItems alone", d7 + `"additionalItems":false}`,
			[]string{`/additionalItems "additionalItems" has no effect without "items"`}},
		{"beside items", d7 + `"items":[{}],"additionalItems":false}`, nil},
		{"then and else alone", `{"then":{},"else":{}}`,
			[]string{`/else "else" has no effect without "if"`, `/then "then" has no effect without "if"`}},
		{"minContains alone", `{"minContains":1}`,
			[]string{`/minContains "minContains" has no effect without "contains"`}},
		{"beside $ref before 2019-09",
			d7 + `"properties":{"a":{"$ref":"#/definitions/a~0b","maxLength":1,"title":"A","default":"","x-a":1}},` +
				`"definitions":{"a~b":{}}}`, []string{
				`/properties/a/maxLength draft-07 ignores "maxLength" beside $ref; put the $ref into an allOf, or ` +
					`use draft 2019-09 or later`}},
		{"beside $ref since 2019-09", `{"$ref":"#/$defs/a","maxLength":1,"$defs":{"a":{}}}`, nil},
		{"a property named $ref", d7 + `"properties":{"$ref":{"type":"string"}}}`, nil},
		{"annotations of later drafts",
			d4 + `"$comment":"","readOnly":true,"examples":[],"deprecated":true,"$defs":{},` +
				`"$id":"https://example.test/a"}`, nil},
		{"a default that breaks its schema",
			`{"properties":{"a":{"type":"string","default":1},"b":{"default":{"c":1},` +
				`"properties":{"c":{"maximum":0}}},"d":{"type":"string","default":""}}}`, []string{
				`/properties/a/default the default breaks its own schema and fills nothing: want string, have number`,
				`/properties/b/default the default breaks its own schema and fills nothing: /c: want at most 0`}},
		{"a default outside of alternatives", `{"oneOf":[{"const":"info"},{"const":"warn"}],"default":"x"}`, []string{
			`/default the default breaks its own schema and fills nothing: want "info", want "warn"`}},
		{"a default of a required member",
			`{"properties":{"a/b":{"default":1},"c":{"default":2}},"required":["a/b","d"]}`, []string{
				`/properties/a~1b/default "a/b" is required: an object without it is rejected, although it has a ` +
					`default`}},
		{"nullable", `{"properties":{"a":{"type":"string","nullable":true},"nullable":{"nullable":false}}}`, []string{
			`/properties/a/nullable "nullable" is of OpenAPI and has no effect; list "null" in "type"`}},
		{"definitions without $schema", `{"properties":{"a":{"$ref":"#/definitions/a"}},"definitions":{"a":{}}}`,
			[]string{
				` without "$schema" this is draft 2020-12, and "definitions" is of draft-07: name the draft in ` +
					`"$schema"`}},
		{"dependencies below, without $schema", `{"properties":{"a":{"dependencies":{"a":["b"]}}}}`, []string{
			` without "$schema" this is draft 2020-12, and "dependencies" is of draft-07: name the draft in ` +
				`"$schema"`}},
		{"additionalItems without $schema", `{"items":{},"additionalItems":false}`, []string{
			` without "$schema" this is draft 2020-12, and "additionalItems" is of draft 2019-09: name the draft in ` +
				`"$schema"`,
			`/additionalItems draft 2020-12 ignores "additionalItems"; items beside prefixItems has taken its place`}},
		{"a property named definitions", `{"properties":{"definitions":{},"dependencies":{}}}`, nil},
		{"definitions with $schema", d12 + `"definitions":{}}`, nil},
		{"alternatives by format",
			`{"oneOf":[{"type":"string","format":"ipv4","title":"4"},{"type":"string","format":"ipv6","title":"6"}]}`,
			[]string{"/oneOf " + formats + checked}},
		{"alternatives by one format", `{"oneOf":[{"type":"string"},{"type":"string","format":"ipv6"}]}`,
			[]string{"/oneOf " + formats + checked}},
		{"alternatives by a format below",
			`{"items":{"oneOf":[{"properties":{"a":{"format":"date"}}},{"properties":{"a":{"format":"time"}}}]}}`,
			[]string{"/items/oneOf " + formats + checked}},
		{"alternatives by a format that is not checked", `{"oneOf":[{"format":"idn-email"},{"format":"email"}]}`,
			[]string{
				"/oneOf " + formats +
					`, and the format "idn-email" is not checked: a config that fits both is rejected`}},
		{"alternatives by a format of one's own", `{"oneOf":[{"format":"sku"},{}]}`, nil},
		{"alternatives by format and more",
			`{"oneOf":[{"format":"date","maxLength":9},{"format":"time","maxLength":8}]}`, nil},
		{"alternatives that are equal", `{"oneOf":[{"title":"a"},{"title":"b"}]}`, nil},
		{"alternatives by constants", `{"oneOf":[{"const":{"format":"date"}},{"const":{"format":"time"}}]}`, nil},
		{"a known format", `{"properties":{"a":{"format":"date-time"},"b":{"format":"idn-email"}}}`, nil},
		{"an unknown format", `{"properties":{"a":{"format":"datetime"},"b":{"format":"color"}}}`,
			[]string{`/properties/a/format the format "datetime" is not known and has no effect: ` +
				`date-time may be meant`}},
		{"formats that nothing is like", `{"properties":{"a":{"format":"isbn"},"b":{"format":"urk"}}}`,
			[]string{`/properties/a/format the format "isbn" is not known and has no effect`,
				`/properties/b/format the format "urk" is not known and has no effect`}},
		{"a misspelt format of fields for files", `{"format":"vitrine-pictur"}`,
			[]string{`/format the format "vitrine-pictur" is not known and has no effect: ` +
				`vitrine-picture may be meant`}},
		{"formats of fields for files", `{"properties":{"a":{"format":"vitrine-picture"},"b":{"format":"vitrine-video"},
			"c":{"format":"vitrine-sound"},"d":{"format":"vitrine-file"},"e":{"format":"vitrine-folder"}}}`, nil},
		{"a format of one's own", `{"format":"sku"}`, nil},
		{"a default that looks like a schema",
			d4 + `"default":{"const":1,"format":"?"},"enum":[{"const":1,"format":"?"},{"requird":1}]}`, nil},
		{"a dependency", d4 + `"dependencies":{"a":["b"],"c":{"const":1}}}`,
			[]string{`/dependencies/c/const draft-04 ignores "const"; it came with draft-06`}},
		{"a place that only a reference makes a schema",
			d4 + `"parts":{"a":{"const":1}},"allOf":[{"$ref":"#/parts/a"}]}`,
			[]string{`/parts/a/const draft-04 ignores "const"; it came with draft-06`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			have, err := warned.warnings([]byte(tc.schema))
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, w := range have {
				lines = append(lines, w.Pointer+" "+w.Message)
			}
			if !slices.Equal(lines, tc.want) {
				t.Errorf("have %q\nwant %q", lines, tc.want)
			}
			if err := newSchemas(nil).check([]byte(tc.schema)); err != nil {
				t.Errorf("such a component is refused: %v", err)
			}
		})
	}
	t.Run("misspelt keywords", func(t *testing.T) {
		for name, meant := range map[string]string{
			"requird": "required", "Required": "required", "additionalproperties": "additionalProperties",
			"additionalProperites": "additionalProperties",
			"propertes":            "properties", "maxLenght": "maxLength", "minlength": "minLength",
			"patern": "pattern", "tpye": "type", "types": "type", "TYPE": "type",
			"enums": "enum", "enmu": "enum", "item": "items", "oneof": "oneOf", "ref": "$ref",
			"multipleof": "multipleOf", "exclusiveMinumum": "exclusiveMinimum",
			"unevaluatedProperty": "", "IF": "if",
		} {
			have, err := warned.warnings(fmt.Appendf(nil, `{%q:1}`, name))
			if meant == "" {
				if err != nil || len(have) > 0 {
					t.Errorf("%s: have %v, %v", name, have, err)
				}
				continue
			}
			want := fmt.Sprintf("%q is no keyword and has no effect; is %q meant?", name, meant)
			if err != nil || len(have) != 1 || have[0].Message != want || have[0].Pointer != "/"+name {
				t.Errorf("have %v, %v, want %s", have, err, want)
			}
		}
	})
	t.Run("names of authors' own", func(t *testing.T) {
		for _, name := range strings.Fields(
			`markdownDescription enumDescriptions markdownEnumDescriptions defaultSnippets errorMessage
			patternErrorMessage deprecationMessage doNotSuggest allowComments allowTrailingCommas suggestSortText tsType meta:enum
			x-intellij-html-description x-type x-required name note notes version url fileMatch order group label hidden widget ui:options
			example nullable discriminator xml externalDocs tags optional private unit units options enumNames propertyOrder links media
			scope tsEnumNames javaType typeof instanceof divisibleBy extends disallow comment $note is of value values help info style
			template theme min max length size range rules order this that they thenceforth elsewhere`) {
			if have, err := warned.warnings(fmt.Appendf(nil, `{%q:1}`, name)); err != nil || len(have) > 0 {
				t.Errorf("%s: have %v, %v", name, have, err)
			}
		}
	})
	t.Run("a hundred at most", func(t *testing.T) {
		schema := `{"properties":` + jsonObject(2000, func(i int) (string, string) {
			return fmt.Sprintf("p%04d", i), `{"requird":[]}`
		}) + `}`
		if have, err := warned.warnings([]byte(schema)); err != nil || len(have) != 100 ||
			have[99].Pointer != "/properties/p0099/requird" {
			t.Errorf("%d warnings, %v", len(have), err)
		}
	})
	t.Run("many names of authors' own take no long time", func(t *testing.T) {
		schema := jsonObject(15_000, func(i int) (string, string) { return fmt.Sprintf("reqired%04x", i), "1" })
		start := time.Now()
		if have, err := warned.warnings([]byte(schema)); err != nil || len(have) > 0 {
			t.Errorf("have %v, %v", have, err)
		}
		if took := time.Since(start); took > 10*time.Second { // 30 ms where nobody else is at work
			t.Errorf("took %v", took)
		}
	})
	t.Run("none is an empty list", func(t *testing.T) {
		if have, err := warned.warnings([]byte(`{}`)); err != nil || have == nil {
			t.Errorf("have %v, %v", have, err)
		}
	})
	t.Run("what is no schema", func(t *testing.T) {
		for _, schema := range []string{`{`, `{"a":1,"a":2}`, `{"items":5}`, `{"$schema":"https://example.test/"}`,
			`{"pattern":"("}`} {
			if have, err := warned.warnings([]byte(schema)); err == nil {
				t.Errorf("%s: have %v", schema, have)
			}
		}
	})
}
