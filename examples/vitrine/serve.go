package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/webhook"
)

const (
	// defaultAddr can be reached from this machine only, so that a first try exposes nothing to a network.
	defaultAddr = "127.0.0.1:8080"
	// lastRequests is how long requests that are under way may take once the server is to stop.
	lastRequests = 30 * time.Second
)

// serveFlags are the flags of serve.
type serveFlags struct {
	addr, metricsAddr              address
	db, basePath, baseURL, keyFile string
	tlsCert, tlsKey, trustProxy    string
	webhooks, webhooksAllow        string
	protectTags, approve, oidc     string
	languages                      string
	assetNames, logForm, files     string
	smtp                           string
	demo, accessLog, newKeys, mcp  bool
	keepChanges, keepDeleted       lifetime
	publicCache                    time.Duration
	maxFile, maxFiles              byteCount
}

// define adds the flags to f.
func (o *serveFlags) define(f *flag.FlagSet) {
	o.addr = defaultAddr
	f.Var(&o.addr, "addr", "`address` to listen on; port 0 picks a free one")
	f.StringVar(&o.db, "db", "vitrine.db", dbUsage)
	f.StringVar(&o.basePath, "base-path", "/", "`path` below which the app service lies")
	f.StringVar(&o.baseURL, "base-url", "", baseURLUsage)
	f.StringVar(&o.oidc, "oidc", "", oidcUsage)
	f.StringVar(&o.keyFile, "key-file", "", keyUsage)
	f.BoolVar(&o.newKeys, "new-keys", false,
		"make a new key file beside a store whose own is gone: tokens signed before are not valid any more")
	f.StringVar(&o.tlsCert, "tls-cert", "",
		"`file` with the certificate for TLS and its intermediate certificates, in PEM; read again at SIGHUP")
	f.StringVar(&o.tlsKey, "tls-key", "", "`file` with the key of the certificate, in PEM; read again at SIGHUP")
	f.StringVar(&o.trustProxy, "trust-proxy", "",
		"`networks` of proxies, separated by commas, such as 10.0.0.0/8: their X-Forwarded headers are believed")
	f.StringVar(&o.logForm, "log", "text", "`form` of the log on standard error: text or json")
	f.StringVar(&o.webhooks, "webhooks", "", webhooksUsage)
	f.StringVar(&o.webhooksAllow, "webhooks-allow", "", webhooksAllowUsage)
	f.StringVar(&o.smtp, "smtp", "", smtpUsage)
	f.StringVar(&o.protectTags, "protect-tags", "",
		"`names` of tags, separated by commas, that only a moderator of every group of the app may set or delete; "+
			"kept in the store until the flag changes them; none takes all rules away")
	f.StringVar(&o.approve, "approve", "",
		"`rules` such as production=1, separated by commas: how many people must approve a release that "+
			"moves this tag; production=1:independent: and none of them gave rights to who made it or to another of "+
			"them; whoever may make people can be two of them; kept in the store; -protect-tags without it takes "+
			"them away")
	f.StringVar(&o.languages, "languages", "",
		"`languages` in which texts of apps may be written, separated by commas, such as en,de,fr; the first one "+
			"stands "+
			"in for what is not translated; kept in the store until the flag changes them; those that latest or "+
			"tagged versions have cannot be left out; none takes all away")
	o.keepChanges, o.keepDeleted = lifetime(30*24*time.Hour), lifetime(30*24*time.Hour)
	f.Var(&o.keepDeleted, "keep-deleted", "`duration` after which deleted apps are erased, such as 12h or 30d")
	f.Var(&o.keepChanges, "keep-changes", "`duration` that changes stay in the feeds, such as 12h or 30d")
	o.maxFile, o.maxFiles = 64<<20, 10_000_000_000
	f.Var(&o.maxFile, "max-file", "`size` of a file that is uploaded, at most: bytes, or such as 64MiB or 1GB")
	f.Var(&o.maxFiles, "max-files", "`size` of all files of a network together, at most, such as 10GB")
	f.StringVar(&o.files, "files", "", filesUsage)
	f.DurationVar(&o.publicCache, "public-cache", 30*time.Second,
		"`duration` that shared caches keep what pages get, such as 30s; 0 has them ask each time")
	f.BoolVar(&o.mcp, "mcp", true,
		"let assistants with the key of an agent work by the Model Context Protocol, at x/mcp")
	f.Var(&o.metricsAddr, "metrics-addr",
		"`address` at which Prometheus reads GET /metrics, without a token; choose one that clients cannot reach")
	f.BoolVar(&o.accessLog, "access-log", false, "log every request to standard error")
	f.StringVar(&o.assetNames, "asset-names", "",
		"`file` with the names that the console has for the numbers of assets, in JSON: {\"via\":{\"1\":\"Hashtag "+
			"search\"},\"rights\":{\"2\":\"Granted\"}}")
	f.BoolVar(&o.demo, "demo", false,
		"fill an empty store with sample data and print a link into the console, a token and requests to try; a "+
			"store with other data is refused")
}

// serve is the command serve.
func serve(f *flag.FlagSet) action {
	s := &server{}
	s.define(f)
	return func(ctx context.Context, p *program) error {
		s.program = p
		err := s.open(ctx)
		if err == nil {
			err = s.run(ctx)
		}
		return errors.Join(err, s.close())
	}
}

// check checks the flags, and reads the files that they name, before the store is opened: so a mistake creates neither
// a store nor a key. -base-path and -base-url are the exception: httpapi.New checks them. The error says which flag is
// wrong.
func (s *server) check(ctx context.Context) (err error) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryAim)
	}
	switch s.logForm {
	case "text":
		s.log = slog.New(slog.NewTextHandler(s.stderr, nil))
	case "json":
		s.log = slog.New(slog.NewJSONHandler(s.stderr, nil))
	default:
		return usageError{fmt.Errorf("-log %q: want text or json", s.logForm)}
	}
	slog.SetDefault(s.log)
	if s.proxies, err = parseProxies(s.trustProxy); err != nil {
		return err
	}
	if s.allow, err = webhook.ParseAllow(s.webhooksAllow); err != nil {
		return usageError{fmt.Errorf("-webhooks-allow: %w", err)}
	}
	if s.endpoints, err = s.readWebhooks(s.webhooks); err != nil {
		return usageError{err}
	}
	if err = s.openMail(); err != nil {
		return err
	}
	if s.rules, err = tagRules(s.protectTags, s.approve); err != nil {
		return err
	}
	if s.inLanguages, err = parseLanguages(s.languages); err != nil {
		return err
	}
	if s.provider, err = s.program.provider(s.oidc); err != nil {
		return err
	}
	if s.names, err = s.readAssetNames(); err != nil {
		return err
	}
	if s.cert, err = newCertificate(s.tlsCert, s.tlsKey); err != nil {
		return err
	}
	if s.demo && s.files != "" {
		return usageError{errors.New("-files: the sample data of -demo have their files in the store")}
	}
	if s.bytes, err = s.openFiles(ctx, "-files", s.files); err != nil {
		return err
	}
	if err = checkDB(s.db); err != nil || s.keyIsBeside(s.db, s.keyFile) {
		return err
	}
	if s.newKeys {
		return usageError{errors.New("-new-keys makes a key file beside a SQLite file: not with -key-file, " +
			keyVariable + " or another store")}
	}
	return s.readKeys()
}

// readKeys reads the keys that sign tokens. With a store in memory and no key, the server has one of its own.
func (s *server) readKeys() error {
	tokens, err := s.signer(s.db, s.keyFile)
	if errors.Is(err, errNoKey) && s.db == inMemory {
		tokens, err = httpapi.NewTokens(newKey(), nil)
	}
	s.tokens.Store(tokens)
	return err
}

// rereadKeys reads the keys at SIGHUP, logs their ids, and warns if none of those before is among them.
func (s *server) rereadKeys() error {
	defer s.streams.Recheck()
	tokens, err := s.signer(s.db, s.keyFile)
	if err != nil {
		return err
	}
	before, now := s.tokens.Swap(tokens).KeyIDs(), tokens.KeyIDs()
	s.log.Info("SIGHUP: the first key signs, all verify", "keys", strings.Join(now, " "))
	if !slices.ContainsFunc(before, func(id string) bool { return slices.Contains(now, id) }) {
		s.log.Warn("SIGHUP: no key from before is left: all tokens that were signed until now are refused", "before",
			strings.Join(before, " "))
	}
	return nil
}

// memoryAim is the memory limit of the Go runtime, in bytes, unless GOMEMLIMIT sets another. It is a soft limit: the
// garbage collector works harder as the process comes near it. Half of it is for bodies, responses and pictures that
// are decoded.
const memoryAim = 512 << 20

// namesFlags replaces the names of settings of httpapi by the flags that they come from.
var namesFlags = strings.NewReplacer("httpapi: BasePath ", "-base-path ", "httpapi: BaseURL ", "-base-url ",
	"signin: BaseURL", "-base-url", "signin: a provider needs a BaseURL with https, or http://localhost",
	"-oidc: people sign in at -base-url with https, or at http://localhost")

// newServer returns a server with limits for the time that each part of a request may take, and for the size of its
// headers. Over HTTP/2 WriteTimeout resets one stream, with a frame that the client has to read. WriteByteTimeout
// disconnects a client that reads nothing at all of its connection.
func newServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:                      h,
		ReadHeaderTimeout:            10 * time.Second,
		ReadTimeout:                  time.Minute,
		WriteTimeout:                 2 * time.Minute,
		IdleTimeout:                  time.Minute,
		HTTP2:                        &http.HTTP2Config{WriteByteTimeout: 30 * time.Second},
		MaxHeaderBytes:               256 << 10,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		DisableGeneralOptionsHandler: true, // OPTIONS * gets the response of any other preflight
	}
}

// listen serves until ctx ends. Then it calls stopping, accepts no more requests, and completes those that are under
// way. Requests that take longer than lastRequests are cut off.
func listen(ctx context.Context, all *connections, s *http.Server, log *slog.Logger, stopping func()) error {
	failed := make(chan error, 1)
	go func() { failed <- all.serve(s) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stopping()
	begun := time.Now()
	log.Info("stopping: requests that are under way are answered", "for", lastRequests)
	defer func() { log.Info("stopped", "after", time.Since(begun)) }()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRequests)
	defer cancel()
	err := s.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) {
		log.Warn("cutting off requests that are still under way", "after", lastRequests)
		_ = s.Close() // the listener is closed already, and errors of connections do not matter
		return nil
	}
	return err
}

// dialable returns an address to send requests to. For an address to listen on that means every interface, such as
// ":8080" or "0.0.0.0:8080", that is 127.0.0.1 with its port.
func dialable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}
