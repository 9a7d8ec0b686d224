package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vitrine-go/vitrine/appsvc"
)

// Apps is an appsvc.Store.
type Apps struct {
	now    atomic.Pointer[appState]
	writer sync.Mutex // held by the one Update that builds the next state
}

// appState is everything the store holds at one moment. It never changes once it is in place.
type appState struct {
	apps       tree[*app] // by ID
	orders     [len(sorts)]tree[*app]
	tags       tree[appsvc.Tag]     // by app and name
	components tree[component]      // by name and order of adding
	ids        tree[string]         // of the components
	added      int                  // components ever
	answers    tree[*appsvc.Answer] // by caller and key
	expiries   tree[*appsvc.Answer] // by time of expiry, caller and key
}

// app is an app with all its versions.
type app struct {
	head     appsvc.Head
	versions []appsvc.App // the index is the version number
}

// component is a component with its place in the order of adding.
type component struct {
	appsvc.Component
	order int
}

// sorts are the orders that are kept, one tree each.
var sorts = [...]appsvc.Sort{
	appsvc.CreatedAscending, appsvc.CreatedDescending, appsvc.UpdatedAscending, appsvc.UpdatedDescending,
}

// NewApps returns an empty store.
func NewApps() *Apps {
	s := &appState{
		apps:       tree[*app]{compare: func(a, b *app) int { return strings.Compare(a.head.ID, b.head.ID) }},
		tags:       tree[appsvc.Tag]{compare: compareTags},
		components: tree[component]{compare: compareComponents},
		ids:        tree[string]{compare: strings.Compare},
		answers:    tree[*appsvc.Answer]{compare: compareAnswers},
		expiries:   tree[*appsvc.Answer]{compare: compareExpiries},
	}
	for i, sort := range sorts {
		q := appsvc.AppQuery{Sort: sort}
		s.orders[i].compare = func(a, b *app) int { return q.Compare(a.head, b.head) }
	}
	a := new(Apps)
	a.now.Store(s)
	return a
}

// View calls fn with the state of now.
func (s *Apps) View(ctx context.Context, fn func(appsvc.Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return fn(s.now.Load())
}

// Update calls fn with a copy of the state, and puts the copy in place when fn returns nil.
func (s *Apps) Update(ctx context.Context, fn func(appsvc.Tx) error) error {
	s.writer.Lock()
	defer s.writer.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	next := *s.now.Load() // shares every tree
	if err := fn(appTx{&next}); err != nil {
		return err
	}
	s.now.Store(&next)
	return nil
}

func compareTags(a, b appsvc.Tag) int {
	return cmp.Or(strings.Compare(a.AppID, b.AppID), strings.Compare(a.Name, b.Name))
}

func compareComponents(a, b component) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.order, b.order))
}

func compareAnswers(a, b *appsvc.Answer) int {
	return cmp.Or(strings.Compare(a.By, b.By), strings.Compare(a.Key, b.Key))
}

func compareExpiries(a, b *appsvc.Answer) int {
	return cmp.Or(cmp.Compare(a.Expires, b.Expires), compareAnswers(a, b))
}

// order returns the apps as q wants them ordered.
func (s *appState) order(q appsvc.AppQuery) tree[*app] {
	return s.orders[max(slices.Index(sorts[:], q.Sort), 0)]
}
