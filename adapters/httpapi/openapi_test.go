package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// whole is the description of a server of everything.
var whole = sync.OnceValues(func() (*document, error) {
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		return nil, err
	}
	return parseDocument(text)
})

// described returns a transport that holds every exchange to openapi.json: a request that is taken, or
// an answer, that is not as it is described there fails the test.
func described(t testing.TB, c httpapi.Config) *transport {
	t.Helper()
	doc, err := whole()
	if c.Apps == nil {
		doc, err = parseDocument([]byte(served(t, c)))
	}
	if err != nil {
		t.Fatal(err)
	}
	base := strings.TrimSuffix("/"+strings.Trim(c.BasePath, "/"), "/")
	return &transport{Document: doc, Base: base, Next: client.Transport, Tell: func(err error) {
		t.Errorf("openapi.json: %v", err)
	}}
}

// served returns openapi.json as a server of this configuration has it.
func served(t testing.TB, c httpapi.Config) string {
	t.Helper()
	c.Observer = nil
	h, err := httpapi.New(c)
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest("GET", strings.TrimRight(c.BasePath, "/")+"/openapi.json", nil))
	return rec.Body.String()
}

func TestOpenAPINamesItsAddress(t *testing.T) {
	for _, c := range []struct{ path, url, base, root string }{
		{"", "", "/", "/"},
		{"/v4", "", "/v4", "/"},
		{"/v4", "https://api.example.test/x/", "https://api.example.test/x", "/"},
		{"/v4", "https://api.example.test/v4", "https://api.example.test/v4", "https://api.example.test"},
		{"", "https://api.example.test/x", "https://api.example.test/x", "https://api.example.test/x"},
	} {
		w := newWorld(t, func(conf *httpapi.Config) { conf.BasePath, conf.BaseURL = c.path, c.url })
		type server struct{ URL string }
		var doc struct {
			Servers []server
			Paths   map[string]struct{ Servers []server }
		}
		w.send("GET", c.path+"/openapi.json", "").want(200).read(&doc)
		if len(doc.Servers) != 1 || doc.Servers[0].URL != c.base {
			t.Errorf("%+v: servers %v", c, doc.Servers)
		}
		if own := doc.Paths["/healthz"].Servers; len(own) != 1 || own[0].URL != c.root {
			t.Errorf("%+v: servers of /healthz %v", c, own)
		}
		if own := doc.Paths["/apps"].Servers; own != nil {
			t.Errorf("%+v: servers of /apps %v", c, own)
		}
	}
}

func TestOpenAPILeavesOutWhatIsNotServed(t *testing.T) {
	all := func(c *httpapi.Config) {
		c.Assets, c.Reviews = assets.New(memory.New(), nil), reviews.New(memory.New(), nil)
	}
	const library = "/services/frontline/api/v4/assetManager//{network}/assetLibrary/{library}"
	for _, c := range []struct {
		name          string
		change        func(*httpapi.Config)
		there, absent string
	}{
		{"apps", func(c *httpapi.Config) { all(c); c.Apps = nil }, library + "/assets", "/apps"},
		{"assets", func(c *httpapi.Config) { all(c); c.Assets = nil }, "/apps/{id}", library + "/assets"},
		{"reviews", func(c *httpapi.Config) { all(c); c.Reviews = nil }, "/components", "/x/reviews/import"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.change)
			var doc struct{ Paths map[string]any }
			w.send("GET", "/openapi.json", "").want(200).read(&doc)
			if doc.Paths[c.there] == nil || doc.Paths["/healthz"] == nil || doc.Paths[c.absent] != nil {
				t.Errorf("%d paths, of which %s: %t, and %s: %t", len(doc.Paths), c.there, doc.Paths[c.there] != nil,
					c.absent, doc.Paths[c.absent] != nil)
			}
		})
	}
}

// asker asks every operation of a server; the world holds the answers to openapi.json.
type asker struct {
	*world
	ids   map[string]string // what {name} stands for, in paths, queries and bodies
	asked map[string]bool   // by method and path
	etag  string            // of the last answer that had one
}

// ask carries out an operation and returns the members of its response.
func (a *asker) ask(method, path, query, body string) (members map[string]any) {
	a.t.Helper()
	var names []string
	for name, id := range a.ids {
		names = append(names, "{"+name+"}", id)
	}
	fill := strings.NewReplacer(names...)
	base := "/v4"
	if strings.HasPrefix(path, "/services/") || path == "/healthz" {
		base = ""
	}
	var options []option
	if strings.HasSuffix(path, "/convert") {
		options = append(options, setType("text/csv"))
	}
	if strings.Contains(path, "/asset/") && method != "GET" {
		options = append(options, header("If-Match", a.etag))
	}
	r := a.as(editor, method, base+fill.Replace(path+query), fill.Replace(body), options...)
	if r.status >= 300 {
		a.t.Fatalf("%s: %d %s", r.what, r.status, r.body)
	}
	a.asked[method+" "+strings.TrimSuffix(path, "/")], a.etag = true, r.header.Get("Etag")
	_ = json.Unmarshal([]byte(r.body), &members) // some have no body, and one is a page
	return members
}

// firstID returns the id of the first of the things that a member lists.
func firstID(list any) string { return fmt.Sprint(list.([]any)[0].(map[string]any)["id"]) }

func TestEveryOperationAnswersAsOpenAPISays(t *testing.T) {
	const library = "/services/frontline/api/v4/assetManager//{network}/assetLibrary/{library}"
	w := newWorld(t, func(c *httpapi.Config) {
		c.BasePath, c.Assets, c.Reviews = "/v4", assets.New(memory.New(), nil), reviews.New(memory.New(), nil)
	})
	a := &asker{world: w, asked: map[string]bool{}, ids: map[string]string{
		"network": "example.test", "library": "example.test", "name": "c", "tag": "live", "version": "0", "from": "0",
		"to": "1"}}
	a.ask("GET", "/cors.html", "", "")
	a.ask("GET", "/openapi.json", "", "")
	a.ask("GET", "/healthz", "", "")
	a.ask("POST", "/components/", "", `{"name":"c","version":"1","main":"/x.js","configSchema":{},"more":[1.10]}`)
	a.ask("GET", "/components/", "", "")
	a.ask("GET", "/components/{name}", "", "")
	a.ask("GET", "/components/{name}/versions/", "?limit=1", "")
	a.ids["version"] = "1"
	a.ask("GET", "/components/{name}/versions/{version}", "", "")
	a.ids["version"] = "0"
	a.ids["id"] = fmt.Sprint(a.ask("POST", "/apps/", "",
		`{"title":"x","groups":["urn:vitrine:example.test"],"elements":[{"component":{"name":"c","version":"1"},`+
			`"config":{"a":1e400}}]}`)["id"])
	a.ask("GET", "/apps/", "?usingComponent=c&sort=updatedAt&limit=1", "")
	a.ask("GET", "/apps/{id}", "?withDefaults=true&lang=de", "")
	a.ask("PATCH", "/apps/{id}", "",
		`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"copy","from":"/apps/0/elements/0",`+
			`"path":"/apps/0/elements/-"}]`)
	a.ask("GET", "/apps/versions/", "?appId={id}&before=1", "")
	a.ask("GET", "/apps/{id}/versions/", "?limit=1", "")
	a.ask("GET", "/apps/{id}/versions/{version}", "", "")
	a.ask("GET", "/apps/{id}/versions/{from}/diff/{to}", "", "")
	a.ask("GET", "/apps/{id}/history/", "?limit=1", "")
	a.ask("POST", "/apps/versions/restore", "", `{"id":"{id}","version":"0","note":"n"}`)
	a.ids["other"], a.ids["id"] = a.ids["id"],
		fmt.Sprint(a.ask("POST", "/apps/", "", `{"title":"y","groups":["urn:vitrine:example.test"]}`)["id"])
	a.ask("DELETE", "/apps/{id}", "", "")
	a.ask("POST", "/apps/{id}/undelete", "", "")
	a.ask("DELETE", "/apps/{id}", "", "")
	a.ask("GET", "/apps/", "?deleted=true&view=summary", "")
	a.ask("POST", "/apps/{id}/erase", "", "")
	a.ids["id"] = a.ids["other"]
	a.ask("GET", "/apps/",
		"?view=summary&q=x&usingComponent=c&usingVersion=1&group=urn:vitrine:example.test&owner="+editor.URN, "")
	a.ask("GET", "/apps/", "?q=x&in=title,content", "")
	a.ask("GET", "/apps/{id}/people", "", "")
	a.ids["comment"] = fmt.Sprint(a.ask("POST", "/apps/{id}/comments/", "",
		`{"text":"x","element":"0.0","pointer":"/a","version":"0","mentions":[]}`)["id"])
	a.ask("POST", "/apps/{id}/comments/", "", `{"text":"y","element":null,"pointer":null}`)
	a.ask("POST", "/apps/{id}/comments/{comment}/replies", "", `{"text":"z"}`)
	a.ask("PATCH", "/apps/{id}/comments/{comment}", "", `{"resolved":true}`)
	a.ask("PATCH", "/apps/{id}/comments/{comment}", "", `{"text":"w","mentions":[]}`)
	a.ask("GET", "/apps/{id}/comments/", "?open=false&limit=1", "")
	a.ask("GET", "/apps/", "?view=summary", "")
	a.ask("DELETE", "/apps/{id}/comments/{comment}", "", "")
	link := a.ask("POST", "/apps/{id}/previews/", "", `{"version":"latest","release":null,"days":1,"note":"n"}`)
	_, secret, _ := strings.Cut(fmt.Sprint(link["url"]), "#")
	w.send("GET", "/v4/x/show/app?lang=de", "", header("Authorization", "Bearer "+secret)).want(200)
	a.asked["GET /x/show/app"], a.ids["preview"] = true, fmt.Sprint(link["id"])
	a.ask("GET", "/apps/{id}/previews/", "", "")
	a.ask("DELETE", "/apps/{id}/previews/{preview}", "", "")
	a.ask("PUT", "/apps/{id}/tags/{tag}", "?embedApps=true", `{"appVersion":"0"}`)
	a.ask("GET", "/apps/{id}/tags/", "?embedApps=true&limit=1&after=a", "")
	a.ask("GET", "/apps/{id}/tags/{tag}", "?embedApps=false", "")
	a.ask("GET", "/apps/{id}/tagged/{tag}", "", "")
	key := w.token(
		httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=page", Reads: []string{network}, TagsOnly: true,
			Tags: []string{"live"}}})
	w.send("GET", "/v4/x/public/live?app="+a.ids["id"]+"&app=absent&key="+key, "").want(200)
	a.asked["GET /x/public/{tag}"] = true
	// its key is none of these tokens, see TestShownReviews
	a.asked["GET /x/public/reviews/{network}/{collection}"] = true
	a.asked["GET /x/public/assets/{network}/{library}/{folder}"] = true // see TestShownFolders
	a.ask("GET", "/tags/{tag}", "?appId={id}&appId=x", "")
	a.ask("PUT", "/apps/{id}/tags/{tag}", "", `{"appVersion":"1","from":"0"}`)
	a.ask("GET", "/apps/{id}/tags/{tag}/history/", "?limit=1", "")
	a.ids["app"] = a.ids["id"]
	move := `"moves":[{"app":"{app}","tag":"live","from":"1","to":"0"}]`
	version := func(r map[string]any) string { return fmt.Sprintf(`{"version":%q}`, r["version"]) }
	release := a.ask("POST", "/x/releases/", "", `{"name":"r",`+move+`}`)
	a.ids["id"] = fmt.Sprint(release["id"])
	release = a.ask("PUT", "/x/releases/{id}", "",
		`{"version":"0","name":"r","note":"n","at":1700000100000,"until":1700000200000,`+move+`}`)
	second := httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=second", Moderates: []string{network}}}
	a.as(second, "POST", "/v4/x/releases/"+a.ids["id"]+"/approve", version(release)).want(200).read(&release)
	a.asked["POST /x/releases/{id}/approve"] = true
	a.ask("GET", "/x/releases/{id}/approvers", "?q=x", "")
	a.ask("GET", "/x/inbox/", "?limit=1", "")
	a.ask("POST", "/x/inbox/seen", "", `{"until":1}`)
	a.ask("GET", "/x/releases/", "?state=scheduled&app={app}&limit=1", "")
	a.ask("GET", "/x/releases/{id}", "", "")
	release = a.ask("POST", "/x/releases/{id}/run", "", version(release))
	a.ask("POST", "/x/releases/{id}/undo", "", version(release))
	release = a.ask("POST", "/x/releases/", "", `{"name":"r",`+move+`}`)
	a.ids["id"] = a.ids["app"]
	a.ask("GET", "/apps/{id}/tagged/{tag}", "?release="+fmt.Sprint(release["id"]), "")
	a.ids["id"] = fmt.Sprint(release["id"])
	a.ask("POST", "/x/releases/{id}/cancel", "", version(release))
	a.ids["id"] = a.ids["app"]
	a.ask("GET", "/x/changes", "", "")
	a.ask("GET", "/x/changes", "?types=tag.set,app.created&app={id}&limit=1", "")
	a.ask("DELETE", "/apps/{id}/tags/{tag}", "", "")
	a.ask("POST", "/components/{name}/check", "",
		`{"name":"c","version":"3","main":"/x.js","configSchema":{"required":["absent"],"requierd":[]}}`)
	a.ask("POST", "/components/", "",
		`{"name":"c","version":"2","main":"/x.js","configSchema":{"required":["absent"]}}`)
	a.ask("POST", "/components/{name}/upgrade", "?dryRun=true", `{"to":"2"}`)
	a.ask("POST", "/x/replace", "?dryRun=true",
		`{"find":"xx","replace":"y","group":"urn:vitrine:example.test","component":"c",`+
			`"after":null}`)
	a.ask("POST", "/components/{name}/upgrade", "",
		`{"from":["1"],"to":"2","patch":[{"op":"add","path":"/absent","value":1}]}`)
	a.ask("DELETE", "/components/{name}", "", "")
	a.ask("POST", "/x/reviews/import", "?dryRun=true", "{}\n{\"source\":1}\n")
	a.ask("POST", "/x/reviews/convert", "?scale=10&network={network}", "sku,rating,date,name\nlamp,5,2019-04-03,Ann\n")
	a.ask("GET", "/x/reviews/export", "?network={network}", "")
	a.ask("POST", "/x/reviews/import", "",
		`{"source":"s","title":"T","created":"2020-01-02T03:04:05Z","id":"YQ==","dimensions":["a","b"],`+
			`"reviews":[{"id":"r1","imported_display_name":"N","imported_email":"n@example.test",`+
			`"imported_url":"https://example.test/","subparts":{"a":"b"},"title":"t","body_html":"",`+
			`"created":"2020-01-02T03:04:05Z","ratings":[5,6]},{"id":"r2","author_id":"u","parent_id":"r1",`+
			`"title":"t","body_html":"","created":"2020-01-02T03:04:05Z","ratings":[5,6]}]}`+"\n")
	a.ask("GET", "/x/reviews/changes", "?limit=1", "")
	a.ask("GET", "/x/reviews/collections", "?limit=1&source=s", "")
	a.ids["collection"] = "YQ=="
	a.ask("GET", "/x/reviews/collections/{collection}/reviews", "?limit=1", "")

	a.ask("DELETE", "/x/reviews", "?network={network}&source=s&email=N@example.test&dryRun=true", "")
	a.ask("DELETE", "/x/reviews", "?everything=true", "")

	a.ids["folder"] = firstID(a.ask("POST", library+"/folders", "",
		`{"create":[{"label":"x","inherit":false,"permissions":[{"operation":"view","role":{"id":"r"}}]}]}`)["folders"])
	a.ids["asset"] = firstID(a.ask("POST", library+"/assets", "",
		`{"add":[{"id":"1","generator":{"id":"g"},"folders":["{folder}"],"safe_tags":["t"],"via":1,
		"content":{"content":"x","lang":null,"more":{},"attributedTo":{"icon":{"url":{"href":"https://example.test/"}}},
		"attachment":[{"version":"1.0","type":"photo","provider_url":{"href":"https://example.test/"}}]}}]}`)["added"])
	a.ask("GET", library+"/assets", "?query=x&via=1&tags=t&order=asc&limit=2", "")
	a.ask("GET", library+"/asset/{asset}", "", "")
	a.ask("GET", library+"/folders", "?id={folder}&path=/", "")
	a.ask("GET", library+"/folder/{folder}", "", "")
	a.ask("GET", library+"/folder/{folder}/permissions", "", "")
	a.ask("POST", library+"/folder/{folder}/permissions", "",
		`{"create":[{"operation":"edit","group":"urn:vitrine:example.test:site=1"},{"operation":"edit",`+
			`"user":{"id":"u","name":"U"}}]}`)
	a.ask("POST", library+"/folder/{folder}/assets", "", `{"assign":["{asset}","none"]}`)
	a.ask("POST", library+"/attributes", "", `{"assets":["{asset}"],"add":[{"key":"k","value":""}]}`)
	a.ask("GET", library+"/attributes", "?key=k", "")
	a.ask("GET", library+"/explain", "?folder="+a.ids["folder"], "")
	uploaded := a.ask("POST", library+"/files", "?name=a%20b.pdf&folder={folder}&alt=x&title=y", "%PDF-1.7\n")
	a.ids["asset"] = fmt.Sprint(uploaded["asset"].(map[string]any)["id"])
	a.ask("GET", library+"/asset/{asset}", "", "")
	a.ask("PATCH", library+"/asset/{asset}", "", `{"alt":"z","focus":{"x":0,"y":1}}`)
	a.ask("GET", library+"/asset/{asset}", "", "")
	uploaded = a.ask("PUT", library+"/asset/{asset}/file", "", "%PDF-1.7\nother\n")
	a.ids["id"] = fmt.Sprint(uploaded["asset"].(map[string]any)["content"].(map[string]any)["id"])
	a.ids["name"] = "a%20b.pdf"
	a.ask("GET", "/x/file/{id}/{name}", "?w=320", "")
	a.ask("GET", library+"/assets", "?type=link,none&alt=missing&facets=type", "")
	a.ask("GET", library+"/changes", "?limit=10", "")

	a.ask("GET", "/x/me", "", "")
	a.ask("GET", "/x/languages", "", "")

	described := w.told.Document.Operations()
	for _, operation := range described {
		if !strings.HasSuffix(operation, " /tags/{name}") && !a.asked[operation] {
			t.Errorf("%s was not asked", operation)
		}
	}
	if len(a.asked) != len(described) {
		t.Errorf("%d operations are described, %d were asked", len(described), len(a.asked))
	}
}
