package memory

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/internal/wake"
)

// appStore is an appsvc.Store. now points to the current state; an Update stores a pointer to the next one, which is
// the commit.
type appStore struct {
	db     *DB
	now    atomic.Pointer[appState]
	writer sync.Mutex // locked by the Update that builds the next state
	bell   wake.Bell  // rung after each commit
}

// appState is one state of the store, and the Reader of a View. It does not change after the Update that builds it, so
// a View reads it without a lock. Each tree is an index; the comment beside it says by what it is ordered.
type appState struct {
	apps       tree[*app]               // by ID
	lists      tree[*appList]           // by key
	tags       tree[appsvc.Tag]         // by app and name
	used       tree[use]                // by component and app
	moves      tree[*tagMoves]          // by app and name
	restored   tree[appsvc.Restoration] // by app, newest version first
	components tree[component]          // by name and order of adding
	ids        tree[string]             // of the components
	added      int                      // number of components ever added
	answers    tree[*appsvc.Answer]     // by caller and key
	expiries   tree[*appsvc.Answer]     // by time of expiry, caller and key
	feed       changes
}

// app is an app with all its versions.
type app struct {
	head     appsvc.Head
	versions []appsvc.App // the index is the version number
}

// use says that some version of an app has an element of a component.
type use struct{ component, app string }

func compareUses(a, b use) int {
	return cmp.Or(strings.Compare(a.component, b.component), strings.Compare(a.app, b.app))
}

// tagMoves has the moves of one tag, with rising numbers.
type tagMoves struct {
	appID, name string
	moves       []appsvc.TagMoveRecord
}

// component is a component with its place in the order of adding.
type component struct {
	appsvc.Component
	order int
}

func newAppStore(db *DB) *appStore {
	s := &appState{
		apps:       tree[*app]{compare: func(a, b *app) int { return strings.Compare(a.head.ID, b.head.ID) }},
		lists:      tree[*appList]{compare: func(a, b *appList) int { return strings.Compare(a.key, b.key) }},
		tags:       tree[appsvc.Tag]{compare: compareTags},
		restored:   tree[appsvc.Restoration]{compare: compareRestorations},
		used:       tree[use]{compare: compareUses},
		moves:      tree[*tagMoves]{compare: compareMoves},
		components: tree[component]{compare: compareComponents},
		ids:        tree[string]{compare: strings.Compare},
		answers:    tree[*appsvc.Answer]{compare: compareAnswers},
		expiries:   tree[*appsvc.Answer]{compare: compareExpiries},
	}
	s.feed.origin = &db.origin
	a := &appStore{db: db}
	a.now.Store(s)
	return a
}

// View calls fn with the current state. No Update waits for it.
func (s *appStore) View(ctx context.Context, fn func(appsvc.Reader) error) error {
	if err := s.db.Ping(ctx); err != nil {
		return err
	}
	return fn(s.now.Load())
}

// Update calls fn with a copy of the state. If fn returns nil, the copy becomes the current state; otherwise it is
// dropped. Updates run one after another, so they are serializable.
func (s *appStore) Update(ctx context.Context, fn func(appsvc.Tx) error) error {
	s.writer.Lock()
	defer s.writer.Unlock()
	if err := s.db.Ping(ctx); err != nil {
		return err
	}
	next := *s.now.Load() // shares every tree
	if err := fn(appTx{&next}); err != nil {
		return err
	}
	s.now.Store(&next)
	s.bell.Ring()
	return nil
}

// Changed returns a channel that is closed by the next commit, or before that by ResetFeed or Close.
func (s *appStore) Changed() <-chan struct{} { return s.db.changed(&s.bell) }

func compareTags(a, b appsvc.Tag) int {
	return cmp.Or(strings.Compare(a.AppID, b.AppID), strings.Compare(a.Name, b.Name))
}

func compareRestorations(a, b appsvc.Restoration) int {
	return cmp.Or(strings.Compare(a.AppID, b.AppID), b.Version.Compare(a.Version))
}

func compareMoves(a, b *tagMoves) int {
	return cmp.Or(strings.Compare(a.appID, b.appID), strings.Compare(a.name, b.name))
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
