package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// Each read takes a second. A caller with many delays another one by one of them.
func TestCallersHaveTheirTurnsOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, begun := newTurns(2), time.Now()
		var mu sync.Mutex
		ended := map[string][]time.Duration{}
		read := func(caller string, n int) {
			for range n {
				go func() {
					if err := turns.begin(t.Context(), caller); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Second)
					turns.end(caller)
					mu.Lock()
					defer mu.Unlock()
					ended[caller] = append(ended[caller], time.Since(begun))
				}()
				synctest.Wait()
			}
		}
		read("many", 100)
		read("some", 4)
		time.Sleep(time.Second / 2)
		read("one", 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		// In the order of their coming they would have ended after 51 seconds and more.
		if got := fmt.Sprint(ended["some"], ended["one"]); got != "[2s 3s 4s 5s] [2s]" {
			t.Errorf("the reads of the others have ended after %s", got)
		}
		if n := len(ended["many"]); n != 100 || turns.free != 2 || len(turns.callers) != 0 {
			t.Errorf("%d reads have ended, %d turns are free, and %d callers are known", n, turns.free,
				len(turns.callers))
		}
	})
}

func TestAReadThatIsGivenUpTakesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1)
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 3 { // the first one has a turn at once
			go func() {
				err := turns.begin(ctx, fmt.Sprint(i))
				if (err == nil) != (i == 0) || err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("%d: %v", i, err)
				}
			}()
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		turns.end("0")
		if turns.free != 1 || len(turns.callers) != 0 {
			t.Errorf("%d turns are free, and %d callers are known", turns.free, len(turns.callers))
		}
	})
}

// While one caller has all turns, /healthz, writes and open streams go on, and reads of others wait.
func TestOnlyReadsWaitForATurn(t *testing.T) {
	const network = "urn:vitrine:example.test"
	synctest.Test(t, func(t *testing.T) {
		served, err := New(Config{
			Apps: appsvc.New(memory.New(), nil),
			Authenticate: func(*http.Request) (Principal, error) {
				return Principal{Caller: vitrine.Caller{URN: network + ":user=ann", Moderates: []string{network}}}, nil
			},
			Ready: func(context.Context) error { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		h := served.(*handler)
		h.reads = newTurns(1)
		do := func(ctx context.Context, method, path, body string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			if strings.Contains(path, "changes") {
				r.Header.Set("Accept", "text/event-stream")
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		ctx, cancel := context.WithCancel(t.Context())
		go do(ctx, "GET", "/x/changes?after=now", "")
		synctest.Wait()
		if h.reads.free != 1 {
			t.Error("a stream keeps its turn")
		}
		if err := h.reads.begin(t.Context(), "another"); err != nil {
			t.Fatal(err)
		}
		if w := do(t.Context(), "GET", "/healthz", ""); w.Code != 200 {
			t.Errorf("/healthz is %d", w.Code)
		}
		if w := do(t.Context(), "POST", "/apps/", `{"title":"x","groups":["`+network+`"]}`); w.Code != 201 {
			t.Errorf("a write is %d", w.Code)
		}
		begun := time.Now()
		time.AfterFunc(time.Second, func() { h.reads.end("another") })
		if w := do(t.Context(), "GET", "/apps/", ""); w.Code != 200 || time.Since(begun) != time.Second {
			t.Errorf("a read is %d after %v", w.Code, time.Since(begun))
		}
		if h.reads.free != 1 {
			t.Error("the read keeps its turn")
		}
		cancel()
	})
}
