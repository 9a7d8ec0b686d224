// Package webhook holds deliveries against a library that others verify them with: the Go library of Standard
// Webhooks. What it accepts and what it refuses is shown on requests that a receiver got over HTTP.
//
// It also kills processes that deliver, and shows that every change comes nevertheless, in the order of the feed.
package webhook
