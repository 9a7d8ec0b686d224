package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// The tests of this file have clients that read or send slowly or not at all, mostly in a bubble of synctest, so that a
// test waits for no real time. Most of them have connections without buffers: the server has nothing to write to when
// its client does not read.

// versionsOfHTTP are the versions over which the clients ask: over HTTP/1.1 a deadline belongs to the connection, over
// HTTP/2 to one response.
var versionsOfHTTP = map[string]func(*http.Protocols){
	"HTTP/1.1": func(p *http.Protocols) { p.SetHTTP1(true) },
	"HTTP/2.0": func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
}

// clientBuffer is how many bytes of a response the client takes over HTTP/2 before the test reads them. Over HTTP/1.1
// it is a few KiB.
const clientBuffer = 1 << 20

// pipedOver returns a client of a handler that is served over a version of HTTP, as dialer serves it.
func pipedOver(t *testing.T, version string, c httpapi.Config, change ...func(*http.Server)) *http.Client {
	t.Helper()
	var p http.Protocols
	versionsOfHTTP[version](&p)
	dial := dialer(t, c, append(change, func(s *http.Server) { s.Protocols = &p })...)
	transport := &http.Transport{
		Protocols: &p, HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: clientBuffer}, DisableCompression: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return dial(), nil },
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// unreadGet sends a GET to a new handler over a version of HTTP, and reads the headers of the response and nothing of
// its body.
func unreadGet(
	t *testing.T, version string, c httpapi.Config, path string, options ...option,
) (*http.Response, http.Handler) {
	t.Helper()
	c.Authenticate = everybodyIsEditor
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

// newExport imports a file into a store, and returns the configuration of a handler for it, and the requests that have
// ended.
func newExport(t *testing.T, store storage.Store, file string) (httpapi.Config, <-chan httpapi.Exchange) {
	t.Helper()
	svc, ended := reviews.New(store, nil), make(chan httpapi.Exchange, 1)
	importReviews(t, svc, file)
	observe := func(_ context.Context, e httpapi.Exchange) { ended <- e }
	return httpapi.Config{Reviews: svc, Observer: observe, Authenticate: everybodyIsEditor}, ended
}

func everybodyIsEditor(*http.Request) (httpapi.Principal, error) { return editor, nil }

// importReviews imports a file in which everything is right and something is new.
func importReviews(t *testing.T, svc *reviews.Service, file string) {
	t.Helper()
	report, err := svc.As(editor.Caller).Import(t.Context(), reviews.ImportRequest{File: strings.NewReader(file)})
	if err != nil || report.Errors > 0 || report.ReviewsCreated+report.ReviewsUpdated == 0 {
		t.Fatalf("%+v, %v", report, err)
	}
}

// longRecord is record with so many bytes, as many as it has in an export.
func longRecord(id string, bytes int) string {
	const text = "<p>x</p>"
	line := record(id)
	return strings.Replace(line, text, strings.Repeat("x", bytes-len(line)+len(text)), 1)
}

// An export whose client stops reading ends when the time for what it has read is over: a minute and 16 seconds for
// each MiB.
func TestAnExportWhoseClientStopsIsCut(t *testing.T) {
	for version := range versionsOfHTTP {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := manyReviews(4 * clientBuffer / 5000)
				config, ended := newExport(t, memory.New(), file)
				answer, _ := unreadGet(t, version, config, exportPath)
				if _, err := io.CopyN(io.Discard, answer.Body, clientBuffer); err != nil {
					t.Fatal(err)
				}
				select {
				case e := <-ended:
					if e.Bytes >= int64(len(file)) || e.Duration < time.Minute || e.Duration > 3*time.Minute {
						t.Errorf("the export ended after %s and %d bytes of %d", e.Duration, e.Bytes, len(file))
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
	for version, bytes := range map[string]int{"HTTP/1.1": 300, "HTTP/2.0": clientBuffer + 100} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config, ended := newExport(t, memory.New(), longRecord("YQ==", bytes))
				answer, _ := unreadGet(t, version, config, exportPath)
				if e := <-ended; e.Bytes != int64(bytes) || e.Duration > 0 {
					t.Fatalf("the export itself ended after %s and %d bytes of %d", e.Duration, e.Bytes, bytes)
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
		file := manyReviews(clientBuffer / 5000)
		config, ended := newExport(t, memory.New(), file)
		conn := dialer(t, config)()
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET "+exportPath+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		select {
		case e := <-ended:
			if e.Bytes >= int64(len(file)) {
				t.Error("the export ended as if its client had read it")
			}
		case <-time.After(time.Hour):
			t.Error("the export waits for its client for more than an hour")
		}
	})
}

// The store may work for longer than a client may take, since the deadline of a piece ends with the piece, and a client
// may pause.
func TestAnExportWithPausesIsWhole(t *testing.T) {
	for version := range versionsOfHTTP {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config, _ := newExport(t, pausing(80*time.Second), threeRecords(2*clientBuffer))
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

// longApp stores an app of a little more than so many bytes and returns its id.
func longApp(t *testing.T, apps *appsvc.Service, bytes int) (id string) {
	t.Helper()
	as := apps.As(editor.Caller)
	manifest := strings.NewReader(`{"name":"c","version":"1","main":"https://cdn.example.test/x.js","configSchema":{}}`)
	if _, err := as.CreateComponent(t.Context(), appsvc.CreateComponentRequest{Manifest: manifest}); err != nil {
		t.Fatal(err)
	}
	in := appsvc.CreateAppRequest{Title: "x", Groups: []string{network}}
	const most = 512 << 10
	for left := bytes; left > 0; left -= most {
		config := []byte(`{"text":"` + strings.Repeat("x", min(left, most)) + `"}`)
		component := appsvc.ComponentRef{Name: "c", Version: "1"}
		in.Elements = append(in.Elements, appsvc.NewElement{Component: component, Config: config})
	}
	app, err := as.CreateApp(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return app.ID
}

// A large response is cut when its client has read nothing for a minute, though nobody else waits. Its slot is free
// then.
func TestAResponseWhoseClientStopsIsCut(t *testing.T) {
	for version := range versionsOfHTTP {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := httpapi.Config{Apps: appsvc.New(memory.New(), nil)}
				answer, handler := unreadGet(t, version, config, "/apps/"+longApp(t, config.Apps, 2*clientBuffer))
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
		config := httpapi.Config{Apps: appsvc.New(memory.New(), nil), Authenticate: everybodyIsEditor}
		conn := dialer(t, config, func(s *http.Server) { handler = s.Handler })()
		defer conn.Close()
		begun := time.Now()
		const head = "POST /apps/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n"
		if _, err := fmt.Fprintf(conn, head+"\r\n%100s", ""); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		took := time.Since(begun)
		if err != nil || answer.StatusCode != 400 || !strings.Contains(string(text), "too slowly") ||
			took < time.Minute || took > 65*time.Second {
			t.Errorf("%s %s after %s, %v", answer.Status, text, took, err)
		}
		if load, _ := httpapi.LoadOf(handler); load.Memory != 0 {
			t.Errorf("%d bytes are in use", load.Memory)
		}
		time.Sleep(time.Minute) // until the server has closed its side, too
	})
}

// eventBytes is the size of an event of newFeed, at least.
const eventBytes = 4 << 10

// newFeed returns a service whose feed has so many events, and the path of the feed.
func newFeed(t *testing.T, store storage.Store, events int) (svc *reviews.Service, path string) {
	t.Helper()
	svc = reviews.New(store, nil)
	source := "https://old.example.test"
	line := strings.Replace(record("YQ=="), source, source+"/"+strings.Repeat("x", eventBytes-100), 1)
	for i := range events {
		importReviews(t, svc, strings.Replace(line, "[50]", fmt.Sprintf("[%d]", 1+i%100), 1))
	}
	return svc, "/x/reviews/changes"
}

// An event stream is cut when its client reads nothing for 30 seconds, also later than at its beginning.
func TestAnEventStreamWhoseClientStopsIsCut(t *testing.T) {
	for version := range versionsOfHTTP {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				streams := httpapi.NewStreams()
				defer streams.Close()
				svc, path := newFeed(t, memory.New(), 5*clientBuffer/4/eventBytes)
				config := httpapi.Config{Reviews: svc, Streams: streams}
				answer, _ := unreadGet(t, version, config, path, header("Accept", "text/event-stream"))
				if _, err := io.CopyN(io.Discard, answer.Body, clientBuffer/8); err != nil {
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

// slowReader is a response whose client takes pause for each piece, and which keeps the deadlines for writing.
type slowReader struct {
	*httptest.ResponseRecorder
	pause    time.Duration
	deadline time.Time
}

func (s *slowReader) SetWriteDeadline(t time.Time) error {
	s.deadline = t
	return nil
}

func (s *slowReader) Write(p []byte) (int, error) {
	time.Sleep(max(0, min(s.pause, time.Until(s.deadline))))
	if !time.Now().Before(s.deadline) {
		return 0, os.ErrDeadlineExceeded
	}
	return s.ResponseRecorder.Write(p)
}

// pausing returns a store that pauses before an export reads the reviews of a record.
func pausing(d time.Duration) storage.Store {
	return &scripted{Store: memory.New(), get: ofReviews(func() error { time.Sleep(d); return nil })}
}

// threeRecords is a file of three records of so many bytes each.
func threeRecords(bytes int) string {
	return longRecord("YQ==", bytes) + longRecord("Yg==", bytes) + longRecord("Yw==", bytes)
}

// TestAClientPaysForItsOwnTimeAlone exports 192 KiB, for which a client has 63 seconds. They are sent in six pieces,
// two of each record.
func TestAClientPaysForItsOwnTimeAlone(t *testing.T) {
	const pieces = 6
	for _, test := range []struct {
		name          string
		store, client time.Duration // the pauses before each record, and for each piece
		whole         bool
	}{
		{"a store that works for long", 80 * time.Second, 0, true},
		{"both take some time", 80 * time.Second, 57 * time.Second / pieces, true},
		{"a client that takes long for each piece", 0, 61 * time.Second, false},
		{"a client that takes long for all", 0, 63 * time.Second / pieces, false},
		{"a store and a client that take long for all", 80 * time.Second, 63 * time.Second / pieces, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config, ended := newExport(t, pausing(test.store), threeRecords(64<<10))
				h, err := httpapi.New(config)
				if err != nil {
					t.Fatal(err)
				}
				w := &slowReader{ResponseRecorder: httptest.NewRecorder(), pause: test.client}
				whole := true
				func() {
					defer func() { whole = recover() != http.ErrAbortHandler }()
					h.ServeHTTP(w, httptest.NewRequest("GET", exportPath, nil))
				}()
				if whole != test.whole || whole != (w.Body.Len() == 3*64<<10) {
					t.Errorf("whole is %t: %d bytes", whole, w.Body.Len())
				}
				if e := <-ended; whole && e.Duration < 3*test.store {
					t.Errorf("it took %s", e.Duration)
				}
			})
		})
	}
}

// sendAll sends a whole request before it looks at the answer, as most clients do.
func (w *world) sendAll(request string, size int64) (*http.Response, error) {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, request); err != nil {
		return nil, err
	}
	if _, err := io.CopyN(conn, endless{}, size); err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReader(conn), nil)
}

func TestClientsThatSendEverythingFirstReadTheRefusal(t *testing.T) {
	w := newWorld(t)
	token := w.token(editor)
	for name, c := range map[string]struct {
		line, auth, media string
		size              int64
		status            int
	}{
		"401 of 16 MiB": {"POST /apps/", "none", "application/json", 16 << 20, 401},
		"413 of 5 MB":   {"POST /apps/", token, "application/json", 5e6, 413},
		"405 of 5 MB":   {"PUT /apps/", token, "application/json", 5e6, 405},
	} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf("%s HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken %s\r\nContent-Type: "+
				"%s\r\nContent-Length: %d\r\n\r\n", c.line, c.auth, c.media, c.size)
			begin := time.Now()
			answer, err := w.sendAll(text, c.size)
			for range 20 {
				if err == nil || time.Since(begin) < 2*time.Second {
					break
				}
				begin = time.Now() // on a busy machine sending may take longer than the server reads
				answer, err = w.sendAll(text, c.size)
			}
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != c.status ||
				!strings.Contains(string(text), `"error"`) {
				t.Errorf("%d %s, %v", answer.StatusCode, text, err)
			}
		})
	}
}

// A server with too many requests answers at once, and waits for no body.
func TestAnOverloadedServerDrainsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := dialer(t, httpapi.Config{Apps: appsvc.New(memory.New(), nil), Authenticate: (&people{}).authenticate},
			func(s *http.Server) {
				handler := s.Handler
				s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					handler.ServeHTTP(w, r.WithContext(httpapi.Overloaded(r.Context())))
				})
			})
		conn := dial()
		defer conn.Close()
		begun := time.Now()
		if _, err := io.WriteString(conn,
			"POST /apps/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || answer.StatusCode != 503 ||
			time.Since(begun) > 0 {
			t.Errorf("after %s: %v, %v", time.Since(begun), answer, err)
		}
	})
}

// A client that asks before it sends a file, and has sent all of it, goes on with the same connection.
func TestAConnectionOutlivesAnImport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known := &people{named: map[string]httpapi.Principal{"editor": editor}}
		conn := dialer(t, httpapi.Config{Reviews: reviews.New(memory.New(), nil), Authenticate: known.authenticate})()
		reader := bufio.NewReader(conn)
		for range 2 {
			file := record("YQ==")
			sent := make(chan error)
			go func() {
				_, err := fmt.Fprintf(conn,
					"POST /x/reviews/import HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken editor\r\nContent-Type: "+
						"application/x-ndjson\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n%s", len(file), file)
				sent <- err
			}()
			if answer, err := http.ReadResponse(reader, nil); err != nil || answer.StatusCode != http.StatusContinue {
				t.Fatalf("%+v, %v", answer, err)
			}
			answer, err := http.ReadResponse(reader, nil)
			if err != nil || answer.StatusCode != http.StatusOK || answer.Close {
				t.Fatalf("%+v, %v", answer, err)
			}
			if _, err := io.Copy(io.Discard, answer.Body); err != nil {
				t.Fatal(err)
			}
			if err := <-sent; err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // the server waits for the next request
		}
		conn.Close()
		time.Sleep(time.Minute) // until the server has closed its side, too
	})
}

// Over HTTP/2 a client reads the response while it sends, so nothing is drained.
func TestOverHTTP2NothingIsDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var http2 http.Protocols
		http2.SetUnencryptedHTTP2(true)
		dial := dialer(t, httpapi.Config{Apps: appsvc.New(memory.New(), nil), Authenticate: (&people{}).authenticate},
			func(s *http.Server) { s.Protocols = &http2 })
		transport := &http.Transport{Protocols: &http2,
			DialContext: func(context.Context, string, string) (net.Conn, error) { return dial(), nil }}
		defer transport.CloseIdleConnections()
		body, sends := io.Pipe()
		defer sends.Close()
		begun := time.Now()
		answer, err := (&http.Client{Transport: transport}).Post("http://x/apps/", "application/json", body)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != 401 || answer.ProtoMajor != 2 || time.Since(begun) > 0 {
			t.Errorf("after %s: %s %s", time.Since(begun), answer.Proto, answer.Status)
		}
	})
}

// A stream and an export go on for long, so they do not begin while a body that nobody needs is missing.
func TestStreamsAndExportsDoNotBeginWithoutTheirBody(t *testing.T) {
	for _, path := range []string{"/x/changes", "/x/reviews/export?network=example.test"} {
		synctest.Test(t, func(t *testing.T) {
			store := memory.New()
			dial := dialer(t, httpapi.Config{Apps: appsvc.New(store, nil), Reviews: reviews.New(store, nil),
				Authenticate: func(*http.Request) (httpapi.Principal, error) { return editor, nil }})
			conn := dial()
			defer conn.Close()
			if _, err := fmt.Fprintf(conn,
				"GET %s HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nContent-Length: 5\r\n\r\n1234",
				path); err != nil {
				t.Fatal(err)
			}
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || answer.StatusCode != 400 || !answer.Close {
				t.Fatalf("%s: %+v, %v", path, answer, err)
			}
			if text, _ := io.ReadAll(answer.Body); !strings.Contains(string(text), "the body did not arrive whole") {
				t.Errorf("%s: %s", path, text)
			}
			time.Sleep(time.Minute) // until the server has closed its side, too
		})
	}
}
