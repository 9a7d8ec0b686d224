package main

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const oneApp = `{"title":"One","groups":["urn:vitrine:example.test:site=1"]}`

// Another program may answer at the address, with 200 for every path.
func TestHealthzOfAnotherServer(t *testing.T) {
	for _, body := range []string{
		`{}`, `{"status":"ok?"}`, "<html>", "",
		`{"status":"ok"` + strings.Repeat(" ", 1<<20),
	} {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, body)
		}))
		out := run(t, t.TempDir(), nil, "healthz", "-addr", strings.TrimPrefix(other.URL, "http://"))
		if out.status != 1 || len(out.stderr) > 300 ||
			!strings.Contains(out.stderr, `, not {"status":"ok"}: another program may be listening there`) {
			t.Errorf("healthz of a server that answers %.20s: %+v", body, out)
		}
		other.Close()
	}
}

func TestServeTokenBackup(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, nil, "-db", "v.db")
	token := newToken(t, dir, nil, "-db", "v.db")
	var made struct{ ID, URL string }
	if err := json.Unmarshal([]byte(s.do(token, "POST", "/apps/", oneApp, 201)), &made); err != nil ||
		made.URL != s.url+"/apps/"+made.ID {
		t.Fatalf("%+v, %v", made, err)
	}
	if out := run(t, dir, nil, "healthz", "-addr", strings.TrimPrefix(s.url, "http://")); out.status != 0 {
		t.Errorf("healthz: %+v", out)
	}

	busy, stopWriting := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		for busy.Err() == nil {
			s.do(token, "POST", "/apps/", oneApp, 201)
		}
	})
	if out := run(t, dir, nil, "backup", "-db", "v.db", "copy.db"); out.status != 0 || out.stdout != "" ||
		strings.Count(out.stderr, "\n") != 1 ||
		!strings.Contains(out.stderr, "keys that sign tokens are not in copy.db") ||
		!strings.Contains(out.stderr, " v.db.key ") {
		t.Errorf("backup: %+v", out)
	}
	if out := run(t, dir, nil, "backup", "-db", "copy.db", "second.db"); out.status != 0 || out.stdout != "" ||
		strings.Count(out.stderr, "\n") != 1 ||
		!strings.Contains(out.stderr, "keys that sign tokens are not in second.db") ||
		strings.Contains(out.stderr, "copy.db.key") {
		t.Errorf("backup of a store without a key beside it: %+v", out)
	}
	stopWriting()
	writing.Wait()
	if _, err := os.Stat(filepath.Join(dir, "copy.db.key")); err == nil {
		t.Error("the backup holds the key")
	}
	s.stop()
	if out := run(t, dir, nil, "healthz", "-addr", strings.TrimPrefix(s.url, "http://")); out.status != 1 {
		t.Errorf("healthz of a stopped server: %+v", out)
	}

	again := start(t, dir, nil, "-db", "v.db")
	again.do(token, "GET", "/apps/"+made.ID, "", 200)
	again.stop()
	restored := start(t, dir, nil, "-db", "copy.db", "-key-file", "v.db.key")
	restored.do(token, "GET", "/apps/"+made.ID, "", 200)
	restored.stop()
}

func TestTheReadyLineHoldsTheBasePath(t *testing.T) {
	for path, want := range map[string]string{"/": "", "/app-service/v4": "/app-service/v4", "v4/": "/v4"} {
		s := start(t, t.TempDir(), nil, "-db", "memory:", "-base-path", path)
		if s.base != s.url+want {
			t.Errorf("-base-path %s: serving %s", path, s.base)
		}
		s.do("", "GET", want+"/openapi.json", "", 200)
		s.do("", "GET", "/healthz", "", 200)
	}
}

func TestDemoLinesWorkAsTheyStand(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	dir := t.TempDir()
	for _, c := range []struct {
		args  string
		fills bool
	}{{"-db memory: -base-path /app-service/v4", true}, {"-db demo.db", true}, {"-db demo.db", false}} {
		s := start(t, dir, nil, append([]string{"-demo"}, strings.Fields(c.args)...)...)
		for ran := 0; ran < 3; {
			line := s.line()
			if !strings.HasPrefix(line, "curl ") {
				continue
			}
			ran++
			out, err := exec.Command("sh", "-c", line+" -sS --fail-with-body").CombinedOutput()
			if err != nil || !json.Valid(out) {
				t.Errorf("%s: %s: %v: %s", c.args, line, err, out)
			}
		}
		s.stop()
		if filled := !strings.Contains(s.stderr.String(), "not empty"); filled != c.fills {
			t.Errorf("%s: sample data added: %v", c.args, filled)
		}
	}
}

// The sample data have addresses as clients know them, also where a proxy changes the path.
func TestDemoAddressesAreThoseOfTheBaseURL(t *testing.T) {
	s := start(t, t.TempDir(), nil, "-demo", "-db", "memory:", "-base-path", "/v4", "-base-url",
		"https://apps.example.test/cms")
	token := ""
	for !strings.HasPrefix(token, "ey") {
		token = s.line()
	}
	got := s.do(token, "GET", "/v4/apps/"+demoID(6)+"/tagged/production", "", 200)
	if !strings.Contains(got, `"/cms/x/demo/gallery.js"`) || !strings.Contains(got, `"/cms/x/file/`) ||
		strings.Contains(got, `"/v4/`) {
		t.Errorf("the front page: %s", got)
	}
}

// -demo prints a token, so it is not for a store in which somebody else's data is.
func TestADemoTokenHasNoRightOverOtherData(t *testing.T) {
	dir := t.TempDir()
	token := func(s *testServer) string {
		for {
			if line := s.line(); strings.HasPrefix(line, "ey") {
				return line
			}
		}
	}
	real := start(t, dir, nil, "-db", "real.db")
	real.do(newToken(t, dir, nil, "-db", "real.db"), "POST", "/apps/", oneApp, 201)
	real.stop()
	out := run(t, dir, nil, "-demo", "-db", "real.db", "-addr", "127.0.0.1:0")
	if out.status != 2 || out.stdout != "" || strings.Count(out.stderr, "\n") != 1 ||
		!strings.Contains(out.stderr, "-demo") {
		t.Errorf("a store with other data: %+v", out)
	}
	if err := os.Remove(filepath.Join(dir, "real.db.key")); err != nil {
		t.Fatal(err)
	}
	out = run(t, dir, nil, "-demo", "-db", "real.db", "-addr", "127.0.0.1:0")
	if out.status != 2 || out.stdout != "" || strings.Count(out.stderr, "\n") != 1 ||
		!strings.Contains(out.stderr, "-demo") {
		t.Errorf("a store with other data and no key: %+v", out)
	}
	if _, err := os.Lstat(filepath.Join(dir, "real.db.key")); err == nil {
		t.Error("a key was made for a store that is refused")
	}

	start(t, dir, nil, "-db", "empty.db").stop()
	first := start(t, dir, nil, "-demo", "-db", "empty.db")
	demo := token(first)
	var list struct{ Apps []struct{ ID string } }
	if err := json.Unmarshal([]byte(first.do(demo, "GET", "/apps/", "", 200)), &list); err != nil ||
		len(list.Apps) < 3 {
		t.Errorf("an empty store: %+v, %v", list, err)
	}
	var made struct{ ID string }
	created := first.do(newToken(t, dir, nil, "-db", "empty.db"), "POST", "/apps/", oneApp, 201)
	if err := json.Unmarshal([]byte(created), &made); err != nil {
		t.Fatal(err)
	}
	first.stop()

	again := start(t, dir, nil, "-demo", "-db", "empty.db")
	demo = token(again)
	again.do(demo, "GET", "/apps/"+list.Apps[0].ID, "", 200)
	again.do(demo, "GET", "/apps/"+made.ID, "", 404)
	again.do(demo, "DELETE", "/components/none", "", 403)
	again.stop()

	if out := run(t, dir, nil, "export", "-db", "empty.db"); out.status != 0 {
		t.Fatalf("%+v", out)
	} else if err := os.WriteFile(filepath.Join(dir, "archive"), []byte(out.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run(t, dir, nil, "import", "-db", "copy.db", "archive"); out.status != 0 {
		t.Fatalf("%+v", out)
	}
	start(t, dir, nil, "-demo", "-db", "copy.db").stop() // the mark is data like any other
}

func TestCommandLinesThatMakeNoSense(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"spam"}, {"-spam"}, {"serve", "now"}, {"serve", "-keep-changes", "0"}, {"serve", "-max-file", "1kB"},
		{"serve", "-max-files", "0"},
		{"serve", "-max-file", "-1MB"}, {"serve", "-max-file", "99999999999GB"}, {"serve", "-max-file", ""},
		{"serve", "-keep-deleted", "0"},
		{"feed"}, {"feed", "rest"},
		{"serve", "-db", "memory:", "-protect-tags", "production, staging"},
		{"serve", "-db", "memory:", "-protect-tags", ","},
		{"serve", "-db", "memory:", "-protect-tags", "a,none"},
		{"serve", "-db", "memory:", "-languages", "en,en"},
		{"serve", "-db", "memory:", "-languages", "none,en"},
		{"serve", "-db", "memory:", "-protect-tags", "none", "-approve", "a=1"},
		{"serve", "-db", "memory:", "-approve", "a"}, {"serve", "-db", "memory:", "-approve", "a=0"},
		{"serve", "-db", "memory:", "-approve", "a=1,a=2"},
		{"serve", "-db", "memory:", "-approve", "a=1:"}, {"serve", "-db", "memory:", "-approve", "a=1:alone"},
		{"serve", "-db", "memory:", "-approve", "a=:independent"},
		{"token"}, {"token", "-urn", "bob"}, {"token", "-urn", "urn:vitrine:x:user=y", "more"},
		{"backup"}, {"backup", "a", "b"}, {"healthz", "x"}, {"-db", ""}, {"healthz", "-addr", "http://127.0.0.1:8080"},
		{"healthz", "-addr", "8080"}, {"version", "x"},
		{"token", "-urn", "urn:vitrine:x"}, {"token", "-urn", "urn:vitrine:x:site=1"},
		{"token", "-urn", "urn:vitrine:x:user=y", "-moderates", "urn:vitrine:x,urn:vitrine"},
		{"token", "-urn", "urn:vitrine:x:user=y", "-roles", "\xff"}, {"reviews"},
	} {
		out := run(t, dir, nil, args...)
		if out.status != 2 || out.stdout != "" || !strings.Contains(out.stderr, "usage:") {
			t.Errorf("%v: %+v", args, out)
		}
	}
	for _, args := range [][]string{{"version"}, {"-version"}, {"--version"}} {
		if out := run(t, dir, nil, args...); out.status != 0 || out.stderr != "" ||
			!strings.HasPrefix(out.stdout, "vitrine") || !strings.Contains(out.stdout, "go1.") {
			t.Errorf("%v: %+v", args, out)
		}
	}
	if out := run(t, dir, nil, "backup", "-db", "none.db", "out"); out.status != 1 || out.stdout != "" ||
		!strings.HasPrefix(out.stderr, "vitrine: ") {
		t.Errorf("a backup of nothing: %+v", out)
	}
	for _, db := range []string{"no/such/x.db", "mysql://localhost/vitrine", "sqlite://x.db"} {
		for _, args := range [][]string{
			{"serve", "-addr", "127.0.0.1:0"}, append([]string{"token"}, editor...),
			{"reviews", "export"},
		} {
			out := run(t, dir, nil, append(args, "-db", db)...)
			if out.status == 0 || out.stdout != "" || !strings.Contains(out.stderr, "-db") ||
				strings.Contains(out.stderr, "key") {
				t.Errorf("%v: %+v", args, out)
			}
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// A value that a flag cannot have is a mistake of the command line: nothing is made, and the last of two lines says
// what would be right.
func TestFlagValuesThatMakeNoSense(t *testing.T) {
	dir := t.TempDir()
	writeCertificate(t, dir, 1, x509.Certificate{DNSNames: []string{"x.test"}})
	const key = "VITRINE_KEY=0123456789abcdef0123456789abcdef"
	user := []string{"-urn", "urn:vitrine:x:user=y"}
	for _, c := range []struct {
		env  string
		args []string
		says string
	}{
		{"", []string{"serve", "-addr", "nope"}, `-addr="nope"`},
		{"", []string{"serve", "-addr", "127.0.0.1:65536"}, `-addr="127.0.0.1:65536"`},
		{"", []string{"serve", "-addr", "127.0.0.1:-1"}, "-addr"},
		{"", []string{"serve", "-addr", "http://127.0.0.1:80"}, "-addr"},
		{"", []string{"serve", "-addr", "127.0.0.1:0", "-metrics-addr", "zz"}, `-metrics-addr="zz"`},
		{"", []string{"serve", "-addr", "127.0.0.1:0", "-db", "mysql://x"}, "mysql://"},
		{"", []string{"serve", "-addr", "127.0.0.1:0", "-db", "postgres://127.0.0.1:1/x"}, "-key-file"},
		{"VITRINE_ADDR=nope", []string{"serve"}, `VITRINE_ADDR="nope": no address`},
		{key, []string{"serve", "-addr", "127.0.0.1:0", "-key-file", "nofile"}, "want one of the two"},
		{"", append([]string{"token", "-db", "postgres://127.0.0.1:1/x"}, user...), "-key-file"},
		{key, append([]string{"token", "-db", "mysql://x"}, user...), "mysql://"},
		{"", []string{"backup", "-db", "memory:", "out"}, "memory"},
		{"", []string{"backup", "-db", "postgres://127.0.0.1:1/x", "out"}, "export"},
		{"", []string{"feed", "reset", "-db", "memory:"}, "memory"},
		{"", []string{"import", "-db", "memory:", "file"}, "memory"},
		{"", []string{"export", "-db", "memory:"}, "memory"},
		{"", []string{"export", "-db", "mysql://x"}, "mysql://"},
		{"", []string{"reviews", "export", "-db", "memory:"}, "memory"},
		{"", []string{"healthz", "-addr", "127.0.0.1:65536"}, "-addr"},
		{"", []string{"healthz", "-tls-cert", "nofile"}, "-tls-cert nofile"},
		{"", []string{"serve", "-addr", "127.0.0.1:0", "-db", "memory:", "-base-path", "/a//b"}, "-base-path"},
		{"", []string{"serve", "-addr", "127.0.0.1:0", "-db", "memory:", "-base-url", "x"}, "-base-url"},
		{"", []string{"serve", "-protect-tags", "a b"}, "-protect-tags"},
		{"", []string{"serve", "-asset-names", "nofile"}, "-asset-names nofile"},
		{"", []string{"serve", "-asset-names", "cert.pem"}, "-asset-names cert.pem"},
		{"", []string{"serve", "-tls-cert", "cert.pem"}, "-tls-key"},
		{"", []string{"serve", "-tls-key", "key.pem"}, "-tls-cert"},
		{"", []string{"serve", "-tls-cert", "key.pem", "-tls-key", "cert.pem"}, "-tls-cert key.pem"},
		{"", []string{"serve", "-tls-cert", "none.pem", "-tls-key", "key.pem"}, "none.pem"},
		{"", []string{"serve", "-trust-proxy", "10.0.0.0/40"}, "-trust-proxy"},
		{"", []string{"serve", "-trust-proxy", "10.0.0.1,proxy.example"}, `"proxy.example"`},
		{"", []string{"serve", "-log", "xml"}, "text or json"},
	} {
		out := run(t, dir, []string{c.env}, c.args...)
		lines := strings.Split(strings.TrimSuffix(out.stderr, "\n"), "\n")
		if out.status != 2 || out.stdout != "" || len(lines) != 2 ||
			!strings.HasPrefix(lines[0], "usage: vitrine "+c.args[0]) || !strings.HasPrefix(lines[1], "vitrine: ") ||
			!strings.Contains(lines[1], c.says) {
			t.Errorf("%s %v: %+v", c.env, c.args, out)
		}
	}
	if out := run(t, dir, nil, "serve", "-addr", "192.0.2.1:8080", "-db", "v.db"); out.status != 1 ||
		out.stdout != "" || strings.Count(out.stderr, "\n") != 1 {
		t.Errorf("an address of another machine: %+v", out)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

func TestFilesThatAreNoStoreAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"empty.db": "", "text.db": "not a database at all",
		"head.db": "SQLite format 3\x00",
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if out := run(t, dir, nil, "-addr", "127.0.0.1:0", "-db", name); out.status != 2 || out.stdout != "" ||
			!strings.Contains(out.stderr, name) {
			t.Errorf("%s: %+v", name, out)
		}
		if out := run(t, dir, nil, append([]string{"token", "-db", name}, editor...)...); out.status != 1 ||
			out.stdout != "" || !strings.Contains(out.stderr, name) {
			t.Errorf("token for %s: %+v", name, out)
		}
		if out := run(t, dir, nil, "-addr", "127.0.0.1:0", "-db", "none/v.db"); out.status != 2 {
			t.Errorf("a directory that is not there: %+v", out)
		}
		if _, err := os.Stat(file + ".key"); err == nil {
			t.Errorf("%s has a key", name)
		}
		if now, err := os.ReadFile(file); err != nil || string(now) != content {
			t.Errorf("%s changed to %q, %v", name, now, err)
		}
	}
}

// An address that is in use is an error before a store or a key is made.
func TestAnAddressThatIsTakenBuildsNoStore(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir, address := t.TempDir(), taken.Addr().String()
	for _, args := range [][]string{{"-addr", address}, {"-addr", "127.0.0.1:0", "-metrics-addr", address}} {
		out := run(t, dir, []string{"VITRINE_DB=v.db"}, args...)
		if named := strings.Join(args[len(args)-2:], " ") + ": "; out.status != 1 || out.stdout != "" ||
			!strings.Contains(out.stderr, named) {
			t.Errorf("%v: %+v", args, out)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// A server that cannot go on closes what it has opened so far, whichever step fails.
func TestAServerThatCannotOpenLeavesNothingOpen(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, nil, "-db", "v.db")
	s.do(newToken(t, dir, nil, "-db", "v.db"), "POST", "/apps/", oneApp, 201)
	if out := run(t, dir, nil, "backup", "-db", "v.db", "copy.db"); out.status != 0 {
		t.Fatalf("%+v", out)
	}
	s.stop()
	listen := func() (l net.Listener, addr string) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l, l.Addr().String()
	}
	taken, busy := listen()
	defer taken.Close()
	l, addr := listen()
	l.Close()
	l, scraped := listen()
	l.Close()
	for _, c := range []struct {
		env  string
		args []string
		says string
	}{
		{"", []string{"-metrics-addr", busy}, "-metrics-addr"},
		{"", []string{"-base-url", "x"}, "-base-url"},
		{"", []string{"-demo"}, "-demo"},
		{"VITRINE_KEY=short", nil, "too short"},
		{"", []string{"-base-path", "/a//b"}, "-base-path"},
	} {
		args := append([]string{"-db", "v.db", "-addr", addr, "-metrics-addr", scraped}, c.args...)
		if out := run(t, dir, []string{c.env}, args...); out.status == 0 || !strings.Contains(out.stderr, c.says) {
			t.Errorf("%s %v: %+v", c.env, c.args, out)
		}
		for _, at := range []string{addr, scraped} {
			free, err := net.Listen("tcp", at)
			if err != nil {
				t.Fatalf("after %s %v: %v", c.env, c.args, err)
			}
			free.Close()
		}
		if out := run(t, dir, nil, "restore", "-db", "v.db", "copy.db"); out.status != 0 { // nobody has it open
			t.Errorf("after %s %v: %+v", c.env, c.args, out)
		}
	}
}

func TestWhatWasOpenedLastIsClosedFirst(t *testing.T) {
	var order []int
	s := &server{closed: io.ErrClosedPipe}
	for i := range 3 {
		s.stops = append(s.stops, func() { order = append(order, i) })
	}
	if err := s.close(); err != io.ErrClosedPipe || !slices.Equal(order, []int{2, 1, 0}) {
		t.Errorf("closed in the order %v, %v", order, err)
	}
}
