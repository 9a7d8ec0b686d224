//go:build proof && linux

package hygiene

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

var wantedRequests = flag.Int("requests", 0, "how many requests the server is sent; 0 = the short form")

// manyRequests looks at what the process holds after some requests and again after twice as many.
func manyRequests(s *server) error {
	n := 1500
	if *wantedRequests > 0 {
		n = *wantedRequests / 2
	}
	if err := s.requests(n); err != nil {
		return err
	}
	before, err := s.probe()
	if err != nil {
		return err
	}
	if err := s.requests(n); err != nil {
		return err
	}
	after, err := s.probe()
	if err != nil {
		return err
	}
	// Some room for buffers that are kept, and for what a cache is filled with.
	if grown := after.heap - before.heap; grown > 3<<20 {
		return fmt.Errorf("%d requests have added %d bytes to a heap of %d", n, grown, before.heap)
	}
	s.figure = fmt.Sprintf("%d requests: a heap of %d bytes after the first half, %d after the second", 2*n, before.heap, after.heap)
	return s.returned(before)
}

// requests sends reads, refusals and requests that lead nowhere over connections that are kept.
func (s *server) requests(n int) error {
	const hands = 4
	transport := &http.Transport{MaxIdleConnsPerHost: hands}
	defer transport.CloseIdleConnections()
	kept := &http.Client{Transport: transport}
	all := []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/apps/?limit=5", "", 200}, {"GET", "/apps/none", "", 404}, {"POST", "/apps/", `{"title":`, 400},
		{"GET", "/openapi.json", "", 200}, {"PUT", "/apps/none/tags/x", `{"appVersion":"0"}`, 404}, {"DELETE", "/apps/", "", 405},
		{"POST", "/x/reviews/import?dryRun=true", strings.Repeat(fmt.Sprintf(record, "YQ=="), 3), 415},
	}
	errs := make([]error, hands)
	var group sync.WaitGroup
	for hand := range hands {
		group.Go(func() {
			for i := hand; i < n && errs[hand] == nil; i += hands {
				r := all[i%len(all)]
				errs[hand] = s.send(kept, r.method, r.path, r.body, r.want)
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *server) send(kept *http.Client, method, path, body string, want int) error {
	r, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "svctoken "+s.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header["Idempotency-Key"] = nil // not sent; a request on a connection that the server has just closed is sent again
	if strings.Contains(path, "/x/") {
		r.Header.Set("Content-Type", "text/csv")
	}
	answer, err := kept.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != want {
		return fmt.Errorf("%s %s: %d, want %d; %v", method, path, answer.StatusCode, want, err)
	}
	return nil
}
