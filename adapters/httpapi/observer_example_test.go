package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// metrics counts requests in the text format of Prometheus. A route, a method and a status take few
// values, so this does not grow.
type metrics struct {
	mu  sync.Mutex
	all map[string]figures // by labels
}

type figures struct {
	requests, bytes int64
	time            time.Duration
}

func (m *metrics) observe(_ context.Context, e httpapi.Exchange) {
	labels := fmt.Sprintf("{route=%q,method=%q,status=\"%d\"}", e.Route, e.Method, e.Status)
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.all[labels]
	f.requests, f.bytes, f.time = f.requests+1, f.bytes+e.Bytes, f.time+e.Duration
	m.all[labels] = f
}

// ServeHTTP answers GET /metrics, on an address that clients cannot reach.
func (m *metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	m.write(w)
}

func (m *metrics) write(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, metric := range []struct {
		name  string
		value func(figures) any
	}{
		{"vitrine_requests_total", func(f figures) any { return f.requests }},
		{"vitrine_answer_bytes_total", func(f figures) any { return f.bytes }},
		{"vitrine_request_seconds_total", func(f figures) any { return f.time.Seconds() }},
	} {
		fmt.Fprintf(w, "# TYPE %s counter\n", metric.name)
		for _, labels := range slices.Sorted(maps.Keys(m.all)) {
			fmt.Fprintf(w, "%s%s %v\n", metric.name, labels, metric.value(m.all[labels]))
		}
	}
}

// An Observer that counts requests for Prometheus, in a few lines of the embedder's own.
func ExampleObserver() {
	m := &metrics{all: map[string]figures{}}
	handler, err := httpapi.New(httpapi.Config{
		Authenticate: func(*http.Request) (httpapi.Principal, error) { return httpapi.Principal{}, nil },
		Observer: func(ctx context.Context, e httpapi.Exchange) {
			e.Duration = 2 * time.Millisecond // so that this example always prints the same
			m.observe(ctx, e)
		},
	})
	if err != nil {
		panic(err)
	}
	for _, path := range []string{"/healthz", "/healthz", "/nothing"} {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
	}
	m.write(os.Stdout)
	// Output:
	// # TYPE vitrine_requests_total counter
	// vitrine_requests_total{route="",method="GET",status="401"} 1
	// vitrine_requests_total{route="/healthz",method="GET",status="200"} 2
	// # TYPE vitrine_answer_bytes_total counter
	// vitrine_answer_bytes_total{route="",method="GET",status="401"} 122
	// vitrine_answer_bytes_total{route="/healthz",method="GET",status="200"} 30
	// # TYPE vitrine_request_seconds_total counter
	// vitrine_request_seconds_total{route="",method="GET",status="401"} 0.002
	// vitrine_request_seconds_total{route="/healthz",method="GET",status="200"} 0.004
}
