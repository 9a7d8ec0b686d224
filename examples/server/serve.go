package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

const (
	defaultAddr = "127.0.0.1:8080"
	// lastRequests is how long requests that are under way may take once the server is to stop.
	lastRequests = 30 * time.Second
)

// serveFlags are the flags of serve.
type serveFlags struct {
	addr, db, basePath, baseURL, keyFile string
	demo, accessLog                      bool
}

// serve answers requests until it is told to stop.
func serve(ctx context.Context, p *program, args []string) (err error) {
	f := flags("serve")
	var o serveFlags
	f.StringVar(&o.addr, "addr", defaultAddr, "`address` to listen on; port 0 picks a free one")
	f.StringVar(&o.db, "db", "vitrine.db", dbUsage)
	f.StringVar(&o.basePath, "base-path", "/", "`path` below which the app service lies")
	f.StringVar(&o.baseURL, "base-url", "", "`URL` of that path as clients know it (default: as each request names the host)")
	f.StringVar(&o.keyFile, "key-file", "", keyUsage)
	f.BoolVar(&o.demo, "demo", false, "fill an empty store with sample data and print requests to try")
	f.BoolVar(&o.accessLog, "access-log", false, "log every request to standard error")
	if err := parse(f, args); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(p.stderr, nil))
	listener, err := net.Listen("tcp", o.addr) // before the store: an address that cannot be had builds none
	if err != nil {
		return fmt.Errorf("-addr %s: %w", o.addr, err)
	}
	defer func() { _ = listener.Close() }() // the server has done so when it was shut down
	s, err := openStore(ctx, o.db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	tokens, err := o.tokens(p) // after the store: a file that is refused gets no key
	if err != nil {
		return err
	}
	config := httpapi.Config{
		Apps: appsvc.New(s.Apps, nil), Assets: assets.New(s.Assets, nil), Reviews: reviews.New(s.Reviews),
		Authenticate: tokens.Authenticate, BasePath: o.basePath, BaseURL: o.baseURL, Ready: s.ping, Log: log,
	}
	if o.accessLog {
		config.Observer = httpapi.AccessLog(log)
	}
	handler, err := httpapi.New(config)
	if err != nil {
		return usageError{errors.New(namesFlags.Replace(err.Error()))}
	}
	var sample *demo
	if o.demo {
		if sample, err = newDemo(ctx, p, s, tokens); err != nil {
			return fmt.Errorf("-demo: %w", err)
		}
	}
	root := "http://" + dialable(listener.Addr().String())
	base := strings.TrimRight(root+"/"+strings.Trim(o.basePath, "/"), "/")
	fmt.Fprintf(p.stdout, "serving %s\n", base)
	if sample != nil {
		sample.print(p.stdout, root, base)
	}
	return listen(ctx, listener, newServer(handler, log), log)
}

// tokens returns the signer of tokens; with a store in memory and no key it has one of its own.
func (o serveFlags) tokens(p *program) (*httpapi.Tokens, error) {
	tokens, err := p.signer(o.db, o.keyFile)
	if errors.Is(err, errNoKey) && o.db == inMemory {
		return httpapi.NewTokens(newKey(), nil)
	}
	return tokens, err
}

// namesFlags turns what httpapi calls its settings into the flags that they come from.
var namesFlags = strings.NewReplacer("httpapi: BasePath ", "-base-path ", "httpapi: BaseURL ", "-base-url ")

// newServer returns a server that gives no client more time or memory than it needs.
func newServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:                      h,
		ReadHeaderTimeout:            10 * time.Second,
		ReadTimeout:                  time.Minute,
		WriteTimeout:                 2 * time.Minute,
		IdleTimeout:                  time.Minute,
		MaxHeaderBytes:               256 << 10,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		DisableGeneralOptionsHandler: true, // OPTIONS * is answered like any other preflight
	}
}

// listen serves until ctx ends, then answers what was accepted. Clients that are too slow to be
// answered in time are cut off.
func listen(ctx context.Context, l net.Listener, s *http.Server, log *slog.Logger) error {
	// A request may need three descriptors more, for two files of the store and a temporary one.
	all := newConnections(l, min(mostConnections, descriptors()/4))
	failed := make(chan error, 1)
	go func() { failed <- all.serve(s) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRequests)
	defer cancel()
	err := s.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) {
		log.Warn("cutting off requests that are still under way", "after", lastRequests)
		_ = s.Close() // the listener is closed already, and an error of a connection helps nobody
		return nil
	}
	return err
}

// dialable turns an address that means every interface into one that can be asked for.
func dialable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}
