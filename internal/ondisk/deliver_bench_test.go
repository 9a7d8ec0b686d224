package ondisk

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
)

// BenchmarkDelivery delivers five apps of 5 KB from SQLite over HTTP, whole and as a 304, beside a handler that answers
// the same bytes with the same headers; in one language, and in the second one of two. Run it with -cpu 1.
func BenchmarkDelivery(b *testing.B) {
	text := strings.Repeat("y", 200)
	b.Run("languages=1", func(b *testing.B) { benchmarkDelivery(b, `{"text":"`+text+`"}`, "") })
	b.Run("languages=2", func(b *testing.B) {
		benchmarkDelivery(b, `{"text":{"lang:en":"`+text+`","lang:de":"`+text+`"}}`, "&lang=de", "en", "de")
	})
}

func benchmarkDelivery(b *testing.B, config, query string, languages ...string) {
	db, _ := open(b)
	svc := appsvc.New(db, nil)
	if err := svc.SetLanguages(b.Context(), languages); err != nil {
		b.Fatal(err)
	}
	ann := vitrine.Caller{URN: "urn:vitrine:example.test:user=ann", Moderates: []string{"urn:vitrine:example.test"},
		Components: true}
	if _, err := svc.As(ann).CreateComponent(b.Context(),
		appsvc.CreateComponentRequest{
			Manifest: strings.NewReader(`{"name":"c","version":"1","main":"/c.js",` +
				`"configSchema":{"properties":{"size":{"default":3}}},"note":"` + strings.Repeat("x", 900) +
				`"}`)}); err != nil {
		b.Fatal(err)
	}
	for i := range 5 {
		in := appsvc.CreateAppRequest{Title: fmt.Sprint("App ", i), Groups: []string{"urn:vitrine:example.test:site=a"}}
		for range 4 {
			in.Elements = append(in.Elements,
				appsvc.NewElement{Component: appsvc.ComponentRef{Name: "c", Version: "1"},
					Config: []byte(config)})
		}
		app, err := svc.As(ann).CreateApp(b.Context(), in)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := svc.As(ann).PutTag(b.Context(),
			appsvc.PutTagRequest{AppID: app.ID, Name: "production", Version: vitrine.Latest}); err != nil {
			b.Fatal(err)
		}
		query += "&app=" + app.ID
	}
	tokens, err := httpapi.NewTokens([]byte(strings.Repeat("k", 32)), nil)
	if err != nil {
		b.Fatal(err)
	}
	key, err := tokens.Sign(
		httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=page",
			Reads: []string{"urn:vitrine:example.test"}, TagsOnly: true, Tags: []string{"production"}}},
		time.Now().Add(time.Hour))
	if err != nil {
		b.Fatal(err)
	}
	h, err := httpapi.New(httpapi.Config{Apps: svc, Authenticate: tokens.Authenticate, PublicCache: 30 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	path := "/x/public/production?key=" + key + query
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "http://example.test"+path, nil))
	whole, etag := w.Body.Bytes(), w.Header().Get("Etag")
	bare := http.HandlerFunc(func(a http.ResponseWriter, r *http.Request) {
		for name, values := range w.Header() {
			a.Header()[name] = values
		}
		if r.Header.Get("If-None-Match") == etag {
			delete(a.Header(), "Content-Length")
			a.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = a.Write(whole)
	})
	for _, side := range []struct {
		name string
		h    http.Handler
	}{{"vitrine", h}, {"bare", bare}} {
		for _, known := range []string{"", etag} {
			b.Run(fmt.Sprintf("%s/known=%t", side.name, known != ""), func(b *testing.B) {
				server := httptest.NewServer(side.h)
				defer server.Close()
				for b.Loop() {
					r, _ := http.NewRequest("GET", server.URL+path, nil)
					r.Host = "example.test"
					if known != "" {
						r.Header.Set("If-None-Match", known)
					}
					r.Header.Set("Accept-Encoding", "identity")
					answer, err := http.DefaultClient.Do(r)
					if err != nil {
						b.Fatal(err)
					}
					n, _ := io.Copy(io.Discard, answer.Body)
					_ = answer.Body.Close()
					if (answer.StatusCode == 304) != (known != "") || known == "" && n != int64(len(whole)) {
						b.Fatal(answer.StatusCode, n)
					}
				}
				b.ReportMetric(float64(len(whole)), "B")
			})
		}
	}
}
