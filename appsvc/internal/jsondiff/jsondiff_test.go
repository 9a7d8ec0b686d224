package jsondiff_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc/internal/jsondiff"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsonpatch"
)

const plenty = 1 << 30 // steps

// apply carries out the operations on {"v":a} and returns the new value of v.
func apply(t *testing.T, a string, ops []jsondiff.Op) string {
	t.Helper()
	text := []byte{'['}
	for i, op := range ops {
		if i > 0 {
			text = append(text, ',')
		}
		text = op.Append(text)
	}
	decoded, err := jsonpatch.Decode(append(text, ']'), 1<<20)
	if err != nil {
		t.Fatalf("%s]: %v", text, err)
	}
	if got := len(text) + 1; len(ops) > 0 && jsondiff.Size(ops...) != got-1 {
		t.Errorf("%s]: Size says %d, want %d", text, jsondiff.Size(ops...), got-1)
	}
	out, err := jsonpatch.Apply([]byte(`{"v":`+a+`}`), decoded, jsonpatch.Limits{Document: 1 << 30, Looks: 1 << 30, Moves: 1 << 40})
	if err != nil {
		t.Fatalf("%s] of %s: %v", text, a, err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(out), `{"v":`), `}`)
}

// checkValues compares a with b, with any budget, and returns the operations.
func checkValues(t *testing.T, a, b string, most, steps int) []jsondiff.Op {
	t.Helper()
	ops := jsondiff.Values("/v", []byte(a), []byte(b), most, jsondiff.NewBudget(steps))
	if got := apply(t, a, ops); !jsonpatch.Equal([]byte(got), []byte(b), jsonpatch.SameText) {
		t.Fatalf("from %s to %s: the operations %q give %s", a, b, ops, got)
	}
	return ops
}

func randomValue(r *rand.Rand, depth int) string {
	var parts []string
	switch n := r.IntN(6); {
	case depth > 0 && n < 2:
		for _, i := range r.Perm(12)[:r.IntN(12)] {
			parts = append(parts, fmt.Sprintf(`"%c~/":%s`, 'a'+i, randomValue(r, depth-1)))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case depth > 0 && n < 4:
		for range r.IntN(12) {
			parts = append(parts, randomValue(r, depth-1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return []string{"1", "1.0", "null", "true", `"a"`, `"\u0061"`, `""`}[r.IntN(7)]
}

// Whatever the limits are, the operations turn one value into the other.
func TestValues(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		a, b := randomValue(r, 4), randomValue(r, 4)
		checkValues(t, a, b, 1<<20, plenty)
		if ops := checkValues(t, a, b, 3, plenty); len(ops) > 3 {
			t.Fatalf("%d operations, want at most 3: %q", len(ops), ops)
		}
		for range 8 {
			checkValues(t, a, b, 1<<20, r.IntN(5000))
		}
		if ops := checkValues(t, a, a, 1<<20, plenty); len(ops) > 0 {
			t.Fatalf("%s and itself: %q", a, ops)
		}
	}
}

// A container that would need more operations than allowed is replaced, and others are not.
func TestWhatIsTooManyIsReplacedWhole(t *testing.T) {
	a, b := `{"few":{"a":1,"b":2},"many":[1,2,3,4,5,6]}`, `{"few":{"a":2,"b":2},"many":[7,8,9,0,1,2]}`
	var got []string
	for _, op := range checkValues(t, a, b, 4, plenty) {
		got = append(got, op.Kind+" "+op.Path)
	}
	if want := []string{"replace /v/few/a", "replace /v/many"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A budget that is spent ends the comparison before the memory for a very long list is taken.
func TestBudget(t *testing.T) {
	long := func(last string) string { return "[" + strings.Repeat("0,", 1<<17) + last + "]" }
	a, b := []byte(long("1")), []byte(long("2"))
	budget := jsondiff.NewBudget(8 << 20)
	if ops := jsondiff.Values("/v", a, b, 9, budget); len(ops) != 1 || ops[0].Path != "/v" || !budget.Spent() {
		t.Errorf("%d operations, the first of %s, spent %t; want the whole to be replaced", len(ops), ops[0].Path, budget.Spent())
	}
	budget = jsondiff.NewBudget(32 << 20)
	if ops := jsondiff.Values("/v", a, b, 9, budget); len(ops) != 1 || ops[0].Path != fmt.Sprintf("/v/%d", 1<<17) || budget.Spent() {
		t.Errorf("%d operations, the first of %s, spent %t; want the last item to be replaced", len(ops), ops[0].Path, budget.Spent())
	}
}

// Common finds a longest common subsequence, as a table of all prefixes does.
func TestCommon(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 0))
		random := func() (out [][]byte) {
			for range r.IntN(20) {
				out = append(out, []byte{byte('a' + r.IntN(1+r.IntN(8)))})
			}
			return out
		}
		a, b := random(), random()
		pairs, ok := jsondiff.Common(a, b, jsondiff.NewBudget(plenty))
		last := jsondiff.Pair{A: -1, B: -1}
		for _, p := range pairs {
			if p.A <= last.A || p.B <= last.B || !bytes.Equal(a[p.A], b[p.B]) {
				t.Fatalf("%q and %q: pairs %v", a, b, pairs)
			}
			last = p
		}
		longest := make([][]int, len(a)+1)
		for i := range longest {
			longest[i] = make([]int, len(b)+1)
			for j := 1; i > 0 && j <= len(b); j++ {
				longest[i][j] = max(longest[i-1][j], longest[i][j-1])
				if bytes.Equal(a[i-1], b[j-1]) {
					longest[i][j] = longest[i-1][j-1] + 1
				}
			}
		}
		if want := longest[len(a)][len(b)]; !ok || len(pairs) != want {
			t.Fatalf("%q and %q: %d pairs, want %d", a, b, len(pairs), want)
		}
	}
}

// Many equal items have a square of pairs, which is not searched.
func TestCommonOfManyEqualItems(t *testing.T) {
	var a, b [][]byte
	for i := range 20_000 {
		a = append(a, []byte{byte(i % 2)})
		b = append(b, []byte{byte(i / 2 % 2)})
	}
	pairs, ok := jsondiff.Common(a, b, jsondiff.NewBudget(100_000_000))
	if !ok || len(pairs) == 0 {
		t.Errorf("%d pairs, %t", len(pairs), ok)
	}
}

func TestIncreasing(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		list := r.Perm(r.IntN(12))
		got := jsondiff.Increasing(list)
		for k := 1; k < len(got); k++ {
			if got[k] <= got[k-1] || list[got[k]] <= list[got[k-1]] {
				t.Fatalf("%v: %v", list, got)
			}
		}
		longest := 0
		for set := range 1 << len(list) {
			last, n := -1, 0
			for i, v := range list {
				if set>>i&1 == 0 {
					continue
				}
				if v < last {
					n = -1
					break
				}
				last, n = v, n+1
			}
			longest = max(longest, n)
		}
		if len(got) != longest {
			t.Fatalf("%v: %d, want %d", list, len(got), longest)
		}
	}
}
