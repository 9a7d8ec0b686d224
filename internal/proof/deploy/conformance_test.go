//go:build proof && linux

package deploy_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// request is a request as it is written to the wire, so that no client mends its path.
type request struct {
	method, path string
	headers      []string // lines
	body         string
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// send writes a request to a connection, reads the answer and closes the connection.
func send(t *testing.T, conn net.Conn, r request) answer {
	t.Helper()
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	lines := append([]string{r.method + " " + r.path + " HTTP/1.1", "Host: " + site, "Connection: close"}, r.headers...)
	if r.body != "" {
		lines = append(lines, fmt.Sprintf("Content-Length: %d", len(r.body)))
	}
	wrote := make(chan error, 1)
	go func() {
		_, err := io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n\r\n"+r.body)
		wrote <- err
	}()
	a, err := receive(bufio.NewReader(conn), r.method)
	if err != nil {
		t.Fatalf("%s %.100s: %v (sent: %v)", r.method, r.path, err, <-wrote)
	}
	return a
}

// receive reads an answer.
func receive(from *bufio.Reader, method string) (answer, error) {
	resp, err := http.ReadResponse(from, &http.Request{Method: method})
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(body)}, err
}

// direct sends a request to the server as a proxy does.
func (s *server) direct(t *testing.T, r request) answer {
	t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	r.headers = append(slices.Clone(r.headers), "X-Forwarded-Proto: https", "X-Forwarded-Host: "+site,
		"X-Forwarded-For: 127.0.0.2")
	return send(t, conn, r)
}

// do sends a request with the token of the editor to the server and expects a status.
func (s *server) do(t *testing.T, method, path, body string, status int) answer {
	t.Helper()
	a := s.direct(t, s.signed(method, path, body))
	if a.status != status {
		t.Fatalf("%s %s: %d, want %d: %s", method, path, a.status, status, a.body)
	}
	return a
}

// signed is a request with the token of the editor.
func (s *server) signed(method, path, body string, headers ...string) request {
	r := request{method, path, append([]string{"Authorization: Bearer " + s.token}, headers...), body}
	if body != "" {
		r.headers = append(r.headers, "Content-Type: application/json")
	}
	return r
}

// newApp creates an app with a text in its config and returns its id.
func (s *server) newApp(t *testing.T, text string) string {
	t.Helper()
	config, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		t.Fatal(err)
	}
	a := s.do(t, "POST", "/apps/",
		`{"title":"Front page","groups":["urn:vitrine:example.test:site=1"],`+
			`"elements":[{"component":{"name":"@scope/poll","version":"1.0.0"},"config":`+string(config)+`}]}`, 201)
	return a.member(t, "id")
}

// member is a string in an answer.
func (a answer) member(t *testing.T, name string) string {
	t.Helper()
	var all map[string]any
	err := json.Unmarshal([]byte(a.body), &all)
	text, ok := all[name].(string)
	if err != nil || !ok {
		t.Fatalf("no %s in %s: %v", name, a.body, err)
	}
	return text
}

// fill puts an app with a tag, one with a long answer, and reviews into the server, and returns the apps' ids.
func (s *server) fill(t *testing.T) (small, large string) {
	t.Helper()
	s.do(t, "POST", "/components/",
		`{"name":"@scope/poll","version":"1.0.0","main":"https://example.test/poll.js",`+
			`"configSchema":{"type":"object"}}`, 201)
	small = s.newApp(t, "Tea?")
	large = s.newApp(t, strings.Repeat("Tea or coffee? ", 4000))
	s.do(t, "PUT", "/apps/"+small+"/tags/production", `{"appVersion":"0"}`, 201)
	return small, large
}

// hop are the headers that are a proxy's own, or differ with each answer.
var hop = []string{"Date", "X-Request-Id", "Connection", "Keep-Alive", "Server", "Via", "Alt-Svc", "Transfer-Encoding",
	"Content-Length"}

// differs says how two answers differ.
func (a answer) differs(b answer) string {
	if a.status != b.status || a.body != b.body {
		return fmt.Sprintf("%d %.300q\nwant %d %.300q", a.status, a.body, b.status, b.body)
	}
	var out strings.Builder
	names := map[string]bool{}
	for _, header := range []http.Header{a.header, b.header} {
		for name := range header {
			names[name] = true
		}
	}
	for name := range names {
		if have, want := a.header[name], b.header[name]; !slices.Contains(hop, name) && !slices.Equal(have, want) {
			fmt.Fprintf(&out, "%s %q, want %q\n", name, have, want)
		}
	}
	return out.String()
}

const assetManager = "/services/frontline/api/v4/assetManager/"

// reads are requests that change nothing.
func (s *server) reads(t *testing.T, small, large string) []request {
	etag := s.do(t, "GET", "/apps/"+small, "", 200).header.Get("Etag")
	var all []request
	for _, path := range []string{"/apps", "/apps/", "/apps/?", "/apps?limit=1", "/apps?limit=0",
		"/apps?limit=1&limit=2", "/apps?usingComponent=%40scope%2Fpoll",
		"/apps?usingComponent=@scope/poll", "/apps?x=%zz", "/apps/" + small, "/apps/" + large,
		"/apps/" + small + "/versions/0", "/apps/" + small + "/tagged/production",
		"/apps/" + small + "/history/", "/apps/" + small + "?withDefaults=true", "/components/",
		"/components/%40scope%2Fpoll", "/components/@scope%2Fpoll",
		"/components/%40scope/poll", "/components/%2540scope%252Fpoll", "/x/me", "/x/changes", "/x/changes?limit=1",
		"/x/reviews/export",
		assetManager + "/example.test/assetLibrary/example.test/assets",
		assetManager + "example.test/assetLibrary/example.test/assets",
		assetManager + "//example.test/assetLibrary/example.test/assets",
		assetManager + "/example.test/assetLibrary/example.test/assets?query=%E2%98%95+tea",
		assetManager + "/example.test/assetLibrary/example.test/folders",
		assetManager + "/other.test/assetLibrary/other.test/assets",
		"//apps", "//apps/", "/apps//", "///", "/apps//" + small, "/./apps/", "/apps/.", "/apps/./", "/apps/..",
		"/x/../apps/", "/%2e%2e/apps/", "/apps/%2e%2e/apps/",
		"/..", "/../apps/", "/apps%2F", "/apps/%2F", "/apps;x=1", "/apps/%00", "/apps/%zz", "/apps/%E2%98%95",
		"/apps/\xe2\x98\x95", "/Apps/", "/apps/a+b", "/apps/a%20b", "/apps/a%5Cb",
		"/apps/a:b@c!$&'()*,=~", "/apps/" + strings.Repeat("a", 5000), "/apps?sort=" + strings.Repeat("a", 7000),
		"/cors.html", "/cors.html?xdm_e=https://a.test&xdm_c=1&xdm_p=1",
		"/openapi.json", "/healthz", "/healthz/", "/nothing", "/favicon.ico", "/robots.txt", "/metrics",
		"/x/console/none.js"} {
		all = append(all, s.signed("GET", path, ""))
	}
	for _, path := range []string{"/", "/apps/" + small, "/apps/" + large, "/openapi.json",
		assetManager + "/example.test/assetLibrary/example.test/assets"} {
		all = append(all, s.signed("GET", path, "", "Accept: text/html"),
			s.signed("GET", path, "", "Accept-Encoding: gzip"),
			s.signed("GET", path, "", "Accept-Encoding: br, gzip;q=0.5"),
			s.signed("HEAD", path, ""), s.signed("GET", path, "", "If-None-Match: "+etag),
			s.signed("GET", path, "", "Accept-Encoding: gzip", `If-None-Match: "none", `+etag),
			s.signed("PUT", path, ""), s.signed("GET", path, "", "Range: bytes=0-9"),
			request{method: "GET", path: path},
			request{method: "OPTIONS", path: path,
				headers: []string{"Origin: https://page.test", "Access-Control-Request-Method: PATCH"}})
	}
	// A token as long as tokens may be, in the header and in the query.
	long := strings.Repeat("x", 16<<10)
	return append(all, request{"GET", "/apps", []string{"Authorization: Bearer " + long}, ""},
		request{"GET", "/apps?svctoken=" + long, nil, ""},
		request{"GET", "/apps?svctoken=" + s.token, nil, ""}, s.signed("GET", "/apps?svctoken="+s.token, ""),
		request{"GET", "/apps", []string{"Authorization: Basic eDp5"}, ""},
		s.signed("GET", "/apps", "", "X-Forwarded-Host: other.test", "X-Forwarded-Proto: http",
			"X-Forwarded-For: 203.0.113.9"))
}

// A request gets the same answer through a proxy as without it: the same status, headers and bytes.
func TestAnswersAreTheSameThroughAProxy(t *testing.T) {
	s := newServer(t)
	small, large := s.fill(t)
	reads := s.reads(t, small, large)
	want := make([]answer, len(reads))
	for i, r := range reads {
		r.headers = slices.DeleteFunc(slices.Clone(r.headers), func(line string) bool {
			return strings.HasPrefix(line, "X-Forwarded-")
		})
		want[i] = s.direct(t, r)
	}
	eachProxy(t, func(t *testing.T, k kind) {
		p := k.before(t, s.address)
		refused := map[string]bool{}
		for i, r := range reads {
			have := send(t, p.dial(t), r)
			if status := k.own[r.path]; status != 0 {
				refused[r.path] = true
				if have.status != status {
					t.Errorf("%s %s: %d, want %d from the proxy itself", r.method, r.path, have.status, status)
				}
			} else if diff := have.differs(want[i]); diff != "" {
				t.Errorf("%s %.200s %.100q: %s", r.method, r.path, r.headers, diff)
			}
		}
		if len(refused) != len(k.own) {
			t.Errorf("of the paths %v only %v were asked for", k.own, refused)
		}
		if strings.Contains(p.logged(t), s.token) {
			t.Error("the log of the proxy has a token")
		}
	})
}

// Writes go through once, with their keys, and what the answers name is what clients know.
func TestWritesThroughAProxy(t *testing.T) {
	s := newServer(t)
	s.fill(t)
	eachProxy(t, func(t *testing.T, k kind) {
		p := k.before(t, s.address)
		ask := func(r request, status int) answer {
			t.Helper()
			a := send(t, p.dial(t), r)
			if a.status != status {
				t.Fatalf("%s %s: %d, want %d: %.500s", r.method, r.path, a.status, status, a.body)
			}
			return a
		}
		const body = `{"title":"New","groups":["urn:vitrine:example.test"]}`
		made := ask(s.signed("POST", "/apps/", body, "Idempotency-Key: once-"+k.name), 201)
		again := ask(s.signed("POST", "/apps/", body, "Idempotency-Key: once-"+k.name), 201)
		if made.body != again.body {
			t.Errorf("%s is repeated as %s", made.body, again.body)
		}
		id := made.member(t, "id")
		if want := "https://" + site + "/apps/" + id; made.member(t, "url") != want ||
			made.header.Get("Location") != want {
			t.Errorf("url %s, Location %s, want %s", made.member(t, "url"), made.header.Get("Location"), want)
		}
		patch := `[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"replace","path":"/apps/0/title",` +
			`"value":"Newer"}]`
		ask(s.signed("PATCH", "/apps/"+id, patch), 200)
		ask(s.signed("PATCH", "/apps/"+id, patch), 409)
		ask(s.signed("PUT", "/apps/"+id+"/tags/a.b-c", `{"appVersion":"1","from":null}`), 201)
		ask(s.signed("DELETE", "/apps/"+id+"/tags/a.b-c", "", "Idempotency-Key: gone-"+k.name), 204)
		chunked := s.signed("POST", "/apps/", "", "Content-Type: application/json", "Transfer-Encoding: chunked")
		chunked.path = "/apps/?"
		conn := p.dial(t)
		if _, err := fmt.Fprintf(conn, "POST /apps/ HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n", site,
			strings.Join(chunked.headers, "\r\n")); err != nil {
			t.Fatal(err)
		}
		for part := range slices.Chunk([]byte(body), 7) {
			if _, err := fmt.Fprintf(conn, "%x\r\n%s\r\n", len(part), part); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := io.WriteString(conn, "0\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if a, err := receive(bufio.NewReader(conn), "POST"); err != nil || a.status != 201 {
			t.Errorf("in chunks: %v, %v", a, err)
		}
		conn.Close()
		if a := ask(s.signed("POST", "/apps/", strings.Repeat(" ", 5<<20)+body), 413); a.member(t,
			"code") != "too_large" {
			t.Errorf("a body that is too large: %s", a.body)
		}
		// A client cannot make up where it is.
		ask(s.signed("GET", "/apps/"+id, "", "X-Forwarded-For: 203.0.113.9", "Forwarded: for=203.0.113.9"), 200)
		if strings.Contains(s.Log(), "203.0.113.9") || !strings.Contains(s.Log(), "address=127.0.0.2") {
			t.Errorf("the log does not have the address of the client, or one that it made up: %s", s.Log())
		}
	})
}

// What is refused is refused before its body has come, and a long upload goes on while it comes.
func TestUploadsAreNotCollectedByAProxy(t *testing.T) {
	s := newServer(t)
	eachProxy(t, func(t *testing.T, k kind) {
		p := k.before(t, s.address)
		head := func(token string, length int) string {
			return fmt.Sprintf("POST /x/reviews/import?network=example.test HTTP/1.1\r\nHost: %s\r\nAuthorization: "+
				"Bearer %s\r\nContent-Type: application/x-ndjson\r\nContent-Length: %d\r\n\r\n",
				site, token, length)
		}
		conn := p.dial(t)
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, head(signed(t, "visitor"), 100<<20)); err != nil {
			t.Fatal(err)
		}
		// The client goes on slowly, as clients do until they have an answer. At this pace the whole would take hours.
		go func() {
			for _, err := io.WriteString(conn, "the beginning of a file"); err == nil; _,
				err = io.WriteString(conn, "and so on") {
				time.Sleep(10 * time.Millisecond)
			}
		}()
		if a, err := receive(bufio.NewReader(conn), "POST"); err != nil || a.status != 403 {
			t.Errorf("an upload that is not allowed: %d %s, %v: it is answered once it has come as a whole", a.status,
				a.body, err)
		}
		conn.Close()

		var file bytes.Buffer
		const lines = 3000
		for i := range lines {
			fmt.Fprintf(&file,
				`{"source":"%s","title":"Kettle","created":"2019-01-05T09:30:00Z","id":"%s",`+
					`"dimensions":["default"],"reviews":[{"id":"1","imported_display_name":"Ada","title":"Quick",`+
					`"body_html":"<p>%s</p>","created":"2019-04-02T10:00:00Z","ratings":[100]}]}`+"\n",
				k.name, fmt.Sprintf("k%07d", i), strings.Repeat("Boils. ", 500))
		}
		conn = p.dial(t)
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, head(s.token, file.Len())); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(conn, &file); err != nil {
			t.Fatal(err)
		}
		a, err := receive(bufio.NewReader(conn), "POST")
		if err != nil || a.status != 200 || !strings.Contains(a.body, fmt.Sprintf(`"created":%d,`, lines)) {
			t.Errorf("%d %.500s, %v, want %d created", a.status, a.body, err, lines)
		}
	})
}

// Redirects carry no token, since only the start page has one.
func TestPlainHTTP(t *testing.T) {
	eachProxy(t, func(t *testing.T, k kind) {
		p := k.before(t, "127.0.0.1:1")
		for path, want := range map[string]string{"/": "301 https://" + site + "/", "/apps?svctoken=x": "404 ",
			"/cors.html": "404 "} {
			conn, err := net.Dial("tcp", p.plain)
			if err != nil {
				t.Fatal(err)
			}
			a := send(t, conn, request{method: "GET", path: path})
			have := fmt.Sprintf("%d %s", a.status, a.header.Get("Location"))
			if have = strings.Replace(have, "302 ", "301 ", 1); have != want {
				t.Errorf("%s: %s, want %s", path, have, want)
			}
		}
	})
}

// A backend that reads a request and closes the connection, as one that is killed does, gets each write once.
func TestAProxySendsNoWriteTwice(t *testing.T) {
	eachProxy(t, func(t *testing.T, k kind) {
		backend, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Close()
		seen := make(chan string, 100)
		go func() {
			for {
				conn, err := backend.Accept()
				if err != nil {
					return
				}
				go func() {
					defer conn.Close()
					in := bufio.NewReader(conn)
					for {
						r, err := http.ReadRequest(in)
						if err != nil {
							return
						}
						if _, err := io.Copy(io.Discard, r.Body); err != nil {
							return
						}
						if r.URL.Path == "/fine" {
							_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
							continue
						}
						seen <- r.Method
						return
					}
				}()
			}
		}()
		p := k.before(t, backend.Addr().String())
		for _, method := range []string{"POST", "PATCH", "PUT", "DELETE"} {
			for _, body := range []string{"{}", ""} {
				for _, reused := range []bool{false, true} {
					if reused { // the proxy keeps a connection to the backend
						if a := send(t, p.dial(t), request{method: "GET", path: "/fine"}); a.status != 200 {
							t.Fatalf("%d %s", a.status, a.body)
						}
					}
					a := send(t, p.dial(t), request{method, "/apps/x", nil, body})
					if a.status < 500 {
						t.Errorf("%s: %d %s", method, a.status, a.body)
					}
					if n := len(seen); n != 1 {
						t.Errorf("%s with the body %q, over a connection that was used before: %v: the backend has "+
							"got it %d times", method, body, reused, n)
					}
					for len(seen) > 0 {
						<-seen
					}
				}
			}
		}
	})
}
