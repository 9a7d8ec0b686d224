package httpapi_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
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
	synctest.Test(t, func(t *testing.T) {
		known := &people{named: map[string]httpapi.Principal{}}
		for _, name := range []string{"1", "2", "3"} {
			known.set(name, httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=" + name, Moderates: []string{network}}})
		}
		h, err := httpapi.New(httpapi.Config{Reviews: reviews.New(memory.New(), nil), Authenticate: known.authenticate, Limits: httpapi.Limits{Exports: 3, ExportsOfCaller: 2}})
		if err != nil {
			t.Fatal(err)
		}
		request := func(name, method, path, body string) *http.Request {
			r := httptest.NewRequest(method, path, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+name)
			r.Header.Set("Content-Type", "application/x-ndjson")
			return r
		}
		want := func(name, method, path, body string, status int, says string) http.Header {
			t.Helper()
			answer := httptest.NewRecorder()
			h.ServeHTTP(answer, request(name, method, path, body))
			if answer.Code != status || !strings.Contains(answer.Body.String(), says) {
				t.Errorf("%s %s: %d %s, want %d with %q", method, path, answer.Code, answer.Body, status, says)
			}
			return answer.Header()
		}
		want("1", "POST", importPath, record("YQ=="), 200, `"created":1`)
		begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan int)
		export := func(name string) {
			go func() {
				mine := unreadAnswer{httptest.NewRecorder(), begun, goOn}
				h.ServeHTTP(mine, request(name, "GET", exportPath, ""))
				ended <- mine.Code
			}()
			<-begun
		}
		export("1")
		export("1")
		if headers := want("1", "GET", exportPath, "", 503, "2 exports of this caller"); headers.Get("Retry-After") == "" {
			t.Error("a refused export is not told when to come again")
		}
		export("2")
		want("3", "GET", exportPath, "", 503, "3 exports are under way")
		if load, _ := httpapi.LoadOf(h); load.Exports != 3 {
			t.Errorf("%d exports are under way, want 3", load.Exports)
		}
		want("3", "HEAD", exportPath, "", 200, "")
		want("3", "GET", "/x/reviews/collections", "", 200, "")
		close(goOn)
		for range 3 {
			if status := <-ended; status != 200 {
				t.Errorf("an export ended with %d", status)
			}
		}
		want("3", "GET", exportPath, "", 200, `"reviews"`)
	})
}

// slowStore is a service whose export has three lines, with a pause after each.
type slowStore struct {
	*reviews.Service
	pause time.Duration
}

func (s slowStore) Export(_ context.Context, _ vitrine.Caller, _ string, to io.Writer) error {
	for range 3 {
		if _, err := io.WriteString(to, "{}\n"); err != nil {
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

// TestAClientPaysForItsOwnTimeAlone exports 9 bytes, for which a client has little more than a minute.
func TestAClientPaysForItsOwnTimeAlone(t *testing.T) {
	for _, test := range []struct {
		name          string
		store, client time.Duration // the pauses after each piece
		whole         bool
	}{
		{"a store that works for long", 80 * time.Second, 0, true},
		{"both take some time", 80 * time.Second, 19 * time.Second, true},
		{"a client that takes long for each piece", 0, 61 * time.Second, false},
		{"a client that takes long for all", 0, 21 * time.Second, false},
		{"a client that takes long for all, of a store that does too", 80 * time.Second, 21 * time.Second, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, err := httpapi.New(httpapi.Config{Reviews: slowStore{reviews.New(memory.New(), nil), test.store},
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
