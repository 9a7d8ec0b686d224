package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestForwardedRequests(t *testing.T) {
	trusted, err := parseProxies("10.0.0.0/8, 192.0.2.1,fd00::/8")
	if err != nil {
		t.Fatal(err)
	}
	const host = "inner.test:80"
	for _, c := range []struct {
		peer    string
		headers string // name=value, with semicolons
		address string
		host    string
	}{
		{"203.0.113.9:1", "X-Forwarded-For=198.51.100.1;X-Forwarded-Host=a.test;X-Forwarded-Proto=https",
			"203.0.113.9:1", host},
		{"10.1.2.3:1", "", "10.1.2.3:0", host},
		{"10.1.2.3:1", "X-Forwarded-For=198.51.100.1;X-Forwarded-Host=a.test:8443", "198.51.100.1:0", "a.test:8443"},
		{"10.1.2.3:1", "X-Forwarded-For=9.9.9.9, 198.51.100.1, 10.0.0.7", "198.51.100.1:0", host},
		{"10.1.2.3:1", "X-Forwarded-For=9.9.9.9;X-Forwarded-For=198.51.100.1, 10.0.0.7", "198.51.100.1:0", host},
		{"10.1.2.3:1", "X-Forwarded-For=10.0.0.9, 192.0.2.1", "10.0.0.9:0", host},
		{"10.1.2.3:1", "X-Forwarded-For=9.9.9.9, unknown, 10.0.0.7", "10.0.0.7:0", host},
		{"10.1.2.3:1", "X-Forwarded-For=unknown", "10.1.2.3:0", host},
		{"10.1.2.3:1", "X-Forwarded-For=198.51.100.1:4711", "198.51.100.1:0", host},
		{"[fd00::1]:1", "X-Forwarded-For=[2001:db8::1]:4711", "[2001:db8::1]:0", host},
		{"[fd00::1]:1", "X-Forwarded-For=[2001:db8::1]", "[2001:db8::1]:0", host},
		{"[::ffff:10.0.0.1]:1", "X-Forwarded-For=::ffff:198.51.100.1", "198.51.100.1:0", host},
		{"192.0.2.1:1", "X-Forwarded-Host=evil.test, a.test", "192.0.2.1:0", "a.test"},
		{"192.0.2.1:1", "X-Forwarded-Host=evil.test;X-Forwarded-Host=a.test", "192.0.2.1:0", "a.test"},
		{"192.0.2.1:1", "X-Forwarded-Host=evil.test, ", "192.0.2.1:0", host},
		{"192.0.2.1:1", "X-Forwarded-Host=evil.test;X-Forwarded-Host=a/b", "192.0.2.1:0", host},
		{"192.0.2.2:1", "X-Forwarded-Host=a.test", "192.0.2.2:1", host},
		{"192.0.2.1:1", "X-Forwarded-Host=a.test/x", "192.0.2.1:0", host},
		{"192.0.2.1:1", "X-Forwarded-Host=user@a.test", "192.0.2.1:0", host},
		{"192.0.2.1:1", "X-Forwarded-Host=a test", "192.0.2.1:0", host},
		{"192.0.2.1:1", "X-Forwarded-Host=<b>", "192.0.2.1:0", host},
		{"192.0.2.1:1", "X-Forwarded-Host=\xff.test", "192.0.2.1:0", host},
		{"192.0.2.1:1", "X-Forwarded-Host=bücher.test", "192.0.2.1:0", host},
		{"192.0.2.1:1", "X-Forwarded-Host=xn--bcher-kva.test", "192.0.2.1:0", "xn--bcher-kva.test"},
		{"192.0.2.1:1", "X-Forwarded-Host=a.test?x", "192.0.2.1:0", host},
		{"192.0.2.1:1", "X-Forwarded-Host=[2001:db8::2]:8443", "192.0.2.1:0", "[2001:db8::2]:8443"},
		{"192.0.2.1:1", "X-Forwarded-Host=a.test:65535", "192.0.2.1:0", "a.test:65535"},
		{"192.0.2.1:1", "X-Forwarded-Host=a.test:1", "192.0.2.1:0", "a.test:1"},
		{"192.0.2.1:1", "X-Forwarded-Host=a.test:65536", "192.0.2.1:0", host},
		{"192.0.2.1:1", "X-Forwarded-Host=[2001:db8::2]:99999", "192.0.2.1:0", host},
		{"192.0.2.1:1", "X-Forwarded-Host=a.test:0", "192.0.2.1:0", host},
		{"192.0.2.1:1", "X-Forwarded-Host=a.test:18446744073709551617", "192.0.2.1:0", host},
		{"@", "X-Forwarded-For=198.51.100.1", "@", host},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr, r.Host = c.peer, host
		for pair := range strings.SplitSeq(c.headers, ";") {
			if name, value, ok := strings.Cut(pair, "="); ok {
				r.Header.Add(name, value)
			}
		}
		var seen *http.Request
		trusted.behind(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r })).ServeHTTP(nil, r)
		if seen.RemoteAddr != c.address || seen.Host != c.host {
			t.Errorf("%s, %s: address %s, host %s, want %s and %s", c.peer, c.headers, seen.RemoteAddr, seen.Host,
				c.address, c.host)
		}
	}
}

// The URLs of responses are those that clients of the proxy know, and -base-url wins.
func TestURLsBehindAProxy(t *testing.T) {
	for _, c := range []struct{ args, proto, host, want string }{
		{"-trust-proxy 127.0.0.0/8", "https", "apps.example.test", "https://apps.example.test/apps/"},
		{"-trust-proxy 127.0.0.0/8", "http, HTTPS", "apps.example.test:8443", "https://apps.example.test:8443/apps/"},
		{"-trust-proxy 127.0.0.0/8", "gopher", "a/b", "SERVER/apps/"},
		{"-trust-proxy 10.0.0.0/8", "https", "apps.example.test", "SERVER/apps/"},
		{"", "https", "apps.example.test", "SERVER/apps/"},
		{"-trust-proxy 127.0.0.1 -base-url https://known.example.test", "http", "apps.example.test",
			"https://known.example.test/apps/"},
	} {
		dir, env := t.TempDir(), []string{"VITRINE_DB=memory:", "VITRINE_KEY=a key for tests, 32 bytes long.."}
		s := start(t, dir, env, append([]string{"-access-log"}, strings.Fields(c.args)...)...)
		if strings.Contains(c.args, "-base-url") && s.line() != "clients know it as https://known.example.test" {
			t.Errorf("%s: it does not say how clients know it", c.args)
		}
		token := newToken(t, dir, env)
		r, err := http.NewRequest("POST", s.url+"/apps/", strings.NewReader(oneApp))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Authorization": "Bearer " + token,
			"Content-Type":  "application/json", "X-Forwarded-Proto": c.proto,
			"X-Forwarded-Host": c.host, "X-Forwarded-For": "198.51.100.1",
		} {
			r.Header.Set(name, value)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var made struct{ URL string }
		err = json.NewDecoder(answer.Body).Decode(&made)
		answer.Body.Close()
		want := strings.Replace(c.want, "SERVER", s.url, 1)
		if err != nil || !strings.HasPrefix(made.URL, want) || answer.Header.Get("Location") != made.URL {
			t.Errorf("%s, %s, %s: %q, Location %q, %v, want %q", c.args, c.proto, c.host, made.URL,
				answer.Header.Get("Location"), err, want)
		}
		s.stop()
		believed := strings.Contains(s.stderr.String(), "address=198.51.100.1")
		if believed != strings.Contains(c.args, "127.0.0") {
			t.Errorf("%s: the log names the client's address: %v: %s", c.args, believed, s.stderr.String())
		}
	}
}

func TestAPublicAddressIsWarnedAbout(t *testing.T) {
	dir := t.TempDir()
	for args, warned := range map[string]bool{
		"": true, "-trust-proxy 10.0.0.0/8": false,
		"-base-url https://x.test": false,
	} {
		s := start(t, dir, nil, append([]string{"-db", "memory:", "-addr", ":0"}, strings.Fields(args)...)...)
		s.stop()
		if have := strings.Contains(s.stderr.String(), "level=WARN"); have != warned {
			t.Errorf("%q: warned: %v: %s", args, have, s.stderr.String())
		}
	}
	s := start(t, dir, nil, "-db", "memory:")
	s.stop()
	if strings.Contains(s.stderr.String(), "level=WARN") {
		t.Error(s.stderr.String())
	}
}

// The log says what runs and for how long it stopped. It holds no secret, and no requests unless it is asked for them.
func TestStartAndStopAreLogged(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, []string{"VITRINE_KEY=a key for tests, 32 bytes long.."}, "-db", "v.db", "-log", "json")
	s.do("", "GET", "/openapi.json", "", 200)
	s.stop()
	var messages []string
	for line := range strings.Lines(s.stderr.String()) {
		var entry struct{ Msg, Version, Store, Keys, Address string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		messages = append(messages, entry.Msg)
		if entry.Msg == "started" &&
			(!strings.Contains(entry.Version, "go1.") || entry.Store != "v.db" || len(entry.Keys) != 16 ||
				"http://"+local(entry.Address) != s.url) {
			t.Errorf("%s", line)
		}
	}
	const want = "; started; stopping: requests that are under way are answered; stopped"
	first, rest, _ := strings.Cut(strings.Join(messages, "; "), " see whether -db is right")
	if rest != want || !strings.HasPrefix(first, "no store was there") {
		t.Errorf("%q, want that a store is new, and %q", messages, want)
	}
	if strings.Contains(s.stderr.String(), "a key for tests") {
		t.Error("the log has the key")
	}
	have := shown("postgres://user:secret@db1,db2:5432/vitrine?password=secret")
	if have != "postgres://db1,db2:5432/vitrine" {
		t.Error(have)
	}
}
