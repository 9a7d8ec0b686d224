package appsvc_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// plan schedules a release of ann that runs in a minute and ends in two.
func (w *workshop) plan(moves ...appsvc.ReleaseMove) appsvc.Release {
	w.t.Helper()
	rel, err := w.As(ann).CreateRelease(context.Background(), appsvc.CreateReleaseRequest{Moves: moves,
		At: w.clock.Add(time.Minute).UnixMilli(), Until: w.clock.Add(2 * time.Minute).UnixMilli()})
	if err != nil || rel.State != appsvc.ReleaseScheduled {
		w.t.Fatal(rel, err)
	}
	return rel
}

// due lets some time pass, and two processes ask for what is due.
func (w *workshop) due(after time.Duration, other *appsvc.Service) {
	w.t.Helper()
	w.clock = w.clock.Add(after)
	var both sync.WaitGroup
	for _, s := range []*appsvc.Service{w.Service, other} {
		both.Go(func() {
			if err := s.RunDue(context.Background()); err != nil {
				w.t.Error(err)
			}
		})
	}
	both.Wait()
}

// is checks the state of a release and the code of its first conflict, "" for none.
func (w *workshop) is(id string, state appsvc.ReleaseState, conflict string) appsvc.Release {
	w.t.Helper()
	now, err := w.As(ann).Release(context.Background(), id)
	has := ""
	if len(now.Conflicts) > 0 {
		has = now.Conflicts[0].Code
	}
	if err != nil || now.State != state || has != conflict {
		w.t.Fatalf("%+v, %v; want %s %q", now, err, state, conflict)
	}
	return now
}

func TestAReleaseEnds(t *testing.T) {
	ctx := context.Background()
	w, store := releasing(t, appsvc.Options{})
	other := appsvc.New(store, &appsvc.Options{Now: func() time.Time { return w.clock }})
	a, b, v := w.tagged("live"), w.tagged(), vitrine.NewVersion[int]
	rel := w.plan(to(a, "live", 2), to(a, "new", 0), to(b, "production", 2))
	if _, err := w.As(ben).ApproveRelease(ctx, rel.ID, rel.Version); err != nil {
		t.Fatal(err)
	}
	w.due(time.Minute, other)
	done := w.is(rel.ID, appsvc.ReleaseDone, "")
	if w.tagVersion(a, "live") != v(2) || w.tagVersion(a, "new") != v(0) || done.Until != rel.Until {
		t.Fatalf("%+v", done)
	}
	wantCode(t, w.As(ann).DeleteApp(ctx, a), vitrine.CodeWrongState)
	_, err := w.As(ann).UpdateRelease(ctx, appsvc.UpdateReleaseRequest{ID: rel.ID, Version: done.Version,
		Moves: done.Moves, At: done.At, Until: done.Until + 1000})
	wantCode(t, err, vitrine.CodeWrongState)
	w.rules("production=2") // which its end does not need
	w.due(time.Minute-time.Millisecond, other)
	w.is(rel.ID, appsvc.ReleaseDone, "")
	w.due(time.Millisecond, other)
	ended := w.is(rel.ID, appsvc.ReleaseCancelled, "")
	if ended.RanAt != done.RanAt || ended.Until != rel.Until {
		t.Errorf("%+v", ended)
	}
	w.due(time.Minute, other)
	for _, tag := range []struct {
		app, name string
		want      vitrine.Version
		moves     int
	}{{a, "live", v(1), 3}, {a, "new", vitrine.Version{}, 2}, {b, "production", vitrine.Version{}, 2}} {
		m := w.tagMoves(tag.app, tag.name)
		if w.tagVersion(tag.app, tag.name) != tag.want || len(m) != tag.moves {
			t.Errorf("%s points to %q after the moves %+v", tag.name, w.tagVersion(tag.app, tag.name), m)
		}
		if !m[0].Rollback || m[0].Release != rel.ID || m[0].By != ann.URN || m[0].At != ended.UpdatedAt {
			t.Errorf("move %+v", m[0])
		}
	}
	var states []appsvc.ReleaseState
	for e, err := range allEvents(ctx, w) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == appsvc.ReleaseChanged {
			states = append(states, e.State)
		}
	}
	if want := []appsvc.ReleaseState{"scheduled", "scheduled", "done", "cancelled"}; !slices.Equal(states, want) {
		t.Errorf("events of states %q", states)
	}
	_, err = w.As(ann).UndoRelease(ctx, rel.ID, ended.Version)
	wantCode(t, err, vitrine.CodeWrongState)
	wantCode(t, w.As(ann).DeleteApp(ctx, a), "")
	text, err := json.Marshal(ended)
	var back appsvc.Release
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	back.Conflicts, ended.Conflicts, back.Ask, ended.Ask = nil, nil, nil, nil
	if err != nil || !reflect.DeepEqual(back, ended) {
		t.Errorf("%s, %v", text, err)
	}
}

// An end that is refused, in conflict or too late moves nothing, is not tried again, and leaves the release as it is.
func TestAnEndThatCannotBe(t *testing.T) {
	ctx := context.Background()
	disabled := map[string]bool{}
	w, store := releasing(t,
		appsvc.Options{Rights: func(_ context.Context, urn string) (vitrine.Caller, []string, error) {
			if disabled[urn] {
				return vitrine.Caller{}, nil, vitrine.ErrForbidden
			}
			return vitrine.Caller{}, nil, vitrine.ErrNotFound
		}})
	other := appsvc.New(store, &appsvc.Options{Now: func() time.Time { return w.clock }})
	v := vitrine.NewVersion[int]
	for _, test := range []struct {
		name  string
		spoil func(id string)
		late  time.Duration
		want  string
	}{
		{"the runner lost the right", func(id string) {
			w.regroup(id, []string{site1, site2})
			w.rules("next")
		}, 0, vitrine.CodeForbidden},
		{"somebody has moved a tag", func(id string) { w.putTag(id, "live", v(0)) }, 0, vitrine.CodeMoved},
		{"somebody has moved a tag there and back", func(id string) {
			w.putTag(id, "live", v(0))
			w.putTag(id, "live", v(2))
		}, 0, vitrine.CodeMoved},
		{"no process was up", func(string) {}, 24 * time.Hour, vitrine.ConflictMissed},
	} {
		t.Run(test.name, func(t *testing.T) {
			id := w.tagged("live", "next")
			rel := w.plan(to(id, "live", 2), to(id, "next", 2))
			w.due(time.Minute, other)
			test.spoil(id)
			was := w.tagVersion(id, "live")
			w.due(time.Minute+test.late, other)
			now := w.is(rel.ID, appsvc.ReleaseDone, test.want)
			if w.tagVersion(id, "live") != was || w.tagVersion(id, "next") != v(2) || now.Until != rel.Until {
				t.Errorf("%+v", now)
			}
			w.due(time.Minute, other)
			if again := w.is(rel.ID, appsvc.ReleaseDone, test.want); again.Version != now.Version {
				t.Errorf("it was tried again: %+v", again)
			}
			inbox, err := w.As(ann).Inbox(ctx, appsvc.InboxRequest{})
			if err != nil || len(inbox.Items) == 0 || inbox.Items[0].Kind != appsvc.InboxFailed ||
				inbox.Items[0].Release != rel.ID {
				t.Errorf("in the inbox: %+v, %v", inbox, err)
			}
			_, err = w.As(admin).CancelRelease(ctx, rel.ID, now.Version)
			wantCode(t, err, vitrine.CodeWrongState) // no end is to come
			w.rules("production=1")
			wantCode(t, w.As(admin).DeleteApp(ctx, id), "")
		})
	}
	// It is the runner who counts, by hand too, and not who has set the time.
	id := w.tagged("live")
	rel := w.plan(to(id, "live", 2))
	if _, err := w.As(ben).RunRelease(ctx, rel.ID, rel.Version); err != nil {
		t.Fatal(err)
	}
	disabled[ann.URN] = true
	w.due(2*time.Minute, w.Service)
	w.is(rel.ID, appsvc.ReleaseCancelled, "")
	disabled[ann.URN] = false
	rel = w.plan(to(id, "live", 2))
	if _, err := w.As(ben).RunRelease(ctx, rel.ID, rel.Version); err != nil {
		t.Fatal(err)
	}
	disabled[ben.URN] = true
	w.due(2*time.Minute, w.Service)
	failed := w.is(rel.ID, appsvc.ReleaseDone, vitrine.CodeForbidden)
	// Whoever may, undoes it by hand.
	undone, err := w.As(ann).UndoRelease(ctx, rel.ID, failed.Version)
	if err != nil || undone.State != appsvc.ReleaseCancelled || undone.Until != 0 || len(undone.Conflicts) > 0 {
		t.Errorf("%+v, %v", undone, err)
	}
}

func TestAnEndThatIsCalledOff(t *testing.T) {
	ctx := context.Background()
	w, store := releasing(t, appsvc.Options{})
	other := appsvc.New(store, &appsvc.Options{Now: func() time.Time { return w.clock }})
	v := vitrine.NewVersion[int]
	id := w.tagged("live")
	rel := w.plan(to(id, "live", 2))
	w.due(time.Minute, other)
	done := w.is(rel.ID, appsvc.ReleaseDone, "")
	_, err := w.As(ann).CancelRelease(ctx, rel.ID, rel.Version)
	wantCode(t, err, vitrine.CodeStaleVersion)
	_, err = w.As(nobody).CancelRelease(ctx, rel.ID, done.Version)
	wantCode(t, err, vitrine.CodeNotFound)
	kept, err := w.As(ben).CancelRelease(ctx, rel.ID, done.Version)
	if err != nil || kept.State != appsvc.ReleaseDone || kept.Until != 0 || kept.RanAt != done.RanAt {
		t.Fatalf("%+v, %v", kept, err)
	}
	w.due(time.Hour, other)
	if w.is(rel.ID, appsvc.ReleaseDone, ""); w.tagVersion(id, "live") != v(2) {
		t.Error("an end came that was called off")
	}
	wantCode(t, w.As(ann).DeleteApp(ctx, id), "")

	// Undone by hand, it does not end once more.
	id = w.tagged("live")
	rel = w.plan(to(id, "live", 2))
	w.due(time.Minute, other)
	undone, err := w.As(ann).UndoRelease(ctx, rel.ID, w.is(rel.ID, appsvc.ReleaseDone, "").Version)
	if err != nil || undone.Until != 0 {
		t.Fatalf("%+v, %v", undone, err)
	}
	w.due(time.Hour, other)
	if m := w.tagMoves(id, "live"); len(m) != 3 {
		t.Errorf("moves %+v", m)
	}

	// Cancelled in the moment of its end, it is one or the other.
	for range 20 {
		id := w.tagged("live")
		rel := w.plan(to(id, "live", 2))
		w.due(time.Minute, other)
		done := w.is(rel.ID, appsvc.ReleaseDone, "")
		w.clock = w.clock.Add(time.Minute)
		var both sync.WaitGroup
		both.Go(func() {
			if err := other.RunDue(ctx); err != nil {
				t.Error(err)
			}
		})
		_, err := w.As(ann).CancelRelease(ctx, rel.ID, done.Version)
		both.Wait()
		if err == nil {
			w.is(rel.ID, appsvc.ReleaseDone, "")
		} else if wantCode(t, err, vitrine.CodeStaleVersion); true {
			w.is(rel.ID, appsvc.ReleaseCancelled, "")
		}
		if want := map[bool]int{true: 2, false: 1}[err == nil]; w.tagVersion(id, "live") != v(want) {
			t.Errorf("cancelled with %v, and the tag points to %q", err, w.tagVersion(id, "live"))
		}
	}
}

// A release that begins when another one ends finds the tags as they were before that one.
func TestAnEndComesBeforeABeginning(t *testing.T) {
	ctx := context.Background()
	w, _ := releasing(t, appsvc.Options{})
	for range 4 { // their ids are random
		id := w.tagged("live")
		first := w.plan(to(id, "live", 2))
		second, err := w.As(ann).CreateRelease(ctx, appsvc.CreateReleaseRequest{
			Moves: []appsvc.ReleaseMove{to(id, "live", 0)}, At: first.Until})
		if err != nil {
			t.Fatal(err)
		}
		w.due(time.Minute, w.Service)
		w.due(time.Minute, w.Service)
		w.is(first.ID, appsvc.ReleaseCancelled, "")
		w.is(second.ID, appsvc.ReleaseDone, "")
	}
	// After its end it is not run any more.
	id := w.tagged("live")
	rel := w.plan(to(id, "live", 2))
	w.due(2*time.Minute, w.Service)
	if now := w.is(rel.ID, appsvc.ReleaseOpen, vitrine.ConflictMissed); now.At != 0 || now.Until != 0 {
		t.Errorf("%+v", now)
	}
}

func TestWhatAnEndMayBe(t *testing.T) {
	ctx := context.Background()
	w, _ := releasing(t, appsvc.Options{})
	id := w.tagged("live")
	at, day := w.clock.Add(time.Minute).UnixMilli(), int64(24*3600*1000)
	for _, test := range []struct {
		at, until int64
		want      string
	}{{at, at, "/until"}, {at, at + 90*day + 1, "/until"}, {at, at + 90*day, ""}, {0, at, "/until"},
		{at, -1, "/until"}} {
		_, err := w.As(ann).CreateRelease(ctx, appsvc.CreateReleaseRequest{
			Moves: []appsvc.ReleaseMove{to(id, "live", 2)}, At: test.at, Until: test.until})
		if e := wantCode(t, err, map[bool]string{true: vitrine.CodeInvalid}[test.want != ""]); e.Pointer != test.want {
			t.Errorf("%+v: %v", test, err)
		}
	}
	stays := to(id, "live", 1)
	for range 2 { // without and with its beginning
		_, err := w.As(ann).CreateRelease(ctx, appsvc.CreateReleaseRequest{
			Moves: []appsvc.ReleaseMove{to(id, "new", 0), stays}})
		if e := wantCode(t, err, vitrine.CodeInvalid); e.Pointer != "/moves/1/to" {
			t.Error(err)
		}
		stays.From = stays.To
	}
	rel := w.release(ann, to(id, "live", 2))
	_, err := w.As(ann).UpdateRelease(ctx,
		appsvc.UpdateReleaseRequest{ID: rel.ID, Version: rel.Version, Moves: []appsvc.ReleaseMove{stays}})
	wantCode(t, err, vitrine.CodeInvalid)
	// A change of the times alone takes no approval away, and without a time there is no end.
	rel = w.plan(to(id, "production", 0))
	rel, err = w.As(ben).ApproveRelease(ctx, rel.ID, rel.Version)
	if err != nil {
		t.Fatal(err)
	}
	in := appsvc.UpdateReleaseRequest{ID: rel.ID, Version: rel.Version, Moves: rel.Moves, At: rel.At,
		Until: rel.Until + 1000}
	rel, err = w.As(cat).UpdateRelease(ctx, in)
	if err != nil || len(rel.Approvals) != 1 || rel.Until != in.Until {
		t.Fatalf("%+v, %v", rel, err)
	}
	in.Version, in.At = rel.Version, 0
	_, err = w.As(ann).UpdateRelease(ctx, in)
	wantCode(t, err, vitrine.CodeInvalid)
	in.Until = 0
	rel, err = w.As(ann).UpdateRelease(ctx, in)
	if err != nil || rel.State != appsvc.ReleaseOpen || rel.Until != 0 {
		t.Errorf("%+v, %v", rel, err)
	}
}
