//go:build proof

package soak

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// sample is what the server has at rest after a round.
type sample struct {
	goroutines, descriptors float64 // descriptors without those of the store's pool, which keeps what it has opened
	live, resident          float64 // bytes: what the last garbage collection found in use, and of the process
}

func (s sample) String() string {
	return fmt.Sprintf("%.0f goroutines, %.0f descriptors, %.1f MiB in use, %.1f MiB resident", s.goroutines,
		s.descriptors, s.live/(1<<20), s.resident/(1<<20))
}

// slope is how much the values rise from one to the next: the median of the slopes between all pairs.
func slope(values []float64) float64 {
	var all []float64
	for i, a := range values {
		for j, b := range values[i+1:] {
			all = append(all, (b-a)/float64(j+1))
		}
	}
	return median(all)
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// rising returns what rises over the samples. Goroutines and descriptors may not rise by one in each round; memory in
// use may rise by a tenth over all rounds, or by so many MiB, since the caches of the server have places of different
// size. Resident memory may rise by four times as much: it also depends on when the system gets memory back.
func rising(all []sample, slack float64) (found []string) {
	of := func(get func(sample) float64) (values []float64) {
		for _, s := range all {
			values = append(values, get(s))
		}
		return values
	}
	rounds := float64(len(all) - 1)
	for _, figure := range []struct {
		name string
		get  func(sample) float64
		unit float64
	}{
		{"goroutines", func(s sample) float64 { return s.goroutines }, 0},
		{"descriptors", func(s sample) float64 { return s.descriptors }, 0},
		{"memory in use", func(s sample) float64 { return s.live }, 1 << 20},
		{"resident memory", func(s sample) float64 { return s.resident }, 4 << 20},
	} {
		values := of(figure.get)
		rise, most := slope(values)*rounds, rounds/2
		if figure.unit > 0 {
			most = max(slack*figure.unit, median(values)/10)
		}
		scale := 1.0
		if figure.unit > 0 {
			scale = 1 << 20
		}
		if rise > most {
			found = append(found,
				fmt.Sprintf("%s: %.4g more over %.0f rounds, at most %.4g", figure.name, rise/scale, rounds,
					most/scale))
		}
	}
	return found
}

func TestRising(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	series := func(goroutines, descriptors, live float64) (all []sample) {
		for i := range 12 {
			n := float64(i)
			s := sample{50 + goroutines*n + float64(r.IntN(4)), 30 + descriptors*n, 20e6 + live*n + 1e6*r.Float64(),
				90e6 + 20e6*r.Float64()}
			if i == 6 { // a round that differs
				s.goroutines, s.descriptors, s.live = s.goroutines+90, s.descriptors+40, s.live+50e6
			}
			all = append(all, s)
		}
		return all
	}
	for name, c := range map[string]struct {
		all  []sample
		want int
	}{
		"nothing":                           {series(0, 0, 0), 0},
		"a goroutine in each round":         {series(1, 0, 0), 1},
		"a descriptor in each round":        {series(0, 1, 0), 1},
		"some memory in each round":         {series(0, 0, 1e6), 1},
		"all three":                         {series(3, 2, 2e6), 3},
		"a descriptor in every third round": {series(0, 1.0/3, 0), 0},
		"what becomes less":                 {series(-1, -1, -1e6), 0},
	} {
		if found := rising(c.all, 4); len(found) != c.want {
			t.Errorf("%s: found %q, want %d", name, found, c.want)
		}
	}
}
