package httpapi

import (
	"net/http"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/urlpath"
)

// tags puts {"tags":[…]} into the answer, with the apps beside them when they were asked for.
func (c *call) tags(tags []appsvc.Tag, embed bool) error {
	if err := c.json(map[string][]appsvc.Tag{"tags": tags}); err != nil || !embed {
		return err
	}
	apps := make([]appsvc.App, len(tags))
	for i, t := range tags {
		apps[i] = *t.App
	}
	c.out[len(c.out)-1] = ','
	c.out = append(appendApps(c.out, apps), '}')
	return nil
}

func (a appRoutes) tags(c *call) (err error) {
	in := appsvc.ListTagsRequest{AppID: c.param(0)}
	if in.Embed, err = c.query.flag("embedApps"); err != nil {
		return err
	}
	if in.After, err = c.query.one("after"); err != nil {
		return err
	}
	if in.Limit, err = c.query.limit(); err != nil {
		return err
	}
	page, err := a.svc.ListTags(c.ctx(), a.caller(c), in)
	if err != nil {
		return err
	}
	if page.Next != "" {
		c.next("/apps/"+urlpath.Escape(c.param(0))+"/tags/", "after", page.Next)
	}
	return c.tags(page.Items, in.Embed)
}

func (a appRoutes) tag(c *call) error {
	embed, err := c.query.flag("embedApps")
	if err != nil {
		return err
	}
	tag, err := a.svc.Tag(c.ctx(), a.caller(c), appsvc.TagRequest{AppID: c.param(0), Name: c.param(1), Embed: embed})
	if err != nil {
		return err
	}
	return c.tags([]appsvc.Tag{tag}, embed)
}

func (a appRoutes) putTag(c *call) error {
	embed, err := c.query.flag("embedApps")
	if err != nil {
		return err
	}
	var body struct {
		AppVersion *string         `json:"appVersion"`
		Latest     *bool           `json:"latest"`
		From       appsvc.TagGuard `json:"from"`
	}
	if err := c.decode(&body); err != nil {
		return err
	}
	in := appsvc.PutTagRequest{AppID: c.param(0), Name: c.param(1), From: body.From, Embed: embed, IdempotencyKey: c.key}
	switch {
	case body.Latest != nil:
		in.Version, err = latestVersion(*body.Latest, body.AppVersion)
	case body.AppVersion == nil:
		err = refusePointer(http.StatusBadRequest, "/appVersion", "missing; want the version that the tag is to point to, as a string")
	default:
		in.Version, err = bodyVersion("appVersion", *body.AppVersion)
	}
	if err != nil {
		return err
	}
	tag, err := a.svc.PutTag(c.ctx(), a.caller(c), in)
	if err != nil {
		return err
	}
	return c.tags([]appsvc.Tag{tag}, embed)
}

func (a appRoutes) deleteTag(c *call) error {
	if _, err := c.query.flag("embedApps"); err != nil {
		return err
	}
	return a.svc.DeleteTag(c.ctx(), a.caller(c), appsvc.DeleteTagRequest{AppID: c.param(0), Name: c.param(1), IdempotencyKey: c.key})
}

func (a appRoutes) tagMoves(c *call) (err error) {
	in := appsvc.ListTagMovesRequest{AppID: c.param(0), Name: c.param(1)}
	if in.After, err = c.query.cursor("before"); err != nil {
		return err
	}
	if in.Limit, err = c.query.limit(); err != nil {
		return err
	}
	page, err := a.svc.ListTagMoves(c.ctx(), a.caller(c), in)
	if err != nil {
		return err
	}
	if page.Next != "" {
		c.next("/apps/"+urlpath.Escape(in.AppID)+"/tags/"+urlpath.Escape(in.Name)+"/history/", "before", page.Next)
	}
	return c.json(map[string][]appsvc.TagMove{"moves": append([]appsvc.TagMove{}, page.Items...)})
}

func (a appRoutes) tagged(c *call) error {
	defaults, err := c.query.flag("withDefaults")
	if err != nil {
		return err
	}
	app, err := a.svc.TaggedApp(c.ctx(), a.caller(c), c.param(0), c.param(1))
	if err != nil {
		return err
	}
	return c.version(app, nil, defaults)
}

func (a appRoutes) tagsNamed(c *call) error {
	tags, err := a.svc.TagsNamed(c.ctx(), a.caller(c), c.param(0), c.query.all("appId"))
	if err != nil {
		return err
	}
	return c.tags(tags, false)
}
