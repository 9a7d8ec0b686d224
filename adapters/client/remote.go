package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/internal/paging"
	"github.com/vitrine-go/vitrine/internal/urlescape"
)

// remote is one of the three services of the server: its address, and the sentinels of its package, by which the errors
// of the client are the same as those of a Service in this process.
type remote struct {
	sender *sender
	base   string
}

// address returns an address of the service. format has a %s for each id, which is escaped. It returns ErrNotFound if
// an id is empty, since the address would be that of another endpoint.
func (s remote) address(format string, ids ...string) (string, error) {
	escaped := make([]any, len(ids))
	for i, id := range ids {
		if id == "" {
			return "", here(http.StatusNotFound, told{Code: "not_found", Error: "an id or a name is empty: nothing has such a one"})
		}
		escaped[i] = urlescape.Escape(id)
	}
	return s.base + fmt.Sprintf(format, escaped...), nil
}

// call sends a request and decodes its answer into out, which may be nil. The error wraps
// ErrUnknown if the request may have changed something and no answer tells whether it did. A success that is not from the
// service, but from a login page on the way for instance, does not tell it.
func (s remote) call(ctx context.Context, r request, out any) (http.Header, error) {
	a, doubt, err := s.sender.send(ctx, r)
	switch {
	case err != nil:
		err = fmt.Errorf("%s %s: %w", r.method, r.path(), err)
	case a.status < 200 || a.status > 299:
		refused := refusal(r, a)
		err, doubt = refused, doubt && !refused.settles()
	default:
		if err = a.decode(r, out); err != nil {
			err, doubt = fmt.Errorf("%s %s: the answer is not one of this service: %w", r.method, r.path(), err), r.changes()
		}
	}
	if err != nil && doubt && !errors.Is(err, vitrine.ErrUnknown) {
		err = fmt.Errorf("%w: %w", vitrine.ErrUnknown, err)
	}
	if err != nil {
		return nil, err
	}
	return a.header, nil
}

// get reads an address into out. It may be sent again, as it changes nothing.
func (s remote) get(ctx context.Context, out any, query url.Values, format string, ids ...string) (http.Header, error) {
	to, err := s.address(format, ids...)
	if err != nil {
		return nil, err
	}
	return s.call(ctx, request{method: http.MethodGet, url: to, query: query, again: true}, out)
}

// list reads a page of a list: the items are the value of a member, and cursor is the parameter with which the next page is asked for.
func list[T any](ctx context.Context, s remote, member, cursor string, query values, format string, ids ...string) (page vitrine.Page[T], err error) {
	header, err := s.get(ctx, value(member, &page.Items), url.Values(query), format, ids...)
	if err != nil {
		return vitrine.Page[T]{}, err
	}
	page.Next = next(header, cursor)
	return page, nil
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

// write sends a change with body as JSON. A body that is a []byte is JSON already; nil means no body.
func (s remote) write(ctx context.Context, r request, body, out any, format string, ids ...string) (err error) {
	if r.url, err = s.address(format, ids...); err != nil {
		return err
	}
	if body != nil {
		text, encoded := body.([]byte)
		if !encoded {
			if text, err = json.Marshal(body); err != nil {
				return here(http.StatusBadRequest, told{Code: "invalid", Error: err.Error()})
			}
		}
		if r.header == nil {
			r.header = http.Header{}
		}
		r.header.Set("Content-Type", "application/json")
		r.body = append([]byte{}, text...) // not nil, however short
	}
	_, err = s.call(ctx, r, out)
	return err
}

// keyed is write for a change that takes an Idempotency-Key and so may be sent again. An empty key stands for a random
// one.
func (s remote) keyed(ctx context.Context, key string, r request, body, out any, format string, ids ...string) error {
	if key == "" {
		key = rand.Text()
	}
	if !visible(key) {
		return here(http.StatusBadRequest, told{Code: "invalid", Parameter: "Idempotency-Key", Error: "an idempotency key has 1 to 255 visible ASCII characters"})
	}
	r.again = true
	r.header = http.Header{"Idempotency-Key": {key}}
	return s.write(ctx, r, body, out, format, ids...)
}

// visible reports whether s has visible ASCII characters only, so that a header can hold it.
func visible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// values are parameters of a query. Each method adds one, and leaves out a value that is empty, zero or false, which stands for
// "not given" in the requests of the domains.
type values url.Values

// text adds a text. A parameter that is added twice is repeated.
func (v values) text(name, value string) values {
	if value != "" {
		v[name] = append(v[name], value)
	}
	return v
}

// number adds a number.
func (v values) number(name string, value int) values {
	if value != 0 {
		v[name] = []string{strconv.Itoa(value)}
	}
	return v
}

// flag adds true.
func (v values) flag(name string, value bool) values {
	if value {
		v[name] = []string{"true"}
	}
	return v
}
