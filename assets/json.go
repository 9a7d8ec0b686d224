package assets

import (
	"time"

	"github.com/vitrine-go/vitrine/internal/strictjson"
)

// This file has the parts from which the JSON of responses and of stored bodies is built. It is
// built by hand, so that a stored body can be copied into a response as it is, without decoding and
// encoding it.

// appendString appends s, valid UTF-8, as a JSON string.
func appendString(b []byte, s string) []byte {
	return strictjson.AppendString(b, s) // requests with other text were refused
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

// appendAttribute appends an attribute as responses and stored bodies have it.
func appendAttribute(b []byte, a Attribute) []byte {
	b = appendString(append(b, `{"key":`...), a.Key)
	b = appendString(append(b, `,"value":`...), a.Value)
	return append(b, '}')
}

// appendBool appends a JSON boolean.
func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, "true"...)
	}
	return append(b, "false"...)
}
