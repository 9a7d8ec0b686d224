package httpapi_test

import (
	"bytes"
	"io"
	"net/http"
)

// transport sends requests by another Transport, and checks every exchange by a document.
type transport struct {
	Document *document
	Base     string            // path that the operations without servers of their own start at
	Next     http.RoundTripper // nil: http.DefaultTransport
	Tell     func(error)       // gets what is not as it is described, once the answer was read to its end
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	next := t.Next
	if next == nil {
		next = http.DefaultTransport
	}
	x := exchange{Method: r.Method, URL: r.URL, Header: r.Header.Clone()}
	if r.GetBody != nil { // a stream is not kept
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		if x.Body, err = io.ReadAll(body); err != nil {
			return nil, err
		}
	}
	answer, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	x.Status, x.Answer = answer.StatusCode, answer.Header.Clone()
	answer.Body = &watched{ReadCloser: answer.Body, end: func(content []byte) {
		x.Content = content
		if err := t.Document.Check(t.Base, x); err != nil {
			t.Tell(err)
		}
	}}
	return answer, nil
}

// watched is a body that is kept, and told of at its end.
type watched struct {
	io.ReadCloser
	kept bytes.Buffer
	end  func([]byte)
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.kept.Write(p[:n])
	if err == io.EOF && w.end != nil {
		w.end(w.kept.Bytes())
		w.end = nil
	}
	return n, err
}
