package httpapi

import (
	"strings"

	"github.com/vitrine-go/vitrine/assets"
)

// assetRoutes is the asset manager.
type assetRoutes struct{ svc Assets }

// table lists the endpoints of libraries: of assets, of folders, of attributes, and explanations of rights.
func (a assetRoutes) table() []route {
	const lib = "/{network}/assetLibrary/{library}"
	routes := []route{
		{method: "GET", path: lib + "/assets", eitherSlash: true, status: 200, call: a.search, reserves: true, knownOnly: true,
			query: []string{"query", "folder", "folderTree", "generator", "via", "rights", "tags", "attribute", "from", "to", "facets",
				"limit", "since", "until", "order"}},
		{method: "POST", path: lib + "/assets", eitherSlash: true, status: 200, call: a.changeAssets,
			body: jsonBody, admitBody: a.admitChange},
		{method: "GET", path: lib + "/asset/{asset}", status: 200, call: a.asset},
		{method: "GET", path: lib + "/folders", eitherSlash: true, status: 200, call: a.folders, reserves: true, knownOnly: true,
			query: []string{"id", "path", "label", "deleted", "limit", "since", "until"}},
		{method: "POST", path: lib + "/folders", eitherSlash: true, status: 200, call: a.changeFolders,
			body: jsonBody, admitBody: a.admitChange},
		{method: "GET", path: lib + "/folder/{folder}", status: 200, call: a.folder},
		{method: "GET", path: lib + "/folder/{folder}/permissions", eitherSlash: true, status: 200, call: a.permissions},
		{method: "POST", path: lib + "/folder/{folder}/permissions", eitherSlash: true, status: 200, call: a.changePermissions,
			body: jsonBody, admitBody: a.admitPermissions},
		{method: "POST", path: lib + "/folder/{folder}/assets", eitherSlash: true, status: 200, call: a.assign,
			body: jsonBody, admitBody: a.admitAssign},
		{method: "GET", path: lib + "/attributes", eitherSlash: true, status: 200, call: a.attributes, reserves: true,
			query: []string{"key"}},
		{method: "POST", path: lib + "/attributes", eitherSlash: true, status: 200, call: a.changeAttributes,
			body: jsonBody, admitBody: a.admitChange},
		{method: "GET", path: lib + "/explain", status: 200, call: a.explain, knownOnly: true,
			query: []string{"asset", "folder", "user", "role", "group"}},
		{method: "GET", path: lib + "/changes", eitherSlash: true, status: 200, call: a.changes, reserves: true,
			query: []string{"after", "limit"}},
	}
	for i := range routes {
		routes[i].admit = a.admit
	}
	return routes
}

// admit refuses who does not belong to the network before anything else is said of the request.
func (a assetRoutes) admit(c *call) error { return a.svc.Admit(a.caller(c), a.library(c)) }

// admitChange refuses a caller who may change nothing in the library.
func (a assetRoutes) admitChange(c *call) error {
	return a.svc.AdmitChange(c.ctx(), a.caller(c), a.library(c))
}

// admitPermissions refuses a caller who may not change the permissions of the folder that the path names.
func (a assetRoutes) admitPermissions(c *call) error {
	return a.svc.AdmitChangePermissions(c.ctx(), a.caller(c), a.library(c), c.param(2))
}

// admitAssign refuses a caller who may not change what is in the folder that the path names.
func (a assetRoutes) admitAssign(c *call) error {
	return a.svc.AdmitAssignAssets(c.ctx(), a.caller(c), a.library(c), c.param(2))
}

// caller is the principal as the asset manager knows it.
func (a assetRoutes) caller(c *call) assets.Caller {
	return assets.Caller{URN: c.by.URN, Moderates: c.by.Moderates, Roles: c.by.Roles, Groups: c.by.Groups, TagsOnly: c.by.TagsOnly}
}

// library is the one that the path names.
func (a assetRoutes) library(c *call) assets.Library {
	return assets.Library{Network: c.param(0), ID: c.param(1)}
}

// appended puts a value into the answer, its stored bytes as they are.
func (c *call) appended(v interface{ AppendJSON([]byte) []byte }, err error) error {
	if err == nil {
		c.out = v.AppendJSON(c.out[:0])
	}
	return err
}

// listed puts {"name":[…]} into the answer.
func listed[T interface{ AppendJSON([]byte) []byte }](c *call, name string, list []T, err error) error {
	if err != nil {
		return err
	}
	c.out = append(append(append(c.out[:0], `{"`...), name...), `":[`...)
	for i, v := range list {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.out = v.AppendJSON(c.out)
	}
	c.out = append(c.out, "]}"...)
	return nil
}

func (a assetRoutes) search(c *call) error {
	in, err := searchOf(c.query)
	if err != nil {
		return err
	}
	page, err := a.svc.Search(c.ctx(), a.caller(c), a.library(c), in)
	return c.appended(page, err)
}

func searchOf(q query) (in assets.SearchRequest, err error) {
	for _, p := range []struct {
		name string
		to   *string
	}{
		{"query", &in.Query}, {"folder", &in.Folder}, {"folderTree", &in.FolderTree}, {"generator", &in.Generator},
		{"order", (*string)(&in.Order)},
	} {
		if *p.to, err = q.one(p.name); err != nil {
			return in, err
		}
	}
	if in.Since, in.Until, err = q.cursors(); err != nil {
		return in, err
	}
	// Only the parameter query may be present and empty. An empty id of a folder matches no folder.
	for name, id := range map[string]*string{"folder": &in.Folder, "folderTree": &in.FolderTree} {
		if *id == "" && q.has(name) {
			*id = noFolder
		}
	}
	if in.Generator == "" && q.has("generator") {
		return in, refuseParameter("generator", "is empty: want the id of a service")
	}
	if in.Order == "" && q.has("order") {
		return in, refuseParameter("order", "want asc or desc")
	}
	if in.Via, err = q.integer("via"); err != nil {
		return in, err
	}
	if in.Rights, err = q.integer("rights"); err != nil {
		return in, err
	}
	if in.AddedFrom, err = q.time("from"); err != nil {
		return in, err
	}
	if in.AddedBefore, err = q.time("to"); err != nil {
		return in, err
	}
	for _, text := range q.all("attribute") {
		key, value, found := strings.Cut(text, ":")
		in.Attributes = append(in.Attributes, assets.AttributeFilter{Key: key})
		if found {
			in.Attributes[len(in.Attributes)-1].Value = &value
		}
	}
	facets, err := q.one("facets")
	if err != nil {
		return in, err
	}
	if q.has("facets") {
		in.Facets = strings.Split(facets, ",")
	}
	in.Tags = q.list("tags")
	in.Limit, err = q.limit()
	return in, err
}

// noFolder is an id that no folder has.
const noFolder = "\x00"

func (a assetRoutes) changeAssets(c *call) error {
	var body assetsBody
	if err := c.decode(&body); err != nil {
		return err
	}
	in, err := body.change()
	if err != nil {
		return err
	}
	out, err := a.svc.ChangeAssets(c.ctx(), a.caller(c), a.library(c), in)
	return c.appended(out, err)
}

func (a assetRoutes) asset(c *call) error {
	out, err := a.svc.Asset(c.ctx(), a.caller(c), a.library(c), c.param(2))
	return c.appended(out, err)
}

func (a assetRoutes) folders(c *call) error {
	in := assets.ListFoldersRequest{IDs: c.query.list("id"), Paths: c.query.list("path")}
	var err error
	if in.Label, err = c.query.one("label"); err != nil {
		return err
	}
	if in.Deleted, err = c.query.flag("deleted"); err != nil {
		return err
	}
	if in.After, in.Before, err = c.query.cursors(); err != nil {
		return err
	}
	if in.Limit, err = c.query.limit(); err != nil {
		return err
	}
	page, err := a.svc.ListFolders(c.ctx(), a.caller(c), a.library(c), in)
	if err == nil && page.Next != "" {
		c.nextHere("since", page.Next, "until")
	}
	return listed(c, "folders", page.Items, err)
}

func (a assetRoutes) changeFolders(c *call) error {
	var body foldersBody
	if err := c.decode(&body); err != nil {
		return err
	}
	in, err := body.change()
	if err != nil {
		return err
	}
	list, err := a.svc.ChangeFolders(c.ctx(), a.caller(c), a.library(c), in)
	return listed(c, "folders", list, err)
}

func (a assetRoutes) folder(c *call) error {
	f, err := a.svc.Folder(c.ctx(), a.caller(c), a.library(c), c.param(2))
	if err != nil {
		return err
	}
	c.out = append(f.AppendJSON(append(c.out[:0], `{"folder":`...)), '}')
	return nil
}

func (a assetRoutes) permissions(c *call) error {
	list, err := a.svc.Permissions(c.ctx(), a.caller(c), a.library(c), c.param(2))
	return listed(c, "permissions", list, err)
}

func (a assetRoutes) changePermissions(c *call) error {
	var body permissionsBody
	if err := c.decode(&body); err != nil {
		return err
	}
	in, err := body.change()
	if err != nil {
		return err
	}
	in.Folder = c.param(2)
	list, err := a.svc.ChangePermissions(c.ctx(), a.caller(c), a.library(c), in)
	return listed(c, "permissions", list, err)
}

func (a assetRoutes) assign(c *call) error {
	var in assets.AssignAssetsRequest
	if err := c.decode(&in); err != nil {
		return err
	}
	in.Folder = c.param(2)
	out, err := a.svc.AssignAssets(c.ctx(), a.caller(c), a.library(c), in)
	if err != nil {
		return err
	}
	return c.json(out)
}

func (a assetRoutes) attributes(c *call) error {
	key, err := c.query.one("key")
	if err == nil && !c.query.has("key") {
		err = refuseParameter("key", "the parameter is missing: want the key of an attribute")
	}
	if err != nil {
		return err
	}
	list, err := a.svc.Attributes(c.ctx(), a.caller(c), a.library(c), key)
	if err != nil {
		return err
	}
	return c.json(map[string][]assets.Attribute{"attributes": list})
}

func (a assetRoutes) changeAttributes(c *call) error {
	var body attributesBody
	if err := c.decode(&body); err != nil {
		return err
	}
	in, err := body.change()
	if err != nil {
		return err
	}
	out, err := a.svc.ChangeAttributes(c.ctx(), a.caller(c), a.library(c), in)
	return c.appended(out, err)
}

func (a assetRoutes) explain(c *call) error {
	in, err := explainOf(c.query)
	if err != nil {
		return err
	}
	out, err := a.svc.Explain(c.ctx(), a.caller(c), a.library(c), in)
	if err != nil {
		return err
	}
	return c.json(out)
}

// explainOf reads what to explain. Whoever names a user, a role or a group asks about somebody else; an
// empty user stands for anybody with these roles and groups.
func explainOf(q query) (in assets.ExplainRequest, err error) {
	for _, p := range []struct {
		name string
		to   *string
	}{{"asset", &in.Asset}, {"folder", &in.Folder}} {
		if *p.to, err = q.one(p.name); err != nil {
			return in, err
		}
		if *p.to == "" && q.has(p.name) {
			return in, refuseParameter(p.name, "must not be empty: want an id")
		}
	}
	if !q.has("user") && !q.has("role") && !q.has("group") {
		return in, nil
	}
	in.About = &assets.Whom{Roles: q.all("role"), Groups: q.all("group")}
	in.About.User, err = q.one("user")
	return in, err
}
