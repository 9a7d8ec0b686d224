package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestCreateAppAnswersIDAndURL(t *testing.T) {
	w := newWorld(t)
	w.newComponent("@scope/feed", "1.0.0")
	r := w.as(editor, "POST", "/apps/", `{"title":"One","groups":["urn:vitrine:example.test:site=1"],
		"elements":[{"component":{"name":"@scope/feed","version":"1.0.0"},"config":{"n":9007199254740993,"x":[1.10,1e2],"<":"\u2028</script>","é":"\ud83d\ude00"}}]}`).want(201)
	var body map[string]string
	r.read(&body)
	if len(body) != 2 || body["url"] != w.url+"/apps/"+body["id"] || r.header.Get("Location") != body["url"] {
		t.Fatalf("body %v, Location %q", body, r.header.Get("Location"))
	}
	r = w.as(editor, "GET", "/apps/"+body["id"], "").want(200,
		`"config":{"n":9007199254740993,"x":[1.10,1e2],"<":"\u2028</script>","é":"\ud83d\ude00"}`)
	a := r.apps()[0]
	if a.Version != "0" || a.Title != "One" || a.Owner["urn"] != editor.URN || a.UpdatedBy["urn"] != editor.URN ||
		a.CreatedAt != 1_700_000_000_000 || a.UpdatedAt != a.CreatedAt || a.Elements[0].ID != "0" ||
		a.Elements[0].Component["main"] != "https://cdn.example.test/x.js" ||
		a.Elements[0].Component["configSchema"] == nil {
		t.Errorf("%+v", a)
	}
}

// list writes format for 0 to n-1, joined by commas.
func list(n int, format string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(items, ",")
}

func TestAnIntegerHasOneForm(t *testing.T) {
	w := newWorld(t)
	for _, limit := range []string{"0", "-1", "501", "1e3", "", "%D9%A1", "+5", "05", "99999999999999999999",
		"1&limit=2"} {
		w.as(editor, "GET", "/apps/?limit="+limit, "").want(400, "limit")
	}
	w.as(editor, "GET", "/apps/?sort=createdAt;limit=1", "").want(400, "sort")
	w.as(editor, "GET", "/apps/?l%69mit=1&limit=%", "").want(400, "limit")
	w.as(editor, "GET", "/apps/?limit=500&unknown=1&usingComponent=", "").want(200, `{"apps":[]}`)
}

func TestListAppsPagesWithLinks(t *testing.T) {
	w := newWorld(t)
	w.newComponent("c", "1")
	for i := range 7 {
		elements := ""
		if i%3 != 0 {
			elements = `,"elements":[{"component":{"name":"c","version":"1"},"config":{}}]`
		}
		w.as(editor, "POST", "/apps/", fmt.Sprintf(`{"title":"%d","groups":[%q]%s}`, i, network, elements)).want(201)
		w.clock.add(time.Millisecond)
	}
	var titles []string
	url := w.url + "/apps/?sort=createdAt&limit=2&usingComponent=c&svctoken=" + w.token(editor)
	for pages := 0; url != ""; pages++ {
		r := w.send("GET", strings.TrimPrefix(url, w.url), "").want(200)
		for _, a := range r.apps() {
			titles = append(titles, a.Title)
		}
		link := r.header.Get("Link")
		if strings.Contains(link, tokenOf(url)) {
			t.Fatalf("the token is in the link %s", link)
		}
		if url = nextOf(link); url != "" {
			if !strings.HasPrefix(url, w.url+"/apps/?") {
				t.Fatalf("link to %s", url)
			}
			url += "&svctoken=" + w.token(editor)
		}
		if pages > 7 {
			t.Fatal("the pages do not end")
		}
	}
	if got := strings.Join(titles, " "); got != "1 2 4 5" {
		t.Errorf("pages hold %s", got)
	}
}

// nextOf returns the URL of a Link header with rel="next", or "".
func nextOf(link string) string {
	url, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
	if !ok {
		return ""
	}
	return url
}

func tokenOf(url string) string {
	_, token, _ := strings.Cut(url, "svctoken=")
	return token
}

// A request that is sent again with its key is answered as the first time, although it could not be made again.
func TestEveryEndpointWithAKeyAnswersARepeat(t *testing.T) {
	w := newWorld(t)
	id := w.newApp("x", network)
	w.retitle(id, 0, "y")
	for i, c := range []struct {
		request, body, other string
		status               int
	}{
		{"POST /apps/", `{"title":"once","groups":["` + network + `"]}`,
			`{"title":"twice","groups":["` + network + `"]}`, 201},
		{"POST /apps/versions/restore", `{"appId":"` + id + `","latest":true}`,
			`{"appId":"` + id + `","appVersion":"0"}`, 201},
		{"PUT /apps/" + id + "/tags/t", `{"appVersion":"0","from":null}`, `{"appVersion":"1","from":null}`, 201},
		{"DELETE /apps/" + id + "/tags/t", "", "", 204},
		{"POST /components/", manifest, strings.Replace(manifest, "1.2.0", "2.0.0", 1), 201},
		{"DELETE /components/%40scope%2Ffeed", "", "", 204},
	} {
		method, path, _ := strings.Cut(c.request, " ")
		key := header("Idempotency-Key", fmt.Sprint("k-", i))
		first := w.as(editor, method, path, c.body, key).want(c.status)
		again := w.as(editor, method, path, c.body, key).want(c.status)
		if again.body != first.body || again.header.Get("Location") != first.header.Get("Location") {
			t.Errorf("%s: repeated %s, first %s", c.request, again.body, first.body)
		}
		if c.other != "" {
			w.as(editor, method, path, c.other, key).want(422, "Idempotency-Key")
		}
	}
	if n := len(w.as(editor, "GET", "/apps/", "").apps()); n != 2 {
		t.Errorf("%d apps", n)
	}
}
