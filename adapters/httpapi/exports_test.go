package httpapi_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// unreadAnswer is a response whose client reads nothing until the test tells it to.
type unreadAnswer struct {
	*httptest.ResponseRecorder
	begun, goOn chan struct{}
}

func (u unreadAnswer) Write(p []byte) (int, error) {
	u.begun <- struct{}{}
	<-u.goOn
	return u.ResponseRecorder.Write(p)
}

// TestExportsHaveSlots fills the slots with exports whose clients do not read. Further exports are refused, other reads are
// not, and slots become free when the clients have read.
func TestExportsHaveSlots(t *testing.T) {
	w := reviewWorld(t, func(c *httpapi.Config) { c.Limits.Exports, c.Limits.ExportsOfCaller = 3, 2 })
	w.as(editor, "POST", importPath, record("YQ=="), setType("application/x-ndjson")).want(200)
	user := func(i int) httpapi.Principal {
		return httpapi.Principal{URN: fmt.Sprintf("%s:user=%d", network, i), Moderates: []string{network}}
	}
	u := unreadAnswer{begun: make(chan struct{}), goOn: make(chan struct{})}
	ended := make(chan int)
	export := func(by httpapi.Principal) {
		r := httptest.NewRequest("GET", "/x/reviews/export", nil)
		r.Header.Set("Authorization", "svctoken "+w.token(by))
		go func() {
			mine := unreadAnswer{httptest.NewRecorder(), u.begun, u.goOn}
			w.handler.ServeHTTP(mine, r)
			ended <- mine.Code
		}()
		<-u.begun
	}
	export(user(1))
	export(user(1))
	if r := w.as(user(1), "GET", "/x/reviews/export", "").want(429, "2 exports of this caller"); r.header.Get("Retry-After") == "" {
		t.Error("a refused export is not told when to come again")
	}
	export(user(2))
	w.as(user(3), "GET", "/x/reviews/export", "").want(429, "3 exports are under way")
	w.as(user(3), "HEAD", "/x/reviews/export", "").want(200)
	w.as(user(3), "GET", "/apps/", "").want(200)
	close(u.goOn)
	for range 3 {
		if status := <-ended; status != 200 {
			t.Errorf("an export ended with %d", status)
		}
	}
	if r := w.as(user(3), "GET", "/x/reviews/export", "").want(200); !strings.Contains(r.body, `"reviews"`) {
		t.Errorf("not exported: %s", r.body)
	}
}
