package httpapi

import (
	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/urlescape"
)

// history serves GET /apps/{id}/history/: what each version changed, newest first, without contents. 200 with
// {"history":[HistoryEntry]} and a Link to the next page if there is one. 400 for before or limit; 404 for an app that
// is absent or not visible.
func (a appRoutes) history(c *call) (err error) {
	in := appsvc.ListHistoryRequest{AppID: c.param(0)}
	if in.Before, err = c.query.before(); err != nil {
		return err
	}
	if in.Limit, err = c.query.limit(); err != nil {
		return err
	}
	page, err := a.svc.ListHistory(c.ctx(), c.by.Caller, in)
	if err != nil {
		return err
	}
	if page.Next != "" {
		c.next("/apps/"+urlescape.Escape(in.AppID)+"/history/", "before", page.Next)
	}
	return c.json(map[string][]appsvc.HistoryEntry{"history": append([]appsvc.HistoryEntry{}, page.Items...)})
}

// diff serves GET /apps/{id}/versions/{from}/diff/{to}: what differs between two versions, in either order of age. 200
// with {"from", "to", "patch"}, where patch is a JSON Patch (RFC 6902) that turns what GET returns for from into to. 404
// for an app that is absent or not visible, and for a version that it does not have. Text that is no version is
// 404, too.
func (a appRoutes) diff(c *call) error {
	from, err := vitrine.ParseVersion(c.param(1))
	if err != nil { // no version has such a name
		return errNoResource
	}
	to, err := vitrine.ParseVersion(c.param(2))
	if err != nil {
		return errNoResource
	}
	d, err := a.svc.Diff(c.ctx(), c.by.Caller, appsvc.DiffRequest{AppID: c.param(0), From: from, To: to})
	if err != nil {
		return err
	}
	if err := c.expect(len(d.Patch) + 64); err != nil {
		return err
	}
	c.out = d.AppendJSON(c.out[:0])
	return nil
}
