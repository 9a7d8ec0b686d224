package jsonpatch_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc/internal/jsonpatch"
	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/internal/strictjson"
)

var wantedPatches = flag.Int("patches", 0, "random patches to hold against the reference; 0 = the short form")

// The reference is RFC 6902 as it reads: operations one after another on a tree, each without regard
// to how the package does it. What it shares with the package are the decisions that the RFC leaves
// open: an index that is written with a sign or leading zeros does not apply, a place that is not there
// equals nothing, and nothing is moved into itself.

// errRefTest is a test that does not hold, errRefApply any other operation that cannot be done.
var (
	errRefTest  = errors.New("test")
	errRefApply = errors.New("apply")
)

// refApply returns the document after the operations.
func refApply(doc any, ops []jsonpatch.Op) (any, error) {
	for _, op := range ops {
		var err error
		if doc, err = refDo(doc, op); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

func refDo(doc any, op jsonpatch.Op) (any, error) {
	path := refTokens(*op.Path)
	switch op.Op {
	case "add":
		return refAdd(doc, path, refTree(op.Value))
	case "remove":
		doc, _, err := refRemove(doc, path)
		return doc, err
	case "replace":
		if len(path) == 0 {
			return refTree(op.Value), nil
		}
		doc, err := refEdit(doc, path, func(any) (any, error) { return refTree(op.Value), nil })
		return doc, err
	case "copy":
		value, err := refGet(doc, refTokens(*op.From))
		if err != nil {
			return nil, errRefApply
		}
		if _, err := refIndices(doc, path); err != nil {
			return nil, err
		}
		return refAdd(doc, path, refCopy(value))
	case "move":
		from := refTokens(*op.From)
		if len(path) > len(from) && slices.Equal(path[:len(from)], from) {
			return nil, errRefApply
		}
		if len(from) == 0 {
			return doc, nil // onto itself
		}
		doc, value, err := refRemove(doc, from)
		if err != nil {
			return nil, err
		}
		return refAdd(doc, path, value)
	}
	have, err := refGet(doc, path)
	if errors.Is(err, errRefOdd) {
		return nil, errRefApply
	}
	if err != nil || !refEqual(have, refTree(op.Value)) {
		return nil, errRefTest
	}
	return doc, nil
}

// errRefOdd is an index with a sign or leading zeros.
var errRefOdd = errors.New("odd index")

// refIndices reports an odd index on the way.
func refIndices(doc any, path []string) (any, error) {
	value, err := refGet(doc, path)
	if errors.Is(err, errRefOdd) {
		return nil, errRefApply
	}
	return value, nil
}

// refTokens takes a pointer apart.
func refTokens(pointer string) []string {
	tokens := strings.Split(pointer, "/")[1:]
	if pointer == "" {
		return nil
	}
	for i, t := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	return tokens
}

// refTree decodes a value; numbers keep their text.
func refTree(text []byte) any {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

// refCopy copies a value, so that the copies change apart.
func refCopy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, x := range v {
			out[name] = refCopy(x)
		}
		return out
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, refCopy(x))
		}
		return out
	}
	return v
}

// refIndex reads an index of an array, which is below the given number.
func refIndex(token string, below int) (int, error) {
	i, err := strconv.Atoi(token)
	switch {
	case err == nil && strconv.Itoa(i) != token || err == nil && i < 0:
		return 0, errRefOdd
	case err != nil || i >= below:
		return 0, errRefApply
	}
	return i, nil
}

func refGet(doc any, path []string) (any, error) {
	for _, token := range path {
		switch at := doc.(type) {
		case map[string]any:
			value, ok := at[token]
			if !ok {
				return nil, errRefApply
			}
			doc = value
		case []any:
			i, err := refIndex(token, len(at))
			if err != nil {
				return nil, err
			}
			doc = at[i]
		default:
			return nil, errRefApply
		}
	}
	return doc, nil
}

// refEdit replaces the value at path, which is there, by what change makes of it.
func refEdit(doc any, path []string, change func(any) (any, error)) (any, error) {
	if len(path) == 0 {
		return change(doc)
	}
	switch at := doc.(type) {
	case map[string]any:
		value, ok := at[path[0]]
		if !ok {
			return nil, errRefApply
		}
		value, err := refEdit(value, path[1:], change)
		if err != nil {
			return nil, err
		}
		out := maps.Clone(at)
		out[path[0]] = value
		return out, nil
	case []any:
		i, err := refIndex(path[0], len(at))
		if err != nil {
			return nil, errRefApply
		}
		value, err := refEdit(at[i], path[1:], change)
		if err != nil {
			return nil, err
		}
		out := slices.Clone(at)
		out[i] = value
		return out, nil
	}
	return nil, errRefApply
}

func refAdd(doc any, path []string, value any) (any, error) {
	if len(path) == 0 {
		return value, nil
	}
	last := path[len(path)-1]
	return refEdit(doc, path[:len(path)-1], func(around any) (any, error) {
		switch at := around.(type) {
		case map[string]any:
			out := maps.Clone(at)
			out[last] = value
			return out, nil
		case []any:
			if last == "-" {
				return append(slices.Clone(at), value), nil
			}
			i, err := refIndex(last, len(at)+1)
			if err != nil {
				return nil, errRefApply
			}
			return slices.Insert(slices.Clone(at), i, value), nil
		}
		return nil, errRefApply
	})
}

func refRemove(doc any, path []string) (rest, value any, err error) {
	if len(path) == 0 {
		return nil, nil, errRefApply
	}
	if value, err = refGet(doc, path); err != nil {
		return nil, nil, errRefApply
	}
	last := path[len(path)-1]
	rest, err = refEdit(doc, path[:len(path)-1], func(around any) (any, error) {
		if at, ok := around.([]any); ok {
			i, _ := strconv.Atoi(last)
			return slices.Delete(slices.Clone(at), i, i+1), nil
		}
		out := maps.Clone(around.(map[string]any))
		delete(out, last)
		return out, nil
	})
	return rest, value, err
}

// refEqual compares values; numbers by what they are worth, which is little in these tests.
func refEqual(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, refEqual)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, refEqual)
	case json.Number:
		b, ok := b.(json.Number)
		if !ok {
			return false
		}
		x, errX := a.Float64()
		y, errY := b.Float64()
		return a == b || errX == nil && errY == nil && x == y
	}
	return a == b
}

// checkReference holds what the package makes of a patch against the reference.
func checkReference(t *testing.T, doc, patch string) (outcome string) {
	t.Helper()
	ops, err := jsonpatch.Decode([]byte(patch), 1000)
	if err != nil {
		return "malformed"
	}
	got, err := jsonpatch.Apply([]byte(doc), ops, limits)
	if errors.Is(err, jsonpatch.ErrTooLarge) {
		return "too large"
	}
	want, wantErr := refApply(refTree([]byte(doc)), ops)
	kind := map[error]error{nil: nil, errRefTest: jsonpatch.ErrTest, errRefApply: jsonpatch.ErrApply}[wantErr]
	switch {
	case !errors.Is(err, kind):
		t.Errorf("%s\nwith %s: error %v, want %v", doc, patch, err, kind)
	case err == nil && !reflect.DeepEqual(refTree(got), want):
		t.Errorf("%s\nwith %s:\n%s, want\n%v", doc, patch, got, want)
	}
	return fmt.Sprint(kind)
}

// What random documents and pointers are made of: names that are or look like indices among them.
var refNames = []string{"a", "b", "l", "", "0", "1", "01", "+1", "-1", "-", "00", "a/b", "m~n", "é"}

// refRandom is a random value, as text.
func refRandom(r *rand.Rand, depth int) string {
	switch kind := r.IntN(8); {
	case depth > 0 && kind < 3:
		var items []string
		for range r.IntN(4) {
			items = append(items, refRandom(r, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	case depth > 0 && kind < 6:
		var members []string
		for _, at := range r.Perm(len(refNames))[:r.IntN(4)] {
			members = append(members, strconv.Quote(refNames[at])+":"+refRandom(r, depth-1))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	return []string{"1", "1.0", "2", `"s"`, "null", "true", "{}", "[]"}[r.IntN(8)]
}

// refPointer is a pointer into doc, mostly to something that is there.
func refPointer(r *rand.Rand, doc any) string {
	var b strings.Builder
	for r.IntN(6) > 0 {
		token := refNames[r.IntN(len(refNames))]
		switch at := doc.(type) {
		case map[string]any:
			if names := slices.Sorted(maps.Keys(at)); len(names) > 0 && r.IntN(5) > 0 {
				token = names[r.IntN(len(names))]
			}
			doc = at[token]
		case []any:
			if r.IntN(5) > 0 {
				token = strconv.Itoa(r.IntN(len(at) + 1))
			}
			if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(at) {
				doc = at[i]
			} else {
				doc = nil
			}
		default:
			if r.IntN(4) > 0 {
				return b.String()
			}
		}
		b.WriteString("/" + strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// refPatch is a random patch. Each operation is made for the document as it is when its turn comes.
func refPatch(r *rand.Rand, doc any) string {
	var ops []string
	for range 2 + r.IntN(8) {
		path, from := refPointer(r, doc), refPointer(r, doc)
		value := refRandom(r, 2)
		kind := []string{"add", "remove", "replace", "move", "move", "copy", "test"}[r.IntN(7)]
		if kind == "test" && r.IntN(4) > 0 {
			if have, err := refGet(doc, refTokens(path)); err == nil {
				text, _ := json.Marshal(have)
				value = string(text)
			}
		}
		op := fmt.Sprintf(`{"op":%q,"path":%q,"from":%q,"value":%s}`, kind, path, from, value)
		decoded, err := jsonpatch.Decode([]byte("["+op+"]"), 1)
		if err != nil {
			panic(err)
		}
		after, err := refApply(doc, decoded)
		if err != nil && r.IntN(8) > 0 {
			continue // mostly operations that can be done
		}
		ops = append(ops, op)
		if err != nil {
			break
		}
		doc = after
	}
	return "[" + strings.Join(ops, ",") + "]"
}

func TestRandomPatchesDoWhatTheReferenceDoes(t *testing.T) {
	patches := *wantedPatches
	if patches == 0 {
		patches = 30_000
		if proof.Short() {
			patches = 2_000
		}
	}
	r := rand.New(rand.NewPCG(6902, 1))
	count := map[string]int{}
	for range patches {
		doc := refRandom(r, 4)
		count[checkReference(t, doc, refPatch(r, refTree([]byte(doc))))]++
		if t.Failed() {
			return
		}
	}
	t.Logf("%d patches: %v", patches, count)
}

func FuzzAgainstTheReference(f *testing.F) {
	r := rand.New(rand.NewPCG(6902, 2))
	for range 20 {
		doc := refRandom(r, 4)
		f.Add(doc, refPatch(r, refTree([]byte(doc))))
	}
	f.Fuzz(func(t *testing.T, doc, patch string) {
		doc = strings.TrimSpace(doc) // the reference takes a document for an object if a blank is before it
		if strictjson.Check([]byte(doc), strictjson.MaxDepth) == nil {
			checkReference(t, doc, patch)
		}
	})
}
