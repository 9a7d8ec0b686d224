package appsvc

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/internal/urn"
)

// If every follower read the feed after every commit, a thousand followers would leave no time for writers. So one
// goroutine of a Service reads the new entries for all followers, and wakes those that may see one. The decision what a
// caller sees is left to Changes, when the caller reads.
//
// The goroutine may wake a follower needlessly, but it must wake everyone who could see an entry. So if it does not
// know all new entries, for instance because there are too many, it wakes all followers. After an error of the store it
// wakes nobody, and reads the same entries again.
//
// It also saves reads: if no entry between a follower's cursor and a later position concerns the follower, next returns
// the cursor of this position, and the follower continues there.

const (
	// watchEvery is the minimum time between two reads of the feed for the watches: many commits in a short time cost
	// one read.
	watchEvery = 2 * time.Millisecond
	// watchAgain is how long the watches wait after an error of the store.
	watchAgain = 100 * time.Millisecond
)

// watch waits for changes that a follower of the feed may see. It lives from Service.Watch to close.
type watch struct {
	all   *watches
	by    vitrine.Caller
	appID string // only changes of this app; "" = all
	types []ChangeType

	// watches.mu guards the fields from here on.
	keys []string // under which watches.byKey has it

	wake chan struct{} // closed when an entry may concern the watch; replaced by next
	rung bool          // wake is closed
	// No entry after from and up to until concerns the watch, so next may return until as the cursor, and the follower
	// need not read the entries in between. until is set when the watch is woken; before that, watches.at is used
	// instead.
	from, until feed.Position
}

// watches are the watches of a Service. They share one goroutine, which runs while there are any. An entry is not
// compared with each watch: byKey maps the app, its owner and its groups to the watches that it may concern.
//
// mu guards all fields after it, and the fields of each watch after keys. The goroutine does not lock it while it reads
// the store.
type watches struct {
	store *store

	mu  sync.Mutex
	all map[*watch]struct{}
	// by the app that they ask for, or by what their callers moderate, read and own
	byKey map[string]map[*watch]struct{}
	stop  context.CancelFunc // ends the goroutine; nil = none is running
	begun bool               // it has read the feed
	state feed.State         // as of the last read
	seal  *feed.Seal         // encrypts and decrypts the cursors of followers
	at    feed.Position      // the last entry that was read
}

// newWatches returns the watches of a Service on this store. It starts no goroutine: the first call of Service.Watch
// does.
func newWatches(store *store) *watches {
	return &watches{store: store, all: map[*watch]struct{}{}, byKey: map[string]map[*watch]struct{}{}}
}

// Watch waits for the changes that Changes would return for the caller and the request; After and Limit do not matter.
// It is for a server: Follow waits for those who can use an iterator.
//
// next returns the cursor from which to continue, and a channel that is closed when the caller may see changes after
// the call: within 10 ms after a change by this process, and within 500 ms after one by another process. It may be
// closed without a change. The cursor is after itself or a later one; the caller could see no change in between. A
// follower calls next before each read, and reads from the cursor. When it has reached the end of the feed, it waits
// for the channel:
//
//	next, stop := s.Watch(by, in)
//	defer stop()
//	for {
//		from, wake := next(after)
//		page, err := s.Changes(ctx, by, ChangesRequest{After: from})
//		… // return err, handle page.Changes
//		if after = page.Next; !page.More {
//			<-wake // or ctx.Done()
//		}
//	}
//
// Each call of next replaces the channel before it, so each follower calls Watch. stop ends the watch, whose channel is
// not closed any more. It may be called twice, and while next is running.
func (s *Service) Watch(by vitrine.Caller, in ChangesRequest) (
	next func(after string) (from string, wake <-chan struct{}), stop func(),
) {
	by.Moderates, by.Reads = slices.Clone(by.Moderates), slices.Clone(by.Reads)
	// The watch begins as a woken one without a position, so that the first call of next returns after itself.
	w := &watch{all: s.made().watches, by: by, appID: in.AppID, types: typesOf(in.Types), rung: true}
	if w.keys = []string{appKey(w.appID)}; w.appID == "" {
		w.keys = slices.Concat([]string{ownerKey(by.URN)}, by.Moderates, by.Reads)
	}
	a := w.all
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all[w] = struct{}{}
	for _, key := range w.keys {
		if a.byKey[key] == nil {
			a.byKey[key] = map[*watch]struct{}{}
		}
		a.byKey[key][w] = struct{}{}
	}
	if a.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		a.stop, a.begun = stop, false
		go a.run(ctx)
	}
	return w.next, w.close
}

// appKey and ownerKey are the keys of byKey for one app, and for the apps of a user.
func appKey(app string) string    { return "app " + app }
func ownerKey(user string) string { return "owner " + user }

func (w *watch) next(after string) (from string, wake <-chan struct{}) {
	a := w.all
	a.mu.Lock()
	defer a.mu.Unlock()
	from = after
	until := a.at
	if w.rung {
		until = w.until
	}
	// If nothing between after and until concerns the watch, the follower need not read it.
	if w.from < until {
		if p, err := a.seal.Open(after); err == nil && p >= w.from && p < until {
			from = a.seal.Close(until)
		}
	}
	w.from = a.at // from here on, the watch is woken for every entry that concerns it
	if w.rung {
		w.wake, w.rung = make(chan struct{}), false
	}
	return from, w.wake
}

// close ends the watch, and the goroutine with the last one.
func (w *watch) close() {
	a := w.all
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, w)
	for _, key := range w.keys {
		delete(a.byKey[key], w)
		if len(a.byKey[key]) == 0 {
			delete(a.byKey, key)
		}
	}
	if len(a.all) == 0 && a.stop != nil {
		a.stop()
		a.stop = nil
	}
}

// ring wakes the follower, unless it was woken since its last next. until is the position before the entry that may
// concern it: no earlier entry does. The caller must have locked the mutex of the watches.
func (w *watch) ring(until feed.Position) {
	if !w.rung {
		w.rung, w.until = true, until
		close(w.wake)
	}
}

// run reads new entries until ctx is done. It takes the channel of the store before it reads, so that it misses
// nothing, and pauses after each read, so that many commits in a short time cost one read.
func (a *watches) run(ctx context.Context) {
	for ctx.Err() == nil {
		changed := a.store.changed()
		pause := watchEvery
		if err := a.advance(ctx); err != nil {
			pause = watchAgain
		} else {
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// watchedEntry is an entry that was added to the feed.
type watchedEntry struct {
	storedChange // owner is set for every app
	at           feed.Position
}

// advance reads the entries that were added since its last call, and wakes the followers that they may concern. In
// these cases it does not know all of them, and wakes all followers:
//
//   - It is the first call of the goroutine.
//   - There are more than 10,000.
//   - Some of them were removed from the feed.
//   - The feed has another identity than before.
//
// If the store returns an error, advance wakes nobody, and reads the entries in the next call. If the store was closed,
// it wakes all followers, since no later call will succeed.
func (a *watches) advance(ctx context.Context) error {
	a.mu.Lock()
	begun, before, last := a.begun, a.state, a.at
	a.mu.Unlock()
	var state feed.State
	var added []watchedEntry
	var gap bool
	read := func(r *reader) (err error) {
		added, gap = nil, false
		if state, err = r.s.feed.State(ctx, r.Reader); err != nil {
			return err
		}
		if !begun || !bytes.Equal(before.Identity, state.Identity) || state.Removed > last {
			gap = true
			return nil
		}
		for e, err := range r.s.feed.Entries(ctx, r.Reader, last, feed.MaxWalked+1) {
			if err != nil {
				return err
			}
			if gap = len(added) == feed.MaxWalked; gap {
				return nil
			}
			change, err := decodeChange(e)
			if err != nil {
				return err
			}
			added = append(added, watchedEntry{storedChange: change, at: e.Position})
		}
		return setOwners(ctx, r, added)
	}
	err := a.store.feeds.Identify(ctx)
	if err == nil {
		err = a.store.view(ctx, read)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if ctx.Err() != nil { // the last watch was closed; another goroutine may already run for new ones
		return ctx.Err()
	}
	if gap || errors.Is(err, vitrine.ErrClosed) { // entries were not read, so each follower must read them itself
		for w := range a.all {
			w.ring(w.from)
		}
	}
	if err != nil {
		return err
	}
	if gap {
		a.at, a.seal, added = state.Last, feed.NewSeal(state, feedName), nil
	}
	for _, e := range added {
		a.wakeFor(e)
		a.at = e.at
	}
	a.begun, a.state = true, state
	return nil
}

// setOwners sets the owners of the apps of some entries, reading them in one trip. A change of a component has no
// owner.
func setOwners(ctx context.Context, r *reader, entries []watchedEntry) error {
	owners, ids := map[string]string{}, []string(nil)
	for _, e := range entries {
		if _, known := owners[e.AppID]; !known && e.AppID != "" {
			owners[e.AppID] = ""
			ids = append(ids, e.AppID)
		}
	}
	heads, err := r.heads(ctx, ids)
	for _, h := range heads {
		owners[h.ID] = h.Owner
	}
	for i := range entries {
		e := &entries[i]
		e.owner = cmp.Or(owners[e.AppID], e.owner)
	}
	return err
}

// wakeFor wakes the followers that an entry, the first after a.at, may concern. The readers of a group include those
// who moderate or read the network of a site.
func (a *watches) wakeFor(e watchedEntry) {
	wake := func(list map[*watch]struct{}) {
		for w := range list {
			if !w.rung && w.concerns(e) {
				w.ring(a.at)
			}
		}
	}
	if e.AppID == "" {
		wake(a.all)
		return
	}
	wake(a.byKey[appKey(e.AppID)])
	wake(a.byKey[ownerKey(e.owner)])
	for _, list := range [][]string{e.groups, e.left} {
		for _, group := range list {
			for _, outer := range urn.Containers(group) {
				wake(a.byKey[outer])
			}
		}
	}
}

// concerns reports whether the watch asks for the entry and its caller could see it when it was written. It only uses
// the owner of the app and the groups that the app had then, so it does not read the store. Changes decides what the
// caller sees.
func (w *watch) concerns(e watchedEntry) bool {
	if w.appID != "" && w.appID != e.AppID {
		return false
	}
	if !slices.Contains(w.types, e.Type) && !(slices.Contains(w.types, AppLeft) && len(e.left) > 0) {
		return false
	}
	return e.AppID == "" || w.by.Owns(e.owner) || readsOneOf(w.by, e.groups) || readsOneOf(w.by, e.left)
}
