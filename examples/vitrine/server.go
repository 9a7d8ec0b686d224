package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/console"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/mcp"
	"github.com/vitrine-go/vitrine/adapters/page"
	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/adapters/webhook"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// server is the server of the command serve. open prepares it in steps, each of which needs those before it. run
// answers requests until it is told to stop. close closes what was opened, the last first, also when a step has failed.
type server struct {
	serveFlags
	*program
	stops []func() // what close calls, in the order of opening

	// What check has read.
	log         *slog.Logger
	proxies     proxies
	allow       []netip.Prefix // networks that webhooks may post to
	endpoints   []webhook.Endpoint
	rules       []appsvc.TagRule               // nil = those of the store
	inLanguages []string                       // of -languages; nil = those of the store
	cert        *certificate                   // nil without TLS
	provider    *signin.Provider               // nil without -oidc
	names       console.AssetNames             // of the numbers of assets
	bytes       assets.Files                   // of files; nil = in the store
	tokens      atomic.Pointer[httpapi.Tokens] // nil if the keys are beside the store, until it is open

	mail func(context.Context, signin.Mail) error // sends one; nil without -smtp

	// What the other steps have opened.
	listener, scraped net.Listener // for clients, and for Prometheus; scraped is nil without -metrics-addr
	root, base        string       // the URLs of the server and of its base path
	store             *roomy
	closed            error // what closing the store returned
	people            *signin.Service
	sample            *demo // nil without -demo
	services          webhook.Services
	streams           *httpapi.Streams
	figures           *metrics
	handler           http.Handler
	first             string // what says how the first person is invited; "" if there are people
}

// open runs the steps.
func (s *server) open(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		s.check, s.bind, s.openStore, s.openAccess, s.openHandler, s.keepBase, s.openWebhooks,
	} {
		err := step(ctx)
		if sqlite.IsDamaged(err) { // another start would find the same file
			return exitError{withCopy(s.db, err), exitUsage}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// close calls the stops, the last first. It returns the error of closing the store.
func (s *server) close() error {
	for _, stop := range slices.Backward(s.stops) {
		stop()
	}
	return s.closed
}

// bind takes the addresses before the store is built, since they may be in use.
func (s *server) bind(context.Context) (err error) {
	if s.listener, err = net.Listen("tcp", string(s.addr)); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			err = fmt.Errorf("%w: ports below 1024 want the capability CAP_NET_BIND_SERVICE, as "+
				"deploy/vitrine-tls.conf gives it", err)
		}
		return fmt.Errorf("-addr %s: %w", s.addr, err)
	}
	s.stops = append(s.stops, func() { _ = s.listener.Close() }) // a server that was shut down has closed it
	at := dialable(s.listener.Addr().String())
	s.root = "https://" + at
	if s.cert == nil {
		s.root = "http://" + local(at)
	}
	s.base = strings.TrimRight(s.root+"/"+strings.Trim(s.basePath, "/"), "/")
	if s.metricsAddr == "" {
		return nil
	}
	if s.scraped, err = net.Listen("tcp", string(s.metricsAddr)); err != nil {
		return fmt.Errorf("-metrics-addr %s: %w", s.metricsAddr, err)
	}
	s.stops = append(s.stops, func() { _ = s.scraped.Close() })
	return nil
}

// openStore opens the store, or builds it with its key, and warns of that: one may have been there.
func (s *server) openStore(ctx context.Context) error {
	if err := checkLost(s.db); err != nil {
		return exitError{err, exitUsage}
	}
	opened, err := openStore(ctx, s.db, func() error {
		if !s.demo {
			name, err := filepath.Abs(s.db)
			if err != nil || inPostgres(s.db) {
				name = shown(s.db)
			}
			s.log.Warn("no store was there, so this is a new, empty one; if there should have been one, stop the "+
				"server, put it or a copy back, and see whether -db is right", "store", name)
		}
		return s.keyMaker(s.db, s.keyFile, "\n")()
	})
	if inFile(s.db) && err != nil && !errors.Is(err, storage.ErrBusy) && !errors.Is(err, storage.ErrFull) {
		return exitError{err, exitUsage} // another start would find the same file
	}
	if err != nil {
		return err
	}
	s.store = newRoomy(opened, s.db)
	s.stops = append(s.stops, func() { s.closed = s.store.Close() })
	return nil
}

// openAccess opens the people and the keys, and fills the store with the sample data of -demo.
func (s *server) openAccess(ctx context.Context) (err error) {
	base := cmp.Or(s.baseURL, s.base)
	s.people, err = signin.New(s.store, signin.Options{BaseURL: base, Provider: s.provider, Log: s.log, Mail: s.mail,
		Manages: func(ctx context.Context, by vitrine.Caller, network, library, folder string) error {
			session, lib := s.services.Assets.As(by), assets.Library{Network: network, ID: library}
			_, err := session.Permissions(ctx, lib, folder)
			if err == nil { // who may manage a deleted folder reads its permissions, too
				var f assets.Folder
				if f, err = session.Folder(ctx, lib, folder); err == nil && f.Deleted {
					err = fault.NotFound("there is no such folder")
				}
			}
			return err
		},
		Erase:     func(ctx context.Context, user string) error { return s.services.Apps.EraseComments(ctx, user) },
		Otherwise: func(r *http.Request) (httpapi.Principal, error) { return s.tokens.Load().Authenticate(r) }})
	if err != nil {
		return usageError{errors.New(namesFlags.Replace(err.Error()))}
	}
	if s.demo {
		if s.sample, err = newDemo(ctx, s.program, s.store, s.people, base, s.filesPath()); err != nil {
			return fmt.Errorf("-demo: %w", err)
		}
	}
	if s.tokens.Load() != nil {
		return nil
	}
	if s.newKeys {
		if err := s.keyMaker(s.db, s.keyFile, "\n")(); err != nil {
			return err
		}
	}
	return s.readKeys()
}

// filesPath returns the path that addresses begin with as clients know them: that of -base-url, else -base-path.
func (s *server) filesPath() string {
	if u, err := url.Parse(s.baseURL); err == nil && s.baseURL != "" {
		return u.EscapedPath()
	}
	return s.basePath
}

// openHandler makes the services over the store, and the handler over the services.
func (s *server) openHandler(ctx context.Context) error {
	kept, memory := time.Duration(s.keepChanges), min(memoryAim, debug.SetMemoryLimit(-1))/2
	services := webhook.Services{
		Apps: appsvc.New(s.store, &appsvc.Options{
			KeepChanges: kept, KeepDeleted: time.Duration(s.keepDeleted), Rights: s.people.Rights,
			People: s.people.Namesakes,
		}),
		Assets: assets.New(s.store, &assets.Options{KeepChanges: kept, Files: s.bytes, BasePath: s.filesPath(),
			Limits: assets.Limits{File: int(s.maxFile), Files: int64(s.maxFiles), Decoding: int(memory)}}),
		Reviews: reviews.New(s.store, &reviews.Options{KeepChanges: kept}),
	}
	s.streams, s.figures = httpapi.NewStreams(), newMetrics()
	s.streams.Began = streamBegan
	var observer httpapi.Observer // nil saves the handler the work
	if s.accessLog {
		observer = httpapi.AccessLog(s.log)
	}
	if s.metricsAddr != "" {
		observer = s.figures.before(observer)
	}
	extras := s.people.Endpoints()
	if s.mcp {
		extras = append(extras, mcp.Endpoint(services.Apps, services.Assets, services.Reviews))
	}
	api, err := httpapi.New(httpapi.Config{
		Apps: services.Apps, Assets: services.Assets, Reviews: services.Reviews,
		Authenticate: s.people.Authenticate, Extras: extras, BasePath: s.basePath, BaseURL: s.baseURL,
		Ready: s.store.ready, Log: s.log,
		PublicCache: s.publicCache, Streams: s.streams, Observer: observer,
		Limits: httpapi.Limits{Memory: memory},
	})
	if err != nil {
		return usageError{errors.New(namesFlags.Replace(err.Error()))}
	}
	s.figures.ofHandler(api, s.streams)
	if err := setTagRules(ctx, services.Apps, s.rules, s.log); err != nil {
		return err
	}
	if err := setLanguages(ctx, services.Apps, s.inLanguages, s.log); err != nil {
		return err
	}
	// A request comes first to the headers of trusted proxies, then to the sample site, the console, and the files of
	// pages, and then to the API.
	site := console.Before(page.Before(api, s.basePath), s.basePath,
		console.New(console.Config{AssetNames: s.names}))
	if s.sample != nil {
		if site, err = s.sample.site(site, s.basePath, s.tokens.Load()); err != nil {
			return fmt.Errorf("-demo: %w", err)
		}
	}
	s.services, s.handler = services, s.proxies.behind(site)
	return nil
}

// keepBase notes in the store where people sign in, and looks whether the first person is yet to be invited.
func (s *server) keepBase(ctx context.Context) error {
	kept, err := signin.Base(ctx, s.store)
	// a second server of the store may have another port and no TLS
	if err == nil && (s.baseURL != "" || !strings.HasPrefix(kept, "https:")) {
		err = s.people.KeepBase(ctx)
	}
	if err == nil {
		s.first, err = firstPerson(ctx, s.people, s.db)
	}
	return err
}

// openWebhooks starts the deliveries to webhooks.
func (s *server) openWebhooks(ctx context.Context) error {
	if s.webhooks == "" {
		return nil
	}
	observe, known := s.figures.ofWebhooks()
	d := webhook.New(s.store, s.services, &webhook.Options{Allow: s.allow, Log: s.log, Observer: observe})
	s.figures.ofDeliveries(d.Progress)
	known(s.endpoints)
	if err := d.Set(ctx, s.endpoints); err != nil {
		return err
	}
	s.stops = append(s.stops,
		s.reload("webhooks", func() error {
			endpoints, err := s.readWebhooks(s.webhooks)
			if err != nil {
				return err
			}
			known(endpoints)
			return d.Set(ctx, endpoints)
		}),
		beside(ctx, func(ctx context.Context) { _ = d.Run(ctx) })) // it logs what fails, and returns nil
	return nil
}

// run starts what runs beside the requests, says that everything is ready, and answers requests until ctx is done.
func (s *server) run(ctx context.Context) error {
	web, figures := newServer(s.handler, s.log), s.figures
	web.RegisterOnShutdown(s.streams.Close)
	// A request may need three descriptors more, for two files of the store and a temporary one.
	all := newConnections(s.listener, min(mostConnections, descriptors()/4))
	figures.ofConnections(all)
	figures.ofStore(s.store, s.db)
	if s.cert != nil {
		web.TLSConfig = s.cert.config()
		figures.ofCertificate(s.cert)
		s.stops = append(s.stops, s.reload("certificate and its key", s.cert.read))
	}
	s.stops = append(s.stops,
		beside(ctx, func(ctx context.Context) { s.people.Watch(ctx, s.streams.Recheck) }),
		beside(ctx, s.people.CheckProvider),
		beside(ctx, func(ctx context.Context) { s.people.SendMails(ctx, s.services.Apps) }),
		s.repeat(ctx, 500*time.Millisecond, "running the releases whose time has come", s.services.Apps.RunDue),
		s.repeat(ctx, time.Hour, "erasing deleted apps", func(ctx context.Context) error {
			n, err := s.services.Apps.EraseDeleted(ctx)
			if n > 0 {
				s.log.Info("erased deleted apps", "apps", n)
			}
			return err
		}),
		s.repeat(ctx, 10*time.Second, "deleting the bytes of files that were removed", s.services.Assets.Upkeep),
		s.reload("keys", s.rereadKeys))
	if s.scraped != nil { // only now, since all figures must be registered before they are served
		web.Handler = promhttp.InstrumentHandlerInFlight(figures.under, web.Handler)
		s.stops = append(s.stops, figures.serve(s.scraped, s.log))
	}
	s.announce(all.most)
	s.notify(s.log, "READY=1")
	return listen(ctx, all, web, s.log, func() { s.notify(s.log, "STOPPING=1") })
}

// announce says on standard output where the server is, and in the log what it is and what is odd about its flags.
func (s *server) announce(connections int) {
	// other machines reach it, and no flag implies TLS
	if at, ok := s.listener.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() &&
		s.tlsCert == "" && s.trustProxy == "" && s.baseURL == "" {
		s.log.Warn("other machines reach this address, and it has no TLS: set -tls-cert and -tls-key or, behind a "+
			"proxy with TLS, -trust-proxy or -base-url",
			"address", at.String())
	}
	if _, secret := withoutPassword(s.db); secret && !slices.Contains(s.variables, "db") {
		s.log.Warn("the list of processes shows the password of the database, since -db has it on the command line: " +
			"give it in PGPASSWORD, in the file that PGPASSFILE names, or the whole URL in " + variable("db"))
	}
	if s.baseURL != "" && s.people.Origin() == "" {
		s.log.Warn("nobody can sign in, only tokens and keys work: passkeys need a -base-url with https and the name "+
			"of a host", "base-url", s.baseURL)
	}
	if d, ok := s.store.disk(); ok && d.nearlyFull() {
		s.log.Warn("the disk of the store is nearly full: files that are uploaded are refused with 507 until "+
			"others are deleted, and all changes when it is full; reads go on", "free", inUnits(d.free))
	}
	s.log.Info("started", "version", versionText(), "store", shown(s.db),
		"keys", strings.Join(s.tokens.Load().KeyIDs(), " "), "address", s.listener.Addr().String(),
		"tls", s.cert != nil, "connections", connections, "memory", debug.SetMemoryLimit(-1))
	fmt.Fprintf(s.stdout, "serving %s\n", s.base)
	if s.baseURL != "" {
		fmt.Fprintf(s.stdout, "clients know it as %s\n", s.baseURL)
	}
	if s.sample != nil {
		s.sample.print(s.stdout, s.root, s.base)
	}
	fmt.Fprint(s.stdout, s.first)
}
