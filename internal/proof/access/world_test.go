//go:build proof

package access

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// Where the libraries are. The first is the network's own, the second was written to, the third was not.
const (
	manager = "/services/frontline/api/v4/assetManager//"
	library = manager + "example.test/assetLibrary/example.test"
	second  = manager + "example.test/assetLibrary/second"
	unused  = manager + "example.test/assetLibrary/unused"
	foreign = manager + "other.test/assetLibrary/other.test"
)

// Ids of things that are not there, as long as those of things that are.
const (
	absentApp    = "00000000-0000-4000-8000-000000000000"
	absentFolder = "AAAAAAAAAAAAAAAAAAAAAAAAAA"
	absentAsset  = "AAAAAAAAAAAAAAAAAAAAAA"
)

// world is a server over stores in memory, and what it holds.
type world struct {
	t        testing.TB
	url      string
	tokens   *httpapi.Tokens
	client   *http.Client
	signed   map[string]string // tokens, by name of the caller
	now      atomic.Int64      // what the clock shows, in milliseconds
	apps     map[string]string // ids, by the name that the tables have
	folders  map[string]string
	assets   map[string]string
	file     string            // the address of a file, once it was asked for
	releases map[string]string // ids, by the app that they are about
	sent     *int              // requests

	people  *signin.Service
	peopled bool              // there is a person in the network
	cookie  string            // of the session of the caller who has signed in; "" before
	rights  string            // the caller whose rights a person has got last
	keyed   bool              // callers use secret keys in place of tokens
	keys    map[string]string // these keys, by caller
}

// protected: the tag production takes a moderator of every group of the app.
var protected = []appsvc.TagRule{{Name: "production", Protected: true}}

// start is when worlds begin.
const start = 1_700_000_000_000

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, signed: map[string]string{}, keys: map[string]string{}, sent: new(int),
		apps:    map[string]string{"absent": absentApp},
		folders: map[string]string{"absent": absentFolder},
		assets:  map[string]string{"absent": absentAsset}}
	w.now.Store(start)
	clock := func() time.Time { return time.UnixMilli(w.now.Load()) }
	var err error
	if w.tokens, err = httpapi.NewTokens([]byte("a key for tests, 32 bytes long.."), nil); err != nil {
		t.Fatal(err)
	}
	w.people, err = signin.New(memory.New(), signin.Options{
		BaseURL: "http://localhost:80", Otherwise: w.tokens.Authenticate, Log: slog.New(slog.DiscardHandler),
		Mail: func(context.Context, signin.Mail) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	apps := appsvc.New(memory.New(), &appsvc.Options{Now: clock})
	if err := apps.SetTagRules(context.Background(), protected); err != nil {
		t.Fatal(err)
	}
	h, err := httpapi.New(httpapi.Config{
		Apps:         apps,
		Assets:       assets.New(memory.New(), &assets.Options{Now: clock}),
		Reviews:      reviews.New(memory.New(), nil),
		Authenticate: w.people.Authenticate, Extras: w.people.Endpoints(),
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	w.url, w.client = server.URL, server.Client()
	w.client.Transport.(*http.Transport).DisableCompression = true // lengths are compared
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	t.Cleanup(server.Close)
	return w
}

// tick sets the clock to a moment of its own for each number.
func (w *world) tick(n int) { w.now.Store(start + int64(n)*1000) }

// appsOf are the apps of the tables in the order of their making, with the groups of their versions.
var appsOf = []struct {
	name, owner string
	versions    [][]string
}{
	{"one", "owner", [][]string{{network + ":site=1"}, {network + ":site=1"}}},
	{"ten", "owner", [][]string{{network + ":site=10"}, {network + ":site=10"}}},
	{"two", "owner",
		[][]string{{network + ":site=1", network + ":site=2"}, {network + ":site=2", network + ":site=1"}}},
	{"net", "owner", [][]string{{network}, {network}}},
	{"foreign", "owner", [][]string{{elsewhere + ":site=1"}, {elsewhere + ":site=1"}}},
	{"moved", "owner", [][]string{{network + ":site=1"}, {network + ":site=2"}}},
	{"came", "owner", [][]string{{network + ":site=2"}, {network + ":site=1"}}},
	{"hers", "stranger", [][]string{{network + ":site=1"}, {network + ":site=1"}}},
}

// userGrant and the others are permissions as they are sent.
func userGrant(user, operation string) string {
	return fmt.Sprintf(`{"operation":%q,"user":{"id":%q}}`, operation, user)
}

var grants = []string{userGrant("viewer", "view"), userGrant("editor", "edit"),
	userGrant(network+":user=manager", "manage"),
	`{"operation":"view","role":{"id":"desk"}}`, fmt.Sprintf(`{"operation":"edit","group":%q}`, network+":group=team")}

type folder struct {
	name, parent string
	cut, deleted bool
	grants       []string
}

// foldersOf are the folders of the tables, parents first.
var foldersOf = []folder{
	{name: "open"},
	{name: "open/child", parent: "open"},
	{name: "open/view", parent: "open", grants: []string{userGrant("viewer", "view")}},
	{name: "open/cut", parent: "open", cut: true},
	{name: "grant", grants: grants},
	{name: "grant/in", parent: "grant"},
	{name: "grant/more", parent: "grant", grants: []string{userGrant("viewer", "manage")}},
	{name: "grant/own", parent: "grant", cut: true,
		grants: []string{userGrant("stranger", "view"), userGrant("editor", "manage")}},
	{name: "grant/own/in", parent: "grant/own"},
	{name: "gone", deleted: true, grants: grants},
	{name: "gone/in", parent: "gone"},
	{name: "void", deleted: true},
	{name: "void/in", parent: "void"},
}

// assetsOf are the assets of the tables with the folders they are in.
var assetsOf = []struct {
	name    string
	folders []string
}{
	{"loose", nil}, {"taken out", []string{"grant"}}, {"open", []string{"open"}},
	{"open/child", []string{"open/child"}},
	{"open/view", []string{"open/view"}}, {"open/cut", []string{"open/cut"}}, {"grant", []string{"grant"}},
	{"grant/in", []string{"grant/in"}},
	{"grant/more", []string{"grant/more"}}, {"grant/own", []string{"grant/own"}},
	{"open+cut", []string{"open", "open/cut"}},
	{"grant+own", []string{"grant", "grant/own"}}, {"gone", []string{"gone"}}, {"gone/in", []string{"gone/in"}},
	{"gone+open", []string{"gone", "open"}}, {"gone+grant", []string{"gone", "grant"}}, {"void", []string{"void"}},
	{"gone+cut", []string{"gone", "open/cut"}},
	{"all of grant", []string{"grant", "grant/in", "grant/more", "grant/own"}},
}

// everything is what a whole world holds.
func everything(string) bool { return true }

// build fills the world: of apps, folders and assets those whose names keep takes, each made at the
// same moment in every world.
func (w *world) build(keepApp, keepFolder, keepAsset func(string) bool) *world {
	w.t.Helper()
	w.tick(1)
	for _, name := range []string{"used", "unused", "dropped"} {
		w.addComponent(name)
	}
	for i, a := range appsOf {
		if w.tick(10 + 3*i); keepApp(a.name) {
			w.buildApp(i)
		}
	}
	w.must(builder, "DELETE", "/components/dropped", "", 204)
	for i := range foldersOf {
		if w.tick(100 + i); keepFolder(foldersOf[i].name) {
			w.buildFolder(i)
		}
	}
	for i, a := range assetsOf {
		if w.tick(200 + i); keepAsset(a.name) {
			w.buildAsset(i, keepFolder)
		}
	}
	for _, f := range foldersOf {
		if f.deleted && keepFolder(f.name) {
			w.must(builder, "POST", library+"/folders", fmt.Sprintf(`{"delete":[%q]}`, w.folders[f.name]), 200)
		}
	}
	w.tick(300)
	w.folders["second"] = w.folderIn(second, `{"label":"second"}`)
	w.assets["second"] = w.assetIn(second, "second", nil)
	w.buildReviews()
	w.tick(400)
	return w
}

func (w *world) addComponent(name string) {
	w.must(builder, "POST", "/components/",
		fmt.Sprintf(`{"name":%q,"version":"1.0.0","main":"https://x.example/a.js","configSchema":{}}`, name), 201)
}

// buildApp makes an app of two versions, with a tag on each.
func (w *world) buildApp(i int) {
	a := appsOf[i]
	by := as(network + ":user=" + a.owner)
	r := w.must(by, "POST", "/apps/", fmt.Sprintf(`{"title":%q,"groups":%s,"elements":[
		{"component":{"name":"used","version":"1.0.0"},"config":{"t":"XX"}},{"component":{"name":"dropped","version":"1.0.0"},"config":{}}]}`,
		"app "+a.name, text(a.versions[0])), 201)
	var out struct{ ID string }
	r.read(&out)
	w.apps[a.name] = out.ID
	for v, groups := range a.versions[1:] {
		w.tick(10 + 3*i + 1 + v)
		w.must(by, "PATCH", "/apps/"+out.ID, patch(fmt.Sprint(v), "app "+a.name+" again", groups), 200)
	}
	for v, tag := range []string{"old", "new"} {
		w.must(by, "PUT", "/apps/"+out.ID+"/tags/"+tag, fmt.Sprintf(`{"appVersion":"%d"}`, v), 201)
	}
}

// patch is a patch of the title and, where there are some, the groups.
func patch(version, title string, groups []string) string {
	ops := fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":%q},{"op":"replace","path":"/apps/0/title",`+
		`"value":%q}`, version, title)
	if groups != nil {
		ops += `,{"op":"replace","path":"/apps/0/groups","value":` + text(groups) + `}`
	}
	return ops + "]"
}

func (w *world) buildFolder(i int) {
	f := foldersOf[i]
	path := "/"
	if f.parent != "" {
		path = w.path(f.parent)
	}
	var list []json.RawMessage
	for _, g := range f.grants {
		list = append(list, json.RawMessage(g))
	}
	w.folders[f.name] = w.folderIn(library, fmt.Sprintf(`{"label":%q,"path":%q,"inherit":%t,"permissions":%s}`,
		"folder "+f.name, path, !f.cut, text(append([]json.RawMessage{}, list...))))
}

func (w *world) folderIn(lib, create string) string {
	var out struct{ Folders []struct{ ID string } }
	w.must(builder, "POST", lib+"/folders", `{"create":[`+create+`]}`, 200).read(&out)
	return out.Folders[0].ID
}

// path is the path of what is in a folder.
func (w *world) path(name string) string {
	for _, f := range foldersOf {
		if f.name == name && f.parent != "" {
			return w.path(f.parent) + "/" + w.folders[name]
		}
	}
	return "/" + w.folders[name]
}

func (w *world) buildAsset(i int, keepFolder func(string) bool) {
	a := assetsOf[i]
	folders := []string{}
	for _, f := range a.folders {
		if keepFolder(f) {
			folders = append(folders, w.folders[f])
		}
	}
	id := w.assetIn(library, a.name, folders)
	w.assets[a.name] = id
	if a.name == "taken out" && len(folders) > 0 {
		w.must(builder, "POST", library+"/folder/"+folders[0]+"/assets", fmt.Sprintf(`{"remove":[%q]}`, id), 200)
	}
	w.must(builder, "POST", library+"/attributes",
		fmt.Sprintf(`{"assets":[%q],"add":[{"key":"name","value":%q},{"key":"all","value":"same"}]}`, id, a.name), 200)
}

// assetIn adds an asset whose foreign id is its name.
func (w *world) assetIn(lib, name string, folders []string) string {
	var out struct{ Added []struct{ ID string } }
	w.must(builder, "POST", lib+"/assets", `{"add":[`+newAsset(name, folders)+`]}`, 200).read(&out)
	return out.Added[0].ID
}

func newAsset(name string, folders []string) string {
	return fmt.Sprintf(`{"id":%q,"generator":{"id":"g.example"},"content":{"content":%q},"folders":%s,`+
		`"safe_tags":["tag"]}`,
		name, "words of "+name, text(append([]string{}, folders...)))
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
