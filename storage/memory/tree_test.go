package memory

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// items returns the items of t from the first that is at least from.
func items(t tree[int], from int) []int {
	var out []int
	t.ascend(func(x int) bool { return x < from }, func(x int) bool {
		out = append(out, x)
		return true
	})
	return out
}

func TestTreeAgreesWithASortedSlice(t *testing.T) {
	const most = 200
	random := rand.New(rand.NewPCG(1, 2))
	now := tree[int]{compare: cmp.Compare[int]}
	var want []int
	for range 3000 {
		x := random.IntN(most)
		at, found := slices.BinarySearch(want, x)
		before, wantBefore := now, slices.Clone(want)
		if random.IntN(2) == 0 {
			now = now.put(x)
			if !found {
				want = slices.Insert(want, at, x)
			}
		} else {
			now = now.remove(x)
			if found {
				want = slices.Delete(want, at, at+1)
			}
		}
		from := random.IntN(most)
		start, _ := slices.BinarySearch(want, from)
		if got := items(now, from); !slices.Equal(got, want[start:]) {
			t.Fatalf("items from %d on: %v, want %v", from, got, want[start:])
		}
		var down []int
		now.descend(func(x int) bool { return x >= from }, func(x int) bool {
			down = append(down, x)
			return true
		})
		slices.Reverse(down)
		if !slices.Equal(down, want[:start]) {
			t.Fatalf("items below %d: %v, want %v", from, down, want[:start])
		}
		if got := items(before, 0); !slices.Equal(got, wantBefore) {
			t.Fatalf("the tree before the change is now %v, was %v", got, wantBefore)
		}
		_, has := now.find(func(item int) int { return cmp.Compare(item, from) })
		if _, wantHas := slices.BinarySearch(want, from); has != wantHas {
			t.Fatalf("find %d: %v, want %v", from, has, wantHas)
		}
	}
}

func TestTreeIterationStopsEarly(t *testing.T) {
	now := tree[int]{compare: cmp.Compare[int]}
	for x := range 100 {
		now = now.put(x)
	}
	calls := 0
	now.ascend(nil, func(x int) bool { calls++; return x < 9 })
	if calls != 10 {
		t.Errorf("%d items were yielded, want the 10 up to the one that stopped it", calls)
	}
}

func TestTreeStaysShallow(t *testing.T) {
	const count = 1 << 14
	now := tree[int]{compare: cmp.Compare[int]}
	for x := range count { // ascending: what would make a plain search tree a list
		now = now.put(x)
	}
	if d := depth(now.root); d > 100 {
		t.Errorf("%d ascending items lie %d deep, want about 35", count, d)
	}
}

func depth(n *node[int]) int {
	if n == nil {
		return 0
	}
	return 1 + max(depth(n.left), depth(n.right))
}
