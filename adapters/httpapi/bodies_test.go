package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

func TestMediaTypes(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("x", network)
	good := `{"title":"x","groups":["urn:vitrine:example.test"]}`
	for _, ct := range []string{"application/json", "application/json; charset=utf-8", "application/json;charset=UTF-8",
		"Application/JSON", `application/json; charset="utf-8"`} {
		w.as(editor, "POST", "/apps/", good, setType(ct)).want(201)
	}
	for _, ct := range []string{"text/plain", "application/json; charset=latin1", "application/json-patch+json",
		"application/jsonx", "json", "application/x-www-form-urlencoded", "", "application/json, text/plain",
		"application/json; charset"} {
		w.as(editor, "POST", "/apps/", good, setType(ct)).want(415, "Content-Type")
	}
	none := func(r *http.Request) { r.Header.Del("Content-Type") }
	w.as(editor, "POST", "/apps/", good, none).want(415, "Content-Type")
	w.as(editor, "POST", "/apps/", good, header("Content-Type", "application/json")).want(415, "Content-Type")
	w.as(editor, "PATCH", "/apps/"+id, titlePatch(0, "y"), setType("application/merge-patch+json")).want(415,
		"Content-Type")
	w.as(editor, "PATCH", "/apps/"+id, titlePatch(0, "y"),
		setType("application/json-patch+json; charset=utf-8")).want(200)
	w.as(editor, "PUT", "/apps/"+id+"/tags/t", `{"appVersion":"0"}`, setType("text/plain")).want(415, "Content-Type")
	w.as(editor, "PUT", "/apps/"+id+"/tags/t", `{"appVersion":"0"}`).want(201)
	w.as(editor, "DELETE", "/apps/"+id+"/tags/t", "", header("Content-Type", "application/json")).want(204)
	for _, coding := range []string{"gzip", "br", "deflate", "identity, gzip", "zstd"} {
		w.as(editor, "POST", "/apps/", good, header("Content-Encoding", coding)).want(415, "Content-Encoding")
	}
	w.as(editor, "POST", "/apps/", good, header("Content-Encoding", "identity")).want(201)
}

func TestBodiesOverTheLimitAre413(t *testing.T) {
	const limit = 4 << 20
	w := newWorld(t)
	body := func(size int) string {
		text := `{"title":"x","groups":["urn:vitrine:example.test"]}`
		return text + strings.Repeat(" ", size-len(text))
	}
	w.as(editor, "POST", "/apps/", body(limit+1)).want(413, "4194304")
	w.raw("POST", "POST /apps/ HTTP/1.1\r\nHost: x\r\nAuthorization: svctoken "+w.token(editor)+
		"\r\nContent-Type: application/json\r\nContent-Length: 9223372036854775807\r\n\r\n").want(413)

	small := newWorld(t, func(c *httpapi.Config) { c.Limits.Body = 60 })
	for _, chunked := range []option{func(*http.Request) {}, func(r *http.Request) { r.ContentLength = -1 }} {
		small.as(editor, "POST", "/apps/", body(60), chunked).want(201)
		small.as(editor, "POST", "/apps/", body(61), chunked).want(413, "60")
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestErrorsRepeatLittleOfWhatWasSent(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("é", 500_000)
	for _, r := range []reply{
		w.as(editor, "POST", "/apps/", `{"`+long+`":1}`).want(400),
		w.as(editor, "POST", "/apps/", `{}`, setType(long[:100_000])).want(415),
		w.as(editor, "GET", "/apps/?limit="+long[:100_000], "").want(400, "limit"),
		w.as(editor, "PATCH", "/apps/"+w.newApp("x", network), `[{"op":"`+long+`","path":""}]`).want(400),
	} {
		if len(r.body) > 2200 || !utf8.ValidString(r.body) || strings.Contains(r.body, "\uFFFD") {
			t.Errorf("%s: an error of %d bytes", r.what[:min(50, len(r.what))], len(r.body))
		}
	}
}

func TestUnknownParametersAre400OnWritesOnly(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("x", network)
	for _, c := range []struct{ method, path string }{
		{"POST", "/apps/"}, {"PATCH", "/apps/" + id}, {"POST", "/apps/versions/restore"},
		{"PUT", "/apps/" + id + "/tags/t"},
		{"DELETE", "/apps/" + id + "/tags/t"}, {"POST", "/components/"}, {"DELETE", "/components/x"},
	} {
		w.as(editor, c.method, c.path+"?dryRun=1", "{}").want(400, "dryRun")
	}
	for _, path := range []string{"/apps/", "/apps/" + id, "/apps/" + id + "/tags/", "/components/"} {
		w.as(editor, "GET", path+"?dryRun=1", "", header("Idempotency-Key", "k")).want(200)
	}
	for _, broken := range []string{"a=%zz", "a=1;b=2", "%zz=1", "%", "a=1&%f"} {
		for _, path := range []string{"/apps/", "/apps/" + id, "/components/", "/healthz", "/cors.html",
			"/openapi.json"} {
			w.as(editor, "GET", path+"?"+broken, "").want(200)
		}
		w.as(editor, "POST", "/apps/?"+broken, "{}").want(400, "query")
	}
	w.as(editor, "GET", "/apps/?a=%zz&limit=0", "").want(400, "limit")
	token := w.token(editor)
	w.send("GET", "/apps/?a=%zz&svctoken="+token, "").want(200)
	w.send("PUT", "/apps/"+id+"/tags/t?embedApps=true&svctoken="+token, `{"appVersion":"0"}`).want(201)
	w.send("PUT", "/apps/"+id+"/tags/t?embedApps=maybe&svctoken="+token, `{"appVersion":"0"}`).want(400, "embedApps")
}
