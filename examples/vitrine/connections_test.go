package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func nobody(*http.Request) (httpapi.Principal, error) {
	return httpapi.Principal{}, httpapi.ErrUnauthenticated
}

// bounded is a server with room for a few connections. GET /wait is answered when release is closed.
type bounded struct {
	t       *testing.T
	addr    string
	all     *connections
	server  *http.Server
	arrived chan string
	release chan struct{}
}

func newBounded(t *testing.T, most int) *bounded {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	service, err := httpapi.New(httpapi.Config{Apps: appsvc.New(memory.New(), nil), Authenticate: nobody})
	if err != nil {
		t.Fatal(err)
	}
	b := &bounded{t, l.Addr().String(), newConnections(l, most), nil, make(chan string, 10), make(chan struct{})}
	b.server = newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			b.arrived <- r.URL.Path
			<-b.release
		} else if r.URL.Path != "/" {
			service.ServeHTTP(w, r)
		}
	}), slog.New(slog.DiscardHandler))
	go func() { _ = b.all.serve(b.server) }()
	t.Cleanup(func() { b.server.Close() })
	return b
}

func (b *bounded) dial() net.Conn {
	b.t.Helper()
	conn, err := net.Dial("tcp", b.addr)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	b.t.Cleanup(func() { conn.Close() })
	return conn
}

func (b *bounded) ask(conn net.Conn, path string) {
	b.t.Helper()
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bounded) answered(conn net.Conn) {
	b.t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != 200 {
		b.t.Fatalf("%v, %v", answer, err)
	}
}

// closed waits until the server has closed a connection.
func (b *bounded) closed(conn net.Conn) {
	b.t.Helper()
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		b.t.Errorf("the connection is still open: %v", err)
	}
}

// wait waits until a number of connections are open and as many of them idle.
func (b *bounded) wait(open, idle int) {
	b.t.Helper()
	var haveOpen, haveIdle int
	for range 60_000 {
		b.all.mu.Lock()
		haveOpen, haveIdle = b.all.open, b.all.idle.Len()
		b.all.mu.Unlock()
		if haveOpen == open && haveIdle == idle {
			return
		}
		time.Sleep(time.Millisecond)
	}
	b.t.Fatalf("%d connections are open and %d of them idle, want %d and %d", haveOpen, haveIdle, open, idle)
}

func TestTheLongestIdleConnectionMakesRoom(t *testing.T) {
	b := newBounded(t, 3)
	silent, kept, slow := b.dial(), b.dial(), b.dial()
	b.wait(3, 3)
	b.ask(kept, "/")
	b.answered(kept) // so that it has been idle for less long than the others
	if _, err := io.WriteString(slow, "GET / HTTP/1.1\r\nX: "); err != nil {
		t.Fatal(err)
	}
	b.wait(3, 3)
	b.all.mu.Lock()
	for c := range b.all.each {
		c.fresh = false // their time for the first request is over
	}
	b.all.mu.Unlock()
	first := b.dial()
	b.closed(silent)
	b.ask(first, "/")
	b.answered(first)
	b.dial()
	b.closed(slow)
	b.ask(kept, "/") // the one that was used last is still good
	b.answered(kept)
	b.wait(3, 3)
}

// TestHealthIsAnsweredWhenEveryConnectionIsBusy tests that /healthz is answered also while other requests are refused.
func TestHealthIsAnsweredWhenEveryConnectionIsBusy(t *testing.T) {
	b := newBounded(t, 2)
	busy := []net.Conn{b.dial(), b.dial()}
	for _, conn := range busy {
		b.ask(conn, "/wait")
		<-b.arrived
	}
	var others []net.Conn
	for range 3 * spareConnections {
		others = append(others, b.dial()) // says nothing, and is displaced
	}
	for path, want := range map[string]int{"/healthz": 200, "/apps/": 503} {
		conn := b.dial()
		others = append(others, conn)
		b.ask(conn, path)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || answer.StatusCode != want || want == 503 &&
			(!answer.Close || answer.Header.Get("Retry-After") == "") {
			t.Errorf("%s: %v, %v", path, answer, err)
		}
	}
	close(b.release)
	for _, conn := range busy {
		b.answered(conn)
	}
	for _, conn := range append(others, busy...) {
		conn.Close()
	}
	b.wait(0, 0)
	conn := b.dial()
	b.ask(conn, "/apps/")
	if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || answer.StatusCode != 401 {
		t.Errorf("when they are free again: %v, %v", answer, err)
	}
}

func TestConnectionsThatEndAreNotCounted(t *testing.T) {
	b := newBounded(t, 100)
	for range 50 {
		conn := b.dial()
		b.ask(conn, "/")
		b.answered(conn)
		conn.Close()
		b.dial().Close()
	}
	b.wait(0, 0)
}

// scarce is a listener that finds no descriptor at first.
type scarce struct {
	net.Listener
	failures int
}

func (s *scarce) Accept() (net.Conn, error) {
	if s.failures--; s.failures >= 0 {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return s.Listener.Accept()
}

func TestTheServerGoesOnAfterDescriptorsRanOut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), slog.New(slog.DiscardHandler))
	defer s.Close()
	go func() { _ = newConnections(&scarce{l, 3}, 10).serve(s) }()
	b := &bounded{t: t, addr: l.Addr().String()}
	conn := b.dial()
	b.ask(conn, "/")
	b.answered(conn)
}

// over asks a handler over a connection and returns the status of the response.
func over(c *connection, handler http.Handler) int {
	r, w := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
	handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), connectionKey{}, c)))
	return w.Code
}

// Requests that come over one spare connection at the same time, as over HTTP/2, are judged without a data race. Once
// there is room, the connection is a usual one for good. Usual connections are served however many are open.
func TestASpareConnectionHasSeveralRequests(t *testing.T) {
	all := newConnections(nil, 1)
	all.open = 2
	c := &connection{all: all}
	c.extra.Store(true)
	api, err := httpapi.New(httpapi.Config{Authenticate: nobody, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	handler := all.watch(api)
	var requests sync.WaitGroup
	for range 2 {
		requests.Go(func() {
			if status := over(c, handler); status != http.StatusServiceUnavailable {
				t.Errorf("a request over a spare connection is answered with %d, want 503", status)
			}
		})
	}
	requests.Wait()
	if status := over(&connection{all: all}, handler); status != http.StatusUnauthorized {
		t.Errorf("a request over a usual connection is answered with %d while there are spare ones, want 401", status)
	}
	all.open = 1
	for range 2 {
		requests.Go(func() {
			if status := over(c, handler); status != http.StatusUnauthorized {
				t.Errorf("when others were closed, a request over the connection is answered with %d, want 401", status)
			}
		})
	}
	requests.Wait()
	all.open = 2
	if status := over(c, handler); status != http.StatusUnauthorized {
		t.Errorf("when others were opened, a request over the connection is answered with %d, want 401", status)
	}
}

// A request over a spare connection is served if another connection can be closed for it, now or a moment later.
func TestASpareConnectionTakesAPlaceThatCanBeFreed(t *testing.T) {
	api, err := httpapi.New(httpapi.Config{Authenticate: nobody, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		waited time.Duration // how long the other connection has kept the server waiting
		spare  bool          // the other one is spare too
		fresh  bool          // no request has come over the other one
		status int
	}{
		{"one that is stalled", 2 * stalledAfter, false, false, http.StatusUnauthorized},
		{"one that is not", stalledAfter / 2, false, false, http.StatusServiceUnavailable},
		{"a spare one that is stalled", 2 * stalledAfter, true, false, http.StatusUnauthorized},
		{"a new one that sends nothing", 0, false, true, http.StatusUnauthorized},
	} {
		synctest.Test(t, func(t *testing.T) {
			all := newConnections(nil, 1)
			near, far := net.Pipe()
			defer near.Close()
			other, mine := &connection{all: all, pieceConn: pieceConn{Conn: far}}, &connection{all: all}
			other.waits.add(0, 0)
			other.extra.Store(c.spare)
			if other.fresh = c.fresh; c.fresh {
				other.place = all.idle.PushBack(other)
			}
			mine.extra.Store(true)
			all.open, all.each[other] = 2, struct{}{}
			time.Sleep(c.waited)
			if status := over(mine, all.watch(api)); status != c.status {
				t.Errorf("beside %s: %d, want %d", c.name, status, c.status)
			}
			if closed := other.gone; closed != (c.status == http.StatusUnauthorized) {
				t.Errorf("beside %s: that one is closed: %v", c.name, closed)
			}
		})
	}
}

// serverConn is a connection as http.Server.ConnState gets it.
type serverConn struct{ net.Conn }

func (c serverConn) NetConn() net.Conn { return c.Conn }

// An Accept that waits for room goes on when there is some, for whatever reason.
func TestAnAcceptThatWaitsFindsRoom(t *testing.T) {
	for name, leave := range map[string]func(*connections, *connection){
		"a connection is closed": func(_ *connections, c *connection) { c.Close() },
		"a request has ended": func(all *connections, c *connection) {
			all.state(serverConn{c}, http.StateIdle)
		},
		"a connection is taken for an event stream":   func(_ *connections, c *connection) { c.addStreams(1) },
		"the listener is closed, which ends the wait": func(all *connections, _ *connection) { all.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := make(pipeListener, 2)
				for range cap(l) {
					near, far := net.Pipe()
					defer near.Close()
					l <- far
				}
				all := newConnections(l, 1)
				all.spare = 0
				first, err := all.Accept()
				if err != nil {
					t.Fatal(err)
				}
				returned := false
				go func() {
					_, err := all.Accept()
					if closed := errors.Is(err, net.ErrClosed); closed != all.closed {
						t.Errorf("Accept says %v", err)
					}
					returned = true
				}()
				synctest.Wait()
				if returned {
					t.Fatal("there was room for a second connection")
				}
				leave(all, first.(*connection))
				synctest.Wait()
				if !returned {
					t.Error("Accept still waits for room")
				}
			})
		})
	}
}

// A connection that was closed is not kept among the idle ones, though the server may only then say that it is idle.
func TestAClosedConnectionIsNotIdle(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	l := make(pipeListener, 1)
	l <- far
	all := newConnections(l, 1)
	c, err := all.Accept()
	if err != nil {
		t.Fatal(err)
	}
	all.state(serverConn{c}, http.StateActive)
	c.Close()
	all.state(serverConn{c}, http.StateIdle)
	if open, idle := all.count(); open != 0 || idle != 0 {
		t.Errorf("%d connections are open, %d idle, want none", open, idle)
	}
}
