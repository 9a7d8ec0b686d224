package assets

import (
	"time"

	"github.com/go-json-experiment/json"
)

// This file has the functions that build the JSON of responses with assets, into which stored bodies are copied, and
// the JSON of stored bodies.

// appendJSON appends a value that consists of texts and numbers.
func appendJSON(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // all texts are UTF-8: requests with invalid ones were rejected
	}
	return append(b, text...)
}

// appendComma appends the comma before the i-th item of a list.
func appendComma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

// appendTime appends a time as responses have it, without quotes: ISO 8601 in UTC with
// milliseconds, such as 2026-01-31T09:30:00.000Z.
func appendTime(b []byte, milliseconds int64) []byte {
	return time.UnixMilli(milliseconds).UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
}
