package strictjson_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/strictjson"
)

func TestCheck(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	tests := []struct{ name, in, want string }{
		{"an object", ` {"a":[1,2.50,1e400,"é\ud83d\ude00"]} `, ""},
		{"a scalar", `true`, ""},
		{"depth at the limit", deep(64), ""},
		{"depth over the limit", deep(65), "nested deeper than 64"},
		{"a million levels", strings.Repeat("[", 1e6), "nested deeper than 64"},
		{"an escaped backslash before u0000", `"\\u0000"`, ""},
		{"empty", ``, "a JSON value is missing"},
		{"blank", " \n", "a JSON value is missing"},
		{"two values", `{} {}`, "something after the JSON value"},
		{"trailing byte", `{}x`, "something after the JSON value"},
		{"cut short", `{"a":`, "ends too early"},
		{"a duplicate name", `{"a":1,"a":2}`, `duplicate member name "a"`},
		{"a duplicate name by escape", `{"a":1,"\u0061":2}`, "duplicate member name"},
		{"a nested duplicate says where", `{"x":[{"a":1,"a":2}]}`, "/x/0/a: duplicate"},
		{"invalid UTF-8", "\"\xff\"", "UTF-8"},
		{"a lone high surrogate", `"\ud800"`, "surrogate"},
		{"a lone low surrogate in a name", `{"\udc00":1}`, "surrogate"},
		{"U+0000", `{"a":"x\u0000"}`, "/a: U+0000"},
		{"U+0000 in a name", `{"a\u0000":1}`, "U+0000"},
		{"a byte order mark", "\ufeff{}", "the JSON text: "},
		{"UTF-16", "\xff\xfe{\x00}\x00", "the JSON text: "},
		{"NaN", `NaN`, "the JSON text: "},
		{"a leading zero", `01`, "after the JSON value"},
		{"a comment", `{/*x*/}`, "the JSON text: "},
		{"a raw control character", "\"a\nb\"", "the JSON text: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := strictjson.Check([]byte(tt.in), strictjson.MaxDepth)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Check = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	type inner struct {
		Name string `json:"name"`
	}
	type body struct {
		Title string          `json:"title"`
		Count int             `json:"count"`
		Tags  []string        `json:"tags"`
		Inner []inner         `json:"inner"`
		Maybe *string         `json:"maybe"`
		Raw   json.RawMessage `json:"raw"`
	}
	tests := []struct{ name, in, want, raw string }{
		{name: "everything", in: `{"title":"x","count":1,"tags":["a"],"inner":[{"name":"n"}],"maybe":null,"raw":1.10}`,
			raw: "1.10"},
		{name: "null for a raw value", in: `{"raw":null}`, raw: "null"},
		{name: "an unknown member", in: `{"titel":"x"}`,
			want: `/titel: unknown member "titel": the members are title, `},
		{name: "another case", in: `{"tItle":"x"}`, want: `unknown member "tItle"`},
		{name: "an unknown member inside", in: `{"inner":[{"name":"n","x":1}]}`,
			want: `/inner/0/x: unknown member "x"`},
		{name: "a wrong type", in: `{"title":1}`, want: "/title: want a string, have a number"},
		{name: "null for a string", in: `{"title":null}`, want: "/title: null is not allowed"},
		{name: "null for a list", in: `{"tags":null}`, want: "/tags: null is not allowed"},
		{name: "null in a list", in: `{"tags":[null]}`, want: "/tags/0: null is not allowed"},
		{name: "a fraction", in: `{"count":1.5}`, want: "/count: want an integer, have a number"},
		{name: "an array", in: `[]`, want: "want an object, have an array"},
		{name: "null", in: `null`, want: "null is not allowed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b body
			err := strictjson.Decode([]byte(tt.in), &b)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Decode = %v, want %q", err, tt.want)
			}
			if tt.raw != string(b.Raw) {
				t.Errorf("raw = %s, want %s, the text as sent", b.Raw, tt.raw)
			}
		})
	}
}

func TestMembers(t *testing.T) {
	got, err := strictjson.Members([]byte(`{"b":1.0,"a":{"x":[]}}`), "a")
	if err != nil || len(got) != 2 || got[0].Name != "b" || string(got[0].Value) != "1.0" ||
		string(got[1].Value) != `{"x":[]}` {
		t.Errorf("Members = %q, %v", got, err)
	}
	if _, err := strictjson.Members([]byte(`{"Main":1}`), "main"); err == nil {
		t.Error("a case variant of a known name was accepted")
	}
	if _, err := strictjson.Members([]byte(`[]`)); err == nil {
		t.Error("an array was accepted")
	}
}

// What passes must be JSON to the standard library too, and must not change by being read.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{`{"a":[1,"x",null]}`, `"\ud83d\ude00"`, `{"a":1,"a":2}`, `[[[]]]`, `1e999`, `"\u0000"`,
		``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := strictjson.Check(data, strictjson.MaxDepth)
		if err == nil && !json.Valid(data) {
			t.Errorf("accepted what is no JSON: %q", data)
		}
		var v any
		if strictjson.Decode(data, &v) == nil && err != nil {
			t.Errorf("Decode accepts what Check refuses: %q: %v", data, err)
		}
	})
}

func TestWithinIsWhereAFaultIsInTheWhole(t *testing.T) {
	var v struct{ A int }
	for _, c := range []struct {
		err  error
		want string
	}{
		{strictjson.Decode([]byte(`"x"`), &v), "/b/0: want an object, have a string"},
		{strictjson.Check([]byte(`{"a":{"c":1,"c":2}}`), 8), `/b/0/a/c: duplicate member name "c"`},
		{errors.New("odd"), "/b/0: odd"},
	} {
		if got := strictjson.Within("/b/0", c.err); got.Error() != c.want {
			t.Errorf("%v becomes %q, want %q", c.err, got, c.want)
		}
	}
}
