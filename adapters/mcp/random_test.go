package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
)

// 10,000 random calls of an agent, of all endpoints and all tools, move no tag, and schedule, approve, run, delete and
// replace nothing. The control: calls like these of a key that is none of an agent are found to do so.
func TestRandomCallsOfAnAgentPublishNothing(t *testing.T) {
	if kinds := randomCalls(t, "agent", 10_000); len(kinds) > 0 {
		t.Errorf("an agent has changed %q", kinds)
	}
	if kinds := randomCalls(t, "key", 3_000); len(kinds) < 5 {
		t.Errorf("the control has changed %q alone", kinds)
	}
}

// randomCalls makes so many calls with a token, and returns the kinds of changes that no agent may make.
func randomCalls(t *testing.T, token string, count int) (kinds []string) {
	w := newWorld(t)
	r := rand.New(rand.NewPCG(1, 2))
	apps := []string{w.app("one", "countdown", "1.0.0", `{"title":"a","until":"2026"}`),
		w.app("two", "gallery", "1.0.0", `{}`)}
	w.publish(apps[0], 0)
	w.publish(apps[1], 0)
	apps = append(apps, w.app("three", "gallery", "1.0.0"))
	lea := w.apps.As(callers["lea"])
	releases := []string{}
	for range 3 {
		rel, err := lea.CreateRelease(t.Context(), appsvc.CreateReleaseRequest{Moves: []appsvc.ReleaseMove{
			{AppID: apps[0], Tag: "draft", To: appsvc.PointsTo(vitrine.NewVersion(0))}}})
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, rel.ID)
	}
	added, err := w.assets.As(callers["lea"]).ChangeAssets(t.Context(), assets.Library{Network: library, ID: library},
		assets.ChangeAssetsRequest{Add: []assets.NewAsset{{ID: "1", Generator: assets.Generator{ID: "g"},
			Content: json.RawMessage(`{"content":"a"}`)}}})
	if err != nil {
		t.Fatal(err)
	}
	asset := added.Added[0].ID
	folders, err := w.assets.As(callers["lea"]).ChangeFolders(t.Context(),
		assets.Library{Network: library, ID: library},
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "f"}}})
	if err != nil {
		t.Fatal(err)
	}
	folder := folders.Folders[0].ID
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	app := func() string { return pick(append(apps, "none")...) }
	number := func() string { return pick("0", "1", "2", "9") }
	moves := func() string {
		return fmt.Sprintf(`"name":"r","moves":[{"app":%q,"tag":%q,"to":%s}]`, app(), pick("production", "draft"),
			pick(`"0"`, `"1"`, "null"))
	}
	at := func() string {
		return pick("", fmt.Sprintf(`,"at":%d`, time.Now().Add(time.Hour).UnixMilli()))
	}
	bodies := map[string]func() string{
		"PUT /apps/{id}/tags/{tag}": func() string {
			return pick(`{"latest":true}`, `{"appVersion":"0"}`, `{"rollback":true}`)
		},
		"PATCH /apps/{id}": func() string {
			return fmt.Sprintf(
				`[{"op":"test","path":"/apps/0/version","value":%q},{"op":"replace","path":"/apps/0/title",
			"value":%q}]`, number(), pick("x", "y", "z"))
		},
		"POST /apps": func() string {
			return fmt.Sprintf(`{"title":"new","groups":[%q],"elements":[]}`, site)
		},
		"POST /apps/versions/restore": func() string {
			return fmt.Sprintf(`{"appId":%q,"appVersion":%q}`, app(), number())
		},
		"POST /x/releases":     func() string { return "{" + moves() + at() + "}" },
		"PUT /x/releases/{id}": func() string { return fmt.Sprintf(`{"version":%q,%s%s}`, number(), moves(), at()) },
		"POST /components": func() string {
			return fmt.Sprintf(`{"name":"countdown","version":"2.0.%d","main":"/c.js","configSchema":{}}`, r.IntN(99))
		},
		"POST /components/{name}/upgrade": func() string { return `{"to":"1.1.0"}` },
		"POST assets": func() string {
			return pick(fmt.Sprintf(`{"add":[],"remove":[%q]}`, asset), fmt.Sprintf(
				`{"add":[{"id":%q,"generator":{"id":"g"},"content":{"content":%q},"folders":[]}]}`, number(),
				pick("x", "y")))
		},
		"POST folders": func() string {
			return pick(fmt.Sprintf(`{"delete":[%q]}`, folder), `{"create":[{"label":"x"}]}`)
		},
		"POST permissions": func() string {
			return `{"grant":[{"operation":"view","role":{"id":"r"}}]}`
		},
	}
	ask := func(method, path, body string) *httptest.ResponseRecorder {
		in := httptest.NewRequest(method, path, strings.NewReader(body))
		in.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"},
			"Accept": {"application/json, text/event-stream"}}
		out := httptest.NewRecorder()
		w.handler.ServeHTTP(out, in)
		return out
	}
	var description struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(ask("GET", "/openapi.json", "").Body.Bytes(), &description); err != nil {
		t.Fatal(err)
	}
	var routes [][2]string
	for path, methods := range description.Paths {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if methods[strings.ToLower(method)] != nil && !strings.HasSuffix(path, "changes") {
				routes = append(routes, [2]string{method, path})
			}
		}
	}
	slices.SortFunc(routes, func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) })
	tools := map[string]func() string{
		"edit_app": func() string {
			return fmt.Sprintf(`{"id":%q,"version":%q,"dryRun":%s,"operations":[{"op":%q,"key":"0.0","pointer":%q,`+
				`"value":%q}]}`,
				app(), number(), pick("true", "false"), pick("set", "add", "remove", "move"),
				pick("", "/title", "/text"), number())
		},
		"create_app": func() string { return fmt.Sprintf(`{"title":"t","groups":[%q]}`, pick(site, "urn:v:n")) },
		"propose_release": func() string {
			return fmt.Sprintf(`{"name":"n","id":%q,"moves":[{"app":%q,"tag":%q,"to":%q}]}`,
				pick(append(releases, "")...), app(), pick("production", "draft"), pick("0", "latest", "none"))
		},
		"find_apps":   func() string { return fmt.Sprintf(`{"tag":%q}`, pick("production", "draft")) },
		"get_app":     func() string { return fmt.Sprintf(`{"id":%q,"version":%q}`, app(), number()) },
		"find_assets": func() string { return `{"q":"a"}` },
		"add_file": func() string {
			return fmt.Sprintf(`{"name":"a.pdf","bytes":"JVBERi0xLjcK","folders":[%q]}`, folder)
		},
		"compare_versions": func() string { return fmt.Sprintf(`{"id":%q,"from":"production"}`, app()) },
		"publish":          func() string { return `{}` },
		"restore_version": func() string {
			return fmt.Sprintf(`{"id":%q,"version":%q,"restore":%q}`, app(), number(), number())
		},
	}
	before, worked := w.state(t, asset, folder), 0
	for range count {
		if r.IntN(4) == 0 {
			for name, arguments := range tools { // in any order
				ask("POST", "/x/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,
					"arguments":%s}}`, name, arguments()))
				break
			}
			continue
		}
		route := routes[r.IntN(len(routes))]
		named, id := route[0]+" "+route[1], app()
		if strings.HasPrefix(route[1], "/x/releases") {
			id = pick(append(releases, "none")...)
		}
		if strings.HasPrefix(route[1], "/services") {
			named = route[0] + " " + route[1][strings.LastIndex(route[1], "/")+1:]
		}
		body := `{"version":"` + number() + `"}`
		if make := bodies[named]; make != nil {
			body = make()
		}
		path := strings.NewReplacer("{id}", id, "{tag}", pick("production", "draft"), "{version}", number(), "{from}",
			number(), "{to}", number(), "{name}", pick("countdown", "gallery"), "{network}", library, "{library}",
			library,
			"{folder}", folder, "{asset}", asset).Replace(route[1])
		if out := ask(route[0], path+pick("", "", "", "?dryRun=true"), body); out.Code < 300 && route[0] != "GET" {
			worked++
		}
	}
	if worked < count/100 {
		t.Errorf("%d of %d calls have written something: they are too wild", worked, count)
	}
	after := w.state(t, asset, folder)
	for kind, was := range before {
		if after[kind] != was {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// state is what no agent changes, by kinds: of what is there in the beginning all of it, of releases the times, the
// approvals and the states but open.
func (w *world) state(t *testing.T, asset, folder string) map[string]string {
	ctx, lea := context.Background(), w.apps.As(callers["lea"])
	out := map[string]string{"scheduled": "", "approved": "", "run": "", "deleted": "", "tags": "", "components": "",
		"assets": "", "folders": ""}
	for a, err := range lea.AllApps(ctx, appsvc.ListAppsRequest{Summary: true, Sort: appsvc.CreatedAscending}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, tag := range a.Tags {
			out["tags"] += fmt.Sprint(a.ID, tag.Name, tag.AppVersion, " ")
		}
	}
	for a, err := range lea.AllApps(ctx, appsvc.ListAppsRequest{Summary: true, Deleted: true}) {
		out["deleted"] += fmt.Sprint(a.ID, err)
	}
	for rel, err := range lea.AllReleases(ctx, appsvc.ListReleasesRequest{}) {
		if err != nil {
			t.Fatal(err)
		}
		if rel.State == appsvc.ReleaseScheduled || rel.At != 0 {
			out["scheduled"] += rel.ID
		}
		if rel.State == appsvc.ReleaseDone || rel.State == appsvc.ReleaseCancelled {
			out["run"] += rel.ID
		}
		out["approved"] += strings.Repeat(rel.ID, len(rel.Approvals))
	}
	for x, err := range lea.AllComponents(ctx, appsvc.ListComponentsRequest{}) {
		out["components"] += fmt.Sprint(x.Name, x.Version, err, " ")
	}
	at := assets.Library{Network: library, ID: library}
	a, err := w.assets.As(callers["lea"]).Asset(ctx, at, asset)
	if out["assets"] = fmt.Sprint(err); err == nil {
		out["assets"] = a.ETag()
	}
	f, err := w.assets.As(callers["lea"]).Folder(ctx, at, folder)
	out["folders"] = fmt.Sprint(f.Label, f.Path, f.Deleted, len(f.Permissions), err)
	return out
}
