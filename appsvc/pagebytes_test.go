package appsvc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// The JSON of a page of any list is at most Limits.PageBytes, unless it is that of one item. Pages are not much smaller
// either.
func TestNoPageHasMoreBytesThanItMay(t *testing.T) {
	const most = 4000
	ctx, w := context.Background(), bench(t, appsvc.Limits{PageBytes: most})
	long := strings.Repeat("x", 300)
	w.component(`{"name":"c","version":"1","main":"/c.js","configSchema":{},"description":"` + long + `"}`)
	var ids []string
	for i := range 12 {
		w.component(fmt.Sprintf(`{"name":"c","version":"1.%d","main":"/c.js","configSchema":{},"description":%q}`, i,
			long))
		w.component(fmt.Sprintf(`{"name":"c%d","version":"1","main":"/c.js","configSchema":{},"description":%q}`, i,
			long))
		app, err := w.As(editor).CreateApp(ctx,
			appsvc.CreateAppRequest{Title: fmt.Sprint(long, i), Groups: []string{site1}, Elements: []appsvc.NewElement{
				{Component: appsvc.ComponentRef{Name: "c", Version: "1"},
					Config: json.RawMessage(`{"text":"` + strings.Repeat("y", 150*i) + `"}`)}}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, app.ID)
		if _, err := w.As(editor).Restore(ctx,
			appsvc.RestoreRequest{AppID: ids[0], Version: vitrine.NewVersion(0), Note: long}); err != nil {
			t.Fatal(err)
		}
		w.putTag(ids[0], fmt.Sprint("t", i), vitrine.NewVersion(0))
		in := appsvc.CreateReleaseRequest{Name: "r", Note: long}
		for _, id := range ids {
			in.Moves = append(in.Moves,
				appsvc.ReleaseMove{AppID: id, Tag: strings.Repeat("t", 100),
					To: appsvc.PointsTo(vitrine.NewVersion(0))})
		}
		if _, err := w.As(editor).CreateRelease(ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	broken := `{"name":"c","version":"2","main":"/c.js","configSchema":{"type":"object",` +
		`"properties":{"text":{"type":"integer"}}}}`
	for name, list := range map[string]func(after string) (any, int, string, error){
		"apps": func(after string) (any, int, string, error) {
			p, err := w.As(editor).ListApps(ctx, appsvc.ListAppsRequest{After: after})
			return p.Items, len(p.Items), p.Next, err
		},
		"summaries": func(after string) (any, int, string, error) {
			p, err := w.As(editor).ListApps(ctx, appsvc.ListAppsRequest{After: after, Summary: true})
			return p.Items, len(p.Items), p.Next, err
		},
		"versions": func(after string) (any, int, string, error) {
			p, err := w.As(editor).ListVersions(ctx, appsvc.ListVersionsRequest{AppID: ids[0], After: after})
			return p.Items, len(p.Items), p.Next, err
		},
		"tags": func(after string) (any, int, string, error) {
			p, err := w.As(editor).ListTags(ctx, appsvc.ListTagsRequest{AppID: ids[0], After: after, Embed: true})
			var apps []any
			for _, tag := range p.Items {
				apps = append(apps, tag, tag.App)
			}
			return apps, len(p.Items), p.Next, err
		},
		"components": func(after string) (any, int, string, error) {
			p, err := w.As(editor).ListComponents(ctx, appsvc.ListComponentsRequest{After: after})
			return p.Items, len(p.Items), p.Next, err
		},
		"versions of a component": func(after string) (any, int, string, error) {
			p, err := w.As(editor).ListComponentVersions(ctx,
				appsvc.ListComponentVersionsRequest{Name: "c", After: after})
			return p.Items, len(p.Items), p.Next, err
		},
		"releases": func(after string) (any, int, string, error) {
			p, err := w.As(editor).ListReleases(ctx, appsvc.ListReleasesRequest{After: after})
			return p.Items, len(p.Items), p.Next, err
		},
		"broken elements": func(after string) (any, int, string, error) {
			p, err := w.As(editor).CheckComponent(ctx,
				appsvc.CheckComponentRequest{Name: "c", Manifest: []byte(broken), After: after})
			return p.Broken, len(p.Broken), p.Next, err
		},
		"upgrades": func(after string) (any, int, string, error) {
			p, err := w.As(editor).Upgrade(ctx,
				appsvc.UpgradeRequest{Name: "c", To: "1.11", DryRun: true, After: after})
			return p.Items, len(p.Items), p.Next, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			pages, bytes := 0, 0
			for after, more := "", true; more; pages++ {
				items, n, next, err := list(after)
				if err != nil {
					t.Fatal(err)
				}
				text, err := json.Marshal(items)
				if err != nil || n == 0 || n > 1 && len(text) > most {
					t.Errorf("page %d has %d items of %d bytes, %v", pages, n, len(text), err)
				}
				after, more, bytes = next, next != "", bytes+len(text)
			}
			if pages < 2 && name != "broken elements" || pages > 3+3*bytes/most {
				t.Errorf("%d bytes take %d pages", bytes, pages)
			}
		})
	}
}
