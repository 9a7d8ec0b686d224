package sqlite

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomSet returns a set and what is in it: a list, bits, or nothing, low or high.
func randomSet(rng *rand.Rand) (set, map[uint32]bool) {
	base := []uint32{0, 0, 0, 1 << 20, math.MaxUint32 - 5000}[rng.IntN(5)]
	in := map[uint32]bool{}
	var list []uint32
	for range rng.IntN(400) {
		o := base + uint32(rng.IntN(5000))
		if rng.IntN(2) == 0 {
			o = base + uint32(rng.IntN(300))
		}
		in[o] = true
		list = append(list, o, o)
	}
	return setOf(list), in
}

func all(s set, ascending bool) []int64 {
	return slices.Collect(s.between(math.MinInt64, math.MaxInt64, ascending))
}

func checkSet(t *testing.T, what string, s set, want map[uint32]bool) {
	t.Helper()
	var list []int64
	for _, o := range slices.Sorted(maps.Keys(want)) {
		list = append(list, int64(o))
	}
	if got := all(s, true); !slices.Equal(got, list) || s.n != len(list) {
		t.Fatalf("%s: %d ordinals %v, want %v", what, s.n, got, list)
	}
	slices.Reverse(list)
	if got := all(s, false); !slices.Equal(got, list) {
		t.Fatalf("%s: from the end %v, want %v", what, got, list)
	}
}

func TestSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 0))
	forms := map[bool]int{}
	for range 3000 {
		a, inA := randomSet(rng)
		b, inB := randomSet(rng)
		forms[a.bits != nil]++
		checkSet(t, "a set", a, inA)
		for range 20 {
			o := uint32(rng.IntN(6000)) + []uint32{0, math.MaxUint32 - 6000}[rng.IntN(2)]
			if a.has(o) != inA[o] {
				t.Fatalf("has(%d) is %t", o, a.has(o))
			}
		}
		both := map[uint32]bool{}
		for o := range inA {
			if inB[o] {
				both[o] = true
			}
		}
		checkSet(t, "what is in both", a.and(b), both)

		before := all(a, true)
		changes, changed := map[uint32]bool{}, maps.Clone(inA)
		for range rng.IntN(30) {
			o := uint32(rng.IntN(7000))
			changes[o] = rng.IntN(2) == 0
			if changed[o] = changes[o]; !changes[o] {
				delete(changed, o)
			}
		}
		checkSet(t, "a changed set", a.with(changes), changed)
		if !slices.Equal(all(a, true), before) {
			t.Fatal("a set was changed in place")
		}

		first, last := int64(rng.IntN(6000))-100, int64(rng.IntN(6000))-100
		want := slices.DeleteFunc(slices.Clone(before), func(o int64) bool { return o < first || o > last })
		if got := slices.Collect(a.between(first, last, true)); !slices.Equal(got, want) {
			t.Fatalf("from %d to %d: %v, want %v", first, last, got, want)
		}
		if n := a.count(first, last); n != len(want) {
			t.Fatalf("from %d to %d: %d ordinals, want %d", first, last, n, len(want))
		}
		list := slices.Sorted(maps.Keys(inB))
		if n := a.counter()(list); n != len(both) {
			t.Fatalf("%d ordinals are counted in a set, want %d", n, len(both))
		}
	}
	if forms[true] < 100 || forms[false] < 100 {
		t.Errorf("%d sets were bits, %d lists: this test shows little", forms[true], forms[false])
	}
}

// A walk through a set ends when nobody wants more.
func TestIterationOverASetStopsEarly(t *testing.T) {
	for _, s := range []set{setOf([]uint32{1, 2, 3}), setOf([]uint32{1, 1 << 20})} {
		for _, ascending := range []bool{true, false} {
			for o := range s.between(0, 10, ascending) {
				if o > 3 {
					t.Error(o)
				}
				break
			}
		}
	}
}
