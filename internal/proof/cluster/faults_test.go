//go:build linux

package cluster_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// sound is a history without a fault: ten patches one after the other, each followed by a read.
func sound() *history {
	h := &history{stored: map[string][]string{"a": {"created"}}, feeds: []map[string][]int{{"a": {0}}, {"a": {0}}}}
	for v := 1; v <= 10; v++ {
		at, title := time.Duration(10*v), fmt.Sprint("title ", v)
		h.patches = append(h.patches, patch{"a", title, acknowledged, v, at, at + 2})
		h.reads = append(h.reads, read{"a", v, title, at + 3, at + 4})
		h.stored["a"] = append(h.stored["a"], title)
		for _, feed := range h.feeds {
			feed["a"] = append(feed["a"], v)
		}
	}
	return h
}

// Each fault that the proof is about is found when it is put into a history.
func TestFaultsOfAHistoryAreFound(t *testing.T) {
	for _, test := range []struct {
		name string
		put  func(h *history)
		want string // "" = no fault
	}{
		{"none", func(h *history) {}, ""},
		{"an unknown outcome that was kept", func(h *history) { h.patches[4].outcome = unknown }, ""},
		{"an unknown outcome that was not kept", func(h *history) {
			h.patches = append(h.patches, patch{"a", "other", unknown, 0, 30, 90})
		}, ""},
		{"a refusal that was not kept", func(h *history) {
			h.patches = append(h.patches, patch{"a", "other", refused, 0, 30, 90})
		}, ""},
		{"the last write is lost", func(h *history) {
			h.stored["a"] = h.stored["a"][:10]
			h.reads = h.reads[:9]
			for _, feed := range h.feeds {
				feed["a"] = feed["a"][:10]
			}
		}, "lost: version 10"},
		{"an app is lost", func(h *history) { h.stored["a"], h.patches, h.reads = nil, nil, nil }, "lost: app a"},
		{"a version that was read is lost", func(h *history) {
			h.patches[9].outcome = unknown
			h.stored["a"] = h.stored["a"][:10]
			for _, feed := range h.feeds {
				feed["a"] = feed["a"][:10]
			}
		}, "lost: version 10 of app a was read"},
		{"another body under the number", func(h *history) {
			h.patches = append(h.patches, patch{"a", "other", unknown, 0, 30, 90})
			h.stored["a"][5] = "other"
		}, "lost: version 5"},
		{"one number is given twice", func(h *history) {
			h.patches = append(h.patches, patch{"a", "other", acknowledged, 5, 50, 52})
		}, "split: version 5"},
		{"a refused write is kept", func(h *history) { h.patches[4].outcome = refused }, "was refused"},
		{"a write is kept twice", func(h *history) {
			h.patches[5].outcome = unknown
			h.stored["a"][6] = "title 5"
		}, "has it twice"},
		{"a version that nobody made", func(h *history) { h.stored["a"] = append(h.stored["a"], "whose") }, "nobody made"},
		{"a stale read", func(h *history) { h.reads = append(h.reads, read{"a", 5, "title 5", 64, 65}) }, "stale: version 5"},
		{"a read beside the next write", func(h *history) { h.reads = append(h.reads, read{"a", 5, "title 5", 59, 65}) }, ""},
		{"a read before the write", func(h *history) { h.reads = append(h.reads, read{"a", 5, "title 5", 45, 46}) }, "stale: version 5 of app a was made"},
		{"a follower misses a change", func(h *history) { h.feeds[1]["a"] = append(h.feeds[1]["a"][:4], h.feeds[1]["a"][5:]...) }, "feed: app a has versions 0 to 10, and follower 1 met version 5"},
		{"a follower meets a change twice", func(h *history) { h.feeds[0]["a"] = append(h.feeds[0]["a"], 10) }, "follower 0 met version 10 as number 11"},
		{"a follower does not meet the last change", func(h *history) { h.feeds[0]["a"] = h.feeds[0]["a"][:10] }, "follower 0 met 10 of them"},
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
