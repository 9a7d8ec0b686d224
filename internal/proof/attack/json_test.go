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

// TestBodies sends what is no strict JSON, or too much of it, to every endpoint that takes some.
func TestBodies(t *testing.T) {
	s := start(t)
	s.component("any", "{}").want(201)
	id := s.newApp("any", `{}`)
	endpoints := map[string][2]string{"app": {"POST", "/apps/"}, "patch": {"PATCH", "/apps/" + id}, "tag": {"PUT", "/apps/" + id + "/tags/t"}, "restore": {"POST", "/apps/versions/restore"},
		"component": {"POST", "/components/"}, "assets": {"POST", library + "/assets"}, "folders": {"POST", library + "/folders"}, "attributes": {"POST", library + "/attributes"}}
	bodies := map[string]string{
		"10^6 deep": strings.Repeat("[", 1_000_000), "10^6 objects deep": strings.Repeat(`{"a":`, 200_000), "65 deep": nested(65, "[", "", "]"),
		"10^6 digits": `{"title":` + strings.Repeat("9", 1_000_000) + `}`, "10^6 digits of an exponent": `{"title":1e` + strings.Repeat("9", 1_000_000) + `}`,
		"NaN": `{"title":NaN}`, "a BOM": "\ufeff{}", "UTF-16": "{\x00}\x00", "a lone surrogate": `{"title":"\ud800"}`, "NUL": `{"title":"\u0000"}`, "a raw NUL": "{\"title\":\"\x00\"}",
		"bad UTF-8": "{\"title\":\"\xff\"}", "two values": `{}{}`, "a value and a brace": `{}}`, "a member twice": `{"title":"a","title":"b"}`, "another case": `{"tItLe":"a"}`,
		"200,000 members": `{` + repeat(200_000, `"m#":0`) + `}`, "one member 100,000 times": `{` + repeat(100_000, `"m":0`) + `}`, "4 MiB of spaces": strings.Repeat(" ", 4<<20),
		"4 MiB of escapes": `{"title":"` + strings.Repeat(`\u00e9`, 690_000) + `"}`, "nothing": "", "half": `{"title":"`, "a million nulls": `[` + strings.Repeat("null,", 800_000) + `null]`,
	}
	var attacks []attack
	for name, e := range endpoints {
		for what, body := range bodies {
			if testing.Short() && len(body) > 1000 && name != "app" && name != "patch" && name != "assets" {
				continue
			}
			attacks = append(attacks, attack{name: what + " to " + name, want: "400 413 422", send: func(s *server) reply { return s.send(e[0], e[1], strings.NewReader(body)) }})
		}
	}
	component := func(more string) func(*server) reply {
		return func(s *server) reply {
			return s.post("/components/", `{"name":"deep","version":"1.0.0","main":"/x.js","configSchema":{}`+more)
		}
	}
	attacks = append(attacks,
		attack{name: "a component with a member 64 deep", want: "400", send: component(`,"x":` + nested(64, "[", "", "]") + "}")},
		attack{name: "a component and a brace", want: "400", send: component("}{}")},
		attack{name: "a component with NUL", want: "400", send: component(`,"x":"\u0000"}`)},
		attack{name: "a component with another case", want: "400", send: component(`,"Description":"x"}`)},
		attack{name: "a component with a member twice", want: "400", send: component(`,"x":1,"x":2}`)},
		attack{name: "a component with a lone surrogate", want: "400", send: component(`,"x":"\udc00"}`)},
		attack{name: "a body without an end", want: "413", send: func(s *server) reply { return s.send("POST", "/apps/", io.LimitReader(endless(" "), 15<<20)) }},
		attack{name: "a body that promises much", want: "0 413", send: func(s *server) reply {
			return s.send("POST", "/apps/", endless(" "), func(r *http.Request) { r.ContentLength = 1 << 40 })
		}},
		attack{name: "a body of unknown coding", want: "415", send: func(s *server) reply { return s.post("/apps/", "{}", header("Content-Encoding", "br")) }},
		attack{name: "a gzip bomb", want: "415", send: func(s *server) reply { return s.post("/apps/", zeros(16), header("Content-Encoding", "gzip")) }},
		attack{name: "a body without a type", want: "415", send: func(s *server) reply { return s.post("/apps/", "{}", without("Content-Type")) }},
		attack{name: "5,000 headers", want: "200 431", send: func(s *server) reply {
			return s.get("/apps/", func(r *http.Request) {
				for i := range 5000 {
					r.Header.Set(fmt.Sprintf("X-%d", i), "x")
				}
			})
		}},
		attack{name: "a header of 1 MB", want: "0 431", send: func(s *server) reply { return s.get("/apps/", header("X-Long", strings.Repeat("x", 1<<20))) }},
		attack{name: "a path of 200 KB", want: "404", send: func(s *server) reply { return s.get("/apps/" + strings.Repeat("a", 200<<10)) }},
		attack{name: "a path of 100,000 segments", want: "404", send: func(s *server) reply { return s.get(strings.Repeat("/a", 100_000)) }},
		attack{name: "100,000 parameters", want: "200 400", send: func(s *server) reply { return s.get("/apps/?" + strings.Repeat("a&", 100_000)) }},
		attack{name: "50,000 parameters of one name", want: "200 400", send: func(s *server) reply { return s.get("/tags/t?" + strings.Repeat("id=a&", 40_000) + "appId=x") }},
		attack{name: "20,000 apps asked for", want: "400", send: func(s *server) reply { return s.get("/tags/t?" + strings.Repeat("appId=a&", 20_000)) }},
		attack{name: "100 KB of token", want: "401", send: func(s *server) reply {
			return s.get("/apps/", header("Authorization", "svctoken "+strings.Repeat("x", 100<<10)))
		}},
		attack{name: "100 KB of dots as a token", want: "401", send: func(s *server) reply {
			return s.get("/apps/", header("Authorization", "svctoken "+strings.Repeat(".", 100<<10)))
		}},
		attack{name: "50,000 tags of If-None-Match", want: "200", send: func(s *server) reply {
			return s.get("/apps/"+id, header("If-None-Match", strings.Repeat(`"a",`, 50_000)))
		}},
		attack{name: "a key of 256 characters", want: "400", send: func(s *server) reply {
			return s.post("/apps/", `{"title":"x","groups":["`+network+`"]}`, header("Idempotency-Key", strings.Repeat("k", 256)))
		}},
	)
	run(t, s, attacks)
}
