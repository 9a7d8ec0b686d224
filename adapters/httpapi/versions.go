package httpapi

import (
	"cmp"
	"errors"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/urlescape"
)

// versionsOfQuery serves GET /apps/versions/?appId={id}, an older address of versionsOfPath. The parameter id is
// another name of appId. 400 unless exactly one of them is given, once and not empty.
func (a appRoutes) versionsOfQuery(c *call) error {
	ids := append(c.query.Values["appId"], c.query.Values["id"]...)
	if len(ids) != 1 || ids[0] == "" {
		name := "appId"
		if !c.query.Has(name) && c.query.Has("id") {
			name = "id"
		}
		return fault.Invalid(name, "want the id of an app once, as appId or as id")
	}
	return a.versions(c, ids[0])
}

// versionsOfPath serves GET /apps/{id}/versions/. Its Link has the same path, and the Link of versionsOfQuery has the
// other one, so a client that walks through the pages stays at the address that it knows.
func (a appRoutes) versionsOfPath(c *call) error {
	return a.versions(c, c.params[0])
}

// versions serves the versions of an app, newest first: 200 with {"apps":[App]} and a Link to the next page if there is
// one. 400 for before or limit; 404 for an app that is absent or not visible.
func (a appRoutes) versions(c *call, id string) error {
	in := appsvc.ListVersionsRequest{AppID: id, Before: c.query.before(), Limit: c.query.count("limit")}
	return c.apps(askPage(c, a.as(c).ListVersions, in, "before"))
}

// version serves GET /apps/{id}/versions/{version}: one version of an app, which never changes. 200 with
// {"apps":[App]}, an ETag, and Cache-Control that lets a client keep it for a year, unless lang is given; or 304. 404
// for an app that is absent or not visible, for a version that the app does not have, and for text that is no version.
// 422 if withDefaults makes it larger than 16 MiB.
func (a appRoutes) version(c *call) error {
	v := c.pathVersion(1)
	return c.version(immutable, a.as(c), func(s *appsvc.Session) (appsvc.App, error) {
		return s.Version(c.r.Context(), c.params[0], v)
	})
}

// restoreBody is the body of restore. The app is named by appId or id, and the version by appVersion or version, or by
// latest.
type restoreBody struct {
	AppID      *string `json:"appId"`
	ID         *string `json:"id"`
	AppVersion *string `json:"appVersion"`
	Version    *string `json:"version"`
	Latest     *bool   `json:"latest"`
	Note       string  `json:"note"`
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
	versionName, version := "appVersion", cmp.Or(body.AppVersion, body.Version)
	if body.Latest == nil {
		if versionName, version, err = either("appVersion", body.AppVersion, "version", body.Version); err != nil {
			return err
		}
	}
	in := appsvc.RestoreRequest{AppID: *id, Note: body.Note, IdempotencyKey: c.key}
	if in.Version, err = versionOf(body.Latest, versionName, version); err != nil {
		return err
	}
	app, err := ask(c, a.as(c).Restore, in)
	if err != nil {
		return under(versionName, "/appVersion", under(idName, "/appId", err))
	}
	c.located("/apps/" + urlescape.Escape(app.ID) + "/versions/" + app.Version.String())
	return c.apps([]appsvc.App{app}, nil)
}

// either returns the value of a member that has two names, and the name that the client used. It returns a 400 if both
// names or none are given, or if the value is empty.
func either(name string, value *string, alias string, other *string) (string, *string, error) {
	if value != nil && other != nil {
		return "", nil, fault.Invalid("/"+alias, "is another name of /%s; want one of them", name)
	}
	if value == nil && other != nil {
		name, value = alias, other
	}
	if value == nil || *value == "" {
		return "", nil, fault.Invalid("/"+name, "missing; want a string that is not empty")
	}
	return name, value, nil
}

// under returns err with the pointer changed to "/" + name if it points to pointer. The service names members by their
// first name; the client must find the name that it has sent.
func under(name, pointer string, err error) error {
	e, ok := errors.AsType[*vitrine.Error](err)
	if !ok || e.Pointer != pointer {
		return err
	}
	renamed := *e
	renamed.Pointer = "/" + name
	return &renamed
}

// versionOf reads the version that a body names by its number, in the member of this name, or by latest. The latter is
// the latest version when the request is carried out: a client then needs no read before the write, and a repeat with
// an idempotency key has the same body. If latest is given, it must be true, and there must be no number. A number that
// is no version is 404.
func versionOf(latest *bool, name string, number *string) (vitrine.Version, error) {
	switch {
	case latest != nil && (!*latest || number != nil):
		return vitrine.Version{}, fault.Invalid("/latest", "want it to be true, in place of /appVersion")
	case latest != nil:
		return vitrine.Latest, nil
	case number == nil:
		return vitrine.Version{}, fault.Invalid("/"+name, "missing; want a version, as a string")
	}
	v, err := vitrine.ParseVersion(*number)
	if err != nil {
		return v, fault.At("/"+name, fault.NotFound("no version is named %q", *number))
	}
	return v, nil
}

// history serves GET /apps/{id}/history/: the changes of each version, newest first, without contents. 200 with
// {"history":[HistoryEntry]} and a Link to the next page if there is one. 400 for before or limit; 404 for an app that
// is absent or not visible.
func (a appRoutes) history(c *call) error {
	in := appsvc.ListHistoryRequest{AppID: c.params[0], Before: c.query.before(), Limit: c.query.count("limit")}
	list, err := askPage(c, a.as(c).ListHistory, in, "before")
	return c.member("history", list, err)
}

// diff serves GET /apps/{id}/versions/{from}/diff/{to}: the difference between two versions, in either order of age.
// 200 with {"from", "to", "patch"}, where patch is a JSON Patch (RFC 6902) that turns the App of from into that of to.
// 404 for an app that is absent or not visible, for a version that it does not have, and for a text that is no
// version.
func (a appRoutes) diff(c *call) error {
	from, to := c.pathVersion(1), c.pathVersion(2)
	if c.query.err != nil {
		return c.query.err
	}
	diff, err := a.as(c).Diff(c.r.Context(), c.params[0], from, to)
	return c.json(diff, err)
}
