package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

func TestAServiceThatIsNilIsAMistake(t *testing.T) {
	tokens, err := httpapi.NewTokens([]byte("32 secret bytes, kept by the host"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]httpapi.Config{
		"Apps":    {Apps: (*appsvc.Service)(nil), Authenticate: tokens.Authenticate},
		"Assets":  {Assets: (*assets.Service)(nil), Authenticate: tokens.Authenticate},
		"Reviews": {Reviews: (*reviews.Service)(nil), Authenticate: tokens.Authenticate},
	} {
		if _, err := httpapi.New(c); err == nil || !strings.Contains(err.Error(), name+" is a nil *") {
			t.Errorf("%s: %v", name, err)
		}
	}
	h, err := httpapi.New(httpapi.Config{Authenticate: func(*http.Request) (httpapi.Principal, error) { return editor, nil }})
	if err != nil {
		t.Fatalf("no service at all: %v", err)
	}
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, httptest.NewRequest("GET", "/x/me", nil)); !strings.Contains(w.Body.String(), `"absent":["apps","assets","reviews"]`) {
		t.Error(w.Body)
	}
}
