package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// healthz is the command healthz: it sends a request to a running server, and waits for at most 5 seconds. It is for
// the health checks of containers that have no other program.
func healthz(f *flag.FlagSet) action {
	addr := address(defaultAddr)
	f.Var(&addr, "addr", "`address` of the server, host:port")
	certificate := tlsCertFlag(f)
	return func(ctx context.Context, p *program) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		transport, err := trusting(*certificate)
		if err != nil {
			return err
		}
		transport.DisableKeepAlives, transport.Proxy = true, nil
		scheme := "http"
		if *certificate != "" {
			scheme = "https"
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+dialable(string(addr))+"/healthz", nil)
		if err != nil {
			return usageError{fmt.Errorf("-addr: %w", err)}
		}
		response, err := (&http.Client{Transport: transport}).Do(r)
		if of, ok := errors.AsType[*net.OpError](err); ok && of.Op == "dial" {
			return fmt.Errorf("%w: the server does not run, or listens elsewhere: give its -addr", err)
		}
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode == http.StatusBadRequest && *certificate == "" {
			return fmt.Errorf("%s answered %s: if the server has TLS, name its certificate with -tls-cert",
				addr, response.Status)
		}
		if response.StatusCode == http.StatusServiceUnavailable {
			return fmt.Errorf("%s answered %s: the log of the server says why", addr, response.Status)
		}
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answered %s", addr, response.Status)
		}
		// The status alone does not tell the server from another program that responds with 200 on every path.
		const healthy, full = `{"status":"ok"}`, `{"status":"ok","writes":"full"}`
		body, err := io.ReadAll(io.LimitReader(response.Body, 2*int64(len(full))))
		if err != nil {
			return err
		}
		switch string(body) {
		case healthy:
			return nil
		case full: // a restart makes no room, and reads go on
			p.complain(errors.New("healthz: the server refuses changes, or files alone, since the store has little " +
				"or no room: reads go on"))
			return nil
		}
		return fmt.Errorf("%s answered %q, not %s: another program may be listening there", addr, body, healthy)
	}
}

// tlsCertFlag adds -tls-cert to the flags of a command that asks a server.
func tlsCertFlag(f *flag.FlagSet) *string {
	return f.String("tls-cert", "",
		"`file` with the certificate of a server that has TLS, or with that of the authority that signed it: no other "+
			"one is trusted, and doctor alone compares its name with the address")
}

// trusting returns a transport that trusts the certificates of -tls-cert and no others, or those that the machine
// trusts if it is "".
func trusting(certificate string) (transport *http.Transport, err error) {
	transport = http.DefaultTransport.(*http.Transport).Clone()
	if certificate != "" {
		if transport.TLSClientConfig, err = vouchedBy(certificate); err != nil {
			err = usageError{fmt.Errorf("-tls-cert %s: %w", certificate, err)}
		}
	}
	return transport, err
}

// vouchedBy returns a TLS configuration that trusts the certificates of a file, and no others. It expects the first
// name that one of them has, since the server is usually reached by an address such as 127.0.0.1 that no
// certificate names.
func vouchedBy(file string) (*tls.Config, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	if !config.RootCAs.AppendCertsFromPEM(text) {
		return nil, errors.New("the file has no certificate in PEM form")
	}
	for block, rest := pem.Decode(text); block != nil && config.ServerName == ""; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil && len(c.DNSNames) > 0 {
			config.ServerName = strings.Replace(c.DNSNames[0], "*", "healthz", 1) // any name that the wildcard covers
		}
	}
	return config, nil
}
