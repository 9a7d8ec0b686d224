package httpapi

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/urlescape"
)

// The shapes of a component in responses. Each endpoint has its own: an item of the list is short, a component has its
// description and its version twice, and a numbered version is the manifest as it was given.

// shownComponent is a component that was asked for by its name. Version and LatestVersion are always the same.
type shownComponent struct {
	Name          string  `json:"name"`
	Version       string  `json:"version"`
	LatestVersion string  `json:"latestVersion"`
	Description   *string `json:"description"`
	Main          string  `json:"main"`
}

// components serves GET /components/: the latest version of each component, by name. Any valid token will do. 200 with
// {"components":[…]} and a Link to the next page if there is one. 400 if after is given twice.
func (a appRoutes) components(c *call) error {
	list, err := askPage(c, a.as(c).ListComponents, appsvc.ListComponentsRequest{After: c.query.text("after")}, "after")
	return c.member("components", list, err)
}

// createComponent serves POST /components/ with a manifest: it creates a version of a component. The service decodes
// the manifest, since it keeps the members that it does not know. 201 with {"url","warnings"} and the same address in
// Location. 403 without the right to components; 400 for a manifest that breaks a rule, and with the code exists for an
// id, or a name and version, that exist; 413.
func (a appRoutes) createComponent(c *call) error {
	x, err := ask(c, a.as(c).CreateComponent,
		appsvc.CreateComponentRequest{Manifest: &requestBody{c: c}, IdempotencyKey: c.key})
	if err != nil {
		return err
	}
	out := struct {
		URL      string                 `json:"url"`
		Warnings []appsvc.SchemaWarning `json:"warnings"`
	}{c.located("/components/" + urlescape.Escape(x.Name)), append([]appsvc.SchemaWarning{}, x.Warnings...)}
	return c.json(out, nil)
}

// checkComponent serves POST /components/{name}/check with a manifest: it stores nothing and says which elements of the
// apps that the caller may read would break under this version of the component. 200 with a ComponentCheck; its member
// next goes into after. 403 without the right to components; 400 and 413 for a manifest that createComponent would
// reject.
func (a appRoutes) checkComponent(c *call) error {
	in := appsvc.CheckComponentRequest{Name: c.params[0], After: c.query.cursor("after"),
		Fill: func(in *appsvc.CheckComponentRequest) error {
			err := c.readBody()
			in.Manifest = c.body
			return err
		}}
	return c.json(ask(c, a.as(c).CheckComponent, in))
}

// upgrade serves POST /components/{name}/upgrade with {"from", "to", "patch", "after"}: it brings a version of the
// component to the apps that the caller may change; with dryRun=true it only reports the effect. 200 with
// {"apps":[UpgradedApp],"next"}; next, null at the end, goes into after. 400; 404 for an unknown component; 413; 422
// for an unknown version.
func (a appRoutes) upgrade(c *call) error {
	var body struct {
		appsvc.UpgradeRequest
		After *string `json:"after"` // null is the first page
	}
	if err := c.decode(&body); err != nil {
		return err
	}
	in := body.UpgradeRequest
	in.Name, in.DryRun = c.params[0], c.query.flag("dryRun")
	if body.After != nil {
		in.After = *body.After
	}
	page, err := ask(c, a.as(c).Upgrade, in)
	return pageOfApps(c, page, err)
}

// replace serves POST /x/replace with {"find", "replace", "group", "component", "after"}: it replaces a text in the
// apps that the caller may change; with dryRun=true it only reports the effect. 200 as for upgrade. 400.
func (a appRoutes) replace(c *call) error {
	var body struct {
		appsvc.ReplaceRequest
		Replace *string `json:"replace"`
		After   *string `json:"after"` // null is the first page
	}
	if err := c.decode(&body); err != nil {
		return err
	}
	if body.Replace == nil { // whoever forgets it does not take the text out everywhere
		return fault.Invalid("/replace", `missing; want the new text, or "" to take the old one out`)
	}
	in := body.ReplaceRequest
	in.Replace = *body.Replace
	if in.DryRun = c.query.flag("dryRun"); body.After != nil {
		in.After = *body.After
	}
	page, err := ask(c, a.as(c).Replace, in)
	return pageOfApps(c, page, err)
}

// component serves GET /components/{name}: the latest version of a component. Any valid token will do, since pages that
// show an app need its components. 200 with a shownComponent, or 404. configSchema is not in it; componentVersion has
// it.
func (a appRoutes) component(c *call) error {
	x, err := ask(c, a.as(c).Component, c.params[0])
	return c.json(shownComponent{x.Name, x.Version, x.Version, x.Description(), x.Main}, err)
}

// deleteComponent serves DELETE /components/{name}: it removes all versions of a component. Elements keep their copies.
// 204 without a body. 403 without the right to components; 404.
func (a appRoutes) deleteComponent(c *call) error {
	in := appsvc.DeleteComponentRequest{Name: c.params[0], IdempotencyKey: c.key}
	return a.as(c).DeleteComponent(c.r.Context(), in)
}

// componentVersions serves GET /components/{name}/versions/: the versions of a component, the one created last first.
// 200 with {"components":[…]} and a Link to the next page if there is one. 400 for limit or after; 404.
//
// The service returns each item as the JSON text of {id, name, version, main, description}, which is put into the
// response as it is.
func (a appRoutes) componentVersions(c *call) error {
	in := appsvc.ListComponentVersionsRequest{Name: c.params[0], After: c.query.cursor("after"),
		Limit: c.query.count("limit")}
	list, err := askPage(c, a.as(c).ListComponentVersions, in, "after")
	manifests := make([]jsontext.Value, len(list))
	for i, component := range list {
		manifests[i] = component.Manifest
	}
	return c.member("components", manifests, err)
}

// componentVersion serves GET /components/{name}/versions/{version}: the manifest as it was given, with its unknown
// members, and its id if it was given without one. Any valid token will do. 200, or 404.
func (a appRoutes) componentVersion(c *call) error {
	component, err := a.as(c).ComponentVersion(c.r.Context(), c.params[0], c.params[1])
	c.out = append(c.out[:0], component.Manifest...)
	return err
}
