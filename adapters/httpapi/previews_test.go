package httpapi_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// A link shows its app to whoever has the secret, and nothing else of the service. Whatever is wrong with a secret is
// the same response, and no secret is in a log.
func TestLinksThatShowAnApp(t *testing.T) {
	var log bytes.Buffer
	w := newWorld(t, func(c *httpapi.Config) {
		c.BasePath, c.BaseURL = "/v4", "https://v.example/v4"
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
		c.Observer = httpapi.AccessLog(c.Log)
	})
	var app, link, other struct{ ID, URL, Version, Note string }
	w.as(editor, "POST", "/v4/components/", `{"name":"c","version":"1","main":"/x.js","configSchema":`+
		`{"properties":{"n":{"default":7}}}}`).want(201)
	w.as(editor, "POST", "/v4/apps/", `{"title":"Secret plan","groups":["`+network+`"],"elements":[{"component":`+
		`{"name":"c","version":"1"},"config":{"p":"/v4/x/file/1/a.jpg"}}]}`).want(201).read(&app)
	previews := "/v4/apps/" + app.ID + "/previews/"
	made := w.as(editor, "POST", previews, `{"version":"latest","note":"for Zoë"}`).want(201)
	made.read(&link)
	base, secret, _ := strings.Cut(link.URL, "#")
	if base != "https://v.example/v4/x/show" || link.Version != "latest" || link.Note != "for Zoë" ||
		made.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s %v", made.body, made.header)
	}
	w.as(editor, "POST", previews, `{"version":"0","days":30}`).want(201).read(&other)
	bearer := func(secret string) option { return header("Authorization", "Bearer "+secret) }
	const show = "/v4/x/show/app"
	shown := w.send("GET", show, "", bearer(secret), header("Cookie", "__Host-vitrine=x")).want(200)
	var answer struct {
		App            map[string]any
		Shows          string
		Expires        int64
		Tag, Published any
	}
	shown.read(&answer)
	if answer.Shows != "latest" || answer.App["id"] != app.ID || answer.App["tag"] != nil || answer.Expires == 0 ||
		!strings.Contains(shown.body, `"main":"https://v.example/x.js"`) ||
		!strings.Contains(shown.body, `"config":{"p":"https://v.example/v4/x/file/1/a.jpg","n":7}`) ||
		strings.Contains(shown.body, "urn:") || strings.Contains(shown.body, "Zoë") {
		t.Errorf("%s", shown.body)
	}
	for name, want := range map[string]string{"Cache-Control": "no-store", "X-Robots-Tag": "noindex",
		"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Etag": ""} {
		if have := shown.header.Get(name); have != want {
			t.Errorf("%s: %q, want %q", name, have, want)
		}
	}
	w.send("GET", show+"?lang=de_", "", bearer(secret)).want(400)
	w.send("GET", show+"?app="+app.ID, "", bearer(secret)).want(400)
	w.send("POST", show, "", bearer(secret)).want(405)
	w.as(editor, "DELETE", previews+link.ID, "").want(204)

	// The secret is good for nothing else, and for this nothing else is.
	for _, path := range []string{"/v4/apps/" + app.ID, "/v4/x/me", previews,
		"/v4/x/public/live?app=" + app.ID + "&key="} {
		if _, _, ok := strings.Cut(path, "key="); ok {
			w.send("GET", path+secretOf(other.URL), "").want(401)
			continue
		}
		w.send("GET", path, "", bearer(secretOf(other.URL))).want(401)
		w.send("GET", path+"?svctoken="+secretOf(other.URL), "").want(401)
	}
	w.send("GET", show, "", bearer(secretOf(other.URL))).want(200)
	var first string
	for name, r := range map[string]reply{
		"revoked":       w.send("GET", show, "", bearer(secret)),
		"unknown":       w.send("GET", show, "", bearer("sh_"+strings.Repeat("x", 43))),
		"none":          w.send("GET", show, ""),
		"empty":         w.send("GET", show, "", bearer("")),
		"longer":        w.send("GET", show, "", bearer(secretOf(other.URL)+"x")),
		"100 KB":        w.send("GET", show, "", bearer(strings.Repeat("x", 100_000))),
		"another way":   w.send("GET", show, "", header("Authorization", "svctoken "+secretOf(other.URL))),
		"in the query":  w.send("GET", show+"?svctoken="+secretOf(other.URL), ""),
		"two":           w.send("GET", show+"?svctoken="+secretOf(other.URL), "", bearer(secretOf(other.URL))),
		"an id":         w.send("GET", show, "", bearer(other.ID)),
		"a token":       w.as(editor, "GET", show, ""),
		"a cookie":      w.send("GET", show, "", header("Cookie", "__Host-vitrine="+secretOf(other.URL))),
		"a public key?": w.send("GET", show, "", bearer("pk_"+strings.Repeat("x", 43))),
	} {
		r.header.Del("X-Request-Id")
		r.header.Del("Date")
		seen := fmt.Sprint(r.status, r.body, r.header)
		if first == "" {
			first = seen
		}
		if r.status != 401 || seen != first || r.header.Get("Cache-Control") != "no-store" ||
			r.header.Get("Www-Authenticate") != "Bearer" {
			t.Errorf("%s: %s", name, seen)
		}
	}
	for _, secret := range []string{secret, secretOf(other.URL)} {
		if strings.Contains(log.String(), secret) || strings.Contains(log.String(), secret[3:]) {
			t.Error("a log has the secret")
		}
	}
}

func secretOf(url string) string {
	_, secret, _ := strings.Cut(url, "#")
	return secret
}

// Links are made, listed and revoked by persons who may change the app.
func TestWhoMayHaveLinks(t *testing.T) {
	w := newWorld(t)
	var app, link struct{ ID string }
	w.as(editor, "POST", "/apps/", `{"title":"x","groups":["`+network+`"]}`).want(201).read(&app)
	previews := "/apps/" + app.ID + "/previews"
	w.as(editor, "POST", previews, `{"version":"0","release":null}`).want(201).read(&link)
	reader := httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=r", Reads: []string{network}}}
	for status, callers := range map[int][]httpapi.Principal{403: {reader}, 404: {stranger}} {
		for _, by := range callers {
			w.as(by, "GET", previews, "").want(status)
			w.as(by, "POST", previews, `{"version":"0"}`).want(status)
			w.as(by, "DELETE", previews+"/"+link.ID, "").want(status)
		}
	}
	w.send("GET", previews, "").want(401)
	for body, want := range map[string]string{
		`{}`: "invalid /release", `{"version":"0","release":"x"}`: "invalid /release",
		`{"version":0}`:   "invalid /version",
		`{"version":"x"}`: "invalid /version", `{"version":"1"}`: "not_found /version",
		`{"release":"x"}`:          "not_found /release",
		`{"version":"0","days":0}`: "invalid /days", `{"version":"0","days":31}`: "invalid /days",
		`{"version":"0","days":1.5}`:                                 "invalid /days",
		`{"version":"0","note":"` + strings.Repeat("x", 1025) + `"}`: "invalid /note",
		`{"version":"0","secret":"x"}`:                               "invalid /secret",
	} {
		var e struct{ Code, Pointer string }
		r := w.as(editor, "POST", previews, body)
		if r.read(&e); strings.TrimSpace(e.Code+" "+e.Pointer) != want {
			t.Errorf("%s: %d %s, want %s", body, r.status, r.body, want)
		}
	}
	if r := w.as(editor, "GET", previews, "").want(200); strings.Contains(r.body, "sh_") ||
		strings.Contains(r.body, "url") {
		t.Error(r.body)
	}
}
