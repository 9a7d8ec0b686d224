//go:build proof && linux

package deploy_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

var idle = flag.Duration("idle", 0,
	"how long TestIdleStreams keeps streams idle, with the timeouts of the files; 0 = the short form, with short "+
		"timeouts")

// stream is an event stream through a proxy.
type stream struct {
	body  io.ReadCloser
	lines chan string // each line but empty ones; closed at the end
	err   chan error  // why it has ended
}

// follow opens a stream of the feed of changes through a proxy.
func (p *proxy) follow(t *testing.T, token, protocol string) *stream {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: p.tls(protocol), ForceAttemptHTTP2: protocol == "h2",
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", p.secure)
		}}
	t.Cleanup(transport.CloseIdleConnections)
	r, err := http.NewRequestWithContext(t.Context(), "GET", "https://"+site+"/x/changes?after=now", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept", "text/event-stream")
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" ||
		(resp.ProtoMajor == 2) != (protocol == "h2") {
		t.Fatalf("%s %s: %v", resp.Proto, resp.Status, resp.Header)
	}
	t.Cleanup(func() { resp.Body.Close() })
	s := &stream{resp.Body, make(chan string, 1000), make(chan error, 1)}
	go func() {
		defer close(s.lines)
		in := bufio.NewScanner(resp.Body)
		for in.Scan() {
			if in.Text() != "" {
				s.lines <- in.Text()
			}
		}
		s.err <- errors.Join(in.Err(), io.EOF)
	}()
	return s
}

// await reads lines until one has some text in it, and returns how many others came before.
func (s *stream) await(t *testing.T, text string) (before int) {
	t.Helper()
	for patience := time.After(time.Minute); ; before++ {
		select {
		case line, ok := <-s.lines:
			if !ok {
				t.Fatalf("the stream has ended: %v", <-s.err)
			}
			if strings.Contains(line, text) {
				return before
			}
		case <-patience:
			t.Fatalf("no event with %q came: the proxy holds it back", text)
		}
	}
}

// An event goes through at once, and not when the proxy has collected enough of them.
func TestEventsComeAtOnce(t *testing.T) {
	s := newServer(t)
	s.fill(t)
	eachProxy(t, func(t *testing.T, k kind) {
		p := k.before(t, s.address)
		for _, protocol := range []string{"http/1.1", "h2"} {
			stream := p.follow(t, s.token, protocol)
			for range 3 {
				id := s.newApp(t, "Coffee?")
				begun := time.Now()
				stream.await(t, id)
				t.Logf("%s: %s", protocol, time.Since(begun).Round(time.Millisecond))
			}
			stream.body.Close()
		}
	})
}

// The comments of a stream keep its connections open while nothing happens. In the short form the timeouts of the files
// are cut to 20 s, and the streams are idle for longer than that.
func TestIdleStreams(t *testing.T) {
	t.Parallel()
	eachProxy(t, func(t *testing.T, k kind) {
		s := newServer(t) // of its own, since an event of another test would break the silence
		s.fill(t)
		long, pairs := *idle, []string(nil)
		if long == 0 {
			long, pairs = 22*time.Second, k.idle(20)
		}
		p := k.before(t, s.address, pairs...)
		all := []*stream{p.follow(t, s.token, "http/1.1"), p.follow(t, s.token, "h2")}
		time.Sleep(long)
		id := s.newApp(t, "Cocoa?")
		for i, stream := range all {
			comments := 0
			for line := ""; !strings.Contains(line, id); {
				select {
				case next, ok := <-stream.lines:
					if !ok {
						t.Fatalf("stream %d has ended within %s: %v", i, long, <-stream.err)
					}
					if line = next; strings.HasPrefix(line, ":") {
						comments++
					}
				case <-time.After(time.Minute):
					t.Fatalf("stream %d: the event does not come after %s", i, long)
				}
			}
			if want := int(long / (16 * time.Second)); comments < want {
				t.Errorf("stream %d: %d comments in %s, want %d", i, comments, long, want)
			}
		}
	})
}
