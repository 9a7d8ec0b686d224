package jsonpatch

import (
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/strictjson"
)

func TestAround(t *testing.T) {
	for ops, want := range map[string]string{
		"remove /a": "", "remove /a/b": "/a", "remove /a/b add /a/c": "/a", "add /a/b/c remove /a/bc/d": "/a", "add /a/b/c add /a/b": "/a",
		"add /a/b add /c/d": "", "remove /a/0/x/y remove /a/0/x/z/1": "/a/0/x", "remove /a//b replace /a//c": "/a/", "replace ": "",
		"replace /a": "/a", "replace /a/b replace /a/b": "/a/b", "replace /a/b replace /a/bc": "/a", "replace /a/b replace /a": "/a",
		"replace /a/b remove /a/b": "/a", "replace /a/b/c remove /a/b": "/a", "copy /a/b /a/c/d": "/a", "move /a/b/c /a/b/d": "/a/b",
	} {
		var list []Op
		words := strings.Split(ops, " ")
		for i := 0; i < len(words); i += 2 {
			op := Op{Op: words[i], Path: &words[i+1]}
			if op.hasFrom() {
				i++
				op.From = &words[i+1]
			}
			list = append(list, op)
		}
		if got := enclosing(list); got != want {
			t.Errorf("around %s is %q, want %q", ops, got, want)
		}
	}
}

// To look at two values before they are decoded does not change the verdict.
func FuzzEqual(f *testing.F) {
	for _, pair := range [][2]string{
		{`{"a":1,"b":[1.0]}`, `{"b":[1],"a":1}`}, {`{"a":{"b":"\u0041"}}`, `{"a":{"b":"A"}}`}, {`{"a":1}`, `{"a":1.0}`}, {`[1]`, `{"0":1}`},
		{`{"a":{"a":{"a":{"a":{"a":1}}}}}`, `{"a":{"a":{"a":{"a":{"a":2}}}}}`}, {`"1"`, `1`}, {`null`, `{}`}, {` true`, `true`}, {`-0`, `0`},
		{`{"a":{"a":{"a":{"a":{"a":1}}}}}`, `{"a":{"a":{"a":{"a":{"a":1,"b":2}}}}}`}, {`{"a":"x"}`, `{"a":"y"}`}, {`{"a":1}`, `{"b":1}`}, {`{"a":[]}`, `{"a":[ ]}`}, {`"1"`, `"1.0"`},
	} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if strictjson.Check([]byte(a), 64) != nil || strictjson.Check([]byte(b), 64) != nil {
			return
		}
		for name, same := range map[string]func(x, y string) bool{"text": SameText, "number": SameNumber} {
			want := equal(tree([]byte(a)), tree([]byte(b)), same)
			if got := Equal([]byte(a), []byte(b), same); got != want {
				t.Errorf("%s and %s by %s: %v, want %v", a, b, name, got, want)
			}
		}
	})
}
