package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// TestAnswersOfEverySizeArriveWhole asks for bodies around the sizes at which the server's buffer
// is exactly full, which is where a piece is held back with nothing to follow it.
func TestAnswersOfEverySizeArriveWhole(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.URL.Query().Get("size"))
		w.Header().Set("Content-Length", strconv.Itoa(size))
		_, _ = w.Write(bytes.Repeat([]byte("x"), size))
	}), slog.New(slog.DiscardHandler))
	go func() { _ = newConnections(l, 10).serve(s) }()
	defer s.Close()
	for _, version := range []string{"1.1", "1.0"} {
		var conn net.Conn
		var in *bufio.Reader
		for size := 3700; size < 8300; size++ {
			if near := (size + 150) % piece; near > 300 || version == "1.0" && size%7 > 0 {
				continue
			}
			if conn == nil {
				if conn, err = net.Dial("tcp", l.Addr().String()); err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(time.Minute))
				in = bufio.NewReader(conn)
			}
			if _, err := fmt.Fprintf(conn, "GET /?size=%d HTTP/%s\r\nHost: x\r\n\r\n", size, version); err != nil {
				t.Fatal(err)
			}
			answer, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(answer.Body); err != nil || len(body) != size {
				t.Fatalf("HTTP/%s: %d bytes of %d, %v", version, len(body), size, err)
			}
			if version == "1.0" {
				conn = nil
			}
		}
	}
}

// stuck is a connection whose writes wait until it is closed.
type stuck struct {
	net.Conn
	closed chan struct{}
}

func (s stuck) Write([]byte) (int, error) { <-s.closed; return 0, net.ErrClosed }
func (s stuck) Close() error              { close(s.closed); return nil }

func TestClosingEndsAWriteThatIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &pieceConn{Conn: stuck{closed: make(chan struct{})}}
		if n, err := c.Write(make([]byte, piece)); n != piece || err != nil {
			t.Fatal(n, err)
		}
		ended := make(chan error)
		go func() {
			_, err := c.Write([]byte("more"))
			ended <- err
		}()
		synctest.Wait()
		_ = c.Close()
		if err := <-ended; err == nil {
			t.Error("the write was not refused")
		}
	})
}

// counted is a connection that counts the bytes that are written to it.
type counted struct {
	net.Conn
	bytes int
}

func (c *counted) Write(p []byte) (int, error) { c.bytes += len(p); return len(p), nil }

// What an event stream sends is not delayed, though it may be exactly as long as a piece.
func TestAnEventStreamIsNotDelayed(t *testing.T) {
	under := new(counted)
	c := &connection{pieceConn: pieceConn{Conn: under}, all: newConnections(nil, 1)}
	ended := streamBegan(context.WithValue(t.Context(), connectionKey{}, c))
	for i := range 2 {
		if _, err := c.Write(make([]byte, piece)); err != nil || under.bytes != (i+1)*piece {
			t.Errorf("%d bytes are sent after event %d, %v", under.bytes, i, err)
		}
	}
	ended()
	if _, err := c.Write(make([]byte, piece)); err != nil || under.bytes != 2*piece {
		t.Errorf("after the stream %d bytes are sent before the response ends, %v", under.bytes, err)
	}
}
