package httpapi

import "net/url"

// next sets the header Link to the address of the next page: path, with the parameters of this request that the route knows,
// and with name set to after. svctoken is not among them, so a token in the query never gets into a header, nor
// from there into a log or the history of a browser. Clients that page send it again by themselves.
func (c *call) next(path, name, after string) {
	values := url.Values{}
	for _, known := range c.route.query {
		values[known] = c.query.all(known)
	}
	values[name] = []string{after}
	c.header()["Link"] = []string{"<" + c.url(path) + "?" + values.Encode() + `>; rel="next"`}
}

// nextHere does what next does for a list of the asset manager, which does not lie below the base path. The Link is
// relative, a query alone, so it leads to the same address in either of the forms that the path may have. instead is the
// cursor for the other direction, which is left out.
func (c *call) nextHere(name, after, instead string) {
	values := url.Values{}
	for _, known := range c.route.query {
		if known != instead {
			values[known] = c.query.all(known)
		}
	}
	values[name] = []string{after}
	c.header()["Link"] = []string{"<?" + values.Encode() + `>; rel="next"`}
}
