package appsvc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/feed"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A caller who moderates a site, and one who reads it.
var (
	ofSite1  = vitrine.Caller{URN: "urn:vitrine:example.test:user=one", Moderates: []string{site1}}
	ofSite2  = vitrine.Caller{URN: "urn:vitrine:example.test:user=two", Moderates: []string{site2}}
	readers1 = vitrine.Caller{URN: "urn:vitrine:example.test:user=three", Reads: []string{site1}}
	ofBoth   = vitrine.Caller{URN: "urn:vitrine:example.test:user=four",
		Moderates: []string{"urn:vitrine:example.test"}, Components: true}
)

// follower reads a feed page by page.
type follower struct {
	t     *testing.T
	s     *appsvc.Service
	by    vitrine.Caller
	in    appsvc.ChangesRequest
	pages int
}

// next returns what is new, an event a line, without times.
func (f *follower) next() []string {
	f.t.Helper()
	var out []string
	for {
		page, err := f.s.As(f.by).Changes(context.Background(), f.in)
		if err != nil {
			f.t.Fatal(err)
		}
		f.in.After = page.Next
		f.pages++
		for _, e := range page.Changes {
			out = append(out, tell(f.t, e))
		}
		if !page.More {
			return out
		}
	}
}

func tell(t *testing.T, e appsvc.Event) string {
	t.Helper()
	if e.Cursor == "" || e.At == 0 {
		t.Errorf("%+v has no cursor or no time", e)
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var again appsvc.Event
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, e) {
		t.Errorf("%s comes back as %+v, %v", text, again, err)
	}
	e.Cursor, e.At = "", 0
	text, _ = json.Marshal(e)
	return strings.ReplaceAll(string(text), `,"at":0`, "")
}

func (f *follower) check(want ...string) {
	f.t.Helper()
	if got := f.next(); !slices.Equal(got, want) {
		f.t.Errorf("%s sees\n%s\nwant\n%s", f.by.URN, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func newFollower(w *workshop, by vitrine.Caller) *follower {
	f := &follower{t: w.t, s: w.Service, by: by, in: appsvc.ChangesRequest{After: vitrine.Now, Limit: 2}}
	f.check()
	return f
}

// patch changes an app by one operation.
func (w *workshop) patch(by vitrine.Caller, id, op string) {
	w.t.Helper()
	app, err := w.As(by).App(context.Background(), id)
	if err == nil {
		_, err = w.As(by).Patch(context.Background(), id,
			strings.NewReader(fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":%q},%s]`, app.Version, op)))
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestTheFeedHasEveryChangeOnce(t *testing.T) {
	w := newWorkshop(t)
	ctx := context.Background()
	w.clock = w.clock.Add(time.Second)
	f := newFollower(w, ofBoth)
	app, err := w.As(ofSite1).CreateApp(ctx,
		appsvc.CreateAppRequest{Title: "First", Groups: []string{site1}, IdempotencyKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.As(ofSite1).CreateApp(ctx,
		appsvc.CreateAppRequest{Title: "First", Groups: []string{site1}, IdempotencyKey: "k"}); err != nil {
		t.Fatal(err)
	}
	w.patch(ofSite1, app.ID, `{"op":"replace","path":"/apps/0/title","value":"Second"}`)
	w.patch(ofSite1, app.ID, `{"op":"replace","path":"/apps/0/title","value":"Second"}`) // no change
	for range 2 {
		if _, err := w.As(ofSite1).Restore(ctx,
			appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.NewVersion(0), IdempotencyKey: "r"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range []int{0, 0, 2} {
		if _, err := w.As(ofBoth).PutTag(ctx,
			appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: vitrine.NewVersion(v)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.As(ofBoth).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: app.ID, Name: "production"}); err != nil {
		t.Fatal(err)
	}
	if err := w.As(ofBoth).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: app.ID, Name: "production"}); !errors.Is(err,
		vitrine.ErrNotFound) {
		t.Fatal(err)
	}
	w.component(`{"name":"clock","version":"3","main":"/c.js","configSchema":{}}`)
	if err := w.As(ofBoth).DeleteComponent(ctx, appsvc.DeleteComponentRequest{Name: "clock"}); err != nil {
		t.Fatal(err)
	}
	by := func(c vitrine.Caller) string { return `"by":{"urn":"` + c.URN + `"}` }
	of := `,"app":"` + app.ID + `"`
	want := []string{
		`{"type":"app.created",` + by(ofSite1) + of + `,"version":"0"}`,
		`{"type":"app.updated",` + by(ofSite1) + of + `,"version":"1"}`,
		`{"type":"app.restored",` + by(ofSite1) + of + `,"version":"2"}`,
		`{"type":"tag.set",` + by(ofBoth) + of + `,"tag":"production","from":null,"to":"0"}`,
		`{"type":"tag.set",` + by(ofBoth) + of + `,"tag":"production","from":"0","to":"2"}`,
		`{"type":"tag.deleted",` + by(ofBoth) + of + `,"tag":"production","from":"2","to":null}`,
		`{"type":"component.created",` + by(editor) + `,"component":{"name":"clock","version":"3"}}`,
		`{"type":"component.deleted",` + by(ofBoth) + `,"component":{"name":"clock"}}`,
	}
	f.check(want...)
	f.check()
	newFollower(w, ofBoth)

	for types, from := range map[appsvc.ChangeType][]int{appsvc.TagSet: {3, 4}, appsvc.AppCreated: {0},
		appsvc.AppLeft: {}, appsvc.ComponentDeleted: {7}} {
		var some []string
		for _, i := range from {
			some = append(some, want[i])
		}
		(&follower{t: t, s: w.Service, by: ofBoth,
			in: appsvc.ChangesRequest{After: firstAfter(t, w), Types: []appsvc.ChangeType{types}}}).check(some...)
	}
	one := &follower{t: t, s: w.Service, by: ofBoth, in: appsvc.ChangesRequest{AppID: app.ID, Limit: 500}}
	one.check(want[:6]...)
	for _, hidden := range []string{app.ID, "none"} {
		(&follower{t: t, s: w.Service, by: ofSite2, in: appsvc.ChangesRequest{AppID: hidden}}).check()
	}
}

// firstAfter returns the cursor after the components of the workshop.
func firstAfter(t *testing.T, w *workshop) string {
	t.Helper()
	page, err := w.As(ofBoth).Changes(context.Background(), appsvc.ChangesRequest{Limit: 3})
	if err != nil || len(page.Changes) != 3 || page.Changes[2].Type != appsvc.ComponentCreated || !page.More {
		t.Fatalf("%+v, %v", page, err)
	}
	return page.Next
}

func TestTheFeedIsReadByTheRightsOfNow(t *testing.T) {
	w := newWorkshop(t)
	ctx := context.Background()
	one, two, three := newFollower(w, ofSite1), newFollower(w, ofSite2), newFollower(w, readers1)
	app, err := w.As(ofBoth).CreateApp(ctx, appsvc.CreateAppRequest{Title: "First", Groups: []string{site1}})
	if err != nil {
		t.Fatal(err)
	}
	of, by := `,"app":"`+app.ID+`"`, `"by":{"urn":"`+ofBoth.URN+`"}`
	made := `{"type":"app.created",` + by + of + `,"version":"0"}`
	one.check(made)
	two.check()
	three.check(made)

	w.patch(ofBoth, app.ID, `{"op":"replace","path":"/apps/0/groups","value":["`+site2+`"]}`)
	w.patch(ofBoth, app.ID, `{"op":"replace","path":"/apps/0/title","value":"Second"}`)
	left := `{"type":"app.left"` + of + `}`
	one.check(left)
	three.check(left)
	moved, changed := `{"type":"app.updated",`+by+of+`,"version":"1"}`, `{"type":"app.updated",`+by+of+`,"version":"2"}`
	two.check(moved, changed)
	(&follower{t: t, s: w.Service, by: ofSite1, in: appsvc.ChangesRequest{After: firstAfter(t, w)}}).check(left)
	(&follower{t: t, s: w.Service, by: ofSite1,
		in: appsvc.ChangesRequest{After: firstAfter(t, w), Types: []appsvc.ChangeType{appsvc.AppUpdated}}}).check()
	(&follower{t: t, s: w.Service, by: ofSite1,
		in: appsvc.ChangesRequest{After: firstAfter(t, w), Types: []appsvc.ChangeType{appsvc.AppLeft}}}).check(left)

	w.patch(ofBoth, app.ID, `{"op":"add","path":"/apps/0/groups/-","value":"`+site1+`"}`)
	back := `{"type":"app.updated",` + by + of + `,"version":"3"}`
	one.check(back) // what it has passed does not come back
	(&follower{t: t, s: w.Service, by: ofSite1, in: appsvc.ChangesRequest{After: firstAfter(t, w)}}).check(made, moved,
		changed, back)

	outbox, err := w.Outbox(ctx, vitrine.ChangesRequest{After: firstAfter(t, w)})
	if err != nil || len(outbox.Changes) != 4 {
		t.Fatalf("%+v, %v", outbox, err)
	}
	if e := outbox.Changes[1]; e.Type != appsvc.AppUpdated || !slices.Equal(e.Groups, []string{site2}) ||
		!slices.Equal(e.Left, []string{site1}) {
		t.Errorf("%+v", e)
	}
	if e := outbox.Changes[0]; !slices.Equal(e.Groups, []string{site1}) || e.Left != nil || e.By != ofBoth.URN {
		t.Errorf("%+v", e)
	}
}

func TestCursorsOfTheFeed(t *testing.T) {
	w, other := newWorkshop(t), newWorkshop(t)
	ctx := context.Background()
	foreign, err := other.As(editor).Changes(ctx, appsvc.ChangesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []string{foreign.Next, foreign.Changes[0].Cursor, "0", "Now", foreign.Next + "x"} {
		_, err := w.As(editor).Changes(ctx, appsvc.ChangesRequest{After: after})
		if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Kind != vitrine.ErrInvalid || e.Parameter != "after" {
			t.Errorf("after %q: %v", after, err)
		}
	}
	for _, in := range []appsvc.ChangesRequest{{Limit: -1}, {Limit: 501}} {
		if _, err := w.As(editor).Changes(ctx, in); !errors.Is(err, vitrine.ErrInvalid) {
			t.Errorf("%+v: %v", in, err)
		}
	}
	_, err = w.As(editor).Changes(ctx, appsvc.ChangesRequest{Types: []appsvc.ChangeType{"app.gone"}})
	if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Kind != vitrine.ErrInvalid || e.Parameter != "types" {
		t.Errorf("an unknown type: %v", err)
	}
	if _, err := w.As(editor).Changes(ctx, appsvc.ChangesRequest{Limit: 500}); err != nil {
		t.Error(err)
	}
	for _, err := range w.As(editor).Follow(ctx, appsvc.ChangesRequest{After: "none"}) {
		checkKind(t, err, vitrine.ErrInvalid)
	}
	ended, end := context.WithCancel(ctx)
	defer end()
	var last error
	for _, err := range w.As(editor).Follow(ended, appsvc.ChangesRequest{}) {
		end()
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("following ends with %v", last)
	}
}

func TestEntriesOfTheFeedAreRemoved(t *testing.T) {
	db := memory.New()
	clock := time.UnixMilli(1_700_000_000_000)
	s := appsvc.New(db, &appsvc.Options{Now: func() time.Time { return clock }, KeepChanges: time.Hour})
	ctx := context.Background()
	create := func() {
		t.Helper()
		if _, err := s.As(ofSite1).CreateApp(ctx,
			appsvc.CreateAppRequest{Title: "x", Groups: []string{site1}}); err != nil {
			t.Fatal(err)
		}
	}
	start, err := s.As(ofSite1).Changes(ctx, appsvc.ChangesRequest{})
	if err != nil || start.Next == "" || start.More || len(start.Changes) != 0 {
		t.Fatalf("%+v, %v", start, err)
	}
	for range 64 {
		create()
	}
	page, err := s.As(ofSite1).Changes(ctx, appsvc.ChangesRequest{After: start.Next, Limit: 500})
	if err != nil || len(page.Changes) != 64 {
		t.Fatalf("%d, %v", len(page.Changes), err)
	}
	clock = clock.Add(time.Hour + time.Millisecond)
	create()
	gone := []string{start.Next, page.Changes[0].Cursor, page.Changes[62].Cursor}
	for _, after := range gone {
		_, err := s.As(ofSite1).Changes(ctx, appsvc.ChangesRequest{After: after})
		if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Kind != vitrine.ErrGone || e.Code != vitrine.CodeGone {
			t.Errorf("after an entry that was removed: %v", err)
		}
	}
	for _, after := range []string{"", page.Next} {
		if now, err := s.As(ofSite1).Changes(ctx, appsvc.ChangesRequest{After: after}); err != nil ||
			len(now.Changes) != 1 {
			t.Errorf("after %q: %+v, %v", after, now, err)
		}
	}
	if err := storage.RenewIdentity(ctx, db); err != nil {
		t.Fatal(err)
	}
	if _, err := s.As(ofSite1).Changes(ctx, appsvc.ChangesRequest{After: page.Next}); !errors.Is(err, vitrine.ErrGone) {
		t.Errorf("after a reset: %v", err)
	}
}

func TestAPageOfTheFeedLooksAtTenThousandEntries(t *testing.T) {
	store := memory.New()
	s := appsvc.New(store, nil)
	ctx := context.Background()
	if _, err := s.As(ofSite1).CreateApp(ctx,
		appsvc.CreateAppRequest{Title: "x", Groups: []string{site1}}); err != nil {
		t.Fatal(err)
	}
	entries := feed.Feed{Space: "apps"}
	add := func(n int) {
		if err := store.Update(ctx, "apps", storage.UpdateOptions{}, func(tx storage.Tx) error {
			for e, err := range entries.Entries(ctx, tx, 0, 1) {
				if err != nil {
					return err
				}
				return entries.Add(ctx, tx, slices.Repeat([]feed.Entry{e}, n)...)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	add(9_999)
	page, err := s.As(ofSite2).Changes(ctx, appsvc.ChangesRequest{})
	if err != nil || len(page.Changes) != 0 || page.More {
		t.Fatalf("10,000 hidden entries: %d, more %t, %v", len(page.Changes), page.More, err)
	}
	add(1)
	page, err = s.As(ofSite2).Changes(ctx, appsvc.ChangesRequest{})
	if err != nil || len(page.Changes) != 0 || !page.More {
		t.Fatalf("10,001 hidden entries: %d, more %t, %v", len(page.Changes), page.More, err)
	}
	page, err = s.As(ofSite2).Changes(ctx, appsvc.ChangesRequest{After: page.Next})
	if err != nil || len(page.Changes) != 0 || page.More {
		t.Fatalf("the rest: %d, more %t, %v", len(page.Changes), page.More, err)
	}
}

// duringView is a store that calls a function at the beginning of each View.
type duringView struct {
	storage.Store
	call func()
}

func (s duringView) View(ctx context.Context, fn func(storage.Reader) error) error {
	s.call()
	return s.Store.View(ctx, fn)
}

// The list of types is read once, and not for each entry of the feed: a request may name a type tens of thousands of
// times. A list that changes as soon as the entries are read shows it.
func TestTheTypesOfARequestAreReadOnce(t *testing.T) {
	apps := memory.New()
	ctx := context.Background()
	if _, err := appsvc.New(apps, nil).As(ofBoth).CreateApp(ctx,
		appsvc.CreateAppRequest{Title: "x", Groups: []string{site1}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		asked, later appsvc.ChangeType
		want         int
	}{{appsvc.AppCreated, appsvc.TagSet, 1}, {appsvc.TagSet, appsvc.AppCreated, 0}} {
		types := slices.Repeat([]appsvc.ChangeType{c.asked}, 29_000)
		s := appsvc.New(duringView{apps, func() {
			for i := range types {
				types[i] = c.later
			}
		}}, nil)
		page, err := s.As(ofBoth).Changes(ctx, appsvc.ChangesRequest{Types: types})
		if err != nil || len(page.Changes) != c.want {
			t.Errorf("asked for %s: %d entries, %v", c.asked, len(page.Changes), err)
		}
	}
}
