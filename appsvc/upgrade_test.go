package appsvc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
)

// upgradeAll returns the apps of all answers.
func (w *workshop) upgradeAll(by vitrine.Caller, in appsvc.UpgradeRequest) (all []appsvc.UpgradedApp) {
	w.t.Helper()
	for {
		page, err := w.As(by).Upgrade(context.Background(), in)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, page.Items...)
		if in.After = page.Next; in.After == "" {
			return all
		}
	}
}

func TestUpgrade(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	size := func(v string) appsvc.NewElement {
		return appsvc.NewElement{Component: appsvc.ComponentRef{Name: "text", Version: "1.0.0"},
			Config: json.RawMessage(`{"size":` + v + `}`)}
	}
	create := func(group string, elements ...appsvc.NewElement) string {
		app, err := w.As(admin).CreateApp(ctx,
			appsvc.CreateAppRequest{Title: "x", Groups: []string{group}, Elements: elements})
		if err != nil {
			t.Fatal(err)
		}
		return app.ID
	}
	good, none := create(site1, size("1"), size("1")),
		create(site1,
			appsvc.NewElement{Component: appsvc.ComponentRef{Name: "any", Version: "1"}, Config: json.RawMessage(`{}`)})
	bad := create(site1, size("1"), size("2"))
	hidden := create(site2, size("1"))
	w.putTag(good, "live", vitrine.NewVersion(0))
	in := appsvc.UpgradeRequest{Name: "text", To: "2.0.0",
		Patch: []byte(`[{"op":"test","path":"/size","value":1},{"op":"replace","path":"/size","value":"L"}]`)}
	dry := in
	dry.DryRun = true
	would := w.upgradeAll(ann, dry)
	if app, _ := w.As(admin).App(ctx, good); app.Version != vitrine.NewVersion(0) {
		t.Error("a dry run has written")
	}
	done := w.upgradeAll(ann, in)
	if !reflect.DeepEqual(would, done) || len(done) != 2 {
		t.Fatalf("a dry run says\n%+v, and was done\n%+v", would, done)
	}
	for _, app := range done {
		switch app.App {
		case good:
			if app.Version != vitrine.NewVersion(1) || !slices.Equal(app.Elements, []string{"0", "1"}) ||
				len(app.Violations) > 0 || !slices.Equal(app.Tags, []string{"live"}) {
				t.Errorf("%+v", app)
			}
			now, _ := w.As(admin).App(ctx, good)
			if text := string(now.Body); !strings.Contains(text, `text2.js`) ||
				strings.Count(text, `{"size":"L"}`) != 2 {
				t.Errorf("%s", text)
			}
			d, err := w.As(admin).Diff(ctx, good, vitrine.NewVersion(0), vitrine.NewVersion(1))
			if err != nil || string(d.Patch) != string(app.Diff) {
				t.Errorf("diff %s, want %s", app.Diff, d.Patch)
			}
		case bad:
			if app.Version != vitrine.NewVersion(0) || len(app.Violations) != 1 ||
				app.Violations[0].Pointer != "/elements/1/config" || app.Violations[0].Keyword != "patch" ||
				string(app.Diff) != "[]" {
				t.Errorf("%+v", app)
			}
			if now, _ := w.As(admin).App(ctx, bad); now.Version != vitrine.NewVersion(0) {
				t.Error("an app with violations was changed")
			}
		default:
			t.Errorf("%s of %s, %s, %s", app.App, none, hidden, good)
		}
	}
	if again := w.upgradeAll(ann, in); len(again) != 1 || again[0].App != bad {
		t.Errorf("again: %+v", again)
	}
	// Without the patch the schema refuses the configs.
	if found := w.upgradeAll(ann, appsvc.UpgradeRequest{Name: "text", To: "2.0.0"}); len(found) != 1 ||
		len(found[0].Violations) != 2 || found[0].Violations[1].Pointer != "/elements/1/config/size" {
		t.Errorf("%+v", found)
	}
	if found := w.upgradeAll(ann,
		appsvc.UpgradeRequest{Name: "text", To: "2.0.0", From: []string{"3.0.0"}}); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	reader := vitrine.Caller{URN: network + ":user=r", Reads: []string{site1}}
	if found := w.upgradeAll(reader, dry); len(found) > 0 {
		t.Errorf("a reader upgrades %+v", found)
	}
	for want, in := range map[string]appsvc.UpgradeRequest{
		vitrine.CodeNotFound:         {Name: "absent", To: "1"},
		vitrine.CodeUnknownComponent: {Name: "text", To: "9"},
		vitrine.CodeInvalid:          {Name: "text"},
		vitrine.CodeInvalid + " ":    {Name: "text", To: "2.0.0", Patch: []byte(`{}`)},
		vitrine.CodeInvalid + "  ":   {Name: "text", To: "2.0.0", After: "x"},
	} {
		_, err := w.As(ann).Upgrade(ctx, in)
		wantCode(t, err, strings.TrimSpace(want))
	}
}

// An upgrade of many apps comes in answers, each app once, while others change them.
func TestUpgradeOfManyApps(t *testing.T) { onStores(t, upgradeManyApps) }

func upgradeManyApps(t *testing.T, store storage.Store) {
	ctx, w := context.Background(), newWorkshop(t)
	refused := ""
	w.Service = appsvc.New(store,
		&appsvc.Options{Check: func(_ context.Context, _ vitrine.Caller, c appsvc.Change) error {
			if c.AppID == refused && c.Type == appsvc.AppUpdated {
				return &vitrine.Error{Kind: vitrine.ErrForbidden, Reason: "frozen"}
			}
			return nil
		}})
	w.component(`{"name":"c","version":"1","main":"/c.js","configSchema":{}}`)
	w.component(`{"name":"c","version":"2","main":"/c.js","configSchema":{}}`)
	var ids []string
	for n := range 250 {
		app, err := w.As(editor).CreateApp(ctx,
			appsvc.CreateAppRequest{Title: fmt.Sprint(n), Groups: []string{site1},
				Elements: []appsvc.NewElement{{Component: appsvc.ComponentRef{Name: "c", Version: "1"},
					Config: json.RawMessage(`{}`)}}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, app.ID)
	}
	refused = ids[7]
	dry := w.upgradeAll(editor, appsvc.UpgradeRequest{Name: "c", To: "2", DryRun: true})
	done := w.upgradeAll(editor, appsvc.UpgradeRequest{Name: "c", To: "2"})
	if !reflect.DeepEqual(dry, done) || len(done) != 250 {
		t.Errorf("%d apps, in the dry run %d", len(done), len(dry))
	}
	for _, app := range done {
		if (app.App == refused) != (len(app.Violations) == 1) {
			t.Errorf("%+v", app)
		}
		if now, err := w.As(editor).App(ctx, app.App); err != nil || now.Version != app.Version {
			t.Errorf("%+v, %v", now, err)
		}
	}
	for f, err := range appsvc.Maintenance(appsvc.Limits{}).Audit(ctx, store) {
		t.Error(f, err)
	}
}
