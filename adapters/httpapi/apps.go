package httpapi

import (
	"slices"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/urlescape"
)

// appRoutes are the endpoints of the app service: apps, versions, tags, components and their feed of changes.
//
// A handler reads the parameters and the body, calls the method of the service, sets the headers Location and Link, and
// puts the body of the response into c.out. The table of routes has the status of a success. (*call).fail turns the
// error of a handler into a response. Each comment below names only the errors of its endpoint; README.md lists those
// that every endpoint may return.
type appRoutes struct{ svc *appsvc.Service }

// as returns a Session for the caller of the request.
func (a appRoutes) as(c *call) *appsvc.Session { return a.svc.As(c.by.Caller).Within(c.within) }

// searches takes a slot for a search in content.
func (a appRoutes) searches(c *call) error {
	if !slices.Contains(c.query.list("in"), "content") {
		return nil
	}
	return c.acquireSlot(c.h.searches, "")
}

// lang returns the language in which texts are answered, "" for none.
func (c *call) lang() string {
	return c.query.filled(langParameter, "want a language, such as de or de-AT")
}

// langParameter names the language in which texts are answered.
const langParameter = "lang"

// languages serves GET /x/languages: 200 with {"languages": [tag]}, the base first; none if there is no rule.
func (a appRoutes) languages(c *call) error {
	list, err := a.as(c).Languages(c.r.Context())
	return c.member("languages", append([]string{}, list...), err)
}

// list serves GET /apps/: the apps that the caller may use, each as its latest version. 200 with {"apps":[App]} and a
// Link to the next page if there is one. 400 for a value that a parameter cannot have.
func (a appRoutes) list(c *call) error {
	view := c.query.filled("view", "want summary")
	if view != "" && view != "summary" {
		c.query.invalid("view", "%q: want summary", view)
	}
	in := appsvc.ListAppsRequest{
		Summary: view != "",
		Sort:    appsvc.Sort(c.query.filled("sort", "want createdAt, -createdAt, updatedAt or -updatedAt")),
		Query:   c.query.text("q"), Group: c.query.text("group"), Owner: c.query.text("owner"),
		UsingComponent: c.query.text("usingComponent"), UsingVersion: c.query.text("usingVersion"),
		In: c.query.list("in"), Deleted: c.query.flag("deleted"), After: c.query.cursor("after"),
		Limit: c.query.count("limit"),
	}
	if c.query.Has("in") && in.In == nil {
		in.In = []string{} // which the domain rejects
	}
	return c.apps(askPage(c, a.as(c).ListApps, in, "after"))
}

// create serves POST /apps/ with {"title", "groups", "elements"}: it creates an app at version 0. 201 with {"id",
// "url"} and the same address in Location. 403 with a pointer for a group that the caller does not moderate; 400; 409
// for a component that was created again meanwhile; 413; 422 for an unknown component, and for a config that breaks its
// schema or costs too much to validate.
func (a appRoutes) create(c *call) error {
	app, err := submit(c, a.as(c).CreateApp, appsvc.CreateAppRequest{IdempotencyKey: c.key})
	if err != nil {
		return err
	}
	url := c.located("/apps/" + urlescape.Escape(app.ID))
	return c.json(struct {
		ID  string `json:"id"`
		URL string `json:"url"`
	}{app.ID, url}, nil)
}

// latest serves GET /apps/{id}: the latest version of an app. 200 with {"apps":[App]} and an ETag, or 304. 404 for an
// app that is absent or that the caller may not see. 422 if withDefaults makes the response larger than 16 MiB.
func (a appRoutes) latest(c *call) error {
	return c.version(revalidate, a.as(c), func(s *appsvc.Session) (appsvc.App, error) {
		return s.App(c.r.Context(), c.params[0])
	})
}

// delete serves DELETE /apps/{id}: the app is absent until undelete. 204. 403 for a caller who may only read it; 404;
// 409 if it has a protected tag.
func (a appRoutes) delete(c *call) error {
	return a.as(c).DeleteApp(c.r.Context(), c.params[0])
}

// undelete serves POST /apps/{id}/undelete: it restores a deleted app. 200 with {"apps":[App]}. 404; 409 if it is not
// deleted.
func (a appRoutes) undelete(c *call) error {
	app, err := a.as(c).UndeleteApp(c.r.Context(), c.params[0])
	return c.apps([]appsvc.App{app}, err)
}

// erase serves POST /apps/{id}/erase: a deleted app is removed for good. 204. 403 for a caller who does not moderate
// every group; 404; 409 if it is not deleted.
func (a appRoutes) erase(c *call) error {
	if err := c.erases(); err != nil {
		return err
	}
	return a.as(c).EraseApp(c.r.Context(), c.params[0])
}

// patch serves PATCH /apps/{id} with a JSON Patch (RFC 6902) of the document that latest returns. 200 with
// {"apps":[App]}, the new version, or the current one if the patch changes nothing. 400 for a patch that is malformed
// or does not test the version; 403 for groups; 404; 409 if the app has a newer version or a test fails; 413; 422 if an
// operation does not apply or the result is not a valid app.
func (a appRoutes) patch(c *call) error {
	app, err := a.as(c).Patch(c.r.Context(), c.params[0], &requestBody{c: c})
	return c.apps([]appsvc.App{app}, err)
}
