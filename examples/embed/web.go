package main

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/console"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/page"
	"github.com/vitrine-go/vitrine/appsvc"
)

// sessions are the sessions of the program: names of people by the values of their cookie. Your program keeps them in a
// table, and lets them expire.
type sessions struct{ names sync.Map }

// link begins a session, and returns the path that signs a browser in.
func (s *sessions) link(name string) string {
	id := rand.Text()
	s.names.Store(id, name)
	return "/sign-in?session=" + id
}

// handler serves the API, the console and the script of pages below /vitrine, and the program's own pages elsewhere. It
// can be a handler of an http.ServeMux, since the asset manager is below the base path and its clients write one slash.
func (p *program) handler() (http.Handler, error) {
	config := httpapi.Config{
		Apps: p.apps, Assets: p.assets, Reviews: p.reviews,
		BasePath: base, AssetPrefix: base + "/assets",
		Authenticate: p.authenticate, Challenge: `Session realm="embed"`, Streams: p.streams,
		Observer: httpapi.AccessLog(slog.Default()),
	}
	api, err := httpapi.New(config)
	if err != nil {
		return nil, err
	}
	known, err := httpapi.Known(config)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	people := console.Before(api, base,
		console.New(console.Config{Title: "Example", AssetPrefix: config.AssetPrefix, SignIn: "/sign-in"}))
	mux.Handle(base+"/", page.Before(people, base)) // the script that pages load
	mux.Handle("/healthz", api)
	mux.Handle("GET /titles", known(http.HandlerFunc(p.titles)))
	mux.HandleFunc("GET /sign-in", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("session") == "" {
			_, _ = io.WriteString(w, "Sign in with the link that the program prints.\n")
			return
		}
		http.SetCookie(w,
			&http.Cookie{Name: "session", Value: r.FormValue("session"), Path: "/", HttpOnly: true,
				SameSite: http.SameSiteLaxMode})
		http.Redirect(w, r, base+"/", http.StatusSeeOther)
	})
	return mux, nil
}

// authenticate returns the sender of a request: a page, by its key, or a person, by the cookie of the session.
func (p *program) authenticate(r *http.Request) (httpapi.Principal, error) {
	if httpapi.OfPage(r) {
		if key, err := httpapi.RequestToken(r); err != nil || key != pageKey {
			return httpapi.Principal{}, httpapi.Unauthenticated("the page needs a key that this site has given to it")
		}
		return httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=pages", Reads: []string{network},
			TagsOnly: true, Tags: []string{"production"}}}, nil
	}
	if c, err := r.Cookie("session"); err == nil {
		if name, ok := p.sessions.names.Load(c.Value); ok {
			return httpapi.Principal{Caller: p.caller(name.(string))}, nil
		}
	}
	return httpapi.Principal{}, httpapi.Unauthenticated("sign in with the link that the program prints")
}

// titles is a route of the program, for the callers that the API knows: it lists the titles of the apps that contain
// the word q.
func (p *program) titles(w http.ResponseWriter, r *http.Request) {
	by := httpapi.CallerOf(r.Context())
	titles := []string{}
	for app, err := range p.apps.As(by.Caller).AllApps(r.Context(),
		appsvc.ListAppsRequest{Summary: true, Query: r.FormValue("q")}) {
		if err != nil {
			httpapi.WriteError(w, r, err)
			return
		}
		titles = append(titles, app.Title)
	}
	_ = json.NewEncoder(w).Encode(titles)
}
