package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// metrics are the figures that Prometheus reads at -metrics-addr. Without that flag nothing serves them, and requests
// are not counted.
type metrics struct {
	registry  *prometheus.Registry
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	bytes     *prometheus.CounterVec
	failures  *prometheus.CounterVec
	under     prometheus.Gauge
	reloads   *prometheus.GaugeVec
}

// secondsOfRequests are the bounds of the buckets of durations: reads take microseconds, imports minutes.
var secondsOfRequests = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10,
	30, 60, 300}

// heapLive is the memory that the last garbage collection found in use. Unlike other figures of memory it does not
// depend on when the collector runs, so that it shows a leak.
var heapLive = collectors.GoRuntimeMetricsRule{Matcher: regexp.MustCompile("^/gc/heap/live:bytes$")}

// newMetrics returns the figures of requests, and those of the Go runtime and of the process.
func newMetrics() *metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(heapLive)),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	in := promauto.With(registry)
	in.NewGauge(prometheus.GaugeOpts{
		Name: "vitrine_build_info", Help: "Always 1; the label names the build.",
		ConstLabels: prometheus.Labels{"version": versionText()},
	}).Set(1)
	m := &metrics{
		registry: registry,
		requests: in.NewCounterVec(prometheus.CounterOpts{
			Name: "vitrine_http_requests_total",
			Help: "Requests that have ended; code is the status of the response, 0 where the connection was dropped " +
				"without one.",
		}, []string{"method", "route", "code"}),
		durations: in.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "vitrine_http_request_duration_seconds",
			Help:    "Time from the headers of a request to the end of its response, event streams left out.",
			Buckets: secondsOfRequests,
		}, []string{"method", "route"}),
		bytes: in.NewCounterVec(prometheus.CounterOpts{
			Name: "vitrine_http_response_bytes_total", Help: "Bytes of the bodies of responses, as they went out.",
		}, []string{"method", "route"}),
		failures: in.NewCounterVec(prometheus.CounterOpts{
			Name: "vitrine_http_refused_total",
			Help: "Requests that were answered with an error, by its code, such as unauthorized or too_many.",
		}, []string{"reason"}),
		under: in.NewGauge(prometheus.GaugeOpts{
			Name: "vitrine_http_requests_in_flight", Help: "Requests that are under way.",
		}),
		reloads: in.NewGaugeVec(prometheus.GaugeOpts{
			Name: "vitrine_reload_failed",
			Help: "1 where the last SIGHUP could not read the file again, and what was read before stays in force; " +
				"0 otherwise.",
		}, []string{"what"}),
	}
	// Prometheus sees no increase from a counter that is absent to its first value, so an alert would miss the first
	// event. Each counter of an alert, and one of each other family, is 0 from the start.
	for _, reason := range []string{"full", "internal", "unauthorized", "unavailable", "unknown_outcome"} {
		m.failures.WithLabelValues(reason)
	}
	const method, route = http.MethodGet, "/healthz"
	m.requests.WithLabelValues(method, route, "200")
	m.requests.WithLabelValues(method, route, "503")
	m.durations.WithLabelValues(method, route)
	m.bytes.WithLabelValues(method, route)
	return m
}

// before returns an observer that counts each request, and then calls next unless it is nil.
func (m *metrics) before(next httpapi.Observer) httpapi.Observer {
	return func(ctx context.Context, e httpapi.Exchange) {
		m.requests.WithLabelValues(e.Method, e.Route, strconv.Itoa(e.Status)).Inc()
		if !e.Stream { // a stream is open for as long as its client wants
			m.durations.WithLabelValues(e.Method, e.Route).Observe(e.Duration.Seconds())
		}
		m.bytes.WithLabelValues(e.Method, e.Route).Add(float64(e.Bytes))
		if e.Code != "" {
			m.failures.WithLabelValues(e.Code).Inc()
		}
		if next != nil {
			next(ctx, e)
		}
	}
}

// number is what the value of a figure may be.
type number interface{ int | int64 | uint64 | float64 }

// gauge adds a figure whose value is read at each scrape. Alerts and dashboards depend on the names of figures, so a
// name is never changed.
func gauge[N number](m *metrics, name, help string, value func() N) {
	promauto.With(m.registry).NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help},
		func() float64 { return float64(value()) })
}

// counter is gauge for a figure that only grows.
func counter[N number](m *metrics, name, help string, value func() N) {
	promauto.With(m.registry).NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
		func() float64 { return float64(value()) })
}

// limit adds a figure that does not change while the process runs.
func limit[N number](m *metrics, name, help string, value N) {
	gauge(m, name, help, func() N { return value })
}

// handler serves GET /metrics.
func (m *metrics) handler(log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), MaxRequestsInFlight: 4}))
	return mux
}

// serve serves /metrics and nothing else to those who connect to l, until stop is called.
func (m *metrics) serve(l net.Listener, log *slog.Logger) (stop func()) {
	s := newServer(m.handler(log), log)
	s.WriteTimeout = 30 * time.Second
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics can no longer be served", "cause", err.Error())
		}
	}()
	log.Info("metrics are served", "url", "http://"+dialable(l.Addr().String())+"/metrics")
	return func() { _ = s.Close() } // a response that is cut off here does no harm: Prometheus retries
}
