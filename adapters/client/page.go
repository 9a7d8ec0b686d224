package client

import (
	"iter"
	"net/http"
	"net/url"
	"strings"
)

// walk yields what is on all pages. page answers one, and changes the question to that for the next,
// if there is more.
func walk[Q, T any](first Q, page func(*Q) (items []T, more bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		q := first
		for more := true; more; {
			var items []T
			var err error
			if items, more, err = page(&q); err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			more = more && len(items) > 0
		}
	}
}

// next returns the parameter of the next page's address, and whether there is a next page. Only the
// parameter is taken: the address is asked of this server, whatever the header names.
func next(header http.Header, parameter string) (string, bool) {
	target, rel, ok := strings.Cut(header.Get("Link"), ">")
	if !ok || !strings.Contains(rel, `rel="next"`) {
		return "", false
	}
	u, err := url.Parse(strings.TrimPrefix(target, "<"))
	if err != nil {
		return "", false
	}
	value := u.Query().Get(parameter)
	return value, value != ""
}
