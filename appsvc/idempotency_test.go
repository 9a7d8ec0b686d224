package appsvc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// keyed is an operation that takes an Idempotency-Key.
type keyed struct {
	name string
	// do does it, or the same with another input, and tells of the answer.
	do func(w *workshop, by vitrine.Caller, appID, key string, other bool) (string, error)
	// undo makes it possible, and noticeable, to do it again.
	undo func(w *workshop, appID string) error
}

var keyedOperations = []keyed{
	{"create", func(w *workshop, by vitrine.Caller, _, key string, other bool) (string, error) {
		app, err := w.As(by).CreateApp(context.Background(),
			appsvc.CreateAppRequest{Title: choose(other, "other", "one"), Groups: []string{site1}, IdempotencyKey: key})
		return string(app.Body) + app.ID + app.Version.String(), err
	}, func(*workshop, string) error { return nil }},
	{"restore", func(w *workshop, by vitrine.Caller, id, key string, other bool) (string, error) {
		app, err := w.As(by).Restore(context.Background(),
			appsvc.RestoreRequest{AppID: id, Version: choose(other, vitrine.NewVersion(2), vitrine.NewVersion(0)),
				IdempotencyKey: key})
		return string(app.Body) + app.ID + app.Version.String(), err
	}, func(*workshop, string) error { return nil }},
	{"put a tag", func(w *workshop, by vitrine.Caller, id, key string, other bool) (string, error) {
		tag, err := w.As(by).PutTag(context.Background(), appsvc.PutTagRequest{AppID: id, Name: "live",
			Version: choose(other, vitrine.NewVersion(1), vitrine.NewVersion(0)), Embed: true, IdempotencyKey: key})
		return fmt.Sprintf("%s of %s is %s, %s", tag.Name, tag.AppID, tag.AppVersion, textOf(tag.App)), err
	}, func(w *workshop, id string) error {
		_, err := w.As(admin).PutTag(context.Background(),
			appsvc.PutTagRequest{AppID: id, Name: "live", Version: vitrine.NewVersion(2)})
		return err
	}},
	{"put a tag of another name", func(w *workshop, by vitrine.Caller, id, key string, other bool) (string, error) {
		tag, err := w.As(by).PutTag(context.Background(),
			appsvc.PutTagRequest{AppID: id, Name: choose(other, "other", "live"), IdempotencyKey: key,
				Version: vitrine.NewVersion(0)})
		return fmt.Sprintf("%s of %s is %s, %s", tag.Name, tag.AppID, tag.AppVersion, textOf(tag.App)), err
	}, func(w *workshop, id string) error {
		_, err := w.As(admin).PutTag(context.Background(),
			appsvc.PutTagRequest{AppID: id, Name: "live", Version: vitrine.NewVersion(2)})
		return err
	}},
	{"delete a tag", func(w *workshop, by vitrine.Caller, id, key string, other bool) (string, error) {
		return "", w.As(by).DeleteTag(context.Background(),
			appsvc.DeleteTagRequest{AppID: id, Name: choose(other, "old", "live"), IdempotencyKey: key})
	}, func(w *workshop, id string) error {
		_, err := w.As(admin).PutTag(context.Background(),
			appsvc.PutTagRequest{AppID: id, Name: "live", Version: vitrine.NewVersion(2)})
		return err
	}},
	{"create a component", func(w *workshop, by vitrine.Caller, _, key string, other bool) (string, error) {
		c, err := w.As(by).CreateComponent(context.Background(), appsvc.CreateComponentRequest{
			Manifest: strings.NewReader(`{"name":"new","version":"` + choose(other, "2", "1") +
				`","main":"/one.js","configSchema":{}}`), IdempotencyKey: key})
		return fmt.Sprintf("%q", c), err
	}, func(w *workshop, _ string) error {
		return w.As(admin).DeleteComponent(context.Background(), appsvc.DeleteComponentRequest{Name: "new"})
	}},
	{"delete a component", func(w *workshop, by vitrine.Caller, _, key string, other bool) (string, error) {
		return "", w.As(by).DeleteComponent(context.Background(),
			appsvc.DeleteComponentRequest{Name: choose(other, "text", "any"), IdempotencyKey: key})
	}, func(w *workshop, _ string) error {
		w.component(`{"name":"any","version":"again","main":"/m.js","configSchema":{}}`)
		return nil
	}},
}

// onApp reports whether the operation is one on an app that exists.
func (op keyed) onApp() bool { return op.name != "create" && !strings.HasSuffix(op.name, "component") }

func choose[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// keyedApp is an app of versions 0 to 2 with the tags live and old.
func (w *workshop) keyedApp() string {
	w.t.Helper()
	id := w.app().ID
	w.regroup(id, []string{site1, site2})
	w.regroup(id, []string{site1})
	for _, tag := range []string{"live", "old"} {
		if _, err := w.As(admin).PutTag(context.Background(),
			appsvc.PutTagRequest{AppID: id, Name: tag, Version: vitrine.NewVersion(2)}); err != nil {
			w.t.Fatal(err)
		}
	}
	return id
}

// all tells of everything that is stored.
func (w *workshop) all() string {
	w.t.Helper()
	apps, _, err := unpage(w.As(admin).ListApps(context.Background(),
		appsvc.ListAppsRequest{Sort: appsvc.CreatedAscending}))
	list, _, err2 := listed(w.As(admin).ListComponents(context.Background(), appsvc.ListComponentsRequest{}))
	feed, err3 := w.As(admin).Changes(context.Background(), appsvc.ChangesRequest{Limit: 500})
	if err := errors.Join(err, err2, err3); err != nil {
		w.t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d changes\n", len(feed.Changes))
	for _, app := range apps {
		text.WriteString(w.everything(app.ID))
	}
	for _, c := range list {
		fmt.Fprintf(&text, "\n%s %s %s", c.Name, c.Version, c.Main)
	}
	return text.String()
}

// eachKeyed does each operation with the key k, undoes it, and hands over to fn, together with what
// the answer was.
func eachKeyed(t *testing.T, fn func(t *testing.T, w *workshop, op keyed, id, answer string)) {
	for _, op := range keyedOperations {
		t.Run(op.name, func(t *testing.T) {
			w := newWorkshop(t)
			id := w.keyedApp()
			answer, err := op.do(w, editor, id, "k", false)
			if err != nil {
				t.Fatal(err)
			}
			if err := op.undo(w, id); err != nil {
				t.Fatal(err)
			}
			fn(t, w, op, id, answer)
		})
	}
}

// checkRepeated does the operation again and wants the first answer, and nothing done.
func checkRepeated(t *testing.T, w *workshop, op keyed, id, answer string) {
	t.Helper()
	before := w.all()
	got, err := op.do(w, editor, id, "k", false)
	if err != nil || got != answer {
		t.Errorf("the repeat is answered %s, %v\nthe first was %s", got, err, answer)
	}
	if after := w.all(); after != before {
		t.Errorf("the repeat changed\n%s\ninto\n%s", before, after)
	}
}

// checkDone does the operation and wants it done, whatever was done before.
func checkDone(t *testing.T, w *workshop, op keyed, by vitrine.Caller, id, key string, other bool) {
	t.Helper()
	before := w.all()
	if _, err := op.do(w, by, id, key, other); err != nil {
		t.Error(err)
	}
	if after := w.all(); after == before {
		t.Errorf("nothing was done, there is still\n%s", before)
	}
}

// A repeat gets the first answer for a day, also when the app has moved on. Then the key is free for another input.
func TestARepeatGetsTheFirstAnswerForADay(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *workshop, op keyed, id, answer string) {
		checkRepeated(t, w, op, id, answer)
		w.clock = w.clock.Add(24*time.Hour - time.Millisecond)
		w.regroup(id, []string{site2, site1})
		checkRepeated(t, w, op, id, answer)
		w.clock = w.clock.Add(2 * time.Millisecond)
		checkDone(t, w, op, editor, id, "k", true)
	})
}

func TestAKeyStandsForOneInput(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *workshop, op keyed, id, answer string) {
		if op.onApp() {
			if _, err := op.do(w, editor, w.keyedApp(), "k", false); !errors.Is(err, vitrine.ErrUnprocessable) {
				t.Errorf("another app with the same key: error %v, want %v", err, vitrine.ErrUnprocessable)
			}
		}
		before := w.all()
		if _, err := op.do(w, editor, id, "k", true); !errors.Is(err, vitrine.ErrUnprocessable) {
			t.Errorf("another input with the same key: error %v, want %v", err, vitrine.ErrUnprocessable)
		}
		if after := w.all(); after != before {
			t.Errorf("it changed\n%s\ninto\n%s", before, after)
		}
		checkRepeated(t, w, op, id, answer)
		checkDone(t, w, op, editor, id, "k2", true)
	})
}

func TestAKeyStandsForOneOperation(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *workshop, op keyed, id, _ string) {
		for _, another := range keyedOperations {
			if strings.HasPrefix(another.name, "put a tag") && strings.HasPrefix(op.name, "put a tag") ||
				another.name == op.name {
				continue
			}
			if _, err := another.do(w, editor, id, "k", false); !errors.Is(err, vitrine.ErrUnprocessable) {
				t.Errorf("%s with the key of %s: error %v, want %v", another.name, op.name, err,
					vitrine.ErrUnprocessable)
			}
		}
	})
}

func TestAKeyIsItsCallersOwnAndNoOther(t *testing.T) {
	colleague := editor
	colleague.URN += "2"
	eachKeyed(t, func(t *testing.T, w *workshop, op keyed, id, _ string) {
		for _, c := range []struct {
			by  vitrine.Caller
			key string // "" = none at all
		}{{colleague, "k"}, {editor, "K"}, {editor, ""}} {
			checkDone(t, w, op, c.by, id, c.key, false)
			if err := op.undo(w, id); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestAnUpdateThatFailedIsNoAnswer(t *testing.T) {
	w := newWorkshop(t)
	in := appsvc.CreateAppRequest{Title: "x", Groups: []string{site1}, IdempotencyKey: "k",
		Elements: []appsvc.NewElement{{Component: appsvc.ComponentRef{Name: "late", Version: "1"},
			Config: []byte(`{}`)}}}
	if _, err := w.As(editor).CreateApp(context.Background(), in); !errors.Is(err, vitrine.ErrUnprocessable) {
		t.Fatalf("error %v, want %v", err, vitrine.ErrUnprocessable)
	}
	w.component(`{"name":"late","version":"1","main":"/m.js","configSchema":{}}`)
	first, err := w.As(editor).CreateApp(context.Background(), in)
	if err != nil {
		t.Fatalf("the same again, when it can be done: %v", err)
	}
	if again, err := w.As(editor).CreateApp(context.Background(), in); err != nil || again.ID != first.ID {
		t.Errorf("the repeat made %s after %s, %v", again.ID, first.ID, err)
	}
}

// Each operation is repeated by somebody who had the right then and has not now: to use the app, to manage components,
// or to create apps in the group.
func TestARepeatNeedsTheRightsOfToday(t *testing.T) {
	for _, op := range keyedOperations {
		t.Run(op.name, func(t *testing.T) {
			w, by := newWorkshop(t), moderator(site1)
			by.Components = true
			id := w.keyedApp()
			if _, err := op.do(w, by, id, "k", false); err != nil {
				t.Fatal(err)
			}
			if !op.onApp() {
				by.Moderates, by.Components = nil, false
				_, err := op.do(w, by, id, "k", false)
				checkKind(t, err, vitrine.ErrForbidden)
				return
			}
			w.regroup(id, []string{site2})
			_, hidden := op.do(w, by, id, "k", false)
			checkKind(t, hidden, vitrine.ErrNotFound)
			_, absent := op.do(w, by, absentID, "k", false)
			checkHidden(t, hidden, absent, id, absentID)
			_, other := op.do(w, by, id, "k", true)
			checkHidden(t, other, absent, id, absentID)
		})
	}
}

// What is kept of an answer are ids and versions, whatever was sent.
func TestNoBodyIsKeptForARepeat(t *testing.T) {
	const sent = "a text that stands in the body"
	ctx, store := context.Background(), memory.New()
	svc := appsvc.New(store, nil)
	app, err := svc.As(editor).CreateApp(ctx,
		appsvc.CreateAppRequest{Title: sent, Groups: []string{site1}, IdempotencyKey: "create"})
	if err != nil {
		t.Fatal(err)
	}
	manifest := `{"name":"new","version":"1","main":"/m.js","description":"` + sent + `","configSchema":{}}`
	made, err := svc.As(editor).CreateComponent(ctx,
		appsvc.CreateComponentRequest{Manifest: strings.NewReader(manifest), IdempotencyKey: "component"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = svc.As(editor).PutTag(ctx,
		appsvc.PutTagRequest{AppID: app.ID, Name: "live", Embed: true, IdempotencyKey: "tag",
			Version: vitrine.NewVersion(0)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := svc.As(editor).Restore(ctx,
		appsvc.RestoreRequest{AppID: app.ID, IdempotencyKey: "restore", Version: vitrine.NewVersion(0)}); err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, e := range stored(t, store, "answer/") {
		var a struct{ Result []byte }
		if err := json.Unmarshal(e.Value, &a); err != nil {
			t.Fatal(err)
		}
		kept++
		if len(a.Result) > 200 || bytes.Contains(a.Result, []byte(sent)) {
			t.Errorf("of the key %s is kept %s", e.Key, a.Result)
		}
	}
	if kept != 4 {
		t.Errorf("%d answers are kept, want 4", kept)
	}
	if err := svc.As(editor).DeleteComponent(ctx, appsvc.DeleteComponentRequest{Name: "new"}); err != nil {
		t.Fatal(err)
	}
	again, err := svc.As(editor).CreateComponent(ctx,
		appsvc.CreateComponentRequest{Manifest: strings.NewReader(manifest), IdempotencyKey: "component"})
	if err != nil || !reflect.DeepEqual(again, made) {
		t.Errorf("the repeat, when the component is gone, is answered %+v, %v\nthe first was %+v", again, err, made)
	}
}

func TestParallelRepeatsAreDoneOnce(t *testing.T) {
	const repeats = 16
	for _, op := range keyedOperations {
		t.Run(op.name, func(t *testing.T) {
			once, often := newWorkshop(t), newWorkshop(t)
			if _, err := op.do(once, editor, once.keyedApp(), "k", false); err != nil {
				t.Fatal(err)
			}
			id := often.keyedApp()
			var group sync.WaitGroup
			answers, errs := make([]string, repeats), make([]error, repeats)
			for i := range repeats {
				group.Go(func() { answers[i], errs[i] = op.do(often, editor, id, "k", false) })
			}
			group.Wait()
			for i := range repeats {
				if errs[i] != nil || answers[i] != answers[0] {
					t.Errorf("repeat %d: answer %s, %v\nanother one got %s", i, answers[i], errs[i], answers[0])
				}
			}
			if got, want := len(often.all()), len(once.all()); got != want { // ids differ, and are of one length
				t.Errorf("%d repeats left\n%s\none left\n%s", repeats, often.all(), once.all())
			}
		})
	}
}

// textOf is an app as it is answered, "" for none.
func textOf(app *appsvc.App) string {
	if app == nil {
		return ""
	}
	return string(app.AppendJSON(nil))
}
