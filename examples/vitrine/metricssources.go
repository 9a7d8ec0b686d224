package main

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/adapters/webhook"
	"github.com/vitrine-go/vitrine/storage/postgres"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// The figures of this file are kept by the parts of the server themselves, and are read at each scrape. Each limit has
// a figure too, so that an alert need not repeat it.

// ofHandler registers the work that is under way in a handler of httpapi, how many event streams are open, and how far
// they are behind.
func (m *metrics) ofHandler(h http.Handler, s *httpapi.Streams) {
	load := func() httpapi.Load {
		l, _ := httpapi.LoadOf(h)
		return l
	}
	limits, _ := httpapi.LimitsOf(h)
	gauge(m, "vitrine_http_memory_bytes", "Memory of the bodies being read and the responses being written.",
		func() int64 { return load().Memory })
	limit(m, "vitrine_http_memory_limit_bytes",
		"As much memory as they may take; beyond it requests are answered with 503.", limits.Memory)
	gauge(m, "vitrine_uploads_in_flight", "Imports of reviews that are under way.",
		func() int { return load().Uploads })
	limit(m, "vitrine_uploads_limit", "As many imports as may be under way; beyond it they are answered with 429.",
		limits.Uploads)
	gauge(m, "vitrine_exports_in_flight", "Exports of reviews that are under way.",
		func() int { return load().Exports })
	limit(m, "vitrine_exports_limit", "As many exports as may be under way; beyond it they are answered with 503.",
		limits.Exports)
	limit(m, "vitrine_event_streams_limit",
		"As many event streams as may be open; beyond it they are answered with 429.", limits.Streams)
	gauge(m, "vitrine_event_streams_open", "Event streams of changes.", s.Count)
	gauge(m, "vitrine_event_streams_lag_seconds",
		"For how long the event stream that is furthest behind has had changes to send; 0 when all are sent.",
		func() float64 { return s.Lag().Seconds() })
}

// ofConnections registers how many connections are open.
func (m *metrics) ofConnections(all *connections) {
	gauge(m, "vitrine_connections_open", "Connections of clients, those of event streams left out.",
		func() int { open, _ := all.count(); return open })
	gauge(m, "vitrine_connections_idle", "Connections of clients without a request under way.",
		func() int { _, idle := all.count(); return idle })
	limit(m, "vitrine_connections_limit",
		"As many connections as may be open before idle ones are closed and others wait.", all.most)
}

// ofCertificate registers when the certificate expires.
func (m *metrics) ofCertificate(c *certificate) {
	gauge(m, "vitrine_tls_certificate_expires_seconds", "Unix time at which the certificate expires.",
		func() int64 { return c.now.Load().Leaf.NotAfter.Unix() })
}

// ofWebhooks registers the outcomes of deliveries. It returns a function that counts them, and one that is called with
// the webhooks that there are, so that their counters are 0 from the start, see newMetrics.
func (m *metrics) ofWebhooks() (observe func(webhook.Attempt), known func([]webhook.Endpoint)) {
	attempts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vitrine_webhook_attempts_total",
		Help: "Attempts to deliver a change, by what became of them: delivered, retried, skipped or disabled.",
	}, []string{"webhook", "outcome"})
	delay := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "vitrine_webhook_delay_seconds", Help: "Time from a change to its delivery.",
		Buckets: []float64{.01, .05, .25, 1, 5, 15, 60, 300, 1800, 7200, 28800, 86400},
	}, []string{"webhook"})
	m.registry.MustRegister(attempts, delay)
	observe = func(a webhook.Attempt) {
		attempts.WithLabelValues(a.Endpoint, string(a.Outcome)).Inc()
		if a.Outcome == webhook.Delivered {
			delay.WithLabelValues(a.Endpoint).Observe(time.Since(a.At).Seconds())
		}
	}
	known = func(endpoints []webhook.Endpoint) {
		for _, e := range endpoints {
			for _, o := range []webhook.Outcome{webhook.Delivered, webhook.Retried, webhook.Skipped, webhook.Disabled} {
				attempts.WithLabelValues(e.Name, string(o))
			}
			delay.WithLabelValues(e.Name)
		}
	}
	return observe, known
}

// The figures of webhooks are created at each scrape, since SIGHUP changes which webhooks there are.
var (
	webhookLag = prometheus.NewDesc("vitrine_webhook_lag_seconds",
		"Age of the oldest change that is yet to be delivered, in the process that delivers; 0 when all are "+
			"delivered, and for a webhook that is disabled.", []string{"webhook"}, nil)
	webhookDisabled = prometheus.NewDesc("vitrine_webhook_disabled",
		"1 where the receiver answered 410 and gets nothing until its url or secret changes, in the process that "+
			"delivers; 0 otherwise.", []string{"webhook"}, nil)
	webhooksHere = prometheus.NewDesc("vitrine_webhooks_delivering",
		"1 in the process that delivers, 0 in others that use the same store.", nil, nil)
)

// ofDeliveries registers the progress of the deliveries to each webhook.
func (m *metrics) ofDeliveries(progress func() []webhook.Progress) {
	m.registry.MustRegister(prometheus.CollectorFunc(func(out chan<- prometheus.Metric) {
		all := progress()
		for _, p := range all {
			lag := 0.0
			if !p.Waiting.IsZero() {
				lag = max(0, time.Since(p.Waiting).Seconds())
			}
			out <- prometheus.MustNewConstMetric(webhookLag, prometheus.GaugeValue, lag, p.Endpoint)
			out <- prometheus.MustNewConstMetric(webhookDisabled, prometheus.GaugeValue, oneIf(p.Disabled), p.Endpoint)
		}
		out <- prometheus.MustNewConstMetric(webhooksHere, prometheus.GaugeValue, oneIf(len(all) > 0))
	}))
}

// oneIf is a condition as the value of a figure.
func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// ofStore registers the figures of the store that -db names, of its disk and of its driver.
func (m *metrics) ofStore(s *roomy, name string) {
	gauge(m, "vitrine_writes_full", "1 while changes are refused, since the store has no room; 0 otherwise.",
		func() float64 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			return oneIf(s.look(ctx))
		})
	if _, ok := s.disk(); ok {
		gauge(m, "vitrine_disk_free_bytes", "Room on the disk of the store that the process may take.",
			func() int64 { now, _ := s.disk(); return now.free })
		gauge(m, "vitrine_disk_bytes", "Size of the disk of the store.",
			func() int64 { now, _ := s.disk(); return now.size })
	}
	switch db := s.Store.(type) {
	case *sqlite.DB:
		gauge(m, "vitrine_last_copy_timestamp_seconds",
			"Unix time at which `vitrine backup` began the newest copy of the store; 0 = none is known.",
			func() int64 { made, _, _ := lastCopy(name); return max(0, made.Unix()) })
		gauge(m, "vitrine_sqlite_moved",
			"1 while the file of the store is moved, deleted or replaced, so that changes are refused; 0 otherwise.",
			func() float64 { return oneIf(db.Moved() != nil) })
		m.registry.MustRegister(prometheus.CollectorFunc(func(out chan<- prometheus.Metric) {
			out <- commitSizes(db.Stats())
		}))
		gauge(m, "vitrine_sqlite_log_bytes", "Bytes of the write-ahead log that are in use.",
			func() int64 { return db.Stats().LogBytes })
		counter(m, "vitrine_sqlite_checkpoints_total", "How often the write-ahead log was copied into the file.",
			func() uint64 { return db.Stats().Checkpoints })
		gauge(m, "vitrine_sqlite_readers", "Connections that reads have opened and keep.",
			func() int { return db.Stats().Readers })
		gauge(m, "vitrine_sqlite_readers_busy", "Connections with a read under way.",
			func() int { return db.Stats().ReadersBusy })
		limit(m, "vitrine_sqlite_readers_limit", "As many reads as may be under way at a time; others wait.",
			db.Stats().ReadersMost)
	case *postgres.DB:
		gauge(m, "vitrine_postgres_connections", "Connections to the database.",
			func() int { return db.Stats().Connections })
		gauge(m, "vitrine_postgres_connections_busy", "Connections with a transaction.",
			func() int { return db.Stats().Busy })
		limit(m, "vitrine_postgres_connections_limit", "As many connections as may be open.", db.Stats().Most)
		counter(m, "vitrine_postgres_transactions_total", "Transactions that took a connection.",
			func() uint64 { return db.Stats().Taken })
		counter(m, "vitrine_postgres_connection_waits_total", "How often a transaction found no free connection.",
			func() uint64 { return db.Stats().Waits })
		counter(m, "vitrine_postgres_connection_wait_seconds_total",
			"Time that transactions have waited for connections.",
			func() float64 { return db.Stats().Waited.Seconds() })
		counter(m, "vitrine_postgres_updates_total", "Updates that were begun, also those that failed.",
			func() uint64 { return db.Stats().Updates })
		counter(m, "vitrine_postgres_commits_total", "Commits, which updates share.",
			func() uint64 { return db.Stats().Commits })
		counter(m, "vitrine_postgres_gets_total", "Reads that began by keys.", func() uint64 { return db.Stats().Gets })
		counter(m, "vitrine_postgres_get_queries_total", "Queries for these reads, which they share.",
			func() uint64 { return db.Stats().Queries })
	}
}

// commitUpdates is the histogram of how many updates shared a commit.
var commitUpdates = prometheus.NewDesc("vitrine_sqlite_commit_updates",
	"Updates that shared a commit, and so a sync of the disk.", nil, nil)

// commitSizes returns the value of commitUpdates.
func commitSizes(s sqlite.Stats) prometheus.Metric {
	commits, below := uint64(0), map[float64]uint64{}
	for i, n := range s.Batches {
		commits += n
		if i < sqlite.BatchSizes-1 {
			below[float64(uint(1)<<i)] = commits
		}
	}
	return prometheus.MustNewConstHistogram(commitUpdates, commits, float64(s.Updates), below)
}
