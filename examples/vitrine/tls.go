package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"sync/atomic"
)

// certificate is the certificate of the server for TLS. It can be reloaded while the server runs, so that a renewed
// certificate needs no restart.
type certificate struct {
	file, keyFile string
	now           atomic.Pointer[tls.Certificate]
}

// newCertificate reads the certificate of -tls-cert and the key of -tls-key; nil if neither is given.
func newCertificate(file, keyFile string) (*certificate, error) {
	switch {
	case file == "" && keyFile == "":
		return nil, nil
	case file == "":
		return nil, usageError{errors.New("-tls-key needs -tls-cert, the file with the certificate")}
	case keyFile == "":
		return nil, usageError{errors.New("-tls-cert needs -tls-key, the file with the key of the certificate")}
	}
	c := &certificate{file: file, keyFile: keyFile}
	if err := c.read(); err != nil {
		return nil, usageError{err}
	}
	return c, nil
}

// read reads both files. An error changes nothing.
func (c *certificate) read() error {
	pair, err := tls.LoadX509KeyPair(c.file, c.keyFile)
	if err != nil {
		return fmt.Errorf("-tls-cert %s with -tls-key %s: %w", c.file, c.keyFile, err)
	}
	c.now.Store(&pair)
	return nil
}

// config presents the certificate that was read last.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.now.Load(), nil },
	}
}
