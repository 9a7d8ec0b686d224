// Package webhook verifies deliveries with the Go library of Standard Webhooks, as receivers do. The library must
// accept the requests that a receiver got over HTTP, and refuse them when they were altered.
//
// Another test kills processes that deliver: every change must arrive nevertheless, in the order of the feed.
package webhook
