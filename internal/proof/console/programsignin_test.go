package console

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/console"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A console in a program that has a page of its own to sign in leads there, at first and when the session has ended.
func TestTheProgramSignsIn(t *testing.T) {
	begin(t)
	var session atomic.Value
	session.Store("one")
	apps := appsvc.New(memory.New(), nil)
	api, err := httpapi.New(httpapi.Config{Apps: apps, Authenticate: func(r *http.Request) (httpapi.Principal, error) {
		if c, err := r.Cookie("session"); err == nil && c.Value == session.Load() {
			return httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=ann", Moderates: []string{network}}},
				nil
		}
		return httpapi.Principal{}, httpapi.Unauthenticated("sign in at /login")
	}})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", console.Before(api, "/", console.New(console.Config{SignIn: "/login", SignOut: "/logout"})))
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: session.Load().(string), Path: "/", HttpOnly: true})
		http.Redirect(w, r, "/", http.StatusSeeOther)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p := (&world{t, server.URL}).visitor(1280, "light")
	p.See(`//dialog//p[.="Nobody is signed in."]`)
	var fields int
	if p.Run(&fields, `() => document.querySelectorAll("dialog textarea").length`); fields > 0 {
		t.Error("the page asks for a token")
	}
	p.See(`//dialog//a[.="Sign in" and contains(@href, "/login?to=%2F")]`)
	p.Click(`//dialog//a[.="Sign in"]`)
	p.See(`//h1[.="Apps"]`)
	p.Click(`//button[contains(@class, "who")]`)
	p.See(`//dialog//a[.="Sign out" and @href="/logout"]`)
	p.Click(`//dialog` + named("Close"))

	session.Store("two")
	p.Run(new(any), `() => { location.hash = "#/releases" }`)
	p.See(`//dialog//h2[.="Sign in again"]`)
	p.See(`//dialog//a[.="Sign in"][@target="_blank"]`)
	p.Run(new(any), `async () => { await fetch("login") }`)
	p.Click(`//dialog` + named("Go on"))
	p.See(`//h1[.="Releases"]`)

	// No command of the binary is offered, which the program does not have.
	me := apps.As(vitrine.Caller{URN: network + ":user=ann", Moderates: []string{network}})
	app, err := me.CreateApp(t.Context(), appsvc.CreateAppRequest{Title: "Tea", Groups: []string{network}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := me.PutTag(t.Context(),
		appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: app.Version}); err != nil {
		t.Fatal(err)
	}
	p.Run(new(any), `() => { location.hash = "#/apps/`+app.ID+`/deployments" }`)
	p.Click(named("Use it"))
	p.See(`//dialog[not(contains(., "vitrine token"))]//p[contains(., "ask who runs it")]`)
}
