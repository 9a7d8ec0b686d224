// Package proof tells tests whether to run in their short or their usual form. The packages below it prove what Vitrine
// promises, and the README says what each of them has shown.
//
// The tests of the proofs, and those of PostgreSQL, have the build tag proof, so that go test ./... neither compiles
// nor runs them:
//
//	go test ./...                     the rules of the domains, the drivers in memory and in SQLite, HTTP, the client
//	go test -tags proof -short ./...  all tests, each in its short form
//	go test -tags proof ./...         all tests in their usual form
package proof

import "testing"

// Short reports whether a test runs in its short form: without the tag, or with -short.
func Short() bool { return !Tagged || testing.Short() }
