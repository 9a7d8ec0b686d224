package schemaguard_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc/internal/schemaguard"
)

const (
	draft4    = `"$schema":"http://json-schema.org/draft-04/schema#"`
	draft6    = `"$schema":"http://json-schema.org/draft-06/schema#"`
	draft7    = `"$schema":"http://json-schema.org/draft-07/schema#"`
	draft2019 = `"$schema":"https://json-schema.org/draft/2019-09/schema"`
)

// padded returns a schema of n bytes.
func padded(n int) string {
	const frame = `{"description":""}`
	return `{"description":"` + strings.Repeat("x", n-len(frame)) + `"}`
}

// deep returns a schema of n nested objects.
func deep(n int) string {
	if n%2 == 0 {
		return `{"properties":` + strings.Repeat(`{"a":{"properties":`, n/2-1) + "{}" + strings.Repeat("}}", n/2-1) +
			"}"
	}
	return strings.Repeat(`{"properties":{"a":`, n/2) + "{}" + strings.Repeat("}}", n/2)
}

// chain returns a schema in which n subschemas in a row apply to one value.
func chain(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/1","$defs":{`)
	for i := 1; i < n-1; i++ {
		fmt.Fprintf(&b, `"%d":{"$ref":"#/$defs/%d"},`, i, i+1)
	}
	fmt.Fprintf(&b, `"%d":{"type":"object"}}}`, n-1)
	return b.String()
}

// doubling returns a schema that applies 2^(n+1)-1 subschemas to one value.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"%d":{"allOf":[{"$ref":"#/$defs/%d"},{"$ref":"#/$defs/%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"%d":{}}}`, n)
	return b.String()
}

// zeros returns n copies of text, in which #i is the number of the copy and #0 as many zeros.
func zeros(n int, text string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = strings.NewReplacer("#i", strconv.Itoa(i), "#0", strings.Repeat("0", i+1)).Replace(text)
	}
	return strings.Join(out, ",")
}

func TestTakes(t *testing.T) {
	for name, schema := range map[string]string{
		"anything":          `{}`,
		"256 KiB":           padded(schemaguard.MaxBytes),
		"64 levels":         deep(64),
		"4 KiB of patterns": `{"pattern":"` + strings.Repeat("a", schemaguard.MaxPattern) + `"}`,
		"4 KiB of patterns and the meta-schemas": `{"pattern":"` + strings.Repeat("a", schemaguard.MaxPattern) +
			`","properties":{"4":{"$ref":"http://json-schema.org/draft-04/schema#"},` +
			`"6":{"$ref":"http://json-schema.org/draft-06/schema#"},` +
			`"7":{"$ref":"http://json-schema.org/draft-07/schema#"},` +
			`"2019":{"$ref":"https://json-schema.org/draft/2019-09/schema"},` +
			`"2020":{"$ref":"https://json-schema.org/draft/2020-12/schema"}}}`,
		"draft 04": `{` + draft4 +
			`,"id":"http://example.com/a","properties":{"n":{"minimum":0,"exclusiveMinimum":true}}}`,
		"draft 06": `{` + draft6 + `,"contains":{"const":1},"propertyNames":false}`,
		"draft 07": `{` + draft7 + `,"if":{},"then":{},"else":false}`,
		"draft 2019-09": `{` + draft2019 +
			`,"$recursiveAnchor":true,"items":{"$recursiveRef":"#"}}`,
		"draft 2020-12 over https, with #": `{"$schema":"https://json-schema.org/draft/2020-12/schema#",` +
			`"prefixItems":[{}]}`,
		"a property named $schema":       `{"properties":{"$schema":{"type":"string"}}}`,
		"a property named pattern":       `{"properties":{"pattern":{"type":"string"},"$ref":{"type":"string"}}}`,
		"a JSON pointer":                 `{"$ref":"#/$defs/a","$defs":{"a":{}}}`,
		"an escaped JSON pointer":        `{"$ref":"#/$defs/a~1b%25","$defs":{"a/b%":{}}}`,
		"an anchor":                      `{"$ref":"#a","$defs":{"x":{"$anchor":"a"}}}`,
		"an id with an anchor, draft 07": `{` + draft7 + `,"$ref":"#a","definitions":{"x":{"$id":"#a"}}}`,
		"an embedded id":                 `{"$id":"http://example.com/a/","$ref":"b","$defs":{"x":{"$id":"b"}}}`,
		"an embedded id and the same draft": `{` + draft7 + `,"definitions":{"x":{"$id":"http://example.com/x",` +
			draft7 + `,"definitions":{}}},"$ref":"http://example.com/x"}`,
		"its own id": `{"$id":"http://example.com/a",` +
			`"properties":{"b":{"$ref":"http://example.com/a"}}}`,
		"the id of a meta-schema": `{"$id":"http://json-schema.org/draft-07/schema",` +
			`"properties":{"b":{"$ref":"#"}}}`,
		"meta-schemas": `{"anyOf":[{"$ref":"http://json-schema.org/draft-07/schema#"},` +
			`{"$ref":"https://json-schema.org/draft/2020-12/schema"},` +
			`{"$ref":"https://json-schema.org/draft/2019-09/schema"}]}`,
		"a part of a meta-schema": `{"$ref":` +
			`"http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger"}`,
		"a place that is no subschema": `{"components":{"a":{"type":"string"}},"$ref":"#/components/a"}`,
		"recursion through properties": `{"properties":{"next":{"$ref":"#"}}}`,
		"recursion through items": `{"$ref":"#/$defs/n",` +
			`"$defs":{"n":{"items":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"number"}]}}}}`,
		"recursion through a name":        `{"propertyNames":{"$ref":"#"}}`,
		"recursion through a dynamic ref": `{"$dynamicAnchor":"n","properties":{"a":{"allOf":[{"$dynamicRef":"#n"}]}}}`,
		"a definition that is not used":   `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":true}}`,
		"a null that is no subschema":     `{"default":null,"enum":[null],"const":null,"examples":[null]}`,
		"a reference in an example":       `{"examples":[{"$ref":"http://127.0.0.1:1/"}],"default":{"$ref":5}}`,
		"200 subschemas in a row":         chain(200),
		"a fan-out of 2^12":               doubling(12),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := schemaguard.Compile([]byte(schema)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	many := func(n int, format, between string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = strings.ReplaceAll(format, "#i", strconv.Itoa(i))
		}
		return strings.Join(parts, between)
	}
	for _, tc := range []struct{ name, schema, at, says string }{
		{"more than 256 KiB", padded(schemaguard.MaxBytes + 1), "", "262145 bytes"},
		{"65 levels", deep(65), "", "deeper than 64"},
		{"not JSON", `{"a":`, "", ""},
		{"a member twice", `{"type":"string","type":"number"}`, "/type", "duplicate"},
		{"no object", `5`, "", "a number"},
		{"null", `null`, "", "null"},
		{"a null property", `{"properties":{"a":null}}`, "/properties/a", "null"},
		{"a null item", `{"items":null}`, "/items", "null"},
		{"a null alternative", `{"anyOf":[{},null]}`, "/anyOf/1", "null"},
		{"a null definition", `{"$defs":{"a":null}}`, "/$defs/a", "null"},
		{"a null behind a reference", `{"x":null,"$ref":"#/x"}`, "/x", "null"},
		{"a null dependency", `{"dependencies":{"a":null}}`, "/dependencies/a", "null"},
		{"no types", `{"type":[]}`, "/type", "meta-schema"},
		{"an unknown type", `{"type":"text"}`, "/type", "meta-schema"},
		{"a minimum that is a string", `{"properties":{"a":{"minimum":"1"}}}`, "/properties/a/minimum", "meta-schema"},
		{"a list of required that is none", `{"required":"a"}`, "/required", "meta-schema"},
		{"draft 03", `{"$schema":"http://json-schema.org/draft-03/schema#"}`, "/$schema", "not a known draft"},
		{"no draft", `{"$schema":"http://example.com/schema"}`, "/$schema", "not a known draft"},
		{"a vocabulary as draft", `{"$schema":"https://json-schema.org/draft/2020-12/meta/core"}`, "/$schema",
			"not a known draft"},
		{"an embedded schema of no draft", `{"$defs":{"a":{"$id":"http://x.test/","$schema":"http://127.0.0.1:1/"}}}`,
			"/$defs/a/$schema", "not a known draft"},
		{"a reference to the web", `{"properties":{"a":{"$ref":"http://127.0.0.1:1/x.json"}}}`, "/properties/a/$ref",
			"nothing is fetched"},
		{"a reference to the web, not used", `{"$defs":{"a":{"$ref":"https://127.0.0.1:1/x.json#/a"}}}`,
			"/$defs/a/$ref", "nothing is fetched"},
		{"a reference to a file", `{"$ref":"file:///etc/hostname"}`, "/$ref", "nothing is fetched"},
		{"a relative reference", `{"$ref":"other.json"}`, "/$ref", "nothing is fetched"},
		{"a reference relative to a file", `{"$id":"file:///etc/schema","$ref":"hostname"}`, "/$ref",
			"nothing is fetched"},
		{"a relative reference upwards", `{"$ref":"../../etc/hostname"}`, "/$ref", "nothing is fetched"},
		{"a meta-schema that does not exist", `{"$ref":"http://json-schema.org/draft-99/schema"}`, "/$ref", ""},
		{"a dynamic reference to the web", `{"$dynamicRef":"http://127.0.0.1:1/#a"}`, "/$dynamicRef",
			"nothing is fetched"},
		{"a recursive reference to the web", `{` + draft2019 + `,"$recursiveRef":"http://127.0.0.1:1/"}`,
			"/$recursiveRef", ""},
		{"a reference beside others, draft 07",
			`{` + draft7 +
				`,"$ref":"#/definitions/a","definitions":{"a":true},"properties":{"b":{"$ref":"http://127.0.0.1:1/"}}}`,
			"/properties/b/$ref", "nothing is fetched"},
		{"a pointer to nothing", `{"$ref":"#/$defs/a"}`, "/$ref", "nothing at"},
		{"a pointer to nothing unusual", `{"$ref":"#/components/a"}`, "/$ref", "nothing at"},
		{"an anchor that is missing", `{"$ref":"#a"}`, "/$ref", `"#a" leads nowhere: there is no such anchor`},
		{"an older form, without $schema", `{"properties":{"a":{"items":[{}]}}}`, "/properties/a/items",
			`without "$schema" this is draft 2020-12; "items" as a list is of draft-07: name the draft, or write ` +
				`"prefixItems"`},
		{"an older form of a limit, without $schema", `{"minimum":1,"exclusiveMinimum":true}`, "/exclusiveMinimum",
			`without "$schema" this is draft 2020-12; "exclusiveMinimum" as a boolean is of draft-04: name the ` +
				`draft, or write the limit itself`},
		{"an older form of a limit", `{` + draft7 + `,"maximum":1,"exclusiveMaximum":false}`, "/exclusiveMaximum",
			`this is draft-07; "exclusiveMaximum" as a boolean is of draft-04: write the limit itself`},
		{"required as in draft 03", `{` + draft4 + `,"properties":{"a":{"required":true}}}`, "/properties/a/required",
			"of draft-03, which is not known here"},
		{"a relative reference, as it is written", `{"$id":"https://x.test/a/","$ref":"../other.json"}`, "/$ref",
			`"../other.json" is outside`},
		{"a reference into a meta-schema, as it is written",
			`{"$ref":"http://json-schema.org/draft-07/schema#/nothing"}`, "/$ref",
			`at "http://json-schema.org/draft-07/schema#/nothing"`},
		{"an escaped reference, as it is written", `{"properties":{"a":{"$ref":"a%20b.json"}}}`, "/properties/a/$ref",
			`"a%20b.json" is outside`},
		{"a reference that is a number", `{` + draft4 + `,"$ref":5}`, "/$ref", "a number"},
		{"two subschemas of one id", `{"$defs":{"a":{"$id":"http://x.test/"},"b":{"$id":"http://x.test/"}}}`, "",
			"is also that of"},
		{"two anchors of one name", `{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, "", "is also that of"},

		{"itself", `{"$ref":"#"}`, "", "comes back to itself"},
		{"itself, draft 04", `{` + draft4 + `,"$ref":"#"}`, "", "comes back to itself"},
		{"itself by its id", `{"$id":"http://x.test/","$ref":"http://x.test/"}`, "", "comes back to itself"},
		{"itself by an anchor", `{"$anchor":"a","allOf":[{"$ref":"#a"}]}`, "", "comes back to itself"},
		{"each other", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, "/$defs/a",
			"comes back to itself"},
		{"each other, not used", `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, "/$defs/a",
			"comes back to itself"},
		{"itself in allOf", `{"allOf":[{"$ref":"#"}]}`, "", "comes back to itself"},
		{"itself in anyOf", `{"anyOf":[{"$ref":"#"},{}]}`, "", "comes back to itself"},
		{"itself in oneOf", `{"oneOf":[{},{"$ref":"#"}]}`, "", "comes back to itself"},
		{"itself in not", `{"not":{"$ref":"#"}}`, "", "comes back to itself"},
		{"itself in if", `{"if":{"$ref":"#"}}`, "", "comes back to itself"},
		{"itself in then", `{"if":true,"then":{"$ref":"#"}}`, "", "comes back to itself"},
		{"itself in else", `{"if":{},"else":{"$ref":"#"}}`, "", "comes back to itself"},
		{"itself in dependentSchemas", `{"dependentSchemas":{"a":{"$ref":"#"}}}`, "", "comes back to itself"},
		{"itself in dependencies", `{` + draft7 + `,"dependencies":{"a":{"$ref":"#"}}}`, "", "comes back to itself"},
		{"itself by $recursiveRef", `{` + draft2019 + `,"$recursiveRef":"#"}`, "", "comes back to itself"},
		{"itself by $recursiveRef in allOf",
			`{` + draft2019 + `,"$recursiveAnchor":true,"allOf":[{"$recursiveRef":"#"}]}`, "", "comes back to itself"},
		{"the outermost by $recursiveRef",
			`{` + draft2019 +
				`,"$id":"http://x.test/a","$recursiveAnchor":true,"$ref":"b","$defs":{"b":{"$id":"b",` +
				`"$recursiveAnchor":true,"anyOf":[{"$recursiveRef":"#"}]}}}`, "", "comes back to itself"},
		{"itself by $dynamicRef", `{"$dynamicAnchor":"a","$dynamicRef":"#a"}`, "", "comes back to itself"},
		{"itself by $dynamicRef of a pointer", `{"allOf":[{"$dynamicRef":"#"}]}`, "", "comes back to itself"},
		{"the outermost by $dynamicRef",
			`{"$id":"http://x.test/a","$dynamicAnchor":"n","$ref":"b","$defs":{"b":{"$id":"b","$dynamicAnchor":"n",` +
				`"properties":{},"not":{"$dynamicRef":"#n"}}}}`, "", "comes back to itself"},
		{"itself at an unusual place", `{"$ref":"#/x/y","x":{"y":{"allOf":[{"$ref":"#/x/y"}]}}}`, "/x/y",
			"comes back to itself"},

		{"201 subschemas in a row", chain(201), "", "201 subschemas in a row"},
		{"9000 subschemas", `{"properties":{` + many(9000, `"p#i":{"type":"string"}`, ",") + `}}`, "", "too complex"},
		{"5000 ids", `{"$defs":{` + many(5000, `"p#i":{"$id":"i#i"}`, ",") + `}}`, "", "too complex"},
		{"2000 unusual places",
			`{"x":[` + many(2000, `{"a":1}`, ",") + `],"allOf":[` + many(2000, `{"$ref":"#/x/#i"}`, ",") + `]}`, "",
			"too complex"},
		{"long names everywhere",
			`{"properties":{"` + strings.Repeat("x", 100_000) + `":{"properties":{` +
				many(500, `"p#i":{"type":"string"}`, ",") + `}}}}`, "", "too complex"},
		{"an enum of 30,000 values in arrays", `{` + draft4 + `,"enum":[[` + many(30_000, `#i`, ",") + `]]}`, "",
			"too complex"},
		{"a number of 1001 digits", `{"default":{"a":[` + strings.Repeat("7", 1001) + `]}}`, "/default/a/0",
			"1000 digits"},
		{"a huge exponent", `{"multipleOf":1e1000000}`, "/multipleOf", "1000 digits"},
		{"an exponent beyond all", `{"multipleOf":1e99999999999999999999}`, "/multipleOf", "1000 digits"},
		{"a length beyond all", `{"maxLength":18446744073709551616}`, "/maxLength", "2^53"},

		{"more than 4 KiB of patterns",
			`{"pattern":"` + strings.Repeat("a", schemaguard.MaxPattern) + `","properties":{"a":{"pattern":"b"}}}`,
			"/properties/a/pattern", "bytes of patterns"},
		{"a resource of an older draft", `{"$ref":"#/$defs/old","$defs":{"old":{"$id":"old.json",` + draft7 + `}}}`,
			"/$defs/old/$schema", "of draft 2020-12"},
		{"a resource of a newer draft",
			`{` + draft7 +
				`,"definitions":{"new":{"$id":"new.json","$schema":"https://json-schema.org/draft/2020-12/schema"}}}`,
			"/definitions/new/$schema", "of draft-07"},
		{"another draft without an id", `{"properties":{"a":{` + draft7 + `}}}`, "/properties/a/$schema",
			"of draft 2020-12"},
		{"a place in another resource",
			`{` + draft7 +
				`,"definitions":{"other":{"$id":"other.json","x":{"y":{}}}},` +
				`"properties":{"a":{"$ref":"other.json#/x/y"}}}`, "/properties/a/$ref", "in another resource"},
		{"one subschema by many names",
			`{"allOf":[{},{"properties":{` + many(1000, `"p#i":{"type":"string"}`, ",") + `}}],"$defs":{` +
				zeros(20, `"d#i":{"$ref":"#/allOf/#01"}`) + `}}`, "/$defs/d0/$ref", "nothing at"},
		{"patterns of names count",
			`{"patternProperties":{"` + strings.Repeat("a", schemaguard.MaxPattern+1) + `":{}}}`, "",
			"bytes of patterns"},
		{"a pattern of 200 KB", `{"pattern":"` + strings.Repeat("a", 200_000) + `"}`, "/pattern", "bytes of patterns"},
		{"a pattern that is not used", `{"$defs":{"a":{"pattern":"("}}}`, "/$defs/a/pattern", "cannot be used"},
		{"a pattern that does not compile", `{"properties":{"a":{"pattern":"a**"}}}`, "/properties/a/pattern",
			"cannot be used"},
		{"wide classes without case, together",
			`{"allOf":[` + many(20, `{"pattern":"(?i:[B-\\u{1e942}])#i"}`, ",") + `]}`, "/allOf/16/pattern",
			"16 characters outside of ASCII"},
		{"a lookaround that is not closed", `{"pattern":"^(?!x"}`, "/pattern", "missing closing )"},
		{"a pattern that refers back to nothing", `{"patternProperties":{"(a)\\2":{}}}`, `/patternProperties/(a)\2`,
			"there is no group 2"},
		{"a pattern of many steps",
			`{"pattern":"(a{0,1000}b{0,999}c.{1000}){1}` + strings.Repeat("[^x]{1000}", 19) + `"}`, "/pattern",
			"too large"},
		{"a pattern at an unusual place", `{"x":{"y":{"pattern":"("}},"$ref":"#/x/y"}`, "/x/y/pattern",
			"cannot be used"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := schemaguard.Compile([]byte(tc.schema))
			var refused *schemaguard.Error
			if !errors.As(err, &refused) {
				t.Fatalf("have %v, want an *Error", err)
			}
			if !strings.HasPrefix(refused.Pointer, tc.at) || !strings.Contains(refused.Reason, tc.says) {
				t.Errorf("have %v\nwant it at %q to say %q", refused, tc.at, tc.says)
			}
			if len(err.Error()) > 1000 {
				t.Errorf("the sentence is %d bytes long", len(err.Error()))
			}
		})
	}
}

func TestCost(t *testing.T) {
	tree := strings.Repeat(`{"children":[`, 20) + strings.Repeat("{},", 300) + "{}" + strings.Repeat("]}", 20)
	var rows strings.Builder
	for i := 0; rows.Len() < 1<<20-200; i++ {
		fmt.Fprintf(&rows,
			`,{"id":%d,"title":"Lorem ipsum %d","url":"https://example.com/a/%d","kind":"video","enabled":true,`+
				`"weight":0.5,"tags":["a","b"]}`, i, i, i)
	}
	row := `{"type":"object","properties":{"id":{"type":"integer","minimum":0},"title":{"type":"string","maxLength":200},
		"url":{"type":"string","pattern":"^https?://[^ ]+$"},"kind":{"enum":["video","photo","link"]},"enabled":{"type":"boolean"},
		"weight":{"type":"number","minimum":0,"maximum":1},"tags":{"type":"array","items":{"type":"string"},"uniqueItems":true}},
		"required":["id","title"],"additionalProperties":false}`
	for _, tc := range []struct {
		name, schema, config string
		costly               bool
	}{
		{"1 MiB of plain data", `{"items":` + row + `}`, "[" + rows.String()[1:] + "]", false},
		{"1 MiB and no rules", `{}`, "[" + strings.Repeat("1,", 1<<19-2) + "1]", false},
		{"a tree", `{"properties":{"children":{"items":{"$ref":"#"}}},"required":[]}`, tree, false},
		{"a tree of alternatives",
			`{"$ref":"#/$defs/n","$defs":{"n":{"oneOf":[{"type":"object","properties":{"leaf":{"type":"number"}},"required":["leaf"]},
			{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/$defs/n"}}},"required":["children"]}]}}}`, tree, false},
		{"a long text", `{"type":"string","minLength":1,"maxLength":2000000}`, `"` + strings.Repeat("é", 1<<19-2) + `"`,
			false},
		{"a long text and a plain pattern", `{"pattern":"^[a-z ]*$"}`, `"` + strings.Repeat("a", 1<<20-2) + `"`, false},
		{"20,000 unique items", `{"uniqueItems":true}`, "[" + strings.Trim(strings.Repeat("1,2,3,4,", 5000), ",") + "]",
			false},
		{"a huge number without rules", `{"type":"number"}`, "1e1000000", false},
		{"a long number without rules", `{}`, strings.Repeat("7", 1<<20), false},

		{"branching recursion",
			`{"anyOf":[{"properties":{"a":{"$ref":"#"}},"required":["x"]},{"properties":{"a":{"$ref":"#"}},` +
				`"required":["y"]}]}`,
			strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), true},
		{"a fan-out of 2^18", doubling(18), `{}`, true},
		{"fan-out in many items", `{"items":` + doubling(12) + `}`, "", true},
		{"a pattern of many steps", `{"pattern":"((a{0,100}){0,10}){0,1}$"}`, `"` + strings.Repeat("a", 200_000) + `"`,
			true},
		{"a pattern of many steps on a name", `{"patternProperties":{"((a{0,100}){0,10}){0,1}$":{}}}`,
			`{"` + strings.Repeat("a", 200_000) + `":1}`, true},
		{"a lookahead on short names",
			`{"patternProperties":{"^(?!variables$|x-).+$":{}},"additionalProperties":false}`, `{"a":1,"variables":2}`,
			false},
		{"a lookahead on a text", `{"pattern":"^(?!.*foo).*$"}`, `"` + strings.Repeat("a", 100_000) + `"`, false},
		{"a back-reference", `{"pattern":"^(['\"]).*\\1$"}`, `"'` + strings.Repeat("a", 100_000) + `'"`, false},
		{"lookaheads on a long text", `{"pattern":"` + strings.Repeat("(?=.*a)", 20) + `"}`,
			`"` + strings.Repeat("a", 1_000_000) + `"`, true},
		{"a back-reference that never ends", `{"pattern":"(a*)*\\1b"}`, `"` + strings.Repeat("a", 50) + `"`, true},
		{"a back-reference that goes back too far", `{"pattern":"^(.*)\\1b"}`,
			`"` + strings.Repeat("a", 1_000_000) + `"`, true},
		{"a back-reference in many names", `{"patternProperties":{"^(a+)+\\1$":{}}}`, "", false},
		{"a huge exponent", `{"multipleOf":0.5}`, "1e1000000", true},
		{"an exponent beyond all", `{"type":"integer"}`, "1e99999999999999999999", true},
		{"a huge exponent to compare", `{"enum":[1,2]}`, "1e1000000", true},
		{"a huge exponent among unique items", `{"uniqueItems":true}`, "[1,1e1000000]", true},
		{"a huge exponent inside a constant's place", `{"const":{"a":1}}`, `{"a":1e1000000}`, true},
		{"a number of 10^6 digits", `{"maximum":5}`, strings.Repeat("7", 1_000_000), true},
		{"twenty long items", `{"uniqueItems":true}`,
			"[" + strings.Trim(strings.Repeat("["+strings.Repeat("1,", 5000)+"1],", 20), ",") + "]", true},
		{"unevaluated in many branches",
			`{"unevaluatedProperties":false,"allOf":[` +
				strings.Trim(strings.Repeat(`{"anyOf":[{"properties":{"a":true}},{"properties":{"b":true}}]},`, 100),
					",") + `]}`, "", true},
		{"contains in contains", `{"contains":{"$ref":"#"},"items":{"$ref":"#"}}`,
			strings.Repeat("[", 60) + strings.Repeat("]", 60), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.config == "" {
				var b strings.Builder
				for i := range 10_000 {
					fmt.Fprintf(&b, `,"%d":%d`, i, i)
				}
				tc.config = "{" + b.String()[1:] + "}"
				if strings.HasPrefix(tc.schema, `{"items"`) {
					tc.config = "[" + strings.Repeat("1,", 10_000) + "1]"
				}
			}
			if strings.HasPrefix(tc.schema, `{"items":{"$ref":"#/$defs`) {
				tc.schema = `{"items":{"$ref":"#/$defs/0"},` +
					strings.TrimPrefix(strings.TrimSuffix(tc.schema, "}"), `{"items":{"$ref":"#/$defs/0",`)
			}
			schema, err := schemaguard.Compile([]byte(tc.schema))
			if err != nil {
				t.Fatal(err)
			}
			d := json.NewDecoder(strings.NewReader(tc.config))
			d.UseNumber()
			var config any
			if err := d.Decode(&config); err != nil {
				t.Fatal(err)
			}
			if _, err := schema.Validate(new(schemaguard.Usage), "", config); errors.Is(err,
				schemaguard.ErrCostly) != tc.costly {
				t.Errorf("have %v, want too costly %v", err, tc.costly)
			}
		})
	}
}
