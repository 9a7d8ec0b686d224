//go:build proof

package crash

import (
	"fmt"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// replayedApp is an app as the feed tells of it.
type replayedApp struct {
	Versions int            // 0 to Versions-1 were made, in this order
	Tags     map[string]int // the version that each tag points to
}

// replayApps reads the feed of changes from its beginning and computes the state of each app that follows from it.
// Tests compare it with what is stored: if both are the same, each change is in the feed once, and no change is there
// that was not made. page returns the page of the feed after a cursor. It returns an error if a change does not follow
// from those before it: a version or a move of a tag that is missing, or there twice.
func replayApps(page func(after string) (vitrine.ChangesPage[appsvc.Event], error)) (map[string]*replayedApp, error) {
	all := map[string]*replayedApp{}
	for after, more := "", true; more; {
		p, err := page(after)
		if err != nil {
			return nil, fmt.Errorf("the feed of changes: %w", err)
		}
		for _, e := range p.Changes {
			if err := addEvent(all, e); err != nil {
				return nil, fmt.Errorf("the feed of changes, app %s: %w", e.AppID, err)
			}
		}
		after, more = p.Next, p.More
	}
	return all, nil
}

func addEvent(all map[string]*replayedApp, e appsvc.Event) error {
	a := all[e.AppID]
	switch e.Type {
	case appsvc.AppCreated:
		if a != nil || e.Version != vitrine.NewVersion(0) {
			return fmt.Errorf("it is created again, or as version %s", e.Version)
		}
		all[e.AppID] = &replayedApp{Versions: 1, Tags: map[string]int{}}
	case appsvc.AppUpdated, appsvc.AppRestored:
		if a == nil || int(e.Version.Number()) != a.Versions {
			return fmt.Errorf("%s makes version %s of %+v", e.Type, e.Version, a)
		}
		a.Versions++
	case appsvc.TagSet, appsvc.TagDeleted:
		if a == nil {
			return fmt.Errorf("%s of an app that was not created", e.Type)
		}
		from, there := a.Tags[e.Tag]
		if there == e.From.IsZero() || there && int(e.From.Number()) != from || e.From == e.To {
			return fmt.Errorf("%s moves %s from %q to %q, which is at %d (%t)", e.Type, e.Tag, e.From, e.To, from,
				there)
		}
		if delete(a.Tags, e.Tag); e.Type == appsvc.TagSet {
			a.Tags[e.Tag] = int(e.To.Number())
		}
	}
	return nil
}
