package appsvc

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/internal/urn"
)

// Sort is an order of apps; apps of the same time stand by ascending ID, whatever the order.
type Sort string

// The orders of GET /apps/ (contract, section 4.1).
const (
	CreatedAscending  Sort = "createdAt"
	CreatedDescending Sort = "-createdAt"
	UpdatedAscending  Sort = "updatedAt"
	UpdatedDescending Sort = "-updatedAt"
)

// AppQuery asks for latest versions of apps. Match and Compare are its meaning.
type AppQuery struct {
	Owner     string       // apps of this owner, or
	Groups    []string     // with a group that one of these URNs contains
	Component string       // powering an element; "" = any
	Sort      Sort         // one of the four
	After     *AppPosition // only what comes after this; nil = from the start
	Limit     int          // at most so many; 0 = all
}

// AppPosition is a place in an order of apps: the time the order goes by, and the ID.
type AppPosition struct {
	Time int64
	ID   string
}

// Match reports whether the app with this head is among those asked for, the limit aside.
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

// Position returns where the app with this head stands in the order of q.
func (q AppQuery) Position(h Head) AppPosition {
	if q.Sort == UpdatedAscending || q.Sort == UpdatedDescending {
		return AppPosition{h.UpdatedAt, h.ID}
	}
	return AppPosition{h.CreatedAt, h.ID}
}

// Descending reports whether times go down.
func (q AppQuery) Descending() bool { return strings.HasPrefix(string(q.Sort), "-") }

func (q AppQuery) compare(a, b AppPosition) int {
	byTime := cmp.Compare(a.Time, b.Time)
	if q.Descending() {
		byTime = -byTime
	}
	return cmp.Or(byTime, strings.Compare(a.ID, b.ID))
}

// VersionQuery asks for versions of one app, newest first.
type VersionQuery struct {
	AppID  string
	Before Version // only lower ones; Latest = from the newest on
	Limit  int     // at most so many; 0 = all
}

// TagQuery asks for tags of one app, by name.
type TagQuery struct {
	AppID string
	Name  string // this tag alone; "" = all
	After string // only names after this one
	Limit int    // at most so many; 0 = all
}

// ComponentQuery asks for components, by name and then in the order of adding.
type ComponentQuery struct {
	Name    string // of this name alone; "" = all
	Version string // of this version alone; "" = all
	After   string // only names after this one
	Brief   bool   // Manifest may be left nil
}
