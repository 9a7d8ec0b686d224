package client

import (
	"context"
	"time"
)

// Me is who the token of a Client stands for, and what it may do.
type Me struct {
	URN        string    `json:"urn"`        // of the user
	Moderates  []string  `json:"moderates"`  // URNs of networks and sites
	Reads      []string  `json:"reads"`      // URNs of networks and sites whose apps it may read
	Tags       []string  `json:"tags"`       // names of tags; empty, as a token with tags may not ask
	Roles      []string  `json:"roles"`      // ids of roles
	Groups     []string  `json:"groups"`     // URNs of groups
	Components bool      `json:"components"` // may create and delete components
	Expires    time.Time `json:"-"`          // when the token expires; zero = unknown
}

// identity is the body of an answer to Me.
type identity struct {
	Me
	Expires *int64 `json:"expires"` // milliseconds since 1970; null = unknown
}

// Me asks the service who the token stands for. vitrine.ErrForbidden for a token with tags.
func (c *Client) Me(ctx context.Context) (Me, error) {
	answer, err := get[identity](ctx, c.Apps.remote, "/x/me", nil, object("urn"))
	if err == nil && answer.Expires != nil {
		answer.Me.Expires = time.UnixMilli(*answer.Expires)
	}
	return answer.Me, err
}
