package assets

import (
	"time"

	"github.com/vitrine-go/vitrine/internal/strictjson"
)

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

// appendTime appends a time as responses have it, without quotes: ISO 8601 in UTC with milliseconds, such as
// 2026-01-31T09:30:00.000Z.
func appendTime(b []byte, milliseconds int64) []byte {
	return time.UnixMilli(milliseconds).UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
}

func appendAttribute(b []byte, a Attribute) []byte {
	b = appendString(append(b, `{"key":`...), a.Key)
	b = appendString(append(b, `,"value":`...), a.Value)
	return append(b, '}')
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, "true"...)
	}
	return append(b, "false"...)
}
