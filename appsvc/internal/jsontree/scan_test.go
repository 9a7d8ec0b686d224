package jsontree

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"testing"
	"unicode/utf8"
)

func TestMembers(t *testing.T) {
	got, err := members([]byte(` { "a" : {"x":["}"]} ,"b\u0041\"":-1.50, "c":"\\" , "":[] } `))
	want := map[string]string{"a": `{"x":["}"]}`, `bA"`: `-1.50`, "c": `"\\"`, "": `[]`}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("have %q, %v, want %q", got, err, want)
	}
	for _, bad := range []string{``, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a" 1}`, `{1:2}`, `{"a":"x}`, `{"a":{}`} {
		if _, err := members([]byte(bad)); !errors.Is(err, errNotJSON) {
			t.Errorf("members of %s: %v, want ErrNotJSON", bad, err)
		}
	}
}

// members returns the members of an object by their decoded names, the last one of each name.
func members(data []byte) (map[string]string, error) {
	out := map[string]string{}
	err := each(data, func(name, value []byte) bool {
		text, _ := Text(name)
		out[text] = string(value)
		return true
	})
	return out, err
}

func TestItems(t *testing.T) {
	got, err := Items([]byte(` [1, "a,]" ,[ ] , {"x":[2]},null ] `))
	if err != nil || string(bytes.Join(got, []byte("|"))) != `1|"a,]"|[ ]|{"x":[2]}|null` {
		t.Errorf("Items = %q, %v", got, err)
	}
	if got, err := Items([]byte(`[]`)); err != nil || len(got) != 0 {
		t.Errorf("Items([]) = %q, %v", got, err)
	}
	for _, bad := range []string{``, `{}`, `[`, `[1`, `[[]`, `["]`} {
		if _, err := Items([]byte(bad)); !errors.Is(err, errNotJSON) {
			t.Errorf("Items(%s) = %v, want ErrNotJSON", bad, err)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, tt := range [][3]string{
		{`{"a":1,"b":{"a":2}}`, "b", `{"a":2}`}, {` { "\u0061" : 1}`, "a", `1`}, {`{"a":1}`, "c", ``}, {`{}`, "", ``},
		{`{"":[]}`, "", `[]`},
		{`"a"`, "a", ``}, {`["a"]`, "a", ``}, {`{"a"`, "a", ``}, {`{"a":1`, "z", ``},
	} {
		if value := Member([]byte(tt[0]), tt[1]); string(value) != tt[2] {
			t.Errorf("Member(%s, %q) = %q, want %q", tt[0], tt[1], value, tt[2])
		}
	}
}

func TestText(t *testing.T) {
	for data, want := range map[string]string{`""`: "", `"a b"`: "a b", `"\u0041\"\\"`: `A"\`} {
		if got, ok := Text([]byte(data)); got != want || !ok {
			t.Errorf("Text(%s) = %q, %v, want %q", data, got, ok, want)
		}
	}
	for _, data := range []string{``, `"`, `1`, `null`, `{"a":"b"}`, `["a"]`, `"\x"`} {
		if got, ok := Text([]byte(data)); ok {
			t.Errorf("Text(%s) = %q, want none", data, got)
		}
	}
}

// On valid text the parts are those that encoding/json finds; on any other nothing breaks.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":[{"c":"\"}"}]}`, ` [ {} , "x" ] `, `{"a\\":{}}`, `{`, `{"a":1,}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := members(data)
		items, itemsErr := Items(data)
		_ = Lookup(data, "a")
		if value, rest := Cut(data); value != nil && !bytes.HasSuffix(data, append(bytes.Clone(value), rest...)) {
			t.Fatalf("%q is cut into %q and %q", data, value, rest)
		}
		var object map[string]json.RawMessage
		if utf8.Valid(data) && json.Unmarshal(data, &object) == nil && object != nil {
			if err != nil || len(got) != len(object) {
				t.Fatalf("%q: %q, %v", data, got, err)
			}
			for name, value := range object {
				if got[name] != string(value) {
					t.Fatalf("%q: %q is %q, want %q", data, name, got[name], value)
				}
			}
		}
		var array []json.RawMessage
		if json.Unmarshal(data, &array) == nil && array != nil {
			if itemsErr != nil || len(items) != len(array) {
				t.Fatalf("%q: %q, %v", data, items, itemsErr)
			}
			for i := range array {
				if !bytes.Equal(items[i], array[i]) {
					t.Fatalf("%q: item %d is %q, want %q", data, i, items[i], array[i])
				}
			}
		}
	})
}
