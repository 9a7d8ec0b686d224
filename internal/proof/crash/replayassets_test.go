//go:build proof

package crash

import (
	"fmt"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
)

// replayedLibrary is a library as its feed tells of it.
type replayedLibrary struct {
	Assets map[string]string // who added it, by the id of each asset that is there
	Made   map[string]int    // how many changes each caller has made, by URN
}

// Assets replays all changes of a library. page returns the page of its feed after a cursor. It returns an error if a
// change does not follow from those before it: an asset that is added twice, or changed or removed where it is not
// there.
func replayAssets(page func(after string) (vitrine.ChangesPage[assets.Event], error)) (*replayedLibrary, error) {
	l := &replayedLibrary{Assets: map[string]string{}, Made: map[string]int{}}
	removed := map[string]bool{} // ids are never given twice
	for after, more := "", true; more; {
		p, err := page(after)
		if err != nil {
			return nil, fmt.Errorf("the feed of changes: %w", err)
		}
		for i, e := range p.Changes {
			if err := l.addEvent(e, removed); err != nil {
				return nil, fmt.Errorf("the feed of changes, entry %d after %q: %w", i, after, err)
			}
		}
		after, more = p.Next, p.More
	}
	return l, nil
}

func (l *replayedLibrary) addEvent(e assets.Event, removed map[string]bool) error {
	if len(e.Added)+len(e.Changed)+len(e.Removed)+len(e.Folders) == 0 {
		return fmt.Errorf("%s has changed nothing", e.By)
	}
	l.Made[e.By]++
	for _, id := range e.Added {
		if l.Assets[id] != "" || removed[id] {
			return fmt.Errorf("%s adds %s, which was there before", e.By, id)
		}
		l.Assets[id] = e.By
	}
	for _, id := range e.Changed {
		if l.Assets[id] == "" {
			return fmt.Errorf("%s changes %s, which is not there", e.By, id)
		}
	}
	for _, id := range e.Removed {
		if l.Assets[id] == "" {
			return fmt.Errorf("%s removes %s, which is not there", e.By, id)
		}
		removed[id] = true
		delete(l.Assets, id)
	}
	return nil
}

// AddedBy returns the ids of the assets that are there and were added by a caller.
func (l *replayedLibrary) AddedBy(urn string) map[string]bool {
	ids := map[string]bool{}
	for id, by := range l.Assets {
		if by == urn {
			ids[id] = true
		}
	}
	return ids
}
