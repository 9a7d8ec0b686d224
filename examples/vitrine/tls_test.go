package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeCertificate writes a self-signed certificate and its key to cert.pem and key.pem.
func writeCertificate(t *testing.T, dir string, serial int64, template x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber, template.Subject = big.NewInt(serial), pkix.Name{CommonName: "vitrine"}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: der},
		"key.pem":  {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// serialAt returns the serial number of the certificate that a server presents.
func serialAt(t *testing.T, addr string) int64 {
	t.Helper()
	conn, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true}) // the test knows it by its number
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestTLS(t *testing.T) {
	dir := t.TempDir()
	local := x509.Certificate{DNSNames: []string{"apps.example.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	writeCertificate(t, dir, 1, local)
	s := start(t, dir, nil, "-db", "v.db", "-tls-cert", "cert.pem", "-tls-key", "key.pem")
	if !strings.HasPrefix(s.url, "https://") {
		t.Fatal(s.url)
	}
	addr := strings.TrimPrefix(s.url, "https://")
	token := newToken(t, dir, nil, "-db", "v.db")
	roots, err := vouchedBy(filepath.Join(dir, "cert.pem"))
	if err != nil {
		t.Fatal(err)
	}
	roots.ServerName = "apps.example.test"
	for _, protocols := range [][]string{{"http/1.1"}, {"h2"}} {
		config := roots.Clone()
		config.NextProtos = protocols
		transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: protocols[0] == "h2"}
		client := &http.Client{Transport: transport}
		for _, length := range []int{10, 4000, 4096, 40_000} {
			body := `{"title":"` + strings.Repeat("x", 10) + `","groups":["urn:vitrine:example.test"],"elements":[]}` +
				strings.Repeat(" ", length)
			r, err := http.NewRequest("POST", s.url+"/apps/", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			answer, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if err != nil || answer.StatusCode != 201 ||
				!strings.HasPrefix(answer.Header.Get("Location"), s.url+"/apps/") ||
				(answer.ProtoMajor == 2) != (protocols[0] == "h2") {
				t.Errorf("%v: %s %s, Location %s, %s, %v", protocols, answer.Proto, answer.Status,
					answer.Header.Get("Location"), text, err)
			}
		}
		transport.CloseIdleConnections()
	}
	if out := run(t, dir, nil, "healthz", "-addr", addr, "-tls-cert", "cert.pem"); out.status != 0 {
		t.Errorf("healthz: %+v", out)
	}
	if out := run(t, dir, nil, "healthz", "-addr", addr); out.status != 1 ||
		!strings.Contains(out.stderr, "400 Bad Request: if the server has TLS, name its certificate with -tls-cert") {
		t.Errorf("healthz without TLS: %+v", out)
	}
	out := run(t, dir, nil, "doctor", "-db", "v.db", "-base-url", s.url)
	if out.status != 1 || !strings.Contains(out.stdout, "name it, or that of its authority, with -tls-cert") {
		t.Errorf("doctor without -tls-cert: %+v", out)
	}
	// The server is asked under a name of the certificate, and then the one of the address is missed.
	at := strings.Replace(s.url, "127.0.0.1", "localhost", 1)
	out = run(t, dir, nil, "doctor", "-db", "v.db", "-base-url", at, "-tls-cert", "cert.pem")
	if out.status != 1 || !strings.Contains(out.stdout, "\ncertificate    ends 20") ||
		!strings.Contains(out.stdout, "wrong: the certificate of "+at+" ends at 20") ||
		!strings.Contains(out.stdout, "is valid for apps.example.test, not localhost: browsers and pages refuse it") {
		t.Errorf("doctor: %+v", out)
	}

	if have := serialAt(t, addr); have != 1 {
		t.Errorf("certificate %d is presented", have)
	}
	writeCertificate(t, dir, 2, local)
	if have := serialAt(t, addr); have != 1 {
		t.Errorf("before SIGHUP certificate %d is presented", have)
	}
	s.hangup("the certificate and its key were read again")
	if have := serialAt(t, addr); have != 2 {
		t.Errorf("after SIGHUP certificate %d is presented", have)
	}
	if err := os.WriteFile(filepath.Join(dir, "cert.pem"), []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.hangup("the certificate and its key stay as they were")
	if have := serialAt(t, addr); have != 2 {
		t.Errorf("after a file that cannot be read certificate %d is presented", have)
	}
	s.stop()
}

func TestHealthzTrustsTheCertificateOfTheFileAlone(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for _, template := range []x509.Certificate{
		{DNSNames: []string{"*.example.test"}},
		{DNSNames: []string{"apps.example.test"}, IsCA: true, BasicConstraintsValid: true},
		{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}},
	} {
		writeCertificate(t, dir, 1, template)
		writeCertificate(t, other, 1, template)
		s := start(t, dir, nil, "-db", "memory:", "-tls-cert", "cert.pem", "-tls-key", "key.pem")
		addr := strings.TrimPrefix(s.url, "https://")
		if out := run(t, dir, nil, "healthz", "-addr", addr, "-tls-cert", "cert.pem"); out.status != 0 {
			t.Errorf("%v: %+v", template.DNSNames, out)
		}
		if out := run(t, other, nil, "healthz", "-addr", addr, "-tls-cert", "cert.pem"); out.status != 1 ||
			!strings.Contains(out.stderr, "certificate") {
			t.Errorf("%v, another certificate: %+v", template.DNSNames, out)
		}
		s.stop()
	}
}
