package httpapi

import (
	"strings"

	"github.com/vitrine-go/vitrine/reviews"
)

// All endpoints are below Config.BasePath, except those of the asset manager and /healthz, which stay at the root of the server
// whatever the base path is.

// assetPrefix is where the asset manager is mounted. Callers may double its last slash, see cutAssetPrefix.
const assetPrefix = "/services/frontline/api/v4/assetManager/"

// cutAssetPrefix returns the rest of a path after assetPrefix, with one leading slash, whether the path has one slash or two
// there. It returns false for a path that does not begin with the prefix.
func cutAssetPrefix(path string) (rest string, ok bool) {
	behind, ok := strings.CutPrefix(path, assetPrefix)
	if !ok {
		return "", false
	}
	return "/" + strings.TrimPrefix(behind, "/"), true
}

// table has endpoints that are mounted at one place.
type table struct {
	mount  mount
	routes []route
}

// mount is a place at which a table is mounted: the paths of its routes begin with the prefix of the mount.
type mount int

// The mounts.
const (
	atRoot   mount = iota // the root of the server
	atBase                // Config.BasePath
	atAssets              // the prefix of the asset manager
)

// prefix returns the path prefix of a mount. base is Config.BasePath.
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
		all = append(all, table{atBase, reviewRoutes{h.Reviews, h.spool, reviews.NewGate(h.Limits.LargeReviews)}.table()})
	}
	return all
}
