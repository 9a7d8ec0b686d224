package httpapi

import (
	"strings"

	"github.com/vitrine-go/vitrine/reviews"
)

// The endpoints of the app service, of the reviews and of the extensions lie below Config.BasePath. Those of the asset manager and
// the health check stay at the root of the server, whatever the base path is.

// assetPrefix is where the asset manager is mounted. Callers may double its last slash, see cutAssetPrefix.
const assetPrefix = "/services/frontline/api/v4/assetManager/"

// cutAssetPrefix returns what stands behind assetPrefix in a path, from one slash on. The path may have one slash or two there.
// It returns false for a path that does not begin with the prefix.
func cutAssetPrefix(path string) (rest string, ok bool) {
	behind, ok := strings.CutPrefix(path, assetPrefix)
	if !ok {
		return "", false
	}
	return "/" + strings.TrimPrefix(behind, "/"), true
}

// table is the endpoints that are mounted at one place.
type table struct {
	mount  mount
	routes []route
}

// mount is the place below which the paths of a table lie.
type mount int

// The places at which tables are mounted.
const (
	atRoot   mount = iota // the root of the server
	atBase                // Config.BasePath
	atAssets              // the prefix of the asset manager
)

// prefix is what stands before the paths of a mount, where base stands before those at the base path.
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
