package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
)

const (
	// silence is how long a stream may be silent before its connection counts as lost; the service sends a comment
	// every 15 seconds.
	silence = 45 * time.Second
	// mostLine is how long a line of a stream may be, in bytes. A longer one is an error that ends the iterator.
	mostLine = 1 << 20
)

// follow returns an iterator over the entries of an event stream, from the cursor after on. When a stream ends, it
// connects again and goes on from the last entry, with longer waits after each attempt without events. It yields an
// error once, as the last value: that of ctx, or one that would come again.
//
// It asks for the cursor of "now" first. Otherwise a stream that is lost before its first entry would go on from a
// later "now", and miss the entries between.
func follow[T any](ctx context.Context, s remote, path string, query values, after string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var err error
		after := after
		if after == "now" {
			after, err = get[string](ctx, s, path, maps.Clone(query).text("after", after), value("next"))
		}
		for failures := 0; err == nil; failures++ {
			before, left := after, false
			err = s.stream(ctx, path, maps.Clone(query).text("after", after),
				func(id, data []byte) (more bool, err error) {
					if len(data) > 0 {
						var entry T
						if err := json.Unmarshal(data, &entry); err != nil {
							return false,
								fmt.Errorf("GET %s: an entry is not what this service would send: %w", s.prefix+path,
									err)
						}
						left = !yield(entry, nil)
					}
					if len(id) > 0 { // only once its entry was yielded, so that no entry is lost
						after = string(id)
					}
					return !left, nil
				})
			if left {
				return
			}
			if after != before { // it was a good connection, so the next wait is short again
				failures = 0
			}
			if isTemporary(err) || err == nil && failures > 0 {
				wait := min(s.config.MaxWait, 100*time.Millisecond<<min(failures, 20))
				sleep(ctx, wait/2+rand.N(wait/2+1))
				err = nil
			}
			if ctx.Err() != nil {
				err = ctx.Err()
			}
		}
		var none T
		yield(none, err)
	}
}

// stream reads one stream until it ends, in the format of server-sent events (WHATWG HTML, section 9.2): an event ends
// with an empty line. It calls event with each until that returns false or an error. The data of an event are empty if
// it is a cursor alone. The stream ends without an error if the service has ended it, as it does when a token expires.
// A stream without events and comments for the time of silence is closed as a lost connection.
func (s remote) stream(
	ctx context.Context, path string, query values, event func(id, data []byte) (more bool, err error),
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	r := request{method: http.MethodGet, path: path, query: query, accept: "text/event-stream"}
	in, err := s.roundTrip(ctx, r)
	if err != nil {
		return err
	}
	defer in.Body.Close()
	if kind := mediaType(in); kind != r.accept {
		return fmt.Errorf("GET %s: the response is no event stream, but %q", s.prefix+path, kind)
	}
	lines := bufio.NewScanner(in.Body)
	lines.Buffer(make([]byte, 0, 4<<10), mostLine)
	var id, data []byte
	for lines.Scan() {
		quiet.Reset(silence)
		line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0:
			if more, err := event(id, data); !more {
				return err
			}
			id, data = id[:0], data[:0]
		case string(name) == "id":
			id = append(id[:0], value...)
		case string(name) == "data":
			data = append(data, value...)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("GET %s: a line of the stream has more than %d bytes", s.prefix+path, mostLine)
	case err != nil:
		return &failure{err, true, true}
	}
	return nil
}

// Changes returns a page of the feed of changes.
func (a *Apps) Changes(ctx context.Context, in appsvc.ChangesRequest) (vitrine.ChangesPage[appsvc.Event], error) {
	return get[vitrine.ChangesPage[appsvc.Event]](ctx, a.remote, "/x/changes", changesQuery(in).text("after", in.After),
		object("next"))
}

// Follow yields the entries of the feed of changes, and waits for more. It reads an event stream. When the stream ends,
// or the connection is lost, it connects again and goes on after the last entry, until ctx is done. Its last value is
// an error: that of ctx, or one that would come again if it connected again.
func (a *Apps) Follow(ctx context.Context, in appsvc.ChangesRequest) iter.Seq2[appsvc.Event, error] {
	return follow[appsvc.Event](ctx, a.remote, "/x/changes", changesQuery(in), in.After)
}

// changesQuery returns the parameters that pages and streams have in common.
func changesQuery(in appsvc.ChangesRequest) values {
	q := values{}.text("app", in.AppID).number("limit", in.Limit)
	if in.Types != nil {
		names := make([]string, len(in.Types))
		for i, t := range in.Types {
			names[i] = string(t)
		}
		q.list("types", names)
	}
	return q
}

// Changes returns a page of the feed of changes of a library.
func (a *Assets) Changes(
	ctx context.Context, lib assets.Library, in vitrine.ChangesRequest,
) (vitrine.ChangesPage[assets.Event], error) {
	return get[vitrine.ChangesPage[assets.Event]](ctx, a.remote, libraryPath(lib, "/changes"),
		values{}.page(in.After, in.Limit), object("next"))
}

// Follow yields the entries of the feed of changes of a library, and waits for more; see Apps.Follow.
func (a *Assets) Follow(
	ctx context.Context, lib assets.Library, in vitrine.ChangesRequest,
) iter.Seq2[assets.Event, error] {
	return follow[assets.Event](ctx, a.remote, libraryPath(lib, "/changes"), values{}.number("limit", in.Limit),
		in.After)
}
