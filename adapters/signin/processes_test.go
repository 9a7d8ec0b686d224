package signin_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// What one process changes counts in the other within a second: for requests, and for streams that are open.
func TestTwoProcesses(t *testing.T) { synctest.Test(t, twoProcesses) }

func twoProcesses(t *testing.T) {
	db := memory.New()
	w, elsewhere := newWorldOver(t, db, localBase), newWorldOver(t, db, localBase)
	go w.people.Watch(t.Context(), w.streams.Recheck)
	admin := w.invited("Admin", signin.Rights{Admin: true})
	admin.world = elsewhere
	ann := w.invited("Ann", signin.Rights{Moderates: []string{network}})
	key := ann.want(201, "POST", "/x/keys/",
		object{"name": "page", "kind": "public", "reads": []string{network}, "tags": []string{"live"}})
	// A ceremony that one process begins is answered to the other, and once in both.
	asked := w.browser().want(200, "POST", "/x/signin/begin", object{})
	shown := ann.assert(asked)
	other := elsewhere.browser()
	other.want(200, "POST", "/x/signin/finish", shown)
	w.browser().want(401, "POST", "/x/signin/finish", shown)

	within := func(what string, gone func() bool) {
		t.Helper()
		begun := time.Now()
		for !gone() {
			if time.Since(begun) > 1100*time.Millisecond {
				t.Fatalf("%s counts on after a second", what)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	page := w.browser()
	delivery := "/x/public/live?app=none&key=" + key.text("key")
	page.want(200, "GET", delivery, nil)
	admin.want(204, "DELETE", "/x/keys/"+key.text("id"), nil)
	within("the key", func() bool { return page.send("GET", delivery, nil).status == 401 })

	reading := *ann
	reading.headers = map[string]string{"Accept": "text/event-stream"}
	ended := make(chan answer, 1)
	go func() { ended <- reading.sendContext(t.Context(), "GET", "/x/changes?after=now", nil) }()
	for w.streams.Count() == 0 {
		time.Sleep(time.Millisecond)
	}
	id := ann.id()
	admin.want(200, "PATCH", "/x/people/"+id, object{"moderates": []string{}})
	within("the stream", func() bool { return w.streams.Count() == 0 })
	<-ended
	within("a right", func() bool { return ann.send("GET", "/x/me", nil).text("moderates") == "[]" })
	admin.want(200, "PATCH", "/x/people/"+id, object{"disabled": true})
	within("a person", func() bool { return ann.send("GET", "/x/me", nil).status == 401 })
}
