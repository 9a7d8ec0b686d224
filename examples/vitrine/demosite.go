package main

import (
	_ "embed" // demo.html
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/examples/components"
)

// demoPage is a page that shows the sample apps.
//
//go:embed demo.html
var demoPage string

// demoSite is the folder of the sample site, below the base path.
const demoSite = "x/demo/"

// demoPath is the path of the sample site.
func demoPath(base string) string {
	return strings.TrimRight("/"+strings.Trim(base, "/"), "/") + "/" + demoSite
}

// demoApps are the apps that the page shows.
var demoApps = []struct{ id, title, class string }{
	{demoID(6), "Front page", ""}, {demoID(8), "Poll of the week", ""}, {demoID(7), "Harbour festival", ""},
	{demoID(12), "In the ferry terminal", ""}, {demoID(11), "From our customers", "wide"},
	{demoID(15), "What travellers say", "wide"},
}

// site makes the token, and returns a handler for the sample site, with the scripts and pictures of its components, and
// next for everything else. The page is in a sandbox: it has no origin, since the server's origin has the console.
func (d *demo) site(next http.Handler, base string, tokens *httpapi.Tokens) (http.Handler, error) {
	reader := vitrine.Caller{URN: demoNetwork + ":user=page", Reads: []string{demoNetwork}, TagsOnly: true,
		Tags: []string{"production"}}
	key, err := tokens.Sign(httpapi.Principal{Caller: reader}, time.Now().Add(365*24*time.Hour))
	if err == nil {
		d.token, err = tokens.Sign(demoUser, time.Now().Add(24*time.Hour))
	}
	if err != nil {
		return nil, err
	}
	var sections strings.Builder
	for _, app := range demoApps {
		fmt.Fprintf(&sections,
			`<section class="%s"><h2>%s</h2><vitrine-app app="%s" tag="production" page-key="%s" `+
				`live>…</vitrine-app></section>`+"\n",
			app.class, app.title, app.id, key)
	}
	page := strings.Replace(demoPage, "{{apps}}", sections.String(), 1)
	site := demoPath(base)
	files := http.StripPrefix(site, http.FileServerFS(components.Files))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch rest, below := strings.CutPrefix(r.URL.Path, site); {
		case !below:
			next.ServeHTTP(w, r)
		case rest == "" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
			w.Header().Set("Content-Security-Policy", "sandbox allow-scripts")
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(page))
		default:
			w.Header().Set("Access-Control-Allow-Origin", "*")
			w.Header().Set("Cache-Control", "no-cache")
			files.ServeHTTP(w, r)
		}
	}), nil
}
