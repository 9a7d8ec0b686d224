//go:build proof && linux

package hygiene

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// panics checks that a request is answered with 500 and a request id, that the answer says nothing
// else, and that the log has the rest under this id.
func (s *server) panics(method, path, media string, body io.Reader) error {
	r, err := http.NewRequest(method, s.URL+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "svctoken "+s.token)
	r.Header.Set("Content-Type", media)
	answer, err := s.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	id := answer.Header.Get("X-Request-Id")
	if answer.StatusCode != 500 || string(text) != `{"error":"internal error","code":"internal"}` || id == "" {
		return fmt.Errorf("a panic is answered with %d %s and request id %q", answer.StatusCode, text, id)
	}
	if all := fmt.Sprint(answer.Header); strings.Contains(all, "secret") || strings.Contains(all, s.token) {
		return fmt.Errorf("the headers of the answer tell: %s", all)
	}
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(time.Millisecond) {
		for line := range strings.Lines(s.Log()) {
			if strings.Contains(line, id) && strings.Contains(line, "secret of the panic") && strings.Contains(line, "goroutine") {
				return nil
			}
		}
	}
	return fmt.Errorf("the log says nothing of %s: %s", id, s.said())
}

// panicInHandler panics in the middle of a transaction.
func panicInHandler(s *server) error {
	for range 50 {
		if err := s.panics("POST", "/apps/", "application/json", strings.NewReader(strings.Replace(oneApp, "One", "panic", 1))); err != nil {
			return err
		}
	}
	return s.alive()
}

// panicInWorker makes the workers of an import panic: those of many lines, and that of a long line.
func panicInWorker(s *server) error {
	lines := strings.Repeat(fmt.Sprintf(record, "YQ=="), 2<<20/len(record))
	for name, file := range map[string]string{"many lines": lines, "a long line": strings.Repeat(" ", 2<<20) + "1\n"} {
		for range 3 {
			if err := s.panics("POST", "/x/reviews/import", "application/x-ndjson", strings.NewReader(file)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return s.alive()
}
