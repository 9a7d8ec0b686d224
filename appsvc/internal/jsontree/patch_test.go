package jsontree_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
)

var limits = jsontree.Limits{Copies: 4 << 20, Work: 20 << 20}

func run(doc, patch string) (string, error) { return runWithin(doc, patch, limits) }

// apply returns the document after the operations.
func apply(doc []byte, ops []jsontree.Op, limits jsontree.Limits) ([]byte, error) {
	n := jsontree.New(doc)
	err := n.Patch(ops, limits)
	return n.Append(nil), err
}

func runWithin(doc, patch string, limits jsontree.Limits) (string, error) {
	ops, err := jsontree.Decode([]byte(patch), 1000)
	if err != nil {
		return "", err
	}
	out, err := apply([]byte(doc), ops, limits)
	return string(out), err
}

// The cases of the public test suite for JSON Patch in short, and those that the library gets
// wrong. A patch is written as operations without the brackets around them.
func TestApply(t *testing.T) {
	tests := []struct {
		name, doc, patch, want string
		err                    error
	}{
		{"no operations", `{"foo":1}`, ``, `{"foo":1}`, nil},
		{"add replaces a member", `{"foo":null}`, `{"op":"add","path":"/foo","value":1}`, `{"foo":1}`, nil},
		{"add to an array document", `[]`, `{"op":"add","path":"/0","value":"foo"}`, `["foo"]`, nil},
		{"add an array as the document", `{}`, `{"op":"add","path":"","value":[]}`, `[]`, nil},
		{"add an object as the document", `[]`, `{"op":"add","path":"","value":{}}`, `{}`, nil},
		{"append", `[]`, `{"op":"add","path":"/-","value":"hi"}`, `["hi"]`, nil},
		{"append further down", `[1,2,[3,[4,5]]]`, `{"op":"add","path":"/2/1/-","value":{"foo":["bar"]}}`,
			`[1,2,[3,[4,5,{"foo":["bar"]}]]]`, nil},
		{"add the empty name", `{}`, `{"op":"add","path":"/","value":1}`, `{"":1}`, nil},
		{"add the empty name further down", `{"foo":{}}`, `{"op":"add","path":"/foo/","value":1}`, `{"foo":{"":1}}`,
			nil},
		{"go through the empty name", `{"":{"a":1.10}}`, `{"op":"replace","path":"//a","value":{"":2}}`,
			`{"":{"a":{"":2}}}`, nil},
		{"copy and move by the empty name", `{"":1}`,
			`{"op":"copy","from":"/","path":"/a"},{"op":"move","from":"/","path":"/b"}`, `{"a":1,"b":1}`, nil},
		{"remove the empty name", `{"":1,"a":2}`, `{"op":"remove","path":"/"}`, `{"a":2}`, nil},
		{"test the empty name", `{"":1}`, `{"op":"test","path":"/","value":1}`, `{"":1}`, nil},
		{"add a composite value", `{"foo":1}`, `{"op":"add","path":"/bar","value":[1,2]}`, `{"foo":1,"bar":[1,2]}`,
			nil},
		{"add null", `{"foo":1}`, `{"op":"add","path":"/bar","value":null}`, `{"foo":1,"bar":null}`, nil},
		{"a number as a member name", `{"foo":1}`, `{"op":"add","path":"/0","value":"bar"}`, `{"foo":1,"0":"bar"}`,
			nil},
		{"insert in an array", `["foo","sil"]`, `{"op":"add","path":"/1","value":["bar","baz"]}`,
			`["foo",["bar","baz"],"sil"]`, nil},
		{"insert at the end", `["foo","sil"]`, `{"op":"add","path":"/2","value":"bar"}`, `["foo","sil","bar"]`, nil},
		{"insert after the end", `["foo","sil"]`, `{"op":"add","path":"/3","value":"bar"}`, ``,
			vitrine.ErrUnprocessable},
		{"insert far after the end", `[]`, `{"op":"add","path":"/1000000000","value":"bar"}`, ``,
			vitrine.ErrUnprocessable},
		{"insert past any integer", `[]`, `{"op":"add","path":"/99999999999999999999","value":"bar"}`, ``,
			vitrine.ErrUnprocessable},
		{"a negative index", `{"bar":[1,2]}`, `{"op":"add","path":"/bar/-1","value":"5"}`, ``,
			vitrine.ErrUnprocessable},
		{"a negative index of a replace", `[1,2]`, `{"op":"replace","path":"/-1","value":5}`, ``,
			vitrine.ErrUnprocessable},
		{"a leading zero", `[1,2]`, `{"op":"replace","path":"/01","value":5}`, ``, vitrine.ErrUnprocessable},
		{"a leading zero on the way", `[[1],[2]]`, `{"op":"replace","path":"/01/0","value":5}`, ``,
			vitrine.ErrUnprocessable},
		{"a plus sign", `[1,2]`, `{"op":"remove","path":"/+1"}`, ``, vitrine.ErrUnprocessable},
		{"a plus sign of a copy", `[1,2]`, `{"op":"copy","from":"/+1","path":"/0"}`, ``, vitrine.ErrUnprocessable},
		{"a leading zero in an array made by the patch", `{}`,
			`{"op":"add","path":"/a","value":[1,2]},{"op":"remove","path":"/a/01"}`, ``, vitrine.ErrUnprocessable},
		{"a leading zero as a member name", `{"01":1,"-1":1,"+1":1}`,
			`{"op":"replace","path":"/01","value":5},{"op":"remove","path":"/-1"},{"op":"remove","path":"/+1"}`,
			`{"01":5}`, nil},
		{"an exponent", `["foo","bar"]`, `{"op":"remove","path":"/1e0"}`, ``, vitrine.ErrUnprocessable},
		{"a name on an array", `["foo","sil"]`, `{"op":"add","path":"/bar","value":42}`, ``, vitrine.ErrUnprocessable},
		{"a name on a scalar", `{"a":1}`, `{"op":"add","path":"/a/b","value":42}`, ``, vitrine.ErrUnprocessable},
		{"below null", `{"a":null}`, `{"op":"add","path":"/a/b","value":42}`, ``, vitrine.ErrUnprocessable},
		{"remove a member", `{"foo":1,"bar":[1,2]}`, `{"op":"remove","path":"/bar"}`, `{"foo":1}`, nil},
		{"remove deep", `{"baz":[{"qux":"hello"}]}`, `{"op":"remove","path":"/baz/0/qux"}`, `{"baz":[{}]}`, nil},
		{"remove one after another", `[1,2,3,4]`, `{"op":"remove","path":"/1"},{"op":"remove","path":"/2"}`, `[1,3]`,
			nil},
		{"remove null", `{"foo":null}`, `{"op":"remove","path":"/foo"}`, `{}`, nil},
		{"remove what is not there", `{"foo":"bar"}`, `{"op":"remove","path":"/baz"}`, ``, vitrine.ErrUnprocessable},
		{"remove after the end", `["foo"]`, `{"op":"remove","path":"/1"}`, ``, vitrine.ErrUnprocessable},
		{"remove the place after the end", `["foo"]`, `{"op":"remove","path":"/-"}`, ``, vitrine.ErrUnprocessable},
		{"remove the document", `{}`, `{"op":"remove","path":""}`, ``, vitrine.ErrUnprocessable},
		{"replace deep", `{"baz":[{"qux":"hello"}]}`, `{"op":"replace","path":"/baz/0/qux","value":"world"}`,
			`{"baz":[{"qux":"world"}]}`, nil},
		{"replace by null", `[""]`, `{"op":"replace","path":"/0","value":null}`, `[null]`, nil},
		{"replace null", `{"foo":null}`, `{"op":"replace","path":"/foo","value":"x"}`, `{"foo":"x"}`, nil},
		{"replace the document", `{"foo":"bar"}`, `{"op":"replace","path":"","value":{"baz":"qux"}}`, `{"baz":"qux"}`,
			nil},
		{"replace the document, go on", `{"foo":"bar"}`,
			`{"op":"replace","path":"","value":{"a":[]}},{"op":"add","path":"/a/-","value":1}`, `{"a":[1]}`, nil},
		{"replace with a missing parent", `{"bar":"baz"}`, `{"op":"replace","path":"/foo/bar","value":false}`, ``,
			vitrine.ErrUnprocessable},
		{"replace what is not there", `{"bar":"baz"}`, `{"op":"replace","path":"/foo","value":false}`, ``,
			vitrine.ErrUnprocessable},
		{"replace the place after the end", `[1]`, `{"op":"replace","path":"/-","value":false}`, ``,
			vitrine.ErrUnprocessable},
		{"replace at the length", `[1]`, `{"op":"replace","path":"/1","value":false}`, ``, vitrine.ErrUnprocessable},
		{"move a member", `{"foo":1,"baz":[]}`, `{"op":"move","from":"/foo","path":"/bar"}`, `{"baz":[],"bar":1}`, nil},
		{"move to the same place", `{"foo":1}`, `{"op":"move","from":"/foo","path":"/foo"}`, `{"foo":1}`, nil},
		{"move null", `{"foo":null}`, `{"op":"move","from":"/foo","path":"/bar"}`, `{"bar":null}`, nil},
		{"move between containers", `{"baz":[{"qux":"hello"}]}`, `{"op":"move","from":"/baz/0/qux","path":"/baz/1"}`,
			`{"baz":[{},"hello"]}`, nil},
		{"move inside an array", `[1,2,3]`, `{"op":"move","from":"/0","path":"/2"}`, `[2,3,1]`, nil},
		{"move into itself", `{"a":{"b":1}}`, `{"op":"move","from":"/a","path":"/a/b"}`, ``, vitrine.ErrUnprocessable},
		{"move an item into itself", `[{},{}]`, `{"op":"move","from":"/0","path":"/0/x"}`, ``,
			vitrine.ErrUnprocessable},
		{"move the document", `{"a":1}`, `{"op":"move","from":"","path":"/a"}`, ``, vitrine.ErrUnprocessable},
		{"move onto the document", `{"a":{"b":1}}`, `{"op":"move","from":"/a","path":""}`, `{"b":1}`, nil},
		{"move what is not there", `{}`, `{"op":"move","from":"/a","path":"/b"}`, ``, vitrine.ErrUnprocessable},
		{"move to an index of the items that are left", `{"l":[[1],{"x":2}]}`,
			`{"op":"move","from":"/l/0","path":"/l/0/01"}`, ``, vitrine.ErrUnprocessable},
		{"move past an index of the items that are left", `{"l":[0,{},[7,8]]}`,
			`{"op":"move","from":"/l/0","path":"/l/1/+1"}`, ``, vitrine.ErrUnprocessable},
		{"move to a name that looks like an index", `{"l":[0,[7],{"x":1}]}`,
			`{"op":"move","from":"/l/0","path":"/l/1/01"}`, `{"l":[[7],{"x":1,"01":0}]}`, nil},
		{"move into an item that is left at another index", `{"l":[0,{}]}`,
			`{"op":"move","from":"/l/0","path":"/l/1/x"}`, ``, vitrine.ErrUnprocessable},
		{"move to the same odd name", `{"01":1,"a":2}`, `{"op":"move","from":"/01","path":"/01"}`, `{"01":1,"a":2}`,
			nil},
		{"move what is not there to an odd name", `{"a":2}`, `{"op":"move","from":"/b","path":"/01"}`, ``,
			vitrine.ErrUnprocessable},
		{"copy", `{"baz":[{"qux":"hello"}]}`, `{"op":"copy","from":"/baz/0","path":"/boo"}`,
			`{"baz":[{"qux":"hello"}],"boo":{"qux":"hello"}}`, nil},
		{"copy null", `{"foo":null}`, `{"op":"copy","from":"/foo","path":"/bar"}`, `{"foo":null,"bar":null}`, nil},
		{"a copy is one", `{"a":{"x":1}}`,
			`{"op":"copy","from":"/a","path":"/b"},{"op":"replace","path":"/b/x","value":2}`,
			`{"a":{"x":1},"b":{"x":2}}`, nil},
		{"copy the document into itself", `{"a":1}`, `{"op":"copy","from":"","path":"/b"}`, `{"a":1,"b":{"a":1}}`, nil},
		{"copy onto the document", `{"a":[1]}`, `{"op":"copy","from":"/a","path":""}`, `[1]`, nil},
		{"copy what is not there", `{}`, `{"op":"copy","from":"/a","path":"/b"}`, ``, vitrine.ErrUnprocessable},
		{"test without regard to order", `{"foo":[{"foo":1,"bar":2}]}`,
			`{"op":"test","path":"/foo","value":[{"bar":2,"foo":1}]}`, `{"foo":[{"foo":1,"bar":2}]}`, nil},
		{"test the document", `{"foo":1}`, `{"op":"test","path":"","value":{"foo":1}}`, `{"foo":1}`, nil},
		{"test numbers by value", `{"a":1.10}`, `{"op":"test","path":"/a","value":11e-1}`, `{"a":1.10}`, nil},
		{"test large numbers exactly", `{"a":9007199254740993}`, `{"op":"test","path":"/a","value":9007199254740992}`,
			``, vitrine.ErrConflict},
		{"test a number against a string", `{"a":"10"}`, `{"op":"test","path":"/a","value":10}`, ``,
			vitrine.ErrConflict},
		{"test null", `{"a":null}`, `{"op":"test","path":"/a","value":null}`, `{"a":null}`, nil},
		{"test what is not there for null", `{}`, `{"op":"test","path":"/a","value":null}`, ``, vitrine.ErrConflict},
		{"test below what is not there for null", `{}`, `{"op":"test","path":"/a/b","value":null}`, ``,
			vitrine.ErrConflict},
		{"test null against false", `[null]`, `{"op":"test","path":"/0","value":false}`, ``, vitrine.ErrConflict},
		{"test with a member less", `{"foo":{"a":1,"b":2}}`, `{"op":"test","path":"/foo","value":{"a":1}}`, ``,
			vitrine.ErrConflict},
		{"test with another value", `{"foo":{"bar":[1,2]}}`, `{"op":"test","path":"/foo","value":[1,2]}`, ``,
			vitrine.ErrConflict},
		{"test the place after the end", `[1]`, `{"op":"test","path":"/-","value":1}`, ``, vitrine.ErrConflict},
		{"test with a leading zero", `["foo"]`, `{"op":"test","path":"/00","value":"foo"}`, ``,
			vitrine.ErrUnprocessable},
		{"test below a name on an array", `["foo"]`, `{"op":"test","path":"/a/00","value":"foo"}`, ``,
			vitrine.ErrConflict},
		{"a from of the whole document means nothing to a replace", `{"a":1}`,
			`{"op":"replace","path":"/a","from":"","value":2}`, `{"a":2}`, nil},
		{"a from of the whole document means nothing to a remove", `{"a":1,"b":2}`,
			`{"op":"remove","path":"/a","from":""}`, `{"b":2}`, nil},
		{"a from means nothing to an add", `{"a":1}`, `{"op":"add","path":"/b","from":"","value":2}`, `{"a":1,"b":2}`,
			nil},
		{"test after an operation", `{"a":1}`,
			`{"op":"replace","path":"/a","value":2},{"op":"test","path":"/a","value":2}`, `{"a":2}`, nil},
		{"escapes", `{"a/b":1,"m~n":8,"~01":3," ":7}`,
			`{"op":"test","path":"/a~1b","value":1},{"op":"test","path":"/m~0n","value":8},{"op":"replace",` +
				`"path":"/~001","value":4},{"op":"remove","path":"/ "}`, `{"a/b":1,"m~n":8,"~01":4}`, nil},
		{"escapes of names", `{"k\"l":6,"i\\j":5,"é":1}`,
			`{"op":"remove","path":"/k\"l"},{"op":"remove","path":"/i\\j"},{"op":"replace","path":"/\u00e9","value":2}`,
			`{"é":2}`, nil},
		{"numbers keep their text", `{"a":1.10,"b":9007199254740993}`, `{"op":"add","path":"/c","value":1e400}`,
			`{"a":1.10,"b":9007199254740993,"c":1e400}`, nil},
		{"strings keep what HTML would escape", `{"a":"<&>"}`, `{"op":"add","path":"/c","value":"<&>"}`,
			`{"a":"<&>","c":"<&>"}`, nil},
		{"surrogate pairs and separators", `{"a":"😀 "}`, `{"op":"copy","from":"/a","path":"/b"}`, `{"a":"😀 ","b":"😀 "}`,
			nil},

		{"no array", `{}`, `]{`, ``, vitrine.ErrInvalid},
		{"add without value", `[1]`, `{"op":"add","path":"/-"}`, ``, vitrine.ErrInvalid},
		{"replace without value", `[1]`, `{"op":"replace","path":"/0"}`, ``, vitrine.ErrInvalid},
		{"test without value", `[null]`, `{"op":"test","path":"/0"}`, ``, vitrine.ErrInvalid},
		{"test of the document without value", `[null]`, `{"op":"test","path":""}`, ``, vitrine.ErrInvalid},
		{"copy without from", `[1]`, `{"op":"copy","path":"/-"}`, ``, vitrine.ErrInvalid},
		{"move without from", `{"foo":1}`, `{"op":"move","path":""}`, ``, vitrine.ErrInvalid},
		{"an unknown operation", `{"foo":1}`, `{"op":"spam","path":"/foo","value":1}`, ``, vitrine.ErrInvalid},
		{"an operation in capitals", `{"foo":1}`, `{"op":"Add","path":"/foo","value":1}`, ``, vitrine.ErrInvalid},
		{"no path", `{"foo":1}`, `{"op":"add","value":1}`, ``, vitrine.ErrInvalid},
		{"null as the path", `{"foo":1}`, `{"op":"add","path":null,"value":1}`, ``, vitrine.ErrInvalid},
		{"no operation", `{"foo":1}`, `{"path":"/foo","value":1}`, ``, vitrine.ErrInvalid},
		{"two operations in one", `{"foo":1}`, `{"op":"add","path":"/baz","value":1,"op":"remove"}`, ``,
			vitrine.ErrInvalid},
		{"a path without its slash", `{"foo":1}`, `{"op":"add","path":"foo","value":1}`, ``, vitrine.ErrInvalid},
		{"a bad escape", `{"foo":1}`, `{"op":"add","path":"/~2","value":1}`, ``, vitrine.ErrInvalid},
		{"an open escape", `{"foo":1}`, `{"op":"add","path":"/a~","value":1}`, ``, vitrine.ErrInvalid},
		{"an unknown member", `{"foo":1}`, `{"op":"add","path":"/a","value":1,"x":1}`, ``, vitrine.ErrInvalid},
		{"no object", `{"foo":1}`, `1`, ``, vitrine.ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := run(tt.doc, "["+tt.patch+"]")
			if !errors.Is(err, tt.err) || err == nil && got != tt.want {
				t.Errorf("got %s, %v; want %s, %v", got, err, tt.want, tt.err)
			}
		})
	}
}

func TestDecodeRefusesWhatIsNoArray(t *testing.T) {
	for _, patch := range []string{`null`, `{}`, `"x"`, ``, `[null]`, `[[]]`} {
		if _, err := jsontree.Decode([]byte(patch), 10); !errors.Is(err, vitrine.ErrInvalid) {
			t.Errorf("Decode(%s) = %v, want ErrMalformed", patch, err)
		}
	}
}

func TestLimits(t *testing.T) {
	op := `{"op":"add","path":"/a","value":1}`
	many := func(n int) []byte { return []byte("[" + strings.Repeat(op+",", n-1) + op + "]") }
	if _, err := jsontree.Decode(many(1000), 1000); err != nil {
		t.Errorf("1000 operations: %v", err)
	}
	if _, err := jsontree.Decode(many(1001), 1000); !errors.Is(err, vitrine.ErrTooLarge) {
		t.Errorf("1001 operations: %v, want ErrTooLarge", err)
	}

	bomb := []string{`{"op":"add","path":"/a","value":"` + strings.Repeat("x", 1000) + `"}`}
	for i := range 10 {
		bomb = append(bomb, fmt.Sprintf(`{"op":"copy","from":"","path":"/b%d"}`, i))
	}
	small := jsontree.Limits{Copies: 64 << 10, Work: 1 << 20}
	if _, err := runWithin(`{}`, "["+strings.Join(bomb, ",")+"]", small); !errors.Is(err, vitrine.ErrTooLarge) {
		t.Errorf("copies of the document inside itself: %v, want ErrTooLarge", err)
	}
	for i := range bomb[1:] {
		bomb[i+1] = fmt.Sprintf(`{"op":"copy","from":"/a","path":"/a%d"},{"op":"add","path":"/n","value":{}},`+
			`{"op":"move","from":"/a","path":"/n/x"},{"op":"copy","from":"/n","path":"/n/y"},{"op":"move",`+
			`"from":"/n","path":"/a"}`, i)
	}
	if _, err := runWithin(`{}`, "["+strings.Join(bomb, ",")+"]", small); !errors.Is(err, vitrine.ErrTooLarge) {
		t.Errorf("doubling copies: %v, want ErrTooLarge", err)
	}
	list := `{"a":[` + strings.Repeat("1,", 99) + `1]}`
	for _, tt := range []struct {
		name, op string
		work     int // of ten such operations
	}{
		{"insertions into a list", `{"op":"add","path":"/a/0","value":1}`, 10*100 + 45},
		{"tests of an item", `{"op":"test","path":"/a/7","value":1}`, 10 * 100},
	} {
		patch := "[" + strings.Repeat(tt.op+",", 9) + tt.op + "]"
		for work, want := range map[int]error{tt.work: nil, tt.work - 1: vitrine.ErrTooLarge} {
			if _, err := runWithin(list, patch, jsontree.Limits{Copies: 1000, Work: work}); !errors.Is(err, want) {
				t.Errorf("10 %s with work for %d: %v, want %v", tt.name, work, err, want)
			}
		}
	}
}

func equal(a, b string, same func(x, y []byte) bool) bool {
	x, y := jsontree.New([]byte(a)), jsontree.New([]byte(b))
	return jsontree.Equal(&x, &y, same)
}

func TestNumbers(t *testing.T) {
	same := [][2]string{{"1", "1.0"}, {"1", "10e-1"}, {"-0", "0"}, {"0e5", "0"}, {"1E+2", "100"}, {"0.001", "1e-3"},
		{"1e1000000", "10e999999"}}
	for _, p := range same {
		if !equal("["+p[0]+"]", "["+p[1]+"]", jsontree.SameNumber) {
			t.Errorf("%s and %s are different", p[0], p[1])
		}
	}
	for _, p := range [][2]string{{"1", "-1"}, {"1", "1.0000000000000000000001"},
		{"1e99999999999999999999", "1e99999999999999999998"}, {"12", "1.2"}} {
		if equal("["+p[0]+"]", "["+p[1]+"]", jsontree.SameNumber) {
			t.Errorf("%s and %s are the same", p[0], p[1])
		}
	}
}

// Whatever comes in, the outcome is an error of ours or strict JSON, and doc is left alone.
func FuzzApply(f *testing.F) {
	f.Add(`{"a":[1,{"b":null}],"":{"":0}}`,
		`[{"op":"add","path":"/a/-","value":{"":1}},{"op":"move","from":"/a/0","path":"/"}]`)
	f.Add(`[]`, `[{"op":"test","path":"","value":[]},{"op":"copy","from":"","path":"/0"}]`)
	f.Add(`{"01":{}}`, `[{"op":"replace","path":"/01","value":1.10}]`)
	f.Fuzz(func(t *testing.T, doc, patch string) {
		if !json.Valid([]byte(doc)) || doc[0] != '{' && doc[0] != '[' {
			return
		}
		before := strings.Clone(doc)
		ops, err := jsontree.Decode([]byte(patch), 100)
		if err != nil {
			return
		}
		out, err := apply([]byte(doc), ops, jsontree.Limits{Copies: 1 << 16, Work: 1 << 20})
		if err == nil && !json.Valid(out) {
			t.Errorf("%s with %s gives %q", doc, patch, out)
		}
		if doc != before {
			t.Error("the document was changed in place")
		}
	})
}

func TestWhyAnOperationDoesNotApply(t *testing.T) {
	const doc = `{"a":[1,2],"b":{"c":"d"}}`
	for patch, want := range map[string]string{
		`{"op":"remove","path":"/b/nope"}`: `remove of "/b/nope": there is no such place: at "nope" of ` +
			`"/b/nope"`,
		`{"op":"remove","path":"/a/-"}`:            `remove of "/a/-": there is no such place: at "-" of "/a/-"`,
		`{"op":"replace","path":"/a/2","value":1}`: `replace of "/a/2": there is no such place: at "2" of "/a/2"`,
		`{"op":"add","path":"/a/3","value":1}`: `add of "/a/3": the list has 2 items: want an index from 0 ` +
			`to 2, or - for its end`,
		`{"op":"add","path":"/a/x","value":1}`: `add of "/a/x": array indices are written in decimal digits ` +
			`without leading zeros: at "x" of "/a/x"`,
		`{"op":"add","path":"/no/x","value":1}`:     `add of "/no/x": there is no such place: at "no" of "/no"`,
		`{"op":"add","path":"/b/c/x","value":1}`:    `add of "/b/c/x": "/b/c" is neither a list nor an object`,
		`{"op":"copy","from":"/a/-","path":"/b/x"}`: `copy of "/b/x": there is no such place: at "-" of "/a/-"`,
		`{"op":"move","from":"/b/nope","path":"/b/x"}`: `move of "/b/x": there is no such place: at "nope" of ` +
			`"/b/nope"`,
		`{"op":"copy","from":"/b/c","path":"/a/1e0"}`: `copy of "/a/1e0": array indices are written in decimal ` +
			`digits without leading zeros: at "1e0" of "/a/1e0"`,
	} {
		// the second operation fails, in the document that the first one has made
		text := `[{"op":"add","path":"/b/first","value":1},` + patch + `]`
		ops, err := jsontree.Decode([]byte(text), 10)
		if err != nil {
			t.Fatal(err)
		}
		_, err = apply([]byte(doc), ops, limits)
		e, ok := errors.AsType[*vitrine.Error](err)
		if !ok || e.Kind != vitrine.ErrUnprocessable || e.Pointer != "/1" || e.Reason != want {
			t.Errorf("%s\n got %+v\nwant %s", patch, err, want)
		}
	}
}
