package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// An import may take longer than the server gives any answer, over HTTP/2 as well, where the time to
// write ends a request that is still being read.
func TestAnImportOverHTTP2MayTakeLong(t *testing.T) {
	w := reviewWorld(t)
	// An import takes twice the time. A busy machine may need all of the time before the import begins, so
	// then there is more of both.
	const most = 20 * time.Second
	for timeout := 400 * time.Millisecond; ; timeout *= 2 {
		answered, err := importOverHTTP2(t, w, timeout)
		if err == nil {
			return
		}
		if timeout > most || answered {
			t.Fatal(err)
		}
	}
}

// importOverHTTP2 imports for twice as long as the server's timeout for writing. It returns nil if the import succeeds. If
// not, answered reports whether there was a response, and another one than the 400 of an import that was cut off.
func importOverHTTP2(t *testing.T, w *world, timeout time.Duration) (answered bool, err error) {
	const pause = 100 * time.Millisecond
	s := httptest.NewUnstartedServer(w.handler)
	s.EnableHTTP2 = true
	s.Config.WriteTimeout = timeout
	s.StartTLS()
	defer s.Close()
	r, err := http.NewRequest("POST", s.URL+importPath, &slowly{lines: int(2 * timeout / pause), pause: pause})
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "svctoken "+w.token(editor))
	r.Header.Set("Content-Type", "application/x-ndjson")
	answer, err := s.Client().Do(r)
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != 200 || answer.ProtoMajor != 2 {
		return answer.StatusCode != 400, fmt.Errorf("%s %s, the server has %s to write", answer.Proto, answer.Status, timeout)
	}
	return false, nil
}
