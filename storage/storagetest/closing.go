package storagetest

import (
	"errors"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets/assetstore"
)

// Closer is a store of apps and assets that can be closed.
type Closer interface {
	Apps() appsvc.Store
	Assets() assetstore.Store
	Close() error
}

// Closing tests that a closed store refuses work and wakes those who wait for changes. open returns a new, empty store for
// each test.
func Closing(t *testing.T, open func(t *testing.T) Closer) {
	checkRules(t, open, []rule[Closer]{
		{"a closed store returns ErrClosed from View and Update", closedStoreRefuses},
		{"Close closes the channels of Changed, and later channels are closed from the start", closingWakes},
		{"Close ends the requests that wait for changes of apps", closingEndsFollowers},
	})
}

// closedStoreRefuses checks that a closed store returns ErrClosed. By this error a program distinguishes an orderly end
// from a failure.
func closedStoreRefuses(t *testing.T, s Closer) {
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Apps().View(ctx, func(appsvc.Reader) error { return nil }); !errors.Is(err, appsvc.ErrClosed) {
		t.Errorf("View returns %v, want ErrClosed", err)
	}
	if err := s.Apps().Update(ctx, func(appsvc.Tx) error { return nil }); !errors.Is(err, appsvc.ErrClosed) {
		t.Errorf("Update returns %v, want ErrClosed", err)
	}
}

// woken fails unless the channel is closed soon.
func woken(t *testing.T, wake <-chan struct{}, who string) {
	t.Helper()
	select {
	case <-wake:
	case <-time.After(time.Minute):
		t.Fatalf("%s waits for a store that is closed", who)
	}
}

// closingWakes checks that nobody waits for a closed store, neither who began before Close nor who begins after it. A
// goroutine that waits forever could keep a program from ending.
func closingWakes(t *testing.T, s Closer) {
	apps, library := s.Apps().Changed(), s.Assets().Changed()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	woken(t, apps, "who waits for a change of an app")
	woken(t, library, "who waits for a change of a library")
	woken(t, s.Apps().Changed(), "who begins to wait for a change of an app")
	woken(t, s.Assets().Changed(), "who begins to wait for a change of a library")
}

// closingEndsFollowers checks the same for a follower of the Service, which waits for the store through a Watch.
func closingEndsFollowers(t *testing.T, s Closer) {
	service := appsvc.New(s.Apps(), nil)
	by := appsvc.Caller{URN: editor, Moderates: []string{network}}
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
	<-next() // the watch has read the feed for the first time, and nothing else wakes it
	wake := next()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	woken(t, wake, "a follower")
	if _, err := service.Changes(ctx, by, appsvc.ChangesRequest{After: after}); !errors.Is(err, appsvc.ErrClosed) {
		t.Errorf("Changes returns %v, want ErrClosed", err)
	}
}
