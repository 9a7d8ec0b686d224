package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/webhook"
)

// metricsOf starts a server with metrics and returns where they are.
func metricsOf(t *testing.T, dir string, args ...string) (s *testServer, address string) {
	t.Helper()
	s = start(t, dir, nil, append([]string{"-metrics-addr", "127.0.0.1:0"}, args...)...)
	named := regexp.MustCompile(`url=(http://127\.0\.0\.1:\d+/metrics)`)
	s.logs("/metrics")
	return s, named.FindStringSubmatch(s.stderr.String())[1]
}

// readMetrics returns the values by name and labels, as they stand in the text form.
func readMetrics(t *testing.T, address string) map[string]float64 {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("%s: %s, %v", address, answer.Status, err)
	}
	all := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		line = strings.TrimSpace(line)
		at := strings.LastIndex(line, " ")
		if all[line[:at]], err = strconv.ParseFloat(line[at+1:], 64); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	return all
}

func TestMetrics(t *testing.T) {
	dir := t.TempDir()
	s, address := metricsOf(t, dir, "-db", "v.db", "-base-path", "/v4", "-access-log")
	token := newToken(t, dir, nil, "-db", "v.db")
	s.do(token, "POST", "/v4/apps/", oneApp, 201)
	for range 3 {
		s.do(token, "GET", "/v4/apps/?limit=1", "", 200)
	}
	s.do("junk", "GET", "/v4/apps/", "", 401)
	s.do(token, "GET", "/v4/apps/none", "", 404)
	s.do(token, "GET", "/nothing", "", 404)
	wanted := map[string]float64{
		`vitrine_http_requests_total{code="201",method="POST",route="/v4/apps/"}`:                1,
		`vitrine_http_requests_total{code="200",method="GET",route="/v4/apps/"}`:                 3,
		`vitrine_http_requests_total{code="401",method="GET",route="/v4/apps/"}`:                 1,
		`vitrine_http_requests_total{code="404",method="GET",route="/v4/apps/{id}"}`:             1,
		`vitrine_http_requests_total{code="404",method="GET",route=""}`:                          1,
		`vitrine_http_request_duration_seconds_count{method="GET",route="/v4/apps/"}`:            4,
		`vitrine_http_request_duration_seconds_bucket{method="GET",route="/v4/apps/",le="+Inf"}`: 4,
		`vitrine_http_refused_total{reason="unauthorized"}`:                                      1,
		`vitrine_http_refused_total{reason="not_found"}`:                                         2,
		`vitrine_http_requests_in_flight`:                                                        0,
		`vitrine_uploads_in_flight`:                                                              0,
		`vitrine_http_memory_bytes`:                                                              0,
	}
	var have map[string]float64
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // a request is counted after its response
		var wrong []string
		have = readMetrics(t, address)
		for name, want := range wanted {
			if have[name] != want {
				wrong = append(wrong, fmt.Sprintf("%s is %v, want %v", name, have[name], want))
			}
		}
		if len(wrong) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal(strings.Join(wrong, "\n"))
		}
	}
	for _, name := range []string{
		"vitrine_sqlite_commit_updates_sum", "vitrine_sqlite_commit_updates_count",
		`vitrine_sqlite_commit_updates_bucket{le="1"}`, "vitrine_sqlite_log_bytes", "vitrine_connections_open",
		"go_goroutines", "process_open_fds",
		"vitrine_http_request_duration_seconds_sum{method=\"GET\",route=\"/v4/apps/\"}",
		`vitrine_http_response_bytes_total{method="GET",route="/v4/apps/"}`,
	} {
		if have[name] <= 0 {
			t.Errorf("%s is %v, want more than 0", name, have[name])
		}
	}
	if !strings.Contains(s.stderr.String(), "msg=answered") {
		t.Error("the access log is not written beside the metrics")
	}
	for path, status := range map[string]int{
		"/": 404, "/healthz": 404, "/metrics/": 404, "/debug/pprof/": 404,
		"/apps/": 404,
	} {
		answer, err := http.Get(strings.TrimSuffix(address, "/metrics") + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != status {
			t.Errorf("%s at the address of the metrics: %s", path, answer.Status)
		}
	}
	s.do(token, "GET", "/metrics", "", 404) // not where clients are
	s.stop()
}

// GOMEMLIMIT bounds the requests that are under way, too.
func TestMemoryOfRequests(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "set")
	for limit, want := range map[int64]float64{100 << 20: 50 << 20, 4 << 30: 256 << 20} {
		before := debug.SetMemoryLimit(limit)
		defer debug.SetMemoryLimit(before)
		s, address := metricsOf(t, t.TempDir(), "-db", "memory:")
		if have := readMetrics(t, address)["vitrine_http_memory_limit_bytes"]; have != want {
			t.Errorf("with %d bytes for the process, requests have %v, want %v", limit, have, want)
		}
		s.stop()
	}
}

func TestMetricsOfReloads(t *testing.T) {
	run := &testServer{t: t}
	s := &server{log: slog.New(slog.NewTextHandler(&run.stderr, nil)), figures: newMetrics()}
	faults := make(chan error, 1)
	defer s.reload("keys", func() error { return nil })()
	defer s.reload("webhooks", func() error { return <-faults })()
	web := httptest.NewServer(s.figures.handler(s.log))
	defer web.Close()
	says := map[bool]string{true: "the webhooks were read again", false: "the webhooks stay as they were"}
	for i, fault := range []error{nil, errors.New("no JSON"), nil} {
		faults <- fault
		run.hangup(says[fault == nil])
		have := readMetrics(t, web.URL+"/metrics")
		keys, webhooks := have[`vitrine_reload_failed{what="keys"}`], have[`vitrine_reload_failed{what="webhooks"}`]
		if keys != 0 || webhooks != oneIf(fault != nil) {
			t.Errorf("after reload %d with %v: keys %v, webhooks %v", i, fault, keys, webhooks)
		}
	}
}

func TestMetricsOfDeliveries(t *testing.T) {
	m := newMetrics()
	var all []webhook.Progress
	m.ofDeliveries(func() []webhook.Progress { return all })
	server := httptest.NewServer(m.handler(slog.New(slog.DiscardHandler)))
	defer server.Close()
	have := readMetrics(t, server.URL+"/metrics")
	if lag, told := have[`vitrine_webhook_lag_seconds{webhook="cdn"}`]; told ||
		have["vitrine_webhooks_delivering"] != 0 {
		t.Errorf("a process that does not deliver tells of a lag of %v s", lag)
	}
	all = []webhook.Progress{{Endpoint: "cdn", Waiting: time.Now().Add(-time.Hour)}, {Endpoint: "log", Disabled: true},
		{Endpoint: "ahead", Waiting: time.Now().Add(time.Hour)}}
	have = readMetrics(t, server.URL+"/metrics")
	for name, want := range map[string]float64{
		"vitrine_webhooks_delivering":                  1,
		`vitrine_webhook_lag_seconds{webhook="log"}`:   0,
		`vitrine_webhook_lag_seconds{webhook="ahead"}`: 0,
		`vitrine_webhook_disabled{webhook="log"}`:      1,
		`vitrine_webhook_disabled{webhook="cdn"}`:      0,
	} {
		if value, told := have[name]; !told || value != want {
			t.Errorf("%s is %v, want %v", name, value, want)
		}
	}
	if lag := have[`vitrine_webhook_lag_seconds{webhook="cdn"}`]; lag < 3600 || lag > 4000 {
		t.Errorf("a change of an hour ago has a lag of %v s", lag)
	}
}

func TestMetricsOfWebhooks(t *testing.T) {
	m := newMetrics()
	observe, known := m.ofWebhooks()
	known([]webhook.Endpoint{{Name: "cdn"}})
	server := httptest.NewServer(m.handler(slog.New(slog.DiscardHandler)))
	defer server.Close()
	at := time.UnixMilli(1_700_000_000_500)
	for _, step := range []struct {
		outcome webhook.Outcome
		want    map[string]float64
	}{
		{"", map[string]float64{`vitrine_webhook_attempts_total{outcome="retried",webhook="cdn"}`: 0,
			`vitrine_webhook_attempts_total{outcome="skipped",webhook="cdn"}`: 0}},
		{webhook.Retried, map[string]float64{`vitrine_webhook_attempts_total{outcome="retried",webhook="cdn"}`: 1}},
		{webhook.Retried, map[string]float64{`vitrine_webhook_attempts_total{outcome="retried",webhook="cdn"}`: 2}},
		{webhook.Delivered, map[string]float64{`vitrine_webhook_attempts_total{outcome="delivered",webhook="cdn"}`: 1,
			`vitrine_webhook_delay_seconds_count{webhook="cdn"}`: 1}},
		{webhook.Skipped,
			map[string]float64{`vitrine_webhook_attempts_total{outcome="skipped",webhook="cdn"}`: 1,
				`vitrine_webhook_delay_seconds_count{webhook="cdn"}`: 1}},
	} {
		if step.outcome != "" { // that of a process that has just begun
			observe(webhook.Attempt{Endpoint: "cdn", Type: "tag.set", At: at, Status: 200, Outcome: step.outcome})
		}
		have := readMetrics(t, server.URL+"/metrics")
		for name, want := range step.want {
			if value, there := have[name]; !there || value != want {
				t.Errorf("after %s: %s is %v, want %v", step.outcome, name, value, want)
			}
		}
	}
}
