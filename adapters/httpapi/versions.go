package httpapi

import (
	"errors"
	"net/http"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/urlescape"
)

// versionTable lists the endpoints of this file and of history.go. No app has the id "versions".
func (a appRoutes) versionTable() []route {
	return []route{
		{method: "GET", path: "/apps/versions/", lenient: true, eitherSlash: true, status: 200, call: a.versionsOfQuery, reserves: true,
			query: []string{"appId", "id", "limit", "before"}},
		{method: "GET", path: "/apps/{id}/versions/", eitherSlash: true, status: 200, call: a.versionsOfPath, reserves: true,
			query: []string{"limit", "before"}},
		{method: "GET", path: "/apps/{id}/versions/{version}", lenient: true, status: 200, call: a.version,
			query: []string{"withDefaults"}},
		{method: "GET", path: "/apps/{id}/versions/{from}/diff/{to}", status: 200, call: a.diff, reserves: true},
		{method: "GET", path: "/apps/{id}/history/", eitherSlash: true, status: 200, call: a.history, reserves: true,
			query: []string{"limit", "before"}},
		{method: "POST", path: "/apps/versions/restore", status: 201, call: a.restore, reserves: true,
			body: jsonBody, idempotencyKey: true},
	}
}

// versionsOfQuery serves GET /apps/versions/?appId={id}, an older address of versionsOfPath. The parameter id is
// another name of appId. 400 unless exactly one of them is given, once and not empty.
func (a appRoutes) versionsOfQuery(c *call) error {
	ids := append(c.query.all("appId"), c.query.all("id")...)
	if len(ids) != 1 || ids[0] == "" {
		name := "appId"
		if !c.query.has(name) && c.query.has("id") {
			name = "id"
		}
		return refuseParameter(name, "want the id of an app once, as appId or as id")
	}
	return a.versions(c, ids[0])
}

// versionsOfPath serves GET /apps/{id}/versions/. Its Link has the same path, and the Link of versionsOfQuery has the other
// one, so a client that walks through the pages stays at the address that it knows.
func (a appRoutes) versionsOfPath(c *call) error {
	return a.versions(c, c.param(0))
}

// versions answers the versions of an app, newest first: 200 with {"apps":[App]} and a Link to the next page if there
// is one. 400 for before or limit; 404 for an app that is absent or not visible.
func (a appRoutes) versions(c *call, id string) error {
	in := appsvc.ListVersionsRequest{AppID: id, Before: c.query.before(), Limit: c.query.limit()}
	return c.apps(askPage(c, a.svc.ListVersions, in, "before"))
}

// version serves GET /apps/{id}/versions/{version}: one version of an app, which never changes. 200 with
// {"apps":[App]}, an ETag, and Cache-Control that lets a client keep it for a year; or 304. 404 for an app that is
// absent or not visible, for a version that the app does not have, and for text that is no version. 422 if withDefaults
// makes it larger than 16 MiB.
func (a appRoutes) version(c *call) error {
	defaults := c.query.flag("withDefaults")
	v, err := vitrine.ParseVersion(c.param(1))
	switch {
	case c.query.err != nil:
		return c.query.err
	case err != nil: // no version has such a name
		return errNoResource
	}
	app, err := a.svc.Version(c.ctx(), c.by.Caller, c.param(0), v)
	return c.version(app, err, immutable, defaults)
}

// restoreBody is what restore is asked with. The app is named by appId or id, and the version by appVersion or version, or by
// latest.
type restoreBody struct {
	AppID      *string `json:"appId"`
	ID         *string `json:"id"`
	AppVersion *string `json:"appVersion"`
	Version    *string `json:"version"`
	Latest     *bool   `json:"latest"`
}

// restore serves POST /apps/versions/restore: it stores an older version of an app as a new highest one. 201 with
// {"apps":[App]} and the address of the new version in Location. 400 for a member that is missing, empty, or given
// under both names; 403 if the caller may not change the groups so; 404, with a pointer to the member, for an unknown
// app or version; 413.
func (a appRoutes) restore(c *call) error {
	var body restoreBody
	if err := c.decode(&body); err != nil {
		return err
	}
	idName, id, err := either("appId", body.AppID, "id", body.ID)
	if err != nil {
		return err
	}
	versionName := "appVersion" // the name that the client used, for the pointer of an error
	in := appsvc.RestoreRequest{AppID: id, IdempotencyKey: c.key}
	if body.Latest != nil {
		in.Version, err = latestVersion(*body.Latest, body.AppVersion, body.Version)
	} else {
		var version string
		if versionName, version, err = either("appVersion", body.AppVersion, "version", body.Version); err != nil {
			return err
		}
		in.Version, err = bodyVersion(versionName, version)
	}
	if err != nil {
		return err
	}
	app, err := ask(c, a.svc.Restore, in)
	if err != nil {
		return under(versionName, "/appVersion", under(idName, "/appId", err))
	}
	c.located("/apps/" + urlescape.Escape(app.ID) + "/versions/" + app.Version.String())
	return c.apps([]appsvc.App{app}, nil)
}

// either returns the value of a member that has two names, and the name that the client used. It returns a 400 if both
// names or none are given, or if the value is empty.
func either(name string, value *string, alias string, other *string) (used, text string, err error) {
	if value != nil && other != nil {
		return "", "", refusePointer(http.StatusBadRequest, "/"+alias, "is another name of /%s; want one of them", name)
	}
	if value == nil && other != nil {
		name, value = alias, other
	}
	if value == nil || *value == "" {
		return "", "", refusePointer(http.StatusBadRequest, "/"+name, "missing; want a string that is not empty")
	}
	return name, *value, nil
}

// under returns err with the pointer changed to "/" + name if it points to pointer. The service names members by their
// first name; the client must find the name that it has sent.
func under(name, pointer string, err error) error {
	e, ok := errors.AsType[*vitrine.Error](err)
	if !ok || e.Pointer != pointer {
		return err
	}
	moved := *e
	moved.Pointer = "/" + name
	return &moved
}

// latestVersion reads the member latest of a body, which names the version that is the latest when the request is carried
// out. A client then needs no read before the write, and a repeat with an idempotency key has the same body even if the app
// has got another version meanwhile. Only true is accepted. names are the members that would name a version by its number;
// it is a 400 if one of them is given too.
func latestVersion(latest bool, names ...*string) (vitrine.Version, error) {
	if !latest || slices.ContainsFunc(names, func(name *string) bool { return name != nil }) {
		return vitrine.Version{}, refusePointer(http.StatusBadRequest, "/latest", "want it to be true, in place of /appVersion")
	}
	return vitrine.Latest, nil
}

// bodyVersion reads a member of a body that names a version. A string that is the name of no version is an
// unknown version like any other.
func bodyVersion(name, s string) (vitrine.Version, error) {
	v, err := vitrine.ParseVersion(s)
	if err != nil {
		return vitrine.Version{}, refusePointer(http.StatusNotFound, "/"+name, "no version is named %q", s)
	}
	return v, nil
}
