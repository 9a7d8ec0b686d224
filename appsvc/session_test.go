package appsvc_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
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
