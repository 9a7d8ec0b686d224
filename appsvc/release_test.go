package appsvc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// People who moderate site 1.
var ann, ben, cat = personOf("ann"), personOf("ben"), personOf("cat")

func personOf(name string) vitrine.Caller {
	return vitrine.Caller{URN: network + ":user=" + name, Moderates: []string{site1}}
}

// releasing is a workshop with a store of its own, in which production needs one approval and live none.
func releasing(t *testing.T, o appsvc.Options) (*workshop, storage.Store) {
	w := newWorkshop(t)
	store := memory.New()
	o.Now = func() time.Time { return w.clock }
	w.Service = appsvc.New(store, &o)
	w.rules("production=1")
	t.Cleanup(func() {
		for f, err := range appsvc.Maintenance(appsvc.Limits{}).Audit(context.Background(), store) {
			t.Error(f, err)
		}
	})
	return w, store
}

func to(app, tag string, v int) appsvc.ReleaseMove {
	return appsvc.ReleaseMove{AppID: app, Tag: tag, To: appsvc.PointsTo(vitrine.NewVersion(v))}
}

func (w *workshop) release(by vitrine.Caller, moves ...appsvc.ReleaseMove) appsvc.Release {
	w.t.Helper()
	rel, err := w.As(by).CreateRelease(context.Background(), appsvc.CreateReleaseRequest{Name: "spring", Moves: moves})
	if err != nil {
		w.t.Fatal(err)
	}
	return rel
}

// wantCode checks the code of an error, "" for none.
func wantCode(t *testing.T, err error, want string) *vitrine.Error {
	t.Helper()
	e := new(vitrine.Error)
	if errors.As(err, &e); e.Code != want || err != nil && want == "" {
		t.Errorf("error %v, want %q", err, want)
	}
	return e
}

func TestAReleaseMovesAllItsTagsAtOnce(t *testing.T) {
	ctx := context.Background()
	w, _ := releasing(t, appsvc.Options{})
	a, b := w.tagged("live"), w.tagged("live")
	rel := w.release(ann, to(a, "live", 2), to(b, "new", 0),
		appsvc.ReleaseMove{AppID: b, Tag: "live", To: appsvc.NoTag()})
	v := vitrine.NewVersion[int]
	at := func(n int) appsvc.TagGuard { return appsvc.PointsTo(v(n)) }
	want := []appsvc.ReleaseMove{{AppID: a, Tag: "live", From: at(1), To: at(2)},
		{AppID: b, Tag: "new", From: appsvc.NoTag(), To: at(0)},
		{AppID: b, Tag: "live", From: at(1), To: appsvc.NoTag()}}
	if rel.State != appsvc.ReleaseOpen || rel.Version != v(0) || !reflect.DeepEqual(rel.Moves, want) ||
		rel.By != ann.URN {
		t.Fatalf("%+v", rel)
	}
	if w.tagVersion(a, "live") != v(1) {
		t.Error("a tag moved before the release was run")
	}
	for _, as := range []struct {
		app, tag string
		want     vitrine.Version
	}{{a, "live", v(2)}, {b, "new", v(0)}, {b, "live", vitrine.Version{}}} {
		app, err := w.As(ann).TaggedAppIn(ctx, as.app, as.tag, rel.ID)
		if app.Version != as.want || (err == nil) == as.want.IsZero() {
			t.Errorf("as if: %q, %v", app.Version, err)
		}
	}
	w.clock = w.clock.Add(time.Second)
	done, err := w.As(ben).RunRelease(ctx, rel.ID, rel.Version)
	if err != nil || done.State != appsvc.ReleaseDone || done.RanAt != w.clock.UnixMilli() || done.Version != v(1) {
		t.Fatalf("%+v, %v", done, err)
	}
	if w.tagVersion(a, "live") != v(2) || w.tagVersion(b, "new") != v(0) || !w.tagVersion(b, "live").IsZero() {
		t.Error("not all tags were moved")
	}
	for _, name := range []string{"live", "new"} {
		if m := w.tagMoves(b, name)[0]; m.Release != rel.ID || m.At != done.RanAt || m.By != ben.URN {
			t.Errorf("move %+v", m)
		}
	}
	_, err = w.As(ben).RunRelease(ctx, done.ID, done.Version)
	wantCode(t, err, vitrine.CodeWrongState)
	w.clock = w.clock.Add(time.Second)
	undone, err := w.As(cat).UndoRelease(ctx, done.ID, done.Version)
	if err != nil || undone.State != appsvc.ReleaseCancelled || undone.RanAt != done.RanAt {
		t.Fatalf("%+v, %v", undone, err)
	}
	if w.tagVersion(a, "live") != v(1) || !w.tagVersion(b, "new").IsZero() || w.tagVersion(b, "live") != v(1) {
		t.Error("not all tags were rolled back")
	}
	if m := w.tagMoves(a, "live")[0]; !m.Rollback || m.Release != rel.ID {
		t.Errorf("move %+v", m)
	}
	var states []appsvc.ReleaseState
	tags := 0
	for e, err := range allEvents(ctx, w) {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Type == appsvc.ReleaseChanged && e.Release == rel.ID:
			states = append(states, e.State)
		case e.Release == rel.ID:
			tags++
		}
	}
	if !slices.Equal(states, []appsvc.ReleaseState{appsvc.ReleaseOpen, appsvc.ReleaseDone, appsvc.ReleaseCancelled}) ||
		tags != 6 {
		t.Errorf("events of states %q, and %d of tags", states, tags)
	}
}

// The reason of a conflict says whether the tag is elsewhere, not there, or there against expectation.
func TestAConflictSaysWhereTheTagIs(t *testing.T) {
	ctx := context.Background()
	w, _ := releasing(t, appsvc.Options{})
	app := w.tagged("live", "old")
	rel := w.release(ann, to(app, "live", 2), to(app, "new", 2), to(app, "old", 2))
	w.putTag(app, "live", vitrine.NewVersion(0))
	w.putTag(app, "new", vitrine.NewVersion(0))
	if err := w.As(ann).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: app, Name: "old"}); err != nil {
		t.Fatal(err)
	}
	_, err := w.As(ann).RunRelease(ctx, rel.ID, rel.Version)
	var reasons []string
	for _, c := range wantCode(t, err, vitrine.CodeConflicts).Conflicts {
		reasons = append(reasons, strings.ReplaceAll(c.Reason, app, "a"))
	}
	want := []string{
		`the tag "live" of app "a" points to version "0", and not to version "1"`,
		`the tag "new" of app "a" points to version "0", and should not be there`,
		`the tag "old" of app "a" is not there, and should point to version "1"`,
	}
	if !slices.Equal(reasons, want) {
		t.Errorf("the reasons are %q, want %q", reasons, want)
	}
}

func TestAReleaseThatCannotRunMovesNothing(t *testing.T) {
	ctx := context.Background()
	refuse := ""
	w, _ := releasing(t, appsvc.Options{Check: func(_ context.Context, _ vitrine.Caller, c appsvc.Change) error {
		if c.Tag != "" && c.Tag == refuse {
			return &vitrine.Error{Kind: vitrine.ErrForbidden, Reason: "not on a Friday"}
		}
		return nil
	}})
	a, b := w.tagged("live", "next"), w.tagged("live")
	v := vitrine.NewVersion[int]
	rel := w.release(ann, to(a, "live", 2), to(a, "next", 2), to(b, "live", 2))
	w.putTag(a, "next", v(0))
	w.putTag(b, "live", v(0))
	_, err := w.As(ann).TaggedAppIn(ctx, a, "live", rel.ID)
	wantCode(t, err, vitrine.CodeConflicts)
	_, err = w.As(ann).RunRelease(ctx, rel.ID, rel.Version)
	e := wantCode(t, err, vitrine.CodeConflicts)
	if len(e.Conflicts) != 2 || e.Conflicts[0].Tag != "next" || e.Conflicts[1].App != b ||
		e.Conflicts[1].PointsTo != v(0) || e.Conflicts[1].Code != vitrine.CodeMoved {
		t.Fatalf("conflicts %+v", e.Conflicts)
	}
	if w.tagVersion(a, "live") != v(1) {
		t.Error("a tag was moved")
	}
	now, err := w.As(ann).Release(ctx, rel.ID)
	if err != nil || now.State != appsvc.ReleaseOpen || !reflect.DeepEqual(now.Conflicts, e.Conflicts) ||
		now.Version != e.Version {
		t.Fatalf("%+v, %v", now, err)
	}
	_, err = w.As(ann).RunRelease(ctx, rel.ID, rel.Version) // which nobody has seen with its conflicts
	wantCode(t, err, vitrine.CodeStaleVersion)
	w.putTag(a, "next", v(1))
	w.putTag(b, "live", v(1))
	refuse = "next"
	_, err = w.As(ann).RunRelease(ctx, now.ID, now.Version)
	if e := wantCode(t, err, vitrine.CodeConflicts); len(e.Conflicts) != 1 || e.Conflicts[0].Tag != "next" ||
		!strings.Contains(e.Conflicts[0].Reason, "Friday") {
		t.Errorf("conflicts %+v", e.Conflicts)
	}
	refuse = ""
	now, _ = w.As(ann).Release(ctx, rel.ID)
	if _, err := w.As(ann).RunRelease(ctx, now.ID, now.Version); err != nil {
		t.Fatal(err)
	}
	// A tag that was moved after it is a conflict of its undoing.
	w.putTag(a, "next", v(0))
	w.putTag(a, "next", v(2))
	now, _ = w.As(ann).Release(ctx, rel.ID)
	_, err = w.As(ann).UndoRelease(ctx, now.ID, now.Version)
	if e := wantCode(t, err, vitrine.CodeConflicts); len(e.Conflicts) != 1 || e.Conflicts[0].Tag != "next" {
		t.Errorf("conflicts %+v", e.Conflicts)
	}
	if w.tagVersion(a, "live") != v(2) {
		t.Error("a tag was rolled back alone")
	}
}

func TestWhatAReleaseMayBe(t *testing.T) {
	ctx := context.Background()
	w, _ := releasing(t, appsvc.Options{})
	id, other := w.tagged("live"), w.appIn(site2)
	move := to(id, "live", 2)
	var many []appsvc.ReleaseMove
	for n := range 201 {
		many = append(many, to(id, fmt.Sprint("t", n), 0))
	}
	now := w.clock.UnixMilli()
	for pointer, in := range map[string]appsvc.CreateReleaseRequest{
		"/moves":       {},
		"/moves ":      {Moves: many},
		"/moves/1":     {Moves: []appsvc.ReleaseMove{move, move}},
		"/moves/0/to":  {Moves: []appsvc.ReleaseMove{{AppID: id, Tag: "live"}}},
		"/moves/0/tag": {Moves: []appsvc.ReleaseMove{to(id, "-", 0)}},
		"/moves/0/app": {Moves: []appsvc.ReleaseMove{to("", "live", 0)}},
		"/name":        {Name: strings.Repeat("ä", 129), Moves: many[:1]},
		"/note":        {Note: strings.Repeat("ä", 4097), Moves: many[:1]},
		"/at":          {At: now, Moves: many[:1]},
		"/at ":         {At: now + 90*24*3600*1000 + 1, Moves: many[:1]},
	} {
		_, err := w.As(ann).CreateRelease(ctx, in)
		if e := wantCode(t, err, vitrine.CodeInvalid); e.Pointer != strings.TrimSpace(pointer) {
			t.Errorf("%s: %v", pointer, err)
		}
	}
	_, err := w.As(ann).CreateRelease(ctx, appsvc.CreateReleaseRequest{Moves: []appsvc.ReleaseMove{to(id, "live", 3)}})
	if e := wantCode(t, err, vitrine.CodeNotFound); e.Pointer != "/moves/0/to" {
		t.Error(err)
	}
	_, err = w.As(ann).CreateRelease(ctx,
		appsvc.CreateReleaseRequest{Moves: []appsvc.ReleaseMove{move, to(other, "live", 0)}})
	if e := wantCode(t, err, vitrine.CodeNotFound); e.Pointer != "/moves/1" {
		t.Error(err)
	}
	reader := personOf("reader")
	reader.Reads = []string{site2}
	_, err = w.As(reader).CreateRelease(ctx,
		appsvc.CreateReleaseRequest{Moves: []appsvc.ReleaseMove{move, to(other, "live", 0)}})
	if e := wantCode(t, err, vitrine.CodeForbidden); e.Pointer != "/moves/1" || !strings.Contains(e.Reason, other) {
		t.Error(err)
	}
	owns := vitrine.Caller{URN: owner.URN} // owns the other app, and may not move its protected tags
	_, err = w.As(owns).CreateRelease(ctx,
		appsvc.CreateReleaseRequest{Moves: []appsvc.ReleaseMove{to(other, "production", 0)}})
	wantCode(t, err, vitrine.CodeForbidden)
	full, err := w.As(ann).CreateRelease(ctx,
		appsvc.CreateReleaseRequest{Name: strings.Repeat("ä", 128), Note: strings.Repeat("ä", 4096), Moves: many[:200],
			At: now + 90*24*3600*1000})
	if err != nil || full.State != appsvc.ReleaseScheduled {
		t.Fatal(err)
	}
	// An idempotency key makes one release.
	in := appsvc.CreateReleaseRequest{Moves: []appsvc.ReleaseMove{move}, IdempotencyKey: "k"}
	first, err := w.As(ann).CreateRelease(ctx, in)
	again, err2 := w.As(ann).CreateRelease(ctx, in)
	if err != nil || err2 != nil || first.ID != again.ID {
		t.Errorf("%v, %v", err, err2)
	}
	// Who may see it.
	for by, want := range map[*vitrine.Caller]string{&nobody: vitrine.CodeNotFound, &reader: "",
		&owns: vitrine.CodeNotFound, &admin: ""} {
		_, err := w.As(*by).Release(ctx, first.ID)
		wantCode(t, err, want)
		page, err := w.As(*by).ListReleases(ctx, appsvc.ListReleasesRequest{})
		if err != nil || (len(page.Items) == 2) != (want == "") {
			t.Errorf("%d releases, %v", len(page.Items), err)
		}
	}
	_, err = w.As(ann).Release(ctx, "absent")
	_, hidden := w.As(nobody).Release(ctx, first.ID)
	checkHidden(t, hidden, err, first.ID, "absent")
	text, err := json.Marshal(full)
	var back appsvc.Release
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if back.Approvals, back.Conflicts, back.Ask = nil, nil, nil; err != nil || !reflect.DeepEqual(back, full) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestReleasesAreListed(t *testing.T) {
	ctx := context.Background()
	w, _ := releasing(t, appsvc.Options{})
	a, b := w.tagged("live"), w.tagged("live")
	var ids []string
	for n := range 5 {
		rel := w.release(ann, to([]string{a, b}[n%2], "live", 2))
		ids = append([]string{rel.ID}, ids...)
		if n > 2 {
			if _, err := w.As(ann).CancelRelease(ctx, rel.ID, rel.Version); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, test := range []struct {
		in   appsvc.ListReleasesRequest
		want []int
	}{
		{appsvc.ListReleasesRequest{}, []int{0, 1, 2, 3, 4}},
		{appsvc.ListReleasesRequest{State: appsvc.ReleaseCancelled}, []int{0, 1}},
		{appsvc.ListReleasesRequest{AppID: a}, []int{0, 2, 4}},
		{appsvc.ListReleasesRequest{AppID: a, State: appsvc.ReleaseOpen}, []int{2, 4}},
		{appsvc.ListReleasesRequest{AppID: "absent"}, nil},
	} {
		test.in.Limit = 1
		var want, got []string
		for _, n := range test.want {
			want = append(want, ids[n])
		}
		for rel, err := range w.As(ann).AllReleases(ctx, test.in) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rel.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %q, want %q", test.in, got, want)
		}
	}
	for _, in := range []appsvc.ListReleasesRequest{{State: "x"}, {After: "x"}, {Limit: 501}} {
		_, err := w.As(ann).ListReleases(ctx, in)
		wantCode(t, err, vitrine.CodeInvalid)
	}
}

func TestApproval(t *testing.T) {
	ctx := context.Background()
	inviters, disabled := map[string]string{}, map[string]bool{}
	w, _ := releasing(t, appsvc.Options{Rights: func(_ context.Context, urn string) (vitrine.Caller, []string, error) {
		switch {
		case disabled[urn]:
			return vitrine.Caller{}, nil, vitrine.ErrForbidden
		case urn == admin.URN:
			return vitrine.Caller{}, nil, vitrine.ErrNotFound
		}
		return vitrine.Caller{URN: urn, Moderates: []string{site1}}, []string{inviters[urn]}, nil
	}})
	id := w.tagged()
	rel := w.release(ann, to(id, "production", 0))
	if rel.Needs != 1 {
		t.Errorf("it needs %d approvals", rel.Needs)
	}
	run := func(by vitrine.Caller, want string) {
		t.Helper()
		now, _ := w.As(ann).Release(ctx, rel.ID)
		_, err := w.As(by).RunRelease(ctx, now.ID, now.Version)
		wantCode(t, err, want)
	}
	approve := func(by vitrine.Caller, want string) {
		t.Helper()
		now, _ := w.As(ann).Release(ctx, rel.ID)
		_, err := w.As(by).ApproveRelease(ctx, now.ID, now.Version)
		wantCode(t, err, want)
	}
	update := func(by vitrine.Caller, change func(*appsvc.UpdateReleaseRequest)) {
		t.Helper()
		now, _ := w.As(ann).Release(ctx, rel.ID)
		in := appsvc.UpdateReleaseRequest{ID: rel.ID, Version: now.Version, Name: now.Name, Note: now.Note,
			Moves: now.Moves}
		change(&in)
		if _, err := w.As(by).UpdateRelease(ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	run(ben, vitrine.CodeNeedsApproval)
	approve(ann, vitrine.CodeForbidden)
	program := ben
	program.Key = "vt_abc"
	approve(program, vitrine.CodeForbidden)
	inviters[ben.URN] = ann.URN
	approve(ben, vitrine.CodeForbidden)
	inviters[ben.URN] = ""
	other := vitrine.Caller{URN: network + ":user=x", Reads: []string{site1}}
	approve(other, vitrine.CodeForbidden)
	approve(nobody, vitrine.CodeNotFound)
	approve(ben, "")
	_, err := w.As(cat).ApproveRelease(ctx, rel.ID, rel.Version) // before the approval
	wantCode(t, err, vitrine.CodeStaleVersion)
	approve(ben, "") // changes nothing
	if now, _ := w.As(ann).Release(ctx, rel.ID); len(now.Approvals) != 1 || now.Version != vitrine.NewVersion(1) ||
		now.Approvals[0].By != ben.URN {
		t.Errorf("%+v", now)
	}
	disabled[ben.URN] = true
	run(cat, vitrine.CodeNeedsApproval)
	delete(disabled, ben.URN)
	inviters[ben.URN] = ann.URN
	run(cat, vitrine.CodeNeedsApproval)
	inviters[ben.URN] = ""
	// approvals stay, since the moves are the same
	update(ben, func(in *appsvc.UpdateReleaseRequest) { in.At = w.clock.UnixMilli() + 1000 })
	if now, _ := w.As(ann).Release(ctx, rel.ID); len(now.Approvals) != 1 || now.State != appsvc.ReleaseScheduled {
		t.Errorf("%+v", now)
	}
	update(cat, func(in *appsvc.UpdateReleaseRequest) { in.Moves[0].To = appsvc.PointsTo(vitrine.NewVersion(1)) })
	if now, _ := w.As(ann).Release(ctx, rel.ID); len(now.Approvals) != 0 || now.State != appsvc.ReleaseOpen {
		t.Errorf("%+v", now)
	}
	approve(cat, vitrine.CodeForbidden) // has changed it
	approve(admin, "")
	update(admin, func(in *appsvc.UpdateReleaseRequest) { in.Note = "changed after approving" })
	run(ben, vitrine.CodeNeedsApproval)
	approve(ben, "")
	w.rules("production=2")
	run(ben, vitrine.CodeNeedsApproval)
	w.rules("production=1")
	run(ann, "")
	if w.tagVersion(id, "production") != vitrine.NewVersion(1) {
		t.Error("the tag was not moved")
	}
	// A roll back cannot wait.
	_, err = w.As(ann).PutTag(ctx, appsvc.PutTagRequest{AppID: id, Name: "production", Rollback: true})
	wantCode(t, err, "")
}

func TestSchedule(t *testing.T) {
	ctx := context.Background()
	disabled := false
	w, store := releasing(t,
		appsvc.Options{Rights: func(_ context.Context, urn string) (vitrine.Caller, []string, error) {
			if disabled {
				return vitrine.Caller{}, nil, vitrine.ErrForbidden
			}
			return vitrine.Caller{}, nil, vitrine.ErrNotFound
		}})
	other := appsvc.New(store, &appsvc.Options{Now: func() time.Time { return w.clock }})
	id := w.tagged("live")
	v := vitrine.NewVersion[int]
	due := func() {
		t.Helper()
		var both sync.WaitGroup
		for _, s := range []*appsvc.Service{w.Service, other} {
			both.Go(func() {
				if err := s.RunDue(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
	}
	schedule := func(after time.Duration, move appsvc.ReleaseMove) appsvc.Release {
		t.Helper()
		rel, err := w.As(ann).CreateRelease(ctx,
			appsvc.CreateReleaseRequest{Moves: []appsvc.ReleaseMove{move}, At: w.clock.Add(after).UnixMilli()})
		if err != nil || rel.State != appsvc.ReleaseScheduled {
			t.Fatal(rel, err)
		}
		return rel
	}
	state := func(rel appsvc.Release, want appsvc.ReleaseState, conflict string) {
		t.Helper()
		now, err := w.As(ann).Release(ctx, rel.ID)
		has := ""
		if len(now.Conflicts) > 0 {
			has = now.Conflicts[0].Code
		}
		if err != nil || now.State != want || has != conflict || (want == appsvc.ReleaseOpen) != (now.At == 0) {
			t.Errorf("%+v, %v; want %s %q", now, err, want, conflict)
		}
	}
	rel := schedule(time.Minute, to(id, "live", 2))
	due()
	state(rel, appsvc.ReleaseScheduled, "")
	w.clock = w.clock.Add(time.Minute)
	due()
	state(rel, appsvc.ReleaseDone, "")
	if m := w.tagMoves(id, "live"); len(m) != 2 || m[0].By != ann.URN || m[0].To != v(2) {
		t.Errorf("moves %+v", m)
	}
	rel = schedule(time.Minute, to(id, "live", 0))
	w.clock = w.clock.Add(24*time.Hour + 59*time.Second)
	due() // 23:59:59 late
	state(rel, appsvc.ReleaseDone, "")
	rel = schedule(time.Minute, to(id, "live", 1))
	w.clock = w.clock.Add(24*time.Hour + time.Minute)
	due()
	state(rel, appsvc.ReleaseOpen, vitrine.ConflictMissed)
	rel = schedule(time.Minute, to(id, "production", 0))
	w.clock = w.clock.Add(time.Minute)
	due()
	state(rel, appsvc.ReleaseOpen, vitrine.CodeNeedsApproval)
	rel = schedule(time.Minute, to(id, "live", 1))
	w.putTag(id, "live", v(2))
	w.clock = w.clock.Add(time.Minute)
	due()
	state(rel, appsvc.ReleaseOpen, vitrine.CodeMoved)
	// The rights are those of the time.
	rel = schedule(time.Minute, to(id, "live", 1))
	w.regroup(id, []string{site1, site2})
	w.rules("live")
	w.clock = w.clock.Add(time.Minute)
	due()
	state(rel, appsvc.ReleaseOpen, vitrine.CodeForbidden)
	w.rules()
	rel = schedule(time.Minute, to(id, "live", 1))
	disabled = true
	w.clock = w.clock.Add(time.Minute)
	if err := w.RunDue(ctx); err != nil {
		t.Error(err)
	}
	state(rel, appsvc.ReleaseOpen, vitrine.CodeForbidden)
	disabled = false
	rel = schedule(time.Minute, to(id, "live", 1))
	wantCode(t, w.As(ann).DeleteApp(ctx, id), vitrine.CodeWrongState)
	if _, err := w.As(ann).CancelRelease(ctx, rel.ID, rel.Version); err != nil {
		t.Fatal(err)
	}
	rel = w.release(ann, to(id, "live", 1))
	wantCode(t, w.As(ann).DeleteApp(ctx, id), "")
	_, err := w.As(ann).RunRelease(ctx, rel.ID, rel.Version)
	if e := wantCode(t, err, vitrine.CodeConflicts); len(e.Conflicts) != 1 ||
		e.Conflicts[0].Code != vitrine.CodeNotFound {
		t.Errorf("conflicts %+v", e.Conflicts)
	}
	_, err = w.As(nobody).Release(ctx, rel.ID) // a deleted app counts as it was
	wantCode(t, err, vitrine.CodeNotFound)
	if _, err = w.As(ann).UndeleteApp(ctx, id); err != nil {
		t.Fatal(err)
	}
	// A change takes the time back, and so does cancelling.
	rel = schedule(time.Minute, to(id, "live", 1))
	now, err := w.As(ann).UpdateRelease(ctx,
		appsvc.UpdateReleaseRequest{ID: rel.ID, Version: rel.Version, Moves: []appsvc.ReleaseMove{to(id, "live", 1)}})
	if err != nil || now.State != appsvc.ReleaseOpen || now.At != 0 {
		t.Fatalf("%+v, %v", now, err)
	}
	rel = schedule(time.Minute, to(id, "live", 1))
	if _, err := w.As(ann).CancelRelease(ctx, rel.ID, rel.Version); err != nil {
		t.Fatal(err)
	}
	w.clock = w.clock.Add(time.Hour)
	due()
	if w.tagVersion(id, "live") != v(2) {
		t.Error("a release ran that was taken back")
	}
}
