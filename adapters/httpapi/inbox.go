package httpapi

import (
	"context"

	"github.com/vitrine-go/vitrine/appsvc"
)

// readers serves GET /apps/{id}/people: the people of the caller's network who may read an app. 200 with
// {"people":[{"urn","name"}]}. 400 if q is wrong; 403 if the caller may only read the app; 404.
func (a appRoutes) readers(c *call) error {
	return c.people(a.as(c).Readers)
}

// approvers serves GET /x/releases/{id}/approvers: the people of the caller's network who could approve a release. 200
// with {"people":[{"urn","name"}]}. 400 if q is wrong; 403 if the caller may not change the release; 404.
func (a appRoutes) approvers(c *call) error {
	return c.people(a.as(c).Approvers)
}

func (c *call) people(find func(ctx context.Context, id, query string) ([]appsvc.Person, error)) error {
	query := c.query.text("q")
	if c.query.err != nil {
		return c.query.err
	}
	people, err := find(c.r.Context(), c.params[0], query)
	return c.member("people", people, err)
}

// inbox serves GET /x/inbox: what waits for a person. 200 with {"items":[InboxItem],"next","until"}. 400 for limit or
// after; 403 for a key.
func (a appRoutes) inbox(c *call) error {
	in := appsvc.InboxRequest{After: c.query.cursor("after"), Limit: c.query.count("limit")}
	return c.json(ask(c, a.as(c).Inbox, in))
}

// seeInbox serves POST /x/inbox/seen with {"until"}: 204. 400; 403 for a key.
func (a appRoutes) seeInbox(c *call) error {
	var body struct {
		Until int64 `json:"until"`
	}
	if err := c.decode(&body); err != nil {
		return err
	}
	return a.as(c).SeeInbox(c.r.Context(), body.Until)
}
