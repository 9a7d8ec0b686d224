package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// net/http answers some requests by itself, before any handler is asked: those that it cannot read, as
// one for "/asset/%", and those that expect what it does not know. It does so in plain text, without the
// headers that a page needs to see the answer. So these answers are written anew on their way to the
// connection, in the form of all others. Should net/http change its own form, they go out as they are.

// What follows the status line of such an answer: the first everywhere but with 417, which it gives as
// an answer without a body.
var (
	plainHeaders = []byte("Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")
	closeHeader  = []byte("Connection: close\r\n")
)

// refusedHeaders are what the service gives every error, but for the id of the request: there is none.
const refusedHeaders = "Access-Control-Allow-Origin: *\r\n" +
	"Access-Control-Expose-Headers: Location, ETag, Link\r\n" +
	"Cache-Control: private, no-cache\r\n" +
	"Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n" +
	"Content-Type: application/json; charset=utf-8\r\n" +
	"Referrer-Policy: no-referrer\r\n" +
	"X-Content-Type-Options: nosniff\r\n" +
	"Connection: close\r\n"

// refusals say what is wrong with requests that no handler sees.
var refusals = map[string]string{
	"400": "the request cannot be read: want a path that is escaped, and well-formed headers",
	"417": "header Expect: want 100-continue, or none",
	"431": "the headers are too large: want fewer or shorter ones",
	"501": "header Transfer-Encoding: want chunked, or none",
	"505": "the request cannot be read: want HTTP/1.1",
}

// refused returns what to send in place of an answer that net/http gives by itself, nil for any other
// write. None of the service's own looks like one: its headers are more, in alphabetical order, and its
// JSON has no line ends.
func refused(written []byte) []byte {
	if !bytes.HasPrefix(written, []byte("HTTP/1.")) {
		return nil
	}
	line, rest, _ := bytes.Cut(written, []byte("\r\n"))
	version, status, _ := strings.Cut(string(line), " ")
	if !bytes.HasPrefix(rest, plainHeaders) && !(strings.HasPrefix(status, "417 ") && bytes.HasPrefix(rest, closeHeader)) {
		return nil
	}
	status, reason, given := strings.Cut(status, ": ")
	code, _, _ := strings.Cut(status, " ")
	says, known := refusals[code]
	switch {
	case !known:
		says = "the request cannot be answered: " + status
	case given && code == "400":
		says = "the request cannot be read: " + reason
	}
	body, _ := json.Marshal(map[string]string{"error": says})
	return fmt.Appendf(nil, "%s %s\r\n%sDate: %s\r\nContent-Length: %d\r\n\r\n%s",
		version, status, refusedHeaders, time.Now().UTC().Format(http.TimeFormat), len(body), body)
}
