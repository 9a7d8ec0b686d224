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

func TestSearchParametersAreParsed(t *testing.T) {
	w := newAssetWorld(t)
	w.mustAsset("1", "x")
	var page struct{ Paging struct{ Next, Prev string } }
	w.as(editor, "GET", library+"/assets", "").want(200).read(&page)
	cursor := page.Paging.Next
	const wantLimit = `{"error":"limit: want 1 to 500","code":"invalid"`
	for query, word := range map[string]string{
		"limit=0": wantLimit, "limit=501": wantLimit, "limit=1e3": wantLimit, "limit=": wantLimit, "limit=1&limit=1": "limit: given more than once",
		"via=x": "via", "via=1.0": "via", "via=": "via", "rights=1e3": "rights", "rights=9223372036854775808": "rights",
		"order=up": "order", "order=": "order", "since=": "since: is empty", "until=": "until: is empty", "since": "since: is empty", "since=&until=": "since: is empty",
		"since=" + cursor + "&until=": "until: is empty", "since=&order=desc": "since: is empty", "since=" + cursor + "&until=" + cursor: "until",
		"since=" + cursor + "&order=desc": "since", "until=" + cursor + "&order=asc": "until", "since=" + cursor + "A": "since", "until=!": "until",
		"query=" + strings.Repeat("x", 513): "query", "query=%FF": "query", "query=a&query=b": "query", "tags=" + list(17, "%d"): "tags",
		"attribute=": "attribute: has an empty key", "attribute=:v": "attribute: has an empty key", strings.Repeat("attribute=k&", 17): "attribute: is given 17 times",
		"facets=": "facets", "facets=tag": "facets", "facets=tags,": "facets", "facets=attribute:": "facets", "facets=tags&facets=via": "facets: given more than once",
		"facets=" + list(9, "attribute:%d"): "facets: has 9", "from=": "from", "from=yesterday": "from", "from=2023-02-29": "from", "to=2024-01-01T24:00": "to", "to=2024-1-1": "to",
		"to=2024-01-01T00:00:00%2B24:00": "to", "from=0000-01-01": "from", "from=2024-01-01T00:00:00+02:00": "%2B", "from=2024-01-01&from=2024-01-01": "from: given more than once",
		"to=20240101": "to", "from=1700000000": "from",
	} {
		w.as(stranger, "GET", library+"/assets?"+query, "").want(400, word)
	}
	for _, query := range []string{
		"limit=500", "query=", "tags=", strings.Repeat("attribute=k:v&", 16), "facets=generator,tags,via,rights,folder,attribute,attribute:a:b",
		"from=2024-02-29&to=9999-12-31", "from=0001-01-01", "from=2024-01-01T00:00", "from=2024-01-01T00:00:00.123456789%2B23:59", "via=-9223372036854775808",
		"since=" + cursor + "&order=asc", "until=" + cursor + "&order=desc",
	} {
		w.as(stranger, "GET", library+"/assets?"+query, "").want(200)
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
	w.as(editor, "GET", library+"/attributes", "").want(400, `{"error":"key: the parameter is missing`)
	w.as(editor, "GET", library+"/attributes?key=", "").want(400, `{"error":"key: must not be empty`)
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
