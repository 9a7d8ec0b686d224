//go:build proof

package attack

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

var (
	connections = flag.Int("connections", 1000, "clients that do not read long answers")
	staying     = flag.Duration("staying", 5*time.Second, "how long crowds of clients stay")
)

// mostMiB is the memory that the server takes whatever clients do.
const mostMiB = 768

// crowd is clients that each hold a connection.
type crowd struct {
	s       *server
	clients []net.Conn
	most    time.Duration // how long others wait at most
}

// user is one of the callers that make up a crowd.
func (s *server) user(i int) string {
	return s.sign(
		httpapi.Principal{Caller: vitrine.Caller{URN: fmt.Sprintf("%s:user=crowd%d", network, i),
			Moderates: []string{network}}})
}

// gather opens n connections and sends what text says on each.
func gather(s *server, n int, text func(i int) string) *crowd {
	s.t.Helper()
	c := &crowd{s: s, clients: make([]net.Conn, n), most: patience()}
	s.t.Cleanup(c.leave)
	var all sync.WaitGroup
	const hands = 8
	for hand := range hands {
		all.Go(func() {
			for i := hand; i < n; i += hands {
				conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
				if err != nil {
					s.t.Error(err)
					return
				}
				_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
				_, _ = io.WriteString(conn, text(i)) // the server may have refused it
				c.clients[i] = conn
			}
		})
	}
	all.Wait()
	return c
}

func (c *crowd) leave() {
	for _, conn := range c.clients {
		if conn != nil {
			_ = conn.Close()
		}
	}
}

// patience is how long others may wait beside a crowd: a second, and more on a machine that does other work, too.
func patience() time.Duration {
	var load float64
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		_, _ = fmt.Sscan(string(text), &load)
	}
	return time.Duration(max(1, load/float64(runtime.NumCPU())) * float64(time.Second))
}

// stays has the crowd do something every second, for as long as it stays. Beside it the server is well, and answers
// others unless they may be refused. It returns how long /healthz took at most.
func (c *crowd) stays(others bool, do func(i int, conn net.Conn)) (slowest time.Duration) {
	c.s.t.Helper()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	asks, late, longest := 0, 0, time.Duration(0)
	well := time.Now() // when /healthz was 200 last
	for begun, next := time.Now(), time.Now(); time.Since(begun) < *staying; time.Sleep(50 * time.Millisecond) {
		if do != nil && time.Now().After(next) {
			next = next.Add(time.Second)
			for i, conn := range c.clients {
				do(i, conn)
			}
		}
		asked := time.Now()
		answer, err := client.Get(c.s.URL + "/healthz")
		if err != nil {
			c.s.t.Fatalf("/healthz: %v", err)
		}
		_ = answer.Body.Close()
		switch asks++; answer.StatusCode {
		case 200:
			well = time.Now()
		case 503: // the store did not answer within a second, which may happen on a busy machine
			late++
			if took := time.Since(well); took > c.most {
				c.s.t.Fatalf("/healthz is 503 for %v", took)
			}
		default:
			c.s.t.Fatalf("/healthz: %s after %s", answer.Status, time.Since(asked))
		}
		slowest = max(slowest, time.Since(asked))
		if others {
			asked = time.Now()
			c.s.get("/components/").want(200) // which is small: large responses may have to wait
			longest = max(longest, time.Since(asked))
		}
	}
	if longest > c.most {
		c.s.t.Errorf("a small read of another caller took %v, at most %v", longest, c.most)
	}
	c.s.t.Logf("%d clients: /healthz was 503 %d times of %d, and a small read of another caller took %v at most",
		len(c.clients), late, asks, longest)
	if 2*late > asks {
		c.s.t.Errorf("/healthz was 503 %d times of %d", late, asks)
	}
	return slowest
}

// long makes an app with versions of 1 MiB, whose pages have 4, and returns the page's path.
func (s *server) long() string {
	s.t.Helper()
	s.component("long", "{}").want(201)
	id := s.newApp("long", `{"text":"`+strings.Repeat("0123456789abcdef", 1<<20/16)+`"}`)
	for v := range 16 {
		s.send("PATCH", "/apps/"+id, strings.NewReader(fmt.Sprintf(
			`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace","path":"/apps/0/title",`+
				`"value":"%[1]d"}]`, v))).want(200)
	}
	return "/apps/" + id + "/versions/?limit=500"
}

// TestAnswersThatAreNotRead has many clients ask for 4 MiB each and read nothing. The memory of the server is
// bounded, and small requests are answered. A large one is answered once the slowest were cut off to make room.
func TestAnswersThatAreNotRead(t *testing.T) {
	s := start(t)
	if !measured(t) {
		t.Skip("memory is measured on Linux")
	}
	path := s.long()
	s.usage()
	c := gather(s, *connections, func(i int) string {
		return fmt.Sprintf("GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken %s\r\n\r\n", path, s.user(i%50))
	})
	slowest := c.stays(true, nil)
	u := s.usage()
	if u.peak>>10 > mostMiB {
		t.Errorf("the server took %d MiB, at most %d", u.peak>>10, mostMiB)
	}
	t.Logf("%d clients: %d MiB at most, /healthz in %s at most", *connections, u.peak>>10, slowest)
	if status := s.get(path).status; status != 200 && status != 503 {
		t.Errorf("a large response beside them: %d", status)
	}
	for begun := time.Now(); s.get(path).status != 200; time.Sleep(100 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Error("a minute later no large response has found room")
			break
		}
	}
	c.leave()
	s.get(path).want(200)
}

// busy waits until every connection that the server takes has a request under way.
func (s *server) busy() {
	s.t.Helper()
	var have map[string]float64
	for begun := time.Now(); time.Since(begun) < 3*time.Minute; time.Sleep(20 * time.Millisecond) {
		var err error
		if have, err = s.Metrics(); err != nil {
			s.t.Fatal(err)
		}
		if have["vitrine_connections_open"] >= have["vitrine_connections_limit"] &&
			have["vitrine_connections_idle"] == 0 {
			return
		}
	}
	s.t.Fatalf("%v of %v connections are open and %v of them idle: want all, and none",
		have["vitrine_connections_open"], have["vitrine_connections_limit"], have["vitrine_connections_idle"])
}

// TestBodiesThatTrickle has more clients than there are connections send a byte a second of a body. The server is
// found well all the time, also while every connection has a request under way.
func TestBodiesThatTrickle(t *testing.T) {
	for name, head := range map[string]string{
		"of an app": "POST /apps/ HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken %s\r\nContent-Type: " +
			"application/json\r\nContent-Length: 4000000\r\n\r\n",
		"of reviews": "POST /x/reviews/import HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken %s\r\nContent-Type: " +
			"application/x-ndjson\r\nContent-Length: 4000000\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, "-metrics-addr", "127.0.0.1:0")
			c := gather(s, 1100, func(i int) string { return fmt.Sprintf(head, s.user(i%50)) + " " })
			if !strings.Contains(head, "reviews") { // of which most are refused
				s.busy()
			}
			slowest := c.stays(false, func(_ int, conn net.Conn) { _, _ = conn.Write([]byte(" ")) })
			t.Logf("/healthz in %s at most", slowest)
			if strings.Contains(head, "reviews") {
				s.slots(c)
			}
			c.leave()
			for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
				if r := s.get("/apps/?limit=1"); r.status == 200 {
					break
				} else if time.Since(begun) > 2*time.Minute {
					t.Fatalf("when they have gone: %d %s", r.status, r.body)
				}
			}
		})
	}
}

// slots counts what has become of the uploads of a crowd: 8 of one network have a slot.
func (s *server) slots(c *crowd) {
	s.t.Helper()
	open, refused := 0, 0
	for _, conn := range c.clients {
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		switch {
		case err == nil && answer.StatusCode == 429 && answer.Header.Get("Retry-After") != "":
			refused++
		case os.IsTimeout(err):
			open++
		}
	}
	if open > 50 || refused < 900 { // some have not been looked at
		s.t.Errorf("%d uploads are open and %d refused, want 8 open", open, refused)
	}
}
