package storetest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/storage"
)

// like compares a store with a map, under random updates, of which some fail.
func like(s storage.Store, rng *rand.Rand) error {
	spaces := []string{"a", "a/b", "b"}
	model := map[string]string{}
	key := func(space string) string {
		return space + " " + strings.Repeat("\x00", rng.IntN(2)) + fmt.Sprint(rng.IntN(40)) +
			strings.Repeat("\xff", rng.IntN(3))
	}
	stop := errors.New("stop")
	for range 300 {
		space := spaces[rng.IntN(len(spaces))]
		var next map[string]string
		seed := rng.Uint64()
		err := update(s, space, func(t storage.Tx) error {
			rng = rand.New(rand.NewPCG(seed, 0)) // the function may be called again
			next = maps.Clone(model)
			for range rng.IntN(12) {
				from, to := key(space), key(space)
				var err error
				switch rng.IntN(6) {
				case 0:
					delete(next, from)
					delete(next, to)
					err = t.Delete(ctx, from, to)
				case 1:
					maps.DeleteFunc(next, func(k, _ string) bool { return k >= from && k < to })
					err = t.DeleteRange(ctx, storage.Range{From: from, To: to})
				default:
					value := strings.Repeat("v", []int{0, 1, 300, 3000}[rng.IntN(4)])
					next[from], next[to] = value, value
					err = put(t, from, value, to, value)
				}
				if err != nil {
					return err
				}
			}
			if err := reads(t, next, key, spaces, rng); err != nil {
				return fmt.Errorf("in an update: %w", err)
			}
			if rng.IntN(4) == 0 {
				return stop
			}
			return nil
		})
		if err == nil {
			model = next
		} else if !errors.Is(err, stop) {
			return err
		}
		if err := s.View(ctx, func(r storage.Reader) error { return reads(r, model, key, spaces, rng) }); err != nil {
			return err
		}
	}
	return nil
}

// reads compares random reads with those of a map.
func reads(r storage.Reader, model map[string]string, key func(string) string, spaces []string, rng *rand.Rand) error {
	from, to := key(spaces[rng.IntN(3)]), key(spaces[rng.IntN(3)])
	values, err := r.Get(ctx, from, to)
	if err != nil {
		return err
	}
	for i, k := range []string{from, to} {
		if want, found := model[k]; found != (values[i] != nil) || string(values[i]) != want {
			return fmt.Errorf("Get(%q) = %.20q, want %.20q, which is there: %t", k, values[i], want, found)
		}
	}
	in := storage.Range{From: from, To: to, Reverse: rng.IntN(2) == 0, Limit: rng.IntN(40), Expect: rng.IntN(40)}
	if rng.IntN(4) == 0 {
		in.From, in.To = "", ""
	}
	var keys []string
	for k := range model {
		if k >= in.From && (in.To == "" || k < in.To) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	if in.Reverse {
		slices.Reverse(keys)
	}
	if in.Limit > 0 {
		keys = keys[:min(in.Limit, len(keys))]
	}
	var pairs []string
	for _, k := range keys {
		pairs = append(pairs, k, model[k])
	}
	return has(r, in, pairs...)
}
