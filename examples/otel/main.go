// Command otel shows traces and metrics by OpenTelemetry: a span and a duration for each request and for each
// transaction of the store. Set an exporter with otel.SetTracerProvider and otel.SetMeterProvider, for instance by
// go.opentelemetry.io/contrib/exporters/autoexport.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func main() {
	handler, err := observed(memory.New())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("open http://127.0.0.1:8082/apps/")
	log.Fatal(http.ListenAndServe("127.0.0.1:8082", handler))
}

// observed returns the API of apps on a store, with a span and a duration for each request and each transaction.
func observed(db storage.Store) (http.Handler, error) {
	tracer, meter := otel.Tracer("vitrine"), otel.Meter("vitrine")
	requests, err := meter.Float64Histogram("http.server.request.duration", metric.WithUnit("s"))
	if err != nil {
		return nil, err
	}
	transactions, err := meter.Float64Histogram("vitrine.store.duration", metric.WithUnit("s"))
	if err != nil {
		return nil, err
	}
	db = storage.Observed(db, func(ctx context.Context, space string) (context.Context, func(error)) {
		name, begun := "view", time.Now()
		if space != "" {
			name = "update" // the names of spaces have those of networks and libraries: too many for a metric
		}
		ctx, span := tracer.Start(ctx, name, trace.WithAttributes(attribute.String("vitrine.space", space)))
		return ctx, func(err error) {
			_, told := errors.AsType[*vitrine.Error](err) // such as one for an app that does not exist
			failed := err != nil && !told
			if failed {
				span.SetStatus(codes.Error, err.Error())
			}
			span.End()
			transactions.Record(ctx, time.Since(begun).Seconds(), metric.WithAttributes(
				attribute.String("vitrine.transaction", name), attribute.Bool("error", failed)))
		}
	})
	api, err := httpapi.New(httpapi.Config{
		Apps: appsvc.New(db, nil),
		Authenticate: func(*http.Request) (httpapi.Principal, error) { // everybody is me: see examples/embed
			const network = "urn:vitrine:example.test"
			return httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}}},
				nil
		},
		Observer: func(ctx context.Context, e httpapi.Exchange) {
			all := []attribute.KeyValue{attribute.String("http.request.method", e.Method),
				attribute.String("http.route", e.Route), attribute.Int("http.response.status_code", e.Status)}
			span := trace.SpanFromContext(ctx)
			span.SetName(e.Method + " " + e.Route)
			span.SetAttributes(append(all, attribute.String("vitrine.caller", e.Caller))...)
			requests.Record(ctx, e.Duration.Seconds(), metric.WithAttributes(all...))
		},
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, span := tracer.Start(r.Context(), r.Method, trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		api.ServeHTTP(w, r.WithContext(ctx))
	}), err
}
