package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/lru"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// remote is one of the services of the server. It sends requests with a token, and reads their answers. It is safe for concurrent
// use.
type remote struct {
	config Config
	base   string // the address, without a slash at its end
	prefix string // the path of base
	// cache has the answers that were used last, by their paths. The client asks for each of them again with If-None-Match, so
	// that the service decides each time who may read it.
	cache *lru.Cache[string, kept]
}

// kept is an answer in the cache.
type kept struct {
	etag string
	body []byte
}

// overhead is about how many bytes an answer takes in the cache beside its texts.
const overhead = 200

// failure is an attempt without an answer of the service.
type failure struct {
	error
	sent    bool // the request may have arrived
	passing bool // another attempt may have an answer
}

// Unwrap returns the error of the connection.
func (f *failure) Unwrap() error { return f.error }

// call sends a request, and again as often as Config allows. It decodes the answer of a success into out, which t describes. The
// error wraps ErrUnknown if the request may have changed something, and no answer says whether it did.
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
		if _, refused := err.(*Error); !refused {
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

// once sends a request once and decodes its answer. The error is an *Error if the request was refused, and a *failure if
// there was no answer of the service. After any other error it was not sent, or it is an export that broke off.
func (s remote) once(ctx context.Context, r request, t target, out any) (http.Header, error) {
	var held kept
	if r.cached {
		held, _ = s.cache.Get(r.path)
		r.etag = held.etag
	}
	in, err := s.open(ctx, r)
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
	if size := len(r.path) + len(body) + overhead; in.StatusCode == http.StatusNotModified {
		body = held.body
	} else if etag := in.Header.Get("ETag"); r.cached && etag != "" && size <= s.config.CacheBytes {
		s.cache.Put(r.path, kept{etag, body}, size)
	}
	if r.into != nil {
		err = fmt.Errorf("its status is %d and its type %q, not 200 and %q", in.StatusCode, mediaType(in), exportType)
	} else {
		err = t.decode(in.StatusCode, body, out)
	}
	if err != nil {
		return nil, &failure{fmt.Errorf("the answer is not one of this service: %w; %s", err, beginning(body)), true, false}
	}
	return in.Header, nil
}

// open sends a request once, and returns the response if it is a success, or a 304 to a request with an ETag.
func (s remote) open(ctx context.Context, r request) (*http.Response, error) {
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
	return nil, refusal(r.method, s.prefix+r.path, in, body)
}

// read reads the body of a response up to Config.AnswerBytes. A longer one is not cut: it is an error.
func (s remote) read(body io.Reader) ([]byte, error) {
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(body, s.config.AnswerBytes+1))
	if err != nil {
		return nil, &failure{err, true, true}
	}
	if n > s.config.AnswerBytes {
		return nil, &failure{fmt.Errorf("the answer is longer than %d bytes: see Config.AnswerBytes", s.config.AnswerBytes), true, false}
	}
	return b.Bytes(), nil
}

// mediaType returns the media type of a response without its parameters.
func mediaType(in *http.Response) string {
	kind, _, _ := mime.ParseMediaType(in.Header.Get("Content-Type"))
	return kind
}

// isPassing reports whether another attempt may succeed after an error of once or open. It does not help after a 401, 403 or
// 410, for instance.
func isPassing(err error) bool {
	switch err := err.(type) {
	case *failure:
		return err.passing
	case *Error:
		passing := []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}
		return slices.Contains(passing, err.Status)
	}
	return false
}

// pause waits before the next attempt. It returns false if there must be none: the error would come again, the service asks for more
// time than Config.MaxWait, or ctx ends before.
func (s remote) pause(ctx context.Context, attempt int, err error) bool {
	asked := time.Duration(0)
	if refused, ok := err.(*Error); ok {
		asked = refused.retryAfter
	}
	// The wait doubles each time. A random part of up to half of it is added, so that clients that failed at the same time
	// do not come back at the same time.
	wait := min(s.config.MaxWait, 100*time.Millisecond<<min(attempt-1, 20))
	wait = max(min(wait+rand.N(wait/2+1), s.config.MaxWait), asked)
	if deadline, ok := ctx.Deadline(); !isPassing(err) || asked > s.config.MaxWait || ok && time.Until(deadline) < wait {
		return false
	}
	return sleep(ctx, wait)
}

// retryAfter returns the time in the header Retry-After, which is a number of seconds or a date. It returns 0 if there is none.
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
	return send[T](ctx, s, request{method: http.MethodGet, path: path, query: query, reads: true}, t)
}

// send sends a request, and decodes its answer.
func send[T any](ctx context.Context, s remote, r request, t target) (out T, err error) {
	_, err = s.call(ctx, r, t, &out)
	return out, err
}

// do sends a request that is answered without a body, or with one that goes to request.into.
func (s remote) do(ctx context.Context, r request) error {
	_, err := s.call(ctx, r, target{}, nil)
	return err
}

// list reads a page of a list: the items are the value of a member, and cursor is the parameter with which the next page is asked for.
func list[T any](ctx context.Context, s remote, path string, query values, member, cursor string) (page vitrine.Page[T], err error) {
	header, err := s.call(ctx, request{method: http.MethodGet, path: path, query: query, reads: true}, value(member), &page.Items)
	page.Next = next(header, cursor)
	return page, err
}

// all walks through the pages of a list from the cursor of a request on. after returns the place of the cursor in the request.
func all[In, T any](ctx context.Context, in In, list func(context.Context, In) (vitrine.Page[T], error), after func(*In) *string) iter.Seq2[T, error] {
	return paging.All(*after(&in), func(cursor string) ([]T, string, error) {
		in := in
		*after(&in) = cursor
		page, err := list(ctx, in)
		return page.Items, page.Next, err
	})
}
