package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipeListener is a listener of connections without buffers, which a bubble of synctest can wait for.
type pipeListener chan net.Conn

func (l pipeListener) Accept() (net.Conn, error) {
	if c, ok := <-l; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (l pipeListener) Close() error { close(l); return nil }
func (pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// stalling is a connection of which nothing is read once stop is closed, until it is closed itself.
type stalling struct {
	net.Conn
	stop, closed chan struct{}
	once         sync.Once
}

func (s *stalling) Read(p []byte) (int, error) {
	select {
	case <-s.stop:
		<-s.closed
		return 0, net.ErrClosed
	default:
		return s.Conn.Read(p)
	}
}

func (s *stalling) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.Conn.Close()
}

// A client that does not read its connection any more does not keep a handler waiting for ever. Over HTTP/2 it would,
// if the server only had timeouts for responses: it also has to send a frame to end one.
func TestAConnectionThatIsNotReadIsClosed(t *testing.T) {
	for name, set := range map[string]func(*http.Protocols){
		"HTTP/1.1": func(p *http.Protocols) { p.SetHTTP1(true) },
		"HTTP/2.0": func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan struct{})
				server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					defer close(ended)
					for {
						if _, err := w.Write(make([]byte, piece)); err != nil {
							return
						}
					}
				}), slog.New(slog.DiscardHandler))
				server.Protocols = new(http.Protocols)
				set(server.Protocols)
				l := make(pipeListener, 1)
				near, far := net.Pipe()
				l <- far
				go func() { _ = server.Serve(l) }()
				defer server.Close()
				conn := &stalling{Conn: near, stop: make(chan struct{}), closed: make(chan struct{})}
				client := &http.Client{Transport: &http.Transport{Protocols: server.Protocols,
					DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}}
				answer, err := client.Get("http://x/")
				if err != nil || answer.Proto != name {
					t.Fatal(answer, err)
				}
				close(conn.stop)
				select {
				case <-ended:
				case <-time.After(time.Hour):
					t.Error("the handler waits for its client for more than an hour")
				}
				conn.Close()
				answer.Body.Close()
			})
		})
	}
}
