package main

import (
	"strings"
	"syscall"
	"testing"
)

func TestTheAccessLogIsWrittenWhenAskedFor(t *testing.T) {
	for _, args := range [][]string{{"-db", "v.db"}, {"-db", "v.db", "-access-log"}} {
		dir := t.TempDir()
		s := start(t, dir, nil, args...)
		token := newToken(t, dir, nil, "-db", "v.db")
		s.do(token, "GET", "/apps/?limit=1", "", 200)
		s.do("none", "GET", "/apps/?limit=1", "", 401)
		s.stop(syscall.SIGTERM)
		log := s.stderr.String()
		if strings.Contains(log, token) || strings.Contains(log, "limit=1") {
			t.Errorf("%v: the log holds the token or the query: %s", args, log)
		}
		if asked := strings.Count(log, `caller="urn:vitrine:example.test:user=editor" status=200`); asked != len(args)-2 {
			t.Errorf("%v: the editor is named %d times: %s", args, asked, log)
		}
		if got, want := strings.Count(log, "path=/apps/ route=/apps/ address=127.0.0.1 caller="), 2*(len(args)-2); got != want {
			t.Errorf("%v: %d lines of requests, want %d: %s", args, got, want, log)
		}
	}
}
