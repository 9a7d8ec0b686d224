package httpapi

import (
	"fmt"
	"testing"
)

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "%40a%2Fb": "@a/b", "%2540": "%40", "a+b": "a+b", "é": "é", "%C3%A9": "é", "%FF": "\x00",
		"a%ED%A0%80b": "a\x00b", "%zz": "\x00", "%": "\x00",
	} {
		if got := unescape(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestASegmentComesBeforeAParameter(t *testing.T) {
	r := newRouter("", assetPrefix+"/", []route{get("/x/{tag}", nil, 0), get("/x/reviews/{network}", nil, 0),
		get("/x/{tag}/moves/", nil, slash)})
	for path, want := range map[string]string{
		"/x/a": "/x/{tag} [a]", "/x/reviews": "/x/{tag} [reviews]", "/x/reviews/n": "/x/reviews/{network} [n]",
		"/x/reviews/moves": "/x/reviews/{network} [moves]", "/x/reviews/moves/": "/x/{tag}/moves/ [reviews]",
		"/x/%7Btag%7D": "/x/{tag} [{tag}]", "/x/": "", "/x/a/b": "", "/x": "", "/": "", "": "", "x/a": "",
	} {
		found := ""
		if routes, params := r.find(path); routes != nil {
			found = fmt.Sprint(routes[0].path, " ", params)
		}
		if found != want {
			t.Errorf("%q: %q, want %q", path, found, want)
		}
	}
}
