package httpapi_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// byCertificate knows callers by their TLS certificates. The URN of the user is the URI in the certificate's subject
// alternative names, and what the user may do stands in the program's own records.
func byCertificate(users map[string]httpapi.Principal) func(*http.Request) (httpapi.Principal, error) {
	return func(r *http.Request) (httpapi.Principal, error) {
		if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
			return httpapi.Principal{},
				fmt.Errorf("%w: no certificate of our own authority", httpapi.ErrUnauthenticated)
		}
		certificate := r.TLS.VerifiedChains[0][0]
		if len(certificate.URIs) != 1 {
			return httpapi.Principal{},
				fmt.Errorf("%w: the certificate has %d URIs, want one", httpapi.ErrUnauthenticated,
					len(certificate.URIs))
		}
		who, known := users[certificate.URIs[0].String()]
		if !known {
			return httpapi.Principal{}, fmt.Errorf("%w: %s is no user", httpapi.ErrUnauthenticated, certificate.URIs[0])
		}
		who.Expires = certificate.NotAfter
		return who, nil
	}
}

// Other programs are known by client certificates (mTLS) of an authority that this program trusts.
func Example_clientCertificate() {
	const ann = "urn:vitrine:example.test:user=ann"
	handler, err := httpapi.New(httpapi.Config{
		Apps: appsvc.New(memory.New(), nil),
		Authenticate: byCertificate(
			map[string]httpapi.Principal{
				ann: {Caller: vitrine.Caller{URN: ann, Reads: []string{"urn:vitrine:example.test"}}}}),
	})
	if err != nil {
		panic(err)
	}
	authority := newAuthority()
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: authority.pool()}
	server.StartTLS()
	defer server.Close()

	ask := func(who string, certificates ...tls.Certificate) {
		client := server.Client()
		transport := client.Transport.(*http.Transport).Clone()
		transport.TLSClientConfig.Certificates = certificates
		defer transport.CloseIdleConnections()
		client = &http.Client{Transport: transport}
		answer, err := client.Get(server.URL + "/apps/")
		if err != nil {
			panic(err)
		}
		defer answer.Body.Close()
		fmt.Printf("%s: %d\n", who, answer.StatusCode)
	}
	ask("ann", authority.issue(ann))
	ask("a user who is not known", authority.issue("urn:vitrine:example.test:user=bob"))
	ask("nobody")
	// Output:
	// ann: 200
	// a user who is not known: 401
	// nobody: 401
}

// authority issues the certificates of the example. A program has one already, and reads its certificate from a file.
type authority struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

func newAuthority() authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return authority{key, certificate}
}

func (a authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// issue returns a certificate for a user, with its key.
func (a authority) issue(user string) tls.Certificate {
	uri, err := url.Parse(user)
	if err != nil {
		panic(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour),
		URIs: []*url.URL{uri}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
