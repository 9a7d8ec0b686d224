package httpapi

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// openAPI describes every endpoint for people and tools. It is written by hand: tests compare it with the route table,
// and check every request and response of the tests against it.
//
//go:embed openapi.json
var openAPI []byte

// description is openapi.json as it is served: with the addresses of this server, and without the
// endpoints of domains that are left out.
type description struct{ json []byte }

// get serves GET /openapi.json without a token: 200 with the description.
func (d *description) get(c *call) error {
	c.out = append(c.out, d.json...)
	return nil
}

// describe makes the description of a server with these endpoints. base is the address of the base path, and root that
// of the root, below which the asset manager is at manager: its paths have members servers of their own. An address
// that is a path is relative to the address of the description itself. It is made once, by New. The rest of
// openapi.json, such as the schemas, is served also where no path refers to it any more.
func (d *description) describe(base, root, manager string, routes []route) {
	var doc map[string]any
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		panic("openapi.json: " + err.Error())
	}
	at := func(url string) any { return []any{map[string]any{"url": url}} }
	doc["servers"] = at(base)
	paths := doc["paths"].(map[string]any)
	maps.DeleteFunc(paths, func(path string, _ any) bool {
		return !slices.ContainsFunc(routes, func(rt route) bool { return rt.described() == path })
	})
	for path, item := range paths {
		if item := item.(map[string]any); item["servers"] != nil {
			item["servers"] = at(root)
		}
		if rest, ok := strings.CutPrefix(path, assetPrefix); ok && manager != assetPrefix {
			delete(paths, path)
			paths[manager+strings.TrimPrefix(rest, "/")] = item
		}
	}
	d.json, _ = json.Marshal(doc, json.Deterministic(true), jsontext.WithIndent("  ")) // cannot fail for decoded JSON
}
