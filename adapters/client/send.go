package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/lru"
)

// remote is one of the services of the server. It sends requests with a token, and reads the responses. It is safe for
// concurrent use.
type remote struct {
	config Config
	base   string // the address, without a slash at its end
	prefix string // the path of base
	// cache has the responses that were used last, by their addresses. The client sends each request again with
	// If-None-Match, so that the service decides each time who may read it.
	cache *lru.Cache[string, cachedResponse]
}

// cachedResponse is a response in the cache.
type cachedResponse struct {
	etag string
	body []byte
}

// overhead is about how many bytes a response takes in the cache beside its texts.
const overhead = 200

// failure is an attempt without a response of the service.
type failure struct {
	error
	sent      bool // the request may have arrived
	temporary bool // another attempt may succeed
}

// Unwrap returns the error of the connection.
func (f *failure) Unwrap() error { return f.error }

// call sends a request, and again as often as Config allows. It decodes the response of a success into out, which t
// describes. The error wraps ErrUnknown if the request may have changed something, and no response says whether it did.
func (s remote) call(ctx context.Context, r request, t target, out any) (http.Header, error) {
	doubt := false
	for attempt := 1; ; attempt++ {
		header, err := s.once(ctx, r, t, out)
		if err == nil {
			return header, nil
		}
		doubt = !r.reads && doubtful(err, doubt)
		if r.again() && attempt < s.config.Attempts && s.pause(ctx, attempt, err) {
			continue
		}
		if _, responded := err.(*Error); !responded {
			if ctx.Err() != nil {
				err = fmt.Errorf("%w: %w", ctx.Err(), err)
			}
			err = fmt.Errorf("%s %s: %w", r.method, s.prefix+r.path, err)
		}
		if doubt && !errors.Is(err, vitrine.ErrUnknown) {
			err = fmt.Errorf("%w: %w", vitrine.ErrUnknown, err)
		}
		return nil, err
	}
}

// once sends a request once and decodes the response. The error is an *Error for a response that is no success, and a
// *failure if there was no response of the service. After any other error the request was not sent, or it is an export
// that broke off.
func (s remote) once(ctx context.Context, r request, t target, out any) (http.Header, error) {
	var cached cachedResponse
	if r.cached {
		cached, _ = s.cache.Get(r.target())
		r.etag = cached.etag
	}
	in, err := s.roundTrip(ctx, r)
	if err != nil {
		return nil, err
	}
	defer in.Body.Close()
	if r.into != nil && in.StatusCode == http.StatusOK && mediaType(in) == exportType {
		n, err := io.Copy(r.into, in.Body)
		if err != nil && n == 0 { // once something was written, the request must not be sent again
			err = &failure{err, true, true}
		}
		return in.Header, err
	}
	body, err := s.read(in.Body)
	if err != nil {
		return nil, err
	}
	if size := len(r.target()) + len(body) + overhead; in.StatusCode == http.StatusNotModified {
		body = cached.body
	} else if etag := in.Header.Get("ETag"); r.cached && etag != "" && size <= s.config.CacheBytes {
		s.cache.Put(r.target(), cachedResponse{etag, body}, size)
	}
	if r.into != nil {
		err = fmt.Errorf("its status is %d and its type %q, not 200 and %q", in.StatusCode, mediaType(in), exportType)
	} else {
		err = t.decode(in.StatusCode, body, out)
	}
	if err != nil {
		return nil, &failure{fmt.Errorf("the response is not one of this service: %w; %s", err, beginning(body)), true,
			false}
	}
	return in.Header, nil
}

// roundTrip sends a request once, and returns the response if it is a success, or a 304 to a request with an ETag.
func (s remote) roundTrip(ctx context.Context, r request) (*http.Response, error) {
	token, err := s.config.Token(ctx)
	if err != nil {
		return nil, fmt.Errorf("the token: %w", err)
	}
	if token == "" || !visible(token) {
		return nil, errors.New("the token: want visible ASCII characters")
	}
	out, err := r.http(ctx, s.base)
	if err != nil {
		return nil, err
	}
	if r.keyed {
		query := out.URL.Query()
		query.Set("key", token)
		out.URL.RawQuery = query.Encode()
	} else {
		out.Header.Set("Authorization", "svctoken "+token)
	}
	// Not an http.Client: it would follow redirects, and the token with it.
	in, err := s.config.Transport.RoundTrip(out)
	if err != nil {
		op, ok := errors.AsType[*net.OpError](err)
		return nil, &failure{err, !ok || op.Op != "dial", true}
	}
	if in.StatusCode/100 == 2 || in.StatusCode == http.StatusNotModified && r.etag != "" {
		return in, nil
	}
	defer in.Body.Close()
	body, err := s.read(in.Body)
	if err != nil {
		return nil, err
	}
	return nil, errorOf(r.method, s.prefix+r.path, in, body)
}

// read reads the body of a response up to Config.AnswerBytes. A longer one is not cut: it is an error.
func (s remote) read(body io.Reader) ([]byte, error) {
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(body, s.config.AnswerBytes+1))
	if err != nil {
		return nil, &failure{err, true, true}
	}
	if n > s.config.AnswerBytes {
		return nil, &failure{fmt.Errorf("the response is longer than %d bytes: see Config.AnswerBytes",
			s.config.AnswerBytes), true, false}
	}
	return b.Bytes(), nil
}

// mediaType returns the media type of a response without its parameters.
func mediaType(in *http.Response) string {
	kind, _, _ := mime.ParseMediaType(in.Header.Get("Content-Type"))
	return kind
}

// isTemporary reports whether another attempt may succeed after an error of once or roundTrip. After a 401, 403 or 410,
// for instance, it cannot.
func isTemporary(err error) bool {
	switch err := err.(type) {
	case *failure:
		return err.temporary
	case *Error:
		temporary := []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
			http.StatusGatewayTimeout}
		return slices.Contains(temporary, err.Status)
	}
	return false
}

// pause waits before the next attempt. It returns false if there must be none: the error would come again, the service
// asks for more time than Config.MaxWait, or ctx ends before.
func (s remote) pause(ctx context.Context, attempt int, err error) bool {
	asked := time.Duration(0)
	if e, ok := err.(*Error); ok {
		asked = e.retryAfter
	}
	// The wait doubles each time. A random part of up to half of it is added, so that clients that failed at the same
	// time do not come back at the same time.
	wait := min(s.config.MaxWait, 100*time.Millisecond<<min(attempt-1, 20))
	wait = max(min(wait+rand.N(wait/2+1), s.config.MaxWait), asked)
	if deadline, ok := ctx.Deadline(); !isTemporary(err) || asked > s.config.MaxWait || ok &&
		time.Until(deadline) < wait {
		return false
	}
	return sleep(ctx, wait)
}

// retryAfter returns the time in the header Retry-After, which is a number of seconds or a date. It returns 0 if there
// is none.
func retryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// sleep waits for d. It returns false if the context ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// get reads an address. It may be sent again, as it changes nothing.
func get[T any](ctx context.Context, s remote, path string, query values, t target) (T, error) {
	return send[T](ctx, s, reading(path, query), t)
}

// send sends a request, and decodes the response.
func send[T any](ctx context.Context, s remote, r request, t target) (out T, err error) {
	_, err = s.call(ctx, r, t, &out)
	return out, err
}

// do sends a request whose response has no body, or one that goes to request.into.
func (s remote) do(ctx context.Context, r request) error {
	_, err := s.call(ctx, r, target{}, nil)
	return err
}

// list reads a page of a list: the items are the value of a member, and cursor is the parameter of the next page's
// request.
func list[T any](
	ctx context.Context, s remote, path string, query values, member, cursor string,
) (page vitrine.Page[T], err error) {
	header, err := s.call(ctx, reading(path, query), value(member), &page.Items)
	page.Next = next(header, cursor)
	return page, err
}
