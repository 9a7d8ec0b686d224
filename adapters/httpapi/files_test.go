package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// uploaded is what the tests need of an asset with a file.
type uploaded struct {
	Asset struct {
		ID      string
		Content struct {
			Attachment []struct {
				URL  struct{ Href string }
				File struct {
					ID, SHA256 string
					Widths     []int
				}
			}
		}
	}
}

func (u uploaded) href() string { return u.Asset.Content.Attachment[0].URL.Href }

// path returns the address without its query.
func (u uploaded) path() string {
	path, _, _ := strings.Cut(u.href(), "?")
	return path
}

func (w *world) upload(query, body string) (out uploaded) {
	w.t.Helper()
	w.as(editor, "POST", library+"/files"+query, body).want(200).read(&out)
	return out
}

func photo(t testing.TB, width int) string {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, width, width/2)), nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// newFileWorld is a server of assets below a base path.
func newFileWorld(t testing.TB, limits assets.Limits, change ...func(*httpapi.Config)) (*world, *assets.Service) {
	svc := assets.New(memory.New(), &assets.Options{Limits: limits})
	return newWorld(t, append(change, func(c *httpapi.Config) { c.Assets, c.BasePath = svc, "/v4" })...), svc
}

func TestFilesAreServed(t *testing.T) {
	w, _ := newFileWorld(t, assets.Limits{})
	body := photo(t, 700)
	u := w.upload("?name=%22x%22.jpg&alt=Ship", body)
	if !strings.HasPrefix(u.href(), "/v4/x/file/") || !strings.HasSuffix(u.path(), "/%22x%22.jpg") {
		t.Fatalf("the address is %s", u.href())
	}
	whole := w.send("GET", u.href(), "").want(200)
	if whole.body != body {
		t.Error("other bytes")
	}
	etag := whole.header.Get("Etag")
	for name, want := range map[string]string{"Content-Type": "image/jpeg",
		"Cache-Control":                "public, max-age=31536000, immutable",
		"Cross-Origin-Resource-Policy": "cross-origin", "X-Content-Type-Options": "nosniff",
		"Access-Control-Allow-Origin": "*",
		"Content-Security-Policy":     "default-src 'none'; style-src 'unsafe-inline'; sandbox",
		"Accept-Ranges":               "bytes",
		"Cache-Tag":                   "file-" + u.Asset.Content.Attachment[0].File.ID, "Content-Disposition": "",
		"Content-Encoding": ""} {
		if got := whole.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for query, cache := range map[string]string{"": "public, max-age=60", "?v=0000000000000000": "public, max-age=60",
		"?w=2560": "public, max-age=60"} {
		if r := w.send("GET", u.path()+query, "").want(200); r.header.Get("Cache-Control") != cache || r.body != body ||
			r.header.Get("Etag") != etag {
			t.Errorf("%q: %v", query, r.header)
		}
	}
	small := w.send("GET", u.href()+"&w=320", "").want(200)
	if p, _, err := image.DecodeConfig(strings.NewReader(small.body)); err != nil || p.Width != 320 ||
		small.header.Get("Etag") == etag {
		t.Errorf("a rendition: %v, %v, %v", p, err, small.header)
	}
	w.send("GET", u.path(), "", header("If-None-Match", etag)).want(304)
	w.send("HEAD", u.path(), "").want(200)
	part := w.send("GET", u.path(), "", header("Range", "bytes=10-19"), header("If-Range", etag)).want(206)
	if part.body != body[10:20] || part.header.Get("Content-Range") != fmt.Sprintf("bytes 10-19/%d", len(body)) {
		t.Errorf("a part: %q, %v", part.body, part.header)
	}
	w.send("GET", u.path(), "", header("Range", "bytes=10-19"), header("If-Range", `"other"`)).want(200)
	for _, ranges := range []string{"bytes=0-0,5-5", "bytes=5-2", "bytes=x-", "bytes 0-1", "bytes=", "lines=0-1"} {
		w.send("GET", u.path(), "", header("Range", ranges)).want(200) // as if there were none
	}
	w.send("GET", u.path(), "", header("If-Match", `"other"`)).want(200)
	for _, ranges := range []string{"bytes=9999999-", "bytes=-0"} {
		if r := w.send("GET", u.path(), "", header("Range", ranges)); r.status != 416 ||
			r.header.Get("Content-Range") != fmt.Sprintf("bytes */%d", len(body)) ||
			r.header.Get("Content-Type") != "application/json; charset=utf-8" ||
			!strings.Contains(r.body, `"parameter":"Range"`) {
			t.Errorf("outside: %d %v %s", r.status, r.header, r.body)
		}
	}
	for _, query := range []string{"?svctoken=1", "?w=1", "?w=", "?w=0320", "?w=320&w=320", "?x=1", "?key=1"} {
		if r := w.send("GET", u.path()+query, ""); r.status != 400 || r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", query, r.status, r.header)
		}
	}
	for _, path := range []string{u.path() + "x", strings.ReplaceAll(u.path(), "%22", "'"),
		"/v4/x/file/" + strings.Repeat("0", 32) + "/x"} {
		if r := w.send("GET", path, ""); r.status != 404 || r.header.Get("Cache-Control") != "no-store" ||
			r.header.Get("Cache-Tag") != "" {
			t.Errorf("%s: %d %v", path, r.status, r.header)
		}
	}
	// No picture, video or sound is shown in a browser.
	u = w.upload("?name=a%20%C3%A9.pdf", "%PDF-1.7\n")
	if got := w.send("GET", u.path(),
		"").want(200).header.Get("Content-Disposition"); got != "attachment; filename*=UTF-8''a%20%C3%A9.pdf" {
		t.Errorf("Content-Disposition is %q", got)
	}
	u = w.upload("?name=a.html", "%PDF-1.7\n<script>")
	if got := w.send("GET", u.path(),
		"").want(200).header.Get("Content-Disposition"); got != "attachment; filename*=UTF-8''a.html.pdf" {
		t.Errorf("Content-Disposition is %q", got)
	}
	svg := `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	u = w.upload("", svg)
	if r := w.send("GET", u.path(), "").want(200); r.header.Get("Content-Type") != "image/svg+xml" || r.body != svg ||
		!strings.Contains(r.header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("an SVG with a script: %v", r.header)
	}
}

func TestAFileIsReplacedOnlyAsItWasRead(t *testing.T) {
	w, svc := newFileWorld(t, assets.Limits{})
	u := w.upload("?name=a.pdf", "%PDF-1.7\n")
	at := library + "/asset/" + u.Asset.ID
	read := w.as(editor, "GET", at, "").want(200)
	etag := read.header.Get("Etag")
	w.as(editor, "GET", at, "", header("If-None-Match", etag)).want(304)
	for _, request := range [][2]string{{"PUT", "/file"}, {"PATCH", ""}} {
		body := map[string]string{"PUT": "%PDF-1.7\nnew", "PATCH": `{"title":"new"}`}[request[0]]
		if r := w.as(editor, request[0], at+request[1], body); r.status != 428 ||
			!strings.Contains(r.body, `"code":"precondition"`) {
			t.Errorf("%s without If-Match: %d %s", request[0], r.status, r.body)
		}
		for _, other := range []string{`"x"`, "*", "W/" + etag} {
			if r := w.as(editor, request[0], at+request[1], body, header("If-Match", other)); r.status != 412 ||
				!strings.Contains(r.body, `"code":"changed"`) {
				t.Errorf("%s with %s: %d %s", request[0], other, r.status, r.body)
			}
		}
		w.as(stranger, request[0], at+request[1], body, header("If-Match", etag)).want(403)
	}
	zipped := strings.TrimSuffix(etag, `"`) + `-gzip"`
	w.as(editor, "PATCH", at, `{"title":"new","createdAt":"2020-01-02T03:04:05Z"}`,
		header("If-Match", zipped)).want(200)
	w.as(editor, "PUT", at+"/file", "%PDF-1.7\nnew", header("If-Match", etag)).want(412)
	etag = w.as(editor, "GET", at, "").want(200).header.Get("Etag")
	for _, wrong := range []string{`{"focus":null}`, `{"focus":{"x":1}}`, `{"focus":{"x":-1,"y":0}}`, `{"title":null}`,
		`{"titel":""}`, `[]`} {
		w.as(editor, "PATCH", at, wrong, header("If-Match", etag)).want(400)
	}
	w.as(editor, "PATCH", at, `{"alt":""}`, header("If-Match", etag), setType("application/merge-patch+json")).want(200)
	w.as(editor, "PUT", at+"/file", "%PDF-1.7\nnew", header("If-Match", etag),
		header("Content-Encoding", "gzip")).want(415)
	if got := w.as(editor, "PUT", at+"/file", "%PDF-1.7\nnew", header("If-Match", etag)).want(200); got.body == "" {
		t.Error("no body")
	}
	if got := w.send("GET", u.href(), "").want(200); got.body != "%PDF-1.7\nnew" ||
		got.header.Get("Cache-Control") != "public, max-age=60" {
		t.Errorf("replaced: %q %v", got.body, got.header)
	}
	w.as(editor, "POST", library+"/assets", `{"remove":["`+u.Asset.ID+`"]}`).want(200)
	w.send("GET", u.href(), "").want(404)
	if err := svc.Upkeep(t.Context()); err != nil {
		t.Error(err)
	}
	w.send("GET", u.href(), "").want(404)
}

func TestUploadsThatAreRefused(t *testing.T) {
	w, _ := newFileWorld(t, assets.Limits{File: 1000, Files: 1500})
	pdf := func(size int) string { return "%PDF-1.7\n" + strings.Repeat("x", size) }
	for what, test := range map[string]struct {
		query, body string
		options     []option
		status      int
		code        string
	}{"a page": {"", "<!doctype html>", nil, 415, "media_type"}, "nothing": {"", "", nil, 415, "media_type"},
		"HEIC":      {"", "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic", nil, 415, "media_type"},
		"too large": {"", pdf(1000), nil, 413, "too_large"},
		"too large, size unknown": {"", pdf(1000), []option{func(r *http.Request) { r.ContentLength = -1 }}, 413,
			"too_large"},
		"a picture that ends early": {"", photo(t, 32)[:300], nil, 422, "not_applicable"},
		"a name that leads away":    {"?name=..%2F..%2Fx", pdf(1), nil, 400, "invalid"},
		"an unknown folder":         {"?folder=x", pdf(1), nil, 404, "not_found"},
		"an unknown parameter":      {"?titel=x", pdf(1), nil, 400, "invalid"},
		"compressed":                {"", pdf(1), []option{header("Content-Encoding", "gzip")}, 415, "media_type"},
		"with a key":                {"", pdf(1), []option{header("Idempotency-Key", "x")}, 400, "invalid"}} {
		var problem struct{ Code string }
		if r := w.as(editor, "POST", library+"/files"+test.query, test.body,
			test.options...); r.status != test.status ||
			json.Unmarshal([]byte(r.body), &problem) != nil || problem.Code != test.code {
			t.Errorf("%s: %d %s", what, r.status, r.body)
		}
	}
	w.as(stranger, "POST", library+"/files", pdf(1)).want(403)
	w.send("POST", library+"/files", pdf(1)).want(401)
	w.upload("", pdf(900))
	if r := w.as(editor, "POST", library+"/files", pdf(900)); r.status != 422 ||
		!strings.Contains(r.body, `"code":"limit"`) {
		t.Errorf("beyond the limit of the network: %d %s", r.status, r.body)
	}
	w.as(editor, "POST", library+"/assets", `{"add":[{"id":"1","generator":{"id":"files"},"content":{}}]}`).want(403)
}

// An upload takes memory only for its time, and a file is sent at the pace of its client.
func TestUploadsAndDownloadsGiveTheirMemoryBack(t *testing.T) {
	w, _ := newFileWorld(t, assets.Limits{}, func(c *httpapi.Config) { c.Limits.Memory = 8 << 20 })
	u := w.upload("", "%PDF-1.7\n"+strings.Repeat("x", 3<<20))
	for range 20 {
		if r := w.send("GET", u.path(), "").want(200); len(r.body) != 3<<20+9 {
			t.Fatalf("%d bytes", len(r.body))
		}
	}
	deadline := time.Now().Add(5 * time.Second)
	for load, _ := httpapi.LoadOf(w.handler); load.Memory != 0; load, _ = httpapi.LoadOf(w.handler) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are still taken", load.Memory)
		}
		time.Sleep(time.Millisecond)
	}
}

// While as many uploads of a caller as may be under way stand half-way, others change apps and assets, also with large
// bodies.
func TestUploadsThatStandHalfWay(t *testing.T) {
	w, _ := newFileWorld(t, assets.Limits{}, func(c *httpapi.Config) { c.Limits.Memory = 64 << 20 })
	const uploads = 2
	bodies, statuses := make([]*io.PipeWriter, uploads), make(chan int)
	for i := range bodies {
		var body *io.PipeReader
		body, bodies[i] = io.Pipe()
		defer body.Close()
		r, err := http.NewRequest("POST", w.url+library+"/files", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "svctoken "+w.token(editor))
		go func() {
			status := 0
			if answer, err := w.client.Do(r); err == nil {
				answer.Body.Close()
				status = answer.StatusCode
			}
			statuses <- status
		}()
		go func() { _, _ = io.WriteString(bodies[i], "%PDF-1.7\n"+strings.Repeat("x", 1<<20)) }()
	}
	for load, _ := httpapi.LoadOf(w.handler); load.Memory < uploads*4<<20; load, _ = httpapi.LoadOf(w.handler) {
		time.Sleep(time.Millisecond)
	}
	other := editor
	other.URN += "2"
	for i, size := range []int{10, 200 << 10} {
		var app struct{ ID string }
		w.as(other, "POST", "/v4/apps/", fmt.Sprintf(`{"title":"%d","groups":[%q]}`, i, network)).want(201).read(&app)
		w.as(other, "PATCH", "/v4/apps/"+app.ID,
			`[{"op":"test","path":"/apps/0/version","value":"0"},{"op":"add","path":"/note","value":"x"}]`).want(200)
		w.as(other, "POST", library+"/assets", fmt.Sprintf(
			`{"add":[{"id":"%d","generator":{"id":"x"},"content":{"content":%q}}]}`, i,
			strings.Repeat("x", size))).want(200)
	}
	for range bodies {
		select {
		case status := <-statuses:
			t.Errorf("an upload has ended before its body: %d", status)
		default:
		}
	}
	for _, body := range bodies {
		body.Close()
	}
	for range bodies {
		if status := <-statuses; status != 200 {
			t.Errorf("an upload ends with %d", status)
		}
	}
}

// A browser asks for all pictures of a page at once. Downloads that find no memory wait for the others to end, and none
// is cut off.
func TestDownloadsOfOneClientWaitForEachOther(t *testing.T) {
	w, _ := newFileWorld(t, assets.Limits{}, func(c *httpapi.Config) { c.Limits.Memory = 8 << 20 }) // one of a caller
	server := httptest.NewServer(w.handler)
	defer server.Close()
	u := w.upload("", "%PDF-1.7\n"+strings.Repeat("x", 24<<20))
	first, err := http.Get(server.URL + u.path())
	if err != nil {
		t.Fatal(err)
	}
	defer first.Body.Close()
	second := make(chan error, 1)
	go func() {
		r, err := http.Get(server.URL + u.path())
		if err == nil {
			n, failed := io.Copy(io.Discard, r.Body)
			if err = failed; r.StatusCode != 200 || n != 24<<20+9 {
				err = fmt.Errorf("status %d, %d bytes, %v", r.StatusCode, n, failed)
			}
			r.Body.Close()
		}
		second <- err
	}()
	select {
	case err := <-second:
		t.Fatalf("the second has ended before the first: %v", err)
	case <-time.After(1500 * time.Millisecond): // longer than requests wait that change something
	}
	if n, err := io.Copy(io.Discard, first.Body); n != 24<<20+9 || err != nil {
		t.Errorf("the first has %d bytes, %v", n, err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
}

// A key with a folder shows the assets of that folder, with whole addresses and harmless HTML, and nothing else of
// them.
func TestShownFolders(t *testing.T) {
	who := editor.Caller
	w, svc := newFileWorld(t, assets.Limits{}, func(c *httpapi.Config) {
		tokens := c.Authenticate
		c.Authenticate = func(r *http.Request) (httpapi.Principal, error) {
			p, err := tokens(r)
			if p.URN == network+":user=page" {
				p.Caller = who
			}
			return p, err
		}
	})
	var made struct{ Folders []struct{ ID string } }
	w.as(editor, "POST", library+"/folders",
		`{"create":[{"label":"Shown","permissions":[{"operation":"view","role":{"id":"x"}}]},{"label":"Other"}]}`).want(
		200).read(&made)
	folder, other := made.Folders[0].ID, made.Folders[1].ID
	w.as(editor, "POST", library+"/assets",
		`{"add":[{"id":"secret-id","generator":{"id":"g"},"folders":["`+folder+`"],
		"safe_tags":["secret-tag"],"via":987654321,"attributes":[{"key":"secret","value":"v"}],"content":{"content":"`+
			`<p onclick=x>A <b>ship</b> &amp; <a href='javascript:x'>no</a> <a `+
			`href='https://a.example/?a=1&amp;b'>yes</a>`+
			`<script>alert(1)</script><img src=x onerror=x>",
		"attributedTo":{"id":"secret-user","username":"ann","url":{"href":"https://a.example/ann"}},
		"attachment":[{"version":"1.0","type":"photo","url":{"href":"https://cdn.example/a.jpg"},
			"file":{"id":"forged"}}]}},
		{"id":"2","generator":{"id":"g"},"folders":["`+other+`"],"content":{"content":"elsewhere"}}]}`).want(200)
	w.upload("?name=a.pdf&title=T&folder="+folder, "%PDF-1.7\n")
	page := httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=page", TagsOnly: true}}
	who = page.Caller
	who.PublicFolders = []string{"example.test/example.test/" + folder}
	at := func(folder string) string {
		return "/v4/x/public/assets/example.test/example.test/" + folder + "?key=" + w.token(page)
	}
	got := w.send("GET", at(folder), "").want(200)
	var shown assets.ShownFolder
	got.read(&shown)
	if len(shown.Assets) != 2 || shown.Folder.Label != "Shown" || shown.Next != "" ||
		strings.Contains(got.body, "secret") ||
		strings.Contains(got.body, "987654321") || strings.Contains(got.body, "forged") ||
		strings.Contains(got.body, editor.URN) {
		t.Fatalf("%s", got.body)
	}
	file, post := shown.Assets[0], shown.Assets[1]
	if url := file.Attachments[0].URL; !strings.HasPrefix(url, w.url+"/v4/x/file/") ||
		file.Attachments[0].File == nil || file.Text != "T" {
		t.Errorf("the file: %s", got.body)
	}
	if post.Text != "A ship & no yes" || post.Author.Name != "ann" ||
		post.HTML != `<p>A <strong>ship</strong> &amp; no <a href="https://a.example/?a=1&amp;b" rel="nofollow `+
			`noopener">yes</a> </p>` {
		t.Errorf("%q %q", post.Text, post.HTML)
	}
	if got.header.Get("Cache-Tag") != "folder-"+folder ||
		!strings.HasPrefix(got.header.Get("Cache-Control"), "public") {
		t.Errorf("%v", got.header)
	}
	w.send("GET", at(folder), "", header("If-None-Match", got.header.Get("Etag"))).want(304)
	first := w.send("GET", at(folder)+"&limit=1", "").want(200)
	first.read(&shown)
	second := w.send("GET", at(folder)+"&limit=1&after="+shown.Next, "").want(200)
	shown = assets.ShownFolder{}
	if second.read(&shown); len(shown.Assets) != 1 || shown.Assets[0].ID != post.ID || shown.Next != "" {
		t.Errorf("the second page: %s", second.body)
	}
	shown = assets.ShownFolder{}
	if w.send("GET", at(folder)+"&type=photo", "").want(200).read(&shown); len(shown.Assets) != 1 {
		t.Errorf("photos: %+v", shown)
	}
	for query, parameter := range map[string]string{"&after=x": "after", "&limit=0": "limit", "&sort=x": "sort",
		"&type=x": "type", "&x=1": "x"} {
		if r := w.send("GET", at(folder)+query, ""); r.status != 400 ||
			!strings.Contains(r.body, `"parameter":"`+parameter+`"`) {
			t.Errorf("%s: %d %s", query, r.status, r.body)
		}
	}
	w.send("GET", at(other), "").want(403)
	w.send("GET", strings.ReplaceAll(at(folder), "/example.test/example.test/", "/example.test/other/"), "").want(403)
	w.send("GET", "/v4/x/public/assets/example.test/example.test/"+folder, "").want(401)
	if _, err := svc.As(who).Search(t.Context(), assets.Library{Network: "example.test", ID: "example.test"},
		assets.SearchRequest{}); err == nil {
		t.Error("the key searches")
	}
	w.as(editor, "POST", library+"/folders", `{"delete":["`+folder+`"]}`).want(200)
	w.send("GET", at(folder), "").want(404)
}

// unreadFiles keep nothing, and Open returns an error.
type unreadFiles struct {
	assets.Files
	err error
}

func (f *unreadFiles) Put(_ context.Context, _ string, _ int64, from io.Reader) error {
	_, err := io.Copy(io.Discard, from)
	return err
}

func (f *unreadFiles) Open(context.Context, string, int64, int64) (io.ReadCloser, error) {
	return nil, f.err
}

// A file whose bytes cannot be read gets the response of an error, and not the beginning of one that breaks off.
func TestFilesThatCannotBeRead(t *testing.T) {
	files := &unreadFiles{}
	svc := assets.New(memory.New(), &assets.Options{Files: files})
	w := newWorld(t, func(c *httpapi.Config) { c.Assets = svc })
	u := w.upload("?name=a.pdf", "%PDF-1.7\n")
	for _, test := range []struct {
		err    error
		status int
		code   string
	}{
		{fmt.Errorf("bucket photos: %w", vitrine.ErrBusy), 503, "unavailable"},
		{fmt.Errorf("bucket photos: %w", fs.ErrNotExist), 404, "not_found"},
		{errors.New("bucket photos"), 500, "internal"},
	} {
		files.err = test.err
		for _, part := range []string{"", "bytes=3-5"} {
			r := w.send("GET", u.href(), "", header("Range", part))
			if r.status != test.status || !strings.Contains(r.body, `"code":"`+test.code+`"`) ||
				strings.Contains(r.body, "photos") || (r.header.Get("Retry-After") != "") != (r.status == 503) {
				t.Errorf("%v, Range %q: %d %v %s", test.err, part, r.status, r.header, r.body)
			}
			for name, want := range map[string]string{"Cache-Control": "no-store", "Etag": "", "Cache-Tag": "",
				"Content-Type": "application/json; charset=utf-8", "Content-Disposition": "", "Accept-Ranges": "",
				"Content-Range": ""} {
				if got := r.header.Get(name); got != want {
					t.Errorf("%v, Range %q: %s is %q, want %q", test.err, part, name, got, want)
				}
			}
		}
		w.send("HEAD", u.path(), "").want(200)
	}
}
