package rawjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/appsvc/internal/rawjson"
)

func TestMembers(t *testing.T) {
	got, err := rawjson.Members([]byte(` { "a" : {"x":["}"]} ,"b\u0041\"":-1.50, "c":"\\" , "":[] } `))
	want := rawjson.Object{{"a", []byte(`{"x":["}"]}`)}, {`bA"`, []byte(`-1.50`)}, {"c", []byte(`"\\"`)}, {"", []byte(`[]`)}}
	if err != nil || len(got) != len(want) {
		t.Fatalf("Members = %q, %v", got, err)
	}
	for i := range want {
		if got[i].Name != want[i].Name || !bytes.Equal(got[i].Value, want[i].Value) {
			t.Errorf("member %d = %q, want %q", i, got[i], want[i])
		}
	}
	if string(got.Get("c")) != `"\\"` || got.Get("none") != nil {
		t.Errorf("Get = %q, %q", got.Get("c"), got.Get("none"))
	}
	for _, bad := range []string{``, `[]`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a" 1}`, `{1:2}`, `{"a":"x}`, `{"a":{}`, `{"a":1 "b":2}`} {
		if _, err := rawjson.Members([]byte(bad)); !errors.Is(err, rawjson.ErrNotJSON) {
			t.Errorf("Members(%s) = %v, want ErrNotJSON", bad, err)
		}
	}
}

func TestItems(t *testing.T) {
	got, err := rawjson.Items([]byte(` [1, "a,]" ,[ ] , {"x":[2]},null ] `))
	if err != nil || string(bytes.Join(got, []byte("|"))) != `1|"a,]"|[ ]|{"x":[2]}|null` {
		t.Errorf("Items = %q, %v", got, err)
	}
	if got, err := rawjson.Items([]byte(`[]`)); err != nil || len(got) != 0 {
		t.Errorf("Items([]) = %q, %v", got, err)
	}
	for _, bad := range []string{``, `{}`, `[`, `[1`, `[1 2]`, `[[]`, `["]`} {
		if _, err := rawjson.Items([]byte(bad)); !errors.Is(err, rawjson.ErrNotJSON) {
			t.Errorf("Items(%s) = %v, want ErrNotJSON", bad, err)
		}
	}
}

func TestLookup(t *testing.T) {
	tests := []struct {
		data, name string
		index      int
		value      string
		kind       byte
	}{
		{`{"a":1,"b":{"a":2}}`, "b", 0, `{"a":2}`, '{'},
		{`{"\u0061":1}`, "a", 0, `1`, '{'},
		{`{"a":1}`, "c", 0, ``, '{'},
		{`{}`, "", 0, ``, '{'},
		{`{"":[]}`, "", 0, `[]`, '{'},
		{`[ 1 , [2] ]`, "", 1, `[2]`, '['},
		{`[1]`, "", 1, ``, '['},
		{`[]`, "", 0, ``, '['},
		{`"a"`, "a", 0, ``, 0},
	}
	for _, tt := range tests {
		var value []byte
		at, kind, err := rawjson.Lookup([]byte(tt.data), tt.name, tt.index)
		if at >= 0 {
			value, _ = rawjson.Cut([]byte(tt.data[at:]))
		}
		if string(value) != tt.value || kind != tt.kind || err != nil {
			t.Errorf("Lookup(%s, %q, %d) = %q, %q, %v", tt.data, tt.name, tt.index, value, kind, err)
		}
	}
	for _, bad := range []string{`{"a"`, `{"a":1`, `[1`} {
		if _, _, err := rawjson.Lookup([]byte(bad), "z", 9); !errors.Is(err, rawjson.ErrNotJSON) {
			t.Errorf("Lookup(%s) = %v, want ErrNotJSON", bad, err)
		}
	}
}

func TestText(t *testing.T) {
	for data, want := range map[string]string{`""`: "", `"a b"`: "a b", `"\u0041\"\\"`: `A"\`} {
		if got, ok := rawjson.Text([]byte(data)); got != want || !ok {
			t.Errorf("Text(%s) = %q, %v, want %q", data, got, ok, want)
		}
	}
	for _, data := range []string{``, `"`, `1`, `null`, `{"a":"b"}`, `["a"]`, `"\x"`} {
		if got, ok := rawjson.Text([]byte(data)); ok {
			t.Errorf("Text(%s) = %q, want none", data, got)
		}
	}
}

func TestWidest(t *testing.T) {
	for data, want := range map[string]int{`1`: 0, `[1,2,3]`: 3, `{"a":[1,",,,,"],"b":{"c":[1,2,3,4]}}`: 4, `[[],[]]`: 2, `]]`: 0, `["`: 0} {
		if got := rawjson.Widest([]byte(data)); got != want {
			t.Errorf("Widest(%s) = %d, want %d", data, got, want)
		}
	}
}

// On valid text the parts are those that encoding/json finds; on any other nothing breaks.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":[{"c":"\"}"}]}`, ` [ {} , "x" ] `, `{"a\\":{}}`, `{`, `{"a":1,}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		members, err := rawjson.Members(data)
		items, itemsErr := rawjson.Items(data)
		_, _, _ = rawjson.Lookup(data, "a", 1)
		if value, rest := rawjson.Cut(data); len(value)+len(rest) != len(data) {
			t.Fatalf("%q is cut into %q and %q", data, value, rest)
		}
		_ = rawjson.Widest(data)
		var object map[string]json.RawMessage
		if utf8.Valid(data) && json.Unmarshal(data, &object) == nil && object != nil {
			if err != nil {
				t.Fatalf("%q: %v", data, err)
			}
			last := rawjson.Object{}
			for i := len(members) - 1; i >= 0; i-- { // encoding/json keeps the last of a name
				last = append(last, members[i])
			}
			for name, value := range object {
				if !bytes.Equal(last.Get(name), value) {
					t.Fatalf("%q: %q is %q, want %q", data, name, last.Get(name), value)
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

func TestBounds(t *testing.T) {
	for _, test := range []struct {
		text  string
		count int
		depth int
	}{{`[]`, 0, 1}, {`[1]`, 1, 1}, {`["[",[[2],3],{"a":"{{"}]`, 3, 3}, {`{}`, 0, 1}, {`{"a,":[1,2],"b":"}"}`, 2, 2}} {
		text := []byte(test.text)
		for most := range 5 {
			var err error
			if text[0] == '[' {
				_, err = rawjson.ItemsUpTo(text, most)
			} else {
				_, err = rawjson.MembersUpTo(text, most)
			}
			if want := most < test.count; errors.Is(err, rawjson.ErrTooMany) != want {
				t.Errorf("%s up to %d: %v, too many: %t", text, most, err, want)
			}
		}
		if got := rawjson.Depth(text); got != test.depth {
			t.Errorf("the depth of %s is %d, want %d", text, got, test.depth)
		}
	}
	if got := rawjson.Depth([]byte(`"[[["`)); got != 0 {
		t.Errorf("the depth of a string is %d", got)
	}
}
