package client

import (
	"net/http"
	"net/url"
	"strings"
)

// next returns the parameter of the next page's address, "" if there is no next page. Only the
// parameter is taken: the address is asked of this server, whatever the header names.
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
