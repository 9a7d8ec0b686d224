package httpapi

import (
	"strings"
	"testing"
)

func TestParametersOfAPathAreUnescapedOnce(t *testing.T) {
	paths := &node{}
	paths.add("/{id}", &route{})
	for in, want := range map[string]string{
		"plain": "plain", "%40a%2Fb": "@a/b", "%2540": "%40", "a+b": "a+b", "é": "é", "%C3%A9": "é", "%FF": "\x00", "a%ED%A0%80b": "a\x00b", "%zz": "\x00", "%": "\x00",
	} {
		if routes, params := paths.find(strings.Split("/"+in, "/"), nil); len(routes) != 1 || params[0] != want {
			t.Errorf("%q: %q, want %q", in, params, want)
		}
	}
}

func TestNamesOfAPathComeBeforeParameters(t *testing.T) {
	paths := &node{}
	for _, path := range []string{"/a/{x}", "/a/b/", "/a/{x}/c", "/a/b/{y}/d"} {
		paths.add(path, &route{path: path})
	}
	for in, want := range map[string]string{
		"/a/b": "/a/{x}", "/a/b/": "/a/b/", "/a/b/c": "/a/{x}/c", "/a/b/c/d": "/a/b/{y}/d", "/a/{x}": "/a/{x}",
		"/a/": "", "/a/./c": "", "/a/../c": "", "/a//c": "", "/a/b/c/": "", "/a": "", "": "", "a/b": "",
	} {
		found := ""
		if routes, _ := paths.find(strings.Split(in, "/"), nil); routes != nil {
			found = routes[0].path
		}
		if found != want {
			t.Errorf("%q: %q, want %q", in, found, want)
		}
	}
}
