package appsvc_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

var allSorts = []appsvc.Sort{appsvc.CreatedAscending, appsvc.CreatedDescending, appsvc.UpdatedAscending,
	appsvc.UpdatedDescending}

// titledApp creates an app without elements.
func (w *workshop) titledApp(title string) appsvc.App {
	w.t.Helper()
	app, err := w.As(editor).CreateApp(context.Background(),
		appsvc.CreateAppRequest{Title: title, Groups: []string{site1}})
	if err != nil {
		w.t.Fatal(err)
	}
	return app
}

// titledApps creates count apps, three at a time, and returns their ids.
func (w *workshop) titledApps(count int) (ids []string) {
	w.t.Helper()
	for i := range count {
		if i%3 == 0 {
			w.clock = w.clock.Add(time.Millisecond)
		}
		ids = append(ids, w.titledApp(fmt.Sprint(i)).ID)
	}
	return ids
}

// walk goes through all pages, and calls between after each.
func (w *workshop) walk(by vitrine.Caller, in appsvc.ListAppsRequest, between func()) (ids []string) {
	w.t.Helper()
	for {
		apps, next, err := unpage(w.As(by).ListApps(context.Background(), in))
		if err != nil {
			w.t.Fatal(err)
		}
		if len(apps) == 0 && next != "" || len(ids) > 1000 {
			w.t.Fatalf("after %d apps comes a page of %d, and then %q", len(ids), len(apps), next)
		}
		for _, app := range apps {
			ids = append(ids, app.ID)
		}
		in.After = next
		if next == "" {
			return ids
		}
		between()
	}
}

func TestAWalkMeetsEachAppOnceWhileOthersAreAdded(t *testing.T) {
	for _, sort := range allSorts {
		for _, limit := range []int{1, 3, 20} {
			t.Run(fmt.Sprint(sort, " by ", limit), func(t *testing.T) {
				w := newWorkshop(t)
				there, added := w.titledApps(20), 0
				met := w.walk(editor, appsvc.ListAppsRequest{Sort: sort, Limit: limit}, func() {
					if added++; added <= 10 { // an ascending walk must come to an end
						w.clock = w.clock.Add(time.Duration(added%2) * time.Millisecond)
						w.titledApp("new")
					}
				})
				for _, id := range there {
					if !slices.Contains(met, id) {
						t.Errorf("an app that was there from the start was not met")
					}
				}
				if slices.Sort(met); len(slices.Compact(met)) != len(met) {
					t.Errorf("some apps were met more than once: %v", met)
				}
			})
		}
	}
}

func TestAppsAreListedNewestFirstUnlessAskedOtherwise(t *testing.T) {
	w := newWorkshop(t)
	w.titledApps(7)
	unasked := w.walk(editor, appsvc.ListAppsRequest{Limit: 2}, func() {})
	if newest := w.walk(editor, appsvc.ListAppsRequest{Sort: appsvc.CreatedDescending},
		func() {}); !slices.Equal(unasked, newest) {
		t.Errorf("%v, want %v", unasked, newest)
	}
	_, _, err := unpage(w.As(editor).ListApps(context.Background(), appsvc.ListAppsRequest{Sort: "title"}))
	checkKind(t, err, vitrine.ErrInvalid)
}

func TestAPageHoldsAsManyAsAskedFor(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	w.titledApps(501)
	app := w.titledApp("versions")
	for range 500 {
		if _, err := w.As(editor).Restore(ctx,
			appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.NewVersion(0)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		limit, apps, versions int // asked for, and there: 502 apps, 501 versions
		err                   error
	}{
		{0, 100, 50, nil}, {1, 1, 1, nil}, {499, 499, 499, nil}, {500, 500, 500, nil},
		{501, 0, 0, vitrine.ErrInvalid}, {-1, 0, 0, vitrine.ErrInvalid}, {1 << 30, 0, 0, vitrine.ErrInvalid},
	} {
		apps, next, err := unpage(w.As(editor).ListApps(ctx, appsvc.ListAppsRequest{Limit: test.limit}))
		checkKind(t, err, test.err)
		if len(apps) != test.apps || (next == "") != (err != nil) {
			t.Errorf("limit %d: %d apps, next %q; want %d", test.limit, len(apps), next, test.apps)
		}
		in := appsvc.ListVersionsRequest{AppID: app.ID, Limit: test.limit}
		versions, more, err := listed(w.As(editor).ListVersions(ctx, in))
		checkKind(t, err, test.err)
		if len(versions) != test.versions || more != (err == nil) {
			t.Errorf("limit %d: %d versions, more %t; want %d", test.limit, len(versions), more, test.versions)
		}
		_, err = w.As(editor).ListTags(ctx, appsvc.ListTagsRequest{AppID: app.ID, Limit: test.limit})
		checkKind(t, err, test.err)
	}
	for _, limit := range []int{99, 100, 167} { // 167 is a third of 501
		next := int64(500)
		for v, err := range w.As(editor).AllVersions(ctx, appsvc.ListVersionsRequest{AppID: app.ID, Limit: limit}) {
			if err != nil || v.Version.Number() != next {
				t.Fatalf("limit %d: version %s, %v, want %d", limit, v.Version, err, next)
			}
			next--
		}
		if next != -1 {
			t.Errorf("limit %d: the walk ends before version %d", limit, next)
		}
	}
	in := appsvc.ListVersionsRequest{AppID: app.ID, Before: vitrine.NewVersion(0)}
	if page, more, err := listed(w.As(editor).ListVersions(ctx, in)); len(page) > 0 || more || err != nil {
		t.Errorf("before version 0: %d, %t, %v", len(page), more, err)
	}
}

func TestTheLastPageSaysSo(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	if apps, next, err := unpage(w.As(editor).ListApps(ctx, appsvc.ListAppsRequest{})); len(apps) > 0 || next != "" ||
		err != nil {
		t.Errorf("of none: %d apps, %q, %v", len(apps), next, err)
	}
	w.titledApps(3)
	for limit, more := range map[int]bool{1: true, 2: true, 3: false, 4: false} {
		_, next, err := unpage(w.As(editor).ListApps(ctx, appsvc.ListAppsRequest{Limit: limit}))
		if (next != "") != more || err != nil {
			t.Errorf("limit %d of 3: next %q, %v", limit, next, err)
		}
	}
}

// A page ends before the item that would bring it above the limit of bytes, and has one item at least.
func TestAPageEndsAtItsLimitOfBytes(t *testing.T) {
	ctx := context.Background()
	for _, bytes := range []int{1, 1000, 2500, 1 << 20} {
		w := bench(t, appsvc.Limits{PageBytes: bytes})
		var there []string
		for range 6 {
			there = append(there, w.titledApp(strings.Repeat("x", 800)).ID)
		}
		apps, next, err := unpage(w.As(editor).ListApps(ctx, appsvc.ListAppsRequest{}))
		total := 0
		for _, app := range apps {
			total += len(app.AppendJSON(nil))
		}
		if err != nil || len(apps) == 0 || len(apps) > 1 && total > bytes || (next == "") != (len(apps) == 6) {
			t.Errorf("%d bytes: a page of %d apps in %d bytes, next %q, %v", bytes, len(apps), total, next, err)
		}
		met := w.walk(editor, appsvc.ListAppsRequest{}, func() {})
		slices.Sort(met)
		slices.Sort(there)
		if !slices.Equal(met, there) {
			t.Errorf("%d bytes: the walk met %v, there are %v", bytes, met, there)
		}
	}
}

func TestACursorIsOnlyWhatAPageGave(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	w.titledApps(3)
	_, next, err := unpage(w.As(editor).ListApps(ctx, appsvc.ListAppsRequest{Limit: 1}))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := unpage(w.As(editor).ListApps(ctx, appsvc.ListAppsRequest{After: next})); err != nil {
		t.Errorf("the cursor itself: %v", err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	for _, after := range []string{"x", " ", next[:5], next + "=", next + " ", "\n" + next, strings.ToUpper(next) + "!",
		"ä", "\x00",
		encode([]byte("12345678")), encode([]byte("12345678\xff")), encode([]byte("12345678a\x00b"))} {
		_, _, err := unpage(w.As(editor).ListApps(ctx, appsvc.ListAppsRequest{After: after}))
		checkKind(t, err, vitrine.ErrInvalid)
		if err == nil {
			t.Errorf("after %q", after)
		}
	}
	for i := range next {
		changed := []byte(next)
		changed[i] = map[bool]byte{true: 'B', false: 'A'}[changed[i] == 'A']
		if _, _, err := unpage(w.As(editor).ListApps(ctx,
			appsvc.ListAppsRequest{After: string(changed)})); !errors.Is(err, vitrine.ErrInvalid) {
			t.Errorf("changed at %d: %v", i, err)
		}
	}
	_, _, err = unpage(w.As(editor).ListApps(ctx, appsvc.ListAppsRequest{Sort: appsvc.UpdatedDescending, After: next}))
	checkKind(t, err, vitrine.ErrInvalid)
}

func TestACursorGivesNoRights(t *testing.T) {
	w := newWorkshop(t)
	w.titledApps(5)
	_, next, err := unpage(w.As(editor).ListApps(context.Background(), appsvc.ListAppsRequest{Limit: 1}))
	if err != nil {
		t.Fatal(err)
	}
	apps, next, err := unpage(w.As(moderator(site2)).ListApps(context.Background(),
		appsvc.ListAppsRequest{After: next}))
	if len(apps) > 0 || next != "" || err != nil {
		t.Errorf("somebody else got %d apps, %q, %v", len(apps), next, err)
	}
}
