package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"strings"

	"github.com/vitrine-go/vitrine/reviews"
)

// Config is what New builds a handler from. The routes of a domain that is nil are left out.
type Config struct {
	Apps    Apps    // *appsvc.Service, or a type around one
	Assets  Assets  // *assets.Service, or a type around one
	Reviews Reviews // *reviews.Service, or a type around one

	// Authenticate tells who sends a request: by its token (see RequestToken), a session cookie, a client
	// certificate, or whatever else proves it. Tokens is a default. It is called once for each request, with an
	// empty body, and must be safe for concurrent use. Required.
	//
	// An error that wraps ErrUnauthenticated is answered with 401; the client is not told the
	// reason, unless it is a TokenError. Any other error is answered with 503 and logged, so that an
	// identity provider that is down does not look like a bad token. A Principal without a URN or with a
	// malformed one is answered with 401, and one with Tags but without TagsOnly with 503.
	//
	// An identity that does not come from RequestToken is ambient: a browser may add it to a request that
	// another site made up. Then every method but GET, HEAD and OPTIONS must pass
	// [http.CrossOriginProtection] or is answered with 403, and an import of reviews must be
	// application/x-ndjson. A token in the query makes no difference if the request also carries a cookie
	// or a client certificate, as a form of another site can name any token in its query.
	Authenticate func(r *http.Request) (Principal, error)

	// BasePath is where the app service starts, "/app-service/v4" for example. Empty means "/".
	// It must not be below /healthz or the prefix of the asset manager.
	BasePath string
	// BaseURL is the address of BasePath as clients see it, "https://host.example/app-service/v4"
	// for example; URLs in responses start with it. Empty means the scheme and the host of the request.
	// X-Forwarded headers are ignored; see Scheme.
	BaseURL string

	// Ready is called for /healthz. It returns an error if the service cannot answer; nil means it always can.
	Ready func(ctx context.Context) error
	// Log gets the cause of each 500, 503 and 507 response, and the reason of 401 and 403 responses with the address
	// and, if it is known, the URN of the caller; of these at most 10 a second, and then how many more. Each line
	// has the request id. nil means slog.Default().
	Log *slog.Logger
	// Observer is called for every request; nil means none. See AccessLog.
	Observer Observer
	// CompressFrom is the least length, in bytes, of responses that are compressed for clients that accept gzip; 0 means
	// 16 KiB. Negative means that no response is compressed, for instance because a proxy does it.
	CompressFrom int
	// Limits bound the size and the number of requests. The limits of the domains, such as the length of a title, are options
	// of their services.
	Limits Limits
	// Streams ends event streams when the server stops; nil = they end with their connections. See NewStreams.
	Streams *Streams
}

// New builds the handler. The error says what is wrong with the configuration. It is also an error if a domain is a nil
// pointer: that is no nil interface, so its routes would be served, and each request to them would panic.
//
// The Config is copied. The domains, Observer and Streams are shared with the caller, who closes them.
func New(c Config) (http.Handler, error) {
	if c.Authenticate == nil {
		return nil, errors.New("httpapi: Authenticate is missing: who sends a request must be known")
	}
	for name, domain := range map[string]any{"Apps": c.Apps, "Assets": c.Assets, "Reviews": c.Reviews} {
		if v := reflect.ValueOf(domain); v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, fmt.Errorf("httpapi: %s is a nil %s: set it, or leave the field out", name, v.Type())
		}
	}
	if err := c.normalise(); err != nil {
		return nil, err
	}
	h := &handler{Config: c, refusals: &refusalLog{log: c.Log}, memory: newBudget(c.Limits.Memory), uploads: newUploads(c.Limits), exports: newExports(c.Limits), spool: reviews.NewSpool(c.Limits.Spool)}
	tables := h.tables()
	h.router = newRouter(c.BasePath, tables)
	base, root := c.addresses()
	return h, h.description.describe(base, root, tables)
}

// normalise sets the defaults, and brings BasePath and BaseURL into the form that the handler uses: without a slash at the
// end, so that a path can be appended; BasePath is "" for the root. Its error is about one of the two.
func (c *Config) normalise() error {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.CompressFrom == 0 {
		c.CompressFrom = defaultCompressFrom
	}
	if c.Streams == nil {
		c.Streams = NewStreams()
	}
	c.Limits.normalise()
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
