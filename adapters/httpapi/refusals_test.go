package httpapi_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// refused is what a program reads of an error.
type refused struct {
	Error      string
	Code       string
	Pointer    string
	Parameter  string
	Version    string
	Violations []struct{ Pointer, Keyword, Message string }
}

// place is where an error says that something is wrong.
func (r refused) place() string {
	if r.Parameter != "" {
		return r.Parameter
	}
	return r.Pointer
}

// refusalWorld is a server with an app of id {id}: two versions, a tag on the first, an element whose
// config must have a text and may have a number.
func refusalWorld(t *testing.T) (*world, func(string) string) {
	w := newWorld(t, func(c *httpapi.Config) {
		c.Apps = appsvc.New(memory.New(),
			&appsvc.Options{Limits: appsvc.Limits{Tags: 2, PatchOps: 20, PatchBytes: 4096, ManifestBytes: 2048,
				Elements: 3, Groups: 2}})
		c.Assets, c.Reviews = assets.New(memory.New(), nil), reviews.New(memory.New(), nil)
		c.Limits.Body = 8192
	})
	w.as(editor, "POST", "/components/",
		`{"id":"p","name":"poll","version":"1","main":"/x.js","configSchema":{"required":["ask"],`+
			`"properties":{"ask":{"type":"string"},"size":{"type":"number"}}}}`).want(201)
	var app struct{ ID string }
	w.as(editor, "POST", "/apps/",
		`{"title":"x","groups":["`+network+
			`"],"elements":[{"component":{"name":"poll","version":"1"},"config":{"ask":"Tea?"}}]}`,
		header("Idempotency-Key", "used")).want(201).read(&app)
	w.as(editor, "PATCH", "/apps/"+app.ID,
		`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/title",`+
			`"value":"y"}]`).want(200)
	w.as(editor, "PUT", "/apps/"+app.ID+"/tags/live", `{"appVersion":"0"}`).want(201)
	w.as(editor, "PUT", "/apps/"+app.ID+"/tags/more", `{"appVersion":"0"}`).want(201)
	fill := strings.NewReplacer("{id}", app.ID, "{net}", network, "{test}",
		`{"op":"test","path":"/apps/0/version","value":"1"}`,
		"{lib}", "/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test")
	return w, fill.Replace
}

// The places and codes of everything that a request can be refused for. A place is a JSON pointer or the name
// of a parameter or header.
var refusals = []struct {
	name, request, body string
	status              int
	code, place         string
}{
	// The transport.
	{"no path", "GET /none", "", 404, "not_found", ""},
	{"no method", "PATCH /components/", "", 405, "method_not_allowed", ""},
	{"another media type", "POST /apps/ Content-Type=text/plain", "x", 415, "media_type", "Content-Type"},
	{"another charset", "POST /apps/ Content-Type=application/json;charset=latin1", "{}", 415, "media_type",
		"Content-Type"},
	{"a coding of the body", "POST /apps/ Content-Encoding=gzip", "{}", 415, "media_type", "Content-Encoding"},
	{"a body over the limit", "POST /apps/", strings.Repeat(" ", 8193), 413, "too_large", ""},
	{"an empty key", "POST /apps/ Idempotency-Key=", "{}", 400, "invalid", "Idempotency-Key"},
	{"two keys", "POST /apps/ Idempotency-Key=a Idempotency-Key=b", "{}", 400, "invalid", "Idempotency-Key"},
	{"a key with a space", "POST /apps/ Idempotency-Key=a+b", `{"title":"x","groups":["{net}"]}`, 400, "invalid",
		"Idempotency-Key"},
	{"a key where none is taken", "PATCH /apps/{id} Idempotency-Key=a", "[{test}]", 400, "invalid", "Idempotency-Key"},
	{"a key of another request", "POST /apps/ Idempotency-Key=used", `{"title":"other","groups":["{net}"]}`, 422,
		"key_reused", "Idempotency-Key"},
	{"an unknown parameter of a write", "POST /apps/?colour=red", "{}", 400, "invalid", "colour"},
	{"a parameter that cannot be decoded", "GET /apps/?sort=%zz", "", 400, "invalid", "sort"},
	{"an unknown parameter that cannot be decoded", "POST /apps/?colour=%zz", "{}", 400, "invalid", ""},
	{"a parameter that is no text", "GET /apps/?usingComponent=%ff", "", 400, "invalid", "usingComponent"},
	{"a parameter twice", "GET /apps/?sort=createdAt&sort=createdAt", "", 400, "invalid", "sort"},

	// JSON.
	{"no JSON", "POST /apps/", "{", 400, "invalid", ""},
	{"nothing", "POST /apps/", "", 400, "invalid", ""},
	{"two values", "POST /apps/", "{} {}", 400, "invalid", ""},
	{"an unknown member", "POST /apps/", `{"title":"x","groups":["{net}"],"colour":1}`, 400, "invalid", "/colour"},
	{"an unknown member of a component", "POST /apps/",
		`{"title":"x","groups":["{net}"],"elements":[{"component":{"name":"poll","version":"1","main":"x"},` +
			`"config":{}}]}`, 400, "invalid", "/elements/0/component/main"},
	{"a member twice", "POST /apps/", `{"title":"x","title":"x"}`, 400, "invalid", "/title"},
	{"a member of another case", "POST /apps/", `{"Title":"x"}`, 400, "invalid", "/Title"},
	{"another type", "POST /apps/", `{"title":1,"groups":["{net}"]}`, 400, "invalid", "/title"},
	{"null in place of a list", "POST /apps/", `{"title":"x","groups":null}`, 400, "invalid", "/groups"},
	{"another type in a list", "POST /apps/", `{"title":"x","groups":["{net}",1]}`, 400, "invalid", "/groups/1"},
	{"U+0000", "POST /apps/", `{"title":"\u0000","groups":["{net}"]}`, 400, "invalid", "/title"},
	{"a lone surrogate", "POST /apps/", `{"title":"\ud800","groups":["{net}"]}`, 400, "invalid", "/title"},

	// Creating apps.
	{"no title", "POST /apps/", `{"groups":["{net}"]}`, 400, "invalid", "/title"},
	{"an empty title", "POST /apps/", `{"title":"","groups":["{net}"]}`, 400, "invalid", "/title"},
	{"no groups", "POST /apps/", `{"title":"x"}`, 400, "invalid", "/groups"},
	{"too many groups", "POST /apps/", `{"title":"x","groups":["{net}","{net}:site=1","{net}:site=2"]}`, 400, "invalid",
		"/groups"},
	{"a group that is no URN", "POST /apps/", `{"title":"x","groups":["{net}","x"]}`, 400, "invalid", "/groups/1"},
	{"a group twice", "POST /apps/", `{"title":"x","groups":["{net}","{net}"]}`, 400, "invalid", "/groups/1"},
	{"a group of others", "POST /apps/", `{"title":"x","groups":["{net}","urn:vitrine:other.test"]}`, 403, "forbidden",
		"/groups/1"},
	{"too many elements", "POST /apps/",
		`{"title":"x","groups":["{net}"],"elements":[` +
			strings.Repeat(`{"component":{"name":"poll","version":"1"},"config":{"ask":""}},`, 3) +
			`{"component":{"name":"poll","version":"1"},"config":{"ask":""}}]}`, 400, "invalid", "/elements"},
	{"no component", "POST /apps/", `{"title":"x","groups":["{net}"],"elements":[{"config":{}}]}`, 400, "invalid",
		"/elements/0/component/name"},
	{"no config", "POST /apps/",
		`{"title":"x","groups":["{net}"],"elements":[{"component":{"name":"poll","version":"1"}}]}`, 400, "invalid",
		"/elements/0/config"},
	{"a config that is no object", "POST /apps/",
		`{"title":"x","groups":["{net}"],"elements":[{"component":{"name":"poll","version":"1"},"config":[]}]}`, 400,
		"invalid", "/elements/0/config"},
	{"an unknown component", "POST /apps/",
		`{"title":"x","groups":["{net}"],"elements":[{"component":{"name":"poll","version":"2"},"config":{}}]}`, 422,
		"unknown_component", "/elements/0/component"},
	{"a config against its schema", "POST /apps/",
		`{"title":"x","groups":["{net}"],"elements":[{"component":{"name":"poll","version":"1"},` +
			`"config":{"size":"L"}}]}`, 422, "schema", "/elements/0/config"},

	// Reading apps.
	{"an unknown order", "GET /apps/?sort=title", "", 400, "invalid", "sort"},
	{"no order", "GET /apps/?sort=", "", 400, "invalid", "sort"},
	{"a limit of 0", "GET /apps/?limit=0", "", 400, "invalid", "limit"},
	{"a limit of 501", "GET /apps/?limit=501", "", 400, "invalid", "limit"},
	{"a limit that is no number", "GET /apps/?limit=x", "", 400, "invalid", "limit"},
	{"a cursor that is none", "GET /apps/?after=x", "", 400, "invalid", "after"},
	{"an empty cursor", "GET /apps/?after=", "", 400, "invalid", "after"},
	{"no app", "GET /apps/none", "", 404, "not_found", ""},
	{"withDefaults that is neither", "GET /apps/{id}?withDefaults=yes", "", 400, "invalid", "withDefaults"},
	{"no version of an app", "GET /apps/{id}/versions/9", "", 404, "not_found", ""},
	{"no number of a version", "GET /apps/{id}/versions/x", "", 404, "not_found", ""},
	{"versions of no app", "GET /apps/versions/", "", 400, "invalid", "appId"},
	{"versions of an app twice", "GET /apps/versions/?appId=a&appId=b", "", 400, "invalid", "appId"},
	{"versions of two apps", "GET /apps/versions/?appId=a&id=b", "", 400, "invalid", "appId"},
	{"versions of an app with an empty id", "GET /apps/versions/?id=", "", 400, "invalid", "id"},
	{"before no version", "GET /apps/{id}/versions/?before=x", "", 400, "invalid", "before"},
	{"the difference to no version", "GET /apps/{id}/versions/0/diff/9", "", 404, "not_found", ""},
	{"the difference from no version", "GET /apps/{id}/versions/9/diff/0", "", 404, "not_found", ""},
	{"the difference to no number", "GET /apps/{id}/versions/0/diff/x", "", 404, "not_found", ""},
	{"the difference from no number", "GET /apps/{id}/versions/latest/diff/0", "", 404, "not_found", ""},
	{"history before no version", "GET /apps/{id}/history/?before=x", "", 400, "invalid", "before"},
	{"limit of the history", "GET /apps/{id}/history/?limit=501", "", 400, "invalid", "limit"},
	{"history of no app", "GET /apps/none/history/", "", 404, "not_found", ""},
	{"limit of versions", "GET /apps/{id}/versions/?limit=501", "", 400, "invalid", "limit"},

	// PATCH.
	{"no version test", "PATCH /apps/{id}", `[]`, 400, "invalid", ""},
	{"no patch", "PATCH /apps/{id}", `{}`, 400, "invalid", ""},
	{"a patch of no app", "PATCH /apps/none", `[{test}]`, 404, "not_found", ""},
	{"a stale version", "PATCH /apps/{id}", `[{"op":"test","path":"/apps/0/version","value":"0"}]`, 409,
		"stale_version", ""},
	{"a failed test", "PATCH /apps/{id}", `[{test},{"op":"test","path":"/apps/0/title","value":"x"}]`, 409,
		"test_failed", "/1"},
	{"too many operations", "PATCH /apps/{id}",
		`[{test}` + strings.Repeat(`,{"op":"test","path":"","value":1}`, 20) + `]`, 413, "too_large", ""},
	{"a patch over its limit", "PATCH /apps/{id}", `[{test}` + strings.Repeat(" ", 4096) + `]`, 413, "too_large", ""},
	{"an unknown operation", "PATCH /apps/{id}", `[{test},{"op":"swap","path":"/apps/0/title"}]`, 400, "invalid",
		"/1/op"},
	{"an operation without its value", "PATCH /apps/{id}", `[{test},{"op":"add","path":"/apps/0/title"}]`, 400,
		"invalid", "/1/value"},
	{"an unknown member of an operation", "PATCH /apps/{id}", `[{test},{"op":"remove","path":"/apps/0/title","x":1}]`,
		400, "invalid", "/1/x"},
	{"a path that is no pointer", "PATCH /apps/{id}", `[{test},{"op":"remove","path":"apps"}]`, 400, "invalid",
		"/1/path"},
	{"a path to nowhere", "PATCH /apps/{id}", `[{test},{"op":"remove","path":"/apps/0/elements/7"}]`, 422,
		"not_applicable", "/1"},
	{"a read-only member", "PATCH /apps/{id}", `[{test},{"op":"replace","path":"/apps/0/owner/urn","value":"x"}]`, 422,
		"read_only", "/apps/0/owner"},
	{"a new member of the app", "PATCH /apps/{id}", `[{test},{"op":"add","path":"/apps/0/colour","value":"x"}]`, 422,
		"read_only", "/apps/0/colour"},
	{"a title of another type", "PATCH /apps/{id}", `[{test},{"op":"replace","path":"/apps/0/title","value":1}]`, 422,
		"not_applicable", "/apps/0/title"},
	{"an empty title in the result", "PATCH /apps/{id}", `[{test},{"op":"replace","path":"/apps/0/title","value":""}]`,
		422, "limit", "/apps/0/title"},
	{"a group that is no URN in the result", "PATCH /apps/{id}",
		`[{test},{"op":"add","path":"/apps/0/groups/1","value":"x"}]`, 422, "not_applicable", "/apps/0/groups/1"},
	{"adding a group of others", "PATCH /apps/{id}",
		`[{test},{"op":"add","path":"/apps/0/groups/0","value":"urn:vitrine:other.test"}]`, 403, "forbidden",
		"/apps/0/groups/0"},
	{"an element that is neither new nor kept", "PATCH /apps/{id}",
		`[{test},{"op":"remove","path":"/apps/0/elements/0/component/main"}]`, 422, "read_only",
		"/apps/0/elements/0/component/main"},
	{"an element without its config", "PATCH /apps/{id}", `[{test},{"op":"remove","path":"/apps/0/elements/0/config"}]`,
		422, "not_applicable", "/apps/0/elements/0/config"},
	{"an unknown component in the result", "PATCH /apps/{id}",
		`[{test},{"op":"replace","path":"/apps/0/elements/0/component/version","value":"2"}]`, 422, "unknown_component",
		"/apps/0/elements/0/component"},
	{"a config against its schema in the result", "PATCH /apps/{id}",
		`[{test},{"op":"replace","path":"/apps/0/elements/0/config/ask","value":1}]`, 422, "schema",
		"/apps/0/elements/0/config"},

	// Restore.
	{"restore of no app", "POST /apps/versions/restore", `{"appVersion":"0"}`, 400, "invalid", "/appId"},
	{"restore with an empty id", "POST /apps/versions/restore", `{"id":"","version":"0"}`, 400, "invalid", "/id"},
	{"restore of an app that is not there", "POST /apps/versions/restore", `{"appId":"none","appVersion":"0"}`, 404,
		"not_found", "/appId"},
	{"restore of an app that is not there, by its other name", "POST /apps/versions/restore",
		`{"id":"none","version":"0"}`, 404, "not_found", "/id"},
	{"restore of no version", "POST /apps/versions/restore", `{"appId":"{id}"}`, 400, "invalid", "/appVersion"},
	{"restore of a version that is not there", "POST /apps/versions/restore", `{"appId":"{id}","appVersion":"9"}`, 404,
		"not_found", "/appVersion"},
	{"restore of a version that is none", "POST /apps/versions/restore", `{"appId":"{id}","version":"x"}`, 404,
		"not_found", "/version"},
	{"restore of a version that is not there, by its other name", "POST /apps/versions/restore",
		`{"id":"{id}","version":"9"}`, 404, "not_found", "/version"},
	{"restore under both names", "POST /apps/versions/restore", `{"id":"{id}","appId":"{id}","version":"0"}`, 400,
		"invalid", "/id"},
	{"restore of a number", "POST /apps/versions/restore", `{"appId":"{id}","appVersion":0}`, 400, "invalid",
		"/appVersion"},
	{"restore of null", "POST /apps/versions/restore", `{"appId":"{id}","appVersion":null}`, 400, "invalid",
		"/appVersion"},
	{"restore of what is not the latest", "POST /apps/versions/restore", `{"appId":"{id}","latest":false}`, 400,
		"invalid", "/latest"},
	{"restore of the latest and a version", "POST /apps/versions/restore", `{"id":"{id}","latest":true,"version":"0"}`,
		400, "invalid", "/latest"},

	// Tags.
	{"no tag", "GET /apps/{id}/tags/none", "", 404, "not_found", ""},
	{"embedApps that is neither", "GET /apps/{id}/tags/?embedApps=1", "", 400, "invalid", "embedApps"},
	{"limit of tags", "GET /apps/{id}/tags/?limit=0", "", 400, "invalid", "limit"},
	{"a tag without a version", "PUT /apps/{id}/tags/live", `{}`, 400, "invalid", "/appVersion"},
	{"a tag on a number", "PUT /apps/{id}/tags/live", `{"appVersion":0}`, 400, "invalid", "/appVersion"},
	{"a tag on the latest and a version", "PUT /apps/{id}/tags/live", `{"latest":true,"appVersion":"0"}`, 400,
		"invalid", "/latest"},
	{"a tag on what is not the latest", "PUT /apps/{id}/tags/live", `{"latest":false}`, 400, "invalid", "/latest"},
	{"a tag from a version that is none", "PUT /apps/{id}/tags/live", `{"appVersion":"0","from":"00"}`, 400, "invalid",
		"/from"},
	{"a tag from a number", "PUT /apps/{id}/tags/live", `{"appVersion":"0","from":0}`, 400, "invalid", "/from"},
	{"a tag that is elsewhere", "PUT /apps/{id}/tags/live", `{"appVersion":"0","from":"1"}`, 409, "moved", "/from"},
	{"embedApps of a put that is neither", "PUT /apps/{id}/tags/live?embedApps=", `{"appVersion":"0"}`, 400, "invalid",
		"embedApps"},
	{"embedApps of a tag that is neither", "GET /apps/{id}/tags/live?embedApps=yes", "", 400, "invalid", "embedApps"},
	{"embedApps of a removal that is neither", "DELETE /apps/{id}/tags/live?embedApps=TRUE", "", 400, "invalid",
		"embedApps"},
	{"reading a name that no tag has", "GET /apps/{id}/tags/%FF", "", 404, "not_found", ""},
	{"deleting a name that no tag has", "DELETE /apps/{id}/tags/a%2Fb", "", 404, "not_found", ""},
	{"tagged with a name that no tag has", "GET /apps/{id}/tagged/%00", "", 404, "not_found", ""},
	{"a tag with its name in the body", "PUT /apps/{id}/tags/live", `{"appVersion":"0","name":"t"}`, 400, "invalid",
		"/name"},
	{"a tag on a version that is not there", "PUT /apps/{id}/tags/live", `{"appVersion":"9"}`, 404, "not_found",
		"/appVersion"},
	{"a tag on a version that is none", "PUT /apps/{id}/tags/live", `{"appVersion":"x"}`, 404, "not_found",
		"/appVersion"},
	{"a name that no tag has", "PUT /apps/{id}/tags/-x", `{"appVersion":"0"}`, 400, "invalid", ""},
	{"a tag too many", "PUT /apps/{id}/tags/third", `{"appVersion":"0"}`, 422, "limit", ""},
	{"a limit of moves", "GET /apps/{id}/tags/live/history?limit=501", "", 400, "invalid", "limit"},
	{"no cursor of moves", "GET /apps/{id}/tags/live/history?before=", "", 400, "invalid", "before"},
	{"deleting no tag", "DELETE /apps/{id}/tags/none", "", 404, "not_found", ""},
	{"tagged with nothing", "GET /apps/{id}/tagged/none", "", 404, "not_found", ""},
	{"tags of no apps", "GET /tags/live", "", 400, "invalid", "appId"},

	// Components.
	{"no component of this name", "GET /components/none", "", 404, "not_found", ""},
	{"a component without a name", "POST /components/", `{"version":"1","main":"/x","configSchema":{}}`, 400, "invalid",
		"/name"},
	{"a component without a version", "POST /components/", `{"name":"x","main":"/x","configSchema":{}}`, 400, "invalid",
		"/version"},
	{"a component without its script", "POST /components/", `{"name":"x","version":"1","configSchema":{}}`, 400,
		"invalid", "/main"},
	{"a component with a script in its URL", "POST /components/",
		`{"name":"x","version":"1","main":"javascript:x","configSchema":{}}`, 400, "invalid", "/main"},
	{"a component without a schema", "POST /components/", `{"name":"x","version":"1","main":"/x"}`, 400, "invalid",
		"/configSchema"},
	{"a schema that is none", "POST /components/",
		`{"name":"x","version":"1","main":"/x","configSchema":{"properties":{"a":{"type":"text"}}}}`, 400, "invalid",
		"/configSchema/properties/a/type"},
	{"a reference to nowhere", "POST /components/",
		`{"name":"x","version":"1","main":"/x","configSchema":{"properties":{"a":{"$ref":"#/none"}}}}`, 400, "invalid",
		"/configSchema/properties/a/$ref"},
	{"a component that exists", "POST /components/", `{"name":"poll","version":"1","main":"/x","configSchema":{}}`, 400,
		"exists", "/version"},
	{"an id that exists", "POST /components/", `{"id":"p","name":"x","version":"1","main":"/x","configSchema":{}}`, 400,
		"exists", "/id"},
	{"a description of another type", "POST /components/",
		`{"name":"x","version":"1","main":"/x","configSchema":{},"description":1}`, 400, "invalid", "/description"},
	{"a manifest over its limit", "POST /components/", `{"name":"x","more":"` + strings.Repeat("x", 2048) + `"}`, 413,
		"too_large", ""},
	{"deleting no component", "DELETE /components/none", "", 404, "not_found", ""},
	{"versions of no component", "GET /components/none/versions/", "", 404, "not_found", ""},
	{"limit of versions of a component", "GET /components/poll/versions/?limit=0", "", 400, "invalid", "limit"},
	{"versions after none", "GET /components/poll/versions/?after=9", "", 400, "invalid", "after"},
	{"versions after nothing", "GET /components/poll/versions/?after=", "", 400, "invalid", "after"},
	{"a check of a component of another name", "POST /components/poll/check",
		`{"name":"x","version":"2","main":"/x","configSchema":{}}`, 400, "invalid", "/name"},
	{"a check after nothing", "POST /components/poll/check?after=",
		`{"name":"poll","version":"2","main":"/x","configSchema":{}}`, 400, "invalid", "after"},
	{"a check with a limit", "POST /components/poll/check?limit=1",
		`{"name":"poll","version":"2","main":"/x","configSchema":{}}`, 400, "invalid", "limit"},
	{"no version of a component", "GET /components/poll/versions/9", "", 404, "not_found", ""},

	// Assets.
	{"an unknown member of a change", "POST {lib}/assets", `{"put":[]}`, 400, "invalid", "/put"},
	{"an asset without an id", "POST {lib}/assets", `{"add":[{"generator":{"id":"g"},"content":{}}]}`, 400, "invalid",
		"/add/0/id"},
	{"an order of assets", "GET {lib}/assets?order=up", "", 400, "invalid", "order"},
	{"via that is no number", "GET {lib}/assets?via=x", "", 400, "invalid", "via"},
	{"attributes without a key", "GET {lib}/attributes", "", 400, "invalid", "key"},
	{"attributes with an empty key", "GET {lib}/attributes?key=", "", 400, "invalid", "key"},
	{"deleted that is neither", "GET {lib}/folders?deleted=yes", "", 400, "invalid", "deleted"},
	{"a label twice", "GET {lib}/folders?label=a&label=b", "", 400, "invalid", "label"},
	{"an explanation of nothing", "GET {lib}/explain", "", 400, "invalid", "asset"},
	{"an explanation of an asset and a folder", "GET {lib}/explain?asset=a&folder=f", "", 400, "invalid", "asset"},
	{"an explanation of two folders", "GET {lib}/explain?folder=a&folder=b", "", 400, "invalid", "folder"},
	{"an explanation about no user", "GET {lib}/explain?folder=a&user=a:b", "", 400, "invalid", "user"},
	{"an explanation about too many roles", "GET {lib}/explain?folder=a" + strings.Repeat("&role=x", 101), "", 400,
		"invalid", "role"},
	{"no asset", "GET {lib}/asset/none", "", 404, "not_found", ""},

	// Reviews.
	{"a network that is none", "GET /x/reviews/export?network=a:b", "", 400, "invalid", "network"},
	{"an empty network", "GET /x/reviews/export?network=", "", 400, "invalid", "network"},
	{"a network twice", "GET /x/reviews/export?network=a&network=b", "", 400, "invalid", "network"},
	{"a network of others", "GET /x/reviews/export?network=other.test", "", 403, "forbidden", ""},
	{"an empty source", "GET /x/reviews/collections?source=", "", 400, "invalid", "source"},
	{"a limit of collections", "GET /x/reviews/collections?limit=501", "", 400, "invalid", "limit"},
	{"no cursor of collections", "GET /x/reviews/collections?after=x", "", 400, "invalid", "after"},
	{"collections of others", "GET /x/reviews/collections?network=other.test", "", 403, "forbidden", ""},
	{"no collection of reviews", "GET /x/reviews/collections/YQ/reviews", "", 404, "not_found", ""},
	{"a limit of reviews", "GET /x/reviews/collections/YQ/reviews?limit=0", "", 400, "invalid", "limit"},
	{"dryRun that is neither", "POST /x/reviews/import?dryRun=1", "{}", 400, "invalid", "dryRun"},
	{"another coding of a file", "POST /x/reviews/import Content-Encoding=br", "{}", 415, "media_type",
		"Content-Encoding"},
}

func TestEveryRefusalHasItsCodeAndPlace(t *testing.T) {
	w, fill := refusalWorld(t)
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			method, rest, _ := strings.Cut(fill(c.request), " ")
			path, headers, _ := strings.Cut(rest, " ")
			var options []option
			if c.body == "" && method != "GET" && method != "DELETE" {
				options = append(options, setType("application/json"))
			}
			for _, h := range strings.Fields(headers) {
				name, value, _ := strings.Cut(h, "=")
				value = strings.ReplaceAll(value, "+", " ")
				if name == "Content-Type" {
					options = append(options, setType(value))
				} else {
					options = append(options, header(name, value))
				}
			}
			r := w.as(editor, method, path, fill(c.body), options...)
			r.t = t
			var body refused
			r.want(c.status).read(&body)
			if body.Code != c.code || body.place() != c.place || body.Pointer != "" && body.Parameter != "" {
				t.Errorf("%s: code %q, pointer %q, parameter %q; want %q at %q", r.body, body.Code, body.Pointer,
					body.Parameter, c.code, c.place)
			}
			if c.place != "" && !strings.HasPrefix(body.Error, c.place+": ") &&
				!strings.HasPrefix(body.Error, "header "+c.place+": ") {
				t.Errorf("%q does not begin with its place %q", body.Error, c.place)
			}
			if isStale := c.status == 409; (body.Version != "") != isStale || isStale && body.Version != "1" {
				t.Errorf("the version is %q", body.Version)
			}
			if isSchema := c.code == "schema"; (len(body.Violations) > 0) != isSchema {
				t.Errorf("there are %d violations", len(body.Violations))
			}
		})
	}
}

func TestViolationsPointIntoTheConfig(t *testing.T) {
	w, fill := refusalWorld(t)
	var body refused
	w.as(editor, "PATCH", fill("/apps/{id}"),
		fill(`[{test},{"op":"replace","path":"/apps/0/elements/0/config","value":{"size":"L"}}]`)).want(422).read(&body)
	found := map[string]string{}
	for _, v := range body.Violations {
		found[v.Pointer] = v.Keyword
		if v.Message == "" {
			t.Errorf("%+v has no message", v)
		}
	}
	if len(found) != 2 || found["/size"] != "type" || found[""] != "required" {
		t.Errorf("the violations are %+v", body.Violations)
	}
}

// What net/http refuses before any handler sees it.
func TestRefusalsOfNetHTTPHaveCodes(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Listener.Close()
	server.Listener = httpapi.NewListener(l)
	server.Config.MaxHeaderBytes = 4096
	server.Start()
	t.Cleanup(server.Close)
	for name, c := range map[string]struct {
		request         string
		status          int
		code, parameter string
	}{
		"no request":             {"hello\r\n\r\n", 400, "invalid", ""},
		"no host":                {"GET / HTTP/1.1\r\n\r\n", 400, "invalid", ""},
		"a path that is no path": {"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "invalid", ""},
		"no path of a page":      {"GET /x/public/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "invalid", ""},
		"no path to post to":     {"POST /x/public/a%2 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "invalid", ""},
		"an expectation":         {"GET / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n", 417, "invalid", "Expect"},
		"headers over the limit": {"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 16<<10) + "\r\n\r\n", 431,
			"too_large", ""},
		"a transfer encoding": {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "invalid",
			"Transfer-Encoding"},
		"another protocol": {"GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505, "invalid", ""},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, c.request); err != nil {
				t.Fatal(err)
			}
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			var body refused
			if err != nil || json.Unmarshal(text, &body) != nil || answer.StatusCode != c.status || body.Error == "" ||
				body.Code != c.code || body.Parameter != c.parameter {
				t.Errorf("%s with %s, %v; want %s, code %q, parameter %q", answer.Status, text, err,
					strconv.Itoa(c.status), c.code, c.parameter)
			}
			if answer.Header.Get("Access-Control-Allow-Origin") != "*" ||
				answer.Header.Get("Content-Type") != "application/json; charset=utf-8" || !answer.Close ||
				answer.Header.Get("Cache-Control") != "no-store" { // the path may be below x/public/
				t.Errorf("%s with %v", answer.Status, answer.Header)
			}
		})
	}
}
