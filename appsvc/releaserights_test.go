package appsvc_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A release does not run for somebody who has lost the right to its moves, also where the app is hidden from them by
// then, and an approval of such a person does not count.
func TestReleasesOfPeopleWhoLostTheirRights(t *testing.T) {
	const network = "urn:vitrine:example.test"
	const site, other = network + ":site=1", network + ":site=2"
	owner := vitrine.Caller{URN: network + ":user=owner", Moderates: []string{network}}
	editor := vitrine.Caller{URN: network + ":user=editor", Moderates: []string{site}}
	approver := vitrine.Caller{URN: network + ":user=approver", Moderates: []string{site}}
	for name, test := range map[string]struct {
		rights    vitrine.Caller // of the editor and the approver by then
		groups    string         // of the app by then
		approvals int
		by        vitrine.Caller // whose rights these are
	}{
		"none":                {groups: site, by: editor},
		"only reads":          {rights: vitrine.Caller{Reads: []string{site}}, groups: site, by: editor},
		"another site":        {rights: vitrine.Caller{Moderates: []string{other}}, groups: site, by: editor},
		"the app has left":    {rights: vitrine.Caller{Moderates: []string{site}}, groups: other, by: editor},
		"none of an approver": {groups: site, approvals: 1, by: approver},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, now := t.Context(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			apps := appsvc.New(memory.New(), &appsvc.Options{
				Now: func() time.Time { return now },
				Rights: func(_ context.Context, urn string) (vitrine.Caller, []string, error) {
					if urn != test.by.URN {
						return vitrine.Caller{}, nil, vitrine.ErrNotFound
					}
					by := test.rights
					by.URN = urn
					return by, nil, nil
				}})
			if err := apps.SetTagRules(ctx,
				[]appsvc.TagRule{{Name: "production", Approvals: test.approvals}}); err != nil {
				t.Fatal(err)
			}
			app, err := apps.As(owner).CreateApp(ctx,
				appsvc.CreateAppRequest{Title: "Front page", Groups: []string{site}})
			if err != nil {
				t.Fatal(err)
			}
			release, err := apps.As(editor).CreateRelease(ctx,
				appsvc.CreateReleaseRequest{Name: "release", At: now.Add(time.Minute).UnixMilli(),
					Moves: []appsvc.ReleaseMove{{AppID: app.ID, Tag: "production", To: appsvc.PointsTo(app.Version)}}})
			if err == nil && test.approvals > 0 {
				_, err = apps.As(approver).ApproveRelease(ctx, release.ID, release.Version)
			}
			if err != nil {
				t.Fatal(err)
			}
			if test.groups != site {
				if _, err := apps.As(owner).Edit(ctx, app.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
					p.SetGroups(test.groups)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			now = now.Add(time.Minute)
			if err := apps.RunDue(ctx); err != nil {
				t.Fatal(err)
			}
			if release, err = apps.As(owner).Release(ctx, release.ID); err != nil ||
				release.State == appsvc.ReleaseDone {
				t.Errorf("the release is %q: %v", release.State, err)
			}
			if _, err := apps.As(owner).TaggedApp(ctx, app.ID, "production"); !errors.Is(err, vitrine.ErrNotFound) {
				t.Errorf("production was moved: %v", err)
			}
		})
	}
}
