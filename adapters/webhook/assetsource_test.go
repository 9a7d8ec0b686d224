package webhook

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// Every change of a library is delivered as it is in the feed, with the library and without its cursor, to the
// endpoints that ask for its network, also if the library is made later.
func TestChangesOfAssets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := memory.New()
		library := assets.New(db, &assets.Options{Vendor: "acme"})
		network := func(name string) string { return "urn:acme:" + name }
		lib := func(name string) assets.Library { return assets.Library{Network: name, ID: name} }
		add := func(name, id string) {
			t.Helper()
			me := vitrine.Caller{URN: network(name) + ":user=me", Moderates: []string{network(name)}}
			_, err := library.As(me).ChangeAssets(t.Context(), lib(name),
				assets.ChangeAssetsRequest{Add: []assets.NewAsset{
					{ID: id, Generator: assets.Generator{ID: "blog.example"}, Content: []byte(`{"content":"x"}`)}}})
			if err != nil {
				t.Fatal(err)
			}
			settle()
		}
		add("a.test", "before")
		d := New(db, Services{Apps: appsvc.New(db, nil), Assets: library}, nil)
		got := &bodies{got: map[string][]string{}}
		d.transport = got
		err := d.Set(t.Context(), []Endpoint{
			to("all"), to("assets", of("assets.changed")), to("a", in(network("a.test"))),
			to("b", in(network("b.test"))),
			to("site", in(network("a.test")+":site=1")), to("apps", of("app.created")),
		})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		ctx, stop := cancelable(t)
		go func() {
			defer close(done)
			_ = d.Run(ctx)
		}()
		settle()
		add("a.test", "1")
		add("b.test", "1")
		me := vitrine.Caller{URN: network("b.test") + ":user=me", Moderates: []string{network("b.test")}}
		if _, err := library.As(me).ChangeFolders(t.Context(), lib("b.test"),
			assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "Drafts"}}}); err != nil {
			t.Fatal(err)
		}
		settle()
		stop()
		<-done
		data := func(name, added, folders string) string {
			return fmt.Sprintf(`{"type":"assets.changed","timestamp":"TIME","data":{"type":"assets.changed",`+
				`"at":"TIME","by":{"urn":"urn:acme:%[1]s:user=me"},`+
				`"added":[%[2]s],"changed":[],"removed":[],"folders":[%[3]s],"library":{"network":"%[1]s",`+
				`"id":"%[1]s"}}}`, name, added, folders)
		}
		of1, of2, folder := data("a.test", `"ID"`, ""), data("b.test", `"ID"`, ""), data("b.test", "", `"ID"`)
		for host, want := range map[string][]string{
			"all": {of1, of2, folder}, "assets": {of1, of2, folder}, "a": {of1}, "b": {of2, folder}, "site": nil,
			"apps": nil,
		} {
			var have []string
			for _, body := range got.got[host] {
				body = regexp.MustCompile(`"2000-01-01T00:00:0\d(\.\d+)?(Z|\+0000)"`).ReplaceAllString(body, `"TIME"`)
				have = append(have, regexp.MustCompile(`\["[^"]+"\]`).ReplaceAllString(body, `["ID"]`))
			}
			if !slices.Equal(have, want) {
				t.Errorf("%s got\n%s\nwant\n%s", host, strings.Join(have, "\n"), strings.Join(want, "\n"))
			}
		}
	})
}
