package appsvc_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// watched is a service whose Check notes every change and answers with refuse.
type watched struct {
	*workshop
	seen   []appsvc.Change
	by     []string
	refuse error
}

func newWatched(t *testing.T) *watched {
	return watchedOn(t, memory.New())
}

func watchedOn(t *testing.T, store storage.Store) *watched {
	w := &watched{workshop: newWorkshop(t)}
	w.Service = appsvc.New(store,
		&appsvc.Options{Check: func(_ context.Context, by vitrine.Caller, c appsvc.Change) error {
			w.seen, w.by = append(w.seen, c), append(w.by, by.URN)
			return w.refuse
		}})
	w.component(`{"name":"text","version":"1.0.0","main":"https://example.test/text.js","configSchema":{}}`)
	w.component(`{"name":"any","version":"1","main":"/any.js","configSchema":{}}`)
	w.seen, w.by = nil, nil
	return w
}

// step is one call that changes something, and what Check is to see of it.
type step struct {
	name string
	do   func(w *watched, app appsvc.App) error
	want string
}

func ignoring[T any](_ T, err error) error { return err }

// The steps follow one another on one app, which is at version 0 before the first.
var steps = []step{
	{"create an app", func(w *watched, _ appsvc.App) error {
		return ignoring(w.As(editor).CreateApp(context.Background(),
			appsvc.CreateAppRequest{Title: "Second", Groups: []string{site1}}))
	}, `app.created  -> 0 groups [] -> [` + site1 + `] titles "" -> "Second"`},
	{"patch", func(w *watched, app appsvc.App) error {
		return ignoring(w.As(editor).Patch(context.Background(), app.ID,
			strings.NewReader(`[`+testV0+`,{"op":"replace","path":"/apps/0/title","value":"Winter"}]`)))
	}, `app.updated 0 -> 1 groups [` + site1 + `] -> [` + site1 + `] titles "First" -> "Winter"`},
	{"restore", func(w *watched, app appsvc.App) error {
		return ignoring(w.As(editor).Restore(context.Background(),
			appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.NewVersion(0)}))
	}, `app.restored 1 -> 2 groups [` + site1 + `] -> [` + site1 + `] titles "Winter" -> "First" of 0`},
	{"make a tag", func(w *watched, app appsvc.App) error {
		return ignoring(w.As(editor).PutTag(context.Background(),
			appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: vitrine.NewVersion(1)}))
	}, `tag.set live  -> 1 groups [` + site1 + `] -> [` + site1 + `] titles "" -> "Winter"`},
	{"move a tag", func(w *watched, app appsvc.App) error {
		return ignoring(w.As(editor).PutTag(context.Background(),
			appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: vitrine.Latest, Note: "why"}))
	}, `tag.set live (why) 1 -> 2 groups [` + site1 + `] -> [` + site1 + `] titles "" -> "First"`},
	{"delete a tag", func(w *watched, app appsvc.App) error {
		return w.As(editor).DeleteTag(context.Background(), appsvc.DeleteTagRequest{AppID: app.ID, Name: "live"})
	}, `tag.deleted live 2 ->  groups [` + site1 + `] -> [` + site1 + `] titles "" -> ""`},
	{"create a component", func(w *watched, _ appsvc.App) error {
		return ignoring(w.As(editor).CreateComponent(context.Background(),
			appsvc.CreateComponentRequest{
				Manifest: strings.NewReader(`{"name":"new","version":"3","main":"/new.js","configSchema":{}}`)}))
	}, `component.created new 3 /new.js`},
	{"delete a component", func(w *watched, _ appsvc.App) error {
		return w.As(editor).DeleteComponent(context.Background(), appsvc.DeleteComponentRequest{Name: "new"})
	}, `component.deleted new  `},
}

// say writes a change as the steps have it.
func say(t *testing.T, c appsvc.Change) string {
	if c.AppID == "" {
		return fmt.Sprintf("%s %s %s %s", c.Type, c.Component.Name, c.Component.Version, c.Component.Main)
	}
	var titles []string
	for _, body := range []appsvc.Body{c.Old, c.New} {
		if body == nil {
			titles = append(titles, "")
			continue
		}
		content, err := body.Content()
		if err != nil {
			t.Fatal(err)
		}
		titles = append(titles, content.Title)
	}
	out := string(c.Type)
	if c.Tag != "" {
		out += " " + c.Tag
	}
	if c.Note != "" {
		out += " (" + c.Note + ")"
	}
	out += fmt.Sprintf(" %s -> %s groups %v -> %v titles %q -> %q", c.From, c.To, c.Before.Groups, c.After.Groups,
		titles[0], titles[1])
	if !c.Restored.IsZero() {
		out += " of " + c.Restored.String()
	}
	return out
}

// again is a store that runs every update twice.
type again struct{ storage.Store }

var errAgain = errors.New("once more")

func (s again) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	err := s.Store.Update(ctx, space, o, func(tx storage.Tx) error { return errors.Join(fn(tx), errAgain) })
	if !errors.Is(err, errAgain) {
		return err
	}
	return s.Store.Update(ctx, space, o, fn)
}

// A check sees each change once, and the same change again when the transaction runs again.
func TestCheckSeesEveryChange(t *testing.T) {
	for times, store := range map[int]storage.Store{1: memory.New(), 2: again{memory.New()}} {
		w := watchedOn(t, store)
		app := w.app()
		for _, step := range steps {
			w.seen, w.by = nil, nil
			if err := step.do(w, app); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			if len(w.seen) != times || !slices.Equal(w.by, slices.Repeat([]string{editor.URN}, times)) {
				t.Fatalf("%s: %d changes are checked, by %v, want %d by the editor", step.name, len(w.seen), w.by,
					times)
			}
			feed, err := w.Outbox(t.Context(), vitrine.ChangesRequest{Limit: 500})
			if last := feed.Changes[len(feed.Changes)-1]; err != nil || last.At != w.seen[times-1].At {
				t.Errorf("%s: the check sees the time %d, and the event has %d, %v", step.name, w.seen[times-1].At,
					last.At, err)
			}
			for _, c := range w.seen {
				if got := say(t, c); got != step.want {
					t.Errorf("%s: the check sees\n%s\nwant\n%s", step.name, got, step.want)
				}
				if step.name != "create an app" && c.AppID != "" && c.AppID != app.ID {
					t.Errorf("%s: the check sees app %q, want %q", step.name, c.AppID, app.ID)
				}
			}
		}
	}
}

func TestARefusedChangeIsNotMade(t *testing.T) {
	own := &vitrine.Error{Kind: vitrine.ErrForbidden, Reason: "not on Fridays"}
	w := newWatched(t)
	app := w.app()
	for _, step := range steps {
		before := w.all()
		w.refuse = own
		err := step.do(w, app)
		if !errors.Is(err, own) || !errors.Is(err, vitrine.ErrForbidden) {
			t.Errorf("%s: %v, want the error of the check and ErrForbidden", step.name, err)
		}
		if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Code != vitrine.CodeRule || e.Error() != own.Error() ||
			err.Error() != own.Error() {
			t.Errorf("%s: the error is %v, want an *Error with the check's own sentence", step.name, err)
		}
		if after := w.all(); after != before {
			t.Errorf("%s was refused, and the store changed from\n%s\nto\n%s", step.name, before, after)
		}
		w.refuse = nil
		if err := step.do(w, app); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if after := w.all(); after == before {
			t.Errorf("%s was allowed, and nothing changed: this shows nothing", step.name)
		}
	}
}

func TestTheErrorOfACheckKeepsItsKind(t *testing.T) {
	own := errors.New("own")
	exact := &vitrine.Error{Kind: vitrine.ErrUnprocessable, Code: "frozen", Reason: "the front page is frozen"}
	for _, test := range []struct {
		name   string
		err    error
		kind   error
		code   string // "" = no *Error
		refuse error
	}{
		{"another kind", fmt.Errorf("%w: %w", vitrine.ErrUnprocessable, own), vitrine.ErrUnprocessable,
			vitrine.CodeRule, own},
		{"conflict", fmt.Errorf("later: %w", vitrine.ErrConflict), vitrine.ErrConflict, vitrine.CodeRule, nil},
		{"an Error", fmt.Errorf("rule 7: %w", exact), vitrine.ErrUnprocessable, "frozen", exact},
		{"an Error without a kind", &vitrine.Error{Reason: "no"}, vitrine.ErrForbidden, vitrine.CodeRule, nil},
		{"an Error without a reason", &vitrine.Error{Kind: vitrine.ErrInvalid}, vitrine.ErrInvalid, vitrine.CodeRule,
			nil},
		{"not found", fmt.Errorf("%w: %w", vitrine.ErrNotFound, own), vitrine.ErrNotFound, vitrine.CodeNotFound, own},
		{"an Error without a code", &vitrine.Error{Kind: vitrine.ErrTooLarge, Reason: "no"}, vitrine.ErrTooLarge,
			vitrine.CodeTooLarge, nil},
		{"busy", fmt.Errorf("directory: %w", vitrine.ErrBusy), vitrine.ErrBusy, "", nil},
		{"canceled", context.Canceled, context.Canceled, "", nil},
		{"a query without rows", fmt.Errorf("prices: %w", sql.ErrNoRows), sql.ErrNoRows, "", nil},
		{"any other error", own, own, "", nil},
	} {
		w := newWatched(t)
		app := w.app()
		w.refuse = test.err
		_, err := w.As(editor).Restore(context.Background(), appsvc.RestoreRequest{AppID: app.ID, Version: app.Version})
		if !errors.Is(err, test.kind) || test.refuse != nil && !errors.Is(err, test.refuse) {
			t.Errorf("%s: %v, want %v", test.name, err, test.kind)
		}
		if test.kind != vitrine.ErrForbidden && errors.Is(err, vitrine.ErrForbidden) {
			t.Errorf("%s: %v is ErrForbidden too", test.name, err)
		}
		if e, ok := errors.AsType[*vitrine.Error](err); ok != (test.code != "") || ok &&
			(e.Code != test.code || e.Pointer != "" || e.Reason == "") {
			t.Errorf("%s: the error is %#v, want the code %q", test.name, e, test.code)
		}
	}
}

// A rule gives a place in the app. The errors of Patch have it in the document of the patch.
func TestThePlaceThatARuleNames(t *testing.T) {
	for given, patched := range map[string]string{"": "", "/title": "/apps/0/title", "/apps/0": "/apps/0",
		"/apps/0/title": "/apps/0/title"} {
		w := newWatched(t)
		app := w.app()
		w.refuse = &vitrine.Error{Kind: vitrine.ErrUnprocessable, Pointer: given, Reason: "taken"}
		_, created := w.As(editor).CreateApp(t.Context(), appsvc.CreateAppRequest{Title: "x", Groups: []string{site1}})
		for range 2 { // the error of the program does not change
			_, err := w.As(editor).Edit(t.Context(), app.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
				p.SetTitle("x")
				return nil
			})
			for want, err := range map[string]error{given: created, patched: err} {
				if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Pointer != want {
					t.Errorf("%q becomes %v, want the place %q", given, err, want)
				}
			}
		}
	}
}

func TestWhatChangesNothingIsNotChecked(t *testing.T) {
	ctx, w := context.Background(), newWatched(t)
	app := w.app()
	put := appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: vitrine.NewVersion(0), IdempotencyKey: "k1"}
	if _, err := w.As(editor).PutTag(ctx, put); err != nil {
		t.Fatal(err)
	}
	create := appsvc.CreateAppRequest{Title: "Twice", Groups: []string{site1}, IdempotencyKey: "k2"}
	if _, err := w.As(editor).CreateApp(ctx, create); err != nil {
		t.Fatal(err)
	}
	w.seen, w.refuse = nil, vitrine.ErrForbidden
	if _, err := w.As(editor).PutTag(ctx, put); err != nil {
		t.Errorf("a repeat of PutTag: %v", err)
	}
	if _, err := w.As(editor).CreateApp(ctx, create); err != nil {
		t.Errorf("a repeat of CreateApp: %v", err)
	}
	put.IdempotencyKey = ""
	if _, err := w.As(editor).PutTag(ctx, put); err != nil {
		t.Errorf("PutTag to where the tag points: %v", err)
	}
	if _, err := w.As(editor).Patch(ctx, app.ID,
		strings.NewReader(`[`+testV0+`,{"op":"replace","path":"/apps/0/title","value":"First"}]`)); err != nil {
		t.Errorf("a patch that changes nothing: %v", err)
	}
	stranger := vitrine.Caller{URN: "urn:vitrine:example.test:user=stranger"}
	if err := w.As(stranger).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: app.ID, Name: "live"}); !errors.Is(err,
		vitrine.ErrNotFound) {
		t.Errorf("DeleteTag by a stranger: %v, want ErrNotFound", err)
	}
	if err := w.As(editor).DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: app.ID, Name: "other"}); !errors.Is(err,
		vitrine.ErrNotFound) {
		t.Errorf("DeleteTag of no tag: %v, want ErrNotFound", err)
	}
	if len(w.seen) > 0 {
		t.Errorf("%d changes were checked, first %s", len(w.seen), say(t, w.seen[0]))
	}
}

// Rows of a rule are committed with the change or not at all, are apart by name, and neither a list nor an audit takes
// them for records.
func TestRowsOfARuleGoWithTheChange(t *testing.T) {
	onStores(t, func(t *testing.T, db storage.Store) {
		ctx, refuse := context.Background(), false
		var seen []string
		s := appsvc.New(db, &appsvc.Options{Check: func(ctx context.Context, _ vitrine.Caller, c appsvc.Change) error {
			seen = nil
			for _, name := range []string{"a", "a/b", "b"} {
				for e, err := range c.Rows(name).Scan(ctx, storage.Range{}) {
					if err != nil {
						return err
					}
					seen = append(seen, fmt.Sprint(name, " ", e.Key, "=", string(e.Value)))
				}
			}
			if err := c.Rows("a/b").Put(ctx,
				storage.Entry{Key: "last " + titleOf(c.New), Value: []byte(c.AppID)}); err != nil {
				return err
			}
			if refuse {
				return fmt.Errorf("%w: refused by the test", vitrine.ErrForbidden)
			}
			return nil
		}, NewID: func() string { return "7" }})
		_, err := s.As(editor).CreateApp(ctx, appsvc.CreateAppRequest{Title: "x", Groups: []string{site1}})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			refuse = true
			if _, err := s.As(editor).Patch(ctx, "7",
				strings.NewReader(`[`+testV0+
					`,{"op":"replace","path":"/apps/0/title","value":"refused"}]`)); err == nil {
				t.Fatal("the change is not refused")
			}
			if want := []string{"a/b last x=7"}; !slices.Equal(seen, want) {
				t.Errorf("the rule sees the rows %q, want %q", seen, want)
			}
		}
		for f, err := range appsvc.Maintenance(appsvc.Limits{}).Audit(ctx, db) {
			t.Errorf("the audit finds %v, %v", f, err)
		}
		if got := stored(t, db, "x/"); len(got) != 1 || !strings.HasPrefix(got[0].Key, "apps x/a!ob/") {
			t.Errorf("the store has %q", got)
		}
	})
}

func titleOf(b appsvc.Body) string {
	content, _ := b.Content()
	return content.Title
}

// An error of the store that Rows meets is no refusal of the rule, unless the rule says so.
func TestAnErrorOfTheStoreIsNoRefusal(t *testing.T) {
	long := strings.Repeat("k", storage.MaxKey)
	for name, use := range map[string]func(context.Context, storage.Tx) error{
		"get": func(ctx context.Context, rows storage.Tx) error { _, err := rows.Get(ctx, long); return err },
		"put": func(ctx context.Context, rows storage.Tx) error { return rows.Put(ctx, storage.Entry{Key: long}) },
		"delete": func(ctx context.Context, rows storage.Tx) error {
			return fmt.Errorf("quota: %w", rows.Delete(ctx, long))
		},
		"range": func(ctx context.Context, rows storage.Tx) error {
			return rows.DeleteRange(ctx, storage.Range{Limit: 1})
		},
	} {
		decides := false
		s := appsvc.New(memory.New(),
			&appsvc.Options{Check: func(ctx context.Context, _ vitrine.Caller, c appsvc.Change) error {
				err := use(ctx, c.Rows("r"))
				if decides {
					return fmt.Errorf("%w: %w", vitrine.ErrUnprocessable, err)
				}
				return err
			}})
		create := func() error {
			return ignoring(s.As(editor).CreateApp(t.Context(),
				appsvc.CreateAppRequest{Title: "First", Groups: []string{site1}}))
		}
		err := create()
		if _, refused := errors.AsType[*vitrine.Error](err); err == nil || refused ||
			errors.Is(err, vitrine.ErrForbidden) {
			t.Errorf("%s: %v, want the error of the store as it is", name, err)
		}
		if decides = true; !errors.Is(create(), vitrine.ErrUnprocessable) {
			t.Errorf("%s: the kind that the rule has given is lost", name)
		}
	}
}

// An id without characters is an error where it is used first, and nothing is stored.
func TestAnEmptyIDIsAnError(t *testing.T) {
	ids := []string{"a", ""}
	s := appsvc.New(
		memory.New(memory.Options{NewID: func() string { id := ids[0]; ids = append(ids[1:], ""); return id }}), nil)
	app, err := s.As(editor).CreateApp(t.Context(), appsvc.CreateAppRequest{Title: "First", Groups: []string{site1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"app": ignoring(s.As(editor).CreateApp(t.Context(),
			appsvc.CreateAppRequest{Title: "Second", Groups: []string{site1}})),
		"component": ignoring(s.As(editor).CreateComponent(t.Context(), appsvc.CreateComponentRequest{
			Manifest: strings.NewReader(`{"name":"new","version":"3","main":"/new.js","configSchema":{}}`)})),
		"release": ignoring(s.As(editor).CreateRelease(t.Context(), appsvc.CreateReleaseRequest{Name: "spring",
			Moves: []appsvc.ReleaseMove{{AppID: app.ID, Tag: "live", To: appsvc.PointsTo(app.Version)}}})),
	} {
		if err == nil || !strings.Contains(err.Error(), "Options.NewID") {
			t.Errorf("%s: %v, want one that names Options.NewID", name, err)
		}
	}
}
