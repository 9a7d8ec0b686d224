package httpapi

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/vitrine-go/vitrine"
)

// A 500 after a panic has nothing of the response that the handler had begun.
func TestAPanicLeavesNothingOfTheAnswer(t *testing.T) {
	h, err := New(Config{Log: slog.New(slog.DiscardHandler), Authenticate: func(*http.Request) (Principal, error) {
		return Principal{Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=a"}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	headers := []string{"Etag", "Link", "Location", "Vary"}
	h.(*handler).router = newRouter("", assetPrefix+"/", []route{get("/bug", func(c *call) error {
		for _, name := range headers {
			c.w.Header()[name] = []string{`"x"`}
		}
		c.cacheAs(immutable)
		c.out = append(c.out, `{"apps":[`...)
		panic("a bug")
	}, 0)})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/bug", nil))
	if w.Code != 500 || w.Body.String() != `{"error":"internal error","code":"internal"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, name := range headers {
		if w.Header().Get(name) != "" {
			t.Errorf("500 with %v", w.Header())
		}
	}
	if cache := w.Header().Get("Cache-Control"); cache != "private, no-cache" {
		t.Errorf("500 with the Cache-Control %s", cache)
	}
}
