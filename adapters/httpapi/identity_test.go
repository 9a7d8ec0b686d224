package httpapi_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// sessions returns a world that accepts a session cookie as well as tokens. It looks for a token first, and ignores a
// bad one.
func sessions(t *testing.T) (*world, func(method, path, body string, options ...option) reply) {
	w := newWorld(t, func(c *httpapi.Config) {
		tokens := c.Authenticate
		c.Authenticate = func(r *http.Request) (httpapi.Principal, error) {
			type key struct{}
			if p, err := tokens(r.Clone(context.WithValue(r.Context(), key{}, 1))); err == nil {
				return p, nil
			}
			if session, err := r.Cookie("session"); err == nil && session.Value == "editor" {
				return editor, nil
			}
			return httpapi.Principal{}, httpapi.ErrUnauthenticated
		}
	})
	w.client = client // openapi.json describes tokens, and no sessions of an embedder
	return w, func(method, path, body string, options ...option) reply {
		t.Helper()
		return w.send(method, path, body, append(options, header("Cookie", "session=editor"))...)
	}
}

func TestAPageOfAnotherSiteCannotWriteWithASession(t *testing.T) {
	w, send := sessions(t)
	body := `{"title":"x","groups":["urn:vitrine:example.test"]}`
	elsewhere, origin := header("Sec-Fetch-Site", "cross-site"), header("Origin", "https://evil.test")
	send("POST", "/apps/", body).want(201)
	send("POST", "/apps/", body, header("Sec-Fetch-Site", "same-origin")).want(201)
	send("GET", "/apps/", "", elsewhere).want(200)
	for _, request := range []string{"POST /apps/", "PATCH /apps/x", "PUT /apps/x/tags/y", "DELETE /apps/x/tags/y"} {
		method, path, _ := strings.Cut(request, " ")
		for _, query := range []string{"", "?svctoken=junk", "?svctoken=" + w.token(editor)} {
			send(method, path+query, body, elsewhere).want(403, "another site")
			send(method, path+query, body, origin).want(403, "another site")
		}
	}
	w.as(editor, "POST", "/apps/", body, elsewhere).want(201) // a token, also in a copy of the request
	w.send("POST", "/apps/?svctoken="+w.token(editor), body, elsewhere).want(201)

	// A browser sends a client certificate by itself, as it does a cookie.
	certified := httptest.NewRequest("POST", "/apps/?svctoken="+w.token(editor), strings.NewReader(body))
	certified.Header.Set("Content-Type", "application/json")
	certified.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{}}}
	elsewhere(certified)
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, certified)
	if answer.Code != 403 || !strings.Contains(answer.Body.String(), "another site") {
		t.Errorf("with a client certificate: %d %s", answer.Code, answer.Body)
	}
}

func TestAnIdentityProviderThatIsDownIsNoBadToken(t *testing.T) {
	w := newWorld(t, func(c *httpapi.Config) {
		c.Authenticate = func(r *http.Request) (httpapi.Principal, error) {
			switch token, err := httpapi.RequestToken(r); token {
			case "down":
				return httpapi.Principal{}, errors.New("no answer from the provider")
			case "tags":
				return httpapi.Principal{Caller: vitrine.Caller{URN: editor.URN, Tags: []string{"production"}}}, nil
			case "only tags":
				return httpapi.Principal{Caller: vitrine.Caller{Tags: []string{"production"}}}, nil
			case "nobody":
				return httpapi.Principal{Caller: vitrine.Caller{TagsOnly: true, Tags: []string{"production"}}}, nil
			default:
				return editor, err
			}
		}
	})
	r := w.send("GET", "/apps/?svctoken=down", "").want(503)
	if r.header.Get("Retry-After") == "" || strings.Contains(r.body, "provider") ||
		!strings.Contains(w.log.String(), "no answer from the provider") {
		t.Errorf("%v %s, logged %s", r.header, r.body, w.log)
	}
	for _, token := range []string{"tags", "only+tags"} {
		before := strings.Count(w.log.String(), "without TagsOnly")
		w.send("GET", "/apps/?svctoken="+token, "").want(503)
		if strings.Count(w.log.String(), "without TagsOnly") == before {
			t.Errorf("%s: not logged", token)
		}
	}
	w.send("GET", "/apps/?svctoken=nobody", "").want(401)
	w.send("GET", "/apps/", "").want(401)
	w.send("GET", "/apps/?svctoken=x", "", header("Authorization", "svctoken x")).want(401)
}

func TestADeliveryTokenReadsItsTagsWithoutPeople(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("x", network)
	for _, tag := range []string{"production", "draft"} {
		w.as(editor, "PUT", "/apps/"+id+"/tags/"+tag, `{"appVersion":"0"}`).want(201)
	}
	page := editor
	page.Reads, page.TagsOnly, page.Tags = []string{network}, true, []string{"production"}
	full := w.as(editor, "GET", "/apps/"+id+"/tagged/production", "").want(200)
	r := w.as(page, "GET", "/apps/"+id+"/tagged/production", "").want(200, `"owner":null,"groups":[],"elements":[`)
	if strings.Contains(r.body, "urn:") || !strings.Contains(r.body, `"updatedBy":null`) ||
		r.header.Get("ETag") == full.header.Get("ETag") {
		t.Errorf("ETag %s of %s", r.header.Get("ETag"), r.body)
	}
	w.as(page, "GET", "/apps/"+id+"/tagged/draft", "").want(403)
	w.as(page, "GET", "/apps/"+id, "").want(403)
	w.as(page, "GET", "/x/me", "").want(403)
	w.as(editor, "GET", "/x/me", "").want(200,
		`"reads":[],"tags":[],"roles":[],"groups":[],"components":true,"owner":true,"expires":17000`)
}

// A form of another site can send a file of any media type that an import takes, except application/x-ndjson.
func TestAnImportWithASessionIsNDJSON(t *testing.T) {
	w := reviewWorld(t, func(c *httpapi.Config) {
		c.Authenticate = func(r *http.Request) (httpapi.Principal, error) {
			if _, err := httpapi.RequestToken(r); err != nil && r.Header["Cookie"] == nil {
				return httpapi.Principal{}, err
			}
			return editor, nil
		}
	})
	w.client = client // openapi.json describes tokens, and no sessions of an embedder
	cookie, token := header("Cookie", "session=editor"), header("Authorization", "svctoken x")
	for _, mediaType := range []string{"application/json", "text/plain", "application/octet-stream"} {
		w.send("POST", importPath, record("YQ=="), setType(mediaType), cookie).want(415, "application/x-ndjson")
		w.send("POST", importPath+"?svctoken=x", record("YQ=="), setType(mediaType), cookie).want(415)
		w.send("POST", importPath, record("YQ=="), setType(mediaType), cookie, token).want(200)
	}
	w.send("POST", importPath, record("YQ=="), setType("application/x-ndjson"), cookie).want(200)
	w.send("POST", importPath, record("YQ=="), setType("application/x-ndjson"), cookie,
		header("Sec-Fetch-Site", "cross-site")).want(403)
}
