//go:build proof && linux

package linear

import (
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// action is what a client did to an app, and what it was answered. No two patches have the same title.
type action struct {
	app string
	Op
	Outcome
	// Times are since the beginning of the history.
	call, answer time.Duration
}

// made returns the version that a patch has made, if it was acknowledged with one app.
func (a *action) made() (version int64, ok bool) {
	if a.Kind != Patch || a.Status != Done || len(a.Outcome.Apps) != 1 {
		return 0, false
	}
	return a.Outcome.Apps[0].Version, true
}

// clusterHistory is all that happened to some apps.
type clusterHistory struct {
	actions []action
	// begun has version 0 of each app.
	begun map[string]*Version
	// stored has the titles of each app's versions, 0 to n, as they are in the end. Version 0 is not by a patch.
	stored map[string][]string
	// feeds has what each follower met: the versions of each app in the order of the feed.
	feeds []map[string][]int
}

// faults returns what is wrong with a history.
func (h *clusterHistory) faults() (all []string) {
	fault := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	made := map[string]*action{}
	given := map[string]map[int64]string{} // titles by app and version
	for i := range h.actions {
		a := &h.actions[i]
		if a.Kind == Patch {
			made[a.Title] = a
		}
		if a.Status == Done && a.Kind != PutTag && len(a.Outcome.Apps) != 1 {
			fault("app %s was answered with %d apps", a.app, len(a.Outcome.Apps))
		}
		for _, seen := range a.Outcome.Apps {
			if stored := h.stored[a.app]; seen.Version < 0 || seen.Version >= int64(len(stored)) || stored[seen.Version] != seen.Title {
				fault("lost: version %d of app %s was answered as %q, and the app has %d versions", seen.Version, a.app, seen.Title, len(stored))
			}
		}
		version, ok := a.made()
		if !ok {
			continue
		}
		if given[a.app] == nil {
			given[a.app] = map[int64]string{}
		}
		if other := given[a.app][version]; other != "" {
			fault("split: version %d of app %s was given to %q and to %q", version, a.app, other, a.Title)
		}
		given[a.app][version] = a.Title
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
			case p.Status == Refused || p.Status == Conflict:
				fault("%q was refused, and is version %d of app %s", title, version+1, app)
			}
			kept[title] = true
		}
		all = append(all, h.fed(app)...)
	}
	for app, operations := range h.operations() {
		if err := Check([Apps]*Version{h.begun[app]}, operations); err != nil {
			fault("the history of app %s %v", app, err)
		}
	}
	return all
}

// operations returns what was done to each app as porcupine takes it. A write of unknown outcome may take effect at any
// later time: its process may have failed to tell of a commit that is still under way.
func (h *clusterHistory) operations() map[string][]porcupine.Operation {
	all := map[string][]porcupine.Operation{}
	for i, a := range h.actions {
		back := int64(a.answer)
		switch {
		case a.Status == Refused || a.Status == Unknown && !a.Writes():
			continue
		case a.Status == Unknown:
			back = Never
		}
		all[a.app] = append(all[a.app], porcupine.Operation{ClientId: i, Input: a.Op, Call: int64(a.call), Output: a.Outcome, Return: back})
	}
	return all
}

// fed checks that each follower met each version of an app once, and in order.
func (h *clusterHistory) fed(app string) (all []string) {
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
