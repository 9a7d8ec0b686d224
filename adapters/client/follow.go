package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	// silence is how long a stream may bring nothing before its connection counts as lost; the service sends a comment
	// every 15 seconds.
	silence = 45 * time.Second
	// mostLine is how long a line of a stream may be, in bytes. A longer one is an error that ends the iterator.
	mostLine = 1 << 20
)

// follow returns an iterator over the entries of an event stream, from the cursor after on. When a stream ends, it connects
// again and goes on from the last entry, so that the caller sees one list. It connects again at once if the service has ended
// the stream, and this was the first one or it brought something. Otherwise it waits, longer after each attempt that brought
// nothing. It yields an error once, as the last value: that of ctx, or one that would come again if it connected again.
//
// now returns a cursor for "now". Without it, a stream that is lost before its first entry would go on from a later
// "now", and miss what came between.
func follow[T any](ctx context.Context, s remote, query url.Values, after string, now func() (string, error), format string, ids ...string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		f := follower[T]{s: s, query: query, yield: yield, after: after}
		var err error
		if f.to, err = s.address(format, ids...); err == nil && after == "now" {
			f.after, err = now()
		}
		for failures := 0; err == nil && !f.left; {
			// A stream that has moved the cursor was a good connection, so the next wait is short again.
			before := f.after
			err = f.once(ctx)
			if f.after != before {
				failures = 0
			}
			switch {
			case f.left || ctx.Err() != nil || err == nil && failures == 0:
			case err == nil || isPassing(err):
				err = nil
				wait := min(s.sender.MaxWait, 100*time.Millisecond<<min(failures, 20))
				sleep(ctx, wait/2+rand.N(wait/2+1))
			}
			failures++
			if err == nil && ctx.Err() != nil {
				err = ctx.Err()
			}
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		if !f.left {
			var none T
			yield(none, err)
		}
	}
}

// isPassing reports whether connecting again may succeed after this error. It does not help after a 401, 403 or 410, for
// instance, so the iterator ends with those.
func isPassing(err error) bool {
	var gone *lost
	answered, ok := errors.AsType[*Error](err)
	return errors.As(err, &gone) || ok && slices.Contains(passing, answered.Status)
}

// follower reads one stream after the other.
type follower[T any] struct {
	s     remote
	to    string
	query url.Values
	yield func(T, error) bool
	after string // the cursor to go on from
	left  bool   // the caller has ended its loop over the entries
}

// once reads one stream until it ends. It returns nil if the service has ended it, as it does when a token expires, or if
// the caller has ended its loop. A stream that brings nothing for the time of silence is closed, as a lost connection.
func (f *follower[T]) once(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := request{method: http.MethodGet, url: f.to, query: url.Values{}, header: http.Header{"Accept": {"text/event-stream"}}}
	for name, v := range f.query {
		r.query[name] = v
	}
	if f.after != "" {
		r.query.Set("after", f.after)
	}
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	in, err := f.s.sender.open(ctx, r)
	if err != nil {
		return err
	}
	defer in.Body.Close()
	if in.StatusCode != http.StatusOK {
		a := response{status: in.StatusCode, header: in.Header}
		if a.body, err = f.s.sender.read(in.Body); err != nil {
			return err
		}
		return refusal(r, a)
	}
	if kind, _, _ := mime.ParseMediaType(in.Header.Get("Content-Type")); kind != "text/event-stream" {
		return fmt.Errorf("%s %s: the answer is no event stream, but %q", r.method, r.path(), kind)
	}
	return f.read(in.Body, func() { quiet.Reset(silence) })
}

// read yields the entries of a stream in the format of server-sent events (WHATWG HTML, section 9.2). An event ends
// with an empty line. Its id becomes the cursor to go on from once its entry was yielded, so that no entry is lost.
// alive is called for each line, comments too.
func (f *follower[T]) read(body io.Reader, alive func()) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 4<<10), mostLine)
	var id, data []byte
	for lines.Scan() {
		alive()
		line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
		if len(line) > 0 {
			name, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(name) {
			case "id":
				id = append(id[:0], value...)
			case "data":
				data = append(data, value...)
			}
			continue
		}
		if len(data) > 0 {
			var entry T
			if err := json.Unmarshal(data, &entry); err != nil {
				return fmt.Errorf("GET %s: an entry is not what this service would send: %w", f.to, err)
			}
			if !f.yield(entry, nil) {
				f.left = true
				return nil
			}
		}
		if len(id) > 0 {
			f.after = string(id)
		}
		id, data = id[:0], data[:0]
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("GET %s: a line of the stream has more than %d bytes", f.to, mostLine)
	} else if err != nil {
		return &lost{err}
	}
	return nil
}
