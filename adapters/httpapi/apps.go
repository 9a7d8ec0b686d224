package httpapi

import (
	"github.com/vitrine-go/vitrine/appsvc"
)

// appRoutes is the app service (contract, section 4.1).
type appRoutes struct{ svc *appsvc.Service }

// table lists the endpoints in the order of the contract.
func (a appRoutes) table() []route {
	embed := []string{"embedApps"}
	return []route{
		{name: "1", method: "GET", path: "/apps/", collection: true, status: 200, call: a.list,
			query: []string{"sort", "usingComponent", "limit", "after"}},
		{name: "2", method: "POST", path: "/apps/", collection: true, status: 201, call: a.create,
			body: jsonBody, keyed: true},
		{name: "3", method: "GET", path: "/apps/{id}", status: 200, call: a.latest},
		{name: "4", method: "PATCH", path: "/apps/{id}", status: 200, call: a.patch,
			body: patchBody},
		{name: "5", method: "GET", path: "/apps/versions/", collection: true, status: 200, call: a.versionsOfQuery,
			query: []string{"appId", "id", "limit", "before"}},
		{name: "5", method: "GET", path: "/apps/{id}/versions/", collection: true, status: 200, call: a.versionsOfPath,
			query: []string{"limit", "before"}},
		{name: "6", method: "GET", path: "/apps/{id}/versions/{version}", status: 200, call: a.version},
		{name: "7", method: "POST", path: "/apps/versions/restore", status: 201, call: a.restore,
			body: jsonBody, keyed: true},
		{name: "8", method: "GET", path: "/apps/{id}/tags/", collection: true, status: 200, call: a.tags,
			query: []string{"embedApps", "limit", "after"}},
		{name: "9", method: "GET", path: "/apps/{id}/tags/{tag}", status: 200, call: a.tag, query: embed},
		{name: "10", method: "PUT", path: "/apps/{id}/tags/{tag}", status: 201, call: a.putTag,
			query: embed, body: jsonBody, keyed: true},
		{name: "11", method: "DELETE", path: "/apps/{id}/tags/{tag}", status: 204, call: a.deleteTag,
			query: embed, keyed: true},
		{name: "12", method: "GET", path: "/apps/{id}/tagged/{tag}", status: 200, call: a.tagged},
		{name: "13", method: "GET", path: "/tags/{name}", status: 200, call: a.tagsNamed,
			query: []string{"appId"}},
		{name: "14", method: "GET", path: "/components/", collection: true, status: 200, call: a.components,
			query: []string{"after"}},
		{name: "15", method: "POST", path: "/components/", collection: true, status: 201, call: a.createComponent,
			body: jsonBody, keyed: true},
		{name: "16", method: "GET", path: "/components/{name}", status: 200, call: a.component},
		{name: "17", method: "DELETE", path: "/components/{name}", status: 204, call: a.deleteComponent,
			keyed: true},
	}
}

// caller is the principal as the app service knows it.
func (a appRoutes) caller(c *call) appsvc.Caller {
	return appsvc.Caller{URN: c.by.URN, Moderates: c.by.Moderates, ManageComponents: c.by.Components}
}

func (a appRoutes) list(c *call) error {
	in, err := listOf(c.query)
	if err != nil {
		return err
	}
	apps, next, err := a.svc.Apps(c.ctx(), a.caller(c), in)
	if err != nil {
		return err
	}
	if next != "" {
		c.next("/apps/", "after", next)
	}
	return c.apps(apps...)
}

func listOf(q query) (in appsvc.ListApps, err error) {
	sort, err := q.one("sort")
	if err == nil && sort == "" && q.has("sort") {
		err = refuse(400, "sort: want createdAt, -createdAt, updatedAt or -updatedAt")
	}
	if err != nil {
		return in, err
	}
	in.Sort = appsvc.Sort(sort)
	if in.UsingComponent, err = q.one("usingComponent"); err != nil {
		return in, err
	}
	in.After, err = q.one("after")
	if err == nil && in.After == "" && q.has("after") {
		err = refuse(400, "after: \"\" is not a cursor of this list")
	}
	if err != nil {
		return in, err
	}
	in.Limit, err = q.limit()
	return in, err
}

func (a appRoutes) create(c *call) error {
	var in appsvc.NewApp
	if err := c.decode(&in); err != nil {
		return err
	}
	in.IdempotencyKey = c.key
	app, err := a.svc.CreateApp(c.ctx(), a.caller(c), in)
	if err != nil {
		return err
	}
	url := c.url("/apps/" + segment(app.ID))
	c.header()["Location"] = []string{url}
	return c.json(struct {
		ID  string `json:"id"`
		URL string `json:"url"`
	}{app.ID, url})
}

func (a appRoutes) latest(c *call) error {
	app, err := a.svc.App(c.ctx(), a.caller(c), c.param(0))
	if err != nil {
		return err
	}
	return c.version(app, nil)
}

func (a appRoutes) patch(c *call) error {
	app, err := a.svc.Patch(c.ctx(), a.caller(c), c.param(0), c.body)
	if err != nil {
		return err
	}
	return c.apps(app)
}
