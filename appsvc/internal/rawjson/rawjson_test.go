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

// On valid text the parts are those that encoding/json finds; on any other nothing breaks.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":[{"c":"\"}"}]}`, ` [ {} , "x" ] `, `{"a\\":{}}`, `{`, `{"a":1,}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		members, err := rawjson.Members(data)
		items, itemsErr := rawjson.Items(data)
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
