package httpapi

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// readme is README.md, taken apart.
type readme struct {
	sections map[string]string // text of each endpoint, by method and path as openapi.json has it
	codes    []string          // of the table of errors
	statuses map[string]string
}

func readReadme(t *testing.T) readme {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	out := readme{sections: map[string]string{}, statuses: map[string]string{}}
	var at string
	for line := range strings.Lines(string(text)) {
		if heading := regexp.MustCompile("^### `([A-Z]+) (.+)`\n$").FindStringSubmatch(line); heading != nil {
			at = heading[1] + " " + strings.Replace(heading[2], "…", assetPrefix+"/{network}/assetLibrary/{library}", 1)
			out.sections[at] = ""
			continue
		}
		if strings.HasPrefix(line, "#") {
			at = ""
		}
		if at != "" {
			out.sections[at] += line
		}
		if row := regexp.MustCompile("^\\| `([a-z_]+)` \\| ([0-9]{3}) \\|").FindStringSubmatch(line); row != nil {
			out.codes = append(out.codes, row[1])
			out.statuses[row[1]] = row[2]
		}
	}
	return out
}

// README.md has the endpoints, the parameters and the codes of openapi.json, and no others.
func TestTheReadmeHasEveryEndpointAndNoOther(t *testing.T) {
	page := readReadme(t)
	h := &handler{Config: Config{Apps: appsvc.New(memory.New(), nil), Assets: assets.New(memory.New(), nil),
		Reviews: reviews.New(memory.New(), nil)}}
	for _, rt := range h.routes() {
		name := rt.method + " " + rt.described()
		text, ok := page.sections[name]
		if !ok {
			t.Errorf("README.md has no section `%s`", name)
			continue
		}
		delete(page.sections, name)
		for _, parameter := range rt.query {
			if !strings.Contains(text, "`"+parameter+"`") && !strings.Contains(text, "`"+parameter+"=") {
				t.Errorf("README.md: %s does not name its parameter %s", name, parameter)
			}
		}
		if takes := strings.Contains(text, "`Idempotency-Key`"); takes != rt.is(keyed) {
			t.Errorf("README.md: %s takes an Idempotency-Key: %t, by the route table: %t", name, takes, rt.is(keyed))
		}
	}
	for name := range page.sections {
		t.Errorf("README.md has a section about %s, which is no endpoint", name)
	}
}

func TestTheReadmeHasEveryCodeAndNoOther(t *testing.T) {
	page := readReadme(t)
	if have, want := slices.Sorted(slices.Values(page.codes)), everyCode(t); !slices.Equal(have, want) {
		t.Errorf("the table of errors in README.md has the codes %q, want %q", have, want)
	}
	for _, row := range errorTable {
		if want := page.statuses[row.code]; row.code != "" && want != strconv.Itoa(row.status) {
			t.Errorf("README.md: the code %s has the status %s, by the code it is %d", row.code, want, row.status)
		}
	}
	for name, text := range page.sections {
		for _, word := range regexp.MustCompile("[45][0-9]{2} `([a-z_]+)`").FindAllStringSubmatch(text, -1) {
			if !slices.Contains(page.codes, word[1]) {
				t.Errorf("README.md: %s has the code %s, which is none", name, word[1])
			}
		}
	}
}

// The reads that ignore unknown parameters are those that README.md names; all other endpoints refuse them.
func TestReadsThatIgnoreUnknownParameters(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, said, _ := strings.Cut(string(text), "These reads ignore it: ")
	said, _, _ = strings.Cut(said, ".\n")
	var want, have []string
	for _, path := range regexp.MustCompile("`(?:GET )?([^`]+)`").FindAllStringSubmatch(said, -1) {
		want = append(want, strings.Replace(path[1], "…", assetPrefix+"/{network}/assetLibrary/{library}", 1))
	}
	built, err := New(Config{Apps: appsvc.New(memory.New(), nil), Assets: assets.New(memory.New(), nil),
		Reviews:      reviews.New(memory.New(), nil),
		Authenticate: func(*http.Request) (Principal, error) { return Principal{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	unknown := parseQuery("colour=red&broken=%zz")
	for _, route := range built.(*handler).routes() {
		if unknown.check(&route) == nil {
			have = append(have, route.described())
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(have, want) {
		t.Errorf("these ignore unknown parameters:\n%q\nREADME.md says:\n%q", have, want)
	}
}
