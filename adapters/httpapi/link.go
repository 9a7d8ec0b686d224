package httpapi

import (
	"net/url"
	"strings"

	"github.com/vitrine-go/vitrine/internal/urlescape"
)

// next sets the header Link to the address of the next page: the path of this request in its usual form, with the parameters of it that the
// route knows, and with name set to after. svctoken is not among them, so a token in the query never gets into a header, nor
// from there into a log or the history of a browser. Clients that page send it again by themselves.
func (c *call) next(name, after string) {
	path := c.route.path
	for _, p := range c.match.params {
		before, rest, _ := strings.Cut(path, "{")
		_, rest, _ = strings.Cut(rest, "}")
		path = before + urlescape.Escape(p.Value) + rest
	}
	c.header()["Link"] = []string{"<" + c.url(path) + c.nextQuery(name, after, "") + `>; rel="next"`}
}

// nextHere does what next does for a list of the asset manager, which does not lie below the base path. The Link is
// relative, a query alone, so it leads to the same address in either of the forms that the path may have. instead is the
// cursor for the other direction, which is left out.
func (c *call) nextHere(name, after, instead string) {
	c.header()["Link"] = []string{"<" + c.nextQuery(name, after, instead) + `>; rel="next"`}
}

// nextQuery returns the query of the next page.
func (c *call) nextQuery(name, after, without string) string {
	values := url.Values{}
	for _, known := range c.route.query {
		if known != without {
			values[known] = c.query.all(known)
		}
	}
	values[name] = []string{after}
	return "?" + values.Encode()
}
