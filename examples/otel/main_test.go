package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/vitrine-go/vitrine/storage/memory"
)

// A request has a span with its route, above those of its transactions, and both have durations.
func TestSpansAndDurations(t *testing.T) {
	spans, reader := tracetest.NewInMemoryExporter(), metric.NewManualReader()
	otel.SetTracerProvider(trace.NewTracerProvider(trace.WithSyncer(spans)))
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	handler, err := observed(memory.New())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*http.Request{
		httptest.NewRequest("POST", "/apps/",
			strings.NewReader(`{"title": "Winter", "groups": ["urn:vitrine:example.test"]}`)),
		httptest.NewRequest("GET", "/apps/none", nil),
	} {
		r.Header.Set("Content-Type", "application/json")
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	got, parents := []string{}, map[string]string{}
	for _, s := range spans.GetSpans() {
		parents[s.SpanContext.SpanID().String()] = s.Name
	}
	for _, s := range spans.GetSpans() {
		if s.Status.Code == codes.Error {
			t.Errorf("%s is an error, also that an app does not exist: %s", s.Name, s.Status.Description)
		}
		got = append(got, strings.TrimSpace(parents[s.Parent.SpanID().String()]+" > "+s.Name))
	}
	for _, want := range []string{"> POST /apps/", "> GET /apps/{id}", "POST /apps/ > update",
		"GET /apps/{id} > view"} {
		if !slices.Contains(got, want) {
			t.Errorf("there is no span %q in %q", want, got)
		}
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	counts := map[string]uint64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			for _, point := range m.Data.(metricdata.Histogram[float64]).DataPoints {
				counts[m.Name] += point.Count
			}
		}
	}
	if counts["http.server.request.duration"] != 2 || counts["vitrine.store.duration"] < 2 {
		t.Errorf("the durations count %v", counts)
	}
}
