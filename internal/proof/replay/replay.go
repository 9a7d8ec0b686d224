// Package replay reads the feeds of changes from their beginning and computes the state of each app and of a library that
// follows from them. Proofs compare it with what is stored: if both are the same, each change is in its feed once, and no
// change is there that was not made.
package replay

import (
	"fmt"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// App is an app as the feed tells of it.
type App struct {
	Versions int            // 0 to Versions-1 were made, in this order
	Tags     map[string]int // the version that each tag points to
}

// Apps replays all changes of apps. page returns the page of the feed after a cursor. It returns an error if a change does not
// follow from those before it: a version or a move of a tag that is missing, or there twice.
func Apps(page func(after string) (appsvc.ChangesPage, error)) (map[string]*App, error) {
	all := map[string]*App{}
	for after, more := "", true; more; {
		p, err := page(after)
		if err != nil {
			return nil, fmt.Errorf("the feed of changes: %w", err)
		}
		for _, e := range p.Changes {
			if err := add(all, e); err != nil {
				return nil, fmt.Errorf("the feed of changes, app %s: %w", e.AppID, err)
			}
		}
		after, more = p.Next, p.More
	}
	return all, nil
}

func add(all map[string]*App, e appsvc.Event) error {
	a := all[e.AppID]
	switch e.Type {
	case appsvc.AppCreated:
		if a != nil || e.Version != vitrine.NewVersion(0) {
			return fmt.Errorf("it is created again, or as version %s", e.Version)
		}
		all[e.AppID] = &App{Versions: 1, Tags: map[string]int{}}
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
			return fmt.Errorf("%s moves %s from %q to %q, which is at %d (%t)", e.Type, e.Tag, e.From, e.To, from, there)
		}
		if delete(a.Tags, e.Tag); e.Type == appsvc.TagSet {
			a.Tags[e.Tag] = int(e.To.Number())
		}
	}
	return nil
}
