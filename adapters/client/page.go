package client

import (
	"net/http"
	"net/url"
	"strings"
)

// next returns a parameter of the address in the header Link, with which the next page is asked for, "" if there is no
// next page. The rest of the address is not used: the next page comes from the same server, whatever the header names.
func next(header http.Header, parameter string) string {
	target, rel, ok := strings.Cut(header.Get("Link"), ">")
	if !ok || !strings.Contains(rel, `rel="next"`) {
		return ""
	}
	u, err := url.Parse(strings.TrimPrefix(target, "<"))
	if err != nil {
		return ""
	}
	return u.Query().Get(parameter)
}
