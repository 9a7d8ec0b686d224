package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// appList has the apps that have something in common, which its key says: an owner, a URN that contains one of their
// groups, or a component. A query walks only the few lists that have all apps that it may match, so apps that a caller
// may not read cost it nothing.
type appList struct {
	key     string
	size    int
	created tree[appsvc.AppPosition] // the latest first, those of one time by ID
	updated tree[appsvc.AppPosition] // likewise
}

// The first letter of a key says what the apps have in common. The owner, the URN or the name of the component follows.
const (
	ownedBy = "o"
	within  = "g"
	powered = "c"
)

// latestFirst is the order of a list, which is that of the descending sorts. The ascending sorts are not quite the
// reverse: apps of the same time are ordered by ascending ID in both.
func latestFirst(a, b appsvc.AppPosition) int {
	return cmp.Or(cmp.Compare(b.Time, a.Time), strings.Compare(a.ID, b.ID))
}

// keysOf returns the keys of the lists that an app is in, sorted, each once. The zero Head is in no list.
func keysOf(h appsvc.Head) (keys []string) {
	if h.ID == "" {
		return nil
	}
	keys = append(keys, ownedBy+h.Owner)
	for _, g := range h.Groups {
		for _, outer := range urn.Containers(g) {
			keys = append(keys, within+outer)
		}
	}
	for _, c := range h.Components {
		keys = append(keys, powered+c)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// list moves an app from the lists of its old head to those of its new one, and to new positions in the lists where it
// stays. The old head of a new app is the zero Head.
func (t appTx) list(old, next appsvc.Head) {
	before, after := keysOf(old), keysOf(next)
	for _, key := range before {
		if _, stays := slices.BinarySearch(after, key); !stays {
			l := *t.appList(key)
			l.size--
			l.created, l.updated = l.created.remove(createdAt(old)), l.updated.remove(updatedAt(old))
			if l.size == 0 {
				t.lists = t.lists.remove(&l)
			} else {
				t.lists = t.lists.put(&l)
			}
		}
	}
	for _, key := range after {
		l := *t.appList(key)
		_, stays := slices.BinarySearch(before, key)
		if stays {
			l.updated = l.updated.remove(updatedAt(old))
		} else {
			l.size++
		}
		l.updated = l.updated.put(updatedAt(next))
		if !stays || createdAt(old) != createdAt(next) {
			l.created = l.created.remove(createdAt(old)).put(createdAt(next))
		}
		t.lists = t.lists.put(&l)
	}
}

// createdAt and updatedAt return the positions of an app in the two orders of a list.
func createdAt(h appsvc.Head) appsvc.AppPosition {
	return appsvc.AppPosition{Time: h.CreatedAt, ID: h.ID}
}
func updatedAt(h appsvc.Head) appsvc.AppPosition {
	return appsvc.AppPosition{Time: h.UpdatedAt, ID: h.ID}
}

// appList returns the list with this key, or an empty one if there is none. An empty list is not stored.
func (s *appState) appList(key string) *appList {
	l, found := s.lists.find(func(l *appList) int { return strings.Compare(l.key, key) })
	if !found {
		order := tree[appsvc.AppPosition]{compare: latestFirst}
		l = &appList{key: key, created: order, updated: order}
	}
	return l
}

// listed returns the apps that match q, in its order. It walks the lists of the owner and of the groups, or the list of
// the component alone if that is shorter than those together. It takes at most q.Limit apps of each list, so it may return
// more than q.Limit. With several lists it sorts the apps and keeps each once. When ctx is done, it returns what it has found
// by then, and the caller looks at ctx.
func (s *appState) listed(ctx context.Context, q appsvc.AppQuery) []*app {
	var from []*appList
	size := 0
	add := func(key string) {
		if l := s.appList(key); l.size > 0 {
			from, size = append(from, l), size+l.size
		}
	}
	add(ownedBy + q.Owner)
	for _, g := range q.Groups {
		add(within + g)
	}
	if q.Component != "" {
		if l := s.appList(powered + q.Component); l.size < size {
			from = []*appList{l}
		}
	}
	var out []*app
	for _, l := range from {
		count := 0 // the first of all lists are among the first of each
		l.walk(q, func(p appsvc.AppPosition) bool {
			a, found := s.findApp(p.ID)
			if found && q.Match(a.head) {
				out = append(out, a)
				count++
			}
			return count != q.Limit || q.Limit == 0
		}, ctx.Err)
	}
	if len(from) > 1 { // an app may be in several
		slices.SortFunc(out, func(a, b *app) int { return q.Compare(a.head, b.head) })
		out = slices.Compact(out)
	}
	return out
}

// walk yields the apps of the list in the order of q, until yield returns false or ended returns an error. It begins after
// q.After, or in an ascending sort with all apps of that time, so that the caller still checks each app with q.Match. For an
// ascending sort it walks backwards and reverses each run of apps with the same time.
func (l *appList) walk(q appsvc.AppQuery, yield func(appsvc.AppPosition) bool, ended func() error) {
	order := l.created
	if q.Sort == appsvc.UpdatedAscending || q.Sort == appsvc.UpdatedDescending {
		order = l.updated
	}
	if q.Descending() {
		var before func(appsvc.AppPosition) bool
		if q.After != nil {
			before = func(p appsvc.AppPosition) bool { return latestFirst(p, *q.After) <= 0 }
		}
		order.ascend(before, func(p appsvc.AppPosition) bool { return ended() == nil && yield(p) })
		return
	}
	var after func(appsvc.AppPosition) bool
	if q.After != nil {
		after = func(p appsvc.AppPosition) bool { return p.Time < q.After.Time }
	}
	var same []appsvc.AppPosition // those of one time, the last ID first
	flush := func() bool {
		for _, p := range slices.Backward(same) {
			if !yield(p) {
				return false
			}
		}
		same = same[:0]
		return true
	}
	whole := true
	order.descend(after, func(p appsvc.AppPosition) bool {
		if len(same) > 0 && same[0].Time != p.Time {
			whole = flush()
		}
		same = append(same, p)
		return whole && ended() == nil
	})
	if whole {
		flush()
	}
}
