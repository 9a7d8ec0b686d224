package appsvc_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// protecting is a workshop in which the tags production and some live-… are protected.
func protecting(t *testing.T) *workshop {
	w := newWorkshop(t)
	w.Service = appsvc.New(memory.New(), nil)
	w.rules("production", "live-eu", "live-2", "live-absent")
	return w
}

// rules protects tags. A name with =n needs n approvals.
func (w *workshop) rules(names ...string) {
	w.t.Helper()
	var rules []appsvc.TagRule
	for _, name := range names {
		name, n, _ := strings.Cut(name, "=")
		approvals, _ := strconv.Atoi(n)
		rules = append(rules, appsvc.TagRule{Name: name, Protected: true, Approvals: approvals})
	}
	if err := w.SetTagRules(context.Background(), rules); err != nil {
		w.t.Fatal(err)
	}
}

// appIn creates an app of the owner with these groups and a second version.
func (w *workshop) appIn(groups ...string) string {
	w.t.Helper()
	maker := admin
	maker.URN = owner.URN
	app, err := w.As(maker).CreateApp(context.Background(), appsvc.CreateAppRequest{Title: "x", Groups: groups})
	if err == nil {
		_, err = w.As(maker).Restore(context.Background(),
			appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.Latest})
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return app.ID
}

// Everything that returns a tag says whether it is protected.
func TestTagsSayThatTheyAreProtected(t *testing.T) {
	ctx, w := context.Background(), protecting(t)
	by := moderator(network)
	id := w.appIn(site1)
	want := map[string]bool{"live-eu": true, "production": true, "staging": false}
	for name := range want {
		// created, left, moved
		for _, version := range []vitrine.Version{vitrine.NewVersion(0), vitrine.NewVersion(0), vitrine.Latest} {
			tag, err := w.As(by).PutTag(ctx, appsvc.PutTagRequest{AppID: id, Name: name, Version: version})
			if err != nil || tag.Protected != want[name] {
				t.Errorf("PutTag of %s: protected %v, %v", name, tag.Protected, err)
			}
		}
		tag, err := w.As(by).Tag(ctx, appsvc.TagRequest{AppID: id, Name: name})
		if err != nil || tag.Protected != want[name] {
			t.Errorf("Tag of %s: protected %v, %v", name, tag.Protected, err)
		}
		tags, err := w.As(by).TagsNamed(ctx, name, []string{id})
		if err != nil || len(tags) != 1 || tags[0].Protected != want[name] {
			t.Errorf("TagsNamed of %s: %v, %v", name, tags, err)
		}
	}
	page, err := w.As(by).ListTags(ctx, appsvc.ListTagsRequest{AppID: id})
	if err != nil || len(page.Items) != len(want) {
		t.Fatalf("ListTags: %v, %v", page.Items, err)
	}
	for _, tag := range page.Items {
		if tag.Protected != want[tag.Name] {
			t.Errorf("ListTags: %s: protected %v", tag.Name, tag.Protected)
		}
	}
}

func TestWhoMayMoveAProtectedTag(t *testing.T) {
	ctx, v0, v1 := context.Background(), vitrine.NewVersion(0), vitrine.NewVersion(1)
	both := []string{site1, site2}
	for name, test := range map[string]struct {
		by     vitrine.Caller
		groups []string
		want   error
	}{
		"a moderator of the network":    {moderator(network), both, nil},
		"a moderator of every group":    {moderator(both...), both, nil},
		"a moderator of the only group": {moderator(site1), []string{site1}, nil},
		"a moderator of one group":      {moderator(site1), both, vitrine.ErrForbidden},
		"the owner":                     {owner, both, vitrine.ErrForbidden},
		"the owner, who moderates one group": {vitrine.Caller{URN: owner.URN, Moderates: []string{site1}}, both,
			vitrine.ErrForbidden},
		"the owner, who moderates every group": {vitrine.Caller{URN: owner.URN, Moderates: both}, both, nil},
		"a moderator of a site of the network": {moderator(site1), []string{network, site1}, vitrine.ErrForbidden},
		"a reader": {vitrine.Caller{URN: network + ":user=r", Reads: []string{network}},
			both, vitrine.ErrForbidden},
		"nobody": {nobody, both, vitrine.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			w := protecting(t)
			id := w.appIn(test.groups...)
			put := func(by vitrine.Caller, name string, v vitrine.Version, from appsvc.TagGuard, key string) error {
				_, err := w.As(by).PutTag(ctx,
					appsvc.PutTagRequest{AppID: id, Name: name, Version: v, From: from, IdempotencyKey: key})
				return err
			}
			for _, tag := range []string{"production", "live-2"} {
				checkKind(t, put(test.by, tag, v0, appsvc.TagGuard{}, ""), test.want)
				checkKind(t, put(admin, tag, v0, appsvc.TagGuard{}, ""), nil)
				checkKind(t, put(test.by, tag, v0, appsvc.TagGuard{}, ""), test.want) // though it would not move
				checkKind(t, put(test.by, tag, v1, appsvc.TagGuard{}, ""), test.want)
				if test.want != nil {
					// rights come before the guard
					checkKind(t, put(test.by, tag, v1, appsvc.NoTag(), ""), test.want)
					// and before the version
					checkKind(t, put(test.by, tag, vitrine.NewVersion(9), appsvc.TagGuard{}, ""), test.want)
					in := appsvc.PutTagRequest{AppID: id, Name: tag, Fill: func(*appsvc.PutTagRequest) error {
						t.Error("the body is read")
						return nil
					}}
					_, err := w.As(test.by).PutTag(ctx, in)
					checkKind(t, err, test.want)
				}
				checkKind(t, w.As(test.by).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: id, Name: tag}), test.want)
			}
			if test.want != nil {
				checkKind(t, w.As(test.by).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: id, Name: "live-absent"}),
					test.want)
			}
			for _, tag := range []string{"Production", "staging"} { // which are not protected
				if test.want != vitrine.ErrNotFound && test.by.Reads == nil {
					checkKind(t, put(test.by, tag, v0, appsvc.TagGuard{}, ""), nil)
				}
			}
		})
	}
}

func TestGroupsStayWhileATagIsProtected(t *testing.T) {
	ctx := context.Background()
	both := []string{site1, site2}
	// owns the app too
	half := vitrine.Caller{URN: owner.URN, Moderates: []string{site1, "urn:vitrine:other.test:site=1"}}
	regroup := func(w *workshop, by vitrine.Caller, id string, groups ...string) error {
		_, err := w.As(by).Edit(ctx, id, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
			p.SetGroups(groups...)
			return nil
		})
		return err
	}
	restore := func(w *workshop, by vitrine.Caller, id string, v int) error {
		_, err := w.As(by).Restore(ctx, appsvc.RestoreRequest{AppID: id, Version: vitrine.NewVersion(v)})
		return err
	}
	w := protecting(t)
	id := w.appIn(site1)
	checkKind(t, regroup(w, admin, id, both...), nil) // version 2
	w.putTag(id, "staging", vitrine.NewVersion(0))
	checkKind(t, regroup(w, half, id, site1), nil) // nothing is protected yet
	checkKind(t, regroup(w, admin, id, both...), nil)
	if _, err := w.As(admin).PutTag(ctx,
		appsvc.PutTagRequest{AppID: id, Name: "production", Version: vitrine.NewVersion(0)}); err != nil {
		t.Fatal(err)
	}
	for _, groups := range [][]string{{site1}, {site2}, {site2, "urn:vitrine:other.test:site=1"},
		{site1, site2, "urn:vitrine:other.test:site=1"}, {"urn:vitrine:other.test:site=1"}} {
		err := regroup(w, half, id, groups...)
		checkKind(t, err, vitrine.ErrForbidden)
		if e := new(vitrine.Error); !errors.As(err, &e) || !strings.HasPrefix(e.Pointer, "/apps/0/groups") {
			t.Errorf("%q: %v", groups, err)
		}
	}
	checkKind(t, restore(w, half, id, 0), vitrine.ErrForbidden) // which was in site 1 alone
	checkKind(t, regroup(w, half, id, site2, site1), nil)       // the same groups
	checkKind(t, restore(w, half, id, 2), nil)                  // likewise
	checkKind(t, regroup(w, moderator(both...), id, site1), nil)
	checkKind(t, restore(w, moderator(network), id, 2), nil)
	if err := w.As(admin).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: id, Name: "production"}); err != nil {
		t.Fatal(err)
	}
	checkKind(t, regroup(w, half, id, site1), nil)
}

// A repeat is refused to a caller who may no longer move the tag.
func TestARepeatedMoveOfAProtectedTagNeedsTheRightsOfToday(t *testing.T) {
	ctx, w := context.Background(), protecting(t)
	id := w.appIn(site1)
	by := moderator(site1)
	put := appsvc.PutTagRequest{AppID: id, Name: "production", Version: vitrine.NewVersion(0), IdempotencyKey: "put"}
	remove := appsvc.DeleteTagRequest{AppID: id, Name: "production", IdempotencyKey: "remove"}
	for _, want := range []error{nil, vitrine.ErrForbidden} {
		_, err := w.As(by).PutTag(ctx, put)
		checkKind(t, err, want)
		checkKind(t, w.As(by).DeleteTag(ctx, remove), want)
		w.regroup(id, []string{site1, site2})
	}
}

// The protected tag may be created while a patch that takes a group away is being prepared.
func TestATagIsProtectedInTheWrite(t *testing.T) {
	ctx := context.Background()
	store := memory.New()
	free := appsvc.New(store, nil)
	maker := admin
	maker.URN = owner.URN
	app, err := free.As(maker).CreateApp(ctx, appsvc.CreateAppRequest{Title: "x", Groups: []string{site1, site2}})
	if err != nil {
		t.Fatal(err)
	}
	late := &meanwhile{Store: store, happens: func() {
		if _, err := free.As(admin).PutTag(ctx,
			appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: vitrine.Latest}); err != nil {
			t.Error(err)
		}
	}}
	svc := appsvc.New(late, nil)
	if err := free.SetTagRules(ctx, []appsvc.TagRule{{Name: "production", Protected: true}}); err != nil {
		t.Fatal(err)
	}
	patch := fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace",`+
		`"path":"/apps/0/groups","value":[%q]}]`, site1)
	_, err = svc.As(owner).Patch(ctx, app.ID, strings.NewReader(patch))
	checkKind(t, err, vitrine.ErrForbidden)
}

func TestRulesOfTagsAreInTheStore(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	store := memory.New()
	w.Service = appsvc.New(store, nil)
	other := appsvc.New(store, nil)
	check := func(want ...appsvc.TagRule) {
		t.Helper()
		got, err := other.TagRules(ctx)
		if err != nil || len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("rules %+v, %v; want %+v", got, err, want)
		}
	}
	check()
	if err := w.SetTagRules(ctx,
		[]appsvc.TagRule{{Name: "production", Approvals: 2}, {Name: "live", Protected: true}}); err != nil {
		t.Fatal(err)
	}
	check(appsvc.TagRule{Name: "live", Protected: true},
		appsvc.TagRule{Name: "production", Protected: true, Approvals: 2})
	id := w.appIn(site1)
	for name, want := range map[string]string{"live": "", "production": vitrine.CodeNeedsRelease, "staging": ""} {
		_, err := other.As(admin).PutTag(ctx, appsvc.PutTagRequest{AppID: id, Name: name, Version: vitrine.Latest})
		if e := new(vitrine.Error); errors.As(err, &e) != (want != "") || e.Code != want {
			t.Errorf("PutTag of %s: %v", name, err)
		}
		_, err = other.As(nobody).PutTag(ctx, appsvc.PutTagRequest{AppID: id, Name: name, Version: vitrine.Latest})
		checkKind(t, err, vitrine.ErrNotFound)
	}
	err := w.As(admin).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: id, Name: "production"})
	if e := new(vitrine.Error); !errors.As(err, &e) || e.Code != vitrine.CodeNeedsRelease ||
		e.Kind != vitrine.ErrForbidden {
		t.Errorf("DeleteTag: %v", err)
	}
	for _, bad := range [][]appsvc.TagRule{{{Name: "-"}}, {{}}, {{Name: "a"}, {Name: "a"}},
		{{Name: "a", Approvals: -1}}, {{Name: "a", Approvals: 11}}} {
		checkKind(t, w.SetTagRules(ctx, bad), vitrine.ErrInvalid)
	}
	checkKind(t, w.SetTagRules(ctx, nil), nil)
	check()
	for f, err := range appsvc.Maintenance(appsvc.Limits{}).Audit(ctx, store) {
		t.Error(f, err)
	}
}

// Two roll backs go back two moves, and none leads forth.
func TestRollBack(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	store := memory.New()
	w.Service = appsvc.New(store, nil)
	id := w.tagged()
	v := vitrine.NewVersion[int]
	put := func(n int) {
		t.Helper()
		w.putTag(id, "live", v(n))
	}
	back := func(want vitrine.Version) {
		t.Helper()
		tag, err := w.As(editor).PutTag(ctx, appsvc.PutTagRequest{AppID: id, Name: "live", Rollback: true})
		if err != nil || tag.AppVersion != want {
			t.Fatalf("rolled back to %q, %v; want %q", tag.AppVersion, err, want)
		}
		if !want.IsZero() && w.tagVersion(id, "live") != want {
			t.Fatalf("the tag points to %q", w.tagVersion(id, "live"))
		}
	}
	refused := func(code string, in appsvc.PutTagRequest) {
		t.Helper()
		in.AppID, in.Name, in.Rollback = id, "live", true
		_, err := w.As(editor).PutTag(ctx, in)
		if e := new(vitrine.Error); !errors.As(err, &e) || e.Code != code {
			t.Errorf("error %v, want %s", err, code)
		}
	}
	refused(vitrine.CodeNotFound, appsvc.PutTagRequest{})
	put(0)
	put(1)
	put(2)
	refused(vitrine.CodeInvalid, appsvc.PutTagRequest{Version: v(0)})
	refused(vitrine.CodeMoved, appsvc.PutTagRequest{From: appsvc.PointsTo(v(1))})
	back(v(1))
	back(v(0))
	put(2) // 1 and 2 stay rolled back
	put(1)
	back(v(2))
	back(v(0))
	back(vitrine.Version{})
	refused(vitrine.CodeWrongState, appsvc.PutTagRequest{})
	put(1)
	checkKind(t, w.As(editor).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: id, Name: "live"}), nil)
	back(v(1)) // it was deleted
	back(vitrine.Version{})
	moves := w.tagMoves(id, "live")
	if len(moves) != 14 || !moves[0].Rollback || moves[2].Rollback {
		t.Errorf("%d moves: %+v", len(moves), moves)
	}
	key := appsvc.PutTagRequest{AppID: id, Name: "live", Rollback: true, IdempotencyKey: "k"}
	put(0)
	put(1)
	for range 3 {
		if tag, err := w.As(editor).PutTag(ctx, key); err != nil || tag.AppVersion != v(0) {
			t.Fatalf("%+v, %v", tag, err)
		}
	}
	events := 0
	for e, err := range allEvents(ctx, w) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Rollback {
			events++
		}
	}
	if events != 8 {
		t.Errorf("%d events of roll backs, want 8", events)
	}
	for f, err := range appsvc.Maintenance(appsvc.Limits{}).Audit(ctx, store) {
		t.Error(f, err)
	}
}

// A roll back goes to where the tag pointed when that was the present state, whatever moves and roll backs came
// between.
func TestRandomRollBacks(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	w.Service = appsvc.New(memory.New(), nil)
	id := w.tagged()
	random := rand.New(rand.NewPCG(1, 2))
	was := []vitrine.Version{{}} // where the tag pointed, without what was rolled back
	for range 400 {
		if random.IntN(2) == 0 {
			to := vitrine.NewVersion(random.IntN(3))
			w.putTag(id, "live", to)
			if to != was[len(was)-1] {
				was = append(was, to)
			}
		} else if len(was) > 1 {
			was = was[:len(was)-1]
			tag, err := w.As(editor).PutTag(ctx, appsvc.PutTagRequest{AppID: id, Name: "live", Rollback: true})
			if err != nil || tag.AppVersion != was[len(was)-1] {
				t.Fatalf("rolled back to %q, %v; want %q", tag.AppVersion, err, was[len(was)-1])
			}
		}
	}
}

// allEvents yields all events that the administrator sees.
func allEvents(ctx context.Context, w *workshop) iter.Seq2[appsvc.Event, error] {
	return func(yield func(appsvc.Event, error) bool) {
		for in := (appsvc.ChangesRequest{}); ; {
			page, err := w.As(admin).Changes(ctx, in)
			for _, e := range page.Changes {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(appsvc.Event{}, err)
			}
			if in.After = page.Next; err != nil || !page.More {
				return
			}
		}
	}
}
