package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/reviews"
)

const table = "sku;stars;who;when;text\nlamp;5;Ann;25/04/2019;\"a\nb\"\nlamp;9;Ben;26/04/2019;\n"

// mapped is the path of a conversion of table.
func mapped(more string) string {
	return "/x/reviews/convert?source=shop&mapping=" +
		url.QueryEscape(`{"collection_id":"sku","rating":"stars","scale":5,"author_name":"who","created":"when",`+
			`"body":"text"}`) +
		more
}

func TestTablesAreConverted(t *testing.T) {
	w := reviewWorld(t)
	r := w.as(editor, "POST", mapped(""), table, setType("text/csv")).want(200)
	lines := strings.SplitAfter(r.body, "\n")
	if r.header.Get("Content-Type") != "application/x-ndjson" || r.header.Get("Cache-Control") != "no-store" ||
		len(lines) != 3 || !strings.Contains(lines[0], `"source":"shop","id":"bGFtcA=="`) ||
		!strings.Contains(lines[0], `"created":"2019-04-25T00:00:00Z","ratings":[100]`) ||
		lines[1] != `{"converted":1,"rejected":[{"line":4,"reason":"the rating 9 is above 5: mend it, or give `+
			`another scale"}],"rejectedTotal":1,"skipped":0,"notes":["dates: the order was decided by `+
			`26/04/2019; give dates=dmy with the rejected rows","no column has ids, so a review that is edited in `+
			`the shop later becomes another one"]}`+"\n" {
		t.Errorf("%v %q", r.header, r.body)
	}
	if got := w.as(editor, "POST", importPath, lines[0],
		setType("application/x-ndjson")).want(200).body; !strings.Contains(got, `"created":1`) ||
		!strings.Contains(got, `"errors":0`) {
		t.Errorf("the import: %s", got)
	}
	r = w.as(editor, "POST", mapped("&scale=10&dates=dmy"), table, setType("application/vnd.ms-excel")).want(200)
	if !strings.Contains(r.body, `"ratings":[50]`) || !strings.Contains(r.body, `"ratings":[90]`) ||
		!strings.Contains(r.body, `"rejected":[],"rejectedTotal":0,"skipped":0`) {
		t.Errorf("of ten: %s", r.body)
	}
	r = w.as(editor, "POST", mapped("&rejects=true"), table, setType("text/csv")).want(200)
	if r.header.Get("Content-Type") != "text/csv; charset=utf-8" ||
		!strings.HasPrefix(r.body, "sku;stars;who;when;text;rejected_line;rejected_reason\nlamp;9;Ben;26/04/2019;;4;") {
		t.Errorf("%v %q", r.header, r.body)
	}
	r = w.as(editor, "POST", "/x/reviews/convert?guess=true", table, setType("text/csv")).want(200)
	if !strings.Contains(r.body,
		`"separator":";","columns":["sku","stars","who","when","text"],"rows":[["lamp","5","Ann","25/04/2019",`+
			`"a\nb"],`) ||
		!strings.Contains(r.body, `"rating":"stars"`) ||
		!strings.HasSuffix(r.body,
			`"scale":10,"dates":"dmy","notes":["scale: 10, guessed from the first ratings; give `+
				`another if that is wrong","unused columns: \"who\""]}`) {
		t.Errorf("%s", r.body)
	}
	r = w.as(editor, "POST", "/x/reviews/convert?source=shop&fill=true&mapping="+
		url.QueryEscape(
			`{"collection_id":"sku","rating":"stars","rating:text":{"column":"text","map":{"a\nb":1}},`+
				`"created":"when","author_name":["none of it","who","=x"],"skip":[{"column":"who","is":["ann"]}]}`),
		table,
		setType("text/csv")).want(400)
	if !strings.Contains(r.body, `no column \"none of it\"`) {
		t.Errorf("%s", r.body)
	}
	r = w.as(editor, "POST", "/x/reviews/convert?source=shop&fill=true&mapping="+
		url.QueryEscape(
			`{"collection_id":"sku","rating":"stars","rating:text":{"column":"text","map":{"a\nb":1}},`+
				`"created":"when","author_name":["text","=x"],"skip":[{"column":"who","is":["ann"]}]}`), table,
		setType("text/csv")).want(200)
	if !strings.Contains(r.body, `"ratings":[90,90],"imported_display_name":"x"`) ||
		!strings.Contains(r.body, `"converted":1,"rejected":[],"rejectedTotal":0,"skipped":1,"notes":["scale: 10,`) {
		t.Errorf("a mapping with all forms of values: %s", r.body)
	}
	r = w.as(editor, "POST", "/x/reviews/convert?source=shop&mapping="+url.QueryEscape(`{"rows":"/products/*/reviews",`+
		`"collection_id":"../sku","rating":"/r","scale":10,"created":"/d","author_name":["/nick","=Anonymous"]}`),
		`{"products":[{"sku":"lamp","reviews":[{"r":5,"d":"2019-04-25"}]}]}`, setType("application/json")).want(200)
	if !strings.Contains(r.body, `"id":"bGFtcA=="`) || !strings.Contains(r.body, `"ratings":[50]`) {
		t.Errorf("JSON: %s", r.body)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(table)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for _, coding := range []string{"gzip", "identity"} {
		if r := w.as(editor, "POST", mapped(""), packed.String(), setType("text/csv"),
			header("Content-Encoding", coding)).want(200); !strings.Contains(r.body, `"converted":1,`) {
			t.Errorf("%s: %s", coding, r.body)
		}
	}
}

// Rows that a lost quote has made one are shown as other rejected rows are, and whose they are does not get out.
func TestATableWithALostQuote(t *testing.T) {
	w := reviewWorld(t)
	const piece = "lamp;4;Ben;26/04/2019;\"It works.\nlamp;1;Cy;27/04/2019;\"Call me, cy@example.test\""
	table := table + piece + "\nlamp;2;Dan;28/04/2019;\"x;y\"\n"
	r := w.as(editor, "POST", mapped(""), table, setType("text/csv")).want(200)
	for _, want := range []string{
		`{"line":5,"last":6,"reason":"a quote is opened in line 5 and not closed before another is opened in line 6,` +
			` so these 2`,
		`{"converted":2,"rejected":[{"line":4,`, `"rejectedTotal":2`,
	} {
		if !strings.Contains(r.body, want) || strings.Contains(r.body, "cy@example.test") {
			t.Errorf("%s, want %s", r.body, want)
		}
	}
	r = w.as(editor, "POST", mapped("&rejects=true"), table, setType("text/csv")).want(200)
	if !strings.Contains(r.body, piece+"\n;;;;;5;") { // the reason in a row of its own
		t.Errorf("%s", r.body)
	}
}

// The answer with rejected rows begins when the whole table is read: net/http drops 256 KiB of a body once the answer
// has begun.
func TestRejectedRowsOfLargeTables(t *testing.T) {
	w := reviewWorld(t)
	for _, rows := range []int{8_000, 16_000, 40_000} { // 1.4 MiB
		table := "sku;stars;who;when;text\n" + strings.Repeat("lamp;9;Ben;26/04/2019;It does not work.\n", rows)
		for name, length := range map[string]int64{"with its length": int64(len(table)), "in chunks": -1} {
			r := w.as(editor, "POST", mapped("&rejects=true"), table, setType("text/csv"), func(r *http.Request) {
				r.ContentLength = length
			}).want(200)
			if got := strings.Count(r.body, "\n"); got != rows+1 {
				t.Errorf("%d rows %s: %d lines", rows, name, got)
			}
		}
	}
}

func TestRefusedTables(t *testing.T) {
	w := reviewWorld(t)
	two := editor
	two.Moderates = []string{network, "urn:vitrine:other.test"}
	page := httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=page", TagsOnly: true,
		Moderates: []string{network}}}
	for name, c := range map[string]struct {
		by              httpapi.Principal
		path, body, typ string
		status          int
		parameter       string
	}{
		"a moderator of two networks": {two, mapped(""), table, "text/csv", 200, ""},
		"one of them":                 {two, mapped("&network=other.test"), table, "text/csv", 200, ""},
		"the network of somebody":     {editor, mapped("&network=other.test"), table, "text/csv", 403, ""},
		"a malformed network":         {editor, mapped("&network=a:b"), table, "text/csv", 400, "network"},
		"nobody": {httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=x"}},
			mapped(""), table, "text/csv", 403, ""},
		"a token with tags":      {page, mapped(""), table, "text/csv", 403, ""},
		"another type":           {editor, mapped(""), table, "application/xml", 415, "Content-Type"},
		"an unknown parameter":   {editor, mapped("&delimiter=x"), table, "text/csv", 400, "delimiter"},
		"an empty mapping":       {editor, "/x/reviews/convert?mapping=", table, "text/csv", 400, "mapping"},
		"a mapping that is none": {editor, "/x/reviews/convert?mapping=[]", table, "text/csv", 400, "mapping"},
		"a mapping to no text": {editor, "/x/reviews/convert?mapping={%22title%22:1}", table, "text/csv", 400,
			"mapping"},
		"a mapping of another table": {editor, "/x/reviews/convert?mapping={%22title%22:%22x%22}", table, "text/csv",
			400, "mapping"},
		"a scale of 0":             {editor, mapped("&scale=0"), table, "text/csv", 400, "scale"},
		"a scale that is none":     {editor, mapped("&scale=five"), table, "text/csv", 400, "scale"},
		"a scale that is too high": {editor, mapped("&scale=101"), table, "text/csv", 400, "scale"},
		"a scale beyond numbers":   {editor, mapped("&scale=NaN"), table, "text/csv", 400, "scale"},
		"a scale that is refuted": {editor, "/x/reviews/convert", "sku,rating,date,author\n" +
			strings.Repeat("lamp,4,2019-04-03,Ann\n", 1000) + "lamp,8,2019-04-03,Ann\n", "text/csv", 400, "scale"},
		"an order":                 {editor, mapped("&dates=ymd"), table, "text/csv", 400, "dates"},
		"an empty source":          {editor, "/x/reviews/convert?source=", table, "text/csv", 400, "source"},
		"a flag":                   {editor, mapped("&guess=yes"), table, "text/csv", 400, "guess"},
		"no table":                 {editor, mapped(""), `<a/>`, "text/csv", 400, ""},
		"JSON without the columns": {editor, mapped(""), `{"a":1}`, "application/json", 400, "mapping"},
		"JSON without rows":        {editor, mapped(""), `{}`, "application/json", 400, ""},
		"no table to look at":      {editor, mapped("&guess=true"), `PK` + "\x03\x04", "text/csv", 400, ""},
		"gzip that is none":        {editor, mapped(""), "\x1f\x8bxxxxxxxxxxxx", "text/csv", 400, ""},
		"many columns": {editor, mapped(""), "a" + strings.Repeat(",b", 90_000) + "\n", "text/csv",
			400, ""},
		"many columns to look at": {editor, mapped("&guess=true"), "a" + strings.Repeat(",b", 1_000) + "\n",
			"text/csv", 400, ""},
		"a table that nothing is known": {editor, "/x/reviews/convert", "a,b\n", "text/csv", 400, "mapping"},
	} {
		r := w.as(c.by, "POST", c.path, c.body, setType(c.typ))
		var e struct{ Error, Code, Parameter string }
		if r.status != 200 {
			r.read(&e)
		}
		if r.status != c.status || e.Parameter != c.parameter {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
}

// shownWorld is a server on which the token of a page is "page", with reviews of two networks.
func shownWorld(t *testing.T) *world {
	w := reviewWorld(t, func(c *httpapi.Config) {
		c.PublicCache = 30 * time.Second
		tokens := c.Authenticate
		c.Authenticate = func(r *http.Request) (httpapi.Principal, error) {
			if r.Header.Get("Authorization") == "svctoken page" {
				return httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=page", Key: "pk_1234",
					Reads: []string{network}, TagsOnly: true, PublicReviews: true}}, nil
			}
			return tokens(r)
		}
	})
	file := strings.Replace(record("YQ=="), `"imported_display_name":"N"`,
		`"imported_display_name":"N","imported_email":"ann@example.test"`, 1)
	file += strings.Replace(record("YQ=="), "old.example", "new.example", 1)
	w.as(editor, "POST", importPath,
		file+strings.Replace(record("Yi9j"), `"reviews":[`,
			`"reviews":[{"id":"r0","author_id":"7","title":"t","body_html":"","created":"2020-01-02T03:04:04Z",`+
				`"ratings":[91]},`, 1), setType("application/x-ndjson")).want(200)
	return w
}

func TestShownReviews(t *testing.T) {
	w := shownWorld(t)
	const path = "/x/public/reviews/example.test/"
	r := w.send("GET", path+"Yi9j?limit=1&key=page", "", header("Origin", "https://page.example"),
		header("Cookie", "a=b")).want(200)
	want := `{"title":"T","count":2,"dimensions":[{"name":"default","mean":70.5,"histogram":[0,0,0,0,1,0,0,0,0,1]}],` +
		`"reviews":[{"id":"r1","title":"t","body_html":"<p>x</p>","created":"2020-01-02T03:04:05Z","ratings":[50],` +
		`"author":{"name":"N"}}]}`
	if r.body != want {
		t.Errorf("%s\nwant %s", r.body, want)
	}
	for name, value := range map[string]string{"Cache-Control": "public, max-age=0, s-maxage=30",
		"Vary": "Accept-Encoding", "Access-Control-Allow-Origin": "*",
		"Cache-Tag": "reviews-example.test, key-pk_1234"} {
		if got := r.header.Get(name); got != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
	}
	link := r.header.Get("Link")
	after, _, _ := strings.Cut(strings.TrimPrefix(link, "<"+w.url+path+"Yi9j?after="), "&")
	if !strings.HasSuffix(link, `limit=1>; rel="next"`) || strings.Contains(link, "key") {
		t.Errorf("Link: %s", link)
	}
	if r := w.send("GET", path+"Yi9j?limit=1&key=page&after="+after, "").want(200); !strings.Contains(r.body,
		`"id":"r0"`) || !strings.Contains(r.body, `"author":{"name":""}`) || strings.Contains(r.body, "author_id") ||
		r.header.Get("Link") != "" {
		t.Errorf("%s", r.body)
	}
	if r := w.send("GET", path+"Yi9j?limit=1&key=page", "",
		header("If-None-Match", r.header.Get("Etag"))); r.status != 304 || r.body != "" {
		t.Errorf("asked again: %d %s", r.status, r.body)
	}
	if r := w.send("GET", path+"YQ==?source=https%3A%2F%2Fold.example.test&key=page",
		"").want(200); strings.Contains(r.body, "example.test") {
		t.Errorf("an address is in %s", r.body)
	}
	tags := w.token(
		httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=page", Reads: []string{network}, TagsOnly: true,
			Tags: []string{"x"}}})
	for what, status := range map[string]int{
		"example.test/Yi9j?key=" + tags: 403, "other.test/Yi9j?key=page": 403, "example.test/YQ==?key=page": 400,
		"example.test/Yg==?key=page": 404, "example.test/Yi9j?key=" + w.token(editor): 401,
		"example.test/Yi9j?key=x": 401, "example.test/Yi9j": 401, "example.test/Yi9j?key=page&limit=0": 400,
		"example.test/Yi9j?key=page&after=x": 400, "example.test/Yi9j?key=page&x=y": 400,
		// which are no endpoints
		"example.test/Yi9j?key=page&svctoken=page": 400, "a:b/Yi9j?key=page": 400, "example.test?key=page": 401,
		"example.test/Yi9j/x?key=page": 401, "example.test/?key=page": 401,
	} {
		if r := w.send("GET", "/x/public/reviews/"+what, ""); r.status != status ||
			r.header.Get("Cache-Control") != "no-store" && strings.Contains(what, "Yi9j?") {
			t.Errorf("%s: %d %v %s", what, r.status, r.header, r.body)
		}
	}
	if r := w.as(editor, "GET", "/x/reviews/collections/b%2Fc/reviews", "").want(404); !strings.Contains(r.body,
		"; the Base64 of b/c is Yi9j") {
		t.Errorf("%s", r.body)
	}
	// What is erased is not shown any more, and a tag may be called reviews.
	w.as(editor, "DELETE", "/x/reviews?network=example.test&email=ann@example.test", "").want(200)
	if r := w.send("GET", path+"YQ==?source=https%3A%2F%2Fold.example.test&key=page",
		"").want(200); !strings.Contains(r.body, `"count":0`) {
		t.Errorf("%s", r.body)
	}
	key := w.token(
		httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=page", Reads: []string{network}, TagsOnly: true,
			Tags: []string{"reviews"}}})
	if r := w.send("GET", "/x/public/reviews?app=a&key="+key, "").want(200); !strings.Contains(r.body, "not_found") {
		t.Errorf("%s", r.body)
	}
	// The key of reviews delivers no apps, and reads nothing else.
	if r := w.send("GET", "/x/public/production?app=a&key=page", ""); r.status != 403 {
		t.Errorf("apps: %d %s", r.status, r.body)
	}
	for _, path := range []string{"/x/reviews/collections", "/x/reviews/export", "/apps/", "/x/me"} {
		if r := w.send("GET", path, "", header("Authorization", "svctoken page")); r.status != 403 {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	var shown reviews.Shown
	if err := json.Unmarshal([]byte(want), &shown); err != nil || shown.Count != 2 {
		t.Error(err)
	}
}
