package top_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/internal/top"
)

func TestAListHasTheFirstOfAllItems(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 60 {
		for _, limit := range []int{0, 1, 2, 20} {
			list := top.New(limit, cmp.Compare[int])
			var all []int
			for range n {
				item := rng.IntN(40)
				list.Add(item)
				all = append(all, item)
			}
			slices.Sort(all)
			if want := all[:min(limit, n)]; !slices.Equal(list.Items(), want) {
				t.Errorf("the first %d: %v, want %v", limit, list.Items(), want)
			}
			last, full := list.Last()
			if full != (limit > 0 && n >= limit) || full && last != all[limit-1] {
				t.Errorf("last of %d among %d: %d, full %v", limit, n, last, full)
			}
		}
	}
}
