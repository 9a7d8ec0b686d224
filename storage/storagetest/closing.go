package storagetest

import (
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/reviews/reviewstore"
)

// Closer is a store of apps, assets and reviews that can be closed.
type Closer interface {
	Apps() appsvc.Store
	Assets() assetstore.Store
	Reviews() reviewstore.Store
	Close() error
}

// Closing tests that a closed store refuses work and wakes those who wait for changes. open returns a new, empty store for
// each test.
func Closing(t *testing.T, open func(t *testing.T) Closer) {
	checkRules(t, open, closingRules)
}

var closingRules = []rule[Closer]{
	// By this error a program distinguishes an orderly end from a failure. A driver that answers reads from memory, or begins a
	// transaction with its first statement, may not notice that it was closed.
	{"a closed store of apps returns ErrClosed from View and Update", closedAppsRefuse},
	{"a closed store of assets returns ErrClosed from View and Update, and Libraries yields it once", closedAssetsRefuse},
	{"a closed store of reviews returns ErrClosed from View, Update and Scrub, and Networks yields it once", closedReviewsRefuse},
	{"Close closes the channels of Changed, and later channels are closed from the start", closingWakes},
	{"Close ends the requests that wait for changes of apps", closingEndsFollowers},
}

func closedAppsRefuse(t *testing.T, closer Closer) {
	s := closer.Apps()
	add(t, s, newHead("a", 0), "title")
	read(t, s, headOf("a"))
	closeStore(t, closer)
	_, err := tryRead(s, headOf("a"))
	checkClosed(t, err, "View")
	err = s.View(ctx, func(reader) error { return nil })
	checkClosed(t, err, "View that reads nothing")
	next := newHead("a", 1)
	err = s.Update(ctx, func(w tx) error { return w.AddVersion(ctx, next, bodyOf(next, "title")) })
	checkClosed(t, err, "Update")
	err = s.Update(ctx, func(w tx) error { return w.Announce(ctx, "a", nil) })
	checkClosed(t, err, "Update that begins with Announce")
	err = s.Update(ctx, func(tx) error { return nil })
	checkClosed(t, err, "Update that does nothing")
}

func closedAssetsRefuse(t *testing.T, closer Closer) {
	s, lib := closer.Assets(), assetstore.Library{Network: "n", ID: "l"}
	change(t, s, lib, func(w assetstore.Tx) error {
		if err := w.SetState(ctx, assetstore.State{Key: assetstore.Key{1}, Last: 1, Count: 1}); err != nil {
			return err
		}
		return w.PutAsset(ctx, record(1), index("term"))
	})
	count := func(r assetstore.Reader) error {
		_, err := r.Count(ctx, assetstore.AssetQuery{All: []assetstore.AnyOf{{"term"}}})
		return err
	}
	checkError(t, s.View(ctx, lib, count), nil, "View before Close")
	before := s.Libraries(ctx)
	closeStore(t, closer)
	checkClosed(t, s.View(ctx, lib, count), "View")
	err := s.View(ctx, lib, func(assetstore.Reader) error { return nil })
	checkClosed(t, err, "View that reads nothing")
	err = s.Update(ctx, lib, func(w assetstore.Tx) error { return w.DeleteAsset(ctx, 1) })
	checkClosed(t, err, "Update")
	err = s.Update(ctx, lib, func(assetstore.Tx) error { return nil })
	checkClosed(t, err, "Update that does nothing")
	checkClosedList(t, s.Libraries(ctx), "Libraries")
	checkClosedList(t, before, "Libraries, called before Close")
}

func closedReviewsRefuse(t *testing.T, closer Closer) {
	s, c := closer.Reviews(), newCollection(key("s", "a"), "text")
	putCollections(t, oneNetwork{s, "n"}, c)
	find := func(r reviewReader) error {
		_, err := r.Collection(ctx, c.Key)
		return err
	}
	checkError(t, s.View(ctx, "n", find), nil, "View before Close")
	before := s.Networks(ctx)
	closeStore(t, closer)
	for _, network := range []string{"n", "never written"} {
		checkClosed(t, s.View(ctx, network, find), "View of network %q", network)
		err := s.View(ctx, network, func(reviewReader) error { return nil })
		checkClosed(t, err, "View of network %q that reads nothing", network)
		err = s.Update(ctx, network, func(w reviewTx) error { return w.PutCollection(ctx, c) })
		checkClosed(t, err, "Update of network %q", network)
		err = s.Update(ctx, network, func(reviewTx) error { return nil })
		checkClosed(t, err, "Update of network %q that does nothing", network)
	}
	checkClosed(t, s.Scrub(ctx), "Scrub")
	checkClosedList(t, s.Networks(ctx), "Networks")
	checkClosedList(t, before, "Networks, called before Close")
}

// closeStore closes a store, which must succeed.
func closeStore(t *testing.T, s Closer) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

// checkClosed fails unless err is ErrClosed. call and args name the call in the style of fmt.Sprintf.
func checkClosed(t *testing.T, err error, call string, args ...any) {
	t.Helper()
	checkError(t, err, vitrine.ErrClosed, call, args...)
}

// checkClosedList fails unless a list is nothing but one error, ErrClosed.
func checkClosedList[T any](t *testing.T, list iter.Seq2[T, error], call string, args ...any) {
	t.Helper()
	pairs := 0
	for _, err := range list {
		pairs++
		checkClosed(t, err, call, args...)
	}
	if pairs != 1 {
		t.Errorf("%s: %d pairs, want 1, with the error", fmt.Sprintf(call, args...), pairs)
	}
}

// woken fails unless the channel is closed soon.
func woken(t *testing.T, wake <-chan struct{}, who string) {
	t.Helper()
	select {
	case <-wake:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s waits for a store that is closed", who)
	}
}

// closingWakes checks that nobody waits for a closed store, neither who began before Close nor who begins after it. A
// goroutine that waits forever could keep a program from ending.
func closingWakes(t *testing.T, s Closer) {
	apps, library := s.Apps().Changed(), s.Assets().Changed()
	closeStore(t, s)
	woken(t, apps, "who waits for a change of an app")
	woken(t, library, "who waits for a change of a library")
	woken(t, s.Apps().Changed(), "who begins to wait for a change of an app")
	woken(t, s.Assets().Changed(), "who begins to wait for a change of a library")
}

// closingEndsFollowers checks the same for a follower of the Service, which waits for the store through a Watch.
func closingEndsFollowers(t *testing.T, s Closer) {
	service := appsvc.NewWith(s.Apps(), nil)
	by := vitrine.Caller{URN: editor, Moderates: []string{network}}
	w := service.Watch(by, appsvc.ChangesRequest{})
	defer w.Close()
	after := appsvc.Now
	next := func() <-chan struct{} {
		from, wake := w.Next(after)
		page, err := service.Changes(ctx, by, appsvc.ChangesRequest{After: from})
		if err != nil {
			t.Fatal(err)
		}
		after = page.Next
		return wake
	}
	wake := next()
	select {
	case <-wake: // by the first reading of the feed, if that came after next
		wake = next()
	case <-time.After(100 * time.Millisecond):
	}
	closeStore(t, s)
	woken(t, wake, "a follower")
	if _, err := service.Changes(ctx, by, appsvc.ChangesRequest{After: after}); !errors.Is(err, vitrine.ErrClosed) {
		t.Errorf("Changes returns %v, want ErrClosed", err)
	}
}
