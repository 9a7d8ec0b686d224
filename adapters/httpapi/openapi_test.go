package httpapi_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// openAPI is what the tests look at of the description.
type openAPI struct {
	OpenAPI    string
	Servers    []struct{ URL string }
	Paths      map[string]map[string]openAPIOperation
	Components struct{ Responses map[string]openAPIResponse }
}

type openAPIOperation struct {
	OperationID string
	Parameters  []openAPIParameter
	RequestBody struct{ Content map[string]any }
	Responses   map[string]openAPIResponse
	Security    []any
	Servers     []struct{ URL string }
}

type openAPIParameter struct {
	Name, In string
	Required bool
	Schema   struct{ Type string }
}

type openAPIResponse struct {
	Content map[string]struct {
		Schema struct {
			Type       string
			Required   []string
			Properties map[string]struct{ Type any }
		}
	}
}

const libraryPath = "/services/frontline/api/v4/assetManager//{network}/assetLibrary/{library}"

// describedWorld is a server of everything, and what it says of itself.
func describedWorld(t *testing.T) (*world, openAPI) {
	w := newWorld(t, func(c *httpapi.Config) {
		c.BasePath, c.Assets, c.Reviews = "/v4", assets.New(memory.NewAssets(), nil), reviews.New(memory.NewReviews())
	})
	var doc openAPI
	w.send("GET", "/v4/openapi.json", "").want(200).read(&doc)
	return w, doc
}

func TestOpenAPINamesEveryRoute(t *testing.T) {
	const library = libraryPath
	w, doc := describedWorld(t)
	if doc.OpenAPI != "3.1.0" || len(doc.Paths) != 23 {
		t.Errorf("openapi %q with %d paths", doc.OpenAPI, len(doc.Paths))
	}
	for route, status := range map[string]string{
		"get /apps/": "200", "post /apps/": "201", "get /apps/{id}": "200", "patch /apps/{id}": "200", "get /apps/versions/": "200",
		"get /apps/{id}/versions/": "200", "get /apps/{id}/versions/{version}": "200", "post /apps/versions/restore": "201",
		"get /apps/{id}/tags/": "200", "get /apps/{id}/tags/{tag}": "200", "put /apps/{id}/tags/{tag}": "201",
		"delete /apps/{id}/tags/{tag}": "204", "get /apps/{id}/tagged/{tag}": "200", "get /tags/{name}": "200",
		"get /components/": "200", "post /components/": "201", "get /components/{name}": "200", "delete /components/{name}": "204",
		"get " + library + "/assets": "200", "post " + library + "/assets": "200", "get " + library + "/asset/{asset}": "200",
		"get " + library + "/folders": "200", "post " + library + "/folders": "200", "get " + library + "/folder/{folder}": "200",
		"get " + library + "/folder/{folder}/permissions": "200", "post " + library + "/folder/{folder}/permissions": "200",
		"post " + library + "/folder/{folder}/assets": "200", "get " + library + "/attributes": "200", "post " + library + "/attributes": "200",
		"post /x/reviews/import": "200", "get /cors.html": "200", "get /openapi.json": "200", "get /healthz": "200",
	} {
		method, path, _ := strings.Cut(route, " ")
		op, ok := doc.Paths[path][method]
		if _, described := op.Responses[status]; !ok || !described || op.OperationID == "" {
			t.Errorf("%s %s is not described", route, status)
		}
	}
	seen := map[string]bool{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			if seen[op.OperationID] {
				t.Errorf("operationId %s twice", op.OperationID)
			}
			seen[op.OperationID] = true
			// What is described is there, and asks for a token where it says so.
			servers := append(op.Servers, doc.Servers...)
			address := strings.TrimSuffix(servers[0].URL, "/") + strings.NewReplacer("{", "", "}", "").Replace(path)
			answer := w.send(strings.ToUpper(method), address, "")
			if open := len(op.Security) == 0; open != (answer.status == 200) || !open && answer.status != 401 {
				t.Errorf("%s %s: %d without a token", method, path, answer.status)
			}
			for name := range strings.SplitSeq(path, "/") {
				if n, ok := strings.CutPrefix(name, "{"); ok && !slices.ContainsFunc(op.Parameters, func(p openAPIParameter) bool {
					return p.In == "path" && p.Required && p.Name+"}" == n
				}) {
					t.Errorf("%s %s: parameter %s is not described", method, path, n)
				}
			}
		}
	}
	patch := doc.Paths["/apps/{id}"]["patch"]
	if len(patch.RequestBody.Content) != 2 || patch.RequestBody.Content["application/json-patch+json"] == nil {
		t.Errorf("patch takes %v", patch.RequestBody.Content)
	}
}

func TestOpenAPIKnowsTypesOfParameters(t *testing.T) {
	_, doc := describedWorld(t)
	want := map[string]string{"limit": "integer", "via": "integer", "rights": "integer", "embedApps": "boolean", "dryRun": "boolean"}
	seen := map[string]bool{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			for _, p := range op.Parameters {
				seen[p.Name] = true
				if p.Schema.Type != cmp.Or(want[p.Name], "string") {
					t.Errorf("%s %s: parameter %s is described as %s", method, path, p.Name, p.Schema.Type)
				}
			}
		}
	}
	for name := range want {
		if !seen[name] {
			t.Errorf("no endpoint has a parameter %s", name)
		}
	}
}

func TestOpenAPINamesItsAddress(t *testing.T) {
	for _, c := range []struct{ path, url, want string }{
		{"", "", "/"}, {"/v4", "", "/v4"}, {"/v4", "https://api.example.test/x/", "https://api.example.test/x"},
	} {
		w := newWorld(t, func(conf *httpapi.Config) { conf.BasePath, conf.BaseURL = c.path, c.url })
		var doc openAPI
		w.send("GET", c.path+"/openapi.json", "").want(200).read(&doc)
		if len(doc.Servers) != 1 || doc.Servers[0].URL != c.want {
			t.Errorf("%+v: servers %v", c, doc.Servers)
		}
		if own := doc.Paths["/healthz"]["get"].Servers; len(own) != 1 || own[0].URL != "/" {
			t.Errorf("%+v: servers of /healthz %v", c, own)
		}
	}
}
