//go:build proof

package attack

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// urls are addresses that run script, or are none.
var urls = []string{"javascript:alert(1)", "JavaScript:alert(1)", "java\tscript:alert(1)", "java\nscript:alert(1)", "\tjavascript:alert(1)", " javascript:alert(1)", "\x01javascript:alert(1)",
	"java&Tab;script:alert(1)", "&#106;avascript:alert(1)", "&#x6A;avascript&colon;alert(1)", "data:text/html,<script>alert(1)</script>", "DATA:text/html;base64,PHNjcmlwdD4=", "vbscript:x", "VBScript:x", "vb\rscript:x"}

// TestAddressesThatRunScript sends such addresses to every place that takes one.
func TestAddressesThatRunScript(t *testing.T) {
	s := start(t)
	asset := func(content string) string {
		return `{"add":[{"id":"1","generator":{"id":"g"},"content":` + content + `}]}`
	}
	taken := 0
	for _, u := range urls {
		q, _ := json.Marshal(u) // a string always encodes
		for what, r := range map[string]reply{
			"main of a component": s.post("/components/", fmt.Sprintf(`{"name":"n%d","version":"1","main":%s,"configSchema":{}}`, taken, q)),
			"url":                 s.post(library+"/assets", asset(fmt.Sprintf(`{"attachment":[{"version":"1.0","type":"photo","url":{"href":%s}}]}`, q))),
			"link":                s.post(library+"/assets", asset(fmt.Sprintf(`{"attachment":[{"version":"1.0","type":"photo","link":{"href":%s}}]}`, q))),
			"thumbnail":           s.post(library+"/assets", asset(fmt.Sprintf(`{"attachment":[{"version":"1.0","type":"photo","thumbnail_url":{"href":%s}}]}`, q))),
			"provider":            s.post(library+"/assets", asset(fmt.Sprintf(`{"attachment":[{"version":"1.0","type":"photo","provider_url":%s}]}`, q))),
			"provider's href":     s.post(library+"/assets", asset(fmt.Sprintf(`{"attachment":[{"version":"1.0","type":"photo","provider_url":{"href":%s}}]}`, q))),
			"author":              s.post(library+"/assets", asset(fmt.Sprintf(`{"attachment":[{"version":"1.0","type":"photo","author_url":{"href":%s}}]}`, q))),
			"home of an author":   s.post(library+"/assets", asset(fmt.Sprintf(`{"attributedTo":{"url":{"href":%s}}}`, q))),
			"icon of an author":   s.post(library+"/assets", asset(fmt.Sprintf(`{"attributedTo":{"icon":{"url":{"href":%s}}}}`, q))),
		} {
			taken++
			if r.status != 400 {
				t.Errorf("%s %q: status %d: %.200s", what, u, r.status, r.body)
			}
		}
		attribute, _ := json.Marshal(`<a href="` + u + `">x</a>`)
		for what, line := range map[string]string{
			"imported_url":     strings.Replace(record, `"title":"t"`, `"title":"t","imported_url":`+string(q), 1),
			"href of a review": strings.Replace(record, `"<p>x</p>"`, string(attribute), 1),
		} {
			r := s.post("/x/reviews/import", line, header("Content-Type", ndjson)).want(200)
			if !strings.Contains(r.body, `"created":0,`) || !strings.Contains(r.body, `"rejected":1,`) {
				t.Errorf("%s %q: %s", what, u, r.body)
			}
		}
	}
}

// TestMarkupIsAnsweredAsJSON stores markup wherever a text is taken and reads every endpoint: nothing
// but the page cors.html, which is the same for all, is anything but JSON.
func TestMarkupIsAnsweredAsJSON(t *testing.T) {
	s := start(t)
	const markup = `<script>alert(1)</script><img src=x onerror=alert(1)>`
	q, _ := json.Marshal(markup)
	s.post("/components/", fmt.Sprintf(`{"name":"any","version":"1.0.0","main":"/x.js","description":%s,"configSchema":{}}`, q)).want(201)
	var made struct{ ID string }
	s.post("/apps/", fmt.Sprintf(`{"title":%s,"groups":[%q],"elements":[{"component":{"name":"any","version":"1.0.0"},"config":{"html":%[1]s}}]}`, q, network)).want(201).read(&made)
	s.post(library+"/folders", fmt.Sprintf(`{"create":[{"label":%s}]}`, q)).want(200)
	s.post(library+"/assets", fmt.Sprintf(`{"add":[{"id":%s,"generator":{"id":"g"},"content":{"content":%[1]s},"safe_tags":["x"]}]}`, q)).want(200)
	page := s.get("/cors.html").want(200).body
	found := 0
	for _, r := range s.routes(made.ID) {
		for _, query := range []string{"", "?xdm_e=" + "%3Cscript%3E&xdm_c=%22onload%3D&limit=%3Cscript%3E&query=%3Cscript%3E&usingComponent=%3Cb%3E&" + "key=%3Cb%3E"} {
			answer := s.send(r.method, r.path+query, strings.NewReader(fmt.Sprintf(`{%s:1}`, q)), header("Content-Type", "application/json"), header("Accept", "text/html"))
			kind := answer.header.Get("Content-Type")
			if strings.Contains(answer.body, "script>") {
				found++
			}
			switch {
			case answer.header.Get("X-Content-Type-Options") != "nosniff":
				t.Errorf("%s: no nosniff", answer.what)
			case r.path == "/cors.html" && r.method == "GET" && answer.body == page:
			case answer.body != "" && kind != "application/json; charset=utf-8":
				t.Errorf("%s: %d with Content-Type %q", answer.what, answer.status, kind)
			case !strings.Contains(answer.header.Get("Content-Security-Policy"), "frame-ancestors 'none'"):
				t.Errorf("%s: may be framed", answer.what)
			}
		}
	}
	if found < 5 || strings.Contains(page, "alert(1)") {
		t.Errorf("%d answers hold the markup: this shows nothing", found)
	}
}

// TestRequestLines sends request lines as no client would: each is answered or cut off, never with a
// redirect and never with a fault of the server.
func TestRequestLines(t *testing.T) {
	s := start(t)
	addr := strings.TrimPrefix(s.URL, "http://")
	answered := map[int]int{}
	methods := []string{"GET", "POST", "DELETE", "TRACE", "CONNECT", "PRI", "get", "OPTIONS", "HEAD", "M-SEARCH"}
	targets := []string{"/", "//", "///", "/.", "/..", "/../", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd", "/..\\..\\", "/apps/%00", "/apps/%0d%0aSet-Cookie:x=1", "/apps/%zz", "/apps/%",
		"/apps/%2F", "/apps//", "/APPS/", "/apps;x", "/apps/?%", "/apps/?a=%zz", "/apps/#x", "*", "apps", "http://evil.example/apps/", "http://evil.example//apps/", "https://evil.example", "//evil.example/apps/", "/\\evil.example", "/apps/.",
		"/apps/..", "/apps/\xff", "/apps/\u00e9", "/" + strings.Repeat("a", 100_000), "/" + strings.Repeat("../", 1000), "/services/frontline/api/v4/assetManager///x", "/services/frontline/api/v4/assetManager/../../../../../apps/", "/cors.html/", "/cors.html/..", "/healthz/"}
	for _, method := range methods {
		for _, target := range targets {
			status, head := line(t, addr, false, method+" "+target+" HTTP/1.1\r\nHost: example.test\r\nAuthorization: svctoken "+s.token+"\r\nConnection: close\r\n\r\n")
			answered[status]++
			if status >= 300 && status < 400 || status >= 500 && status != 501 && status != 505 {
				t.Errorf("%s %.60q: status %d", method, target, status)
			}
			if head.Get("Location") != "" || head.Get("Set-Cookie") != "" {
				t.Errorf("%s %.60q: %v", method, target, head)
			}
		}
	}
	for _, text := range []string{"", "\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET /apps/ HTTP/1.1\r\n\r\n", "GET /apps/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET /apps/ HTTP/1.1\r\nHost: a b\r\n\r\n", "\x16\x03\x01\x02\x00",
		"POST /apps/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}", "POST /apps/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"POST /apps/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: x\r\n\r\n", "POST /apps/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "GET /apps/ HTTP/1.1\r\nHost: x\r\n folded: y\r\n\r\n",
		"GET /apps/ HTTP/1.1\r\nHost: x\r\nA\x00: y\r\n\r\n", "GET  /apps/ HTTP/1.1\r\nHost: x\r\n\r\n", "GET /apps/\r\n\r\n", strings.Repeat("A", 400_000)} {
		status, _ := line(t, addr, true, text)
		answered[status]++
		if status >= 300 && status < 400 || status >= 500 && status != 501 && status != 505 {
			t.Errorf("%.60q: status %d", text, status)
		}
	}
	s.get("/healthz").want(200)
	if answered[404] < 50 || strings.Contains(s.Log(), "panic") {
		t.Errorf("the answers are %v\n%s", answered, tail(s.Log()))
	}
	t.Logf("statuses and how often; 0 is a closed connection: %v", answered)
}

// line writes a text to a connection of its own, to which nothing more is to come if ends, and reads
// the answer, if there is one.
func line(t *testing.T, addr string, ends bool, text string) (int, http.Header) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(conn, text) // the server may close while we write
	if half, ok := conn.(*net.TCPConn); ok && ends {
		_ = half.CloseWrite()
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: strings.SplitN(text, " ", 2)[0]})
	if err != nil {
		return 0, nil
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, answer.Header
}
