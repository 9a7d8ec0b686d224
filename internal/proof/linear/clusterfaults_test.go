//go:build proof && linux

package linear

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// sound is a history without a fault: ten patches one after the other, each followed by a read, and a tag for each, which
// is read as well.
func sound() *clusterHistory {
	h := &clusterHistory{
		begun:  map[string]*Version{"a": First("created", "", 0)},
		stored: map[string][]string{"a": {"created"}},
		feeds:  []map[string][]int{{"a": {0}}, {"a": {0}}},
	}
	for v := 1; v <= 10; v++ {
		title := fmt.Sprint("title ", v)
		h.add(patched(int64(v), title), 10*v, 10*v+2)
		h.add(read(int64(v), title), 10*v+3, 10*v+4)
		h.add(tagged(int64(v)), 10*v+5, 10*v+6)
		h.add(readTagged(int64(v), title), 10*v+7, 10*v+8)
		h.stored["a"] = append(h.stored["a"], title)
		for _, feed := range h.feeds {
			feed["a"] = append(feed["a"], v)
		}
	}
	return h
}

// add adds an action between two moments.
func (h *clusterHistory) add(a action, call, answer int) {
	a.app, a.Key, a.call, a.answer = "a", NoKey, time.Duration(call), time.Duration(answer)
	h.actions = append(h.actions, a)
}

// shows is an answer with a version.
func shows(version int64, title string) Outcome {
	return Outcome{Apps: []SeenApp{{Version: version, Title: title}}}
}

func patched(version int64, title string) action {
	return action{Op: Op{Kind: Patch, Version: version - 1, Title: title}, Outcome: shows(version, title)}
}

// tried is a patch that was not acknowledged.
func tried(version int64, title string, how Status) action {
	a := patched(version, title)
	a.Outcome = without(how)
	return a
}

// without is an answer that shows nothing.
func without(how Status) Outcome { return Outcome{Status: how} }

func read(version int64, title string) action {
	return action{Op: Op{Kind: ReadLatest}, Outcome: shows(version, title)}
}

func tagged(version int64) action {
	return action{
		Op:      Op{Kind: PutTag, Version: version},
		Outcome: Outcome{Tags: []SeenTag{{Version: version}}},
	}
}

func readTagged(version int64, title string) action {
	return action{Op: Op{Kind: ReadTagged}, Outcome: shows(version, title)}
}

// of returns the action of sound that is of a kind and about a version.
func (h *clusterHistory) of(kind Kind, version int) *action {
	for i, a := range h.actions {
		if a.Kind == kind && int(a.call)/10 == version {
			return &h.actions[i]
		}
	}
	return nil
}

// lose has nothing of the newest version be there in the end.
func (h *clusterHistory) lose() {
	h.stored["a"] = h.stored["a"][:10]
	for _, feed := range h.feeds {
		feed["a"] = feed["a"][:10]
	}
}

const notLinear = "is not linearizable"

// Each fault that the proof is about is found when it is put into a history.
func TestFaultsOfAHistoryAreFound(t *testing.T) {
	for _, test := range []struct {
		name string
		put  func(h *clusterHistory)
		want string // "" = no fault
	}{
		{"none", func(h *clusterHistory) {}, ""},
		{"an unknown outcome that was kept", func(h *clusterHistory) { h.of(Patch, 4).Outcome = without(Unknown) }, ""},
		{"an unknown outcome that was not kept", func(h *clusterHistory) { h.add(tried(3, "other", Unknown), 30, 90) }, ""},
		{"an unknown outcome that was kept after its answer", func(h *clusterHistory) {
			h.of(Patch, 10).Outcome = without(Unknown)
			h.of(Patch, 10).call, h.of(Patch, 10).answer = 20, 25
		}, ""},
		{"an unknown tag that was put after its answer", func(h *clusterHistory) {
			h.add(action{Op: tagged(3).Op, Outcome: without(Unknown)}, 30, 32)
			h.add(readTagged(3, "title 3"), 120, 121)
		}, ""},
		{"an unknown tag that was put before its call", func(h *clusterHistory) {
			h.add(action{Op: tagged(3).Op, Outcome: without(Unknown)}, 130, 132)
			h.add(readTagged(3, "title 3"), 120, 121)
		}, notLinear},
		{"a refusal that was not kept", func(h *clusterHistory) { h.add(tried(3, "other", Refused), 30, 90) }, ""},
		{"a conflict", func(h *clusterHistory) { h.add(tried(3, "other", Conflict), 30, 33) }, ""},
		{"a conflict with nothing", func(h *clusterHistory) { h.add(tried(4, "other", Conflict), 33, 37) }, notLinear},
		{"the last write is lost", func(h *clusterHistory) { h.lose() }, "lost: version 10"},
		{"an acknowledged write is lost, and the version before it is the latest", func(h *clusterHistory) {
			h.add(read(9, "title 9"), 120, 121)
		}, notLinear},
		{"an acknowledged write is lost, and another takes its number", func(h *clusterHistory) {
			h.add(patched(10, "other"), 120, 121)
		}, notLinear},
		{"an app is lost", func(h *clusterHistory) { h.stored["a"], h.actions = nil, nil }, "lost: app a"},
		{"a version that was read is lost", func(h *clusterHistory) {
			h.of(Patch, 10).Outcome = without(Unknown)
			h.lose()
		}, "lost: version 10 of app a was answered"},
		{"another body under the number", func(h *clusterHistory) {
			h.add(tried(5, "other", Unknown), 30, 90)
			h.stored["a"][5] = "other"
		}, "lost: version 5"},
		{"a version that is no number", func(h *clusterHistory) { h.add(read(-1, "title 5"), 120, 121) }, "lost: version -1"},
		{"a version beyond the last", func(h *clusterHistory) { h.add(read(11, "title 11"), 120, 121) }, "lost: version 11"},
		{"a patch that is answered without an app", func(h *clusterHistory) { h.of(Patch, 10).Outcome = without(Done) }, "answered with 0 apps"},
		{"a read that is answered with two apps", func(h *clusterHistory) {
			a := h.of(ReadLatest, 5)
			a.Outcome.Apps = append(a.Outcome.Apps, a.Outcome.Apps...)
		}, "answered with 2 apps"},
		{"one number is given twice", func(h *clusterHistory) { h.add(patched(5, "other"), 50, 52) }, "split: version 5"},
		{"a refused write is kept", func(h *clusterHistory) { h.of(Patch, 4).Outcome = without(Refused) }, "was refused"},
		{"a write is kept twice", func(h *clusterHistory) {
			h.of(Patch, 6).Outcome = without(Unknown)
			h.stored["a"][6] = "title 5"
		}, "has it twice"},
		{"a version that nobody made", func(h *clusterHistory) { h.stored["a"] = append(h.stored["a"], "whose") }, "nobody made"},
		{"a stale read", func(h *clusterHistory) { h.add(read(5, "title 5"), 64, 65) }, notLinear},
		{"a read beside the next write", func(h *clusterHistory) { h.add(read(5, "title 5"), 59, 65) }, ""},
		{"a read before the write", func(h *clusterHistory) { h.add(read(5, "title 5"), 45, 46) }, notLinear},
		{"a stale read of a tag", func(h *clusterHistory) { h.add(readTagged(4, "title 4"), 57, 58) }, notLinear},
		{"a read of a tag beside the next one", func(h *clusterHistory) { h.add(readTagged(4, "title 4"), 53, 58) }, ""},
		{"an acknowledged tag is lost", func(h *clusterHistory) {
			h.add(tagged(2), 120, 121)
			h.add(readTagged(10, "title 10"), 122, 123)
		}, notLinear},
		{"a follower misses a change", func(h *clusterHistory) { h.feeds[1]["a"] = append(h.feeds[1]["a"][:4], h.feeds[1]["a"][5:]...) }, "feed: app a has versions 0 to 10, and follower 1 met version 5"},
		{"a follower meets a change twice", func(h *clusterHistory) { h.feeds[0]["a"] = append(h.feeds[0]["a"], 10) }, "follower 0 met version 10 as number 11"},
		{"a follower does not meet the last change", func(h *clusterHistory) { h.feeds[0]["a"] = h.feeds[0]["a"][:10] }, "follower 0 met 10 of them"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := sound()
			test.put(h)
			found := strings.Join(h.faults(), "\n")
			if test.want == "" && found != "" || !strings.Contains(found, test.want) {
				t.Errorf("found %q, want %q", found, test.want)
			}
		})
	}
}
