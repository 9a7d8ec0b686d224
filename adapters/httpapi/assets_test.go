package httpapi_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// library is where the default library of the network is found.
const library = "/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test"

// outsider belongs to another network.
var outsider = httpapi.Principal{URN: "urn:vitrine:other.test:user=editor", Moderates: []string{"urn:vitrine:other.test", network + ":site=1"}}

func newAssetWorld(t testing.TB) *world {
	return newWorld(t, func(c *httpapi.Config) { c.Assets = assets.New(memory.New().Assets(), nil) })
}

// mustFolder creates a folder and returns its id.
func (w *world) mustFolder(body string) string {
	w.t.Helper()
	var out struct{ Folders []struct{ ID string } }
	w.as(editor, "POST", library+"/folders", `{"create":[`+body+`]}`).want(200).read(&out)
	return out.Folders[0].ID
}

// mustAsset adds an asset and returns its id.
func (w *world) mustAsset(foreign, text string, folders ...string) string {
	w.t.Helper()
	in, _ := json.Marshal(folders)
	if folders == nil {
		in = []byte("[]")
	}
	var out struct{ Added []struct{ ID string } }
	w.as(editor, "POST", library+"/assets", fmt.Sprintf(
		`{"add":[{"id":%q,"generator":{"id":"g.example"},"content":{"content":%q},"folders":%s}]}`, foreign, text, in)).want(200).read(&out)
	return out.Added[0].ID
}

// found returns the foreign ids of what a search finds, and its total.
func (r reply) found() (ids []string, total int) {
	r.t.Helper()
	var out struct {
		Assets []struct{ Content struct{ ID string } }
		Paging struct{ Total, TotalItems int }
	}
	r.read(&out)
	for _, a := range out.Assets {
		ids = append(ids, a.Content.ID)
	}
	if out.Paging.Total != out.Paging.TotalItems {
		r.t.Errorf("total %d, totalItems %d", out.Paging.Total, out.Paging.TotalItems)
	}
	return ids, out.Paging.Total
}

func TestAssetIsAnsweredAsTheContractShowsIt(t *testing.T) {
	w := newAssetWorld(t)
	f := w.mustFolder(`{"label":"F"}`)
	sent := `{"add":[{"id":"42","generator":{"id":"g.example"},"folders":["` + f + `"],"safe_tags":["a","b","a"],"via":1,"rights":-2,"content":{
		"id":"ignored","generator":7,"published":"ignored","content":"<p>Caf\u00e9 &amp; \/ <b>so</b></p>","big":9007199254740993,"dec":1.10,
		"attachment":[{"version":"1.0","type":"photo","url":{"href":"https://x.example/?a=1&b=2"},"provider_url":"http://p.example"},
			{"type":"rich","version":"1.0","provider_url":{"href":"http://p.example"},"width":12345678901234567890}],
		"attributedTo":{"id":"u","username":"nick","displayName":"Nick Name","url":{"href":"HTTPS://n.example"},"icon":{"url":{"href":"http://i.example"},"displayName":"i"}},
		"socialnet":{"retweets":3,"favorites":0},"lang":"en"}}]}`
	added := w.as(editor, "POST", library+"/assets", sent).want(200)
	shape := regexp.MustCompile(`^\{"added":\[(\{"id":"[^"]+","library":\{"id":"example.test"\},"createdAt":"([^"]+)","updatedAt":"[^"]+",` +
		`"folders":\[\{"id":"` + f + `","path":"/","label":"F","inherit":true,"deleted":false\}\],"content":\{"id":"42","generator":\{"id":"g.example"\},(.+),` +
		`"published":"([^"]+)"\},"safe_tags":\["a","b"\],"via":1,"rights":-2\})\],"removed":\[\]\}$`)
	m := shape.FindStringSubmatch(added.body)
	if m == nil {
		t.Fatalf("the answer is\n%s", added.body)
	}
	if m[2] != m[4] || !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`).MatchString(m[2]) {
		t.Errorf("createdAt %s, published %s", m[2], m[4])
	}
	for _, kept := range []string{`"content":"<p>Caf\u00e9 &amp; \/ <b>so</b></p>"`, `"big":9007199254740993,"dec":1.10`, `"width":12345678901234567890`, `?a=1&b=2`} {
		if !strings.Contains(m[3], kept) {
			t.Errorf("%s is not in %s", kept, m[3])
		}
	}
	var out struct{ Added []struct{ ID string } }
	added.read(&out)
	if r := w.as(stranger, "GET", library+"/asset/"+out.Added[0].ID, "").want(200); r.body != m[1] {
		t.Errorf("read by itself it is\n%s\nnot\n%s", r.body, m[1])
	}
	if r := w.as(stranger, "GET", library+"/assets?query=cafe+nick", "").want(200); !strings.HasPrefix(r.body, `{"assets":[`+m[1]+`],"paging":{"prev":"`) {
		t.Errorf("a search answers %s", r.body)
	}
}

func TestAssetPathsTakeOneSlashOrTwo(t *testing.T) {
	w := newAssetWorld(t)
	w.mustAsset("1", "x")
	for _, prefix := range []string{library, strings.Replace(library, "//", "/", 1)} {
		for _, path := range []string{"/assets", "/assets/", "/folders", "/folders/", "/attributes?key=k", "/attributes/?key=k"} {
			w.as(stranger, "GET", prefix+path, "").want(200)
			w.as(outsider, "GET", prefix+path, "").want(403)
			w.send("GET", prefix+path, "").want(401)
		}
	}
	for _, path := range []string{strings.Replace(library, "//", "///", 1) + "/assets", library + "/asset/", library + "//assets", library + "/Assets", library + "/folder/x/", library + "/"} {
		w.as(editor, "GET", path, "").want(404)
	}
	w.as(editor, "DELETE", library+"/assets", "").want(405)
}

func TestAddRefuses(t *testing.T) {
	w := newAssetWorld(t)
	item := func(content string) string {
		return `{"add":[{"id":"1","generator":{"id":"g"},"content":` + content + `}]}`
	}
	attachment := func(members string) string {
		return item(`{"attachment":[{"version":"1.0","type":"link",` + members + `}]}`)
	}
	for name, c := range map[string]struct{ body, word string }{
		"no id":                            {`{"add":[{"generator":{"id":"g"},"content":{}}]}`, "add/0/id"},
		"no generator":                     {`{"add":[{"id":"1","content":{}}]}`, `/add/0/generator: member \"generator\" is missing`},
		"no content":                       {`{"add":[{"id":"1","generator":{"id":"g"}}]}`, "content"},
		"content that is no object":        {item(`[]`), "content"},
		"null content":                     {item(`null`), "content"},
		"unknown member":                   {`{"add":[],"more":1}`, "more"},
		"unknown member of an item":        {`{"add":[{"id":"1","generator":{"id":"g"},"content":{},"attributes":[]}]}`, "attributes"},
		"unknown member of the generator":  {`{"add":[{"id":"1","generator":{"id":"g","x":1},"content":{}}]}`, "generator/x"},
		"another case of a known member":   {item(`{"Content":"x"}`), "Content"},
		"another case, deeper":             {item(`{"attributedTo":{"userName":"x"}}`), "userName"},
		"a member twice":                   {item(`{"x":1,"x":2}`), "x"},
		"NUL":                              {item(`{"x":"\u0000"}`), "U+0000"},
		"lone surrogate":                   {item(`{"x":"\ud800"}`), ""},
		"65 levels":                        {item(strings.Repeat("[", 65) + strings.Repeat("]", 65)), "64"},
		"text that is no string":           {item(`{"content":1}`), "add/0/content/content"},
		"attachment that is no list":       {item(`{"attachment":{}}`), "attachment"},
		"attachment without version":       {item(`{"attachment":[{"type":"photo"}]}`), "version"},
		"attachment of another version":    {item(`{"attachment":[{"type":"photo","version":"1.1"}]}`), "attachment/0/version"},
		"attachment with a number version": {item(`{"attachment":[{"type":"photo","version":1.0}]}`), "attachment/0/version"},
		"attachment without type":          {item(`{"attachment":[{"version":"1.0"}]}`), "type"},
		"attachment of another type":       {item(`{"attachment":[{"type":"file","version":"1.0"}]}`), "attachment/0/type"},
		"javascript":                       {attachment(`"url":{"href":"javascript:alert(1)"}`), "attachment/0/url/href"},
		"data":                             {attachment(`"link":{"href":"data:text/html,x"}`), "link/href"},
		"vbscript":                         {attachment(`"author_url":{"href":"vbscript:x"}`), "author_url/href"},
		"scheme split by a tab":            {attachment(`"url":{"href":"java\tscript:alert(1)"}`), "url/href"},
		"scheme split by an entity":        {attachment(`"url":{"href":"java&#115;cript:alert(1)"}`), "url/href"},
		"space before":                     {attachment(`"url":{"href":" https://x.example"}`), "url/href"},
		"space inside":                     {attachment(`"url":{"href":"https://x.example/a b"}`), "url/href"},
		"no-break space inside":            {attachment(`"url":{"href":"https://x.example/a\u00a0b"}`), "url/href"},
		"no scheme":                        {attachment(`"thumbnail_url":{"href":"//x.example"}`), "thumbnail_url/href"},
		"no host":                          {attachment(`"url":{"href":"https:///x"}`), "url/href"},
		"backslashes":                      {attachment(`"url":{"href":"https:\\\\x.example"}`), "url/href"},
		"provider URL, a string":           {attachment(`"provider_url":"javascript:x"`), "provider_url"},
		"provider URL, an object":          {attachment(`"provider_url":{"href":"javascript:x"}`), "provider_url/href"},
		"author URL, a string":             {attachment(`"author_url":"https://x.example"`), "author_url"},
		"height that is no integer":        {attachment(`"height":1.5`), "height"},
		"author's URL":                     {item(`{"attributedTo":{"url":{"href":"ftp://x"}}}`), "attributedTo/url/href"},
		"author's icon":                    {item(`{"attributedTo":{"icon":{"url":{"href":"x"}}}}`), "icon/url/href"},
		"retweets as text":                 {item(`{"socialnet":{"retweets":"1"}}`), "retweets"},
		"via as text":                      {`{"add":[{"id":"1","generator":{"id":"g"},"content":{},"via":"1"}]}`, "via"},
		"provider URL, a number":           {attachment(`"provider_url":1`), `provider_url: want a string or an object`},
		"provider URL, a list":             {attachment(`"provider_url":[]`), `provider_url: want a string or an object`},
		"tags as null":                     {`{"add":[{"id":"1","generator":{"id":"g"},"content":{},"safe_tags":null}]}`, "safe_tags"},
		"tag with a comma":                 {`{"add":[{"id":"1","generator":{"id":"g"},"content":{},"safe_tags":["a","b,c"]}]}`, "add/0/safe_tags/1: must not have a comma"},
		"attachment of no known type":      {item(`{"attachment":[{"version":"1.0","type":"x"}]}`), `add/0/content/attachment/0/type: want \"photo\" or \"video\" or \"link\" or`},
		"content that is a string":         {item(`"x"`), "/add/0/content: want an object, have a string"},
		"member in another case":           {item(`{"attributedTo":{"Username":"x"}}`), "/add/0/content/attributedTo/Username: this member is written"},
		"101 tags":                         {`{"add":[{"id":"1","generator":{"id":"g"},"content":{},"safe_tags":[` + list(101, `"%d"`) + `]}]}`, "safe_tags"},
		"foreign id over 1,024 characters": {`{"add":[{"id":"` + strings.Repeat("é", 1025) + `","generator":{"id":"g"},"content":{}}]}`, "add/0/id"},
		"generator id over 128 characters": {`{"add":[{"id":"1","generator":{"id":"` + strings.Repeat("é", 129) + `"},"content":{}}]}`, "generator"},
		"second item, after a good one":    {`{"add":[{"id":"1","generator":{"id":"g"},"content":{}},{"id":"2"}]}`, "/add/1/generator"},
	} {
		t.Run(name, func(t *testing.T) { w.as(editor, "POST", library+"/assets", c.body).want(400, c.word) })
		if r := w.as(editor, "POST", library+"/assets", c.body); !strings.HasPrefix(r.body, `{"error":"/`) {
			t.Errorf("%s: %s does not begin with a pointer", name, r.body)
		}
	}
	w.as(editor, "POST", library+"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{},"folders":["x"]}]}`).want(404, "add/0/folders/0")
	w.as(editor, "POST", library+"/assets", `{}`, setType("text/plain")).want(415)
	if _, total := w.as(editor, "GET", library+"/assets", "").want(200).found(); total != 0 {
		t.Errorf("refused requests stored %d assets", total)
	}
}

func TestSearchParametersAreHeldToTheirLimits(t *testing.T) {
	w := newAssetWorld(t)
	w.mustAsset("1", "x")
	var page struct{ Paging struct{ Next, Prev string } }
	w.as(editor, "GET", library+"/assets", "").want(200).read(&page)
	cursor := page.Paging.Next
	w.as(editor, "POST", "/services/frontline/api/v4/assetManager//example.test/assetLibrary/other/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{}}]}`).want(200)
	w.as(editor, "GET", strings.TrimSuffix(library, "example.test")+"other/assets?until="+cursor, "").want(400, "until")
	tampered := []string{"0", "!", cursor + "A", cursor[1:], strings.ToUpper(cursor), "A" + cursor[1:], cursor[:len(cursor)-1] + "_", cursor + "=", "%00"}
	for i := range cursor {
		c := byte('A')
		if cursor[i] == c {
			c = 'B'
		}
		tampered = append(tampered, cursor[:i]+string(c)+cursor[i+1:])
	}
	for _, c := range tampered {
		if c != cursor {
			w.as(stranger, "GET", library+"/assets?since="+c, "").want(400, "since")
			w.as(stranger, "GET", library+"/assets?until="+c, "").want(400, "until")
		}
	}
	const wantLimit = `{"error":"limit: want 1 to 500","code":"invalid"`
	for query, word := range map[string]string{
		"limit=0": wantLimit, "limit=-1": wantLimit, "limit=501": wantLimit, "limit=1e3": wantLimit, "limit=%D9%A3": wantLimit, "limit=": wantLimit,
		"limit=99999999999999999999": wantLimit, "limit=01": wantLimit, "limit=%2B1": wantLimit, "limit=1&limit=1": "limit: given more than once",
		"via=x": "via", "via=1.0": "via", "via=": "via", "via=%D9%A3": "via", "rights=1e3": "rights", "rights=9223372036854775808": "rights",
		"order=up": "order", "order=": "order", "order=ASC": "order",
		"since=": "since: is empty", "until=": "until: is empty", "since": "since: is empty", "since=&until=": "since: is empty",
		"since=" + cursor + "&until=": "until: is empty", "since=&order=desc": "since: is empty", "until=&order=asc": "until: is empty",
		"since=" + cursor + "&until=" + cursor: "until", "since=" + cursor + "&order=desc": "since", "until=" + cursor + "&order=asc": "until",
		"query=" + strings.Repeat("x", 513): "query", "query=" + strings.Repeat("a+", 17): "query", "query=%FF": "query", "query=a&query=b": "query",
		"query=" + strings.Repeat("%E8%AA%9E", 17): "query", "tags=" + list(17, "%d"): "tags",
		"query=a*": "query", "query=" + strings.Repeat("ab*+", 17): "query", "attribute=": "attribute: has an empty key", "attribute=:v": "attribute: has an empty key",
		"attribute=k%00": "attribute", strings.Repeat("attribute=k&", 17): "attribute: is given 17 times", "facets=": "facets", "facets=tag": "facets", "facets=tags,": "facets",
		"facets=attributes": "facets", "facets=attribute:": "facets", "facets=tags&facets=via": "facets: given more than once", "facets=" + list(9, "attribute:%d"): "facets: has 9",
		"facets=Tags": "facets", "from=": "from", "from=yesterday": "from", "from=2023-02-29": "from", "to=2024-01-01T24:00": "to", "to=2024-1-1": "to",
		"to=2024-01-01T00:00:00%2B24:00": "to", "from=0000-01-01": "from", "from=2024-01-01T00:00:00+02:00": "%2B", "from=2024-01-01&from=2024-01-01": "from: given more than once",
		"to=20240101": "to", "from=1700000000": "from", "attributes=k": "attributes: unknown", "facet=tags": "facet: unknown", "total=true": "total: unknown",
	} {
		w.as(stranger, "GET", library+"/assets?"+query, "").want(400, word)
	}
	for _, query := range []string{
		"limit=500", "limit=1", "query=" + strings.Repeat("x", 512), "query=" + strings.Repeat("a+", 16), "query=", "tags=",
		"query=" + strings.Repeat("%E8%AA%9E", 16), "tags=" + list(16, "%d"), "query=" + strings.Repeat("ab*+", 16),
		strings.Repeat("attribute=k:v&", 16), "facets=" + list(8, "attribute:%d"), "facets=generator,tags,via,rights,folder,attribute,attribute:a:b", "from=2024-02-29&to=9999-12-31",
		"from=0001-01-01", "from=2024-01-01T00:00", "from=2024-01-01T00:00:00.123456789%2B23:59", "via=-9223372036854775808", "since=" + cursor + "&order=asc", "until=" + cursor + "&order=desc",
	} {
		w.as(stranger, "GET", library+"/assets?"+query, "").want(200)
	}
	for _, folder := range []string{"folder=x", "folderTree=x", "folder=%00", "folder=*"} {
		w.as(editor, "GET", library+"/assets?"+folder, "").want(404, "folder")
	}
}

func TestSearchesByAttributeAndTimeWithFacets(t *testing.T) {
	w := newAssetWorld(t)
	w.as(editor, "POST", library+"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{},"safe_tags":["snow","ice"]},
		{"id":"2","generator":{"id":"g"},"content":{},"safe_tags":["snow"],"via":3}]}`).want(200)
	var page struct{ Assets []struct{ ID string } }
	w.as(editor, "GET", library+"/assets", "").want(200).read(&page)
	w.as(editor, "POST", library+"/attributes", fmt.Sprintf(`{"assets":[%q],"add":[{"key":"k","value":"a:b"},{"key":"k","value":""}]}`, page.Assets[0].ID)).want(200)
	for query, want := range map[string]int{
		"attribute=k": 1, "attribute=k:a:b": 1, "attribute=k:": 1, "attribute=k:a": 0, "attribute=k&attribute=k:a:b": 1, "attribute=k&attribute=l": 0,
		"from=2000-01-01": 2, "to=2000-01-01": 0, "from=2000-01-01T00:00:00Z&to=9999-01-01T00:00:00%2B01:00": 2, "from=9999-01-01": 0,
		"from=0001-01-01": 2, "to=0001-01-01": 0,
	} {
		if _, total := w.as(stranger, "GET", library+"/assets?"+query, "").want(200).found(); total != want {
			t.Errorf("%s finds %d, want %d", query, total, want)
		}
	}
	r := w.as(stranger, "GET", library+"/assets?limit=1&facets=tags,via,attribute:k,folder", "").want(200)
	if want := `,"facets":{"tags":[{"value":"snow","count":2},{"value":"ice","count":1}],"via":[{"value":"3","count":1}],` +
		`"attribute:k":[{"value":"","count":1},{"value":"a:b","count":1}],"folder":[]}}`; !strings.HasSuffix(r.body, want) {
		t.Errorf("the page is %s, want it to end with %s", r.body, want)
	}
}

func TestSearchTextIsNeverAnExpression(t *testing.T) {
	w := newAssetWorld(t)
	w.mustAsset("1", "near col a b")
	for query, want := range map[string]int{
		`"near`: 1, `NEAR(a b)`: 1, `a *`: 1, `*a`: 1, `col:a`: 1, `-a`: 1, `^a`: 1, `a OR x`: 0, `a AND b`: 0, `NOT x`: 0, `ne*`: 1, `nea* co*`: 1, `ar*`: 0, `n*ear`: 0, `"a b"`: 1, `%`: 0, `_`: 0, `'`: 0,
		"\x00": 0, "a\x00b": 1, `\`: 0, "🙂": 0, " ": 0, `{col}: a`: 1, `<b>a</b>`: 1, `a+b`: 1, `(`: 0,
	} {
		r := w.as(stranger, "GET", library+"/assets?query="+escape(query), "").want(200)
		if ids, total := r.found(); total != want || len(ids) != want {
			t.Errorf("query %q finds %d, total %d; want %d", query, len(ids), total, want)
		}
	}
	w.as(stranger, "GET", library+"/assets?query="+strings.Repeat("a+", 50_000), "").want(400, "query")
	if r := w.as(stranger, "GET", library+"/assets?query=nothing", "").want(200); r.body !=
		`{"assets":[],"paging":{"hasPrev":false,"hasNext":false,"total":0,"totalItems":0}}` {
		t.Errorf("an empty page is %s", r.body)
	}
}

func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02X", s[i])
	}
	return b.String()
}

func TestFolderListsTakeRepeatsAndCommas(t *testing.T) {
	w := newAssetWorld(t)
	b := w.mustFolder(`{"label":"b"}`)
	a := w.mustFolder(`{"label":"A","permissions":[{"operation":"view","group":"urn:vitrine:example.test:site=1"}]}`)
	c := w.mustFolder(`{"label":"c","path":"/` + b + `"}`)
	for query, want := range map[string][]string{
		"": {a, b}, "?path=/": {a, b}, "?path=/" + b: {c}, "?path=/," + "/" + b: {a, b, c}, "?path=/&path=/" + b: {a, b, c},
		"?id=" + c: {c}, "?id=" + c + "," + a: {a, c}, "?id=" + c + "&id=" + a + "&id=" + c: {a, c}, "?id=" + c + "&path=/": {}, "?id=none": {}, "?path=none": {}, "?path=/none": {},
		"?limit=1": {a}, "?since=" + a: {b}, "?until=" + b: {a}, "?since=" + b: {}, "?path=/&path=/" + b + "&limit=1&until=" + c: {b},
	} {
		var out struct{ Folders []struct{ ID string } }
		w.as(editor, "GET", library+"/folders"+query, "").want(200).read(&out)
		got := []string{}
		for _, f := range out.Folders {
			got = append(got, f.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("folders%s: %v, want %v", query, got, want)
		}
	}
	for query, want := range map[string]string{
		"": "", "?limit=1": `<?limit=1&since=` + a + `>; rel="next"`, "?limit=1&since=" + a: "", "?limit=2": "", "?until=" + b: `<?since=` + a + `>; rel="next"`,
		"?limit=1&id=" + a + "&id=" + b: `<?id=` + a + `&id=` + b + `&limit=1&since=` + a + `>; rel="next"`,
	} {
		if link := w.as(editor, "GET", library+"/folders"+query, "").want(200).header.Get("Link"); link != want {
			t.Errorf("folders%s: Link %q, want %q", query, link, want)
		}
	}
	want := `{"folders":[{"id":"` + b + `","path":"/","label":"b","children":["` + c + `"],"inherit":true,"deleted":false}]}`
	if r := w.as(stranger, "GET", library+"/folders", "").want(200); r.body != want {
		t.Errorf("a member sees %s", r.body)
	}
	for query, word := range map[string]string{"?since=": "since", "?until=": "until", "?since=&until=": "since", "?until=&since=" + b: "until"} {
		w.as(stranger, "GET", library+"/folders"+query, "").want(400, word)
	}
	for _, query := range []string{"?since=none", "?until=" + a, "?since=" + b + "&until=" + b, "?limit=501", "?limit=0"} {
		w.as(stranger, "GET", library+"/folders"+query, "").want(400)
	}
}

func TestAnAssetThatIsElsewhereIsAConflict(t *testing.T) {
	w := newAssetWorld(t)
	here, there := w.mustFolder(`{"label":"here"}`), w.mustFolder(`{"label":"there"}`)
	id := w.mustAsset("1", "x", here)
	w.as(editor, "POST", library+"/assets", `{"add":[{"id":"1","generator":{"id":"g.example"},"content":{"content":"y"},"folders":["`+there+`"]}]}`).
		want(409, "/add/0: the asset "+id+" is in other folders already")
	w.as(editor, "POST", library+"/assets", `{"add":[{"id":"1","generator":{"id":"g.example"},"content":{"content":"y"},"folders":["`+here+`","`+there+`"]}]}`).want(200)
}

func TestContentHasABound(t *testing.T) {
	w := newAssetWorld(t)
	add := func(bytes int) string {
		return `{"add":[{"id":"1","generator":{"id":"g"},"content":{"content":"` + strings.Repeat("x", bytes-len(`{"content":""}`)) + `"}}]}`
	}
	w.as(editor, "POST", library+"/assets", add(256<<10+1)).want(413, "/add/0/content: has 262145 bytes")
	w.as(editor, "POST", library+"/assets", add(256<<10)).want(200)
}

func TestPermissionsAndItemsOverHTTP(t *testing.T) {
	w := newAssetWorld(t)
	f := w.mustFolder(`{"label":"f"}`)
	id := w.mustAsset("1", "x")
	path := library + "/folder/" + f
	w.as(stranger, "GET", path+"/permissions", "").want(403)
	w.as(stranger, "POST", path+"/assets", `{"assign":["`+id+`"]}`).want(403)
	r := w.as(editor, "POST", path+"/permissions", `{"create":[{"rType":"assetFolder","operation":"edit","user":{"id":"stranger","name":"S"},"role":null,"group":null}]}`).want(200)
	shape := regexp.MustCompile(`^\{"permissions":\[\{"id":"[^"]+","rType":"assetFolder","operation":"edit","rId":"urn:vitrine:example\.test:library=example\.test:folder=` + f +
		`","role":null,"group":null,"user":\{"id":"stranger","name":"S"\}\}\]\}$`)
	if !shape.MatchString(r.body) {
		t.Fatalf("permissions are %s", r.body)
	}
	if again := w.as(editor, "GET", path+"/permissions", "").want(200); again.body != r.body {
		t.Errorf("read again they are %s", again.body)
	}
	want := `{"assign":[{"id":"` + id + `","status":403},{"id":"x","status":404},{"id":"` + id + `","status":403}],"remove":[{"id":"y","status":404}]}`
	if r := w.as(stranger, "POST", path+"/assets", `{"assign":["`+id+`","x","`+id+`"],"remove":["y"]}`).want(200); r.body != want {
		t.Errorf("assigning what the caller may not change answers %s", r.body)
	}
	w.as(editor, "POST", path+"/assets", `{"assign":["`+id+`"]}`).want(200)
	want = strings.ReplaceAll(want, "403", "200")
	if r := w.as(stranger, "POST", path+"/assets", `{"assign":["`+id+`","x","`+id+`"],"remove":["y"]}`).want(200); r.body != want {
		t.Errorf("assign answers %s", r.body)
	}
	if r := w.as(stranger, "POST", path+"/assets", `{"remove":["`+id+`"]}`).want(200, `"status":403`); r.status != 200 {
		t.Error(r.body)
	}
	r = w.as(stranger, "POST", library+"/attributes", `{"assets":["`+id+`","x"],"set":[{"key":"k","value":"v"}]}`).want(200, `{"result":[200,404],"assets":[{"id":"`+id, `"attributes":[{"key":"k","value":"v"}]`)
	if r := w.as(stranger, "GET", library+"/attributes?key=k", "").want(200); r.body != `{"attributes":[{"key":"k","value":"v"}]}` {
		t.Errorf("attributes are %s", r.body)
	}
	if r := w.as(siteOne, "GET", library+"/attributes?key=k", "").want(200); r.body != `{"attributes":[]}` {
		t.Errorf("who does not see the asset sees its attributes: %s", r.body)
	}
	for body, word := range map[string]string{
		`{"create":[{"operation":"own","role":{"id":"r"}}]}`:                    "operation",
		`{"create":[{"operation":"view"}]}`:                                     "role, group and user",
		`{"create":[{"operation":"view","role":{"id":"r"},"group":"urn:a:b"}]}`: "exactly one",
		`{"create":[{"operation":"view","group":"site=1"}]}`:                    "group",
		`{"create":[{"operation":"view","role":{"id":""}}]}`:                    "/create/0/role/id: must not be empty",
		`{"create":[{"operation":"view","role":{"id":"r","x":1}}]}`:             "x",
		`{"create":[{"operation":"view","rType":"asset","role":{"id":"r"}}]}`:   "rType",
		`{"create":[{"operation":"view","rId":"urn:x","role":{"id":"r"}}]}`:     "rId",
	} {
		w.as(editor, "POST", path+"/permissions", body).want(400, word)
	}
	for _, group := range []string{"", "site=1", strings.Repeat("x", 513)} {
		w.as(editor, "POST", path+"/permissions", `{"create":[{"operation":"view","group":"`+group+`"}]}`).want(400, `{"error":"/create/0/group: `)
	}
	w.as(editor, "GET", library+"/attributes", "").want(400, `{"error":"key: the parameter is missing`)
	w.as(editor, "GET", library+"/attributes?key=", "").want(400, `{"error":"key: must not be empty`)
}

func TestHiddenAssetsAndFoldersReadAsAbsent(t *testing.T) {
	w := newAssetWorld(t)
	f := w.mustFolder(`{"label":"f","inherit":false}`)
	id := w.mustAsset("1", "secret", f)
	same := func(method, hidden, absent, body string, options ...string) {
		t.Helper()
		a, b := w.as(stranger, method, library+hidden, body), w.as(stranger, method, library+absent, strings.NewReplacer(f, "absent", id, "absent").Replace(body))
		if len(options) > 0 {
			b.body = strings.ReplaceAll(b.body, "absent", options[0])
		}
		for _, h := range []reply{a, b} {
			h.header.Del("Date")
			h.header.Del("X-Request-Id")
			h.header.Del("Content-Length")
		}
		if a.status != b.status || a.body != b.body || fmt.Sprint(a.header) != fmt.Sprint(b.header) {
			t.Errorf("%s %s: hidden is %d %s, absent %d %s", method, hidden, a.status, a.body, b.status, b.body)
		}
	}
	same("GET", "/asset/"+id, "/asset/absent", "")
	same("GET", "/folder/"+f, "/folder/absent", "")
	same("GET", "/folder/"+f+"/permissions", "/folder/absent/permissions", "")
	same("POST", "/folder/"+f+"/permissions", "/folder/absent/permissions", `{}`)
	same("POST", "/folder/"+f+"/assets", "/folder/absent/assets", `{}`)
	same("GET", "/assets?folder="+f, "/assets?folder=absent", "")
	same("GET", "/assets?folderTree="+f, "/assets?folderTree=absent", "")
	same("GET", "/folders?path=/"+f, "/folders?path=/absent", "")
	same("GET", "/folders?id="+f, "/folders?id=absent", "")
	same("GET", "/folders?since="+f, "/folders?since=absent", "")
	same("POST", "/folders", "/folders", `{"create":[{"label":"x","path":"/`+f+`"}]}`)
	same("POST", "/folders", "/folders", `{"update":[{"id":"`+f+`"}]}`)
	same("POST", "/folders", "/folders", `{"delete":["`+f+`"]}`)
	same("POST", "/assets", "/assets", `{"add":[{"id":"2","generator":{"id":"g"},"content":{},"folders":["`+f+`"]}]}`)
	same("POST", "/assets", "/assets", `{"remove":["`+id+`"]}`)
	same("POST", "/attributes", "/attributes", `{"assets":["`+id+`"]}`)
	if ids, total := w.as(stranger, "GET", library+"/assets?query=secret", "").want(200).found(); len(ids) != 0 || total != 0 {
		t.Errorf("a search finds %v, total %d", ids, total)
	}
	w.as(stranger, "POST", library+"/assets", `{"add":[{"id":"1","generator":{"id":"g.example"},"content":{}}]}`).want(403) // the one known exception
}

func TestOtherLibrariesAndNetworks(t *testing.T) {
	w := newAssetWorld(t)
	f := w.mustFolder(`{"label":"f"}`)
	id := w.mustAsset("1", "x", f)
	other := "/services/frontline/api/v4/assetManager//example.test/assetLibrary/o%2Fther"
	w.as(editor, "GET", other+"/assets", "").want(404, "library")
	w.as(stranger, "POST", other+"/assets", `{"add":[]}`).want(404, "library")
	w.as(editor, "POST", other+"/folders", `{"create":[{"label":"mine"}]}`).want(200)
	w.as(stranger, "GET", other+"/assets", "").want(200)
	w.as(editor, "GET", other+"/asset/"+id, "").want(404)
	w.as(editor, "GET", other+"/folder/"+f, "").want(404)
	w.as(editor, "GET", other+"/assets?folder="+f, "").want(404)
	w.as(editor, "POST", other+"/assets", `{"add":[{"id":"1","generator":{"id":"g"},"content":{},"folders":["`+f+`"]}]}`).want(404)
	w.as(editor, "POST", other+"/folder/"+f+"/assets", `{"assign":["`+id+`"]}`).want(404)
	w.as(editor, "POST", other+"/assets", `{"remove":["`+id+`"]}`).want(200, `"removed":[]`)
	w.as(editor, "POST", other+"/attributes", `{"assets":["`+id+`"],"add":[{"key":"k","value":"v"}]}`).want(200, `{"result":[404],"assets":[]}`)
	for _, path := range []string{"/other.test/assetLibrary/other.test/assets", "/example.test:site=1/assetLibrary/x/assets", "/%20/assetLibrary/x/assets", "/example/assetLibrary/x/assets", "/EXAMPLE.TEST/assetLibrary/x/assets"} {
		w.as(editor, "GET", "/services/frontline/api/v4/assetManager/"+path, "").want(403)
	}
	w.as(outsider, "GET", library+"/asset/"+id, "").want(403)
	w.as(editor, "POST", "/services/frontline/api/v4/assetManager//example.test/assetLibrary/"+strings.Repeat("x", 129)+"/assets", `{}`).want(400, "library")
}

// An empty query counts as not given. An empty folder or generator does not: no folder and no service has an empty id.
func TestEmptyFilters(t *testing.T) {
	w := newAssetWorld(t)
	w.mustAsset("1", "red")
	unknown := map[string]string{}
	for _, name := range []string{"folder", "folderTree"} {
		unknown[name] = w.as(editor, "GET", library+"/assets?"+name+"=absent", "").want(404).body
	}
	for query, want := range map[string]int{
		"query=": 200, "tags=": 200, "folder=": 404, "folderTree=": 404, "folder=&query=red": 404, "generator=": 400, "via=": 400, "rights=": 400,
		"order=": 400, "limit=": 400, "since=": 400, "until=": 400,
	} {
		r := w.as(editor, "GET", library+"/assets?"+query, "").want(want)
		name := query[:strings.IndexByte(query, '=')]
		switch want {
		case 400:
			r.want(400, name)
		case 404:
			if r.body != unknown[name] {
				t.Errorf("%s is answered %s, an unknown id %s", query, r.body, unknown[name])
			}
		}
	}
}

// A caller who does not belong to the network is told so, whatever else is wrong with the request.
func TestMembershipComesFirst(t *testing.T) {
	w := newAssetWorld(t)
	f := w.mustFolder(`{"label":"F"}`)
	absent := "/services/frontline/api/v4/assetManager//example.test/assetLibrary/absent"
	want := w.as(outsider, "GET", library+"/assets", "").want(403).body
	for _, request := range [][3]string{
		{"GET", library + "/assets?via=x&limit=0", ""}, {"GET", library + "/attributes", ""}, {"GET", library + "/folder/" + f, ""}, {"GET", absent + "/assets", ""},
		{"POST", library + "/assets", "{"}, {"POST", library + "/assets?unknown=1", "{}"}, {"POST", library + "/attributes", "{}"},
		{"POST", library + "/folders", `{"update":[{}]}`}, {"POST", library + "/folder/absent/assets", strings.Repeat(" ", 5<<20)},
	} {
		if r := w.as(outsider, request[0], request[1], request[2]).want(403); r.body != want {
			t.Errorf("%s %s: %s", request[0], request[1], r.body)
		}
	}
	w.as(editor, "POST", library+"/attributes", "{}").want(400)
	w.as(editor, "POST", library+"/assets?unknown=1", "{}").want(400)
}

func TestMisspeltFiltersAreRefused(t *testing.T) {
	w := newAssetWorld(t)
	for path, name := range map[string]string{
		"/assets?tag=hot": "tag", "/assets?limit=1&Query=x": "Query", "/folders?ids=1": "ids", "/folders?limit=1&=x": "",
		"/explain?folder=x&users=rea": "users",
	} {
		r := w.as(stranger, "GET", library+path, "").want(400, "unknown query parameter")
		if name != "" {
			r.want(400, `"parameter":"`+name+`"`)
		}
	}
	w.as(stranger, "GET", library+"/assets?%zz=x", "").want(400, "malformed")
	w.as(stranger, "GET", library+"/attributes?key=a&more=x", "").want(200)
}

func TestFoldersByLabelAndDeletedOnes(t *testing.T) {
	w := newAssetWorld(t)
	parent := w.mustFolder(`{"label":"Winter & more"}`)
	lost := w.mustFolder(`{"label":"December","path":"/` + parent + `"}`)
	w.as(editor, "POST", library+"/folders", `{"delete":["`+lost+`"]}`).want(200)
	w.as(stranger, "GET", library+"/folders?label=r+%26+M", "").want(200, `"id":"`+parent+`"`)
	w.as(editor, "GET", library+"/folders?deleted=true", "").want(200, `"id":"`+lost+`"`, `"deleted":true`)
	w.as(editor, "GET", library+"/folders?deleted=false", "").want(200, `"id":"`+parent+`"`)
	if r := w.as(stranger, "GET", library+"/folders?deleted=true", "").want(200); r.body != `{"folders":[]}` {
		t.Errorf("who may not bring a folder back reads %s", r.body)
	}
	for query, name := range map[string]string{"deleted=yes": "deleted", "deleted=": "deleted", "deleted=true&deleted=true": "deleted", "label=a&label=b": "label"} {
		w.as(editor, "GET", library+"/folders?"+query, "").want(400, `"parameter":"`+name+`"`)
	}
}

func TestExplainTellsAboutOneselfAndModeratorsAboutOthers(t *testing.T) {
	w := newAssetWorld(t)
	folder := w.mustFolder(`{"label":"news","inherit":false,"permissions":[{"operation":"view","role":{"id":"readers"}}]}`)
	asset := w.mustAsset("1", "words")
	about := library + "/explain?folder=" + folder
	for query, want := range map[string]string{
		"":                       `{"view":{"allowed":true,"rule":"moderator"},"edit":{"allowed":true,"rule":"moderator"},"manage":{"allowed":true,"rule":"moderator"}}`,
		"&user=rea":              `{"view":{"allowed":false,"rule":"none"},"edit":{"allowed":false,"rule":"none"},"manage":{"allowed":false,"rule":"none"}}`,
		"&user=rea&role=readers": `{"view":{"allowed":true,"rule":"grant","folder":"` + folder + `","grant":{"id":"`,
		"&role=a&role=readers":   `{"view":{"allowed":true,"rule":"grant","folder":"` + folder + `","grant":{"id":"`,
	} {
		if r := w.as(editor, "GET", about+query, "").want(200); !strings.HasPrefix(r.body, want) {
			t.Errorf("%s: %s, want %s", query, r.body, want)
		}
	}
	if r := w.as(stranger, "GET", library+"/explain?asset="+asset, "").want(200); r.body !=
		`{"view":{"allowed":true,"rule":"unfiled"},"edit":{"allowed":false,"rule":"none"},"folders":[]}` {
		t.Errorf("an asset in no folder: %s", r.body)
	}
	hidden, absent := w.as(stranger, "GET", about, "").want(404), w.as(stranger, "GET", library+"/explain?folder=absent", "").want(404)
	if hidden.body != absent.body {
		t.Errorf("a hidden folder reads %s, an absent one %s", hidden.body, absent.body)
	}
	w.as(stranger, "GET", about+"&user=", "").want(403, `"parameter":"user"`)
	for _, query := range []string{"", "?asset=", "?folder=", "?asset=" + asset + "&folder=" + folder, "?folder=a&folder=b", "?folder=" + folder + "&user=a&user=b",
		"?folder=" + folder + "&user=a:b", "?folder=" + folder + strings.Repeat("&role=x", 101), "?folder=" + folder + strings.Repeat("&group=x", 101)} {
		w.as(editor, "GET", library+"/explain"+query, "").want(400)
	}
	w.as(editor, "GET", library+"/explain?folder="+folder+strings.Repeat("&role=x", 100), "").want(200)
}
