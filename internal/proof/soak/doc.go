// Package soak shows that a server which runs for long takes no more and more of anything: memory, descriptors and
// goroutines stay flat.
//
// The example server runs on a SQLite file under a mixed load in rounds. In each round clients create and patch apps, set
// and delete tags, search, follow the feeds, import and export reviews, send junk, read and send slowly, and go away in
// the middle of a request; webhooks are delivered; another process copies the store; the keys are rotated with SIGHUP, and no
// request with a valid token may fail. After each round all clients leave. When the server is at rest, and has collected its
// garbage, its figures are read from /metrics.
//
// After some rounds of warming up, half of them in the long form, in which the caches of the store fill up to their bounds, the
// figures must not rise. Their slope is the median of the slopes between all pairs of
// rounds (Theil and Sen), which a few rounds that differ do not move. A goroutine or a descriptor that is lost once in
// each round is found. That a leak would be seen is shown with a server that has three.
//
// The long form takes a minute for each round, and prints the figures of each:
//
//	go test ./internal/proof/soak -v -timeout 0 -args -lasting 1h
package soak
