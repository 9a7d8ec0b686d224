// Package peers holds the package reviews beside others' readers and validators, in tests and
// benchmarks only:
//
//	go test ./reviews/internal/peers -run '^$' -bench Check
//
// ajv is compared where node and npm are installed; they fetch it for the run.
package peers
