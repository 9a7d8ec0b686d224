package httpapi

// listedComponent is a component in a list, shownComponent one that was asked for by name
// (contract, endpoints 14 and 16).
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
	list, more, err := a.svc.Components(c.ctx(), a.caller(c), after)
	if err != nil {
		return err
	}
	if more {
		c.next("/components/", "after", list[len(list)-1].Name)
	}
	wire := make([]listedComponent, len(list))
	for i, x := range list {
		wire[i] = listedComponent{x.ID, x.Name, x.Version, x.Main}
	}
	return c.json(map[string][]listedComponent{"components": wire})
}

func (a appRoutes) createComponent(c *call) error {
	component, err := a.svc.CreateComponent(c.ctx(), a.caller(c), c.body, c.key)
	if err != nil {
		return err
	}
	url := c.url("/components/" + segment(component.Name))
	c.header()["Location"] = []string{url}
	return c.json(map[string]string{"url": url})
}

func (a appRoutes) component(c *call) error {
	x, err := a.svc.Component(c.ctx(), a.caller(c), c.param(0))
	if err != nil {
		return err
	}
	return c.json(shownComponent{x.Name, x.Version, x.Version, x.Description(), x.Main})
}

func (a appRoutes) deleteComponent(c *call) error {
	return a.svc.DeleteComponent(c.ctx(), a.caller(c), c.param(0), c.key)
}
