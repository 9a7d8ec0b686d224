package jsontree_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
)

const plenty = 1 << 30 // steps

// apply carries out the operations on {"v":a} and returns the new value of v.
func applyDiff(t *testing.T, a string, ops []jsontree.Op) string {
	t.Helper()
	text := []byte{'['}
	for i, op := range ops {
		if i > 0 {
			text = append(text, ',')
		}
		text = op.Append(text)
	}
	decoded, err := jsontree.Decode(append(text, ']'), 1<<20)
	if err != nil {
		t.Fatalf("%s]: %v", text, err)
	}
	if got := len(text) + 1; len(ops) > 0 && jsontree.Size(ops...) != got-1 {
		t.Errorf("%s]: Size says %d, want %d", text, jsontree.Size(ops...), got-1)
	}
	out, err := apply([]byte(`{"v":`+a+`}`), decoded, jsontree.Limits{Copies: 1 << 30, Work: 1 << 40})
	if err != nil {
		t.Fatalf("%s] of %s: %v", text, a, err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(out), `{"v":`), `}`)
}

// checkValues compares a with b, with any budget, and returns the operations.
func checkValues(t *testing.T, a, b string, most, steps int) []jsontree.Op {
	t.Helper()
	ops := (&jsontree.Differ{Steps: steps}).Values("/v", jsontree.New([]byte(a)), jsontree.New([]byte(b)), most)
	if got := applyDiff(t, a, ops); !equal(got, b, jsontree.SameText) {
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
		got = append(got, op.Op+" "+op.Path)
	}
	if want := []string{"replace /v/few/a", "replace /v/many"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A budget that is spent ends the comparison before the memory for a very long list is taken.
func TestBudget(t *testing.T) {
	long := func(last string) string { return "[" + strings.Repeat("0,", 1<<17) + last + "]" }
	a, b := jsontree.New([]byte(long("1"))), jsontree.New([]byte(long("2")))
	for steps, want := range map[int]string{8 << 20: "/v", 32 << 20: fmt.Sprintf("/v/%d", 1<<17)} {
		d := jsontree.Differ{Steps: steps}
		ops := d.Values("/v", a, b, 9)
		if len(ops) != 1 || ops[0].Path != want || (d.Steps < 0) != (want == "/v") {
			t.Errorf("with %d steps: %d operations, the first of %s, %d steps left; want %s to be replaced", steps,
				len(ops), ops[0].Path, d.Steps, want)
		}
	}
}
