package jsonpatch

import (
	"encoding/json"
	"math/rand/v2"
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

// The library is given a part of the document. That must not show: random operations have the same
// outcome on all of it.
func TestPartDoesNotShow(t *testing.T) {
	const doc = `{"a":[{"b":{"c":1.10,"d":[1,2,{"é":null}]},"x":"<&>"},[[],{}],null,"s"],"b":{"a/b":{"~":0,"01":{"-":{}}}}}`
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, seed))
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	token := func() string {
		return pick("", "/a", "/a/0", "/a/0/b", "/a/0/b/d", "/a/0/b/d/2", "/a/1", "/a/1/0", "/a/2", "/a/3", "/a/-", "/b", "/b/a~1b", "/b/a~1b/01", "/b/a~1b/01/-", "/zz") +
			pick("/c", "/0", "/1", "/2", "/3", "/-", "/x", "/~0", "/é", "/a/b", "/d/0", "/c/d")
	}
	alike, refused := 0, 0
	for range 10_000 {
		place := token()
		at := func() string {
			if rng.IntN(3) == 0 {
				return token()
			}
			return place[:strings.LastIndexByte(place, '/')] + pick("/c", "/0", "/1", "/-", "/x", "/~0", "/d/0")
		}
		part, whole := run{doc: []byte(doc), limits: Limits{Document: 400}}, run{doc: []byte(doc), limits: Limits{Document: 400}}
		for range 1 + rng.IntN(3) {
			path, from := at(), at()
			part.wait(Op{Op: pick("add", "remove", "replace", "move", "copy"), Path: &path, From: &from,
				Value: json.RawMessage(pick("1", "null", `{"c":[1]}`, `[]`))})
		}
		whole.waiting, whole.indices = part.waiting, part.indices
		ops, _ := json.Marshal(part.waiting)
		err := part.flush()
		want, wantErr := whole.carryOut(whole.doc, whole.waiting, "", "")
		if wantErr == nil {
			wantErr = whole.set(want)
		} else {
			wantErr = whole.blame()
		}
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() || err == nil && string(part.doc) != string(whole.doc) {
			t.Fatalf("seed %d: %s gives\n%s, %v, want\n%s, %v", seed, ops, part.doc, err, whole.doc, wantErr)
		}
		if err == nil {
			alike++
		} else {
			refused++
		}
	}
	if alike < 400 || refused < 400 {
		t.Errorf("%d patches applied and %d were refused: too few of either", alike, refused)
	}
}

// To look at two values before they are decoded does not change the verdict.
func FuzzEqual(f *testing.F) {
	for _, pair := range [][2]string{
		{`{"a":1,"b":[1.0]}`, `{"b":[1],"a":1}`}, {`{"a":{"b":"\u0041"}}`, `{"a":{"b":"A"}}`}, {`{"a":1}`, `{"a":1.0}`}, {`[1]`, `{"0":1}`},
		{`{"a":{"a":{"a":{"a":{"a":1}}}}}`, `{"a":{"a":{"a":{"a":{"a":2}}}}}`}, {`"1"`, `1`}, {`null`, `{}`}, {` true`, `true`}, {`-0`, `0`},
		{`{"a":"x"}`, `{"a":"y"}`}, {`{"a":1}`, `{"b":1}`}, {`{"a":[]}`, `{"a":[ ]}`}, {`"1"`, `"1.0"`},
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
