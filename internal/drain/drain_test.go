package drain_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine/internal/drain"
)

// one is a listener for one connection.
type one chan net.Conn

func (l one) Accept() (net.Conn, error) {
	if c, ok := <-l; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (l one) Close() error { close(l); return nil }
func (one) Addr() net.Addr { return &net.TCPAddr{} }

// most is how many bytes the server reads.
const most = 10

// answer serves one request in a bubble, where time passes only while all wait, and returns the answer to it. rest is
// the request without its first lines. Each call of the function that Notify is given is added to waited.
func answer(t *testing.T, rest string, waited *[]bool, serve http.HandlerFunc) (answer *http.Response) {
	synctest.Test(t, func(t *testing.T) {
		l := make(one)
		s := &http.Server{Handler: serve, ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return drain.Notify(ctx, func(w bool) { *waited = append(*waited, w) })
		}}
		go func() { _ = s.Serve(l) }()
		near, far := net.Pipe()
		l <- far
		go func() { _, _ = io.WriteString(near, "POST / HTTP/1.1\r\nHost: x\r\n"+rest) }()
		reader := bufio.NewReader(near)
		for answer == nil || answer.StatusCode == http.StatusContinue {
			var err error
			if answer, err = http.ReadResponse(reader, nil); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = near.Close(), s.Close()
		time.Sleep(time.Minute) // until the server has closed its side, too
	})
	return answer
}

func TestBody(t *testing.T) {
	for name, c := range map[string]struct {
		rest   string // of the request
		after  time.Duration
		waited []bool
		kept   bool
	}{
		"none":      {"\r\n", 0, nil, true},
		"all of it": {"Content-Length: 10\r\n\r\n0123456789", 0, []bool{true, false}, true},
		"all of it, in chunks": {"Transfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n", 0,
			[]bool{true, false}, true},
		"a part": {"Content-Length: 10\r\n\r\n0", drain.Patience, []bool{true}, false},
		"a chunk without an end": {"Transfer-Encoding: chunked\r\n\r\n1\r\n0\r\n", drain.Patience, []bool{true},
			false},
		"too much": {"Content-Length: 11\r\n\r\n", 0, []bool{true}, false},
		"too much in chunks": {"Transfer-Encoding: chunked\r\n\r\nb\r\n0123456789a\r\n", 0, []bool{true},
			false},
		"of a client that asks whether": {"Expect: 100-continue\r\nContent-Length: 10\r\n\r\n", 0, []bool{true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var waited []bool
			got := answer(t, c.rest, &waited, func(w http.ResponseWriter, r *http.Request) {
				begun := time.Now()
				if ended := drain.Body(w, r, most); ended != c.kept || time.Since(begun) != c.after {
					t.Errorf("%v after %s", ended, time.Since(begun))
				}
				if c.kept {
					time.Sleep(time.Hour)
					if r.Context().Err() != nil {
						t.Error("a request with a body is given up because it takes long")
					}
				}
			})
			if got.StatusCode != http.StatusOK || got.Close == c.kept || !slices.Equal(waited, c.waited) {
				t.Errorf("%+v; waits were %v", got, waited)
			}
		})
	}
}

// A handler may go on for long after it has read the body itself. net/http is reading then, to see whether the client
// leaves, and a deadline that Body left behind would look as if it had.
func TestTheDeadlineEndsWithTheBody(t *testing.T) {
	got := answer(t, "Content-Length: 10\r\n\r\n0123456789", new([]bool), func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if !drain.Body(w, r, most) {
			t.Error("something is left of a body that was read")
		}
		time.Sleep(2 * drain.Patience)
		if r.Context().Err() != nil {
			t.Error("the request is given up because it takes long")
		}
	})
	if got.StatusCode != http.StatusOK || got.Close {
		t.Errorf("%+v", got)
	}
}

// If the client has asked whether to send its body, Body cannot know that the handler has read all of it. Its deadline
// would end the requests that follow, so none may follow.
func TestBodyThatWasRead(t *testing.T) {
	got := answer(t, "Expect: 100-continue\r\nContent-Length: 10\r\n\r\n0123456789", new([]bool),
		func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			drain.Body(w, r, most)
		})
	if got.StatusCode != http.StatusOK || !got.Close {
		t.Errorf("%+v", got)
	}
}

// A writer that is no connection is not read from, since nothing would bound the time.
func TestBodyOfNoConnection(t *testing.T) {
	body := strings.NewReader("hello")
	if ended := drain.Body(httptest.NewRecorder(), httptest.NewRequest("POST", "/", body), most); !ended ||
		body.Len() != 5 {
		t.Errorf("%v, %d bytes are left", ended, body.Len())
	}
}
