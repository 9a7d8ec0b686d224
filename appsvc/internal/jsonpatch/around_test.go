package jsonpatch

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/strictjson"
)

func TestAround(t *testing.T) {
	for paths, want := range map[string]string{
		"/a": "", "/a/b": "/a", "/a/b /a/c": "/a", "/a/b/c /a/bc/d": "/a", "/a/b/c /a/b": "/a", "/a/b /c/d": "",
		"/a/0/x/y /a/0/x/z/1": "/a/0/x", "/a//b /a//c": "/a/", "": "",
	} {
		var ops []Op
		for path := range strings.SplitSeq(paths, " ") {
			ops = append(ops, Op{Op: "remove", Path: &path})
		}
		if got := around(ops); got != want {
			t.Errorf("around %s is %q, want %q", paths, got, want)
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
			part.waiting = append(part.waiting, Op{Op: pick("add", "remove", "replace", "move", "copy"), Path: &path, From: &from,
				Value: json.RawMessage(pick("1", "null", `{"c":[1]}`, `[]`))})
		}
		whole.waiting = part.waiting
		ops, _ := json.Marshal(part.waiting)
		err := part.flush()
		want, wantErr := whole.carryOut(whole.doc, "")
		if wantErr == nil {
			wantErr = whole.set(want)
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
