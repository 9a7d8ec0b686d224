package sqlite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// What the index of a million assets gives: the ordinals that have a term, ascending, for terms of different frequency.
var lists = func() map[string][]uint32 {
	rng := rand.New(rand.NewPCG(1, 1))
	out := map[string][]uint32{}
	for name, oneIn := range map[string]float64{"most": 1.5, "tenth": 10, "hundredth": 100, "few": 10_000} {
		for o := range uint32(1_000_000) {
			if rng.Float64()*oneIn < 1 {
				out[name] = append(out[name], o)
			}
		}
	}
	return out
}()

var names = []string{"most", "tenth", "hundredth", "few"}

func BenchmarkBuild(b *testing.B) {
	for _, name := range names {
		list := lists[name]
		b.Run(name+"/ours", func(b *testing.B) {
			for b.Loop() {
				setOf(slices.Clone(list))
			}
		})
		b.Run(name+"/Roaring", func(b *testing.B) {
			for b.Loop() {
				roaring.BitmapOf(list...)
			}
		})
	}
}

// BenchmarkCount counts what the lists of fifty terms, together all ordinals, have in common with a set.
func BenchmarkCount(b *testing.B) {
	facets := make([][]uint32, 50)
	for o := range uint32(1_000_000) {
		facets[o*7%50] = append(facets[o*7%50], o)
	}
	for _, name := range names {
		b.Run(name+"/ours", func(b *testing.B) {
			s := setOf(slices.Clone(lists[name]))
			for b.Loop() {
				count, n := s.counter(), 0
				for _, list := range facets {
					n += count(list)
				}
				check(b, n, len(lists[name]))
			}
		})
		b.Run(name+"/Roaring", func(b *testing.B) {
			s := roaring.BitmapOf(lists[name]...)
			for b.Loop() {
				n := 0
				for _, list := range facets {
					n += int(s.AndCardinality(roaring.BitmapOf(list...)))
				}
				check(b, n, len(lists[name]))
			}
		})
	}
}

func BenchmarkAnd(b *testing.B) {
	for i, x := range names {
		for _, y := range names[i+1:] {
			r, s := roaring.BitmapOf(lists[x]...), roaring.BitmapOf(lists[y]...)
			want := int(r.AndCardinality(s))
			b.Run(fmt.Sprintf("%s+%s/ours", x, y), func(b *testing.B) {
				s, t := setOf(slices.Clone(lists[x])), setOf(slices.Clone(lists[y]))
				for b.Loop() {
					check(b, s.and(t).n, want)
				}
			})
			b.Run(fmt.Sprintf("%s+%s/Roaring", x, y), func(b *testing.B) {
				for b.Loop() {
					check(b, int(roaring.And(r, s).GetCardinality()), want)
				}
			})
		}
	}
}

func check(b *testing.B, got, want int) {
	if got != want {
		b.Fatalf("%d, want %d", got, want)
	}
}
