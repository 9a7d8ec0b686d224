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

// get serves GET /openapi.json without a token: 200 with the description.
func (d *description) get(c *call) error {
	c.out = append(c.out, d.json...)
	return nil
}

// describe makes the description of a server with these endpoints. base is the address of the base path, and root that of
// the root, where the asset manager is: its paths have members servers of their own. An address that is a path is relative to the address
// of the description itself. It is made once, by New. The rest of openapi.json, such as the schemas, is served as it is, also where no
// path refers to it any more.
func (d *description) describe(base, root string, routes []route) {
	served := map[string]bool{}
	for _, rt := range routes {
		served[rt.described()] = true
	}
	d.json = append(rewrite(openAPI, "\n  ", func(name string, value []byte) []byte {
		switch name {
		case "servers":
			return atServer(base)
		case "paths":
			return rewrite(value, "\n    ", func(path string, item []byte) []byte {
				if !served[path] {
					return nil
				}
				return rewrite(item, "\n      ", func(name string, value []byte) []byte {
					if name == "servers" {
						return atServer(root)
					}
					return value
				})
			})
		}
		return value
	}), '\n')
}

// atServer returns the member servers for one address.
func atServer(url string) []byte {
	text, _ := json.Marshal(url) // which never refuses a string
	return fmt.Appendf(nil, `[{"url":%s}]`, text)
}

// rewrite returns an object of openapi.json with the values that each returns for its members, and without those for which it returns nil.
// Each member is on a line that begins with indent, so the served description looks like openapi.json.
func rewrite(object []byte, indent string, each func(name string, value []byte) []byte) []byte {
	members, err := strictjson.Members(object)
	if err != nil {
		panic("openapi.json: " + err.Error())
	}
	var lines [][]byte
	for _, m := range members {
		if value := each(m.Name, m.Value); value != nil {
			lines = append(lines, fmt.Appendf(nil, "%s%q: %s", indent, m.Name, value))
		}
	}
	return fmt.Appendf(nil, "{%s%s}", bytes.Join(lines, []byte(",")), indent[:len(indent)-2])
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
