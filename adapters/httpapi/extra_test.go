package httpapi_test

import (
	"encoding/json"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// numbers yields the numbers after one, up to most.
func numbers(r *httpapi.Request, most int) iter.Seq2[int, error] {
	after, _ := strconv.Atoi(r.Text("after"))
	return func(yield func(int, error) bool) {
		for i := after + 1; i <= most; i++ {
			if !yield(i, nil) {
				return
			}
		}
	}
}

type numbered struct {
	N    int    `json:"n"`
	Text string `json:"text,omitempty"`
}

// withExtras is a handler with endpoints of a program, whose callers are named by their tokens.
func withExtras(t *testing.T, limits httpapi.Limits, extras ...httpapi.Extra) http.Handler {
	t.Helper()
	h, err := httpapi.New(httpapi.Config{Extras: extras, Limits: limits, Log: slog.New(slog.DiscardHandler),
		CompressFrom: -1,
		Authenticate: func(r *http.Request) (httpapi.Principal, error) {
			name, err := httpapi.RequestToken(r)
			return httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=" + name}}, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func askAs(h http.Handler, caller, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("Authorization", "Bearer "+caller)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// listOf is an endpoint with a list of numbers. show returns nil for one that nobody sees.
func listOf(most int, show func(int) (*numbered, error)) httpapi.Extra {
	return httpapi.Extra{Method: "GET", Path: "/x/things/", Status: 200, Query: []string{"q"},
		List: func(r *httpapi.Request) (httpapi.List, error) {
			return httpapi.NewList(r, "things", numbers(r, most), strconv.Itoa, show)
		}}
}

// A page of a list looks at 1,000 items, and has up to 500 and 4 MiB. The pages together have each visible item once.
func TestThePagesOfAList(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		most  int
		query string
		show  func(int) (*numbered, error)
		pages int
		items int
	}{
		"by default": {250, "", func(i int) (*numbered, error) { return &numbered{N: i}, nil }, 3, 250},
		"with a limit": {1000, "?limit=500&q=x", func(i int) (*numbered, error) {
			return &numbered{N: i}, nil
		}, 2, 1000},
		"of nobody's things": {3500, "?limit=500", func(int) (*numbered, error) { return nil, nil }, 4, 0},
		"with a few visible": {3500, "", func(i int) (*numbered, error) {
			return map[bool]*numbered{true: {N: i}}[i%700 == 0], nil
		}, 4, 5},
		"of large items": {9, "", func(i int) (*numbered, error) { return &numbered{i, long}, nil }, 3, 9},
		"of items too large": {3, "", func(i int) (*numbered, error) {
			return &numbered{i, strings.Repeat(long, 5)}, nil
		}, 3, 3},
		"without any":         {0, "", func(i int) (*numbered, error) { return &numbered{N: i}, nil }, 1, 0},
		"as long as one page": {100, "", func(i int) (*numbered, error) { return &numbered{N: i}, nil }, 1, 100},
	} {
		t.Run(name, func(t *testing.T) {
			looked := 0
			h := withExtras(t, httpapi.Limits{},
				listOf(c.most, func(i int) (*numbered, error) { looked++; return c.show(i) }))
			pages, items, last := 0, 0, 0
			for path := "/x/things" + c.query; path != ""; pages++ {
				looked = 0
				w := askAs(h, "ann", path)
				var body struct{ Things []numbered }
				if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != 200 || body.Things == nil {
					t.Fatalf("%d %.200s %v", w.Code, w.Body, err)
				}
				if looked > 1001 || len(body.Things) > 1 && w.Body.Len() > 4<<20+100 || len(body.Things) > 500 {
					t.Errorf("a page looks at %d items and has %d in %d bytes", looked, len(body.Things), w.Body.Len())
				}
				for _, one := range body.Things {
					if one.N <= last {
						t.Errorf("%d comes after %d", one.N, last)
					}
					items, last = items+1, one.N
				}
				path, _, _ = strings.Cut(strings.TrimPrefix(w.Header().Get("Link"), "<http://example.com"), ">")
				if c.query == "?limit=500&q=x" && path != "" && !strings.Contains(path, "q=x") {
					t.Errorf("the next page is %s", path)
				}
			}
			if pages != c.pages || items != c.items {
				t.Errorf("%d items on %d pages, want %d on %d", items, pages, c.items, c.pages)
			}
		})
	}
	h := withExtras(t, httpapi.Limits{}, listOf(1, func(int) (*numbered, error) { return nil, nil }))
	for _, query := range []string{"limit=0", "limit=501", "limit=-1", "limit=1e2", "limit=1&limit=2",
		"after=1&after=2", "other=1"} {
		if w := askAs(h, "ann", "/x/things/?"+query); w.Code != 400 {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
}

// duringWrite is a response that does something else at its first byte.
type duringWrite struct {
	*httptest.ResponseRecorder
	once func()
}

func (w *duringWrite) Write(p []byte) (int, error) {
	if w.once != nil {
		once := w.once
		w.once = nil
		once()
	}
	return w.ResponseRecorder.Write(p)
}

// The memory of a response is counted: while one caller is sent a large page that takes all, there is none for another.
func TestTheMemoryOfLists(t *testing.T) {
	h := withExtras(t, httpapi.Limits{Memory: 1 << 20}, listOf(2, func(i int) (*numbered, error) {
		return &numbered{i, strings.Repeat("x", 600<<10)}, nil
	}))
	during := 0
	w := &duringWrite{httptest.NewRecorder(), func() { during = askAs(h, "bob", "/x/things/").Code }}
	r := httptest.NewRequest("GET", "/x/things/", nil)
	r.Header.Set("Authorization", "Bearer ann")
	h.ServeHTTP(w, r)
	if again := askAs(h, "bob", "/x/things/").Code; w.Code != 200 || during != 503 || again != 200 {
		t.Errorf("one %d, another meanwhile %d, and later %d: want 200, 503 and 200", w.Code, during, again)
	}
}

// A response of Serve that passes the bound of a page is a fault of the program.
func TestALargeResponseOfAnExtra(t *testing.T) {
	h := withExtras(t, httpapi.Limits{},
		httpapi.Extra{Method: "GET", Path: "/x/thing", Status: 200, Serve: func(*httpapi.Request) (any, error) {
			return strings.Repeat("x", 5<<20), nil
		}})
	if w := askAs(h, "ann", "/x/thing"); w.Code != 500 {
		t.Errorf("%d with %d bytes", w.Code, w.Body.Len())
	}
}

// What would have other bounds than the rest cannot be mounted.
func TestExtrasThatCannotBeMounted(t *testing.T) {
	serve := func(*httpapi.Request) (any, error) { return nil, nil }
	list := func(*httpapi.Request) (httpapi.List, error) { return httpapi.List{}, nil }
	for what, e := range map[string]httpapi.Extra{
		"nothing":                    {Method: "GET", Path: "/x/a"},
		"both":                       {Method: "GET", Path: "/x/a/", Serve: serve, List: list},
		"a list by Serve":            {Method: "GET", Path: "/x/a/", Serve: serve},
		"a List at another path":     {Method: "GET", Path: "/x/a", List: list},
		"a List with another method": {Method: "POST", Path: "/x/a/", List: list},
		"pages by Serve":             {Method: "GET", Path: "/x/a", Serve: serve, Query: []string{"limit"}},
		"a cursor of its own":        {Method: "GET", Path: "/x/a/", List: list, Query: []string{"after"}},
	} {
		_, err := httpapi.New(httpapi.Config{Extras: []httpapi.Extra{e},
			Authenticate: func(*http.Request) (httpapi.Principal, error) {
				return httpapi.Principal{}, httpapi.ErrUnauthenticated
			}})
		if err == nil || !strings.Contains(err.Error(), e.Path) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
