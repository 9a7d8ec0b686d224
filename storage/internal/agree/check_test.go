package agree

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/postgres"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// What Options.Check refuses is rolled back in every store, and its error comes through.
func TestARuleOfTheEmbedderHoldsInMemory(t *testing.T) {
	holdsRule(t, memory.New().Apps())
}

func TestARuleOfTheEmbedderHoldsInSQLite(t *testing.T) {
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	holdsRule(t, db.Apps())
}

func TestARuleOfTheEmbedderHoldsInPostgreSQL(t *testing.T) {
	db, err := postgres.Open(context.Background(), cluster.Schema(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	holdsRule(t, db.Apps())
}

func holdsRule(t *testing.T, store appsvc.Store) {
	ctx, site, own := context.Background(), "urn:vitrine:example.test:site=1", errors.New("not now")
	by := appsvc.Caller{URN: "urn:vitrine:example.test:user=u", Moderates: []string{site}, ManageComponents: true}
	var seen []appsvc.Change
	refuses := false
	svc := appsvc.New(store, &appsvc.Options{Check: func(_ context.Context, _ appsvc.Caller, c appsvc.Change) error {
		seen = append(seen, c)
		if refuses {
			return own
		}
		return nil
	}})
	var app appsvc.App
	steps := []struct {
		kind appsvc.ChangeType
		do   func() error
	}{
		{appsvc.ComponentCreated, func() error {
			_, err := svc.CreateComponent(ctx, by, appsvc.CreateComponentRequest{Manifest: []byte(`{"name":"c","version":"1","main":"c.js","configSchema":{}}`)})
			return err
		}},
		{appsvc.AppCreated, func() (err error) {
			made, err := svc.CreateApp(ctx, by, appsvc.CreateAppRequest{Title: "A", Groups: []string{site}})
			if err == nil {
				app = made
			}
			return err
		}},
		{appsvc.AppUpdated, func() error {
			_, err := svc.Patch(ctx, by, app.ID, []byte(`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/title","value":"B"}]`))
			return err
		}},
		{appsvc.AppRestored, func() error {
			_, err := svc.Restore(ctx, by, appsvc.RestoreRequest{AppID: app.ID, Version: appsvc.NewVersion(0)})
			return err
		}},
		{appsvc.TagSet, func() error {
			_, err := svc.PutTag(ctx, by, appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: appsvc.NewVersion(1)})
			return err
		}},
		{appsvc.TagDeleted, func() error { return svc.DeleteTag(ctx, by, appsvc.DeleteTagRequest{AppID: app.ID, Name: "live"}) }},
		{appsvc.ComponentDeleted, func() error { return svc.DeleteComponent(ctx, by, appsvc.DeleteComponentRequest{Name: "c"}) }},
	}
	for _, step := range steps {
		refuses = true
		if err := step.do(); !errors.Is(err, own) || !errors.Is(err, appsvc.ErrForbidden) {
			t.Errorf("%s: %v, want the error of the rule and ErrForbidden", step.kind, err)
		}
		refuses = false
		if err := step.do(); err != nil { // it would fail, had the refused one been kept
			t.Errorf("%s after it was refused: %v", step.kind, err)
		}
		if last := seen[len(seen)-1]; last.Type != step.kind {
			t.Errorf("the rule saw %s last, want %s", last.Type, step.kind)
		}
	}
	if app, err := svc.Version(ctx, by, app.ID, appsvc.Latest); err != nil || app.Version != appsvc.NewVersion(2) {
		t.Errorf("the app is at version %s, want 2 (%v)", app.Version, err)
	}
}
