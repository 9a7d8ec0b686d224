package httpapi

import (
	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// history serves GET /apps/{id}/history/: what each version changed, newest first, without contents. 200 with
// {"history":[HistoryEntry]} and a Link to the next page if there is one. 400 for before or limit; 404 for an app that
// is absent or not visible.
func (a appRoutes) history(c *call) error {
	in := appsvc.ListHistoryRequest{AppID: c.param(0), Before: c.query.before(), Limit: c.query.limit()}
	list, err := askPage(c, a.svc.ListHistory, in, "before")
	return c.member("history", list, err)
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
	d, err := ask(c, a.svc.Diff, appsvc.DiffRequest{AppID: c.param(0), From: from, To: to})
	if err != nil {
		return err
	}
	c.out = d.AppendJSON(c.out[:0])
	return nil
}
