//go:build proof && linux

package deploy_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"flag"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

const (
	root = "../../.."
	// site is the name that the files of examples/deploy have for the server.
	site = "apps.example.test"
	key  = "the key of these tests, 32 bytes."
)

func TestMain(m *testing.M) {
	if os.Getenv(insideVariable) != "" {
		os.Exit(inside())
	}
	if flag.Parse(); testing.Short() {
		fmt.Println("skipped: deployments take minutes, and are tried without -short")
		os.Exit(0)
	}
	status := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(status)
}

// built is the program, which is built once, without cgo as in a release.
var built struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// binary returns the path of the program.
func binary(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "vitrine-deploy-"); built.err != nil {
			return
		}
		built.path = filepath.Join(built.dir, "vitrine")
		command := exec.Command("go", "build", "-o", built.path, "./examples/vitrine")
		command.Dir, command.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := command.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

// missing skips a test that needs what is not there, or fails where nothing may be missing.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("VITRINE_CI") != "" {
		t.Fatalf("%s, and VITRINE_CI says that nothing is missing", what)
	}
	t.Skip(what)
}

// tool returns the path of a program that a test needs.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/" + name)
	}
	if err != nil {
		missing(t, fmt.Sprintf("%s is not installed", name))
	}
	return path
}

// deployed returns the text of a file of examples/deploy.
func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "examples", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// changed replaces pieces of a text, pairs of old and new. Each old piece must be there, so that a test does not try
// another file than the one that people get.
func changed(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%q is not in the file: the test must follow it", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// freePort returns a port of 127.0.0.1 on which nobody listens.
func freePort(t *testing.T) string {
	t.Helper()
	port, err := program.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// writeCertificate writes a certificate of the site that vouches for itself into dir: cert.pem, key.pem, and both.pem
// with the two. It returns who trusts it.
func writeCertificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: site},
		DNSNames:  []string{site},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	secret := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	write(t, filepath.Join(dir, "cert.pem"), cert)
	write(t, filepath.Join(dir, "key.pem"), secret)
	write(t, filepath.Join(dir, "both.pem"), cert+secret)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(cert))
	return pool
}

// server is Vitrine behind proxies of this machine.
type server struct {
	*program.Server
	address string // host and port
	token   string // of a user who may do everything in example.test
}

// newServer starts Vitrine with a store in memory, as it runs behind a proxy, and with further flags.
func newServer(t *testing.T, flags ...string) *server {
	t.Helper()
	p, err := program.StartServer([]string{"VITRINE_KEY=" + key}, binary(t),
		append([]string{"serve", "-db", "memory:", "-addr", "127.0.0.1:0",
			"-trust-proxy", "127.0.0.1", "-access-log"}, flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return &server{p, strings.TrimPrefix(p.URL, "http://"), signed(t, "editor", "urn:vitrine:example.test")}
}

// signed returns a token of a user of example.test.
func signed(t *testing.T, user string, moderates ...string) string {
	t.Helper()
	tokens, err := httpapi.NewTokens([]byte(key), nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := tokens.Sign(
		httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:example.test:user=" + user, Moderates: moderates,
			Components: len(moderates) > 0}},
		time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return token
}
