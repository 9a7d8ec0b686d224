package appsvc_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// A caller with NotOwner finds the same as another user with the same rights: in lists, in the bin, in the feed and
// among releases, too.
func TestACallerWithNotOwnerFindsWhatItsListsCover(t *testing.T) {
	for _, rights := range []vitrine.Caller{{}, {Reads: []string{site1}}, {Moderates: []string{site2}}} {
		t.Run(fmt.Sprint(rights.Reads, rights.Moderates), func(t *testing.T) {
			w, ctx := newWorkshop(t), context.Background()
			maker := vitrine.Caller{URN: owner.URN, Moderates: []string{site1, site2}}
			var apps []string
			for _, groups := range [][]string{{site1}, {site2}, {site1, site2}, {site1}} {
				app, err := w.As(maker).CreateApp(ctx, appsvc.CreateAppRequest{Title: "Own", Groups: groups})
				if err == nil {
					_, err = w.As(maker).PutTag(ctx,
						appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: app.Version})
				}
				if err == nil {
					_, err = w.As(maker).CreateRelease(ctx, appsvc.CreateReleaseRequest{Name: "Own",
						Moves: []appsvc.ReleaseMove{{AppID: app.ID, Tag: "next", To: appsvc.PointsTo(app.Version)}}})
				}
				if err != nil {
					t.Fatal(err)
				}
				apps = append(apps, app.ID)
			}
			if err := w.As(maker).DeleteApp(ctx, apps[0]); err != nil {
				t.Fatal(err)
			}
			if err := w.As(maker).DeleteApp(ctx, apps[3]); err != nil {
				t.Fatal(err)
			}
			if err := w.As(maker).EraseApp(ctx, apps[3]); err != nil {
				t.Fatal(err)
			}
			found := func(by vitrine.Caller) (out []string) {
				note := func(what string, v any, err error) {
					out = append(out, fmt.Sprintf("%s: %+v, %v", what, v, err))
				}
				for _, in := range []appsvc.ListAppsRequest{{}, {Sort: appsvc.UpdatedAscending}, {Owner: owner.URN},
					{Group: network}, {Query: "own"},
					{Deleted: true}, {Deleted: true, Owner: owner.URN}} {
					in.Summary = true
					page, err := w.As(by).ListApps(ctx, in)
					note(fmt.Sprintf("apps %+v", in), page, err)
				}
				changes, err := w.As(by).Changes(ctx, appsvc.ChangesRequest{})
				for _, e := range changes.Changes {
					note("a change", e.Type+" "+appsvc.ChangeType(e.AppID), nil)
				}
				note("changes", changes.More, err)
				releases, err := w.As(by).ListReleases(ctx, appsvc.ListReleasesRequest{})
				note("releases", releases, err)
				tags, err := w.As(by).TagsNamed(ctx, "live", apps)
				note("tags", tags, err)
				return out
			}
			key, another := notOwner(owner.URN), vitrine.Caller{URN: network + ":user=another"}
			key.Reads, key.Moderates = rights.Reads, rights.Moderates
			another.Reads, another.Moderates = rights.Reads, rights.Moderates
			have, want := found(key), found(another)
			if !slices.Equal(have, want) {
				t.Errorf("the key finds\n%q\nanother user\n%q", have, want)
			}
			whole := key
			if whole.NotOwner = false; slices.Equal(found(whole), want) {
				t.Error("the owner finds no more: this shows nothing")
			}
		})
	}
}
