//go:build proof

package access

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/signin"
)

// request is what is sent. Its path begins at the root of the server.
type request struct {
	method, path, body string
	media              string // of the body; "" = application/json
	site               string // Sec-Fetch-Site; "" = none
}

func get(path string) request { return request{method: "GET", path: path} }

func post(path, body string) request { return request{method: "POST", path: path, body: body} }

// reply is an answer, read to its end.
type reply struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	body   string
}

// send sends a request as c.
func (w *world) send(c caller, in request) reply {
	w.t.Helper()
	*w.sent++
	r, err := http.NewRequest(in.method, w.url+in.path, strings.NewReader(in.body))
	if err != nil {
		w.t.Fatal(err)
	}
	if in.body != "" || in.method != "GET" {
		r.Header.Set("Content-Type", "application/json")
	}
	if in.media != "" {
		r.Header.Set("Content-Type", in.media)
	}
	if in.site != "" {
		r.Header.Set("Sec-Fetch-Site", in.site)
	}
	if c.session {
		r.AddCookie(&http.Cookie{Name: "vitrine-80", Value: w.session(c)})
	} else if !c.anon {
		r.Header.Set("Authorization", "svctoken "+w.token(c))
	}
	answer, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply{w.t, c.name + ": " + in.method + " " + in.path, answer.StatusCode, answer.Header, string(body)}
}

func (w *world) token(c caller) string {
	if c.token != "" {
		return c.token
	}
	if c.key || w.keyed && !c.TagsOnly {
		return w.key(c)
	}
	key := fmt.Sprintf("%s %s %+v", c.URN, c.name, c.Principal)
	if w.signed[key] == "" {
		token, err := w.tokens.Sign(c.Principal, time.Now().Add(time.Hour))
		if err != nil {
			w.t.Fatal(err)
		}
		w.signed[key] = token
	}
	return w.signed[key]
}

// session returns the cookie of a caller who has signed in.
func (w *world) session(c caller) string {
	if w.cookie == "" {
		jar := w.signIn(c, rightsOf(c))
		at, _ := url.Parse(w.url)
		w.cookie = jar.Cookies(at)[0].Value
	}
	return w.cookie
}

func rightsOf(c caller) signin.Rights {
	return signin.Rights{Moderates: c.Moderates, Reads: c.Reads, Roles: c.Roles, Groups: c.Groups,
		Components: c.Components}
}

// give gives a person these rights and no others, and returns the secret of a link that signs in as the person.
func (w *world) give(c caller, rights signin.Rights) string {
	link, err := w.people.Link(w.t.Context(), c.URN, c.name, rights, time.Hour)
	if err != nil {
		w.t.Fatal(err)
	}
	return link[strings.Index(link, "=")+1:]
}

// signIn signs in as a person with these rights, and returns the cookies.
func (w *world) signIn(c caller, rights signin.Rights) *cookiejar.Jar {
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.post(jar, "/x/signin/link", map[string]any{"link": w.give(c, rights)}, new(any))
	return jar
}

// post sends a request of a browser, and reads the answer.
func (w *world) post(jar *cookiejar.Jar, path string, body, to any) {
	browser := &http.Client{Jar: jar}
	text, _ := json.Marshal(body)
	answer, err := browser.Post(w.url+path, "application/json", bytes.NewReader(text))
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ = io.ReadAll(answer.Body)
	if err := json.Unmarshal(text, to); err != nil || answer.StatusCode >= 300 {
		w.t.Fatalf("%s: %d %s", path, answer.StatusCode, text)
	}
}

// key returns the secret key of a caller. It was made when its person had every right, and the person has those of the
// caller now: the key has no others, from the next request on.
func (w *world) key(c caller) string {
	key := fmt.Sprintf("%s %s %+v", c.URN, c.name, c.Principal)
	if w.keys[key] == "" {
		everything := rightsOf(c)
		everything.Moderates, everything.Components = allNetworks, true
		var made struct{ Key string }
		w.post(w.signIn(c, everything), "/x/keys/",
			map[string]any{"name": c.name, "kind": "secret", "owner": !c.NotOwner, "agent": c.Agent != "",
				"components": true,
				"moderates":  allNetworks,
				"reads":      append([]string{}, c.Reads...), "roles": append([]string{}, c.Roles...),
				"groups": append([]string{}, c.Groups...)}, &made)
		w.keys[key] = made.Key
		w.rights = ""
	}
	if w.rights != key {
		w.give(c, rightsOf(c))
		w.rights = key
	}
	return w.keys[key]
}

// must sends what has to succeed.
func (w *world) must(c caller, method, path, body string, status int) reply {
	w.t.Helper()
	r := w.send(c, request{method: method, path: path, body: body})
	if r.status != status {
		w.t.Fatalf("%s: status %d, want %d: %s", r.what, r.status, status, r.body)
	}
	return r
}

func (r reply) read(v any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.body), v); err != nil {
		r.t.Fatalf("%s: %v in %q", r.what, err, r.body)
	}
}

// seen is all of an answer that a client can tell apart, but for the time and the number of the request.
func (r reply) seen() string {
	var b strings.Builder
	fmt.Fprintln(&b, r.status)
	for _, name := range slices.Sorted(maps.Keys(r.header)) {
		if name != "Date" && name != "X-Request-Id" {
			fmt.Fprintln(&b, name, r.header[name])
		}
	}
	return b.String() + r.body
}
