package console

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

const (
	signingKey = "a key for this test, and for nothing more"
	network    = "urn:vitrine:example.test"
)

// The people of the tests.
var ann = httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=ann", Moderates: []string{network},
	Components: true}}

// shortForm is the stories that are told with -short.
var shortForm = []string{
	"TestFromNothingToADeployment", "TestMakingAnApp", "TestArrangingElements", "TestElementsThatDoNotFit",
	"TestTwoPeopleEdit", "TestKeptForOneCaller",
	"TestHistoryAndDeployments", "TestSigningIn", "TestLive", "TestAssets", "TestHostileAssets", "TestReviews",
	"TestStoreThatFails",
}

// two stories at most are told at the same time: each has a server and one or two browsers.
var two = make(chan struct{}, 2)

// begin begins a story, beside others.
func begin(t *testing.T) {
	t.Helper()
	if testing.Short() && !slices.Contains(shortForm, t.Name()) {
		t.Skip("this story is told without -short")
	}
	t.Parallel()
	two <- struct{}{}
	t.Cleanup(func() { <-two })
}

// world is a server on a store in memory.
type world struct {
	t   *testing.T
	url string
}

// token signs a token that is good for an hour.
func (w *world) token(by httpapi.Principal) string {
	w.t.Helper()
	return w.tokenUntil(by, time.Now().Add(time.Hour))
}

func (w *world) tokenUntil(by httpapi.Principal, expires time.Time) string {
	w.t.Helper()
	tokens, err := httpapi.NewTokens([]byte(signingKey), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	text, err := tokens.Sign(by, expires)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

// component creates a component with this schema.
func (w *world) component(name, version, schema string) {
	w.t.Helper()
	manifest := fmt.Sprintf(`{"name":%q,"version":%q,"main":"https://cdn.example.test/x.js","configSchema":%s}`, name,
		version, schema)
	w.request(ann, "POST", "/components", manifest)
}

// request sends a request that succeeds, and returns its answer.
func (w *world) request(by httpapi.Principal, method, path, body string) []byte {
	w.t.Helper()
	status, text := w.ask(by, method, path, body)
	if status >= 300 {
		w.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	return text
}

// ask sends a request and returns its status and its answer.
func (w *world) ask(by httpapi.Principal, method, path, body string) (int, []byte) {
	w.t.Helper()
	r, err := http.NewRequest(method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.token(by))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.StatusCode, text
}

// person is somebody with a browser.
type person struct {
	*Browser
	w *world
}

// visitor is somebody with a browser that has not signed in.
func (w *world) visitor(width int, scheme string) *person {
	w.t.Helper()
	p := &person{newBrowser(w.t), w}
	p.Resize(width, 780)
	p.Scheme(scheme)
	p.Prelude(`performance.setResourceTimingBufferSize(100000)`)
	w.t.Cleanup(p.keepsToItself)
	p.Open(w.url)
	p.See(`//dialog//h2[.="Sign in"]`)
	return p
}

// keepsToItself fails if the page has sent a request to another origin, but for images, which people switch on, or one
// with a token in its address.
func (p *person) keepsToItself() {
	if p.T.Failed() {
		return
	}
	var elsewhere []string
	p.Run(&elsewhere,
		`async () => performance.getEntriesByType("resource").map((x) => (x.initiatorType === "img" ? "" : x.name))
		.filter((name) => name !== "" && new URL(name).origin !== location.origin || name.includes("eyJ"))`)
	if len(elsewhere) > 0 {
		p.T.Errorf("the page has sent requests to %q", elsewhere)
	}
}

// field is the XPath of the control with this label.
func field(label string) string {
	return fmt.Sprintf(`//label[starts-with(normalize-space(), %q)]/ancestor::div[contains(@class, `+
		`"field")][1]//*[self::input or self::select or self::textarea]`, label)
}

// named is the XPath of the button with this name.
func named(name string) string {
	return fmt.Sprintf(`//button[normalize-space()=%q or @aria-label=%q]`, name, name)
}

// saved waits until the designer says that everything is saved.
func (p *person) saved(version int) {
	p.T.Helper()
	p.See(fmt.Sprintf(`//*[contains(@class, "saving") and contains(., "Saved as version %d")]`, version))
}
