package appsvc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/appsvc"
)

// keyed is an operation that takes an Idempotency-Key.
type keyed struct {
	name string
	// do does it, or the same with another input, and tells of the answer.
	do func(w *workshop, by appsvc.Caller, appID, key string, other bool) (string, error)
	// undo makes it possible, and noticeable, to do it again.
	undo func(w *workshop, appID string) error
}

var keyedOperations = []keyed{
	{"create", func(w *workshop, by appsvc.Caller, _, key string, other bool) (string, error) {
		app, err := w.CreateApp(context.Background(), by, appsvc.NewApp{Title: choose(other, "other", "one"), Groups: []string{site1}, IdempotencyKey: key})
		return string(app.Body) + app.ID + app.Version.String(), err
	}, func(*workshop, string) error { return nil }},
	{"restore", func(w *workshop, by appsvc.Caller, id, key string, other bool) (string, error) {
		app, err := w.Restore(context.Background(), by, appsvc.Restore{AppID: id, Version: choose(other, appsvc.Version(2), 0), IdempotencyKey: key})
		return string(app.Body) + app.ID + app.Version.String(), err
	}, func(*workshop, string) error { return nil }},
	{"put a tag", func(w *workshop, by appsvc.Caller, id, key string, other bool) (string, error) {
		page, err := w.PutTag(context.Background(), by, appsvc.PutTag{AppID: id, Name: "live", Version: choose(other, appsvc.Version(1), 0), Embed: true, IdempotencyKey: key})
		return fmt.Sprint(page), err
	}, func(w *workshop, id string) error {
		_, err := w.PutTag(context.Background(), admin, appsvc.PutTag{AppID: id, Name: "live", Version: 2})
		return err
	}},
	{"put a tag of another name", func(w *workshop, by appsvc.Caller, id, key string, other bool) (string, error) {
		page, err := w.PutTag(context.Background(), by, appsvc.PutTag{AppID: id, Name: choose(other, "other", "live"), IdempotencyKey: key})
		return fmt.Sprint(page), err
	}, func(w *workshop, id string) error {
		_, err := w.PutTag(context.Background(), admin, appsvc.PutTag{AppID: id, Name: "live", Version: 2})
		return err
	}},
	{"delete a tag", func(w *workshop, by appsvc.Caller, id, key string, other bool) (string, error) {
		return "", w.DeleteTag(context.Background(), by, id, choose(other, "old", "live"), key)
	}, func(w *workshop, id string) error {
		_, err := w.PutTag(context.Background(), admin, appsvc.PutTag{AppID: id, Name: "live", Version: 2})
		return err
	}},
	{"create a component", func(w *workshop, by appsvc.Caller, _, key string, other bool) (string, error) {
		c, err := w.CreateComponent(context.Background(), by, []byte(`{"name":"new","version":"1","main":"`+choose(other, "other", "one")+`.js","configSchema":{}}`), key)
		return fmt.Sprintf("%q", c), err
	}, func(w *workshop, _ string) error { return w.DeleteComponent(context.Background(), admin, "new", "") }},
	{"delete a component", func(w *workshop, by appsvc.Caller, _, key string, other bool) (string, error) {
		return "", w.DeleteComponent(context.Background(), by, choose(other, "text", "any"), key)
	}, func(w *workshop, _ string) error {
		w.component(`{"name":"any","version":"again","main":"m.js","configSchema":{}}`)
		return nil
	}},
}

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
		if _, err := w.PutTag(context.Background(), admin, appsvc.PutTag{AppID: id, Name: tag, Version: 2}); err != nil {
			w.t.Fatal(err)
		}
	}
	return id
}

// all tells of everything that is stored.
func (w *workshop) all() string {
	w.t.Helper()
	apps, _, err := w.Apps(context.Background(), admin, appsvc.ListApps{Sort: appsvc.CreatedAscending})
	list, _, err2 := w.Components(context.Background(), admin, "")
	if err := errors.Join(err, err2); err != nil {
		w.t.Fatal(err)
	}
	var text strings.Builder
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
func checkDone(t *testing.T, w *workshop, op keyed, by appsvc.Caller, id, key string, other bool) {
	t.Helper()
	before := w.all()
	if _, err := op.do(w, by, id, key, other); err != nil {
		t.Error(err)
	}
	if after := w.all(); after == before {
		t.Errorf("nothing was done, there is still\n%s", before)
	}
}

func TestARepeatGetsTheFirstAnswer(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *workshop, op keyed, id, answer string) {
		checkRepeated(t, w, op, id, answer)
		checkRepeated(t, w, op, id, answer)
	})
}

func TestARepeatGetsTheFirstAnswerAlsoWhenTheAppHasMovedOn(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *workshop, op keyed, id, answer string) {
		w.clock = w.clock.Add(time.Hour)
		w.regroup(id, []string{site2, site1})
		checkRepeated(t, w, op, id, answer)
	})
}

func TestAKeyStandsForOneInput(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *workshop, op keyed, id, answer string) {
		before := w.all()
		if _, err := op.do(w, editor, id, "k", true); !errors.Is(err, appsvc.ErrUnprocessable) {
			t.Errorf("another input with the same key: error %v, want %v", err, appsvc.ErrUnprocessable)
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
			if strings.HasPrefix(another.name, "put a tag") && strings.HasPrefix(op.name, "put a tag") || another.name == op.name {
				continue
			}
			if _, err := another.do(w, editor, id, "k", false); !errors.Is(err, appsvc.ErrUnprocessable) {
				t.Errorf("%s with the key of %s: error %v, want %v", another.name, op.name, err, appsvc.ErrUnprocessable)
			}
		}
	})
}

func TestAKeyIsItsCallersOwn(t *testing.T) {
	colleague := editor
	colleague.URN += "2"
	eachKeyed(t, func(t *testing.T, w *workshop, op keyed, id, _ string) {
		checkDone(t, w, op, colleague, id, "k", false)
	})
}

func TestOneKeyIsNoOther(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *workshop, op keyed, id, _ string) {
		checkDone(t, w, op, editor, id, "K", false)
	})
	eachKeyed(t, func(t *testing.T, w *workshop, op keyed, id, _ string) {
		checkDone(t, w, op, editor, id, "", false) // none at all
	})
}

func TestAKeyLivesForADay(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *workshop, op keyed, id, answer string) {
		w.clock = w.clock.Add(24*time.Hour - time.Millisecond)
		checkRepeated(t, w, op, id, answer)
		w.clock = w.clock.Add(2 * time.Millisecond)
		checkDone(t, w, op, editor, id, "k", false)
	})
	eachKeyed(t, func(t *testing.T, w *workshop, op keyed, id, _ string) {
		w.clock = w.clock.Add(24*time.Hour + time.Millisecond)
		checkDone(t, w, op, editor, id, "k", true) // another input, too
	})
}

func TestAnUpdateThatFailedIsNoAnswer(t *testing.T) {
	w := newWorkshop(t)
	in := appsvc.NewApp{Title: "x", Groups: []string{site1}, IdempotencyKey: "k",
		Elements: []appsvc.NewElement{{Component: appsvc.ComponentRef{Name: "late", Version: "1"}, Config: []byte(`{}`)}}}
	if _, err := w.CreateApp(context.Background(), editor, in); !errors.Is(err, appsvc.ErrUnprocessable) {
		t.Fatalf("error %v, want %v", err, appsvc.ErrUnprocessable)
	}
	w.component(`{"name":"late","version":"1","main":"m.js","configSchema":{}}`)
	first, err := w.CreateApp(context.Background(), editor, in)
	if err != nil {
		t.Fatalf("the same again, when it can be done: %v", err)
	}
	if again, err := w.CreateApp(context.Background(), editor, in); err != nil || again.ID != first.ID {
		t.Errorf("the repeat made %s after %s, %v", again.ID, first.ID, err)
	}
}

func TestARepeatShowsNothingThatIsHiddenByNow(t *testing.T) {
	w := newWorkshop(t)
	id, by := w.keyedApp(), moderator(site1)
	restore := appsvc.Restore{AppID: id, Version: 2, IdempotencyKey: "k"}
	if _, err := w.Restore(context.Background(), by, restore); err != nil {
		t.Fatal(err)
	}
	w.regroup(id, []string{site2})
	_, err := w.Restore(context.Background(), by, restore)
	checkKind(t, err, appsvc.ErrNotFound)
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
