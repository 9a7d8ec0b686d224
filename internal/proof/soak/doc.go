// Package soak shows that a server that runs for a long time does not use more and more memory, file descriptors or
// goroutines.
//
// The example server runs on a SQLite file under a mixed load in rounds. In each round clients create and patch apps,
// set and delete tags, search, follow the feeds, import and export reviews, send junk, read and send slowly, and go
// away in the middle of a request; webhooks are delivered; another process copies the store; the keys are rotated with
// SIGHUP, and no request with a valid token may fail. After each round all clients leave. When the server is at rest,
// and has collected its garbage, its figures are read from /metrics.
//
// The first rounds, half of all in the long form, are for the caches of the store to fill up to their bounds. After
// them the figures must not rise. Their slope is the median of the slopes between all pairs of rounds (Theil and Sen),
// which a few rounds that differ do not move. So a goroutine or a descriptor that is lost once in each round is found.
//
// The long form takes a minute for each round, and prints the figures of each:
//
//	go test -tags proof ./internal/proof/soak -v -timeout 0 -args -lasting 1h
package soak
