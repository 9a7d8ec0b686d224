package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vitrine-go/vitrine/adapters/console"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/page"
	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/adapters/webhook"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
)

const (
	// defaultAddr can be reached from this machine only, so that a first try exposes nothing to a network.
	defaultAddr = "127.0.0.1:8080"
	// lastRequests is how long requests that are under way may take once the server is to stop.
	lastRequests = 30 * time.Second
)

// serveFlags are the flags of serve.
type serveFlags struct {
	addr, metricsAddr                address
	db, basePath, baseURL, keyFile   string
	tlsCert, tlsKey, trustProxy, log string
	webhooks, webhooksAllow          string
	protectTags, approve, oidc       string
	assetNames                       string
	demo, accessLog, newKeys         bool
	keepChanges, keepDeleted         lifetime
	publicCache                      time.Duration
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
	f.StringVar(&o.log, "log", "text", "`form` of the log on standard error: text or json")
	f.StringVar(&o.webhooks, "webhooks", "", webhooksUsage)
	f.StringVar(&o.webhooksAllow, "webhooks-allow", "", webhooksAllowUsage)
	f.StringVar(&o.protectTags, "protect-tags", "",
		"`names` of tags, separated by commas, that only a moderator of every group of the app may set or delete; "+
			"kept in the store until the flag changes them; none takes all rules away")
	f.StringVar(&o.approve, "approve", "",
		"`rules` such as production=1, separated by commas: how many people must approve a release that "+
			"moves this tag; production=1:independent: and none of them gave rights to who made it or to another of "+
			"them; whoever may make people can be two of them; kept in the store; -protect-tags without it takes them away")
	o.keepChanges, o.keepDeleted = lifetime(30*24*time.Hour), lifetime(30*24*time.Hour)
	f.Var(&o.keepDeleted, "keep-deleted", "`duration` after which deleted apps are erased, such as 12h or 30d")
	f.Var(&o.keepChanges, "keep-changes", "`duration` that changes stay in the feeds, such as 12h or 30d")
	f.DurationVar(&o.publicCache, "public-cache", 30*time.Second,
		"`duration` that shared caches keep what pages get, such as 30s; 0 has them ask each time")
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

// logger writes to standard error in the form of -log.
func (o *serveFlags) logger(p *program) (*slog.Logger, error) {
	switch o.log {
	case "text":
		return slog.New(slog.NewTextHandler(p.stderr, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(p.stderr, nil)), nil
	}
	return nil, usageError{fmt.Errorf("-log %q: want text or json", o.log)}
}

// serve is the command serve.
func serve(f *flag.FlagSet) action {
	var o serveFlags
	o.define(f)
	return o.serve
}

// serve serves requests until it is told to stop. It checks the flags before it opens the store, so that a mistake
// creates neither a store nor a key. -base-path and -base-url are the exception: httpapi.New checks them.
func (o *serveFlags) serve(ctx context.Context, p *program) (err error) {
	log, err := o.logger(p)
	if err != nil {
		return err
	}
	slog.SetDefault(log)
	set, err := o.settings(p)
	if err != nil {
		return err
	}
	boundMemory()
	listener, err := net.Listen("tcp", string(o.addr)) // before the store is built: the address may be in use
	if err != nil {
		return fmt.Errorf("-addr %s: %w", o.addr, err)
	}
	defer func() { _ = listener.Close() }() // for an error below; a server that was shut down has closed it
	var scraped net.Listener
	if o.metricsAddr != "" {
		if scraped, err = net.Listen("tcp", string(o.metricsAddr)); err != nil {
			return fmt.Errorf("-metrics-addr %s: %w", o.metricsAddr, err)
		}
		defer func() { _ = scraped.Close() }()
	}
	makeKey := p.keyMaker(o.db, o.keyFile, "\n")
	s, err := openStore(ctx, o.db, makeKey)
	if inFile(o.db) && err != nil && !errors.Is(err, storage.ErrBusy) && !errors.Is(err, storage.ErrFull) {
		return exitError{err, exitUsage} // another start would find the same file
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var tokens atomic.Pointer[httpapi.Tokens] // which SIGHUP replaces
	authenticate := func(r *http.Request) (httpapi.Principal, error) { return tokens.Load().Authenticate(r) }
	root := "https://" + dialable(listener.Addr().String())
	if set.cert == nil {
		root = "http://" + local(dialable(listener.Addr().String()))
	}
	base := strings.TrimRight(root+"/"+strings.Trim(o.basePath, "/"), "/")
	people, err := signin.New(s,
		signin.Options{BaseURL: cmp.Or(o.baseURL, base), Otherwise: authenticate, Provider: set.provider, Log: log})
	if err != nil {
		return usageError{errors.New(namesFlags.Replace(err.Error()))}
	}
	var sample *demo
	if o.demo {
		if sample, err = newDemo(ctx, p, s, people, cmp.Or(o.baseURL, base), o.basePath); err != nil {
			return fmt.Errorf("-demo: %w", err)
		}
	}
	if set.signer == nil { // the key is beside the store
		if o.newKeys {
			if err = makeKey(); err != nil {
				return err
			}
		}
		if set.signer, err = o.tokens(p); err != nil {
			return err
		}
	}
	tokens.Store(set.signer)
	// The services over the store, and the handler over the services.
	services := webhook.Services{
		Apps: appsvc.New(s,
			&appsvc.Options{KeepChanges: time.Duration(o.keepChanges), KeepDeleted: time.Duration(o.keepDeleted),
				Rights: people.Rights}),
		Assets:  assets.New(s, &assets.Options{KeepChanges: time.Duration(o.keepChanges)}),
		Reviews: reviews.New(s, &reviews.ServiceOptions{KeepChanges: time.Duration(o.keepChanges)}),
	}
	streams := httpapi.NewStreams()
	streams.Began = streamBegan
	figures := newMetrics()
	handler, err := httpapi.New(httpapi.Config{
		Apps: services.Apps, Assets: services.Assets, Reviews: services.Reviews,
		Authenticate: people.Authenticate, Extras: people.Endpoints(), BasePath: o.basePath, BaseURL: o.baseURL,
		Ready: ready(s), Log: log,
		PublicCache: o.publicCache, Streams: streams, Observer: o.observer(figures, log),
		Limits: httpapi.Limits{Memory: min(memoryAim, debug.SetMemoryLimit(-1)) / 2},
	})
	if err != nil {
		return usageError{errors.New(namesFlags.Replace(err.Error()))}
	}
	if err := setTagRules(ctx, services.Apps, set.rules, log); err != nil {
		return err
	}
	// Wrap the handler: the console and the files of pages for browsers, the headers of trusted proxies, and the limits
	// of the server.
	site := console.Before(page.Before(handler, o.basePath), o.basePath,
		console.New(console.Config{AssetNames: set.names}))
	if sample != nil {
		if site, err = sample.site(site, o.basePath, set.signer); err != nil {
			return fmt.Errorf("-demo: %w", err)
		}
	}
	kept, err := signin.Base(ctx, s)
	// a second server may have another port and no TLS
	if err == nil && (o.baseURL != "" || !strings.HasPrefix(kept, "https:")) {
		err = people.KeepBase(ctx)
	}
	if err != nil {
		return err
	}
	first, err := firstPerson(ctx, people, o.db)
	if err != nil {
		return err
	}
	go people.Watch(ctx, streams.Recheck)
	go people.CheckProvider(ctx)
	server := newServer(set.proxies.behind(site), log)
	server.RegisterOnShutdown(streams.Close)
	all := newConnections(listener, connectionBound())
	figures.ofHandler(handler)
	figures.ofStreams(streams)
	figures.ofConnections(all)
	figures.ofStore(s)
	// Files that SIGHUP reloads, and goroutines beside the server.
	reloads := []reload{{"the keys", func() error {
		defer streams.Recheck()
		read, err := p.signer(o.db, o.keyFile)
		if err != nil {
			return err
		}
		logKeys(log, tokens.Swap(read).KeyIDs(), read.KeyIDs())
		return nil
	}}}
	if set.cert != nil {
		server.TLSConfig = set.cert.config()
		figures.ofCertificate(set.cert)
		reloads = append(reloads, reload{"the certificate and its key", set.cert.read})
	}
	if o.webhooks != "" {
		observe, known := figures.ofWebhooks()
		known(set.endpoints)
		d := webhook.New(s, services, &webhook.Options{Allow: set.allow, Log: log, Observer: observe})
		if err := d.Set(ctx, set.endpoints); err != nil {
			return err
		}
		defer beside(ctx, func(ctx context.Context) {
			if err := d.Run(ctx); err != nil {
				log.Error("webhooks: no changes are delivered", "cause", err.Error())
			}
		})()
		figures.ofDeliveries(d.Progress)
		reloads = append(reloads, reload{"the webhooks", func() error {
			endpoints, err := p.readWebhooks(o.webhooks)
			if err != nil {
				return err
			}
			known(endpoints)
			return d.Set(ctx, endpoints)
		}})
	}
	defer chore{"running the releases whose time has come", dueEvery, services.Apps.RunDue}.start(ctx, log)()
	defer chore{"erasing deleted apps", time.Hour, func(ctx context.Context) error {
		n, err := services.Apps.EraseDeleted(ctx)
		if n > 0 {
			log.Info("erased deleted apps", "apps", n)
		}
		return err
	}}.start(ctx, log)()
	defer atHangup(log, figures.ofReloads(reloads))()
	if scraped != nil { // only now, since all figures must be registered before they are served
		server.Handler = figures.counting(server.Handler)
		defer figures.serve(scraped, log)()
	}
	// Everything is ready: say so, and serve until ctx is done.
	o.warn(log, listener.Addr())
	if o.baseURL != "" && people.Origin() == "" {
		log.Warn("nobody can sign in, only tokens and keys work: passkeys need a -base-url with https and the name "+
			"of a host", "base-url", o.baseURL)
	}
	log.Info("started", "version", versionText(), "store", shown(o.db), "keys", strings.Join(set.signer.KeyIDs(), " "),
		"address", listener.Addr().String(), "tls", set.cert != nil, "connections", connectionBound(), "memory",
		debug.SetMemoryLimit(-1))
	fmt.Fprintf(p.stdout, "serving %s\n", base)
	if o.baseURL != "" {
		fmt.Fprintf(p.stdout, "clients know it as %s\n", o.baseURL)
	}
	if sample != nil {
		sample.print(p.stdout, root, base)
	}
	fmt.Fprint(p.stdout, first)
	p.notify(log, "READY=1")
	return listen(ctx, all, server, log, func() { p.notify(log, "STOPPING=1") })
}

// settings are read from the files and flags of serve before the store is opened.
type settings struct {
	proxies   proxies
	allow     []netip.Prefix // networks that webhooks may post to
	endpoints []webhook.Endpoint
	rules     []appsvc.TagRule // nil = those of the store
	cert      *certificate     // nil without TLS
	provider  *signin.Provider // nil without -oidc
	names     console.AssetNames
	signer    *httpapi.Tokens // nil if the key is beside the store, which may have to be built first
}

// settings checks the flags and reads the files that they name. The error says which flag is wrong.
func (o *serveFlags) settings(p *program) (set settings, err error) {
	if set.proxies, err = parseProxies(o.trustProxy); err != nil {
		return set, err
	}
	if set.allow, err = webhook.ParseAllow(o.webhooksAllow); err != nil {
		return set, usageError{fmt.Errorf("-webhooks-allow: %w", err)}
	}
	if set.endpoints, err = p.readWebhooks(o.webhooks); err != nil {
		return set, usageError{err}
	}
	if set.rules, err = tagRules(o.protectTags, o.approve); err != nil {
		return set, err
	}
	if set.provider, err = p.provider(o.oidc); err != nil {
		return set, err
	}
	if set.names, err = o.readAssetNames(); err != nil {
		return set, err
	}
	if set.cert, err = newCertificate(o.tlsCert, o.tlsKey); err != nil {
		return set, err
	}
	if err := checkDB(o.db); err != nil {
		return set, err
	}
	if !p.keyIsBeside(o.db, o.keyFile) {
		if o.newKeys {
			return set, usageError{
				errors.New("-new-keys makes a key file beside a SQLite file: not with -key-file, " + keyVariable +
					" or another store")}
		}
		set.signer, err = o.tokens(p)
	}
	return set, err
}

// observer is called for every request, for the access log and for the metrics if flags ask for them. It is nil if no
// flag does, which saves the handler the work.
func (o *serveFlags) observer(figures *metrics, log *slog.Logger) httpapi.Observer {
	var all []httpapi.Observer
	if o.metricsAddr != "" {
		all = append(all, figures.observe)
	}
	if o.accessLog {
		all = append(all, httpapi.AccessLog(log))
	}
	if all == nil {
		return nil
	}
	return func(ctx context.Context, e httpapi.Exchange) {
		for _, observe := range all {
			observe(ctx, e)
		}
	}
}

// warn logs a warning if other machines can reach the address, and no flag implies TLS: none of -tls-cert, -trust-proxy
// and -base-url is given.
func (o *serveFlags) warn(log *slog.Logger, addr net.Addr) {
	if at, ok := addr.(*net.TCPAddr); ok && !at.IP.IsLoopback() && o.tlsCert == "" && o.trustProxy == "" &&
		o.baseURL == "" {
		log.Warn("other machines reach this address, and it has no TLS: set -tls-cert and -tls-key or, behind a "+
			"proxy with TLS, -trust-proxy or -base-url",
			"address", addr.String())
	}
}

// memoryAim is the memory limit of the Go runtime, in bytes. It is a soft limit: the garbage collector works harder as
// the process comes near it. Half of it is for bodies and responses under way.
const memoryAim = 512 << 20

// boundMemory sets the limit, unless GOMEMLIMIT sets one.
func boundMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryAim)
	}
}

// tokens returns the signer of tokens; with a store in memory and no key it has one of its own.
func (o serveFlags) tokens(p *program) (*httpapi.Tokens, error) {
	tokens, err := p.signer(o.db, o.keyFile)
	if errors.Is(err, errNoKey) && o.db == inMemory {
		return httpapi.NewTokens(newKey(), nil)
	}
	return tokens, err
}

// logKeys logs the ids of the keys that SIGHUP has read, and warns if none of those before is among them.
func logKeys(log *slog.Logger, before, now []string) {
	log.Info("SIGHUP: the first key signs, all verify", "keys", strings.Join(now, " "))
	if !slices.ContainsFunc(before, func(id string) bool { return slices.Contains(now, id) }) {
		log.Warn("SIGHUP: no key from before is left: all tokens that were signed until now are refused", "before",
			strings.Join(before, " "))
	}
}

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

// connectionBound returns how many connections may be open at a time. A request may need three descriptors more, for
// two files of the store and a temporary one.
func connectionBound() int { return min(mostConnections, descriptors()/4) }

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
