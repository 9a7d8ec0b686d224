// Package peers compares package reviews with other readers and validators. It only has tests and benchmarks:
//
//	go test ./reviews/internal/peers -run '^$' -bench Check
//
// ajv is compared where node and npm are installed; they fetch it for the run.
package peers
