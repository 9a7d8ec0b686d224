package appsvc_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// withElements returns an app with these elements.
func withElements(elements ...string) appsvc.App {
	return appsvc.App{ID: "a", Version: vitrine.NewVersion(3),
		Body: appsvc.Body(`{"title":"x","owner":{"urn":"u"},"groups":["g"],"elements":[` + strings.Join(elements, ",") +
			`]}`)}
}

// elementOf returns the element at an index, of a component with this schema.
func elementOf(i int, schema, config string) string {
	return fmt.Sprintf(`{"id":"%d","key":"0.0","component":{"name":"c","version":"1","id":"i","description":null,`+
		`"main":"/x.js","configSchema":%s},"config":%s}`, i, schema, config)
}

func TestWithDefaults(t *testing.T) {
	for _, tc := range []struct{ name, schema, config, want string }{
		{"nothing to add", `{}`, `{"a":1}`, `{"a":1}`},
		{"a boolean schema", `true`, `{"a":1}`, `{"a":1}`},
		{"a property", `{"properties":{"a":{"default":1}}}`, `{}`, `{"a":1}`},
		{"the creator's value wins", `{"properties":{"a":{"default":1}}}`, `{"a":2}`, `{"a":2}`},
		{"null is a value", `{"properties":{"a":{"default":1}}}`, `{"a":null}`, `{"a":null}`},
		{"null is a default", `{"properties":{"a":{"default":null}}}`, `{}`, `{"a":null}`},
		{"a value of another type is left alone", `{"properties":{"a":{"properties":{"b":{"default":1}}}}}`,
			`{"a":"x"}`, `{"a":"x"}`},
		{"creator's order, then the schema's", `{"properties":{"z":{"default":1},"b":{"default":2},"a":{"default":3}}}`,
			`{"y":0,"b":9}`, `{"y":0,"b":9,"z":1,"a":3}`},
		{"numbers keep their text", `{"properties":{"a":{"default":9007199254740993},"b":{"default":1.10}}}`,
			`{"c":1e2}`, `{"c":1e2,"a":9007199254740993,"b":1.10}`},
		{"strings keep their text", `{"properties":{"a":{"default":"\u00e9\/"}}}`, `{"b":"\u0041"}`,
			`{"b":"\u0041","a":"\u00e9\/"}`},
		{"nested in the creator's object", `{"properties":{"a":{"properties":{"b":{"default":1}}}}}`, `{"a":{}}`,
			`{"a":{"b":1}}`},
		{"an absent value of any type is not made up", `{"properties":{"a":{"properties":{"b":{"default":1}}}}}`, `{}`,
			`{}`},
		{"an absent object is made up",
			`{"properties":{"a":{"type":"object","properties":{"b":{"default":1},"c":{}}}}}`, `{}`, `{"a":{"b":1}}`},
		{"objects in objects too",
			`{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"object",` +
				`"properties":{"b":{"type":"object","properties":{"c":{"default":"\u0041"}}}}}}}`, `{}`,
			`{"a":{"b":{"c":"\u0041"}}}`},
		{"without defaults inside it is not", `{"properties":{"a":{"type":"object","properties":{"b":{}}}}}`, `{}`,
			`{}`},
		{"nor one that would break the schema",
			`{"properties":{"a":{"type":"object","properties":{"b":{"default":1}},"required":["c"]}}}`, `{}`, `{}`},
		{"nor one that a schema beside the reference refuses",
			`{"properties":{"a":{"$ref":"#/$defs/x","maxProperties":0}},"$defs":{"x":{"type":"object",` +
				`"properties":{"b":{"default":1}}}}}`, `{}`, `{}`},
		{"nor one that may be null", `{"properties":{"a":{"type":["object","null"],"properties":{"b":{"default":1}}}}}`,
			`{}`, `{}`},
		{"nor one with a default of its own",
			`{"properties":{"a":{"type":"object","default":5,"properties":{"b":{"default":1}}}}}`, `{}`, `{}`},
		{"nor one inside one of the same schema",
			`{"type":"object","properties":{"n":{"default":1},"next":{"$ref":"#"}}}`, `{"next":{}}`,
			`{"next":{"n":1},"n":1}`},
		{"a default that breaks its schema is none",
			`{"properties":{"a":{"type":"string","default":1},"b":{"allOf":[{"default":"x","type":"number"},` +
				`{"default":2}]}}}`, `{}`, `{"b":2}`},
		{"in a schema that is refused, defaults count and nothing is made up",
			`{"type":"no","properties":{"a":{"type":"string","default":1},"b":{"type":"object",` +
				`"properties":{"c":{"default":2}}}}}`, `{}`, `{"a":1}`},
		{"a default object is completed",
			`{"properties":{"a":{"default":{"c":1},"properties":{"b":{"default":2},"c":{"default":3}}}}}`, `{}`,
			`{"a":{"c":1,"b":2}}`},
		{"through a reference", `{"$ref":"#/$defs/x","$defs":{"x":{"properties":{"a":{"default":1}}}}}`, `{}`,
			`{"a":1}`},
		{"the default of a reference's target", `{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"default":1}}}`,
			`{}`, `{"a":1}`},
		{"beside a reference", `{"properties":{"a":{"$ref":"#/$defs/x","default":2}},"$defs":{"x":{"default":1}}}`,
			`{}`, `{"a":2}`},
		{"an anchor", `{"properties":{"a":{"$ref":"#x"}},"$defs":{"y":{"$anchor":"x","default":1}}}`, `{}`, `{"a":1}`},
		{"an escaped pointer", `{"properties":{"a":{"$ref":"#/$defs/x~1y%20z"}},"$defs":{"x/y z":{"default":1}}}`, `{}`,
			`{"a":1}`},
		{"a reference to nowhere", `{"properties":{"a":{"$ref":"#/$defs/x"}}}`, `{}`, `{}`},
		{"a reference elsewhere", `{"properties":{"a":{"$ref":"http://example.com/#/x"}}}`, `{}`, `{}`},
		{"allOf, the first one counts",
			`{"allOf":[{"properties":{"a":{"default":1}}},{"properties":{"a":{"default":2},"b":{"default":3}}}]}`, `{}`,
			`{"a":1,"b":3}`},
		{"allOf of a property", `{"properties":{"a":{"allOf":[{"type":"number"},{"default":1}]}}}`, `{}`, `{"a":1}`},
		{"alternatives say nothing",
			`{"anyOf":[{"properties":{"a":{"default":1}}}],"oneOf":[{"properties":{"b":{"default":1}}}],"if":{},` +
				`"then":{"properties":{"c":{"default":1}}}}`, `{}`, `{}`},
		{"items", `{"items":{"properties":{"a":{"default":1}}}}`, `[{},{"a":2},3]`, `[{"a":1},{"a":2},3]`},
		{"prefixItems",
			`{"prefixItems":[{"properties":{"a":{"default":1}}}],"items":{"properties":{"b":{"default":2}}}}`,
			`[{},{}]`, `[{"a":1},{"b":2}]`},
		{"a list of items",
			`{"items":[{"properties":{"a":{"default":1}}}],"additionalItems":{"properties":{"b":{"default":2}}}}`,
			`[{},{}]`, `[{"a":1},{"b":2}]`},
		{"no elements are made up", `{"items":{"default":1},"minItems":2}`, `[]`, `[]`},
		{"a default is not put into itself", `{"properties":{"a":{"$ref":"#","default":{}}}}`, `{}`, `{"a":{}}`},
		{"nor by way of another schema",
			`{"allOf":[{"properties":{"a":{"$ref":"#"}}}],"properties":{"a":{"default":{}}}}`, `{}`, `{"a":{}}`},
		{"a recursive schema", `{"properties":{"n":{"default":1},"next":{"$ref":"#"}}}`, `{"next":{"next":{}}}`,
			`{"next":{"next":{"n":1},"n":1},"n":1}`},
		{"a reference to itself", `{"$ref":"#"}`, `{}`, `{}`},
		{"keywords of other types", `{"properties":[1],"allOf":{},"$ref":5,"items":7}`, `{"a":[1]}`, `{"a":[1]}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := withElements(elementOf(0, tc.schema, tc.config)).WithDefaults(t.Context())
			if want := withElements(elementOf(0, tc.schema, tc.want)); err != nil ||
				string(got.Body) != string(want.Body) {
				t.Errorf("have %s, %v\nwant %s", got.Body, err, want.Body)
			}
		})
	}
}

func TestWithDefaultsRefuses(t *testing.T) {
	manyItems := "[" + strings.Repeat("{},", 20000) + "{}]"
	mutual := `{"$ref":"#/$defs/n","$defs":{"n":{"properties":{`
	for i := range 12 {
		mutual += fmt.Sprintf(`"p%d":{"default":{"v":%d},"$ref":"#/$defs/n"},`, i, i)
	}
	mutual = strings.TrimSuffix(mutual, ",") + `}}}}`
	for _, tc := range []struct{ name, schema, config string }{
		{"objects to make up that take long to validate",
			`{"items":{"properties":{"a":{"type":"object","properties":{"b":{"default":"` + strings.Repeat("x", 1000) +
				`"}},` +
				`"additionalProperties":false,"patternProperties":{"b":{"pattern":"(x{0,100}){0,9}$"}}}}}}`, manyItems},
		{"a large default in many items",
			`{"items":{"properties":{"a":{"default":"` + strings.Repeat("x", 5000) + `"}}}}`, manyItems},
		{"defaults that multiply", mutual, `{}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := withElements(elementOf(0, tc.schema, tc.config)).WithDefaults(t.Context()); !errors.Is(err,
				vitrine.ErrUnprocessable) {
				t.Errorf("have %d bytes, %v, want ErrUnprocessable", len(got.Body), err)
			}
		})
	}
}

func TestAnAppWithDefaultsHasEachConfigCompleted(t *testing.T) {
	const one, two = `{"properties":{"a":{"default":1.10}}}`, `{"properties":{"a":{"default":[2]}}}`
	stored := withElements(elementOf(0, one, `{}`), elementOf(1, one, `{"a":5}`), elementOf(2, two, `{"b":{"a":1}}`))
	want := withElements(elementOf(0, one, `{"a":1.10}`), elementOf(1, one, `{"a":5}`),
		elementOf(2, two, `{"b":{"a":1},"a":[2]}`))
	have, err := stored.WithDefaults(t.Context())
	if err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("have %s, %v\nwant %s", have.Body, err, want.Body)
	}
	if none, err := withElements().WithDefaults(t.Context()); err != nil ||
		string(none.Body) != string(withElements().Body) {
		t.Errorf("without elements: %s, %v", none.Body, err)
	}
	rest := 16<<20 - len(want.AppendJSON(nil)) - len(`{"apps":[],"more":""}`)
	large := func(more string) appsvc.App {
		a := stored
		a.Body = bytes.Replace(a.Body, []byte(`"config":{}`), []byte(`"config":{"more":"`+more+`"}`), 1)
		return a
	}
	if _, err := large(strings.Repeat("x", rest)).WithDefaults(t.Context()); err != nil {
		t.Errorf("an answer of just as many bytes as are allowed: %v", err)
	}
	_, err = large(strings.Repeat("x", rest+1)).WithDefaults(t.Context())
	if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Kind != vitrine.ErrUnprocessable ||
		e.Code != vitrine.CodeCost || e.Parameter != "withDefaults" {
		t.Errorf("an answer of one byte more than is allowed: %v", err)
	}
}

// The work of all elements together has one bound: many that are just small enough are too many.
func TestAnAppWithTooMuchToCompleteIsRefused(t *testing.T) {
	config := `{"a":[` + strings.Repeat(`{},`, 200_000) + `{}]}`
	var elements []string
	for i := range 20 {
		elements = append(elements, elementOf(i, `{"properties":{"a":{"items":{"properties":{"b":{}}}}}}`, config))
	}
	if _, err := withElements(elements...).WithDefaults(t.Context()); !errors.Is(err, vitrine.ErrUnprocessable) {
		t.Errorf("have %v, want ErrUnprocessable", err)
	}
}
