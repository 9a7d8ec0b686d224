package appsvc_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// followed is a store with apps, and what its followers have handled.
type followed struct {
	t   *testing.T
	db  storage.Store
	svc *appsvc.Service

	mu      sync.Mutex
	handled []string // titles
	now     int      // calls of handle at this moment
	fail    error    // of handle
	whys    []error  // of Begin
}

func newFollowed(t *testing.T) *followed {
	f := &followed{t: t, db: memory.New()}
	f.svc = appsvc.New(f.db, nil)
	t.Cleanup(func() { f.db.Close() })
	return f
}

func (f *followed) create(title string) {
	f.t.Helper()
	_, err := f.svc.As(editor).CreateApp(context.Background(),
		appsvc.CreateAppRequest{Title: title, Groups: []string{site1}})
	if err != nil {
		f.t.Error(err)
	}
}

// start starts a follower and returns what stops it and returns its error.
func (f *followed) start(o vitrine.FollowOptions) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	o.Log = slog.New(slog.DiscardHandler)
	done := make(chan error, 1)
	go func() {
		done <- vitrine.Follow(ctx, f.db, "mirror", f.svc.Feed(),
			func(ctx context.Context, e appsvc.OutboxEvent) error {
				f.mu.Lock()
				defer f.mu.Unlock()
				if f.now++; f.now > 1 {
					f.t.Error("two processes handle changes")
				}
				f.mu.Unlock()
				time.Sleep(100 * time.Millisecond)
				f.mu.Lock()
				f.now--
				if f.fail != nil {
					return f.fail
				}
				app, err := f.svc.As(editor).App(context.WithoutCancel(ctx), e.AppID)
				f.handled = append(f.handled, app.Title)
				return err
			}, o)
	}()
	return func() error { cancel(); return <-done }
}

// failing makes the handler return err.
func (f *followed) failing(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = err
}

func (f *followed) has(want ...string) {
	f.t.Helper()
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Equal(f.handled, want) {
		f.t.Errorf("handled are %q, want %q", f.handled, want)
	}
	f.handled = nil
}

func TestAFollowerHandlesEachChangeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(t)
		f.create("a")
		one, two := f.start(vitrine.FollowOptions{}), f.start(vitrine.FollowOptions{})
		f.create("b")
		time.Sleep(time.Second)
		f.has("a", "b")
		f.failing(errors.New("down"))
		f.create("c")
		time.Sleep(10 * time.Minute)
		f.failing(nil)
		f.create("d")
		time.Sleep(2 * time.Minute) // the longest time between two attempts is a minute and a half
		f.has("c", "d")
		// What is handled while a process stops counts.
		f.create("e")
		time.Sleep(50 * time.Millisecond)
		for _, stop := range []func() error{one, two} {
			if err := stop(); err != context.Canceled {
				t.Errorf("Follow returns %v", err)
			}
		}
		f.create("f")
		stop := f.start(vitrine.FollowOptions{})
		time.Sleep(time.Minute)
		if err := stop(); err != context.Canceled {
			t.Errorf("Follow returns %v", err)
		}
		if f.mu.Lock(); strings.Join(f.handled, "") != "ef" {
			t.Errorf("handled are %q", f.handled)
		}
		f.mu.Unlock()
	})
}

func TestAFollowerBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, f := context.Background(), newFollowed(t)
		fails := 2
		o := vitrine.FollowOptions{Begin: func(_ context.Context, why error) (string, error) {
			f.whys = append(f.whys, why)
			f.create(fmt.Sprint("during ", len(f.whys)))
			if fails--; fails >= 0 {
				return "", errors.New("down")
			}
			return vitrine.Now, nil
		}}
		f.create("before")
		stop := f.start(o)
		time.Sleep(time.Minute)
		if f.has("during 3"); len(f.whys) != 3 || f.whys[2] != nil {
			t.Errorf("a new follower begins with %v", f.whys)
		}
		// The store is restored: its copy has another identity.
		if err := storage.RenewIdentity(ctx, f.db); err != nil {
			t.Fatal(err)
		}
		f.create("restored")
		time.Sleep(time.Minute)
		if f.has("during 4"); len(f.whys) != 4 || !errors.Is(f.whys[3], vitrine.ErrGone) {
			t.Errorf("after a restore it begins with %v", f.whys)
		}
		if err := stop(); err != context.Canceled {
			t.Errorf("Follow returns %v", err)
		}
		// The position is of another store.
		err := f.db.Update(ctx, "follow", storage.UpdateOptions{}, func(tx storage.Tx) error {
			return tx.Put(ctx, storage.Entry{Key: "follow position/mirror",
				Value: []byte(`{"after": "` + strings.Repeat("A", 43) + `"}`)})
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := wait(f.start(vitrine.FollowOptions{})); !errors.Is(err, vitrine.ErrInvalid) ||
			!strings.Contains(err.Error(), "FollowOptions.Begin") {
			t.Errorf("without Begin, a cursor of another feed ends Follow with %v", err)
		}
		stop = f.start(o)
		time.Sleep(time.Minute)
		if f.has("during 5"); len(f.whys) != 5 || !errors.Is(f.whys[4], vitrine.ErrInvalid) {
			t.Errorf("in another store it begins with %v", f.whys)
		}
		f.db.Close()
		if err := wait(stop); !errors.Is(err, vitrine.ErrClosed) {
			t.Errorf("on a closed store Follow returns %v", err)
		}
		handle := func(context.Context, appsvc.OutboxEvent) error { return nil }
		for _, name := range []string{"", strings.Repeat("n", 201), "\xff", "a\x00"} {
			err := vitrine.Follow(ctx, f.db, name, f.svc.Feed(), handle)
			if !errors.Is(err, vitrine.ErrInvalid) || !strings.Contains(err.Error(), "name") {
				t.Errorf("the name %q: %v", name, err)
			}
		}
		for what, err := range map[string]error{
			"no store":    vitrine.Follow(ctx, nil, "a", f.svc.Feed(), handle),
			"no function": vitrine.Follow(ctx, f.db, "a", f.svc.Feed(), nil),
			"zero feed":   vitrine.Follow(ctx, f.db, "a", vitrine.Feed[appsvc.OutboxEvent]{}, handle),
		} {
			if !errors.Is(err, vitrine.ErrInvalid) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// wait lets a follower end by itself, and returns its error.
func wait(stop func() error) error {
	time.Sleep(5 * time.Minute)
	return stop()
}

// A slug is of one app at a time, and free when its app has another one or is deleted; an app that another one refers
// to is not deleted.
func TestUniqueAndReference(t *testing.T) {
	ctx, db := context.Background(), memory.New()
	check := func(id string, before, after []string, gone bool) error {
		return db.Update(ctx, "a", storage.UpdateOptions{}, func(tx storage.Tx) error {
			slugs, links := storage.Sub(tx, "a x/slugs/"), storage.Sub(tx, "a x/links/")
			err := vitrine.Unique(ctx, slugs, id, before, after)
			if err == nil {
				err = vitrine.Reference(ctx, links, id, before, after) // to apps that are called as slugs
			}
			if err == nil && gone {
				err = vitrine.Referenced(ctx, links, id)
			}
			return err
		})
	}
	for i, step := range []struct {
		id            string
		before, after []string
		gone          bool
		reason        string // "" for none
	}{
		{"1", nil, []string{"x", strings.Repeat("long", 500)}, false, ""},
		{"2", nil, []string{"y", "x"}, false, `"x" is taken`},
		{"2", nil, []string{"y"}, false, ""},
		{"2", []string{"y"}, []string{"y"}, false, ""},
		{"2", []string{"y"}, []string{"z"}, false, ""},
		{"3", nil, []string{"y"}, false, ""},
		{"3", []string{"z"}, []string{"y"}, false, ""}, // it never had z, so z stays that of 2
		{"4", nil, []string{"z"}, false, `"z" is taken`},
		{"1", []string{"x", strings.Repeat("long", 500)}, nil, true, ""},
		{"4", nil, []string{"x", "y2"}, false, ""},
		{"x", nil, []string{"w"}, false, ""},
		{"x", []string{"w"}, nil, true, "4 refers to it"},
		{"4", []string{"x", "y2"}, []string{"x2"}, false, ""},
		{"x", []string{"w"}, nil, true, ""},
		{"self", nil, []string{"self"}, false, ""},
		{"self", []string{"self"}, nil, true, ""},
	} {
		e, _ := errors.AsType[*vitrine.Error](check(step.id, step.before, step.after, step.gone))
		if got := e; (got == nil) != (step.reason == "") || got != nil && (got.Reason != step.reason ||
			got.Kind != vitrine.ErrUnprocessable || got.Code != vitrine.CodeRule ||
			got.Value != strings.Split(step.reason+`""`, `"`)[1]) {
			t.Errorf("step %d: %v, want %q", i, got, step.reason)
		}
	}
	for rows, want := range map[string]error{"a x/slugs/": nil, "a x/slugs": vitrine.ErrInvalid,
		"a slugs/": vitrine.ErrInvalid, "x/slugs/": vitrine.ErrInvalid, "": vitrine.ErrInvalid} {
		if id, err := vitrine.Holder(ctx, db, rows, "y"); !errors.Is(err, want) || (id == "3") != (want == nil) {
			t.Errorf("%q has y in %q, %v", id, rows, err)
		}
	}
	left := 0
	err := db.View(ctx, func(r storage.Reader) error {
		for range r.Scan(ctx, storage.Prefix("a ")) {
			left++
		}
		return nil
	})
	if err != nil || left != 6 { // slugs and links of 2, 3 and 4
		t.Errorf("%d rows are left, %v", left, err)
	}
}
