package httpapi

import "slices"

// wireCaller is the caller as it sees itself: the lists are never null.
type wireCaller struct {
	URN        string   `json:"urn"`
	Moderates  []string `json:"moderates"`
	Reads      []string `json:"reads"`
	Tags       []string `json:"tags"`
	Roles      []string `json:"roles"`
	Groups     []string `json:"groups"`
	Components bool     `json:"components"`
	Expires    *int64   `json:"expires"` // milliseconds since the epoch; null = unknown
}

// meTable has the endpoint GET /x/me. It belongs to no domain, so it is served whichever domains the Config has.
func meTable() []route {
	return []route{{method: "GET", path: "/x/me", status: 200, call: me}}
}

// me serves GET /x/me: who the caller is and what it may do. 200 with a wireCaller; 403 for a delivery token. A page
// for people needs it to know what to offer: it cannot read a session cookie, and should not have to decode tokens.
func me(c *call) error {
	list := func(s []string) []string { return slices.Concat([]string{}, s) }
	out := wireCaller{URN: c.by.URN, Moderates: list(c.by.Moderates), Reads: list(c.by.Reads), Tags: list(c.by.Tags),
		Roles: list(c.by.Roles), Groups: list(c.by.Groups), Components: c.by.Components}
	if !c.by.Expires.IsZero() {
		at := c.by.Expires.UnixMilli()
		out.Expires = &at
	}
	c.header()["Vary"] = varyCaller
	return c.json(out)
}
