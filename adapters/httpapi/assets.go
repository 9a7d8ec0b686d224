package httpapi

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/strictjson"
	"github.com/vitrine-go/vitrine/internal/urlescape"
)

// assetRoutes are the endpoints of the asset manager: libraries with their assets, folders, permissions and attributes.
// The comment of appRoutes says what a handler does. The caller must belong to the network of the path or moderate it,
// else every endpoint returns 403. The library named like its network always exists. Any other is created by the first
// change of a moderator, and is 404 before.
type assetRoutes struct{ svc *assets.Service }

// as returns a Session for the caller of the request.
func (a assetRoutes) as(c *call) *assets.Session { return a.svc.As(c.by.Caller) }

// authorize runs before the parameters and the body are read. It returns 403 for a caller who does not belong to the
// network, who so learns nothing about the request or the library.
func (a assetRoutes) authorize(c *call) error { return a.as(c).CheckMember(libraryOf(c)) }

// libraryOf returns the library that the path names.
func libraryOf(c *call) assets.Library {
	return assets.Library{Network: c.params[0], ID: c.params[1]}
}

// askLibrary is ask for a method about the library that the path names.
func askLibrary[In, Out any](
	c *call, method func(context.Context, assets.Library, In) (Out, error), in In,
) (out Out, err error) {
	if c.query.err != nil {
		return out, c.query.err
	}
	return method(c.r.Context(), libraryOf(c), in)
}

// search serves GET …/assets: the assets that fulfil all conditions of the query and that the caller may see. 200 with
// {"assets":[Asset], "paging"}, and "facets" if they were asked for. 400 for an unknown parameter or a bad value; 404
// for a folder that is absent or not visible; 503 for a search that takes longer than two seconds. The service checks
// the values; only those that a SearchRequest cannot express, such as an empty generator, are rejected here.
func (a assetRoutes) search(c *call) error {
	q := &c.query
	in := assets.SearchRequest{Query: q.text("query"), Folder: q.folder("folder"), FolderTree: q.folder("folderTree"),
		Generator: q.filled("generator", "is empty: want the id of a service"),
		Order:     q.filled("order", "want asc or desc"), Sort: q.filled("sort", "want added or createdAt"),
		ForeignID: q.filled("foreignId", "is empty: want the id in the service that generator names"),
		Filed:     q.filled("filed", "want none or any"),
		Author:    q.filled("author", "is empty: want an id or a name"),
		Lang:      q.filled("lang", "is empty: want a language, such as en"),
		Link:      q.filled("link", "is empty: want a host, such as example.com"),
		TagsAny:   q.names("tagsAny"), NotTags: q.names("notTags"), NotGenerators: q.Values["notGenerator"],
		FacetLimit: q.count("facetLimit")}
	in.Since, in.Until = q.cursors()
	in.Via, in.Rights = q.integer("via"), q.integer("rights")
	in.CreatedFrom, in.CreatedBefore = q.time("from"), q.time("to")
	if q.Has("to") && in.CreatedBefore.IsZero() { // nothing is earlier, and a zero time would be no limit
		in.CreatedFrom, in.CreatedBefore = time.UnixMilli(0), time.UnixMilli(0)
	}
	switch typos := q.text("typos"); {
	case typos == "1":
		in.Typos = true
	case q.Has("typos") && typos != "0":
		q.invalid("typos", "%q is neither 1 nor 0", typos)
	}
	if where := q.text("in"); q.Has("in") {
		in.In = strings.Split(where, ",")
	}
	in.Types = q.types()
	switch alt := q.text("alt"); {
	case alt == "missing":
		in.NoAlt = true
	case q.Has("alt"):
		q.invalid("alt", "%q is not known: want missing", alt)
	}
	if facets := q.text("facets"); q.Has("facets") {
		in.Facets = q.items("facets", facets)
	}
	in.Attributes, in.Tags, in.Limit = q.Values["attribute"], q.names("tags"), q.count("limit")
	return c.json(askLibrary(c, a.as(c).Search, in))
}

// types returns the parameter type, types of attachments joined by commas; nil if it is not given.
func (q *query) types() []string {
	types := q.text("type")
	if !q.Has("type") {
		return nil
	}
	return strings.Split(types, ",")
}

// showFolder serves GET /x/public/assets/{network}/{library}/{folder}?key=KEY: what a page shows of the assets of a
// folder. 200 with an assets.ShownFolder, an ETag and a Cache-Control for shared caches; or 304. 400; 401 unless the
// key is a delivery token; 403 if it does not name the folder; 404 if the folder is absent or deleted.
func (a assetRoutes) showFolder(c *call) error {
	q := &c.query
	in := assets.ShowFolderRequest{Folder: c.params[2], Sort: q.filled("sort", "want added or createdAt"),
		Types: q.types(), After: q.cursor("after"), Limit: q.count("limit"), Root: c.root()}
	if err := c.json(askLibrary(c, a.as(c).ShowFolder, in)); err != nil {
		return err
	}
	c.share(c.forEverybody(c.out, "folder-"+urlescape.Escape(in.Folder)))
	return nil
}

// folder returns a parameter that is the id of a folder. An empty id is that of no folder.
func (q *query) folder(name string) string {
	id := q.text(name)
	if id == "" && q.Has(name) {
		return noFolder
	}
	return id
}

// noFolder is an id that no folder has: ids have no U+0000.
const noFolder = "\x00"

// changeAssets serves POST …/assets with {"add", "remove"}: it adds and removes assets, all or nothing. 200 with
// {"added":[Asset], "removed":[id]}. 400; 403 for a folder or an asset that the caller may not change; 404 for an
// unknown folder; 409 if an asset that is added again is in other folders than the request assumes; 413.
func (a assetRoutes) changeAssets(c *call) error {
	in := assets.ChangeAssetsRequest{Fill: func(in *assets.ChangeAssetsRequest) error {
		if err := c.readBody(); err != nil {
			return err
		}
		return in.UnmarshalJSON(c.body) // and not decode, which returns the first fault alone
	}}
	return c.json(askLibrary(c, a.as(c).ChangeAssets, in))
}

// asset serves GET …/asset/{asset}: one asset. 200 with the Asset and an ETag, or 304; 404 if it is absent or not
// visible.
func (a assetRoutes) asset(c *call) error {
	asset, err := askLibrary(c, a.as(c).Asset, c.params[2])
	if err == nil {
		c.w.Header()["Etag"] = []string{asset.ETag()}
		c.w.Header()["Vary"] = varyCaller
	}
	return c.json(asset, err)
}

// folders serves GET …/folders: the folders that the caller may view, by label. 200 with {"folders":[Folder]}, with
// "ancestors" if there are hidden folders on the way to visible ones, and a Link to the next page if there is one. 400
// for an unknown parameter or a bad value.
func (a assetRoutes) folders(c *call) error {
	in := assets.ListFoldersRequest{IDs: c.query.list("id"), Paths: c.query.list("path"), Label: c.query.text("label"),
		Deleted: c.query.flag("deleted")}
	in.After, in.Before = c.query.cursors()
	in.Limit = c.query.count("limit")
	page, err := askLibrary(c, a.as(c).ListFolders, in)
	if err == nil && page.Next != "" {
		c.nextHere("since", page.Next, "until")
	}
	return c.json(struct {
		Folders   []assets.Folder   `json:"folders"`
		Ancestors []assets.Ancestor `json:"ancestors,omitempty"`
	}{page.Items, page.Ancestors}, err)
}

// changeFolders serves POST …/folders with {"create", "update", "delete", "purge"}: it changes the tree, in this order,
// all or nothing, except for a purge. 200 with {"folders":[Folder]}, those that were changed, and after a purge with
// "purged":{"folders","assets"}, how many were removed. 400; 403 without the rights to a folder or its parent; 404 for
// a folder that is absent, deleted or not visible.
func (a assetRoutes) changeFolders(c *call) error {
	purges := false
	in := assets.ChangeFoldersRequest{Fill: func(in *assets.ChangeFoldersRequest) error {
		if err := c.decode(in, foldersBody...); err != nil || len(in.Purge) == 0 {
			return err
		}
		purges = true
		return c.erases()
	}}
	out, err := askLibrary(c, a.as(c).ChangeFolders, in)
	if !purges {
		return c.member("folders", out.Folders, err)
	}
	return c.json(out, err)
}

// folder serves GET …/folder/{folder}: one folder. 200 with {"folder":Folder}. 404 if it is absent or not visible; a
// deleted folder is visible to those who may manage it.
func (a assetRoutes) folder(c *call) error {
	f, err := askLibrary(c, a.as(c).Folder, c.params[2])
	return c.member("folder", f, err)
}

// permissions serves GET …/folder/{folder}/permissions: the permissions of the folder itself, without those that it
// inherits. 200 with {"permissions":[Permission]}. 403 for a caller who may view the folder and not manage it; 404.
func (a assetRoutes) permissions(c *call) error {
	list, err := askLibrary(c, a.as(c).Permissions, c.params[2])
	return c.member("permissions", list, err)
}

// changePermissions serves POST …/folder/{folder}/permissions with {"create", "remove"}. 200 with
// {"permissions":[Permission]}, those after the change. 400; 403 for a caller who may not manage the folder; 404.
func (a assetRoutes) changePermissions(c *call) error {
	in := assets.ChangePermissionsRequest{
		Folder: c.params[2], Fill: fill[assets.ChangePermissionsRequest](c, permissionsBody...)}
	list, err := askLibrary(c, a.as(c).ChangePermissions, in)
	return c.member("permissions", list, err)
}

// assign serves POST …/folder/{folder}/assets with {"assign":[id], "remove":[id]}: it puts assets into the folder and
// takes others out of it. 200 with {"assign":[{"id", "status"}], "remove":[…]}, where status is that of the single
// asset: 200, 400, 403 or 404. 400; 403 for a caller who may not edit the folder; 404 for a folder that is absent or
// not visible.
func (a assetRoutes) assign(c *call) error {
	in := assets.AssignAssetsRequest{Folder: c.params[2], Fill: fill[assets.AssignAssetsRequest](c)}
	return c.json(askLibrary(c, a.as(c).AssignAssets, in))
}

// attributes serves GET …/attributes?key={key}: the distinct values that visible assets have for a key, sorted. 200
// with {"attributes":[{"key", "value"}]}. 400 without key.
func (a assetRoutes) attributes(c *call) error {
	key := c.query.text("key")
	if !c.query.Has("key") {
		c.query.invalid("key", "the parameter is missing: want the key of an attribute")
	}
	list, err := askLibrary(c, a.as(c).Attributes, key)
	return c.member("attributes", list, err)
}

// changeAttributes serves POST …/attributes with {"assets", "remove", "set", "add"}: it changes the attributes of the
// assets, in this order. 200 with {"result":[status], "assets":[Asset]}: a status for each id of the request, and the
// assets that were changed. 400.
func (a assetRoutes) changeAttributes(c *call) error {
	in := assets.ChangeAttributesRequest{Fill: fill[assets.ChangeAttributesRequest](c, attributesBody...)}
	return c.json(askLibrary(c, a.as(c).ChangeAttributes, in))
}

// explain serves GET …/explain?asset={id} or ?folder={id}: by which rule a caller may or may not view, edit and manage
// it. 200 with {"view", "edit"}, and "manage" for a folder or "folders" for an asset. 400 unless exactly one of asset
// and folder is given; 403 for a caller who asks about somebody else and is no moderator; 404. A request with a user, a
// role or a group is about another caller; an empty user stands for any with these roles and groups.
func (a assetRoutes) explain(c *call) error {
	q := &c.query
	const says = "must not be empty: want an id"
	in := assets.ExplainRequest{Asset: q.filled("asset", says), Folder: q.filled("folder", says)}
	if q.Has("user") || q.Has("role") || q.Has("group") {
		in.About = &vitrine.Caller{URN: q.text("user"), Roles: q.Values["role"], Groups: q.Values["group"]}
	}
	return c.json(askLibrary(c, a.as(c).Explain, in))
}

// The bodies of the asset manager are decoded into the requests of package assets. In those, a member that was left out
// is the zero value, or nil like null. So the tables below say which members a body must have, and which it may not
// have as null or empty. The service checks everything else.

// member is a rule for one member of an object.
type member struct {
	name  string
	rule  memberRule
	below []member // rules for the value, or for each item of it
}

type memberRule int

const (
	needed   memberRule = iota // it must be there
	optional                   // it may be left out, and is null only if it is an object
	filled                     // optional, and not an empty string
	list                       // optional, and below is for each item
	whole                      // optional, and not null, with rules for its members
)

var (
	permissionMembers = []member{
		{"operation", needed, nil},
		{"role", optional, []member{{"id", needed, nil}}},
		{"user", optional, []member{{"id", needed, nil}}},
	}
	attributeMembers = []member{{"key", needed, nil}, {"value", needed, nil}}

	foldersBody = []member{
		{"create", list, []member{
			{"label", needed, nil}, {"path", filled, nil}, {"inherit", optional, nil},
			{"permissions", list, permissionMembers},
		}},
		{"update", list, []member{
			{"id", needed, nil}, {"label", optional, nil}, {"path", optional, nil}, {"inherit", optional, nil},
			{"deleted", optional, nil}, {"open", optional, nil},
		}},
	}
	permissionsBody = []member{{"create", list, permissionMembers}}
	attributesBody  = []member{
		{"assets", needed, nil}, {"add", list, attributeMembers}, {"set", list, attributeMembers},
		{"remove", list, attributeMembers},
	}
)

// checkMembers returns a 400 unless the object follows the rules. at is the pointer to it.
func checkMembers(rules []member, object []byte, at string) error {
	have, err := strictjson.Members(object)
	if err != nil {
		return err
	}
	for _, rule := range rules {
		at := at + "/" + rule.name
		i := slices.IndexFunc(have, func(m strictjson.Member) bool { return m.Name == rule.name })
		if i < 0 {
			if rule.rule == needed {
				return fault.Invalid(at, "member %q is missing", rule.name)
			}
			continue
		}
		value := have[i].Value
		null := value[0] == 'n'
		switch {
		case null && (rule.below == nil || rule.rule == whole):
			return fault.Invalid(at, "null is not allowed here")
		case rule.rule == filled && string(value) == `""`:
			return fault.Invalid(at, "must not be empty: want / or /<id>/<id>")
		case null || rule.below == nil:
		case rule.rule == list:
			var items []jsontext.Value
			if err := json.Unmarshal(value, &items); err != nil {
				return err
			}
			for i, item := range items {
				if err := checkMembers(rule.below, item, at+"/"+strconv.Itoa(i)); err != nil {
					return err
				}
			}
		default:
			if err := checkMembers(rule.below, value, at); err != nil {
				return err
			}
		}
	}
	return nil
}
