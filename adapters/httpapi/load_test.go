package httpapi_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

func TestTheLoadCountsWhatIsUnderWay(t *testing.T) {
	w := reviewWorld(t)
	empty := httpapi.Load{}
	if have, ok := httpapi.LoadOf(w.handler); !ok || have != empty {
		t.Errorf("at rest: %+v, %v", have, ok)
	}
	if _, ok := httpapi.LoadOf(http.NotFoundHandler()); ok {
		t.Error("another handler has a load")
	}
	until := func(what string, holds func(httpapi.Load) bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			have, _ := httpapi.LoadOf(w.handler)
			if holds(have) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s: %+v", what, have)
			}
		}
	}
	body, give := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r, err := http.NewRequest("POST", w.url+importPath, body)
		if err != nil {
			t.Error(err)
			return
		}
		r.Header.Set("Authorization", "Bearer "+w.token(editor))
		r.Header.Set("Content-Type", "application/x-ndjson")
		answer, err := client.Do(r)
		if err != nil {
			t.Error(err)
			return
		}
		answer.Body.Close()
	}()
	until("during an upload", func(l httpapi.Load) bool { return l.Uploads == 1 })
	_ = give.Close()
	<-ended
	until("after it", func(l httpapi.Load) bool { return l == empty })
}
