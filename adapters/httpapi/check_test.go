package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// What a rule of the embedding program refuses is answered with the rule's sentence and code.
func TestARuleOfTheEmbedderIsAnswered(t *testing.T) {
	var refuse error
	check := func(context.Context, vitrine.Caller, appsvc.Change) error { return refuse }
	w := newWorld(t, func(c *httpapi.Config) {
		c.Apps = appsvc.New(memory.New(), &appsvc.Options{Check: check})
	})
	id := w.newApp("first", network)
	w.as(editor, "PUT", "/apps/"+id+"/tags/production", `{"appVersion":"0"}`).want(201)
	w.retitle(id, 0, "second")
	for _, test := range []struct {
		refuse error
		status int
		want   string
	}{
		{errors.New("no rows in prices"), 500, `{"error":"internal error","code":"internal"}`},
		{&vitrine.Error{Kind: vitrine.ErrForbidden, Reason: "only leads may move production"}, 403,
			`{"error":"only leads may move production","code":"rule"}`},
		{&vitrine.Error{Kind: vitrine.ErrUnprocessable, Code: vitrine.CodeLimit, Reason: "the front page is frozen"},
			422, `{"error":"the front page is frozen","code":"limit"}`},
		{fmt.Errorf("directory of leads: %w", vitrine.ErrBusy), 503,
			`{"error":"the store is not available at the moment: try again","code":"unavailable"}`},
	} {
		refuse = test.refuse
		got := w.as(editor, "PUT", "/apps/"+id+"/tags/production", `{"appVersion":"1"}`).want(test.status)
		if got.body != test.want {
			t.Errorf("%v is answered %s, want %s", test.refuse, got.body, test.want)
		}
		if got := w.as(editor, "DELETE", "/apps/"+id+"/tags/production", "").want(test.status); got.body != test.want {
			t.Errorf("%v of a deletion is answered %s, want %s", test.refuse, got.body, test.want)
		}
	}
}
