package httpapi

import (
	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// tags makes {"tags":[Tag]} the body of the response, unless err is set. With embed it adds "apps":[App], the version
// that each tag points to, in the order of the tags; each tag then has its App set.
func (c *call) tags(tags []appsvc.Tag, embed bool, err error) error {
	if err := c.member("tags", tags, err); err != nil || !embed {
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

// tags serves GET /apps/{id}/tags/: the tags of an app by name, and the rules of tags, which also apply to those that
// the app does not have yet. 200 with {"tags":[Tag],"rules":[TagRule]} and a Link to the next page if there is one;
// embedApps=true adds the apps. 400 for embedApps or limit; 404 for an app that is absent or not visible.
func (a appRoutes) tags(c *call) error {
	in := appsvc.ListTagsRequest{AppID: c.params[0], Embed: c.query.flag("embedApps"), After: c.query.text("after"),
		Limit: c.query.count("limit")}
	tags, err := askPage(c, a.as(c).ListTags, in, "after")
	if err := c.tags(tags, in.Embed, err); err != nil {
		return err
	}
	rules, err := a.svc.TagRules(c.r.Context())
	if err != nil || len(rules) == 0 {
		return err
	}
	text, err := json.Marshal(rules)
	c.out = append(append(append(c.out[:len(c.out)-1], `,"rules":`...), text...), '}')
	return err
}

// tag serves GET /apps/{id}/tags/{tag}: one tag. 200 with {"tags":[Tag]}; embedApps=true adds the app. 404 for an app
// or a tag that is absent or not visible.
func (a appRoutes) tag(c *call) error {
	in := appsvc.TagRequest{AppID: c.params[0], Name: c.params[1], Embed: c.query.flag("embedApps")}
	tag, err := ask(c, a.as(c).Tag, in)
	return c.tags([]appsvc.Tag{tag}, in.Embed, err)
}

// putTag serves PUT /apps/{id}/tags/{tag}: it creates a tag or moves it. The body is {"appVersion": "3"}, or {"latest":
// true} for the version that is the latest when the request is carried out. The member from, a version or null, is
// where the tag must point before, null for "there is no such tag". {"rollback": true} goes back to where the tag
// pointed before its last move that was not rolled back. The member note says why, in the history of the tag.
//
// 201 with {"tags":[Tag]}, whether the tag was created, moved, or there already, and with {"tags":[]} if a rollback has
// removed it. 400 for the body or for a name that no tag can have; 403 for a protected tag, and with needs_release for
// one that needs approvals; 404 for an app or a version that is absent or not visible; 409 with pointsTo if the tag
// does not point to from, and with wrong_state if there is nothing to roll back; 422 for too many tags.
func (a appRoutes) putTag(c *call) error {
	in := appsvc.PutTagRequest{
		AppID: c.params[0], Name: c.params[1], Embed: c.query.flag("embedApps"), IdempotencyKey: c.key, Fill: c.fillTag}
	tag, err := ask(c, a.as(c).PutTag, in)
	tags := []appsvc.Tag{tag}
	if err == nil && tag.AppVersion.IsZero() { // a roll back has removed it
		tags = []appsvc.Tag{}
	}
	return c.tags(tags, in.Embed, err)
}

// fillTag reads the body of putTag.
func (c *call) fillTag(in *appsvc.PutTagRequest) error {
	var body struct {
		AppVersion *string         `json:"appVersion"`
		Latest     *bool           `json:"latest"`
		From       appsvc.TagGuard `json:"from"`
		Rollback   *bool           `json:"rollback"`
		Note       string          `json:"note"`
	}
	err := c.decode(&body)
	if err != nil {
		return err
	}
	in.From, in.Note = body.From, body.Note
	switch in.Rollback = body.Rollback != nil; {
	case in.Rollback && (!*body.Rollback || body.Latest != nil || body.AppVersion != nil):
		return fault.Invalid("/rollback", "want it to be true, in place of /appVersion and /latest")
	case !in.Rollback:
		in.Version, err = versionOf(body.Latest, "appVersion", body.AppVersion)
	}
	return err
}

// deleteTag serves DELETE /apps/{id}/tags/{tag}: it removes a tag and keeps its history. 204 without a body. embedApps
// is checked and has no effect. 403 for a protected tag; 404 for an app or a tag that is absent or not visible.
func (a appRoutes) deleteTag(c *call) error {
	if c.query.flag("embedApps"); c.query.err != nil {
		return c.query.err
	}
	in := appsvc.DeleteTagRequest{AppID: c.params[0], Name: c.params[1], IdempotencyKey: c.key}
	return a.as(c).DeleteTag(c.r.Context(), in)
}

// tagMoves serves GET /apps/{id}/tags/{tag}/history/: the moves of a tag, newest first, also of a deleted one. 200 with
// {"moves":[TagMove]} and a Link to the next page if there is one. 400 for before or limit; 404 for a tag that never
// was.
func (a appRoutes) tagMoves(c *call) error {
	in := appsvc.ListTagMovesRequest{AppID: c.params[0], Name: c.params[1], After: c.query.cursor("before"),
		Limit: c.query.count("limit")}
	moves, err := askPage(c, a.as(c).ListTagMoves, in, "before")
	return c.member("moves", moves, err)
}

// tagged serves GET /apps/{id}/tagged/{tag}: the version that a tag points to. Besides GET x/public/, it is the only
// endpoint that allows a delivery token (Principal.TagsOnly). 200 with {"apps":[App]} and an ETag, or 304. 404 for an
// app or a tag that is absent or not visible. 403 for another tag than those of a delivery token. 422 if withDefaults
// makes the response too large. With release, the response is as if that release had run: 404 for a release that is
// absent or not visible, 409 for one that could not run.
func (a appRoutes) tagged(c *call) error {
	if release := c.query.filled("release", "want the id of a release"); c.query.Has("release") {
		if c.by.TagsOnly {
			return errTagsOnly
		}
		return c.version(noStore, a.as(c), func(s *appsvc.Session) (appsvc.App, error) {
			return s.TaggedAppIn(c.r.Context(), c.params[0], c.params[1], release)
		})
	}
	return c.version(revalidate, a.as(c), func(s *appsvc.Session) (appsvc.App, error) {
		return s.TaggedApp(c.r.Context(), c.params[0], c.params[1])
	})
}

// tagsNamed serves GET /tags/{name}?appId={id}&appId={id}…: the tags of one name of up to 100 apps. 200 with
// {"tags":[Tag]}; apps that the caller may not see and apps without this tag are left out. 400 without appId or for too
// many; 404 for a name that no tag can have.
func (a appRoutes) tagsNamed(c *call) error {
	tags, err := a.as(c).TagsNamed(c.r.Context(), c.params[0], c.query.Values["appId"])
	return c.tags(tags, false, err)
}
