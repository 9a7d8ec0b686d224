package appsvc_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

func TestValuesGoIntoTheDocumentedJSONAndBack(t *testing.T) {
	w := newWorkshop(t)
	app := w.app()
	var again appsvc.App
	text, err := json.Marshal(app)
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil || !reflect.DeepEqual(again, app) {
		t.Errorf("%s comes back as %+v, %v", text, again, err)
	}
	tag := appsvc.Tag{AppID: app.ID, Name: "live", AppVersion: vitrine.NewVersion(12)}
	text, err = json.Marshal(tag)
	if want := `{"appId":"` + app.ID + `","name":"live","appVersion":"12"}`; err != nil || string(text) != want {
		t.Errorf("a tag is written %s, %v", text, err)
	}
	var tagAgain appsvc.Tag
	if err := json.Unmarshal(text, &tagAgain); err != nil || tagAgain != tag {
		t.Errorf("%s comes back as %+v, %v", text, tagAgain, err)
	}
	component, err := w.As(editor).Component(context.Background(), "text")
	if err != nil {
		t.Fatal(err)
	}
	var componentAgain appsvc.Component
	text, err = json.Marshal(component)
	if err == nil {
		err = json.Unmarshal(text, &componentAgain)
	}
	if err != nil || !reflect.DeepEqual(componentAgain, component) {
		t.Errorf("%s comes back as %+v, %v", text, componentAgain, err)
	}
	for _, text := range []string{`{}`, `{"id":"a"}`, `{"id":"a","version":"0"}`,
		`{"id":"a","version":"x","title":"","owner":null,"groups":[],"elements":[]}`} {
		if json.Unmarshal([]byte(text), &again) == nil {
			t.Errorf("%s passes for an app", text)
		}
	}
}

func TestRequestsWithoutAVersionAreInvalid(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	app := w.app()
	_, put := w.As(editor).PutTag(ctx, appsvc.PutTagRequest{AppID: app.ID, Name: "live"})
	_, restore := w.As(editor).Restore(ctx, appsvc.RestoreRequest{AppID: app.ID})
	_, read := w.As(editor).Version(ctx, app.ID, vitrine.Version{})
	for what, err := range map[string]error{"PutTag": put, "Restore": restore, "Version": read} {
		var e *vitrine.Error
		if !errors.As(err, &e) || e.Kind != vitrine.ErrInvalid || e.Pointer != "/appVersion" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if page, err := w.As(editor).ListVersions(ctx, appsvc.ListVersionsRequest{AppID: app.ID}); err != nil ||
		len(page.Items) != 1 {
		t.Errorf("the newest page has %d versions, %v", len(page.Items), err)
	}
}

// What a call would take more than its Session may is not done, and nothing is changed.
func TestASessionWithinSomeMemory(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	app := w.app()
	rename := func(s *appsvc.Session) error {
		_, err := s.Patch(ctx, app.ID,
			strings.NewReader("["+testV0+`,{"op":"replace","path":"/apps/0/title","value":"x"}]`))
		return err
	}
	calls := map[string]func(s *appsvc.Session) error{
		"Patch": rename,
		"Restore": func(s *appsvc.Session) error {
			_, err := s.Restore(ctx, appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.NewVersion(0)})
			return err
		},
		"Diff": func(s *appsvc.Session) error {
			_, err := s.Diff(ctx, app.ID, vitrine.NewVersion(0), vitrine.NewVersion(0))
			return err
		},
		"ListHistory": func(s *appsvc.Session) error {
			_, err := s.ListHistory(ctx, appsvc.ListHistoryRequest{AppID: app.ID})
			return err
		},
		"PutTag": func(s *appsvc.Session) error {
			in := appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: vitrine.NewVersion(0), Embed: true}
			_, err := s.PutTag(ctx, in)
			return err
		},
		"Tag": func(s *appsvc.Session) error {
			_, err := s.Tag(ctx, appsvc.TagRequest{AppID: app.ID, Name: "stable", Embed: true})
			return err
		},
	}
	w.putTag(app.ID, "stable", vitrine.NewVersion(0))
	before := w.everything(app.ID)
	for name, call := range calls {
		err := call(w.As(editor).Within(10))
		if short, ok := errors.AsType[*appsvc.MemoryError](err); !ok || short.Bytes <= 10 {
			t.Errorf("%s within 10 bytes: %v, want a *MemoryError with more", name, err)
		}
	}
	if w.everything(app.ID) != before {
		t.Error("something was changed")
	}
	if err := rename(w.As(editor).Within(1 << 20)); err != nil {
		t.Error(err)
	}
}

// What was only tried is neither stored nor read by anybody later.
func TestWhatWasTriedIsNotCached(t *testing.T) {
	db, one, ann := publishing(t)
	by := vitrine.Caller{URN: publisher + ":user=ann", Moderates: []string{publisher}}
	app, err := ann.CreateApp(t.Context(), appsvc.CreateAppRequest{Title: "a", Groups: []string{publisher}})
	if err != nil {
		t.Fatal(err)
	}
	other := appsvc.New(db, nil).As(by)
	retitle(t, ann.Trying(), app.ID, "tried")
	retitle(t, other, app.ID, "real")
	retitle(t, other, app.ID, "later")
	if got, err := one.As(by).Version(t.Context(), app.ID, vitrine.NewVersion(1)); err != nil || got.Title != "real" {
		t.Errorf("version 1 is %q: %v", got.Title, err)
	}
}
