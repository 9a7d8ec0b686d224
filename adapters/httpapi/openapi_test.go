package httpapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestOpenAPINamesEveryRoute(t *testing.T) {
	w := newWorld(t, func(c *httpapi.Config) {
		c.BasePath, c.Assets, c.Reviews = "/v4", assets.New(memory.NewAssets(), nil), reviews.New(memory.NewReviews())
	})
	const library = "/services/frontline/api/v4/assetManager//{network}/assetLibrary/{library}"
	r := w.send("GET", "/v4/openapi.json", "").want(200)
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string
			Parameters  []struct{ Name, In string }
			RequestBody struct{ Content map[string]any }
			Responses   map[string]any
			Security    []any
		}
	}
	r.read(&doc)
	if doc.OpenAPI != "3.1.0" || len(doc.Paths) != 23 {
		t.Errorf("openapi %q with %d paths", doc.OpenAPI, len(doc.Paths))
	}
	for route, status := range map[string]string{
		"get /v4/apps/": "200", "post /v4/apps/": "201", "get /v4/apps/{id}": "200", "patch /v4/apps/{id}": "200", "get /v4/apps/versions/": "200",
		"get /v4/apps/{id}/versions/": "200", "get /v4/apps/{id}/versions/{version}": "200", "post /v4/apps/versions/restore": "201",
		"get /v4/apps/{id}/tags/": "200", "get /v4/apps/{id}/tags/{tag}": "200", "put /v4/apps/{id}/tags/{tag}": "201",
		"delete /v4/apps/{id}/tags/{tag}": "204", "get /v4/apps/{id}/tagged/{tag}": "200", "get /v4/tags/{name}": "200",
		"get /v4/components/": "200", "post /v4/components/": "201", "get /v4/components/{name}": "200", "delete /v4/components/{name}": "204",
		"get " + library + "/assets": "200", "post " + library + "/assets": "200", "get " + library + "/asset/{asset}": "200",
		"get " + library + "/folders": "200", "post " + library + "/folders": "200", "get " + library + "/folder/{folder}": "200",
		"get " + library + "/folder/{folder}/permissions": "200", "post " + library + "/folder/{folder}/permissions": "200",
		"post " + library + "/folder/{folder}/assets": "200", "get " + library + "/attributes": "200", "post " + library + "/attributes": "200",
		"post /v4/x/reviews/import": "200", "get /v4/cors.html": "200", "get /v4/openapi.json": "200", "get /healthz": "200",
	} {
		method, path, _ := strings.Cut(route, " ")
		if op, ok := doc.Paths[path][method]; !ok || op.Responses[status] == nil || op.OperationID == "" {
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
			answer := w.send(strings.ToUpper(method), strings.NewReplacer("{", "", "}", "").Replace(path), "")
			if open := len(op.Security) == 0; open != (answer.status == 200) || !open && answer.status != 401 {
				t.Errorf("%s %s: %d without a token", method, path, answer.status)
			}
			for name := range strings.SplitSeq(path, "/") {
				if n, ok := strings.CutPrefix(name, "{"); ok && !slices.ContainsFunc(op.Parameters, func(p struct{ Name, In string }) bool {
					return p.In == "path" && p.Name+"}" == n
				}) {
					t.Errorf("%s %s: parameter %s is not described", method, path, n)
				}
			}
		}
	}
	patch := doc.Paths["/v4/apps/{id}"]["patch"]
	if len(patch.RequestBody.Content) != 2 || patch.RequestBody.Content["application/json-patch+json"] == nil {
		t.Errorf("patch takes %v", patch.RequestBody.Content)
	}
}
