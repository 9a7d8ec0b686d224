// Command embed shows the library inside a program of your own: a store, the app service on it, calls from Go, and the
// same service over HTTP, with the console, for people whom the program knows by a session cookie.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"log/slog"
	"net/http"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/console"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/page"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

const address = "127.0.0.1:8081"

func main() {
	handler, link, err := newHandler()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("open", link)
	log.Fatal(http.ListenAndServe(address, handler)) // not below an http.ServeMux: see httpapi
}

// newHandler returns what the program serves, and a link that signs a person in.
func newHandler() (h http.Handler, link string, err error) {
	db := memory.New() // or: db, err := sqlite.Open("apps.db", nil)
	apps := appsvc.New(db, nil)
	network := "urn:vitrine:example.test"
	me := vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}}
	_, err = apps.CreateApp(context.Background(), me, appsvc.CreateAppRequest{Title: "Hello", Groups: []string{network}})
	if err != nil {
		return nil, "", err
	}
	session := rand.Text() // your own sessions have a table, and end
	api, err := httpapi.New(httpapi.Config{Apps: apps, Authenticate: func(r *http.Request) (httpapi.Principal, error) {
		if c, err := r.Cookie("session"); err != nil || c.Value != session {
			return httpapi.Principal{}, fmt.Errorf("%w: there is no such session", httpapi.ErrUnauthenticated)
		}
		return httpapi.Principal{Caller: vitrine.Caller{URN: me.URN, Moderates: me.Moderates}}, nil
	}, Observer: httpapi.AccessLog(slog.Default())})
	if err != nil {
		return nil, "", err
	}
	site := page.Before(console.Before(api, "/", console.New(console.Config{Title: "Example"})), "/") // the console's previews need page
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/sign-in" {
			site.ServeHTTP(w, r)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "session", Value: r.FormValue("session"), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
		http.Redirect(w, r, "/", http.StatusSeeOther)
	}), "http://" + address + "/sign-in?session=" + session, nil
}
