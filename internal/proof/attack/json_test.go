//go:build proof

package attack

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// endless is a body without an end.
type endless string

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], e)
	}
	return n, nil
}

// TestBodies sends JSON, headers and paths that cost much.
func TestBodies(t *testing.T) {
	s := start(t)
	s.component("any", "{}").want(201)
	id := s.newApp("any", `{}`)
	endpoints := map[string][2]string{"app": {"POST", "/apps/"}, "patch": {"PATCH", "/apps/" + id},
		"component": {"POST", "/components/"}, "assets": {"POST", library + "/assets"}}
	bodies := map[string]string{
		"10^6 deep": strings.Repeat("[", 1_000_000), "10^6 objects deep": strings.Repeat(`{"a":`, 200_000),
		"10^6 digits":                `{"title":` + strings.Repeat("9", 1_000_000) + `}`,
		"10^6 digits of an exponent": `{"title":1e` + strings.Repeat("9", 1_000_000) + `}`,
		"200,000 members":            `{` + repeat(200_000, `"m#":0`) + `}`,
		"one member 100,000 times":   `{` + repeat(100_000, `"m":0`) + `}`,
		"4 MiB of spaces":            strings.Repeat(" ", 4<<20),
		"4 MiB of escapes":           `{"title":"` + strings.Repeat(`\u00e9`, 690_000) + `"}`,
		"a million nulls":            `[` + strings.Repeat("null,", 800_000) + `null]`,
	}
	var attacks []attack
	for name, e := range endpoints {
		for what, body := range bodies {
			attacks = append(attacks,
				attack{name: what + " to " + name, want: "400 413 422", send: func(s *server) reply {
					return s.send(e[0], e[1], strings.NewReader(body))
				}})
		}
	}
	attacks = append(attacks,
		attack{name: "a body without an end", want: "413", send: func(s *server) reply {
			return s.send("POST", "/apps/", io.LimitReader(endless(" "), 15<<20))
		}},
		attack{name: "a body that promises much", want: "0 413", send: func(s *server) reply {
			return s.send("POST", "/apps/", endless(" "), func(r *http.Request) { r.ContentLength = 1 << 40 })
		}},
		attack{name: "a gzip bomb", want: "415", send: func(s *server) reply {
			return s.post("/apps/", zeros(16), header("Content-Encoding", "gzip"))
		}},
		attack{name: "5,000 headers", want: "200 431", send: func(s *server) reply {
			return s.get("/apps/", func(r *http.Request) {
				for i := range 5000 {
					r.Header.Set(fmt.Sprintf("X-%d", i), "x")
				}
			})
		}},
		attack{name: "a header of 1 MB", want: "0 431", send: func(s *server) reply {
			return s.get("/apps/", header("X-Long", strings.Repeat("x", 1<<20)))
		}},
		attack{name: "a path of 200 KB", want: "404", send: func(s *server) reply {
			return s.get("/apps/" + strings.Repeat("a", 200<<10))
		}},
		attack{name: "a path of 100,000 segments", want: "404", send: func(s *server) reply {
			return s.get(strings.Repeat("/a", 100_000))
		}},
		attack{name: "100,000 parameters", want: "200 400", send: func(s *server) reply {
			return s.get("/apps/?" + strings.Repeat("a&", 100_000))
		}},
		attack{name: "50,000 parameters of one name", want: "200 400", send: func(s *server) reply {
			return s.get("/tags/t?" + strings.Repeat("id=a&", 40_000) + "appId=x")
		}},
		attack{name: "20,000 apps asked for", want: "400", send: func(s *server) reply {
			return s.get("/tags/t?" + strings.Repeat("appId=a&", 20_000))
		}},
		attack{name: "100 KB of token", want: "401", send: func(s *server) reply {
			return s.get("/apps/", header("Authorization", "svctoken "+strings.Repeat("x", 100<<10)))
		}},
		attack{name: "100 KB of dots as a token", want: "401", send: func(s *server) reply {
			return s.get("/apps/", header("Authorization", "svctoken "+strings.Repeat(".", 100<<10)))
		}},
		attack{name: "50,000 tags of If-None-Match", want: "200", send: func(s *server) reply {
			return s.get("/apps/"+id, header("If-None-Match", strings.Repeat(`"a",`, 50_000)))
		}},
	)
	run(t, s, attacks)
}
