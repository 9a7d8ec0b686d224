package httpapi

import (
	"net/http"

	"github.com/vitrine-go/vitrine/appsvc"
)

func (a appRoutes) versionsOfQuery(c *call) error {
	ids := append(c.query.all("appId"), c.query.all("id")...)
	if len(ids) != 1 || ids[0] == "" {
		return refuse(http.StatusBadRequest, "appId: want it once, with the id of an app (id is another name for it)")
	}
	return a.versions(c, ids[0], "/apps/versions/")
}

func (a appRoutes) versionsOfPath(c *call) error {
	return a.versions(c, c.param(0), "/apps/"+segment(c.param(0))+"/versions/")
}

func (a appRoutes) versions(c *call, id, path string) error {
	in := appsvc.ListVersions{AppID: id}
	var err error
	if in.Before, err = c.query.before(); err != nil {
		return err
	}
	if in.Limit, err = c.query.limit(); err != nil {
		return err
	}
	apps, more, err := a.svc.Versions(c.ctx(), a.caller(c), in)
	if err != nil {
		return err
	}
	if more {
		c.next(path, "before", apps[len(apps)-1].Version.String())
	}
	return c.apps(apps...)
}

// before returns the version that the parameter before names, Latest when it is not given.
func (q query) before() (appsvc.Version, error) {
	s, err := q.one("before")
	if err != nil || !q.has("before") {
		return appsvc.Latest, err
	}
	v, err := appsvc.ParseVersion(s)
	if err != nil {
		return 0, refuse(http.StatusBadRequest,
			"before: %q is not a version: want a decimal number of at most 63 bits, without leading zeros", s)
	}
	return v, nil
}

func (a appRoutes) version(c *call) error {
	v, err := appsvc.ParseVersion(c.param(1))
	if err != nil { // no version has such a name
		return errNoResource
	}
	app, err := a.svc.Version(c.ctx(), a.caller(c), c.param(0), v)
	if err != nil {
		return err
	}
	return c.version(app, immutable)
}

// restoreBody is what restore is asked with. Each member has two names; one of them is given.
type restoreBody struct {
	AppID      *string `json:"appId"`
	ID         *string `json:"id"`
	AppVersion *string `json:"appVersion"`
	Version    *string `json:"version"`
}

func (a appRoutes) restore(c *call) error {
	var body restoreBody
	if err := c.decode(&body); err != nil {
		return err
	}
	id, err := either("appId", body.AppID, "id", body.ID)
	if err != nil {
		return err
	}
	version, err := either("appVersion", body.AppVersion, "version", body.Version)
	if err != nil {
		return err
	}
	in := appsvc.Restore{AppID: id, IdempotencyKey: c.key}
	if in.Version, err = bodyVersion(version); err != nil {
		return err
	}
	app, err := a.svc.Restore(c.ctx(), a.caller(c), in)
	if err != nil {
		return err
	}
	c.header()["Location"] = []string{c.url("/apps/" + segment(app.ID) + "/versions/" + app.Version.String())}
	return c.apps(app)
}

// either returns the value that stands under exactly one of two names.
func either(name string, value *string, alias string, other *string) (string, error) {
	if value != nil && other != nil {
		return "", refuse(http.StatusBadRequest, "/%s and /%s: two names of the same member; want one", name, alias)
	}
	if value == nil {
		value = other
	}
	if value == nil || *value == "" {
		return "", refuse(http.StatusBadRequest, "/%s: missing; want a string that is not empty", name)
	}
	return *value, nil
}

// bodyVersion reads the member appVersion of a body. A string that is the name of no version is an
// unknown version like any other.
func bodyVersion(s string) (appsvc.Version, error) {
	v, err := appsvc.ParseVersion(s)
	if err != nil {
		return 0, refuse(http.StatusNotFound, "/appVersion: no version is named %q", s)
	}
	return v, nil
}
