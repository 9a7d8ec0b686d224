package httpapi

import (
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/urlpath"
)

// listedComponent is a component in a list, shownComponent one that was asked for by name.
type listedComponent struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Main    string `json:"main"`
}

type shownComponent struct {
	Name          string  `json:"name"`
	Version       string  `json:"version"`
	LatestVersion string  `json:"latestVersion"`
	Description   *string `json:"description"`
	Main          string  `json:"main"`
}

func (a appRoutes) components(c *call) error {
	after, err := c.query.one("after")
	if err != nil {
		return err
	}
	page, err := a.svc.ListComponents(c.ctx(), a.caller(c), appsvc.ListComponentsRequest{After: after})
	if err != nil {
		return err
	}
	if page.Next != "" {
		c.next("/components/", "after", page.Next)
	}
	wire := make([]listedComponent, len(page.Items))
	for i, x := range page.Items {
		wire[i] = listedComponent{x.ID, x.Name, x.Version, x.Main}
	}
	return c.json(map[string][]listedComponent{"components": wire})
}

func (a appRoutes) createComponent(c *call) error {
	component, err := a.svc.CreateComponent(c.ctx(), a.caller(c), appsvc.CreateComponentRequest{Manifest: c.body, IdempotencyKey: c.key})
	if err != nil {
		return err
	}
	url := c.url("/components/" + urlpath.Escape(component.Name))
	c.header()["Location"] = []string{url}
	return c.json(map[string]string{"url": url})
}

func (a appRoutes) checkComponent(c *call) error {
	after, err := c.query.cursor("after")
	if err != nil {
		return err
	}
	found, err := a.svc.CheckComponent(c.ctx(), a.caller(c), appsvc.CheckComponentRequest{Name: c.param(0), Manifest: c.body, After: after})
	if err != nil {
		return err
	}
	return c.json(found)
}

func (a appRoutes) component(c *call) error {
	x, err := a.svc.Component(c.ctx(), a.caller(c), c.param(0))
	if err != nil {
		return err
	}
	return c.json(shownComponent{x.Name, x.Version, x.Version, x.Description(), x.Main})
}

func (a appRoutes) deleteComponent(c *call) error {
	return a.svc.DeleteComponent(c.ctx(), a.caller(c), appsvc.DeleteComponentRequest{Name: c.param(0), IdempotencyKey: c.key})
}

func (a appRoutes) componentVersions(c *call) (err error) {
	in := appsvc.ListComponentVersionsRequest{Name: c.param(0)}
	if in.After, err = c.query.cursor("after"); err != nil {
		return err
	}
	if in.Limit, err = c.query.limit(); err != nil {
		return err
	}
	page, err := a.svc.ListComponentVersions(c.ctx(), a.caller(c), in)
	if err != nil {
		return err
	}
	if page.Next != "" {
		c.next("/components/"+urlpath.Escape(in.Name)+"/versions/", "after", page.Next)
	}
	c.out = append(c.out[:0], `{"components":[`...)
	for i, component := range page.Items {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.out = append(c.out, component.Manifest...)
	}
	c.out = append(c.out, "]}"...)
	return nil
}

func (a appRoutes) componentVersion(c *call) error {
	component, err := a.svc.ComponentVersion(c.ctx(), a.caller(c), c.param(0), c.param(1))
	if err != nil {
		return err
	}
	if err := c.expect(len(component.Manifest)); err != nil {
		return err
	}
	c.out = append(c.out, component.Manifest...)
	return nil
}
