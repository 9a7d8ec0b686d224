package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine/adapters/console"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// small is a server with room for two connections, in a bubble. It gives a function that opens one and sends a text.
func small(t *testing.T) (all *connections, send func(text string) net.Conn) {
	t.Helper()
	api, err := httpapi.New(httpapi.Config{Apps: appsvc.New(memory.New(), nil), Authenticate: nobody,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", console.Before(api, "", console.New(console.Config{})))
	mux.HandleFunc("/read", func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	mux.HandleFunc("/work", func(http.ResponseWriter, *http.Request) { time.Sleep(30 * time.Second) })
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 16<<20)) })
	l := make(pipeListener)
	all = newConnections(l, 2)
	all.spare = 0
	s := newServer(mux, slog.New(slog.DiscardHandler))
	s.Protocols = new(http.Protocols)
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = all.serve(s) }()
	t.Cleanup(func() {
		_ = s.Close()
		time.Sleep(5 * time.Minute) // until all that the server does has ended
	})
	return all, func(text string) net.Conn {
		near, far := net.Pipe()
		t.Cleanup(func() { _ = near.Close() })
		l <- far // the server takes it when it has room
		if _, err := io.WriteString(near, text); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		return near
	}
}

// health asks over a new connection for /healthz, and returns after how long the answer has come.
func health(t *testing.T, send func(string) net.Conn) time.Duration {
	t.Helper()
	begun := time.Now()
	conn := send("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", answer, err)
	}
	return time.Since(begun)
}

// Connections whose requests announce a body that never comes make room at once, whatever they ask for.
func TestABodyThatNeverComesHoldsNobodyUp(t *testing.T) {
	const announced, chunked, waits = "Content-Length: 100000\r\n\r\n",
		"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "Expect: 100-continue\r\nContent-Length: 100000\r\n\r\n"
	for _, line := range []string{
		"OPTIONS /apps", "GET /healthz", "HEAD /healthz", "GET /cors.html",
		"GET /openapi.json", "GET /", "GET /x/console/main.js",
		"GET /x/console/none.js", "POST /x/console/main.js", "GET /apps/", "POST /apps/", "GET /nothing",
	} {
		for _, rest := range []string{announced, chunked, waits, "Content-Length: 900000000\r\n\r\n"} {
			request := line + " HTTP/1.1\r\nHost: x\r\n" + rest
			synctest.Test(t, func(t *testing.T) {
				_, send := small(t)
				for range 4 {
					send(request)
				}
				if took := health(t, send); took > 0 {
					t.Errorf("behind %q another waits %s", request, took)
				}
			})
		}
	}
}

// Nor does one of a request that net/http refuses.
func TestARefusedExpectationHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, send := small(t)
		for range 2 {
			conn := send("GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: nonsense\r\nContent-Length: 100000\r\n\r\n")
			if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil ||
				answer.StatusCode != http.StatusExpectationFailed {
				t.Fatalf("%v, %v", answer, err)
			}
		}
		if took := health(t, send); took > time.Second {
			t.Errorf("another waits %s", took)
		}
	})
}

// When the server waits for all clients, another gets the place of one of them soon, and of none for which the server
// works.
func TestClientsThatKeepTheServerWaitingMakeRoom(t *testing.T) {
	for name, request := range map[string]string{
		"a body that is read":          "POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n",
		"a response that is not taken": "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			_, send := small(t)
			send("GET /work HTTP/1.1\r\nHost: x\r\n\r\n")
			send(request)
			if took := health(t, send); took == 0 || took > 2*stalledAfter {
				t.Errorf("%s: another waits %s", name, took)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			all, send := small(t)
			for range 2 {
				send("GET /work HTTP/1.1\r\nHost: x\r\n\r\n")
			}
			time.Sleep(5 * stalledAfter)
			all.mu.Lock()
			defer all.mu.Unlock()
			if victim := all.victim(time.Now()); victim != nil {
				t.Error("a connection is closed though the server works on its request")
			}
		})
	}
}

// The client of a response over HTTP/2 says how much it takes. One that takes no more makes room too.
func TestAResponseOverHTTP2ThatIsNotTakenMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, send := small(t)
		send("GET /work HTTP/1.1\r\nHost: x\r\n\r\n")
		near := send("")
		var http2 http.Protocols
		http2.SetUnencryptedHTTP2(true)
		client := &http.Transport{Protocols: &http2,
			DialContext: func(context.Context, string, string) (net.Conn, error) { return near, nil }}
		r, _ := http.NewRequest("GET", "http://x/large", nil)
		answer, err := client.RoundTrip(r)
		if err != nil || answer.ProtoMajor != 2 {
			t.Fatal(answer, err)
		}
		defer answer.Body.Close()
		if took := health(t, send); took == 0 || took > 2*stalledAfter {
			t.Errorf("another waits %s", took)
		}
	})
}

// A new connection is not closed before its request can come, and makes room if none comes.
func TestANewConnectionHasTimeForItsRequest(t *testing.T) {
	for _, c := range []struct{ after, took time.Duration }{
		{200 * time.Millisecond, 200 * time.Millisecond},
		{time.Hour, freshFor},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, send := small(t)
			send("GET /work HTTP/1.1\r\nHost: x\r\n\r\n")
			near := send("")
			answered := time.AfterFunc(c.after, func() {
				_, _ = io.WriteString(near, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
				if answer, err := http.ReadResponse(bufio.NewReader(near), nil); err != nil ||
					answer.StatusCode != http.StatusOK {
					t.Errorf("the request of a new connection: %v, %v", answer, err)
				}
			})
			defer answered.Stop()
			if took := health(t, send); took < c.took || took > c.took+stalledAfter/10 {
				t.Errorf("another waits %s", took)
			}
		})
	}
}

// A request whose body comes in time is answered and its connection kept, also where no body is needed.
func TestABodyThatComesKeepsItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, send := small(t)
		conn := send("GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
		in := bufio.NewReader(conn)
		for range 2 {
			if _, err := io.WriteString(conn, "hello"); err != nil {
				t.Fatal(err)
			}
			answer, err := http.ReadResponse(in, nil)
			if err != nil || answer.StatusCode != http.StatusOK || answer.Close {
				t.Fatalf("%v, %v", answer, err)
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			const request = "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
			if _, err := io.WriteString(conn, request); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A client that does not end its headers is disconnected, also where nobody waits for its connection.
func TestHeadersMustComeInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, send := small(t)
		begun := time.Now()
		_, err := io.Copy(io.Discard, send("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "))
		if took := time.Since(begun); err != nil || took > 20*time.Second {
			t.Errorf("it is disconnected after %s, %v", took, err)
		}
	})
}

// When the server is told to stop, it answers the requests that are under way and takes no more. One that takes too
// long is cut off.
func TestStoppingAnswersWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			time.Sleep(lastRequests + 5*time.Second)
		}), slog.New(slog.DiscardHandler))
		l := make(pipeListener)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- listen(ctx, newConnections(l, 10), s, slog.New(slog.DiscardHandler), func() {}) }()
		ask := func() net.Conn {
			near, far := net.Pipe()
			l <- far
			if _, err := io.WriteString(near, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			return near
		}
		early := ask()
		time.Sleep(10 * time.Second)
		late := ask()
		stop()
		answer, err := http.ReadResponse(bufio.NewReader(early), nil)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("the request that ends in time is answered with %v, %v", answer, err)
		}
		if _, open := <-l; open {
			t.Error("the server accepts another connection")
		}
		if left, err := io.ReadAll(late); err != nil || len(left) > 0 {
			t.Errorf("the request that takes too long is answered with %q, %v", left, err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute) // until the handler that was cut off has ended
	})
}
