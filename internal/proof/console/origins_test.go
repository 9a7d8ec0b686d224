//go:build proof

package console

import (
	_ "embed"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// origin is a server on a port of its own, which keeps what it was asked.
type origin struct {
	url  string
	host string

	mu    sync.Mutex
	asked []request
}

// request is what the tests look at of a request.
type request struct{ what, cookie, referer string }

func newOrigin(t *testing.T, h http.Handler) *origin {
	o := &origin{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.note(request{r.Method + " " + r.RequestURI, r.Header.Get("Cookie"), r.Referer()})
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	o.url, o.host = s.URL, s.Listener.Addr().String()
	return o
}

func (o *origin) note(r request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, r)
}

func (o *origin) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = nil
}

// calls returns what the origin was asked since forget, but for cors.html, and those requests.
func (o *origin) calls() (calls, pages []request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.asked {
		if strings.Contains(r.what, " /v4/cors.html") {
			pages = append(pages, r)
		} else if !strings.HasSuffix(r.what, "?settle") {
			calls = append(calls, r)
		}
	}
	return calls, pages
}

// service is the handler under test below /v4, for one caller, whose token is "good".
func service(t *testing.T) http.Handler {
	t.Helper()
	h, err := httpapi.New(httpapi.Config{
		Apps: appsvc.New(memory.New(), nil), Assets: assets.New(memory.New(), nil), BasePath: "/v4",
		Authenticate: func(r *http.Request) (httpapi.Principal, error) {
			token, err := httpapi.RequestToken(r)
			if err != nil {
				return httpapi.Principal{}, err
			}
			if token != "good" {
				return httpapi.Principal{}, httpapi.ErrUnauthenticated
			}
			return httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=editor",
				Moderates: []string{"urn:vitrine:example.test"}}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// tried puts paths beside the service that show what reaches a server and what an answer may be.
func tried(service http.Handler, gone func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v4/redirect":
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
		case "/v4/stalled":
			_, _ = io.WriteString(w, "the first half")
			_ = http.NewResponseController(w).Flush()
			fallthrough
		case "/v4/slow":
			<-r.Context().Done()
			gone()
		case "/v4/cut":
			panic(http.ErrAbortHandler)
		default:
			if strings.HasSuffix(r.URL.Path, "echo") {
				echo(w, r)
				return
			}
			service.ServeHTTP(w, r)
		}
	})
}

// echo tells any page what it was asked.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Set-Cookie", "set-by-answer=1; Path=/")
	w.Header().Set("X-Echo", "heard")
	fmt.Fprintf(w, "%s %s|%s|%s|%s", r.Method, r.RequestURI, r.Header.Get("Content-Type"), r.Header.Get("Accept"), body)
}

//go:embed consumer/consumer.html
var consumerPage string

//go:embed consumer/consumer.js
var consumerScript string

// consumer serves the page that frames cors.html, and gives a cookie, which all ports of a host get.
func consumer(easyXDM []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, kind := consumerPage, "text/html; charset=utf-8"
		switch r.URL.Path {
		case "/easyxdm.js":
			text, kind = string(easyXDM), "text/javascript"
		case "/consumer.js":
			text, kind = consumerScript, "text/javascript"
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Set-Cookie", "secret=1; Path=/")
		_, _ = io.WriteString(w, text)
	})
}
