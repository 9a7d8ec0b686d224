//go:build proof

package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// canary is a server that notes what is asked of it, and has a page with any text.
type canary struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newCanary(t *testing.T) *canary {
	c := &canary{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.asked = append(c.asked, r.URL.Path)
		c.mu.Unlock()
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		_, _ = fmt.Fprint(w, r.URL.Query().Get("text"))
	}))
	t.Cleanup(c.Close)
	return c
}

// page is the address of a page with a text.
func (c *canary) page(media, text string) string {
	return c.URL + "/page?" + url.Values{"type": {media}, "text": {text}}.Encode()
}

// heard waits until a path was asked for, and returns the others, but pages and those that only show that time has
// gone.
func (c *canary) heard(t *testing.T, path string) (others []string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		c.mu.Lock()
		asked := slices.Clone(c.asked)
		c.mu.Unlock()
		if slices.Contains(asked, path) {
			return slices.DeleteFunc(asked, func(p string) bool {
				return strings.HasPrefix(p, "/control") || p == "/page" || p == "/favicon.ico"
			})
		}
	}
	t.Fatalf("%s was not asked for", path)
	return nil
}

// Nothing in a file runs when its address is opened, and a page cannot make a script or a frame of it.
func TestFilesRunNothing(t *testing.T) {
	w, c := newWorld(t), newCanary(t)
	call := func(path string) string { return "fetch('" + c.URL + path + "')" }
	svg := `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="` + call("/onload") + `"><script>` +
		call("/script") + `</script><image href="` + c.URL + `/image"/><foreignObject width="9" height="9">` +
		`<body xmlns="http://www.w3.org/1999/xhtml"><img src="x" onerror="` + call("/error") + `"/><iframe src="` +
		c.URL +
		`/frame"/></body></foreignObject></svg>`
	markup := "<script>" + call("/script") + "</script><img src='" + c.URL + "/image'/>"
	v := newBrowser(t)
	control := func(n int) []string { // what was asked for until a page is shown that asks for one more
		t.Helper()
		path := fmt.Sprint("/control", n)
		v.Open(c.page("text/html", "<script>"+call(path)+"</script>"))
		return c.heard(t, path)
	}
	v.Open(c.page("image/svg+xml", svg))
	c.heard(t, "/script") // so this could be heard of the files, too
	c.heard(t, "/image")
	c.mu.Lock()
	c.asked = nil
	c.mu.Unlock()
	for i, file := range []struct{ name, text string }{
		{"drawing.svg", svg},
		{"page.html", "%PDF-1.7\n" + markup},
		{`"><img src=x>.html`, "%PDF-1.7\n" + markup},
		{"page.htm", "ID3\x04\x00\x00\x00\x00\x00\x00" + markup},
		{"page.js", "RIFF\x24\x00\x00\x00WAVEfmt " + markup},
	} {
		status, text := w.ask(ann, "POST", library+"/files?name="+url.QueryEscape(file.name), file.text)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", file.name, status, text)
		}
		var made struct {
			Asset struct {
				Content struct {
					Attachment []struct{ URL struct{ Href string } }
				}
			}
		}
		if err := json.Unmarshal(text, &made); err != nil {
			t.Fatal(err)
		}
		address := w.url + made.Asset.Content.Attachment[0].URL.Href
		v.Open(address)
		v.Open(c.page("text/html", `<script src="`+address+`"></script><link rel="stylesheet" href="`+address+
			`"><iframe src="`+address+`"></iframe><object data="`+address+`"></object><embed src="`+address+`">`))
		if found := control(i); len(found) > 0 {
			t.Errorf("%s asks for %q", file.name, found)
		}
	}
	p := w.signIn(ann, "/assets")
	p.See(`//*[@role="status"][.="5 assets"]`)
	if found := control(99); len(found) > 0 {
		t.Errorf("the console asks for %q", found)
	}
}
