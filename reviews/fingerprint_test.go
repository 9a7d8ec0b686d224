package reviews_test

import (
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
)

func TestSetOfFingerprints(t *testing.T) {
	s := reviews.NewSet()
	for _, n := range []int{0, 1, 7, 8, 500, 513, 100_000, 3} { // a small one again after a large one
		if s.Has(0) || s.Marked(0) {
			t.Fatal("an empty set has something")
		}
		for i := range n {
			if !s.Add(i) || s.Add(i) || s.Marked(i) {
				t.Fatalf("%d of %d is not added once", i, n)
			}
			if i%3 == 0 {
				s.Mark(i)
			}
		}
		for i := range n {
			if !s.Has(i) || s.Has(-1-i) || s.Marked(i) != (i%3 == 0) || s.Marked(-1-i) {
				t.Fatalf("%d of %d is wrong", i, n)
			}
		}
		s.Clear()
	}
}

func TestSetTakesSixteenBytesAnID(t *testing.T) {
	s, n := reviews.NewSet(), 0
	for _, upTo := range []int{100_000, 200_000, 300_000, 600_000} {
		for ; n < upTo; n++ {
			s.Add(n)
		}
		if each := float64(s.Bytes()) / float64(n); each > 16.5 {
			t.Errorf("%d ids take %.1f bytes each", n, each)
		}
	}
}
