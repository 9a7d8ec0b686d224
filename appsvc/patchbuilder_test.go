package appsvc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestABuiltPatchDoesWhatItsMethodsSay(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	app := w.app()
	added := appsvc.NewElement{Component: appsvc.ComponentRef{Name: "any", Version: "1"},
		Config: json.RawMessage(`{"n":1.10}`)}
	patch, err := appsvc.NewPatchBuilder(app).
		SetTitle("Second").
		SetGroups(site1).
		SetConfig(0, "/size", 7).
		SetConfig(1, "/new", json.RawMessage(`{"list":[1]}`)).
		SetConfig(1, "/new/list/-", 2).
		SetConfig(1, "/new/list/0", "first").
		InsertElement(0, added).
		AppendElement(added).
		MoveElement(0, 2).
		RemoveElement(3).
		Bytes()
	if err != nil {
		t.Fatal(err)
	}
	after, err := w.As(editor).Patch(ctx, app.ID, bytes.NewReader(patch))
	if err != nil {
		t.Fatalf("%s: %v", patch, err)
	}
	c, err := after.Body.Content()
	if err != nil || c.Title != "Second" || len(c.Elements) != 3 {
		t.Fatalf("%s, %v", after.Body, err)
	}
	var configs []string
	for _, e := range c.Elements {
		configs = append(configs, string(e.Config))
	}
	if !strings.Contains(configs[0], `"size":7`) || !strings.Contains(configs[1], `"new":{"list":["first",2]}`) ||
		configs[2] != `{"n":1.10}` {
		t.Errorf("the configs are %s", configs)
	}
	if patch, err = appsvc.NewPatchBuilder(after).RemoveConfig(1, "/new").SetComponent(0,
		appsvc.ComponentRef{Name: "any", Version: "1"}).Bytes(); err != nil {
		t.Fatal(err)
	}
	if after, err = w.As(editor).Patch(ctx, app.ID, bytes.NewReader(patch)); err != nil ||
		strings.Contains(string(after.Body), `"new"`) {
		t.Errorf("%s, %v", after.Body, err)
	}
}

func TestTheFirstMistakeInAPatchIsTold(t *testing.T) {
	app := newWorkshop(t).app()
	for name, p := range map[string]*appsvc.PatchBuilder{
		"an element that is not there": appsvc.NewPatchBuilder(app).SetConfig(9, "/size", 1),
		"a removal of what is missing": appsvc.NewPatchBuilder(app).RemoveConfig(0, "/none"),
		"a removal of a whole config":  appsvc.NewPatchBuilder(app).RemoveConfig(0, ""),
		"a value that is not JSON":     appsvc.NewPatchBuilder(app).SetConfig(0, "/size", func() {}),
		"a config that is not JSON": appsvc.NewPatchBuilder(app).AppendElement(
			appsvc.NewElement{Config: json.RawMessage(`{`)}),
		"an insertion beyond the end": appsvc.NewPatchBuilder(app).InsertElement(7,
			appsvc.NewElement{Config: json.RawMessage(`{}`)}),
		"a move of what is not there":   appsvc.NewPatchBuilder(app).MoveElement(5, 0),
		"a mistake before what is good": appsvc.NewPatchBuilder(app).RemoveElement(8).SetTitle("x"),
	} {
		if _, err := p.Bytes(); err == nil || p.Err() == nil {
			t.Errorf("%s is not told", name)
		}
	}
}

func TestChangeStartsOverWhenSomebodyWasFaster(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	app, runs := w.app(), 0
	other := func() {
		if _, err := w.As(editor).Edit(ctx, app.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
			p.SetTitle(fmt.Sprint("other ", runs))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	after, err := w.As(editor).Edit(ctx, app.ID, func(now appsvc.App, p *appsvc.PatchBuilder) error {
		if runs++; runs < 4 {
			other()
		}
		p.SetConfig(0, "/size", runs)
		return nil
	})
	if err != nil || runs != 4 || after.Version.Number() != 4 || !strings.Contains(string(after.Body), "other 3") ||
		!strings.Contains(string(after.Body), `"size":4`) {
		t.Errorf("after %d runs: version %s, %s, %v", runs, after.Version, after.Body, err)
	}
	runs = 0
	_, err = w.As(editor).Edit(ctx, app.ID, func(now appsvc.App, p *appsvc.PatchBuilder) error {
		runs++
		other()
		p.SetConfig(0, "/size", runs)
		return nil
	})
	if !errors.Is(err, vitrine.ErrConflict) || runs != 10 {
		t.Errorf("an app that never rests: %d runs, %v", runs, err)
	}
	stop := errors.New("stop")
	if _, err := w.As(editor).Edit(ctx, app.ID, func(appsvc.App, *appsvc.PatchBuilder) error {
		return stop
	}); !errors.Is(err, stop) {
		t.Errorf("an error of the function is %v", err)
	}
	before, _ := w.As(editor).App(ctx, app.ID)
	if same, err := w.As(editor).Edit(ctx, app.ID, func(appsvc.App, *appsvc.PatchBuilder) error {
		return nil
	}); err != nil || same.Version != before.Version {
		t.Errorf("nothing to change: version %s, %v", same.Version, err)
	}
}

// A conflict that a rule of the program reports does not go away: Edit repeats the change once, and not as often as on
// a busy app.
func TestEditDoesNotRepeatWhatARuleRejects(t *testing.T) {
	const site = "urn:vitrine:example.test:site=1"
	me := vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: []string{site}}
	apps := appsvc.New(memory.New(),
		&appsvc.Options{Check: func(_ context.Context, _ vitrine.Caller, c appsvc.Change) error {
			if c.After.Title == "Taken" {
				return vitrine.ErrConflict
			}
			return nil
		}})
	app, err := apps.As(me).CreateApp(t.Context(), appsvc.CreateAppRequest{Title: "Front page", Groups: []string{site}})
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	_, err = apps.As(me).Edit(t.Context(), app.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
		calls++
		p.SetTitle("Taken")
		return nil
	})
	if !errors.Is(err, vitrine.ErrConflict) || calls != 2 {
		t.Errorf("Edit calls its function %d times and returns %v", calls, err)
	}
}
