package services

import (
	"context"
	"math/rand/v2"
	"slices"
)

var ctx = context.Background()

// randomData makes random requests.
type randomData struct{ *rand.Rand }

func pick[T any](d randomData, from []T) T { return from[d.IntN(len(from))] }

// some returns up to most different strings, sorted.
func (d randomData) some(most int, one func() string) []string {
	var out []string
	for range d.IntN(most + 1) {
		out = append(out, one())
	}
	slices.Sort(out)
	return slices.Compact(out)
}
