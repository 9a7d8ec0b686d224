package httpapi

import (
	"net/http"
	"strings"

	"github.com/vitrine-go/vitrine/appsvc"
)

// All endpoints are below Config.BasePath, except those of the asset manager and healthPath, which are at the root of
// the server.

// assetPrefix is where the asset manager is, with one more slash behind it. Callers may leave out the second slash.
const assetPrefix = "/services/frontline/api/v4/assetManager/"

// routes returns everything that the handler serves, and is the only place where an endpoint is declared: its
// authentication, its checks and the memory for its requests follow from it. The domains that the Config leaves out
// have no routes, so their paths are 404. README.md has a section about each endpoint.
//
// A PATCH with the version test is safe to repeat, so it takes no idempotency key. A PUT of a tag is 201 whether it
// creates the tag, moves it, or finds it where it is to be. Every success of the asset manager is 200, also where
// something is created.
func (h *handler) routes() []route {
	all := []route{
		get(healthPath, h.health, public|lenient),
		get("/cors.html", newCORSPage(h.AssetPrefix).get, public|lenient),
		get("/openapi.json", h.description.get, public|lenient),
		get("/x/me", me, 0),
	}
	if h.Apps != nil {
		a := appRoutes{h.Apps}
		all = append(all, authorized(a.searches,
			get("/apps/", a.list, slash|lenient, "view", "sort", "q", "in", "group", "owner", "usingComponent",
				"usingVersion", "deleted", "limit", "after"))...)
		all = append(all,
			write("POST", "/apps/", 201, a.create, slash|keyed|agents, jsonBody),
			get("/apps/{id}", a.latest, lenient, "withDefaults", langParameter),
			write("PATCH", "/apps/{id}", 200, a.patch, agents, patchBody),

			write("DELETE", "/apps/{id}", 204, a.delete, 0, noBody),
			write("POST", "/apps/{id}/undelete", 200, a.undelete, 0, noBody),
			write("POST", "/apps/{id}/erase", 204, a.erase, 0, noBody),

			get("/apps/versions/", a.versionsOfQuery, slash|lenient, "appId", "id", "limit", "before"),
			get("/apps/{id}/versions/", a.versionsOfPath, slash, "limit", "before"),
			get("/apps/{id}/versions/{version}", a.version, lenient, "withDefaults", langParameter),
			get("/apps/{id}/versions/{from}/diff/{to}", a.diff, 0),
			get("/apps/{id}/history/", a.history, slash, "limit", "before"),
			write("POST", "/apps/versions/restore", 201, a.restore, keyed|agents, jsonBody),

			get("/apps/{id}/tags/", a.tags, slash|lenient, "embedApps", "limit", "after"),
			get("/apps/{id}/tags/{tag}", a.tag, lenient, "embedApps"),
			write("PUT", "/apps/{id}/tags/{tag}", 201, a.putTag, keyed, jsonBody, "embedApps"),
			write("DELETE", "/apps/{id}/tags/{tag}", 204, a.deleteTag, keyed, noBody, "embedApps"),
			get("/apps/{id}/tags/{tag}/history/", a.tagMoves, slash, "limit", "before"),
			get("/apps/{id}/tagged/{tag}", a.tagged, lenient|byTag, "withDefaults", "release", langParameter),
			get("/tags/{name}", a.tagsNamed, lenient, "appId"),

			get("/apps/{id}/comments/", a.comments, slash, "open", "limit", "after"),
			write("POST", "/apps/{id}/comments/", 201, a.createComment, slash|agents, jsonBody),
			write("PATCH", "/apps/{id}/comments/{comment}", 200, a.updateComment, 0, jsonBody),
			write("DELETE", "/apps/{id}/comments/{comment}", 204, a.deleteComment, 0, noBody),
			write("POST", "/apps/{id}/comments/{comment}/replies", 201, a.reply, slash|agents, jsonBody),

			get("/apps/{id}/previews/", a.previews, slash),
			write("POST", "/apps/{id}/previews/", 201, a.createPreview, slash, jsonBody),
			write("DELETE", "/apps/{id}/previews/{preview}", 204, a.deletePreview, 0, noBody),

			get("/components/", a.components, slash|lenient, "after"),
			write("POST", "/components/", 201, a.createComponent, slash|keyed, jsonBody),
			get("/components/{name}", a.component, lenient),
			write("DELETE", "/components/{name}", 204, a.deleteComponent, keyed, noBody),
			write("POST", "/components/{name}/check", 200, a.checkComponent, 0, jsonBody, "after"),
			write("POST", "/components/{name}/upgrade", 200, a.upgrade, 0, jsonBody, "dryRun"),
			get("/components/{name}/versions/", a.componentVersions, slash, "limit", "after"),
			get("/components/{name}/versions/{version}", a.componentVersion, 0),

			get("/x/releases/", a.releases, slash, "state", "app", "limit", "after"),
			write("POST", "/x/releases/", 201, a.createRelease, slash|keyed|agents, jsonBody),
			get("/x/releases/{id}", a.release, 0),
			write("PUT", "/x/releases/{id}", 200, a.updateRelease, agents, jsonBody),
			a.releaseAction("/x/releases/{id}/approve", (*appsvc.Session).ApproveRelease),
			a.releaseAction("/x/releases/{id}/run", (*appsvc.Session).RunRelease),
			a.releaseAction("/x/releases/{id}/cancel", (*appsvc.Session).CancelRelease),
			a.releaseAction("/x/releases/{id}/undo", (*appsvc.Session).UndoRelease),

			get("/x/languages", a.languages, byTag),
			write("POST", "/x/replace", 200, a.replace, 0, jsonBody, "dryRun"),
			get("/x/releases/{id}/approvers", a.approvers, 0, "q"),
			get("/apps/{id}/people", a.readers, 0, "q"),
			get("/x/inbox/", a.inbox, slash, "limit", "after"),
			write("POST", "/x/inbox/seen", 204, a.seeInbox, 0, jsonBody),

			get("/x/changes", a.changes, slash, "after", "types", "app", "limit"),
		)
		all = append(all, authorized(authorizePreview, get(previewPath, a.shown, public, langParameter))...)
		all = append(all,
			authorized(authorizeKey,
				get(publicPath+"{tag}", a.deliver, public|shared, "app", "limit", "after", langParameter,
					keyParameter))...)
	}
	if h.Assets != nil {
		const lib = assetPrefix + "/{network}/assetLibrary/{library}"
		a := assetRoutes{h.Assets}
		all = append(all, authorized(a.authorize,
			get(lib+"/assets", a.search, slash, "query", "in", "typos", "folder", "folderTree", "generator",
				"foreignId", "via", "rights", "tags", "tagsAny", "notTags", "notGenerator", "filed", "author", "lang",
				"link",
				"type", "alt", "attribute", "facetLimit",
				"from", "to", "facets", "limit", "since", "until", "sort", "order"),
			write("POST", lib+"/assets", 200, a.changeAssets, slash|agents, jsonBody),
			get(lib+"/asset/{asset}", a.asset, lenient),
			write("PATCH", lib+"/asset/{asset}", 200, a.editFile, 0, mergeBody),
			write("PUT", lib+"/asset/{asset}/file", 200, a.replaceFile, 0, anyBody),
			write("POST", lib+"/files", 200, a.upload, slash|agents, anyBody, "name", "folder", "alt", "title"),
			get(lib+"/folders", a.folders, slash, "id", "path", "label", "deleted", "limit", "since", "until"),
			write("POST", lib+"/folders", 200, a.changeFolders, slash, jsonBody),
			get(lib+"/folder/{folder}", a.folder, lenient),
			get(lib+"/folder/{folder}/permissions", a.permissions, slash|lenient),
			write("POST", lib+"/folder/{folder}/permissions", 200, a.changePermissions, slash, jsonBody),
			write("POST", lib+"/folder/{folder}/assets", 200, a.assign, slash, jsonBody),
			get(lib+"/attributes", a.attributes, slash|lenient, "key"),
			write("POST", lib+"/attributes", 200, a.changeAttributes, slash, jsonBody),
			get(lib+"/explain", a.explain, 0, "asset", "folder", "user", "role", "group"),
			get(lib+"/changes", a.changes, slash, "after", "limit"),
		)...)
		all = append(all, get(shownFilePath+"{id}/{name}", a.file, public, "v", "w"))
		all = append(all, authorized(authorizeKey,
			get(shownFolderPath+"{network}/{library}/{folder}", a.showFolder, public|shared, "limit", "after", "sort",
				"type", keyParameter))...)
	}
	for _, e := range h.Extras {
		all = append(all, e.route())
	}
	if h.Reviews != nil {
		v := reviewRoutes{h.Reviews, make(chan struct{}, h.Limits.LongLines), make(chan struct{}, spoolsAtATime)}
		all = append(all, authorized(v.authorize,
			write("POST", "/x/reviews/import", 200, v.load, 0, recordsBody, "network", "dryRun"),
			get("/x/reviews/export", v.export, 0, "network"),
			write("DELETE", "/x/reviews", 200, v.erase, slash, noBody,
				"network", "source", "collection", "review", "author", "email", "everything", "dryRun"),
			get("/x/reviews/changes", v.changes, slash, "network", "after", "limit"),
			get("/x/reviews/collections", v.collections, slash, "network", "source", "limit", "after"),
			get("/x/reviews/collections/{collection}/reviews", v.reviews, slash, "network", "source", "limit",
				"after"),
		)...)
		all = append(all,
			authorized(authorizeKey,
				get(shownPath+"{network}/{collection}", v.show, public|shared, "source", "limit", "after",
					keyParameter))...)
		all = append(all, authorized(v.authorizeConverter,
			write("POST", "/x/reviews/convert", 200, v.convert, 0, tableBody, "network", "mapping", "source", "scale",
				"dates", "zone", "charset", "fill", "guess", "rejects"))...)
	}
	return all
}

// route is one endpoint: its address, its checks, and the function that serves it.
type route struct {
	method string
	path   string // "/apps/{id}", below Config.BasePath; parameters are read with (*call).param
	status int    // of a success
	call   func(*call) error
	flags  flags
	query  []string // parameters it knows
	body   body     // the bodies that it accepts
	// authorize checks the rights of the caller before the request is read; nil = the endpoint checks them
	authorize func(*call) error
}

// flags say how an endpoint differs from most.
type flags uint8

const (
	slash  flags = 1 << iota // the path is the same with and without a slash at its end
	public                   // needs no token
	// ignores unknown parameters, as only old reads do: elsewhere a misspelt filter must not find everything
	lenient
	byTag  // allows delivery tokens
	keyed  // takes an Idempotency-Key
	shared // shared caches may keep its responses
	agents // an agent may call it though it writes
	rpc    // programs alone call it, and it calls many methods: see Extra.RPC
)

func get(path string, call func(*call) error, f flags, query ...string) route {
	return route{method: http.MethodGet, path: path, status: http.StatusOK, call: call, flags: f, query: query}
}

func write(method, path string, status int, call func(*call) error, f flags, b body, query ...string) route {
	return route{method: method, path: path, status: status, call: call, flags: f, query: query, body: b}
}

// authorized returns the routes with this function as their authorize.
func authorized(authorize func(*call) error, routes ...route) []route {
	for i := range routes {
		routes[i].authorize = authorize
	}
	return routes
}

// is reports whether the endpoint has the flag.
func (r *route) is(f flags) bool { return r.flags&f != 0 }

// writes reports whether the endpoint changes something. A POST that only reads, such as the check of a component,
// counts as a write here: it rejects an Idempotency-Key too.
func (r *route) writes() bool { return r.method != http.MethodGet }

// at returns the path of the endpoint on a server with this base path, whose asset manager is at manager.
func (r *route) at(base, manager string) string {
	rest, managed := strings.CutPrefix(r.path, assetPrefix)
	switch {
	case managed && manager != assetPrefix:
		return manager + strings.TrimPrefix(rest, "/")
	case managed || r.path == healthPath:
		return r.path
	}
	return base + r.path
}

// described returns the path of the route as openapi.json has it. Collections have no slash at their end there, and the
// base path is a part of the server's address.
func (r *route) described() string {
	if r.is(slash) {
		return strings.TrimSuffix(r.path, "/")
	}
	return r.path
}
