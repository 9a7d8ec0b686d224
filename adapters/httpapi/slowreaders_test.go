package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// The tests of this file have clients that stop reading, over connections without buffers in a bubble of synctest. So a test
// waits for no real time, and the server has nothing to write to when its client does not read.

// versionsOfHTTP are the versions over which the clients ask: over HTTP/1.1 a deadline belongs to the connection, over HTTP/2
// to one response.
var versionsOfHTTP = map[string]func(*http.Protocols){
	"HTTP/1.1": func(p *http.Protocols) { p.SetHTTP1(true) },
	"HTTP/2.0": func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
}

// clientBuffer is how many bytes of a response the client takes over HTTP/2 before the test reads them. Over HTTP/1.1 it is a
// few KiB.
const clientBuffer = 1 << 20

// pipedOver returns a client of a handler that is served over a version of HTTP, as dialer serves it.
func pipedOver(t *testing.T, version string, c httpapi.Config, change ...func(*http.Server)) *http.Client {
	t.Helper()
	var p http.Protocols
	versionsOfHTTP[version](&p)
	dial := dialer(t, c, append(change, func(s *http.Server) { s.Protocols = &p })...)
	transport := &http.Transport{Protocols: &p, HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: clientBuffer}, DisableCompression: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return dial(), nil }}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// unreadGet sends a GET to a new handler over a version of HTTP, and reads the headers of the response and nothing of its
// body.
func unreadGet(t *testing.T, version string, c httpapi.Config, path string, options ...option) (*http.Response, http.Handler) {
	t.Helper()
	c.Authenticate = func(*http.Request) (httpapi.Principal, error) { return editor, nil }
	var handler http.Handler
	client := pipedOver(t, version, c, func(s *http.Server) { handler = s.Handler })
	r, err := http.NewRequest("GET", "http://x"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range options {
		o(r)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	if answer.StatusCode != 200 || answer.Proto != version {
		t.Fatalf("%s %s, want 200 over %s", answer.Proto, answer.Status, version)
	}
	return answer, handler
}

// isCut checks that the rest of a response is not whole.
func isCut(t *testing.T, r *http.Response) {
	t.Helper()
	if n, err := io.Copy(io.Discard, r.Body); err == nil {
		t.Errorf("the response is whole, %d bytes were left", n)
	}
}

// scripted is a service whose export writes what the test says.
type scripted struct {
	*reviews.Service
	export func(to io.Writer) error
	ended  chan error // what export has returned
}

func (s scripted) Export(_ context.Context, _ vitrine.Caller, _ string, to io.Writer) error {
	err := s.export(to)
	s.ended <- err
	return err
}

// newScripted returns the configuration of a handler with such a service, and what its export has returned.
func newScripted(export func(to io.Writer) error) (httpapi.Config, <-chan error) {
	s := scripted{reviews.New(memory.New(), nil), export, make(chan error, 1)}
	return httpapi.Config{Reviews: s}, s.ended
}

// write returns an export of so many bytes, in small writes.
func write(bytes int) func(io.Writer) error {
	return func(to io.Writer) error {
		const most = 4 << 10
		for left := bytes; left > 0; left -= most {
			if _, err := to.Write(make([]byte, min(left, most))); err != nil {
				return err
			}
		}
		return nil
	}
}

// An export whose client stops reading ends when the time for what it has read is over: a minute and 16 seconds for each MiB.
func TestAnExportWhoseClientStopsIsCut(t *testing.T) {
	for version := range versionsOfHTTP {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config, ended := newScripted(write(4 * clientBuffer))
				begun := time.Now()
				answer, _ := unreadGet(t, version, config, exportPath)
				if _, err := io.CopyN(io.Discard, answer.Body, clientBuffer); err != nil {
					t.Fatal(err)
				}
				select {
				case err := <-ended:
					if took := time.Since(begun); err == nil || took < time.Minute || took > 3*time.Minute {
						t.Errorf("the export ended after %s: %v", took, err)
					}
				case <-time.After(time.Hour):
					t.Error("the export waits for its client for more than an hour")
				}
				isCut(t, answer)
			})
		})
	}
}

// The same when net/http has the last bytes in its buffer: the export has ended, but the response has not.
func TestAnExportWhoseClientStopsAtTheEndIsCut(t *testing.T) {
	for version, bytes := range map[string]int{"HTTP/1.1": 100, "HTTP/2.0": clientBuffer + 100} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config, ended := newScripted(write(bytes))
				begun := time.Now()
				answer, _ := unreadGet(t, version, config, exportPath)
				if err := <-ended; err != nil || time.Since(begun) > 0 {
					t.Fatalf("after %s the export itself ended: %v", time.Since(begun), err)
				}
				time.Sleep(time.Hour)
				isCut(t, answer)
			})
		})
	}
}

// The same when the client does not even read the headers.
func TestAnExportWhoseHeadersAreNotReadIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, ended := newScripted(write(clientBuffer))
		config.Authenticate = func(*http.Request) (httpapi.Principal, error) { return editor, nil }
		conn := dialer(t, config)()
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET "+exportPath+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if err == nil {
				t.Error("the export ended as if its client had read it")
			}
		case <-time.After(time.Hour):
			t.Error("the export waits for its client for more than an hour")
		}
	})
}

// The store may work for longer than a client may take, since the deadline of a piece ends with the piece, and a client may pause.
func TestAnExportWithPausesIsWhole(t *testing.T) {
	for version := range versionsOfHTTP {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config, _ := newScripted(func(to io.Writer) error {
					for range 3 {
						if err := write(2 * clientBuffer)(to); err != nil {
							return err
						}
						time.Sleep(80 * time.Second)
					}
					return nil
				})
				answer, _ := unreadGet(t, version, config, exportPath)
				for range 3 {
					time.Sleep(20 * time.Second)
					if _, err := io.CopyN(io.Discard, answer.Body, clientBuffer); err != nil {
						t.Fatal(err)
					}
				}
				if n, err := io.Copy(io.Discard, answer.Body); err != nil || n != 3*clientBuffer {
					t.Errorf("%d bytes more, want %d: %v", n, 3*clientBuffer, err)
				}
			})
		})
	}
}

// oneApp is a service with one app of so many bytes.
type oneApp struct {
	*appsvc.Service
	bytes int
}

func (a oneApp) App(context.Context, vitrine.Caller, string) (appsvc.App, error) {
	return appsvc.App{Body: appsvc.Body(`{"title":"` + strings.Repeat("x", a.bytes) + `"}`)}, nil
}

// A large response is cut when its client has read nothing for a minute, though nobody else waits. Its slot is free then.
func TestAResponseWhoseClientStopsIsCut(t *testing.T) {
	for version := range versionsOfHTTP {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer, handler := unreadGet(t, version, httpapi.Config{Apps: oneApp{appsvc.New(memory.New(), nil), 2 * clientBuffer}}, "/apps/x")
				load := func() int64 {
					load, _ := httpapi.LoadOf(handler)
					return load.Memory
				}
				time.Sleep(59 * time.Second)
				if load() < clientBuffer {
					t.Errorf("%d bytes are in use while the client reads nothing", load())
				}
				time.Sleep(time.Minute)
				if load() != 0 {
					t.Errorf("%d bytes are in use after two minutes", load())
				}
				isCut(t, answer)
			})
		})
	}
}

// A body that stops is answered with 400 after a minute, and its slot is free then.
func TestABodyThatStopsIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var handler http.Handler
		conn := dialer(t, httpapi.Config{Apps: appsvc.New(memory.New(), nil), Authenticate: func(*http.Request) (httpapi.Principal, error) { return editor, nil }},
			func(s *http.Server) { handler = s.Handler })()
		defer conn.Close()
		begun := time.Now()
		if _, err := fmt.Fprintf(conn, "POST /apps/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n%100s", ""); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		if took := time.Since(begun); err != nil || answer.StatusCode != 400 || !strings.Contains(string(text), "too slowly") || took < time.Minute || took > 65*time.Second {
			t.Errorf("%s %s after %s, %v", answer.Status, text, took, err)
		}
		if load, _ := httpapi.LoadOf(handler); load.Memory != 0 {
			t.Errorf("%d bytes are in use", load.Memory)
		}
		time.Sleep(time.Minute) // until the server has closed its side, too
	})
}

// longEvents is a feed without an end, whose pages have one event of 10 KiB, too small to need a slot.
type longEvents struct{ alwaysMore }

func (longEvents) Changes(context.Context, vitrine.Caller, appsvc.ChangesRequest) (vitrine.ChangesPage[appsvc.Event], error) {
	return vitrine.ChangesPage[appsvc.Event]{Changes: []appsvc.Event{{Cursor: "x", Type: appsvc.AppCreated, AppID: strings.Repeat("x", 10<<10)}}, Next: "x", More: true}, nil
}

// An event stream is cut when its client reads nothing for 30 seconds, also later than at its beginning.
func TestAnEventStreamWhoseClientStopsIsCut(t *testing.T) {
	for version := range versionsOfHTTP {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				streams := httpapi.NewStreams()
				defer streams.Close()
				answer, _ := unreadGet(t, version, httpapi.Config{Apps: longEvents{}, Streams: streams}, "/x/changes", header("Accept", "text/event-stream"))
				if _, err := io.CopyN(io.Discard, answer.Body, clientBuffer); err != nil {
					t.Fatal(err)
				}
				time.Sleep(29 * time.Second)
				if streams.Count() != 1 {
					t.Error("the stream ended before 30 seconds")
				}
				time.Sleep(2 * time.Second)
				if streams.Count() != 0 {
					t.Fatal("the stream waits for its client for more than 30 seconds")
				}
				isCut(t, answer)
			})
		})
	}
}
