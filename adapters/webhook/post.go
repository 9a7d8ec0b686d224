package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Bounds of one attempt, from the connection to the end of the response.
const (
	respondWithin = 15 * time.Second
	responseMost  = 64 << 10 // bytes of a response's header, and of its body
)

// newTransport returns a transport that connects to allowed addresses only. It uses no proxy, since a proxy would
// resolve the name itself and connect to any address. A RoundTripper follows no redirects, so a receiver cannot send a
// delivery elsewhere.
func newTransport(o Options) *http.Transport {
	dialer := &net.Dialer{Timeout: respondWithin, Control: guard{o.Allow}.control}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        o.TLS.Clone(),
		TLSHandshakeTimeout:    respondWithin,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // the body is not used
		MaxResponseHeaderBytes: responseMost,
		MaxIdleConnsPerHost:    1, // an endpoint gets one delivery at a time
		MaxIdleConns:           MaxEndpoints,
		IdleConnTimeout:        90 * time.Second,
	}
}

// post makes one attempt to deliver and returns the status of the response, or an error that says why there was no
// response. The error is for the log: of the URL it names at most the host.
func post(
	ctx context.Context, transport http.RoundTripper, e Endpoint, id string, body []byte,
) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, respondWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		return 0, errors.New("the URL cannot be used")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "vitrine-webhook")
	if e.Header != nil {
		maps.Copy(r.Header, e.Header())
	}
	sign(r.Header, e.Secrets, id, time.Now(), body)
	response, err := transport.RoundTrip(r)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && err != nil {
		return 0, errors.New("there was no response within 15 seconds")
	}
	if err != nil {
		return 0, cause(err)
	}
	// The status has decided. What is read of the body only keeps the connection for the next delivery.
	_, _ = io.CopyN(io.Discard, response.Body, responseMost)
	_ = response.Body.Close()
	return response.StatusCode, nil
}

// sign sets the headers that let the receiver verify the body, the id and the time of a delivery, as Standard Webhooks
// says. A signature is the HMAC-SHA256 of "<id>.<seconds>.<body>" under a secret, in Base64 after "v1,". There is one
// for each secret, and a receiver accepts the delivery if one of them is right.
func sign(header http.Header, secrets []Secret, id string, at time.Time, body []byte) {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	var signatures []string
	for _, s := range secrets {
		sum := s.mac(id, ".", timestamp, ".", string(body))
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(sum))
	}
	header.Set("Webhook-Id", id)
	header.Set("Webhook-Timestamp", timestamp)
	header.Set("Webhook-Signature", strings.Join(signatures, " "))
}

// cause returns an error that the log may have about a failed request. Errors of the connection, of the resolver and of
// TLS are kept: they have nothing that the receiver sent after it knew the URL. Any other error may repeat a part of
// the response, and the receiver may have put the URL there, so it is replaced by a general one.
func cause(err error) error {
	for _, before := range []any{new(*net.OpError), new(*net.DNSError), new(*tls.CertificateVerificationError),
		new(tls.RecordHeaderError), new(tls.AlertError)} {
		if errors.As(err, before) {
			return err
		}
	}
	return errors.New("the connection broke, or the response was not HTTP")
}
