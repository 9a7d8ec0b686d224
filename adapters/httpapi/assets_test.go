package httpapi_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// library is where the default library of the network is found.
const library = "/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test"

// outsider belongs to another network.
var outsider = httpapi.Principal{Caller: vitrine.Caller{URN: "urn:vitrine:other.test:user=editor",
	Moderates: []string{"urn:vitrine:other.test", network + ":site=1"}}}

func newAssetWorld(t testing.TB) *world {
	return newWorld(t, func(c *httpapi.Config) { c.Assets = assets.New(memory.New(), nil) })
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
		`{"add":[{"id":%q,"generator":{"id":"g.example"},"content":{"content":%q},"folders":%s}]}`, foreign, text,
		in)).want(200).read(&out)
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
	sent := `{"add":[{"id":"42","generator":{"id":"g.example"},"folders":["` + f +
		`"],"safe_tags":["a","b","a"],"via":1,"rights":-2,"content":{
		"id":"ignored","generator":7,"published":"ignored","content":"<p>Caf\u00e9 &amp; \/ <b>so</b></p>","big":9007199254740993,"dec":1.10,
		"attachment":[{"version":"1.0","type":"photo","url":{"href":"https://x.example/?a=1&b=2"},"provider_url":"http://p.example"},
			{"type":"rich","version":"1.0","provider_url":{"href":"http://p.example"},"width":12345678901234567890}],
		"attributedTo":{"id":"u","username":"nick","displayName":"Nick Name","url":{"href":"HTTPS://n.example"},"icon":{"url":{"href":"http://i.example"},"displayName":"i"}},
		"socialnet":{"retweets":3,"favorites":0},"lang":"en"}}]}`
	added := w.as(editor, "POST", library+"/assets", sent).want(200)
	shape := regexp.MustCompile(`^\{"added":\[(\{"id":"[^"]+","library":\{"id":"example.test"\},` +
		`"createdAt":"([^"]+)","updatedAt":"[^"]+",` +
		`"folders":\[\{"id":"` + f +
		`","path":"/","label":"F","inherit":true,"deleted":false\}\],"content":\{"id":"42",` +
		`"generator":\{"id":"g.example"\},(.+),` +
		`"published":"([^"]+)"\},"safe_tags":\["a","b"\],"via":1,"rights":-2\})\],"removed":\[\]\}$`)
	m := shape.FindStringSubmatch(added.body)
	if m == nil {
		t.Fatalf("the answer is\n%s", added.body)
	}
	if m[2] != m[4] || !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`).MatchString(m[2]) {
		t.Errorf("createdAt %s, published %s", m[2], m[4])
	}
	for _, kept := range []string{`"content":"<p>Caf\u00e9 &amp; \/ <b>so</b></p>"`,
		`"big":9007199254740993,"dec":1.10`, `"width":12345678901234567890`, `?a=1&b=2`} {
		if !strings.Contains(m[3], kept) {
			t.Errorf("%s is not in %s", kept, m[3])
		}
	}
	var out struct{ Added []struct{ ID string } }
	added.read(&out)
	if r := w.as(stranger, "GET", library+"/asset/"+out.Added[0].ID, "").want(200); r.body != m[1] {
		t.Errorf("read by itself it is\n%s\nnot\n%s", r.body, m[1])
	}
	if r := w.as(stranger, "GET", library+"/assets?query=cafe+nick", "").want(200); !strings.HasPrefix(r.body,
		`{"assets":[`+m[1]+`],"paging":{"prev":"`) {
		t.Errorf("a search answers %s", r.body)
	}
}

// When something was first published is given with it, is kept by repeats, and is what the search goes by.
func TestOriginalDatesAreKept(t *testing.T) {
	w := newAssetWorld(t)
	add := func(foreign, more string) reply {
		return w.as(editor, "POST", library+"/assets",
			`{"add":[{"id":"`+foreign+
				`","generator":{"id":"g.example"},"content":{"content":"x","published":"ignored"}`+more+`}]}`).want(200)
	}
	for i, sent := range []string{"2011-05-06T07:08:09.0129+02:00", "2009-01-01", "0001-01-01T00:00:00Z",
		"2011-05-06T05:08:09,012"} {
		add(fmt.Sprint(i+1), `,"createdAt":"`+sent+`","attributes":[{"key":"k","value":"a"},{"key":"k","value":"a"}]`)
	}
	add("5", "")
	for range 2 { // a repeat without it changes nothing
		for foreign, want := range map[string]string{"1": "2011-05-06T05:08:09.012Z", "3": "0001-01-01T00:00:00.000Z"} {
			r := add(foreign, `,"attributes":[{"key":"l","value":"b"}]`)
			for _, part := range []string{`"createdAt":"` + want, `"published":"` + want,
				`"attributes":[{"key":"k","value":"a"},{"key":"l","value":"b"}]`} {
				if !strings.Contains(r.body, part) {
					t.Errorf("%s is not in %s", part, r.body)
				}
			}
		}
	}
	find := func(query, want string) reply {
		t.Helper()
		r := w.as(stranger, "GET", library+"/assets?"+query, "").want(200)
		if ids, total := r.found(); strings.Join(ids, " ") != want || total < len(ids) {
			t.Errorf("%s finds %v of %d, want %s", query, ids, total, want)
		}
		return r
	}
	find("sort=createdAt&from=2011-01-01&to=2012-01-01&order=asc", "1 4")
	find("to=0001-01-01", "")
	find("sort=createdAt&to=2010-01-01", "2 3")
	find("from=0001-01-01&to=0001-01-01T00:00:00.001Z", "3")
	find("generator=g.example&foreignId=4", "4")
	find("generator=other.example&foreignId=4", "")
	var page struct{ Paging struct{ Prev, Next string } }
	find("sort=createdAt&limit=3", "5 4 1").read(&page)
	find("until="+page.Paging.Prev, "2 3") // the cursor keeps the sort
	find("sort=createdAt&until="+page.Paging.Prev, "2 3")
	find("since="+page.Paging.Next, "")
	w.as(stranger, "GET", library+"/assets?sort=added&until="+page.Paging.Prev, "").want(400,
		"until: is the cursor of a search with another sort")
	add("1", `,"createdAt":"2001-01-01"`)
	find("sort=createdAt&order=asc", "3 1 2 4 5")
}

func TestSearchParametersAreParsed(t *testing.T) {
	w := newAssetWorld(t)
	w.mustAsset("1", "x")
	var page struct{ Paging struct{ Next, Prev string } }
	w.as(editor, "GET", library+"/assets", "").want(200).read(&page)
	cursor := page.Paging.Next
	const wantLimit = `{"error":"limit: want 1 to 500","code":"invalid"`
	for query, word := range map[string]string{
		"limit=0": wantLimit, "limit=501": wantLimit, "limit=1e3": wantLimit, "limit=": wantLimit,
		"limit=1&limit=1": "limit: given more than once",
		"via=x":           "via", "via=1.0": "via", "via=007": "via", "via=%2B5": "via", "via=": "via",
		"rights=1e3": "rights", "rights=-0": "rights", "rights=9223372036854775808": "rights",
		"order=up": "order", "order=": "order", "since=": "since: is empty", "until=": "until: is empty",
		"since": "since: is empty", "since=&until=": "since: is empty",
		"since=" + cursor + "&until=": "until: is empty", "since=&order=desc": "since: is empty",
		"since=" + cursor + "&until=" + cursor: "until",
		"since=" + cursor + "&order=desc":      "since", "until=" + cursor + "&order=asc": "until",
		"since=" + cursor + "A": "since", "until=!": "until",
		"query=-a+" + strings.Repeat("x", 2000): "query: has more than 64 words or 2000 bytes", "query=%FF": "query",
		"query=a&query=b":        "query",
		"tags=" + list(17, "%d"): "tags",
		"attribute=":             "attribute: has an empty key", "attribute=:v": "attribute: has an empty key",
		strings.Repeat("attribute=k&", 17): "attribute: is given 17 times",
		"facets=":                          "facets", "facets=tag": "facets", "facets=tags,": "facets",
		"facets=attribute:": "facets", "facets=tags&facets=via": "facets: given more than once",
		"facets=" + list(9, "attribute:%d"): "facets: has 9", "from=": "from", "from=yesterday": "from",
		"from=2023-02-29": "from", "to=2024-01-01T24:00": "to", "to=2024-1-1": "to",
		"to=2024-01-01T00:00:00%2B24:00": "to", "from=0000-01-01": "from", "from=2024-01-01T00:00:00+02:00": "%2B",
		"from=2024-01-01&from=2024-01-01": "from: given more than once",
		"typos=":                          "typos", "typos=true": "typos", "typos=2": "typos", "in=": "in",
		"in=text,": "in", "in=title": "in", "in=text&in=text": "in: given more than once",
		"sort=": "sort", "sort=-createdAt": "sort: want added or createdAt",
		"sort=createdAt&since=" + cursor: "since: is the cursor of a search with another sort",
		"filed=":                         "filed: want none or any", "filed=some": "filed",
		"filed=none&filed=any": "filed: given more than once",
		"author=":              "author: is empty", "lang=": "lang: is empty", "link=": "link: is empty",
		"link=a/b": "link",
		"tagsAny=": "tagsAny: is empty", "tagsAny=,": "tagsAny: is empty",
		"tagsAny=" + list(17, "%d"):           "tagsAny: has 17",
		"notTags=" + list(17, "%d"):           "notTags: has 17",
		strings.Repeat("notGenerator=g&", 17): "notGenerator: is given 17",
		"facetLimit=0":                        "facetLimit: want 1 to 1000", "facetLimit=1001": "facetLimit",
		"facetLimit=":    "facetLimit",
		`facets=%22tags`: "facets: ", "notTag=x": "notTag: unknown",
		"foreignId=1":                         "foreignId: needs generator",
		"foreignId=&generator=g.example":      "foreignId: is empty",
		"foreignId=1&foreignId=2&generator=g": "foreignId: given more than once",
		"to=20240101":                         "to", "from=1700000000": "from",
	} {
		w.as(stranger, "GET", library+"/assets?"+query, "").want(400, word)
	}
	for _, query := range []string{
		"limit=500", "query=", "query=-a", "in=links", "query=" + strings.Repeat("x", 3000), "tags=", "notTags=",
		`tags=%22a,b%22,c&tags=d`, `tags=%22a&tags=%22a%22b`, `facets=%22attribute:a,b%22,tags&facetLimit=1000`,
		strings.Repeat("attribute=k:v&", 16),
		"facets=generator,tags,via,rights,folder,attribute,attribute:a:b",
		"from=2024-02-29&to=9999-12-31", "from=0001-01-01", "from=2024-01-01T00:00",
		"from=2024-01-01T00:00:00.123456789%2B23:59", "via=-9223372036854775808",
		"since=" + cursor + "&order=asc", "until=" + cursor + "&order=desc",
	} {
		w.as(stranger, "GET", library+"/assets?"+query, "").want(200)
	}
}

func TestFolderListsTakeRepeatsAndCommas(t *testing.T) {
	w := newAssetWorld(t)
	b := w.mustFolder(`{"label":"b"}`)
	a := w.mustFolder(`{"label":"A","permissions":[{"operation":"view","group":"urn:vitrine:example.test:site=1"}]}`)
	c := w.mustFolder(`{"label":"c","path":"/` + b + `"}`)
	for query, want := range map[string][]string{
		"?path=/," + "/" + b: {a, b, c}, "?path=/&path=/" + b: {a, b, c}, "?id=" + c + "," + a: {a, c},
		"?id=" + c + "&id=" + a + "&id=" + c: {a, c},
		"?id=" + c + "&path=/":               {}, "?path=none": {}, "?path=/&path=/" + b + "&limit=1&until=" + c: {b},
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
		"": "", "?limit=1": `<?limit=1&since=` + a + `>; rel="next"`, "?limit=1&since=" + a: "", "?limit=2": "",
		"?until=" + b:                   `<?since=` + a + `>; rel="next"`,
		"?limit=1&id=" + a + "&id=" + b: `<?id=` + a + `&id=` + b + `&limit=1&since=` + a + `>; rel="next"`,
	} {
		if link := w.as(editor, "GET", library+"/folders"+query, "").want(200).header.Get("Link"); link != want {
			t.Errorf("folders%s: Link %q, want %q", query, link, want)
		}
	}
	want := `{"folders":[{"id":"` + b + `","path":"/","label":"b","children":["` + c +
		`"],"inherit":true,"deleted":false}]}`
	if r := w.as(stranger, "GET", library+"/folders", "").want(200); r.body != want {
		t.Errorf("a member sees %s", r.body)
	}
	for query, word := range map[string]string{"?since=": "since", "?until=": "until", "?since=&until=": "since",
		"?until=&since=" + b: "until"} {
		w.as(stranger, "GET", library+"/folders"+query, "").want(400, word)
	}
	for _, query := range []string{"?since=none", "?until=" + a, "?since=" + b + "&until=" + b, "?limit=501",
		"?limit=0"} {
		w.as(stranger, "GET", library+"/folders"+query, "").want(400)
	}
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
		"query=": 200, "tags=": 200, "folder=": 404, "folderTree=": 404, "folder=&query=red": 404, "generator=": 400,
		"rights=": 400,
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
		{"GET", library + "/assets?via=x&limit=0", ""}, {"GET", library + "/attributes", ""},
		{"GET", library + "/folder/" + f, ""}, {"GET", absent + "/assets", ""},
		{"POST", library + "/assets", "{"}, {"POST", library + "/assets?unknown=1", "{}"},
		{"POST", library + "/attributes", "{}"},
		{"POST", library + "/folders", `{"update":[{}]}`},
		{"POST", library + "/folder/absent/assets", strings.Repeat(" ", 5<<20)},
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
		"/assets?tag=hot": "tag", "/assets?limit=1&Query=x": "Query", "/folders?ids=1": "ids",
		"/folders?limit=1&=x":         "",
		"/explain?folder=x&users=rea": "users",
		"/explain?%2Ffolder=x":        "/folder",
	} {
		r := w.as(stranger, "GET", library+path, "").want(400, "unknown query parameter")
		if name != "" {
			r.want(400, `"parameter":"`+name+`"`)
		}
	}
	w.as(stranger, "GET", library+"/assets?%zz=x", "").want(400, "malformed")
	w.as(stranger, "GET", library+"/attributes?key=a&more=x", "").want(200)
}
