package webhook

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheObserverIsToldOfEachAttempt(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers func(d delivery) (int, error)
		want    string // type, status and outcome
	}{
		{"accepted", func(delivery) (int, error) { return 204, nil }, "tag.set 204 delivered"},
		{"accepted later", func(d delivery) (int, error) {
			if d.n < 3 {
				return 500, nil
			}
			return 200, nil
		}, "tag.set 500 retried, tag.set 500 retried, tag.set 200 delivered"},
		{"refused", func(delivery) (int, error) { return 422, nil },
			"tag.set 422 retried, tag.set 422 retried, tag.set 422 retried, tag.set 422 retried, tag.set 422 skipped"},
		{"gone", func(delivery) (int, error) { return 410, nil }, "tag.set 410 disabled"},
		{"no answer", func(d delivery) (int, error) { return 0, errors.New("no route") }, "tag.set 0 retried"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				tries := 0
				f.to.set(func(d delivery) (int, error) {
					tries++
					d.n = tries
					return c.answers(d)
				})
				var mu sync.Mutex
				var told []string
				var changed time.Time
				f.observer = func(a Attempt) {
					mu.Lock()
					defer mu.Unlock()
					if a.Endpoint != "a" || !a.At.Equal(changed) {
						t.Errorf("told of %+v", a)
					}
					told = append(told, fmt.Sprintf("%s %d %s", a.Type, a.Status, a.Outcome))
				}
				p := f.start(to("a"))
				changed = time.Now()
				f.apps.add("apps", "tag.set", 1)
				time.Sleep(time.Second)
				if c.name != "no answer" {
					time.Sleep(time.Hour)
				}
				p.end()
				if have := strings.Join(told, ", "); have != c.want {
					t.Errorf("told of %s, want %s", have, c.want)
				}
			})
		})
	}
}
