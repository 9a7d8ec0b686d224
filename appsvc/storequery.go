package appsvc

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// This file and store.go are for authors of drivers, except Sort, which requests have too.

// Sort is an order of apps. Apps of the same time are ordered by ascending ID, whatever the order.
type Sort string

// The orders in which apps can be listed.
const (
	CreatedAscending  Sort = "createdAt"
	CreatedDescending Sort = "-createdAt"
	UpdatedAscending  Sort = "updatedAt"
	UpdatedDescending Sort = "-updatedAt"
)

// AppQuery asks a Store for latest versions of apps; drivers answer it. The fields that are set must all hold, but of
// Owner and Groups one is enough: together they are what a caller may read. A query with neither matches no app. Match and
// Compare define the meaning of a query exactly: the memory driver calls them, and the suite compares every driver with them.
type AppQuery struct {
	Owner     string       // apps of this owner, or
	Groups    []string     // with a group that one of these URNs contains
	Component string       // powering an element; "" = any
	Sort      Sort         // one of the four
	After     *AppPosition // only apps after this position; nil = from the start
	Limit     int          // at most so many; 0 = all
}

// AppPosition is a position in the order of an AppQuery: CreatedAt or UpdatedAt of an app, by which it is sorted, and
// its ID. There may be no app at the position.
type AppPosition struct {
	Time int64
	ID   string
}

// Match reports whether q asks for the app with this head. It ignores the limit.
func (q AppQuery) Match(h Head) bool {
	if q.Component != "" && !slices.Contains(h.Components, q.Component) {
		return false
	}
	if q.After != nil && q.compare(*q.After, q.Position(h)) >= 0 {
		return false
	}
	return q.Owner == h.Owner || slices.ContainsFunc(h.Groups, func(g string) bool {
		return slices.ContainsFunc(q.Groups, func(outer string) bool { return urn.Contains(outer, g) })
	})
}

// Compare is negative when a comes before b.
func (q AppQuery) Compare(a, b Head) int { return q.compare(q.Position(a), q.Position(b)) }

// Position returns the position of the app with this head in the order of q.
func (q AppQuery) Position(h Head) AppPosition {
	if q.Sort == UpdatedAscending || q.Sort == UpdatedDescending {
		return AppPosition{h.UpdatedAt, h.ID}
	}
	return AppPosition{h.CreatedAt, h.ID}
}

// Descending reports whether the latest time comes first.
func (q AppQuery) Descending() bool { return strings.HasPrefix(string(q.Sort), "-") }

// compare is negative when the position a comes before b: by time in the direction of q.Sort, and then by ascending ID. No two
// apps have the same ID, so the order is total, and a cursor leads to one place in it.
func (q AppQuery) compare(a, b AppPosition) int {
	byTime := cmp.Compare(a.Time, b.Time)
	if q.Descending() {
		byTime = -byTime
	}
	return cmp.Or(byTime, strings.Compare(a.ID, b.ID))
}

// UserQuery asks a Store for the users of a component: apps of which some version, the latest or an older one, has an
// element of it. They are ordered by ID. Match defines the meaning of the other fields.
type UserQuery struct {
	Component string
	Owner     string   // apps of this owner, or
	Groups    []string // with a group that one of these URNs contains
	From      string   // only apps with this ID or a higher one
}

// Match reports whether an app with this head is one of the owner or of the groups, and not before From. It does not look
// at Component: a head has only the components of the latest version.
func (q UserQuery) Match(h Head) bool {
	return h.ID >= q.From && AppQuery{Owner: q.Owner, Groups: q.Groups}.Match(h)
}

// VersionQuery asks a Store for versions of one app, newest first.
type VersionQuery struct {
	AppID  string
	Before vitrine.Version // only lower ones; zero or Latest = from the newest on
	Limit  int             // at most so many; 0 = all
}

// TagQuery asks a Store for tags of one app, by name in byte order.
type TagQuery struct {
	AppID string
	Name  string // this tag alone; "" = all
	After string // only names after this one
	Limit int    // at most so many; 0 = all
}

// TagMoveQuery asks a Store for moves of one tag, newest first.
type TagMoveQuery struct {
	AppID  string
	Name   string
	Before int64 // only moves with a lower Number; 0 = from the newest on
	Limit  int   // at most so many; 0 = all
}

// ComponentQuery asks a Store for components, by name in byte order, and those of one name in the order in which they were
// added.
type ComponentQuery struct {
	Name    string // of this name alone; "" = all
	Version string // of this version alone; "" = all
	After   string // only names after this one
	Brief   bool   // Manifest may be left nil
}
