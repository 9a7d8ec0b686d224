package appsvc_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// With a clock, ids and a seed of its own, a store in memory gives the same bytes each time.
func TestAStoreForGoldenTests(t *testing.T) {
	run := func(seed string) string {
		n, now := 0, time.UnixMilli(1_700_000_000_000)
		db := memory.New(memory.Options{Seed: seed, Now: func() time.Time { now = now.Add(time.Second); return now },
			NewID: func() string { n++; return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }})
		ctx, s := context.Background(), appsvc.New(db, nil)
		var all strings.Builder
		by := vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}, Components: true}
		if _, err := s.As(by).CreateComponent(ctx,
			appsvc.CreateComponentRequest{
				Manifest: strings.NewReader(
					`{"name":"c","version":"1","main":"/c.js","configSchema":{}}`)}); err != nil {
			t.Fatal(err)
		}
		app, err := s.As(by).CreateApp(ctx, appsvc.CreateAppRequest{Title: "x", Groups: []string{network}})
		if err == nil {
			_, err = s.As(by).Edit(ctx, app.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
				p.SetTitle("y")
				return nil
			})
		}
		if err == nil {
			var link appsvc.Preview
			link, err = s.As(by).CreatePreview(ctx,
				appsvc.CreatePreviewRequest{AppID: app.ID, Version: "latest", Days: 1})
			fmt.Fprintf(&all, "%+v\n", link)
		}
		page, err2 := s.As(by).Changes(ctx, appsvc.ChangesRequest{})
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		fmt.Fprintf(&all, "%+v\n", page)
		for _, e := range stored(t, db, "") {
			fmt.Fprintf(&all, "%s %q\n", e.Key, e.Value)
		}
		return all.String()
	}
	if first, again := run("golden"), run("golden"); first != again {
		t.Errorf("the first run gives\n%s, the second\n%s", first, again)
	}
	if run("golden") == run("other") {
		t.Error("another seed gives the same cursors")
	}
}

// lossy is a store whose commits are acknowledged by an error that does not say whether they were made.
type lossy struct {
	storage.Store
	lose func() (committed, lost bool)
}

func (l lossy) Update(ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error) error {
	committed, lost := true, false
	if space == "apps" {
		committed, lost = l.lose()
	}
	err := error(nil)
	if committed {
		err = l.Store.Update(ctx, space, o, fn)
	}
	if err == nil && lost {
		err = storage.ErrUnknown
	}
	return err
}

// Whether a commit with an unknown outcome was made or not, an edit is done once.
func TestAnEditWithAnUnknownOutcomeIsDoneOnce(t *testing.T) {
	for _, script := range []string{"C", "L", "CL", "LC", "LL", "LLC", "CC"} {
		ctx, db, left := context.Background(), memory.New(), ""
		s := appsvc.New(lossy{db, func() (bool, bool) {
			if left == "" {
				return true, false
			}
			step := left[0]
			left = left[1:]
			return step == 'C', true
		}}, nil)
		by := vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}, Components: true}
		_, err := s.As(by).CreateComponent(ctx,
			appsvc.CreateComponentRequest{
				Manifest: strings.NewReader(`{"name":"c","version":"1","main":"/c.js","configSchema":{}}`)})
		if err != nil {
			t.Fatal(err)
		}
		app, err := s.As(by).CreateApp(ctx, appsvc.CreateAppRequest{Title: "x", Groups: []string{network}})
		if err != nil {
			t.Fatal(err)
		}
		left = script
		after, err := s.As(by).Edit(ctx, app.ID, func(now appsvc.App, p *appsvc.PatchBuilder) error {
			p.SetTitle(now.Title +
				"!").AppendElement(appsvc.NewElement{Component: appsvc.ComponentRef{Name: "c", Version: "1"},
				Config: []byte(`{"a": 1.10}`)})
			return nil
		})
		if err != nil || after.Title != "x!" || after.Version != vitrine.NewVersion(1) {
			t.Errorf("%s: %q at version %s, %v", script, after.Title, after.Version, err)
		}
		if last, err := s.As(by).App(ctx, app.ID); err != nil || last.Version != after.Version ||
			string(last.Body) != string(after.Body) {
			t.Errorf("%s: the app is at version %s, %v", script, last.Version, err)
		}
	}
}

func TestAMistakeInAPatchNamesItsCall(t *testing.T) {
	w := newWorkshop(t)
	app := w.app()
	for call, do := range map[string]func(*appsvc.PatchBuilder){
		`SetConfig(0, "size")`:          func(p *appsvc.PatchBuilder) { p.SetConfig(0, "size", 1) },
		`SetConfig(0, "/none/of/this")`: func(p *appsvc.PatchBuilder) { p.SetConfig(0, "/none/of/this", 1) },
		`SetConfig(99, "/size")`:        func(p *appsvc.PatchBuilder) { p.SetConfig(99, "/size", 1) },
		`RemoveConfig(0, "size")`:       func(p *appsvc.PatchBuilder) { p.RemoveConfig(0, "size") },
		`RemoveElement(99)`:             func(p *appsvc.PatchBuilder) { p.SetTitle("x").RemoveElement(99) },
		`MoveElement(0, 99)`:            func(p *appsvc.PatchBuilder) { p.MoveElement(0, 99) },
		`SetComponent(99)`:              func(p *appsvc.PatchBuilder) { p.SetComponent(99, appsvc.ComponentRef{}) },
	} {
		p := appsvc.NewPatchBuilder(app)
		if do(p); p.Err() == nil || !strings.Contains(p.Err().Error(), call) {
			t.Errorf("%s: error %v", call, p.Err())
		}
	}
}
