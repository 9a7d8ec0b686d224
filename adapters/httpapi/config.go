package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

// Config is what New builds a handler from. A domain that is nil leaves its routes out.
type Config struct {
	Apps    *appsvc.Service
	Assets  *assets.Service
	Reviews *reviews.Service

	// Authenticate tells who a token stands for; any error is answered with 401, and neither the
	// error nor the token is shown or logged. It is called once a request and must be safe for
	// concurrent use. Required; see Tokens.
	Authenticate func(ctx context.Context, token string) (Principal, error)

	// BasePath is where the app service starts, "/app-service/v4" for example. Empty means "/".
	// It is not below /healthz or the prefix of the asset manager.
	BasePath string
	// BaseURL is the address of BasePath as clients see it, "https://host.example/app-service/v4"
	// for example; URLs in answers start with it. Empty: the scheme and host of the request.
	// X-Forwarded headers are not looked at.
	BaseURL string

	// Ready is asked by /healthz whether the service can answer; nil means it always can.
	Ready func(ctx context.Context) error
	// Log gets what is behind a 500, 503 or 507 answer, with its request id. nil: slog.Default().
	Log *slog.Logger
	// Observer is told of every request; nil for none. See AccessLog.
	Observer Observer
	// CompressFrom is the length from which answers are compressed for clients that take gzip, in
	// bytes; 16 KiB. Negative: none is, as where a proxy does it.
	CompressFrom int
	Limits       Limits
}

// Limits bound what the handler takes in; zero means the default.
type Limits struct {
	Body  int64         // bytes of a JSON body; 4 MiB (contract, section 1)
	Token int           // bytes of a token; 16 KiB
	Pause time.Duration // in an upload of reviews, which has no other limit; 1 minute
}

// Principal is who a token stands for. Each domain is given the part it knows.
type Principal struct {
	URN        string   // of the user
	Moderates  []string // URNs of networks and sites
	Roles      []string // ids of roles, for folder permissions
	Groups     []string // URNs of groups, for folder permissions
	Components bool     // may create and delete components
}

// New builds the handler. The error says what is wrong with the configuration.
func New(c Config) (http.Handler, error) {
	if c.Authenticate == nil {
		return nil, errors.New("httpapi: Authenticate is missing: who a token stands for must be known")
	}
	if err := c.normalise(); err != nil {
		return nil, err
	}
	h := &handler{Config: c}
	tables := h.tables()
	h.site = newSite(c.BasePath, tables)
	base, root := c.addresses()
	return h, h.description.describe(base, root, tables)
}

func (c *Config) normalise() error {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.CompressFrom == 0 {
		c.CompressFrom = defaultCompressFrom
	}
	if c.Limits.Body == 0 {
		c.Limits.Body = 4 << 20
	}
	if c.Limits.Token == 0 {
		c.Limits.Token = 16 << 10
	}
	if c.Limits.Pause == 0 {
		c.Limits.Pause = time.Minute
	}
	base := "/" + strings.Trim(c.BasePath, "/")
	if path.Clean(base) != base || (&url.URL{Path: base}).EscapedPath() != base {
		return fmt.Errorf("httpapi: BasePath %q is not a plain path such as /app-service/v4", c.BasePath)
	}
	for _, taken := range []string{healthPath, strings.TrimSuffix(assetPrefix, "/")} {
		if base == taken || strings.HasPrefix(base, taken+"/") {
			return fmt.Errorf("httpapi: BasePath %q lies in %s, which has its place at the root: choose another one", c.BasePath, taken)
		}
	}
	c.BasePath = strings.TrimSuffix(base, "/")
	if c.BaseURL == "" {
		return nil
	}
	u, err := url.Parse(c.BaseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("httpapi: BaseURL %q is not an address such as https://host.example/app-service/v4", c.BaseURL)
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	return nil
}
