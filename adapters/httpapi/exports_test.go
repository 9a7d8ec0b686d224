package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
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
	if load, _ := httpapi.LoadOf(w.handler); load.Exports != 3 {
		t.Errorf("%d exports are under way, want 3", load.Exports)
	}
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

// slowStore is a service whose export has three lines, with a pause after each.
type slowStore struct {
	*reviews.Service
	pause time.Duration
}

func (s slowStore) Export(_ context.Context, _ reviews.Caller, in reviews.ExportRequest) error {
	for range 3 {
		if _, err := io.WriteString(in.To, "{}\n"); err != nil {
			return err
		}
		time.Sleep(s.pause)
	}
	return nil
}

// slowReader is a response whose client takes pause for each piece, and which keeps the deadlines for writing.
type slowReader struct {
	*httptest.ResponseRecorder
	pause    time.Duration
	deadline time.Time
}

func (s *slowReader) SetWriteDeadline(t time.Time) error {
	s.deadline = t
	return nil
}

func (s *slowReader) Write(p []byte) (int, error) {
	time.Sleep(max(0, min(s.pause, time.Until(s.deadline))))
	if !time.Now().Before(s.deadline) {
		return 0, os.ErrDeadlineExceeded
	}
	return s.ResponseRecorder.Write(p)
}

// TestAClientPaysForItsOwnTimeAlone exports 9 bytes, for which a client has little more than Limits.Pause.
func TestAClientPaysForItsOwnTimeAlone(t *testing.T) {
	for _, test := range []struct {
		name          string
		store, client time.Duration // the pauses after each piece
		whole         bool
	}{
		{"a store that works for long", 40 * time.Second, 0, true},
		{"both take some time", 40 * time.Second, 9 * time.Second, true},
		{"a client that takes long for each piece", 0, 31 * time.Second, false},
		{"a client that takes long for all", 0, 11 * time.Second, false},
		{"a client that takes long for all, of a store that does too", 40 * time.Second, 11 * time.Second, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, err := httpapi.New(httpapi.Config{Reviews: slowStore{reviews.New(memory.New().Reviews(), nil), test.store},
					Authenticate: func(*http.Request) (httpapi.Principal, error) { return editor, nil }})
				if err != nil {
					t.Fatal(err)
				}
				w := &slowReader{ResponseRecorder: httptest.NewRecorder(), pause: test.client}
				whole := true
				func() {
					defer func() { whole = recover() != http.ErrAbortHandler }()
					h.ServeHTTP(w, httptest.NewRequest("GET", exportPath, nil))
				}()
				if whole != test.whole || whole && w.Body.String() != "{}\n{}\n{}\n" {
					t.Errorf("whole is %t: %q", whole, w.Body)
				}
			})
		})
	}
}
