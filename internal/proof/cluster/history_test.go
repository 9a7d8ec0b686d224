//go:build linux

package cluster_test

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// outcome is what a client was answered about a patch.
type outcome int

const (
	acknowledged outcome = iota
	refused              // nothing may have been kept
	unknown              // it may have been kept
)

// patch is an attempt to make a version. No two patches have the same title.
type patch struct {
	app     string
	title   string
	outcome outcome
	version int // acknowledged
	// Times are since the beginning of the history.
	call, answer time.Duration
}

// read is an answer to a request for the newest version of an app.
type read struct {
	app          string
	version      int
	title        string
	call, answer time.Duration
}

// history is all that happened to some apps.
type history struct {
	patches []patch
	reads   []read
	// stored has the titles of each app's versions, 0 to n, as they are in the end. Version 0 is not by a patch.
	stored map[string][]string
	// feeds has what each follower met: the versions of each app in the order of the feed.
	feeds []map[string][]int
}

// always is later than any answer.
const always = time.Duration(1 << 62)

// faults returns what is wrong with a history.
func (h *history) faults() (all []string) {
	fault := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	made := map[string]*patch{}
	given := map[string]map[int]string{} // titles by app and version
	for i := range h.patches {
		p := &h.patches[i]
		made[p.title] = p
		if p.outcome != acknowledged {
			continue
		}
		if given[p.app] == nil {
			given[p.app] = map[int]string{}
		}
		if other := given[p.app][p.version]; other != "" {
			fault("split: version %d of app %s was given to %q and to %q", p.version, p.app, other, p.title)
		}
		given[p.app][p.version] = p.title
		if stored := h.stored[p.app]; p.version >= len(stored) || stored[p.version] != p.title {
			fault("lost: version %d of app %s was acknowledged as %q, and the app has %d versions", p.version, p.app, p.title, len(stored))
		}
	}
	for _, r := range h.reads {
		if stored := h.stored[r.app]; r.version >= len(stored) || stored[r.version] != r.title {
			fault("lost: version %d of app %s was read as %q, and the app has %d versions", r.version, r.app, r.title, len(stored))
		}
	}
	for app, titles := range h.stored {
		if len(titles) == 0 {
			fault("lost: app %s was created, and is not there", app)
			continue
		}
		kept := map[string]bool{}
		for version, title := range titles[1:] {
			switch p := made[title]; {
			case p == nil || p.app != app:
				fault("version %d of app %s is %q, which nobody made", version+1, app, title)
			case kept[title]:
				fault("%q was made once, and app %s has it twice", title, app)
			case p.outcome == refused:
				fault("%q was refused, and is version %d of app %s", title, version+1, app)
			}
			kept[title] = true
		}
		all = append(all, h.order(app, made)...)
		all = append(all, h.fed(app)...)
	}
	return all
}

// order checks that each patch and each read of an app took effect at one moment between its call and its answer.
// Versions are in the order of these moments. So nothing that comes later in this order may have been answered before
// something that comes earlier was called.
func (h *history) order(app string, made map[string]*patch) (all []string) {
	type step struct {
		place        int // 2n for the patch that made version n, 2n+1 for reads of it
		call, answer time.Duration
	}
	var steps []step
	for version, title := range h.stored[app] {
		if p := made[title]; p != nil && p.outcome == acknowledged {
			steps = append(steps, step{2 * version, p.call, p.answer})
		} else if p != nil {
			steps = append(steps, step{2 * version, p.call, always})
		}
	}
	for _, r := range h.reads {
		if r.app == app {
			steps = append(steps, step{2*r.version + 1, r.call, r.answer})
		}
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(b.place, a.place) })
	first := always // the first answer to a step with a higher place
	for begin := 0; begin < len(steps); {
		end := begin
		for ; end < len(steps) && steps[end].place == steps[begin].place; end++ {
			if steps[end].call > first {
				what := "made"
				if steps[end].place%2 == 1 {
					what = "read as the newest one"
				}
				all = append(all, fmt.Sprintf("stale: version %d of app %s was %s by a request that began when a later version had been answered", steps[end].place/2, app, what))
			}
		}
		for ; begin < end; begin++ {
			first = min(first, steps[begin].answer)
		}
	}
	return all
}

// fed checks that each follower met each version of an app once, and in order.
func (h *history) fed(app string) (all []string) {
	want := make([]int, len(h.stored[app]))
	for i := range want {
		want[i] = i
	}
	for i, feed := range h.feeds {
		if !slices.Equal(feed[app], want) {
			all = append(all, fmt.Sprintf("feed: app %s has versions 0 to %d, and follower %d met %s", app, len(want)-1, i, firstOff(feed[app])))
		}
	}
	return all
}

// firstOff tells where a list leaves the order 0, 1, 2 and so on.
func firstOff(versions []int) string {
	for i, v := range versions {
		if v != i {
			return fmt.Sprintf("version %d as number %d of %d", v, i, len(versions))
		}
	}
	return fmt.Sprintf("%d of them", len(versions))
}
