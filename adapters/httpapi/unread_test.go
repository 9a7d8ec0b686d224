package httpapi_test

import (
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.ErrUnexpectedEOF
}

// TestRightsAreJudgedBeforeTheBodyIsRead sends requests that announce a body and never send it. A caller without the
// right to write is refused without the body, and for a caller with the right the handler reads it.
func TestRightsAreJudgedBeforeTheBodyIsRead(t *testing.T) {
	w := newAssetWorld(t)
	id := w.newApp("x", network)
	viewed := w.mustFolder(`{"label":"viewed","permissions":[{"operation":"view","user":{"id":"stranger"}}]}`)
	edited := w.mustFolder(`{"label":"edited","permissions":[{"operation":"edit","user":{"id":"stranger"}}]}`)
	hidden := w.mustFolder(`{"label":"hidden","permissions":[{"operation":"view","user":{"id":"nobody"}}]}`)
	noLibrary := strings.Replace(library, "assetLibrary/example.test", "assetLibrary/none", 1)
	for _, c := range []struct {
		method, path string
		by           httpapi.Principal
		status       int
	}{
		{"POST", "/components/", stranger, 403},
		{"POST", "/components/x/check", stranger, 403},
		{"PATCH", "/apps/" + id, stranger, 404},
		{"PATCH", "/apps/none", editor, 404},
		{"PUT", "/apps/" + id + "/tags/t", stranger, 404},
		{"PUT", "/apps/none/tags/t", editor, 404},
		{"POST", library + "/assets", outsider, 403},
		{"POST", noLibrary + "/assets", stranger, 404},
		{"POST", noLibrary + "/folders", stranger, 404},
		{"POST", noLibrary + "/attributes", stranger, 404},
		{"POST", noLibrary + "/folder/" + viewed + "/assets", editor, 404},
		{"POST", library + "/folder/" + hidden + "/assets", stranger, 404},
		{"POST", library + "/folder/" + viewed + "/assets", stranger, 403},
		{"POST", library + "/folder/none/assets", editor, 404},
		{"POST", library + "/folder/" + hidden + "/permissions", stranger, 404},
		{"POST", library + "/folder/" + edited + "/permissions", stranger, 403},
		{"POST", library + "/folder/none/permissions", editor, 404},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			r := httptest.NewRequest(c.method, c.path, unread{t})
			r.Header.Set("Authorization", "svctoken "+w.token(c.by))
			r.Header.Set("Content-Type", "application/json")
			r.ContentLength = 4 << 20
			out := httptest.NewRecorder()
			w.handler.ServeHTTP(out, r)
			if out.Code != c.status {
				t.Errorf("status %d, want %d: %s", out.Code, c.status, out.Body)
			}
		})
	}
	for _, c := range []struct{ method, path string }{
		{"POST", "/components/"},
		{"PATCH", "/apps/" + id},
		{"PUT", "/apps/" + id + "/tags/t"},
		{"POST", library + "/assets"},
		{"POST", noLibrary + "/folders"}, // a moderator makes the library
		{"POST", library + "/folder/" + edited + "/assets"},
		{"POST", library + "/folder/" + edited + "/permissions"},
	} {
		w.as(editor, c.method, c.path, `{`).want(400)
	}
}

// TestTheHeadOfARequestIsJudgedBeforeTheRights sends wrong headers and parameters as a caller without rights: the error
// is about these.
func TestTheHeadOfARequestIsJudgedBeforeTheRights(t *testing.T) {
	w := newAssetWorld(t)
	id := w.newApp("x", network)
	w.as(stranger, "PATCH", "/apps/"+id, `[]`, setType("text/plain")).want(415, "Content-Type")
	w.as(stranger, "PATCH", "/apps/"+id, `[]`, header("Idempotency-Key", "k")).want(400, "Idempotency-Key")
	w.as(stranger, "PATCH", "/apps/"+id+"?x=1", `[]`).want(400, "x")
	w.as(stranger, "PATCH", "/apps/"+id, `[]`).want(404)
}

// TestARefusedClientIsNotToldToSendItsBody speaks to a real server, as a client that waits for 100 Continue.
func TestARefusedClientIsNotToldToSendItsBody(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("x", network)
	w.raw("PATCH", fmt.Sprintf("PATCH /apps/%s HTTP/1.1\r\nHost: example.test\r\nAuthorization: svctoken %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 4000000\r\nExpect: 100-continue\r\n\r\n", id,
		w.token(stranger))).want(404)
}
