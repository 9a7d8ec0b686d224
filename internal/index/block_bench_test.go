package index

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The ordinals of blocks of a million are counted among two thirds of them.
func BenchmarkCountBlock(b *testing.B) {
	rng, s := rand.New(rand.NewPCG(1, 2)), &Set{}
	for o := range int64(1 << 20) {
		if rng.IntN(3) > 0 {
			s.add(o)
		}
	}
	for _, gap := range []int64{4, 50, 200, 1000} {
		var blocks [][]byte
		n := 0
		for o := int64(0); o < 1<<20; {
			from, list := o, []int64(nil)
			for len(list) < 500 && o < 1<<20 {
				o += 1 + rng.Int64N(2*gap)
				list = append(list, o)
			}
			list = list[:fits(from, list)]
			o = list[len(list)-1] + 1
			blocks, n = append(blocks, appendBlock(nil, from, list)), n+len(list)
		}
		b.Run(fmt.Sprint("gap ", gap), func(b *testing.B) {
			for b.Loop() {
				for _, v := range blocks {
					s.countBlock(v)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/ordinal")
		})
	}
}
