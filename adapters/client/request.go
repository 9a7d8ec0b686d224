package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// request is one call of an endpoint, as often as it is sent.
type request struct {
	method, url string // without the query
	query       url.Values
	header      http.Header
	body        []byte
	stream      io.Reader // sent in place of body; cannot be sent again
	into        io.Writer // gets the body of an export while it arrives; nil = the answer has it
	again       bool      // it may be sent again
	readOnly    bool      // it changes nothing, although it is no GET
	cached      bool      // its answer has an ETag, and may be kept in the cache
}

// path returns the path of the address, by which errors name the request.
func (r request) path() string {
	u, err := url.Parse(r.url)
	if err != nil {
		return r.url
	}
	return u.EscapedPath()
}

// changes reports whether the request may change something.
func (r request) changes() bool { return r.method != http.MethodGet && !r.readOnly }

// sender sends requests with a token, and reads their answers. It is safe for concurrent use.
type sender struct {
	Config
	cache *cache
}

// open sends a request once, and returns the response without reading its body. The error is a *lost if the round trip
// failed: then the request may have arrived, unless no connection was made. After any other error it was not sent.
func (s *sender) open(ctx context.Context, r request) (*http.Response, error) {
	token, err := s.Token(ctx)
	if err != nil {
		return nil, fmt.Errorf("the token: %w", err)
	}
	if token == "" || !visible(token) {
		return nil, errors.New("the token: want visible ASCII characters")
	}
	out, err := r.http(ctx)
	if err != nil {
		return nil, err
	}
	out.Header.Set("Authorization", "svctoken "+token)
	// Not an http.Client: it would follow redirects, and the token with it.
	in, err := s.Transport.RoundTrip(out)
	if err != nil {
		return nil, &lost{err}
	}
	return in, nil
}

// once sends a request once and reads the response. If the cache has a body for the address, the request asks whether
// it is still current, and a 304 is answered with that body.
func (s *sender) once(ctx context.Context, r request) (response, error) {
	var held kept
	if r.cached {
		if held = s.cache.get(r.url); held.etag != "" {
			r.header = http.Header{"If-None-Match": {held.etag}}
		}
	}
	in, err := s.open(ctx, r)
	if err != nil {
		return response{}, err
	}
	defer in.Body.Close()
	a := response{status: in.StatusCode, header: in.Header}
	if r.into != nil && a.isExport() {
		return a, r.take(in.Body)
	}
	if a.body, err = s.read(in.Body); err != nil {
		return response{}, err
	}
	if a.status == http.StatusNotModified && held.etag != "" {
		a.status, a.body = http.StatusOK, held.body
	} else if r.cached && a.status == http.StatusOK {
		s.cache.put(kept{r.url, in.Header.Get("ETag"), a.body})
	}
	return a, nil
}

// lost is a failure of the connection. It is not known whether the request arrived.
type lost struct{ error }

// Unwrap returns the error of the connection.
func (l *lost) Unwrap() error { return l.error }

// tooLong is the error of a response with more bytes than it says, which is Config.AnswerBytes. The request was answered.
type tooLong int64

// Error returns a sentence with the limit.
func (l tooLong) Error() string {
	return fmt.Sprintf("the answer is longer than %d bytes: see Config.AnswerBytes", int64(l))
}

// read reads the body of a response up to Config.AnswerBytes. A longer one is not cut: it is an error, a tooLong. If the body
// breaks off, the error is a *lost.
func (s *sender) read(body io.Reader) ([]byte, error) {
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(body, s.AnswerBytes+1))
	switch {
	case err != nil:
		return nil, &lost{err}
	case n > s.AnswerBytes:
		return nil, tooLong(s.AnswerBytes)
	}
	return b.Bytes(), nil
}

// take writes the body of a response to into. Its error is a *lost only if nothing was written: once something was, the
// request must not be sent again.
func (r request) take(body io.Reader) error {
	n, err := io.Copy(r.into, body)
	if err != nil && n == 0 {
		return &lost{err}
	}
	return err
}

// http returns the request as net/http sends it. Accept is application/json unless the request has its own.
func (r request) http(ctx context.Context) (*http.Request, error) {
	address := r.url
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	if r.stream != nil {
		body = io.NopCloser(r.stream) // closing the stream is left to whoever gave it
	}
	out, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, err
	}
	out.Header.Set("Accept", "application/json")
	for name, values := range r.header {
		out.Header[name] = values
	}
	return out, nil
}
