package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/lru"
	"github.com/vitrine-go/vitrine/reviews"
)

// Config is the configuration of a handler. The routes of a domain that is nil are left out.
type Config struct {
	Apps    *appsvc.Service
	Assets  *assets.Service
	Reviews *reviews.Service

	// Authenticate returns the caller who sends a request, from its token (see RequestToken), a session cookie or a
	// client certificate, for instance. Tokens is a default. It is called once for each request, and every minute for
	// an event stream that is open, with an empty body. It must be safe for concurrent use. Required.
	//
	// An error that wraps ErrUnauthenticated becomes a 401, which tells the reason only for a TokenError or an error of
	// Unauthenticated. Any other error becomes a 503 and is logged. A Principal with Tags but without TagsOnly becomes
	// a 503, and any other that fails Principal.Check a 401. Both are logged, except a 401 for a Principal without a
	// URN: nobody was recognised.
	//
	// An identity that does not come from RequestToken is ambient: a browser may add it to a request that another site
	// made up. Then every method but GET, HEAD and OPTIONS must pass [http.CrossOriginProtection], else the response is
	// 403, and an import of reviews must be application/x-ndjson. A token in the query makes no difference if the
	// request also carries a cookie or a client certificate, as a form of another site can name any token in its query.
	Authenticate func(r *http.Request) (Principal, error)
	// Challenge is the header WWW-Authenticate of a 401; empty means "svctoken". Where people sign in elsewhere, it is
	// not Basic or another scheme for which browsers ask by themselves.
	Challenge string
	// TrustedOrigins are origins such as https://www.host.example whose pages may send requests with an ambient
	// identity.
	TrustedOrigins []string

	// Extras are endpoints of other packages, such as those of signin.
	Extras []Extra

	// BasePath is where the app service starts, "/app-service/v4" for example. Empty means "/". A slash at its
	// beginning and its end may be left out. It must neither be /healthz or the prefix of the asset manager nor lie
	// below one of them. assets.Options.BasePath, where it is set, is the path as clients see it: the same, unless
	// BaseURL has another one or http.StripPrefix takes a part away.
	BasePath string
	// AssetPrefix is where the asset manager lies, "/app-service/v4/assets" for example. Empty means
	// /services/frontline/api/v4/assetManager at the root, where its programs look for it. It is a path of the server,
	// also if it lies below BasePath, and none of the endpoints there may lie at it or below it.
	AssetPrefix string
	// BaseURL is the address of BasePath as clients see it, "https://host.example/app-service/v4" for example; URLs in
	// responses start with it. Empty means the scheme and the host of the request, and the path that http.StripPrefix
	// has taken away, if any. X-Forwarded headers are ignored; see Scheme.
	BaseURL string

	// Ready is called for /healthz. It returns an error if the service is not ready, and one that wraps vitrine.ErrFull
	// if it only refuses changes, since the store has no room: /healthz is 200 then and says so. No more than one call
	// is under way at a time, and its context ends after 800 milliseconds. If Ready is nil, the service counts as
	// ready.
	Ready func(ctx context.Context) error
	// Log gets an error line with the cause of each response whose sentence does not tell it: 500, 503 and 507 because
	// of the store, Authenticate, Ready or a panic. It also gets a line for responses with 401 or 403: the reason, the
	// address and, if it is known, the URN of the caller; at most 10 of these a second, and then a line that counts the
	// others. Each line but the last has the request id. nil means slog.Default().
	Log *slog.Logger
	// Observer is called for every request; nil means none. See AccessLog.
	Observer Observer
	// CompressFrom is the least length, in bytes, of responses that are compressed for clients that accept gzip; 0
	// means 1 KiB. Negative means that no response is compressed, for instance because a proxy does it.
	CompressFrom int
	// PublicCache is how long shared caches may keep a response of GET x/public/{tag}, in whole seconds; 0 means that
	// they ask each time. A tag that moves reaches pages behind a cache after so long.
	PublicCache time.Duration
	// Limits are those of the size and the number of requests. The limits of the domains, such as the length of a
	// title, are options of their services.
	Limits Limits
	// Streams ends event streams when the server stops. If it is nil, each stream ends with its connection or its
	// caller's identity alone. See NewStreams.
	Streams *Streams
}

// New returns the handler, or an error if the configuration is wrong. It panics if a domain is a zero Service.
//
// The Config is copied. The domains, Observer and Streams are shared with the caller, who closes them.
func New(c Config) (http.Handler, error) {
	if c.Authenticate == nil {
		return nil, errors.New("httpapi: Authenticate is missing: who sends a request must be known")
	}
	if err := c.normalise(); err != nil {
		return nil, err
	}
	files := c.filesPath()
	// A Service without a store panics here, and not in the first request.
	if c.Apps != nil {
		c.Apps.As(vitrine.Caller{})
	}
	if c.Assets != nil {
		own := c.Assets.BasePath()
		if own == "" {
			own, c.Assets = files, c.Assets.Below(files)
		}
		if own != files && (c.BaseURL != "" || !strings.HasSuffix(own, files)) { // http.StripPrefix leaves the suffix
			return nil, fmt.Errorf("httpapi: Assets gives files addresses that begin with %q, where they are not: set "+
				"assets.Options.BasePath to %q, as BaseURL or BasePath has it", own+shownFilePath, files)
		}
		files = own
	}
	if c.Reviews != nil {
		c.Reviews.As(vitrine.Caller{})
	}
	h := &handler{Config: c, filesBelow: files, crossOrigin: http.NewCrossOriginProtection(),
		denials: &denialLog{log: c.Log}, deliveries: lru.New[deliveryKey, cachedDelivery](deliveriesSize)}
	for _, origin := range c.TrustedOrigins {
		if err := h.crossOrigin.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("httpapi: TrustedOrigins: %w", err)
		}
	}
	for _, e := range c.Extras {
		if err := e.check(); err != nil {
			return nil, err
		}
	}
	l := c.Limits
	large := int(max(l.Memory/slotBytes, 1))
	h.large = newSlots("large requests", http.StatusServiceUnavailable, large, max(large/8, 1), 0)
	h.uploads = newSlots("uploads", http.StatusTooManyRequests, l.Uploads, l.UploadsOfCaller, l.UploadsOfNetwork)
	h.reads = newSlots("reads", http.StatusServiceUnavailable, readsAtATime(), readsOfCaller(), 0)
	h.erasures = newSlots("erasures", http.StatusServiceUnavailable, mostErasures, mostErasures/2, 0)
	h.exports = newSlots("exports", http.StatusServiceUnavailable, l.Exports, l.ExportsOfCaller, 0)
	h.searches = newSlots("searches in content", http.StatusServiceUnavailable, mostSearches, mostSearches/4, 0)
	h.streams = newSlots("event streams", http.StatusTooManyRequests, l.Streams, l.StreamsOfCaller, 0)
	routes := h.routes()
	h.router = newRouter(c.BasePath, c.AssetPrefix, routes)
	// In openapi.json a path is relative to the address of the description. The root is BaseURL without BasePath, if it
	// ends so.
	base, root := cmp.Or(c.BaseURL, c.BasePath, "/"), "/"
	if before, ok := strings.CutSuffix(c.BaseURL, c.BasePath); ok && before != "" {
		root = before
	}
	h.description.describe(base, root, c.AssetPrefix, routes)
	return h, nil
}

// filesPath is the path that addresses of files begin with: BasePath, as clients see it.
func (c *Config) filesPath() string {
	if u, err := url.Parse(c.BaseURL); err == nil && c.BaseURL != "" {
		return u.EscapedPath()
	}
	return c.BasePath
}

// normalise sets the defaults, and brings BasePath and BaseURL into the form that the handler uses: without a slash at
// the end, so that a path can be appended; BasePath is "" for the root. Its error is about one of the two, or about
// Limits.
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
	c.Challenge = cmp.Or(c.Challenge, tokenScheme)
	if err := c.Limits.normalise(); err != nil {
		return err
	}
	base := "/" + strings.Trim(c.BasePath, "/")
	if path.Clean(base) != base || (&url.URL{Path: base}).EscapedPath() != base {
		return fmt.Errorf("httpapi: BasePath %q is not a plain path such as /app-service/v4", c.BasePath)
	}
	c.AssetPrefix = "/" + strings.Trim(cmp.Or(c.AssetPrefix, assetPrefix), "/") + "/"
	if manager := strings.TrimSuffix(c.AssetPrefix, "/"); path.Clean(manager) != manager ||
		(&url.URL{Path: manager}).EscapedPath() != manager {
		return fmt.Errorf("httpapi: AssetPrefix %q is not a plain path such as /app-service/v4/assets", manager)
	}
	below, isBelow := strings.CutPrefix(c.AssetPrefix, strings.TrimSuffix(base, "/")+"/")
	first, _, _ := strings.Cut(below, "/")
	if isBelow && slices.Contains([]string{"", "apps", "tags", "components", "x"}, first) ||
		c.AssetPrefix == healthPath+"/" {
		return fmt.Errorf("httpapi: AssetPrefix %q has endpoints of the app service: choose another one, such as "+
			"%s/assets", c.AssetPrefix, strings.TrimSuffix(base, "/"))
	}
	for _, taken := range []string{healthPath, strings.TrimSuffix(c.AssetPrefix, "/")} {
		if base == taken || strings.HasPrefix(base, taken+"/") {
			return fmt.Errorf("httpapi: BasePath %q lies in %s, which has its place at the root: choose another one",
				c.BasePath, taken)
		}
	}
	c.BasePath = strings.TrimSuffix(base, "/")
	if c.BaseURL == "" {
		return nil
	}
	u, err := url.Parse(c.BaseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return fmt.Errorf("httpapi: BaseURL %q is not an address such as https://host.example/app-service/v4",
			c.BaseURL)
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	return nil
}
