package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine/internal/lru"
)

// Client has the services of one server. Each request has the rights of the user whom its token names. It is safe for
// concurrent use.
type Client struct {
	Apps    *Apps
	Assets  *Assets
	Reviews *Reviews
}

// Config is the configuration of a client. URL and Token are required.
type Config struct {
	// URL is where the app service starts: "https://host.example/app-service/v4" for example.
	URL string
	// AssetsURL is where the asset manager starts. Empty means the usual path on the host of URL,
	// https://host.example/services/frontline/api/v4/assetManager for example.
	AssetsURL string

	// Token returns the token of a request. It is called each time that a request is sent, and may keep a token for
	// later calls. It must be safe for concurrent use. See Static.
	Token func(ctx context.Context) (string, error)

	// Transport sends requests; nil means http.DefaultTransport.
	Transport http.RoundTripper
	// Attempts is how often a request is sent that may be sent again; 0 means 4, 1 once only.
	Attempts int
	// MaxWait is the longest wait between two attempts; 0 means 10 seconds. If the service asks for a longer one, its
	// response is returned instead.
	MaxWait time.Duration
	// AnswerBytes is how long a response may be, uncompressed; 0 means 64 MiB. An export may have any length.
	AnswerBytes int64
	// CacheBytes is how many bytes of the responses to App, Version and TaggedApp are cached; 0 means none. The client
	// still sends each request, and uses the cached response if the service returns 304.
	CacheBytes int
}

// Static returns a Config.Token that always gives the same token.
func Static(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

// New returns a client, or an error if the configuration is wrong; nothing is sent.
func New(c Config) (*Client, error) {
	base, err := address("URL", c.URL)
	if err != nil {
		return nil, err
	}
	manager, err := address("AssetsURL",
		cmp.Or(c.AssetsURL, base.Scheme+"://"+base.Host+"/services/frontline/api/v4/assetManager"))
	if err != nil {
		return nil, err
	}
	if c.Token == nil {
		return nil, errors.New("client: Token is missing: every request needs one")
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	c.Attempts = cmp.Or(c.Attempts, 4)
	c.MaxWait = cmp.Or(c.MaxWait, 10*time.Second)
	c.AnswerBytes = cmp.Or(c.AnswerBytes, 64<<20)
	cache := lru.New[string, cachedResponse](c.CacheBytes)
	at := func(u *url.URL) remote {
		return remote{c, strings.TrimRight(u.String(), "/"), strings.TrimRight(u.EscapedPath(), "/"), cache}
	}
	return &Client{Apps: &Apps{remote: at(base)}, Assets: &Assets{at(manager), at(base)}, Reviews: &Reviews{at(base)}},
		nil
}

// address parses a URL of the configuration.
func address(field, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return nil, fmt.Errorf("client: %s is not an address such as https://host.example/app-service/v4", field)
	}
	return u, nil
}

// Me is the caller whom the token of a Client names, with its rights.
type Me struct {
	URN        string    `json:"urn"`        // of the user
	Moderates  []string  `json:"moderates"`  // URNs of networks and sites
	Reads      []string  `json:"reads"`      // URNs of networks and sites whose apps it may read
	Tags       []string  `json:"tags"`       // names of tags; empty, since a token with tags gets 403
	Roles      []string  `json:"roles"`      // ids of roles
	Groups     []string  `json:"groups"`     // URNs of groups
	Components bool      `json:"components"` // may create and delete components
	Owner      bool      `json:"owner"`      // apps of the user, and permissions that name the user, count
	Agent      string    `json:"agent"`      // the name of the API key, if it is an agent's
	Expires    time.Time `json:"-"`          // when the token expires; zero = unknown
}

// identity is the body of a response to Me.
type identity struct {
	Me
	Expires *int64 `json:"expires"` // milliseconds since 1970; null = unknown
}

// Me returns the caller whom the token names. It returns vitrine.ErrForbidden for a token with tags.
func (c *Client) Me(ctx context.Context) (Me, error) {
	me, err := get[identity](ctx, c.Apps.remote, "/x/me", nil, object("urn"))
	if err == nil && me.Expires != nil {
		me.Me.Expires = time.UnixMilli(*me.Expires)
	}
	return me.Me, err
}
