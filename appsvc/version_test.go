package appsvc_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// What the service writes beside the content: who made a version, when, and what stays the app's.
func TestTheMetaOfVersions(t *testing.T) {
	ctx, w := context.Background(), newWorkshop(t)
	start := w.clock
	app := w.titledApp("x")
	by := moderator(site1)
	for i, step := range []struct {
		name           string
		clock, updated time.Duration // since the app was created
		make           func() (appsvc.App, error)
	}{
		{"a patch", time.Minute, time.Minute, func() (appsvc.App, error) {
			return w.As(by).Patch(ctx, app.ID,
				strings.NewReader(`[`+testV0+`,{"op":"replace","path":"/apps/0/title","value":"y"}]`))
		}},
		{"a restore", time.Hour, time.Hour, func() (appsvc.App, error) {
			return w.As(by).Restore(ctx, appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.NewVersion(0)})
		}},
		{"a patch when the clock was set back", -time.Hour, time.Hour, func() (appsvc.App, error) {
			return w.As(by).Patch(ctx, app.ID,
				strings.NewReader(`[{"op":"test","path":"/apps/0/version","value":"2"},{"op":"replace",`+
					`"path":"/apps/0/title",`+
					`"value":"z"}]`))
		}},
		{"a restore when the clock was set back", -2 * time.Hour, time.Hour, func() (appsvc.App, error) {
			return w.As(by).Restore(ctx, appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.NewVersion(1)})
		}},
	} {
		w.clock = start.Add(step.clock)
		got, err := step.make()
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		want := app
		want.Version, want.UpdatedBy = vitrine.NewVersion(i+1), by.URN
		want.UpdatedAt = start.Add(step.updated).UnixMilli()
		want.Title, want.Body = got.Title, got.Body
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", step.name, got, want)
		}
		if read, err := w.As(by).App(ctx, app.ID); err != nil || !reflect.DeepEqual(read, want) {
			t.Errorf("%s: read it is %+v, %v", step.name, read, err)
		}
	}
}
