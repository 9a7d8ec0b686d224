package httpapi

import (
	"strings"
)

// All endpoints are below Config.BasePath, except those of the asset manager and /healthz, which stay at the root of the server
// whatever the base path is.

// assetPrefix is where the asset manager is mounted. Callers may double its last slash, see cutAssetPrefix.
const assetPrefix = "/services/frontline/api/v4/assetManager/"

// cutAssetPrefix returns the rest of a path after assetPrefix, with one leading slash, whether the path has one slash or two
// there. It returns false for a path that does not begin with the prefix.
func cutAssetPrefix(path string) (rest string, ok bool) {
	if !strings.HasPrefix(path, assetPrefix) {
		return "", false
	}
	rest = path[len(assetPrefix)-1:]
	if strings.HasPrefix(rest, "//") {
		rest = rest[1:]
	}
	return rest, true
}

// table has endpoints that are mounted at one place.
type table struct {
	mount  mount
	routes []route
}

// mount is a place at which a table is mounted. Its prefix stands before the paths of the table's routes.
type mount int

// The mounts.
const (
	atRoot   mount = iota // the root of the server
	atBase                // Config.BasePath
	atAssets              // the prefix of the asset manager
)

// prefix returns what stands before the paths of a mount. base is what stands before those at Config.BasePath: the same, or ""
// for the paths of openapi.json, which names the base path as a part of the server's address.
func (m mount) prefix(base string) string {
	return [...]string{atRoot: "", atBase: base, atAssets: assetPrefix}[m]
}

// tables returns everything that the handler serves. The domains that the Config leaves out have no routes, so their
// paths are 404.
func (h *handler) tables() []table {
	all := []table{
		{atRoot, h.healthTable()},
		{atBase, newCORSPage().table()},
		{atBase, h.description.table()},
		{atBase, meTable()},
	}
	if h.Apps != nil {
		all = append(all, table{atBase, appRoutes{h.Apps}.table()})
	}
	if h.Assets != nil {
		all = append(all, table{atAssets, assetRoutes{h.Assets}.table()})
	}
	if h.Reviews != nil {
		all = append(all, table{atBase, reviewRoutes{h.Reviews, make(chan struct{}, h.Limits.LongLines)}.table()})
	}
	return all
}
