package httpapi

import (
	"net/http"

	"github.com/vitrine-go/vitrine/appsvc"
)

// wireTag is a tag as it is answered (contract, section 2.4).
type wireTag struct {
	AppID      string `json:"appId"`
	Name       string `json:"name"`
	AppVersion string `json:"appVersion"`
}

// tags puts {"tags":[…]} into the answer, with the apps beside them when they were asked for.
func (c *call) tags(page appsvc.TagPage, embed bool) error {
	wire := make([]wireTag, len(page.Tags))
	for i, t := range page.Tags {
		wire[i] = wireTag{t.AppID, t.Name, t.AppVersion.String()}
	}
	if err := c.json(map[string][]wireTag{"tags": wire}); err != nil || !embed {
		return err
	}
	c.out[len(c.out)-1] = ','
	c.out = append(appendApps(c.out, page.Apps), '}')
	return nil
}

func (a appRoutes) tags(c *call) (err error) {
	in := appsvc.ListTags{AppID: c.param(0)}
	if in.Embed, err = c.query.flag("embedApps"); err != nil {
		return err
	}
	if in.After, err = c.query.one("after"); err != nil {
		return err
	}
	if in.Limit, err = c.query.limit(); err != nil {
		return err
	}
	page, err := a.svc.Tags(c.ctx(), a.caller(c), in)
	if err != nil {
		return err
	}
	if page.More {
		c.next("/apps/"+segment(c.param(0))+"/tags/", "after", page.Tags[len(page.Tags)-1].Name)
	}
	return c.tags(page, in.Embed)
}

func (a appRoutes) tag(c *call) error {
	embed, err := c.query.flag("embedApps")
	if err != nil {
		return err
	}
	page, err := a.svc.Tag(c.ctx(), a.caller(c), c.param(0), c.param(1), embed)
	if err != nil {
		return err
	}
	return c.tags(page, embed)
}

func (a appRoutes) putTag(c *call) error {
	embed, err := c.query.flag("embedApps")
	if err != nil {
		return err
	}
	var body struct {
		AppVersion *string `json:"appVersion"`
	}
	if err := c.decode(&body); err != nil {
		return err
	}
	if body.AppVersion == nil {
		return refuse(http.StatusBadRequest, "/appVersion: missing; want the version that the tag is to point to, as a string")
	}
	in := appsvc.PutTag{AppID: c.param(0), Name: c.param(1), Embed: embed, IdempotencyKey: c.key}
	if in.Version, err = bodyVersion(*body.AppVersion); err != nil {
		return err
	}
	page, err := a.svc.PutTag(c.ctx(), a.caller(c), in)
	if err != nil {
		return err
	}
	return c.tags(page, embed)
}

func (a appRoutes) deleteTag(c *call) error {
	if _, err := c.query.flag("embedApps"); err != nil {
		return err
	}
	return a.svc.DeleteTag(c.ctx(), a.caller(c), c.param(0), c.param(1), c.key)
}

func (a appRoutes) tagged(c *call) error {
	app, err := a.svc.TaggedApp(c.ctx(), a.caller(c), c.param(0), c.param(1))
	if err != nil {
		return err
	}
	return c.version(app, nil)
}

func (a appRoutes) tagsNamed(c *call) error {
	tags, err := a.svc.TagsNamed(c.ctx(), a.caller(c), c.param(0), c.query.all("appId"))
	if err != nil {
		return err
	}
	return c.tags(appsvc.TagPage{Tags: tags}, false)
}
