package httpapi

import (
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/urlpath"
)

// appRoutes is the app service: apps, versions, tags and components.
type appRoutes struct{ svc Apps }

// table lists the endpoints in the order of README.md.
func (a appRoutes) table() []route {
	embed, defaults := []string{"embedApps"}, []string{"withDefaults"}
	return []route{
		{method: "GET", path: "/apps/", eitherSlash: true, status: 200, call: a.list, reserves: true,
			query: []string{"sort", "usingComponent", "limit", "after"}},
		{method: "POST", path: "/apps/", eitherSlash: true, status: 201, call: a.create,
			body: jsonBody, idempotencyKey: true},
		{method: "GET", path: "/apps/{id}", status: 200, call: a.latest, reserves: true,
			query: defaults},
		{method: "PATCH", path: "/apps/{id}", status: 200, call: a.patch, reserves: true,
			body: patchBody, admitBody: a.admitChange},
		{method: "GET", path: "/apps/versions/", eitherSlash: true, status: 200, call: a.versionsOfQuery, reserves: true,
			query: []string{"appId", "id", "limit", "before"}},
		{method: "GET", path: "/apps/{id}/versions/", eitherSlash: true, status: 200, call: a.versionsOfPath, reserves: true,
			query: []string{"limit", "before"}},
		{method: "GET", path: "/apps/{id}/versions/{version}", status: 200, call: a.version, reserves: true,
			query: defaults},
		{method: "GET", path: "/apps/{id}/versions/{from}/diff/{to}", status: 200, call: a.diff, reserves: true},
		{method: "GET", path: "/apps/{id}/history/", eitherSlash: true, status: 200, call: a.history, reserves: true,
			query: []string{"limit", "before"}},
		{method: "POST", path: "/apps/versions/restore", status: 201, call: a.restore,
			body: jsonBody, idempotencyKey: true},
		{method: "GET", path: "/apps/{id}/tags/", eitherSlash: true, status: 200, call: a.tags, reserves: true,
			query: []string{"embedApps", "limit", "after"}},
		{method: "GET", path: "/apps/{id}/tags/{tag}", status: 200, call: a.tag, query: embed},
		{method: "PUT", path: "/apps/{id}/tags/{tag}", status: 201, call: a.putTag,
			query: embed, body: jsonBody, admitBody: a.admitTagChange, idempotencyKey: true},
		{method: "DELETE", path: "/apps/{id}/tags/{tag}", status: 204, call: a.deleteTag,
			query: embed, idempotencyKey: true},
		{method: "GET", path: "/apps/{id}/tags/{tag}/history/", eitherSlash: true, status: 200, call: a.tagMoves,
			query: []string{"limit", "before"}},
		{method: "GET", path: "/apps/{id}/tagged/{tag}", status: 200, call: a.tagged, byTag: true, reserves: true,
			query: defaults},
		{method: "GET", path: "/tags/{name}", status: 200, call: a.tagsNamed,
			query: []string{"appId"}},
		{method: "GET", path: "/components/", eitherSlash: true, status: 200, call: a.components, reserves: true,
			query: []string{"after"}},
		{method: "POST", path: "/components/", eitherSlash: true, status: 201, call: a.createComponent,
			body: jsonBody, admitBody: a.admitComponent, idempotencyKey: true},
		{method: "GET", path: "/components/{name}", status: 200, call: a.component},
		{method: "DELETE", path: "/components/{name}", status: 204, call: a.deleteComponent,
			idempotencyKey: true},
		{method: "POST", path: "/components/{name}/check", status: 200, call: a.checkComponent, reserves: true,
			query: []string{"after"}, body: jsonBody, admitBody: a.admitComponent},
		{method: "GET", path: "/components/{name}/versions/", eitherSlash: true, status: 200, call: a.componentVersions, reserves: true,
			query: []string{"limit", "after"}},
		{method: "GET", path: "/components/{name}/versions/{version}", status: 200, call: a.componentVersion},
		{method: "GET", path: "/x/changes", eitherSlash: true, status: 200, call: a.changes,
			query: []string{"after", "types", "app", "limit"}},
	}
}

// caller is the principal as the app service knows it.
func (a appRoutes) caller(c *call) appsvc.Caller {
	return appsvc.Caller{URN: c.by.URN, Moderates: c.by.Moderates, Reads: c.by.Reads, ManageComponents: c.by.Components,
		TagsOnly: c.by.TagsOnly, Tags: c.by.Tags}
}

// admitChange refuses a caller who may not change the app that the path names.
func (a appRoutes) admitChange(c *call) error {
	return a.svc.AdmitChange(c.ctx(), a.caller(c), c.param(0))
}

// admitTagChange refuses a caller who may not change the app that the path names, or not move this tag of it.
func (a appRoutes) admitTagChange(c *call) error {
	return a.svc.AdmitTagChange(c.ctx(), a.caller(c), c.param(0), c.param(1))
}

// admitComponent refuses a caller who may not create components.
func (a appRoutes) admitComponent(c *call) error {
	return a.svc.AdmitCreateComponent(c.ctx(), a.caller(c))
}

func (a appRoutes) list(c *call) error {
	in, err := listOf(c.query)
	if err != nil {
		return err
	}
	page, err := a.svc.ListApps(c.ctx(), a.caller(c), in)
	if err != nil {
		return err
	}
	if page.Next != "" {
		c.next("/apps/", "after", page.Next)
	}
	return c.apps(page.Items...)
}

func listOf(q query) (in appsvc.ListAppsRequest, err error) {
	sort, err := q.one("sort")
	if err == nil && sort == "" && q.has("sort") {
		err = refuseParameter("sort", "want createdAt, -createdAt, updatedAt or -updatedAt")
	}
	if err != nil {
		return in, err
	}
	in.Sort = appsvc.Sort(sort)
	if in.UsingComponent, err = q.one("usingComponent"); err != nil {
		return in, err
	}
	if in.After, err = q.cursor("after"); err != nil {
		return in, err
	}
	in.Limit, err = q.limit()
	return in, err
}

func (a appRoutes) create(c *call) error {
	var in appsvc.CreateAppRequest
	if err := c.decode(&in); err != nil {
		return err
	}
	in.IdempotencyKey = c.key
	app, err := a.svc.CreateApp(c.ctx(), a.caller(c), in)
	if err != nil {
		return err
	}
	url := c.url("/apps/" + urlpath.Escape(app.ID))
	c.header()["Location"] = []string{url}
	return c.json(struct {
		ID  string `json:"id"`
		URL string `json:"url"`
	}{app.ID, url})
}

func (a appRoutes) latest(c *call) error {
	defaults, err := c.query.flag("withDefaults")
	if err != nil {
		return err
	}
	app, err := a.svc.App(c.ctx(), a.caller(c), c.param(0))
	if err != nil {
		return err
	}
	return c.version(app, nil, defaults)
}

func (a appRoutes) patch(c *call) error {
	app, err := a.svc.Patch(c.ctx(), a.caller(c), c.param(0), c.body)
	if err != nil {
		return err
	}
	return c.apps(app)
}
