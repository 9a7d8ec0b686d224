//go:build proof && linux

package deploy_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

// proxy is a running proxy with TLS.
type proxy struct {
	*program.Server
	plain, secure string // addresses, host and port
	roots         *x509.CertPool
	dir           string // with its logs, if it writes them into files
}

// place is what a proxy is started with in place of what its file says.
type place struct {
	dir           string
	plain, secure string // ports
	inner         string // port, of nginx alone
	backend       string // host and port
}

// kind is a proxy of examples/deploy. Its start writes the file for a place, with some pieces changed, and returns the
// command line.
type kind struct {
	name  string
	start func(t *testing.T, at place, pairs []string) []string
	// idle is the timeout of the file that ends a connection on which nothing comes, and the same cut to a length.
	idle func(seconds int) []string
	// own are the requests that the proxy answers itself, with a status: paths that it takes for attacks.
	own map[string]int
}

var kinds = []kind{
	{
		name: "nginx",
		start: func(t *testing.T, at place, pairs []string) []string {
			text := changed(t, deployed(t, "nginx.conf"), append([]string{
				"server 127.0.0.1:8080;", "server " + at.backend + ";",
				"listen 80;", "listen 127.0.0.1:" + at.plain + ";", "listen [::]:80;", "",
				"listen 443 ssl", "listen 127.0.0.1:" + at.secure + " ssl", "listen [::]:443 ssl http2;", "",
				"127.0.0.1:8079", "127.0.0.1:" + at.inner, "/var/cache/vitrine", at.dir + "/cache",
				"/etc/vitrine/tls/", at.dir + "/", "/var/log/nginx/", at.dir + "/"}, pairs...)...)
			write(t, filepath.Join(at.dir, "vitrine.conf"), text)
			user := ""
			if os.Getuid() == 0 {
				user = "user root;"
			}
			var places strings.Builder // in which a user may write
			for _, what := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
				fmt.Fprintf(&places, "%s_temp_path %s/%s;\n", what, at.dir, what)
			}
			// One process, so that nothing is left when it is killed.
			write(t, filepath.Join(at.dir, "nginx.conf"),
				fmt.Sprintf("daemon off; master_process off; %s\npid %s/pid; error_log stderr;\nevents {}\nhttp "+
					"{\n%s include %s/vitrine.conf;\n}\n",
					user, at.dir, places.String(), at.dir))
			return []string{tool(t, "nginx"), "-p", at.dir, "-c", filepath.Join(at.dir, "nginx.conf")}
		},
		idle: func(seconds int) []string {
			return []string{"proxy_read_timeout 150s", fmt.Sprintf("proxy_read_timeout %ds", seconds)}
		},
		own: map[string]int{"/..": 400, "/../apps/": 400, "/%2e%2e/apps/": 400, "/apps/%00": 400, "/apps/%zz": 400},
	},
	{
		name: "Caddy",
		start: func(t *testing.T, at place, pairs []string) []string {
			text := changed(t, deployed(t, "Caddyfile"), append([]string{
				"\tauto_https disable_redirects\n",
				"\tauto_https disable_redirects\n\tadmin off\n\thttp_port " + at.plain + "\n\thttps_port " + at.secure +
					"\n",
				"# tls /etc/vitrine/tls/cert.pem /etc/vitrine/tls/key.pem",
				"tls " + at.dir + "/cert.pem " + at.dir + "/key.pem",
				"127.0.0.1:8080", at.backend}, pairs...)...)
			write(t, filepath.Join(at.dir, "Caddyfile"), text)
			return []string{tool(t, "caddy"), "run", "--adapter", "caddyfile", "--config",
				filepath.Join(at.dir, "Caddyfile")}
		},
		idle: func(int) []string { return nil }, // it has no such timeout
		own:  map[string]int{"/apps/%zz": 400},
	},
	{
		name: "HAProxy",
		start: func(t *testing.T, at place, pairs []string) []string {
			text := changed(t, deployed(t, "haproxy.cfg"), append([]string{
				"log /dev/log local0", "log stderr format raw local0", "user haproxy\n", "\n", "group haproxy\n", "\n",
				"bind :80", "bind 127.0.0.1:" + at.plain, "bind :443", "bind 127.0.0.1:" + at.secure,
				"/etc/vitrine/tls/", at.dir + "/", "127.0.0.1:8080", at.backend}, pairs...)...)
			write(t, filepath.Join(at.dir, "haproxy.cfg"), text)
			return []string{tool(t, "haproxy"), "-db", "-f", filepath.Join(at.dir, "haproxy.cfg")}
		},
		idle: func(seconds int) []string {
			return []string{"timeout server 150s", fmt.Sprintf("timeout server %ds", seconds), "timeout client 150s",
				fmt.Sprintf("timeout client %ds", seconds)}
		},
		own: map[string]int{"/apps/\xe2\x98\x95": 400},
	},
}

// eachProxy runs a test with each proxy.
func eachProxy(t *testing.T, test func(t *testing.T, k kind)) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			test(t, k)
		})
	}
}

// before starts a proxy before a backend, and waits until it answers.
func (k kind) before(t *testing.T, backend string, pairs ...string) *proxy {
	t.Helper()
	at := place{dir: t.TempDir(), plain: freePort(t), secure: freePort(t), inner: freePort(t), backend: backend}
	roots := writeCertificate(t, at.dir)
	line := k.start(t, at, pairs)
	script := "echo serving here; exec"
	for _, word := range line {
		script += " " + strconv.Quote(word)
	}
	s, err := program.StartServer([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + at.dir, "XDG_DATA_HOME=" + at.dir,
		"XDG_CONFIG_HOME=" + at.dir}, "sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	p := &proxy{s, "127.0.0.1:" + at.plain, "127.0.0.1:" + at.secure, roots, at.dir}
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		conn, err := tls.Dial("tcp", p.secure, p.tls("http/1.1"))
		if err == nil {
			_ = conn.Close()
			return p
		}
		if time.Now().After(end) {
			t.Fatalf("the proxy does not answer: %v\n%s", err, p.Log())
		}
	}
}

func (p *proxy) tls(protocols ...string) *tls.Config {
	return &tls.Config{RootCAs: p.roots, ServerName: site, NextProtos: protocols}
}

// dial opens a connection to the proxy, from another address than proxies have.
func (p *proxy) dial(t *testing.T) net.Conn {
	t.Helper()
	d := &tls.Dialer{NetDialer: &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}},
		Config: p.tls("http/1.1")}
	conn, err := d.DialContext(t.Context(), "tcp", p.secure)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// logged is all that the proxy has written into its logs.
func (p *proxy) logged(t *testing.T) string {
	t.Helper()
	all := p.Log()
	files, err := filepath.Glob(filepath.Join(p.dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	return all
}
