package reviews_test

import (
	"testing"

	"github.com/vitrine-go/vitrine/reviews"
)

func TestASetHasWhatWasAdded(t *testing.T) {
	s := reviews.NewSet()
	for _, n := range []int{0, 1, 7, 8, 500, 513, 20_000, 3} { // a small one again after a large one
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
	for _, upTo := range []int{100_000, 120_000, 150_000, 200_000, 210_000} {
		for ; n < upTo; n++ {
			s.Add(n)
		}
		if each := float64(s.Bytes()-100_000) / float64(n); each > 16 { // two pages are there anyway
			t.Errorf("%d ids take %.1f bytes each", n, each)
		}
	}
}

// Fingerprints that are spread as unevenly as can be make the set slow, not wrong.
func TestASetOfFingerprintsWithOneHomeIsRight(t *testing.T) {
	s := reviews.NewSet()
	const n = 5_000 // more than a page holds
	for i := range n {
		if !s.AddLast(n-i) || s.AddLast(n-i) {
			t.Fatalf("%d is not added once", i)
		}
	}
	for i := range n {
		if s.AddLast(1 + i) {
			t.Fatalf("%d was lost", i)
		}
	}
}
