package reviews

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
)

// threads checks that every reply of a stored collection leads, through its parent, the parent of that and so on, to a review
// without a parent. Imports and deletions leave only such replies behind. Only a damaged store has others, and an export with one
// could not be imported.
//
// Give add every review of one collection, in any order, and then call end. A threads keeps in memory some 20 bytes of each
// review, and the ids of the replies that have come before their parents. It is used by one goroutine.
type threads struct {
	seeds   [2]maphash.Seed
	rooted  map[fingerprint]struct{} // reviews without a parent, and replies whose parents lead to one
	waiting map[fingerprint][]string // ids of replies, by a parent that is not in rooted yet
}

func newThreads() *threads {
	return &threads{newSeeds(), map[fingerprint]struct{}{}, map[fingerprint][]string{}}
}

func (t *threads) of(id string) fingerprint { return fingerprintOf(t.seeds, id) }

// add adds a review and returns the ids of those that lead to a review that is no reply and did not before, parents before
// their replies: none if the review has to wait for its parent, otherwise its own and those of the replies that have waited for
// it.
func (t *threads) add(r Review) (ready []string, err error) {
	parent, err := parentOf(r.Data)
	if err != nil {
		return nil, fmt.Errorf("stored review %q: %w", r.ID, err)
	}
	if p := t.of(parent); parent != "" {
		if _, rooted := t.rooted[p]; !rooted {
			t.waiting[p] = append(t.waiting[p], r.ID)
			return nil, nil
		}
	}
	ready = []string{r.ID}
	for n := 0; n < len(ready); n++ {
		id := t.of(ready[n])
		t.rooted[id] = struct{}{}
		ready = append(ready, t.waiting[id]...)
		delete(t.waiting, id)
	}
	return ready, nil
}

// end returns an error that names a reply whose parent is missing, or one in a circle of replies. It is the same reply at each
// run.
func (t *threads) end() error {
	if len(t.waiting) == 0 {
		return nil
	}
	// The replies that still wait, by fingerprint, and the parent of each.
	names, parents := map[fingerprint]string{}, map[fingerprint]fingerprint{}
	for parent, ids := range t.waiting {
		for _, id := range ids {
			f := t.of(id)
			names[f], parents[f] = id, parent
		}
	}
	// The path up from the lowest id ends at a parent that is missing, or comes to a circle and stays there.
	lowest := slices.Min(slices.Collect(maps.Values(names)))
	at := t.of(lowest)
	for range names {
		above := parents[at]
		if _, waits := names[above]; !waits {
			return fmt.Errorf("stored review %q: its parent is missing", names[at])
		}
		at = above
	}
	return fmt.Errorf("stored review %q: its parents go round in a circle", names[at])
}
