package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// An import may take longer than the server gives any answer, over HTTP/2 as well, where the time to
// write ends a request that is still being read.
func TestAnImportOverHTTP2MayTakeLong(t *testing.T) {
	w := reviewWorld(t)
	s := httptest.NewUnstartedServer(w.handler)
	s.EnableHTTP2 = true
	s.Config.WriteTimeout = 400 * time.Millisecond
	s.StartTLS()
	defer s.Close()
	r, err := http.NewRequest("POST", s.URL+importPath, &slowly{lines: 8, pause: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "svctoken "+w.token(editor))
	r.Header.Set("Content-Type", "application/x-ndjson")
	answer, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != 200 || answer.ProtoMajor != 2 {
		t.Errorf("%s %s", answer.Proto, answer.Status)
	}
}
