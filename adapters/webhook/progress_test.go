package webhook

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		answers := map[string]int{"fine": 204, "down": 500, "gone": 410}
		answer := func(d delivery) (int, error) {
			if d.host == "hangs" {
				return 0, errSilent
			}
			return answers[d.host], nil
		}
		f.to.set(answer)
		p := f.start(to("fine"), to("down"), to("gone"), to("hangs"))
		check := func(when string, want ...Progress) {
			t.Helper()
			settle()
			if have := p.Progress(); !slices.Equal(have, want) {
				t.Errorf("%s: %+v, want %+v", when, have, want)
			}
		}
		none := time.Time{}
		check("at first", Progress{"fine", none, false}, Progress{"down", none, false}, Progress{"gone", none, false},
			Progress{"hangs", none, false})
		first := time.UnixMilli(time.Now().UnixMilli())
		f.apps.add("apps", "tag.set", 1)
		time.Sleep(time.Second)
		f.apps.add("apps", "tag.set", 2)
		check("with two changes", Progress{"fine", none, false}, Progress{"down", first, false},
			Progress{"gone", none, true}, Progress{"hangs", first, false})
		f.to.set(func(d delivery) (int, error) {
			if d.host == "down" {
				return 204, nil
			}
			return answer(d)
		})
		time.Sleep(time.Minute)
		if err := p.Set(t.Context(), []Endpoint{to("hangs"), to("down")}); err != nil {
			t.Fatal(err)
		}
		check("when one is back and others are left out", Progress{"hangs", first, false},
			Progress{"down", none, false})
		other := f.start(to("fine"))
		if have := other.Progress(); have != nil {
			t.Errorf("a process that does not deliver tells of %+v", have)
		}
		other.end()
		p.end()
		check("at the end")
	})
}
