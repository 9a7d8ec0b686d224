package httpapi

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// openAPI describes every endpoint for people and tools. It is written by hand: tests hold it against
// the route table, and every request and answer of the tests against it.
//
//go:embed openapi.json
var openAPI []byte

// description is openapi.json as it is served: with the addresses of this server, and without the
// endpoints of domains that are left out.
type description struct{ json []byte }

// table has the endpoint of the description, which needs no token: it says nothing about what is stored.
func (d *description) table() []route {
	return []route{{method: "GET", path: "/openapi.json", lenient: true, status: 200, public: true, call: d.get}}
}

// get serves GET /openapi.json without a token: 200 with the description.
func (d *description) get(c *call) error {
	c.out = append(c.out, d.json...)
	return nil
}

// describe makes the description of a server with these endpoints. base is the address of the base path, and root that of
// the root, where the asset manager is. It is made once, by New. It replaces the member servers and removes the paths that
// are not served. The rest of openapi.json, such as the schemas, is served as it is, also where no path refers to it any more.
func (d *description) describe(base, root string, routes []route) error {
	served := map[string]bool{}
	for _, rt := range routes {
		served[rt.described()] = true
	}
	document, err := strictjson.Members(openAPI)
	if err != nil {
		return fmt.Errorf("openapi.json: %w", err)
	}
	for i, m := range document {
		switch m.Name {
		case "servers":
			document[i].Value = atServer(base)
		case "paths":
			paths, err := servedPaths(m.Value, served, atServer(root))
			if err != nil {
				return fmt.Errorf("openapi.json: %w", err)
			}
			document[i].Value = writeMembers(paths, "\n    ")
		}
	}
	d.json = append(writeMembers(document, "\n  "), '\n')
	return nil
}

// servedPaths returns the members of the object paths that are served. A path with a member servers of its own, as those of
// the asset manager have, gets root there.
func servedPaths(paths []byte, served map[string]bool, root []byte) ([]strictjson.Member, error) {
	all, err := strictjson.Members(paths)
	if err != nil {
		return nil, err
	}
	kept := all[:0]
	for _, path := range all {
		if !served[path.Name] {
			continue
		}
		item, err := strictjson.Members(path.Value)
		if err != nil {
			return nil, err
		}
		for i, m := range item {
			if m.Name == "servers" {
				item[i].Value = root
				path.Value = writeMembers(item, "\n      ")
			}
		}
		kept = append(kept, path)
	}
	return kept, nil
}

// atServer returns the member "servers" of OpenAPI for one address. An address that is a path is relative to the address of
// the description itself.
func atServer(url string) []byte {
	text, _ := json.Marshal([]struct { // a string, which Marshal never refuses
		URL string `json:"url"`
	}{{url}})
	return text
}

// writeMembers writes an object, each member on a line that begins with indent. The values keep their text, so the served
// description looks like openapi.json.
func writeMembers(members []strictjson.Member, indent string) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(m.Name) // a string, which Marshal never refuses
		fmt.Fprintf(&b, "%s%s: %s", indent, name, m.Value)
	}
	b.WriteString(indent[:max(1, len(indent)-2)] + "}")
	return b.Bytes()
}

// addresses returns what the description calls the base path and the root. base is BaseURL, or else BasePath. root is
// BaseURL without BasePath if it ends so, else "/". A path is relative to the address of the description.
func (c *Config) addresses() (base, root string) {
	base = cmp.Or(c.BaseURL, c.BasePath, "/")
	if before, ok := strings.CutSuffix(c.BaseURL, c.BasePath); ok && before != "" {
		return base, before
	}
	return base, "/"
}
