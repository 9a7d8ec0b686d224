package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof"
)

// settle waits until nobody has anything to do for a moment.
func settle() {
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
}

func (f *fixture) expect(what, want string) {
	f.t.Helper()
	if got := f.to.take(); got != want {
		f.t.Errorf("%s: delivered %q, want %q", what, got, want)
	}
}

func TestChangesAreDeliveredInOrderToThoseWhoWantThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.apps.add("apps", "app.created", 1, "urn:v:a")
		p := f.start(to("all"), to("tags", of("tag.set")), to("site", in("urn:v:a:site=1")),
			to("assets", of("assets.changed")))
		settle()
		f.expect("what was before", "")
		f.apps.add("apps", "app.updated", 2, "urn:v:a:site=1")
		settle()
		f.expect("an update", "all:2 site:2")
		for i := 3; i < 20; i++ {
			f.apps.add("apps", "tag.set", i, "urn:v:b")
		}
		settle()
		for _, host := range []string{"all", "tags"} {
			n := 3
			for _, d := range f.to.got {
				if d.host == host && d.n != n {
					t.Errorf("%s: %d, want %d", host, d.n, n)
				}
				if d.host == host {
					n++
				}
			}
			if n != 20 {
				t.Errorf("%s got up to %d", host, n)
			}
		}
		f.to.take()
		f.assets.found("assets/a/a") // a new library
		f.assets.add("assets/a/a", "assets.changed", 20, "urn:v:a")
		time.Sleep(time.Millisecond)
		f.apps.add("apps", "component.created", 21)
		settle()
		f.expect("of two sources", "all:20 all:21 assets:20")
		p.end()
	})
}

// Changes of several feeds that wait for an endpoint are delivered by time.
func TestChangesOfSeveralFeedsAreDeliveredByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.assets.found("assets/a/a")
		f.assets.found("assets/b/b")
		f.start(to("a")).end()
		for i, list := range []string{"assets/b/b", "apps", "assets/a/a", "apps", "assets/b/b", "assets/a/a"} {
			if list == "apps" {
				f.apps.add(list, "tag.set", i)
			} else {
				f.assets.add(list, "assets.changed", i)
			}
			time.Sleep(time.Second)
		}
		p := f.start(to("a"))
		settle()
		f.expect("of three feeds", "a:0 a:1 a:2 a:3 a:4 a:5")
		p.end()
	})
}

// A change that waits for its next attempt is not lost in a restart, though the endpoint does not get those after it.
func TestAChangeThatWaitsIsNotPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.to.set(func(delivery) (int, error) { return 500, nil })
		p := f.start(to("a", of("tag.deleted")))
		f.apps.add("apps", "tag.deleted", 1)
		for i := 2; i < 6; i++ {
			f.apps.add("apps", "tag.set", i)
		}
		time.Sleep(time.Minute)
		p.end()
		f.to.set(nil)
		f.to.take()
		p = f.start(to("a", of("tag.deleted")))
		time.Sleep(time.Hour)
		f.expect("after the restart", "a:1")
		p.end()
	})
}

// A change whose notification is lost is found when the feeds are read once more.
func TestAChangeThatNobodyIsToldOfIsDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		p := f.start(to("a"))
		settle()
		f.apps.addUnheard(time.Now(), "apps", "tag.set", 1)
		time.Sleep(storeAfter + time.Second)
		f.expect("after a while", "a:1")
		p.end()
	})
}

// The time of the next attempt may come from a process whose clock is far ahead. No wait is longer than the longest
// one.
func TestAClockThatIsAheadDelaysNothingForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.start(to("a")).end()
		var p position
		if err := json.Unmarshal([]byte(f.position("a")), &p); err != nil {
			t.Fatal(err)
		}
		p.Failed, p.Until = 1, time.Now().Add(1000*time.Hour).UnixMilli()
		putRecord(t, f.store, positionKey("a"), p)
		f.apps.add("apps", "tag.set", 1)
		again := f.start(to("a"))
		time.Sleep(longestWait * 13 / 10)
		f.expect("after the longest wait", "a:1")
		again.end()
	})
}

// A change has the same id at every attempt, and no two changes have the same id.
func TestIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.to.set(func(d delivery) (int, error) { return 503, nil })
		p := f.start(to("a"), to("b"))
		f.apps.add("apps", "tag.set", 1)
		f.apps.add("apps", "tag.set", 2)
		time.Sleep(time.Minute)
		p.end()
		f.to.set(nil)
		p = f.start(to("a"), to("b"))
		time.Sleep(10 * time.Minute)
		p.end()
		ids, of := map[string]string{}, map[string]string{}
		for _, d := range f.to.all() {
			change := fmt.Sprint(d.host, d.n)
			if before := ids[change]; before != "" && before != d.id {
				t.Errorf("%s has the ids %s and %s", change, before, d.id)
			}
			if before := of[d.id]; before != "" && before != change {
				t.Errorf("the id %s is of %s and %s", d.id, before, change)
			}
			ids[change], of[d.id] = d.id, change
		}
		if len(ids) != 4 {
			t.Errorf("%d changes came: %v", len(ids), ids)
		}
	})
}

// waits returns the times between the deliveries.
func waits(got []delivery) (out []time.Duration) {
	for i := 1; i < len(got); i++ {
		out = append(out, got[i].at.Sub(got[i-1].at))
	}
	return out
}

func within(d, want time.Duration) bool {
	return d >= want*8/10-time.Second/2 && d <= want*12/10+time.Second/2
}

func TestRetries(t *testing.T) {
	for name, answer := range map[string]func(delivery) (int, error){
		"500":            func(delivery) (int, error) { return 500, nil },
		"100":            func(delivery) (int, error) { return 199, nil },
		"300":            func(delivery) (int, error) { return 300, nil },
		"nothing at all": func(delivery) (int, error) { return 0, errSilent },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.to.set(func(d delivery) (int, error) {
					if d.host == "well" {
						return 200, nil
					}
					return answer(d)
				})
				p := f.start(to("ill"), to("well"))
				f.apps.add("apps", "tag.set", 1)
				begun := time.Now()
				f.apps.add("apps", "tag.set", 2)
				settle()
				time.Sleep(keepTrying + time.Minute)
				var ill []delivery
				for _, d := range f.to.all() {
					if d.host == "ill" {
						ill = append(ill, d)
					} else if d.at.Sub(begun) > time.Second {
						t.Errorf("the endpoint that is well got %+v late", d)
					}
				}
				lasts := time.Duration(0)
				if name == "nothing at all" {
					lasts = respondWithin
				}
				for i, d := range waits(ill) {
					if want := min(firstWait<<i, longestWait); i < 20 && !within(d-lasts, want) && d-lasts < want {
						t.Errorf("wait %d was %s, want %s ± 20 %%", i, d-lasts, want)
					}
				}
				if len(ill) < 18 || len(ill) > 26 || ill[len(ill)-1].n != 1 ||
					ill[len(ill)-1].at.Sub(begun) < keepTrying-longestWait*13/10 || ill[0].at.Sub(begun) > time.Second {
					t.Errorf("%d attempts, the last %+v", len(ill), ill[len(ill)-1])
				}
				// The first change is too old then, and so is the second.
				f.to.set(nil)
				f.apps.add("apps", "tag.set", 3)
				time.Sleep(longestWait * 13 / 10)
				f.expect("after three days", "ill:3 well:3")
				if log := f.log.String(); strings.Count(log, "skipped") != 2 || strings.Count(log, "too old") != 2 {
					t.Errorf("the log of what was skipped: %s", log)
				}
				p.end()
			})
		})
	}
}

// A change that is old when its turn comes gets one attempt, unless the endpoint has just failed.
func TestAnOldChangeGetsItsAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		p := f.start(to("a"))
		p.end()
		for i := range 3 {
			f.apps.addAt(time.Now().Add(-4*24*time.Hour), "apps", "tag.set", i)
		}
		f.to.set(func(d delivery) (int, error) {
			if d.n == 1 {
				return 500, nil
			}
			return 200, nil
		})
		f.apps.add("apps", "tag.set", 3)
		p = f.start(to("a"))
		time.Sleep(time.Minute)
		f.expect("four days later", "a:0 a:1 a:3") // 2 is as old as 1, and the endpoint failed at 1
		p.end()
	})
}

// A receiver that refuses a change as such is not asked for ever, and gets the next one.
func TestRefusedChanges(t *testing.T) {
	for _, status := range []int{400, 413, 422} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.to.set(func(d delivery) (int, error) {
					if d.n == 3 {
						return 200, nil
					}
					return status, nil
				})
				p := f.start(to("a"))
				for i := 1; i <= 3; i++ {
					f.apps.add("apps", "tag.set", i)
				}
				time.Sleep(10 * time.Minute)
				f.expect("rejected", "a:1 a:1 a:1 a:1 a:1 a:2 a:2 a:2 a:2 a:2 a:3")
				if log := f.log.String(); strings.Count(log, "rejected 5 times") != 2 {
					t.Error(log)
				}
				p.end()
			})
		})
	}
}

// Refusals are counted also when the receiver fails in other ways between, or another process goes on.
func TestRefusalsAreCountedAcrossRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		attempts := 0
		f.to.set(func(d delivery) (int, error) {
			if attempts++; d.n == 1 && attempts%2 == 1 {
				return 400, nil
			} else if d.n == 1 {
				return 500, nil
			}
			return 200, nil
		})
		p := f.start(to("a"))
		f.apps.add("apps", "tag.set", 1)
		f.apps.add("apps", "tag.set", 2)
		time.Sleep(time.Minute)
		p.end()
		before := len(f.to.all())
		p = f.start(to("a"))
		settle()
		f.expect("right after the restart", "") // the wait goes on
		time.Sleep(time.Hour)
		p.end()
		got := f.to.all()
		if n := before + len(got); n != 9+1 || got[len(got)-1].n != 2 {
			t.Errorf("%d attempts, %v", n, got)
		}
	})
}

func TestA410SwitchesOffUntilTheReceiverChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.to.set(func(d delivery) (int, error) {
			if d.host == "a" {
				return 410, nil
			}
			return 200, nil
		})
		p := f.start(to("a"))
		f.apps.add("apps", "tag.set", 1)
		time.Sleep(time.Hour)
		f.expect("410", "a:1")
		f.apps.add("apps", "tag.set", 2)
		if err := p.Set(t.Context(), []Endpoint{to("a", of("tag.set"))}); err != nil {
			t.Error(err)
		}
		time.Sleep(48 * time.Hour)
		f.expect("with other types", "")
		p.end()
		p = f.start(to("a"))
		time.Sleep(48 * time.Hour)
		f.expect("after a restart", "")
		changed := to("a")
		changed.URL = "https://moved/CANARY"
		if err := p.Set(t.Context(), []Endpoint{changed}); err != nil {
			t.Error(err)
		}
		settle()
		f.expect("with another URL", "moved:1 moved:2")
		p.end()
		f.apps.add("apps", "tag.set", 3)
		p = f.start(to("a"))
		settle()
		f.expect("with the first URL", "a:3")
		f.to.set(nil)
		renewed := to("a")
		renewed.Secrets = append(renewed.Secrets, renewed.Secrets[0])
		if err := p.Set(t.Context(), []Endpoint{renewed}); err != nil {
			t.Error(err)
		}
		settle()
		f.expect("with another secret", "a:3")
		p.end()
	})
}

// A new name begins with what comes, a known one goes on where it was.
func TestNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		p := f.start(to("a"))
		f.apps.add("apps", "tag.set", 1)
		settle()
		set := func(endpoints ...Endpoint) {
			t.Helper()
			if err := p.Set(t.Context(), endpoints); err != nil {
				t.Error(err)
			}
			settle() // those that are not there any more may get what comes at the same moment
		}
		set(to("a"), to("b"))
		f.apps.add("apps", "tag.set", 2)
		settle()
		f.expect("a and b", "a:1 a:2 b:2")
		set(to("b"))
		f.apps.add("apps", "tag.set", 3)
		settle()
		f.expect("without a", "b:3")
		set(to("b"), to("a"))
		settle()
		f.expect("a again", "a:3")
		set()
		f.apps.add("apps", "tag.set", 4)
		settle()
		f.expect("none", "")
		set(to("b"))
		settle()
		f.expect("b again", "b:4")
		p.end()
		f.apps.add("apps", "tag.set", 5)
		p = f.start(to("c"), to("a"))
		settle()
		f.expect("after a restart", "a:4 a:5")
		p.end()
	})
}

// An endpoint that asks for more types than before gets the changes of these from then on, and a new library is read
// from its beginning.
func TestASourceThatIsAddedBeginsWithWhatComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.assets.found("assets/a/a")
		p := f.start(to("a", of("tag.set")))
		f.assets.add("assets/a/a", "assets.changed", 1)
		settle()
		if err := p.Set(t.Context(), []Endpoint{to("a")}); err != nil {
			t.Error(err)
		}
		settle()
		f.expect("before", "")
		f.assets.add("assets/a/a", "assets.changed", 2)
		settle() // the order of changes of two libraries is open
		f.assets.found("assets/b/b")
		f.assets.add("assets/b/b", "assets.changed", 3)
		settle()
		f.expect("from then on", "a:2 a:3")
		p.end()
		f.assets.found("assets/c/c")
		f.assets.add("assets/c/c", "assets.changed", 4)
		p = f.start(to("a"))
		settle()
		f.expect("of a library that came between", "a:4")
		p.end()
	})
}

// An endpoint that asks for other networks gets their changes from then on, and none from the time before.
func TestGroupsThatChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.assets.found("assets/a/a")
		f.assets.found("assets/b/b")
		p := f.start(to("x", in("urn:v:a")))
		n := 0
		each := func() {
			for _, network := range []string{"a", "b"} {
				n++
				f.assets.add("assets/"+network+"/"+network, "assets.changed", n, "urn:v:"+network)
				time.Sleep(time.Second)
			}
		}
		each()
		f.expect("of a", "x:1")
		for _, c := range []struct {
			groups []string
			want   string
		}{{[]string{"urn:v:a", "urn:v:b"}, "x:3 x:4"}, {[]string{"urn:v:b"}, "x:6"}, {nil, "x:7 x:8"},
			{[]string{"urn:v:a"}, "x:9"}} {
			if err := p.Set(t.Context(), []Endpoint{to("x", in(c.groups...))}); err != nil {
				t.Error(err)
			}
			settle()
			each()
			f.expect(fmt.Sprint("of ", c.groups), c.want)
		}
		p.end()
	})
}

// After a reset of the feed deliveries go on by time.
func TestAFeedWithANewIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		p := f.start(to("a"))
		for i := range 10 {
			f.apps.add("apps", "tag.set", i)
			time.Sleep(time.Minute)
		}
		f.to.take()
		p.end()
		f.apps.add("apps", "tag.set", 10)
		f.apps.reset("two")
		fails := errors.New("CANARY")
		f.apps.fails = fails
		p = f.startAfterFailing(f.apps, to("a"))
		settle()
		f.expect("after the reset", "a:4 a:5 a:6 a:7 a:8 a:9 a:10")
		if log := f.log.String(); strings.Count(log, "reset") != 1 {
			t.Error(log)
		}
		p.end()
		p = f.start(to("a"))
		settle()
		f.expect("after a restart", "")
		p.end()
	})
}

// startAfterFailing starts a process while a source fails, and lets it recover after a while.
func (f *fixture) startAfterFailing(s *fakeSource, endpoints ...Endpoint) *process {
	p := f.start(endpoints...)
	time.Sleep(10 * time.Second)
	f.expect("while the source fails", "")
	s.mu.Lock()
	s.fails = nil
	s.mu.Unlock()
	time.Sleep(time.Minute)
	return p
}

// A position that moves past changes that nobody gets is stored now and then, so that it does not grow too old.
func TestThePositionMovesWithoutDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		p := f.start(to("a", of("tag.deleted")))
		for i := range 10 {
			f.apps.add("apps", "tag.set", i)
		}
		time.Sleep(2 * storeAfter)
		f.apps.mu.Lock()
		f.apps.removed = 10
		f.apps.mu.Unlock()
		// The process is killed: nothing that it does from here on reaches the store.
		has := func(want string) bool { return strings.Contains(f.position("a"), want) }
		stored := func(want string) {
			t.Helper()
			if !has(want) {
				t.Errorf("the position that is stored is not %s", want)
			}
		}
		stored(`"one-10"`)
		// After many changes it is stored sooner, and in any case at the end.
		f.apps.add("apps", "tag.set", 10)
		for begun := time.Now(); !has(`"one-11"`) && time.Since(begun) < 2*storeAfter; {
			time.Sleep(time.Second)
		}
		stored(`"one-11"`)
		for i := range storeUnsaved {
			f.apps.add("apps", "tag.set", i)
		}
		time.Sleep(storeAfter / 10)
		stored(`"one-1011"`)
		f.apps.add("apps", "tag.set", 0)
		settle()
		p.end()
		stored(`"one-1012"`)
	})
}

// Many changes that the endpoint does not get do not make it read the feeds more often than a few times a second.
func TestFeedsAreReadAFewTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		p := f.start(to("a", of("tag.deleted")))
		time.Sleep(storeAfter * 3 / 2) // the feeds are read once more after storeAfter
		f.apps.readsSoFar()
		f.apps.add("apps", "tag.deleted", 1)
		synctest.Wait() // at the same moment
		f.expect("after a pause", "a:1")
		for i := range 1000 {
			f.apps.add("apps", "tag.set", i)
			time.Sleep(time.Millisecond)
		}
		if n := f.apps.readsSoFar(); n > 1000/3+2*15 { // the fake has pages of 3
			t.Errorf("%d pages in a second", n)
		}
		p.end()
	})
}

// After a change of an app the feeds of libraries are not read.
func TestOneSourceIsReadWithoutTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.assets.found("assets/a/a")
		p := f.start(to("a"))
		time.Sleep(time.Second)
		f.apps.readsSoFar()
		f.assets.readsSoFar()
		f.apps.add("apps", "tag.set", 1)
		time.Sleep(time.Second)
		if apps, assets := f.apps.readsSoFar(), f.assets.readsSoFar(); apps == 0 || assets != 0 {
			t.Errorf("%d pages of apps, %d of assets", apps, assets)
		}
		f.assets.add("assets/a/a", "assets.changed", 2)
		time.Sleep(time.Second)
		f.expect("of both", "a:1 a:2")
		p.end()
	})
}

// No secret and no URL is in the log or in the store.
func TestSecretsAreNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		statuses := []int{200, 302, 400, 410, 500}
		f.to.set(func(d delivery) (int, error) {
			if d.n >= len(statuses) {
				return 0, errSilent
			}
			return statuses[d.n], nil
		})
		p := f.start(to("a"))
		for i := range 6 {
			f.apps.add("apps", "tag.set", i)
			time.Sleep(10 * time.Minute)
			again := to("a")
			again.URL += fmt.Sprint(i)
			if err := p.Set(t.Context(), []Endpoint{again}); err != nil {
				t.Error(err)
			}
		}
		bad := to("a")
		bad.URL = "https://CANARY.example:bad/"
		if err := p.Set(t.Context(), []Endpoint{bad}); err != nil {
			t.Error(err)
		}
		time.Sleep(keepTrying)
		p.end()
		text := f.position("a")
		if text == "" {
			t.Error("there is no position")
		}
		for what, text := range map[string]string{"the log": f.log.String(), "the store": text,
			"the Deliverer": fmt.Sprintf("%+v", p.endpoints[0].Secrets)} {
			for _, secret := range []string{"CANARY", canary[6:], "CCCCCCCC", "67 67 67"} {
				if strings.Contains(text, secret) {
					t.Errorf("%s holds %q: %s", what, secret, text)
				}
			}
		}
		if log := f.log.String(); !strings.Contains(log, "status=302") || !strings.Contains(log, "webhook=a") {
			t.Errorf("the log says little: %s", log)
		}
	})
}

// A delivery that is under way when the process is told to stop is completed, and not repeated.
func TestStoppingCompletesADelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.to.set(func(d delivery) (int, error) {
			time.Sleep(10 * time.Second)
			return 200, nil
		})
		p := f.start(to("a"))
		f.apps.add("apps", "tag.set", 1)
		f.apps.add("apps", "tag.set", 2)
		time.Sleep(5 * time.Second)
		p.end()
		f.expect("before", "a:1")
		p = f.start(to("a"))
		time.Sleep(15 * time.Second)
		f.expect("after", "a:2")
		p.end()
	})
}

// A store that fails for a while delays deliveries and loses none.
func TestAStoreThatFailsForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		broken := &proof.FaultyStore{Store: f.store}
		p := f.startOn(broken, f.to, to("a"))
		f.apps.add("apps", "tag.set", 1)
		settle()
		broken.Fail(context.DeadlineExceeded)
		f.apps.add("apps", "tag.set", 2)
		f.apps.add("apps", "tag.set", 3)
		time.Sleep(10 * time.Second) // the position cannot be stored: nothing more is delivered
		f.expect("while it fails", "a:1 a:2")
		broken.Fail(nil)
		time.Sleep(5 * time.Second)
		f.expect("afterwards", "a:3")
		broken.Fail(context.DeadlineExceeded)
		time.Sleep(time.Minute) // longer than the lease lasts
		f.apps.add("apps", "tag.set", 4)
		broken.Fail(nil)
		time.Sleep(time.Minute)
		f.expect("after it failed longer than the lease lasts", "a:4")
		p.end()
	})
}

// A worker whose process has lost the lease, and that is not told to stop yet, logs no fault.
func TestALostLeaseIsNoFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		d := New(f.store, Services{}, &Options{Log: slog.New(slog.NewTextHandler(f.log, nil))})
		d.sources = []source{f.apps}
		valid, lose := cancelable(t)
		lose()
		stopped, stop := cancelable(t)
		time.AfterFunc(time.Minute, stop)
		w := worker{d: d, e: to("a"), log: d.log}
		if w.run(stopped, valid); f.log.String() != "" {
			t.Errorf("log: %s", f.log)
		}
	})
}
