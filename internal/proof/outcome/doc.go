// Package outcome shows over HTTP what a client may rely on when a server loses its database in the
// middle of a commit: the answer is 503, and a creation that is repeated with its Idempotency-Key, or a patch
// with its version test, until it succeeds is done exactly once, wherever the commit was interrupted.
//
// A longer run:
//
//	go test -tags proof ./internal/proof/outcome -v -timeout 0 -args -writes 120
package outcome
