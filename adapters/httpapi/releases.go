package httpapi

import (
	"context"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/urlescape"
)

// releaseBody decodes the body of a request that creates or updates a release.
func (c *call) releaseBody() (in appsvc.UpdateReleaseRequest, err error) {
	var body struct {
		appsvc.UpdateReleaseRequest
		At    *int64 `json:"at"` // null is no time, as if it were left out
		Until *int64 `json:"until"`
	}
	if err := c.decode(&body); err != nil {
		return in, err
	}
	in = body.UpdateReleaseRequest
	for _, t := range []struct {
		pointer  string
		sent, to *int64
	}{{"/at", body.At, &in.At}, {"/until", body.Until, &in.Until}} {
		if t.sent == nil {
			continue
		}
		if *t.to = *t.sent; *t.to <= 0 {
			return in, fault.Invalid(t.pointer, "want a time in milliseconds since 1970, or null")
		}
	}
	return in, nil
}

// releases serves GET /x/releases: the releases that the caller may see, newest first. 200 with {"releases":[Release]}
// and a Link to the next page if there is one. 400 for state, limit or after.
func (a appRoutes) releases(c *call) error {
	in := appsvc.ListReleasesRequest{
		State: appsvc.ReleaseState(c.query.filled("state", "want open, scheduled, done or cancelled")),
		AppID: c.query.text("app"), After: c.query.cursor("after"), Limit: c.query.count("limit")}
	list, err := askPage(c, a.as(c).ListReleases, in, "after")
	return c.member("releases", list, err)
}

// createRelease serves POST /x/releases with {"name", "note", "moves", "at", "until", "ask"}. 201 with the Release and
// its address in Location. 400; 403 and 404 with the pointer of the first move that the caller could not make; 422.
func (a appRoutes) createRelease(c *call) error {
	body, err := c.releaseBody()
	if err != nil {
		return err
	}
	if !body.Version.IsZero() {
		return fault.Invalid("/version", "a new release has none")
	}
	in := appsvc.CreateReleaseRequest{Name: body.Name, Note: body.Note, Moves: body.Moves, At: body.At,
		Until: body.Until, Ask: body.Ask, IdempotencyKey: c.key}
	rel, err := ask(c, a.as(c).CreateRelease, in)
	if err == nil {
		c.located("/x/releases/" + urlescape.Escape(rel.ID))
	}
	return c.json(rel, err)
}

// release serves GET /x/releases/{id}: 200 with the Release; 404 unless the caller may read every app of it.
func (a appRoutes) release(c *call) error { return c.json(ask(c, a.as(c).Release, c.params[0])) }

// updateRelease serves PUT /x/releases/{id} with {"version", "name", "note", "moves", "at", "until", "ask"}: 200 with
// the Release. 400; 403 and 404 as for createRelease; 409 for another version, and for a release that was run or
// cancelled.
func (a appRoutes) updateRelease(c *call) error {
	in, err := c.releaseBody()
	if err != nil {
		return err
	}
	in.ID = c.params[0]
	return c.json(ask(c, a.as(c).UpdateRelease, in))
}

// releaseAction returns the endpoint POST /x/releases/{id}/approve, run, cancel or undo with {"version"}: 200 with the
// Release. 403 if the caller may not; 404; 409 for another version, a state in which it cannot be done, missing
// approvals, and conflicts.
func (a appRoutes) releaseAction(
	path string,
	method func(s *appsvc.Session, ctx context.Context, id string, seen vitrine.Version) (appsvc.Release, error),
) route {
	return write("POST", path, 200, func(c *call) error {
		var body struct {
			Version vitrine.Version `json:"version"`
		}
		if err := c.decode(&body); err != nil {
			return err
		}
		return c.json(method(a.as(c), c.r.Context(), c.params[0], body.Version))
	}, 0, jsonBody)
}
