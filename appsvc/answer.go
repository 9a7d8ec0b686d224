package appsvc

// Answer is the outcome of a write that its caller gave an Idempotency-Key: a repeat is answered
// with it instead of being done again.
type Answer struct {
	By      string // URN of the caller
	Key     string
	Request []byte // digest of the operation and its input
	Result  []byte
	Expires int64 // milliseconds since the epoch
}
