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
	"time"

	"github.com/vitrine-go/vitrine/reviews"
)

// Config is what New builds a handler from. A domain that is nil leaves its routes out.
type Config struct {
	Apps    Apps    // *appsvc.Service, or a type around one
	Assets  Assets  // *assets.Service, or a type around one
	Reviews Reviews // *reviews.Service, or a type around one

	// Authenticate tells who sends a request: by its token (see RequestToken), a session cookie, a client
	// certificate, or whatever else proves it. Tokens is a default. It is called once a request, with an
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
	// It is not below /healthz or the prefix of the asset manager.
	BasePath string
	// BaseURL is the address of BasePath as clients see it, "https://host.example/app-service/v4"
	// for example; URLs in answers start with it. Empty: the scheme and host of the request.
	// X-Forwarded headers are not looked at; see Scheme.
	BaseURL string

	// Ready is asked by /healthz whether the service can answer; nil means it always can.
	Ready func(ctx context.Context) error
	// Log gets the cause of each 500, 503 and 507 response, and the reason of 401 and 403 responses with the address
	// and, if it is known, the URN of the caller; of these at most 10 a second, and then how many more. Each line
	// has the request id. nil: slog.Default().
	Log *slog.Logger
	// Observer is told of every request; nil for none. See AccessLog.
	Observer Observer
	// CompressFrom is the length from which answers are compressed for clients that take gzip, in
	// bytes; 16 KiB. Negative: none is, as where a proxy does it.
	CompressFrom int
	Limits       Limits
	// Streams ends event streams when the server stops; nil = they end with their connections. See NewStreams.
	Streams *Streams
}

// Limits bound what the handler takes in; zero means the default.
type Limits struct {
	Body  int64 // bytes of a JSON body; 4 MiB
	Token int   // bytes of a token that RequestToken finds; 16 KiB
	// Memory is how many bytes the bodies being read and the answers being written take together; 256 MiB.
	// The process needs more than that: see the package's comment.
	Memory int64

	// Uploads of reviews have no limit of size or time. These bound how many are under way at a time.
	Uploads          int // in all; 32
	UploadsOfNetwork int // for one network; 8
	UploadsOfCaller  int // 4
	// Pause is the time over which an upload must give 1 KiB/s on average; 30 seconds.
	Pause time.Duration
	// Event streams of changes stay open. These bound how many there are at a time.
	Streams         int // in all; 2,000
	StreamsOfCaller int // 16
	// Spool is how many bytes the temporary files of all uploads take together; 1 GiB.
	Spool int64
	// LargeReviews is how many uploads at a time store a review of more than 1 MiB, or a collection of more
	// than that without its reviews; 2. The others wait.
	LargeReviews int

	// Exports of reviews hold a snapshot of the store for as long as their clients take. These bound how many
	// are under way at a time.
	Exports         int // in all; 8
	ExportsOfCaller int // 4
}

// Principal is who sends a request. Each domain is given the part it knows.
type Principal struct {
	URN       string   // of the user
	Moderates []string // URNs of networks and sites
	Reads     []string // URNs of networks and sites whose apps the caller may read and not change

	// TagsOnly restricts the caller to reading the apps of Reads by the tags of Tags, so that its token can
	// stand in a public page: GET /apps/{id}/tagged/{tag} and nothing else, whatever else the Principal has.
	TagsOnly bool
	Tags     []string // names of the tags that TagsOnly allows; empty unless TagsOnly is set

	Roles      []string  // ids of roles, for folder permissions
	Groups     []string  // URNs of groups, for folder permissions
	Components bool      // may create and delete components
	Expires    time.Time // when the identity ends; zero = unknown
}

// New builds the handler. The error says what is wrong with the configuration.
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

// normalise replaces zeros by the defaults.
func (l *Limits) normalise() {
	for _, n := range []struct {
		limit *int64
		value int64
	}{{&l.Body, 4 << 20}, {&l.Memory, defaultMemory}, {&l.Spool, 1 << 30}} {
		if *n.limit == 0 {
			*n.limit = n.value
		}
	}
	for _, n := range []struct {
		limit *int
		value int
	}{{&l.Token, defaultTokenBytes}, {&l.Uploads, 32}, {&l.UploadsOfNetwork, 8}, {&l.UploadsOfCaller, 4}, {&l.LargeReviews, 2},
		{&l.Exports, 8}, {&l.ExportsOfCaller, 4}, {&l.Streams, 2000}, {&l.StreamsOfCaller, 16}} {
		if *n.limit == 0 {
			*n.limit = n.value
		}
	}
	if l.Pause == 0 {
		l.Pause = 30 * time.Second
	}
}
