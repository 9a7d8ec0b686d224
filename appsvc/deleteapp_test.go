package appsvc_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
)

// binned is a Service whose clock and rule a test sets, on a store with an app that has two versions, a tag and a note.
type binned struct {
	*appsvc.Service
	db    storage.Store
	now   time.Time
	check func(appsvc.Change) error
	id    string
}

func newBinned(t *testing.T, db storage.Store) *binned {
	t.Helper()
	ctx := context.Background()
	b := &binned{db: db, now: time.UnixMilli(1_700_000_000_000)}
	b.Service = appsvc.New(db, &appsvc.Options{KeepDeleted: time.Hour,
		Now: func() time.Time { b.now = b.now.Add(time.Millisecond); return b.now },
		Check: func(_ context.Context, _ vitrine.Caller, c appsvc.Change) error {
			if b.check != nil {
				return b.check(c)
			}
			return nil
		}})
	app, err := b.As(owner).CreateApp(ctx, appsvc.CreateAppRequest{Title: "Café au lait", Groups: []string{site1}})
	if errors.Is(err, vitrine.ErrForbidden) {
		app, err = b.As(moderator(site1, site2)).CreateApp(ctx,
			appsvc.CreateAppRequest{Title: "Café au lait", Groups: []string{site1, site2}})
	}
	if err == nil {
		_, err = b.As(moderator(site1)).Patch(ctx, app.ID,
			strings.NewReader(`[`+testV0+
				`,{"op":"add","path":"/note","value":"wet paint"},{"op":"replace","path":"/apps/0/title",`+
				`"value":"Tee mit Milch"}]`))
	}
	if err == nil {
		_, err = b.As(moderator(site1)).PutTag(ctx,
			appsvc.PutTagRequest{AppID: app.ID, Name: "draft", Version: vitrine.NewVersion(0)})
	}
	if err != nil {
		t.Fatal(err)
	}
	b.id = app.ID
	return b
}

// records returns the keys of all records that name the app.
func (b *binned) records(t *testing.T) (keys []string) {
	t.Helper()
	for _, e := range stored(t, b.db, "") {
		if strings.Contains(e.Key, b.id) && !strings.HasPrefix(e.Key, "apps name/") {
			keys = append(keys, e.Key)
		}
	}
	return keys
}

func TestADeletedAppIsAbsentUntilItComesBackWhole(t *testing.T) { onStores(t, testDeletedApp) }

func testDeletedApp(t *testing.T, db storage.Store) {
	ctx, b, by := context.Background(), newBinned(t, db), moderator(site1)
	before := b.records(t)
	was, err := b.As(by).App(ctx, b.id)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.As(stranger).DeleteApp(ctx, b.id); !errors.Is(err, vitrine.ErrNotFound) {
		t.Errorf("a stranger deletes: %v", err)
	}
	if err := b.As(vitrine.Caller{URN: owner.URN + "2", Reads: []string{network}}).DeleteApp(ctx, b.id); !errors.Is(err,
		vitrine.ErrForbidden) {
		t.Errorf("a reader deletes: %v", err)
	}
	if err := b.As(by).DeleteApp(ctx, b.id); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"app":     second(b.As(by).App(ctx, b.id)),
		"version": second(b.As(by).Version(ctx, b.id, vitrine.NewVersion(0))),
		"tagged":  second(b.As(by).TaggedApp(ctx, b.id, "draft")),
		"history": second(b.As(by).ListHistory(ctx, appsvc.ListHistoryRequest{AppID: b.id})),
		"patch":   second(b.As(by).Patch(ctx, b.id, strings.NewReader(`[`+testV0+`]`))),
		"delete":  b.As(by).DeleteApp(ctx, b.id),
		"put tag": second(b.As(by).PutTag(ctx,
			appsvc.PutTagRequest{AppID: b.id, Name: "x", Version: vitrine.NewVersion(0)})),
		"undelete by a reader": second(
			b.As(vitrine.Caller{URN: owner.URN + "2", Reads: []string{network}}).UndeleteApp(ctx, b.id)),
		"undelete by a stranger": second(b.As(stranger).UndeleteApp(ctx, b.id)),
	} {
		if !errors.Is(err, vitrine.ErrNotFound) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if list, _, _ := unpage(b.As(by).ListApps(ctx, appsvc.ListAppsRequest{Query: "tee"})); len(list) != 0 {
		t.Errorf("the list has %v", list)
	}
	if tags, err := b.As(by).TagsNamed(ctx, "draft", []string{b.id}); len(tags) != 0 || err != nil {
		t.Errorf("tags %v, %v", tags, err)
	}
	for _, summary := range []bool{false, true} {
		list, _, err := unpage(b.As(by).ListApps(ctx,
			appsvc.ListAppsRequest{Summary: summary, Deleted: true, Query: "TEE"}))
		if err != nil || len(list) != 1 || list[0].ID != b.id || list[0].Title != "Tee mit Milch" {
			t.Fatalf("deleted apps: %v, %v", list, err)
		}
		if a := list[0]; summary &&
			(a.DeletedAt == 0 || a.DeletedBy != by.URN || a.ErasesAt != a.DeletedAt+3_600_000 || len(a.Tags) != 1) {
			t.Errorf("summary %+v", a)
		}
	}
	if list, _, _ := unpage(b.As(vitrine.Caller{URN: owner.URN + "2", Reads: []string{network}}).ListApps(ctx,
		appsvc.ListAppsRequest{Deleted: true})); len(list) != 0 {
		t.Errorf("a reader lists deleted apps: %v", list)
	}
	if faults := auditOf(t, db); faults != nil {
		t.Error(faults)
	}
	back, err := b.As(by).UndeleteApp(ctx, b.id)
	if err != nil || string(back.AppendJSON(nil)) != string(was.AppendJSON(nil)) {
		t.Errorf("undeleted: %s, %v", back.AppendJSON(nil), err)
	}
	if after := b.records(t); !slices.Equal(before, after) {
		t.Errorf("records were\n%s\nand are\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	if _, err := b.As(by).UndeleteApp(ctx, b.id); code(err) != vitrine.CodeWrongState {
		t.Errorf("undelete again: %v", err)
	}
	if err := b.As(moderator(network)).EraseApp(ctx, b.id); code(err) != vitrine.CodeWrongState {
		t.Errorf("erase an app that is there: %v", err)
	}
	if faults := auditOf(t, db); faults != nil {
		t.Error(faults)
	}
}

func second[T any](_ T, err error) error { return err }

func code(err error) string {
	e, _ := errors.AsType[*vitrine.Error](err)
	if e == nil {
		return ""
	}
	return e.Code
}

func TestAnAppWithAProtectedTagIsNotDeleted(t *testing.T) {
	onStores(t, func(t *testing.T, db storage.Store) {
		ctx, b := context.Background(), newBinned(t, db)
		if err := b.SetTagRules(ctx, []appsvc.TagRule{{Name: "live", Protected: true}}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.As(moderator(network)).PutTag(ctx,
			appsvc.PutTagRequest{AppID: b.id, Name: "live", Version: vitrine.Latest}); err != nil {
			t.Fatal(err)
		}
		if err := b.As(moderator(network)).DeleteApp(ctx, b.id); code(err) != vitrine.CodeWrongState {
			t.Errorf("error %v", err)
		}
	})
}

func TestAnErasedAppLeavesNoRecord(t *testing.T) {
	onStores(t, func(t *testing.T, db storage.Store) {
		ctx, b, all := context.Background(), newBinned(t, db), moderator(network)
		if err := b.As(all).DeleteApp(ctx, b.id); err != nil {
			t.Fatal(err)
		}
		if err := b.As(moderator(site1)).EraseApp(ctx, b.id); !errors.Is(err, vitrine.ErrForbidden) {
			t.Errorf("a moderator of one of two groups erases: %v", err)
		}
		if err := b.As(all).EraseApp(ctx, b.id); err != nil {
			t.Fatal(err)
		}
		if left := b.records(t); len(left) != 0 {
			t.Errorf("there are %q", left)
		}
		if err := b.As(all).EraseApp(ctx, b.id); !errors.Is(err, vitrine.ErrNotFound) {
			t.Errorf("erase again: %v", err)
		}
		if faults := auditOf(t, db); faults != nil {
			t.Error(faults)
		}
	})
}

// Who could read the app learns that it was deleted and erased, and nobody else does. The note goes with the app.
func TestTheFeedOfADeletedApp(t *testing.T) {
	onStores(t, func(t *testing.T, db storage.Store) {
		ctx, b, all := context.Background(), newBinned(t, db), moderator(network)
		types := func(by vitrine.Caller, after string) (list []string, next string) {
			page, err := b.As(by).Changes(ctx, appsvc.ChangesRequest{After: after})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range page.Changes {
				text := string(e.Type) + " " + e.Note
				if e.Type == appsvc.AppDeleted || e.Type == appsvc.AppErased {
					if e.By != "" || e.AppID != b.id || e.At == 0 {
						t.Errorf("event %+v", e)
					}
				}
				list = append(list, strings.TrimSpace(text))
			}
			return list, page.Next
		}
		want := func(by vitrine.Caller, after string, want ...string) (next string) {
			t.Helper()
			list, next := types(by, after)
			if !slices.Equal(list, want) {
				t.Errorf("the feed of %s has %q, want %q", by.URN, list, want)
			}
			return next
		}
		next := want(all, "", "app.created", "app.updated wet paint", "tag.set")
		steps := func(list ...error) {
			t.Helper()
			for _, err := range list {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		steps(b.As(all).DeleteApp(ctx, b.id), second(b.As(all).UndeleteApp(ctx, b.id)), b.As(all).DeleteApp(ctx, b.id))
		reader := vitrine.Caller{URN: owner.URN + "2", Reads: []string{site2}}
		want(all, next, "app.deleted", "app.deleted")
		want(reader, next, "app.deleted", "app.deleted")
		want(stranger, next)
		steps(b.As(all).EraseApp(ctx, b.id))
		want(all, next, "app.deleted", "app.deleted", "app.erased")
		out, err := b.Outbox(ctx, vitrine.ChangesRequest{})
		if err != nil || len(out.Changes) != 7 || out.Changes[1].Note != "" ||
			!slices.Equal(out.Changes[6].Groups, []string{site1, site2}) {
			t.Errorf("outbox %+v, %v", out, err)
		}
	})
}

func TestDeletedAppsAreErasedWhenTheirTimeHasCome(t *testing.T) {
	onStores(t, func(t *testing.T, db storage.Store) {
		ctx, b, all := context.Background(), newBinned(t, db), moderator(network)
		other := newBinned(t, db)
		if err := b.As(all).DeleteApp(ctx, b.id); err != nil {
			t.Fatal(err)
		}
		b.now = b.now.Add(30 * time.Minute)
		if err := b.As(all).DeleteApp(ctx, other.id); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct{ wait, erased int }{{29, 0}, {2, 1}, {1, 0}, {29, 1}} {
			b.now = b.now.Add(time.Duration(step.wait) * time.Minute)
			if n, err := b.EraseDeleted(ctx); n != step.erased || err != nil {
				t.Errorf("after %d minutes more: erased %d, %v, want %d", step.wait, n, err, step.erased)
			}
		}
		if left := append(b.records(t), other.records(t)...); len(left) != 0 {
			t.Errorf("there are %q", left)
		}
		if faults := auditOf(t, db); faults != nil {
			t.Error(faults)
		}
	})
}

func TestARuleSeesDeletions(t *testing.T) {
	onStores(t, func(t *testing.T, db storage.Store) {
		ctx, b, all := context.Background(), newBinned(t, db), moderator(network)
		var seen []string
		refuse := appsvc.ChangeType("")
		b.check = func(c appsvc.Change) error {
			if c.Type == refuse {
				return vitrine.ErrForbidden
			}
			seen = append(seen,
				fmt.Sprint(c.Type, " ", c.Before.Title, " ", c.After.Title, " ", len(c.Old) > 0, " ", len(c.New) > 0))
			return nil
		}
		for _, step := range []struct {
			of appsvc.ChangeType
			do func() error
		}{
			{appsvc.AppDeleted, func() error { return b.As(all).DeleteApp(ctx, b.id) }},
			{appsvc.AppUndeleted, func() error { return second(b.As(all).UndeleteApp(ctx, b.id)) }},
			{appsvc.AppDeleted, func() error { return b.As(all).DeleteApp(ctx, b.id) }},
			{appsvc.AppErased, func() error { return b.As(all).EraseApp(ctx, b.id) }},
		} {
			if refuse = step.of; !errors.Is(step.do(), vitrine.ErrForbidden) {
				t.Errorf("%s is not refused", step.of)
			}
			if refuse = ""; step.do() != nil {
				t.Errorf("%s is refused", step.of)
			}
		}
		want := []string{"app.deleted Tee mit Milch  true false", "app.undeleted  Tee mit Milch false true",
			"app.deleted Tee mit Milch  true false", "app.erased Tee mit Milch  false false"}
		if !slices.Equal(seen, want) {
			t.Errorf("the rule has seen %q, want %q", seen, want)
		}
	})
}

func TestNotesAreInHistoryAndChecked(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	id := w.stateApp("site1")
	now, err := w.As(admin).App(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	op := fmt.Sprintf(`{"op":"test","path":"/apps/0/version","value":%q},{"op":"replace","path":"/apps/0/title",`+
		`"value":%%q}`, now.Version)
	long := strings.Repeat("é", 1024)
	for patch, want := range map[string]string{
		`{"op":"add","path":"/note","value":"` + long + `x"}`:                                             "/0/value",
		`{"op":"add","path":"/note","value":7}`:                                                           "/0/value",
		`{"op":"add","path":"/note","value":"a"},{"op":"add","path":"/note","value":"b"}`:                 "/1/value",
		`{"op":"replace","path":"/note","value":"a"}`:                                                     "/0",
		`{"op":"add","path":"/note","value":"a"},{"op":"replace","path":"/apps/0/elements/99","value":1}`: "/1",
		`{"op":"add","path":"/note/x","value":"a"}`:                                                       "/0",
	} {
		_, err := w.As(admin).Patch(ctx, id, strings.NewReader(`[`+patch+`,`+fmt.Sprintf(op, "x")+`]`))
		if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Pointer != want {
			t.Errorf("%.60s: error %v at %v, want one at %s", patch, err, e, want)
		}
	}
	if app, err := w.As(admin).Patch(ctx, id,
		strings.NewReader(`[{"op":"add","path":"/note","value":"nothing"},`+fmt.Sprintf(op, now.Title)+
			`]`)); err != nil ||
		app.Version != now.Version {
		t.Errorf("a patch that only notes: %v, %v", app.Version, err)
	}
	if _, err := w.As(admin).Patch(ctx, id,
		strings.NewReader(`[{"op":"add","path":"/note","value":"`+long+`"},`+fmt.Sprintf(op, "New")+`]`)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.As(admin).Restore(ctx,
		appsvc.RestoreRequest{AppID: id, Version: now.Version, Note: long + "x"}); code(err) != vitrine.CodeInvalid {
		t.Errorf("a long note of a restore: %v", err)
	}
	if _, err := w.As(admin).Restore(ctx,
		appsvc.RestoreRequest{AppID: id, Version: now.Version, Note: "back again"}); err != nil {
		t.Fatal(err)
	}
	_, err = w.As(admin).Edit(ctx, id, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
		p.SetTitle("Newer").Note("by hand")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	for e, err := range w.As(admin).AllHistory(ctx, appsvc.ListHistoryRequest{AppID: id, Limit: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		notes = append(notes, e.Note)
	}
	if want := []string{"by hand", "back again", long}; !slices.Equal(notes[:3], want) ||
		strings.Join(notes[3:], "") != "" {
		t.Errorf("notes %.40q", notes)
	}
	page, err := w.As(admin).Changes(ctx, appsvc.ChangesRequest{AppID: id})
	if err != nil || page.Changes[len(page.Changes)-1].Note != "by hand" {
		t.Errorf("the feed has %+v, %v", page.Changes, err)
	}
}

// stranger moderates another network.
var stranger = vitrine.Caller{URN: "urn:vitrine:other.test:user=stranger",
	Moderates: []string{"urn:vitrine:other.test"}}
