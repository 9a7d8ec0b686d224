package httpapi

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/required"
)

// NewListener returns a listener for an http.Server that serves the handler. net/http rejects some requests before any
// handler is called: those that it cannot read, such as one for "/asset/%", and those with an unknown Expect. Its
// responses are plain text, without the headers that a page needs to see them. On the connections of this listener they
// have the form of all other errors. If net/http changes their form, they are sent unchanged.
//
// The listener has to see what net/http writes: below TLS, as with ServeTLS, it sees only what is
// encrypted and changes nothing. A connection that ConnState is told of has a method NetConn, which
// returns the connection of l. NewListener panics if l is nil.
func NewListener(l net.Listener) net.Listener {
	required.Argument("httpapi.NewListener", "listener", l)
	return listener{l}
}

// listener wraps each connection in a rewritingConn.
type listener struct{ net.Listener }

// Accept returns the next connection.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return rewritingConn{c}, nil
}

// rewritingConn replaces the error responses of net/http.
type rewritingConn struct{ net.Conn }

// NetConn returns the connection that is wrapped.
func (c rewritingConn) NetConn() net.Conn { return c.Conn }

// Write sends p, or what rewritten returns in its place. net/http writes an error response with one call of Write, so p
// is the whole of it. The number returned is then the length of p, as the caller expects. After a 417 net/http reads
// the body of the request; the deadline keeps it from waiting for a body that does not come.
func (c rewritingConn) Write(p []byte) (int, error) {
	own := rewritten(p)
	if own == nil {
		return c.Conn.Write(p)
	}
	_, err := c.Conn.Write(own)
	_ = c.SetReadDeadline(time.Now())
	return len(p), err
}

// CloseWrite tells the client that nothing more comes, while it is still sending: net/http calls it after an error
// response.
func (c rewritingConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// What follows the status line in an error response of net/http: plainHeaders and a body, or closeHeader and no body if
// the status is 417.
var (
	plainHeaders = []byte("Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")
	closeHeader  = []byte("Connection: close\r\n")
)

// errorHeaders are the headers of every error, without X-Request-Id: a request that cannot be read has no id. Its path
// is not known here and may be below x/public/, whose errors no cache keeps.
var errorHeaders = func() string {
	headers := maps.Clone(commonHeaders)
	headers["Cache-Control"], headers["Content-Type"], headers["Connection"] = noStore, jsonType, closeConnection
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		fmt.Fprintf(&b, "%s: %s\r\n", name, headers[name][0])
	}
	return b.String()
}()

// protocolErrors are the errors of requests that no handler sees, by status.
var protocolErrors = map[string]httpError{
	"400": {Text: "the request cannot be read: want a path that is escaped, and well-formed headers"},
	"417": {Text: "header Expect: want 100-continue, or none", details: details{Parameter: "Expect"}},
	"431": {Text: "the headers are too large: want fewer or shorter ones",
		details: details{Code: vitrine.CodeTooLarge}},
	"501": {Text: "header Transfer-Encoding: want chunked, or none", details: details{Parameter: "Transfer-Encoding"}},
	"505": {Text: "the request cannot be read: want HTTP/1.1"},
}

// rewritten returns what to send in place of an error response of net/http, nil for any other write. No response of the
// handler looks like one: it has more headers, in alphabetical order, and its JSON has no line ends.
func rewritten(written []byte) []byte {
	if !bytes.HasPrefix(written, []byte("HTTP/1.")) {
		return nil
	}
	line, rest, _ := bytes.Cut(written, []byte("\r\n"))
	if !bytes.HasPrefix(rest, plainHeaders) &&
		!(bytes.Contains(line, []byte(" 417 ")) && bytes.HasPrefix(rest, closeHeader)) {
		return nil
	}
	version, status, _ := strings.Cut(string(line), " ")
	status, reason, given := strings.Cut(status, ": ")
	code, _, _ := strings.Cut(status, " ")
	says, known := protocolErrors[code]
	switch {
	case !known:
		says.Text = "the request cannot be answered: " + status
	case given && code == "400":
		says.Text = "the request cannot be read: " + reason
	}
	says.Code = cmp.Or(says.Code, vitrine.CodeInvalid)
	body := says.json()
	return fmt.Appendf(nil, "%s %s\r\n%sDate: %s\r\nContent-Length: %d\r\n\r\n%s",
		version, status, errorHeaders, time.Now().UTC().Format(http.TimeFormat), len(body), body)
}
