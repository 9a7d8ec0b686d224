// Package upgrade makes the stores that package upgrade of later releases opens. It runs in the
// source tree of the first release: the file README.md beside these stores says how.
package upgrade

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/archive"
	"github.com/vitrine-go/vitrine/storage/postgres"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

const (
	network  = "first.test"
	urn      = "urn:vitrine:" + network
	other    = "urn:vitrine:other.test"
	manager  = "/services/frontline/api/v4/assetManager//"
	library  = manager + network + "/assetLibrary/" + network
	archived = manager + network + "/assetLibrary/archive"
	foreign  = manager + "other.test/assetLibrary/other.test"
)

// callers are who sends requests, by name.
var callers = map[string]httpapi.Principal{
	"editor":  {URN: urn + ":user=editor", Moderates: []string{urn}, Components: true},
	"founder": {URN: urn + ":user=owner", Moderates: []string{urn + ":site=blog"}}, // who is owner, and had rights once
	"owner":   {URN: urn + ":user=owner"},
	"blog":    {URN: urn + ":user=blog", Moderates: []string{urn + ":site=blog"}},
	"writer":  {URN: urn + ":user=writer", Roles: []string{"writer"}},
	"press":   {URN: urn + ":user=press", Groups: []string{urn + ":group=press"}},
	"member":  {URN: urn + ":user=member"},
	"other":   {URN: other + ":user=boss", Moderates: []string{other}},
}

// exchange is a request and its answer.
type exchange struct {
	As     string          `json:"as"`
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Key    string          `json:"key,omitempty"`
	Body   string          `json:"body,omitempty"`
	Status int             `json:"status"`
	Answer json.RawMessage `json:"answer,omitempty"`
}

// golden is what the first release answered.
type golden struct {
	Now     int64                        `json:"now"` // milliseconds since the epoch, after the last change
	Callers map[string]httpapi.Principal `json:"callers"`
	Repeats []exchange                   `json:"repeats"` // requests with a key that was kept, with their first answers
	Reads   []exchange                   `json:"reads"`
	Reviews []string                     `json:"reviews"` // lines of the export
}

type world struct {
	t       testing.TB
	handler http.Handler
	reviews *reviews.Service
	ids     int
	clock   int64
	repeats []exchange
}

func newWorld(t testing.TB, s archive.Stores) *world {
	w := &world{t: t, clock: 1_750_000_000_000, reviews: reviews.New(s.Reviews)}
	now := func() time.Time { return time.UnixMilli(w.clock) }
	var err error
	w.handler, err = httpapi.New(httpapi.Config{
		Apps: appsvc.New(s.Apps, &appsvc.Options{Now: now, NewID: func() string {
			w.ids++
			return fmt.Sprintf("%08x-1f1e-4d1c-8b1a-%012x", w.ids*0x9e3779b1&0xffffffff, w.ids)
		}}),
		Assets: assets.New(s.Assets, &assets.Options{Now: now, NewID: func() string {
			w.ids++
			return fmt.Sprintf("FIRSTRELEASE%014d", w.ids)
		}}),
		Reviews:      w.reviews,
		BaseURL:      "https://vitrine.first.test",
		Authenticate: func(_ context.Context, token string) (httpapi.Principal, error) { return callers[token], nil },
		Log:          slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) send(x exchange) (int, []byte) {
	in := httptest.NewRequest(x.Method, x.Path, strings.NewReader(x.Body))
	in.Header.Set("Authorization", "svctoken "+x.As)
	if x.Body != "" {
		in.Header.Set("Content-Type", "application/json")
	}
	if x.Key != "" {
		in.Header.Set("Idempotency-Key", x.Key)
	}
	out := httptest.NewRecorder()
	w.handler.ServeHTTP(out, in)
	return out.Code, out.Body.Bytes()
}

// do sends a request that must succeed, and decodes the answer.
func (w *world) do(as, method, path, key, body string) (out struct {
	ID      string
	Added   []struct{ ID string }
	Folders []struct{ ID string }
}) {
	w.t.Helper()
	w.clock += 61_007
	x := exchange{As: as, Method: method, Path: path, Key: key, Body: body}
	status, answer := w.send(x)
	if status >= 300 {
		w.t.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	if len(answer) > 0 {
		if err := json.Unmarshal(answer, &out); err != nil {
			w.t.Fatal(err)
		}
	}
	if key != "" {
		x.Status, x.Answer = status, bytes.Clone(answer)
		w.repeats = append(w.repeats, x)
	}
	return out
}

func (w *world) look(g *golden, as, path string) {
	w.t.Helper()
	x := exchange{As: as, Method: "GET", Path: path}
	status, answer := w.send(x)
	x.Status = status
	if status == 200 {
		x.Answer = bytes.Clone(answer)
	} else if status != 404 && status != 403 {
		w.t.Fatalf("%s GET %s: %d %s", as, path, status, answer)
	}
	g.Reads = append(g.Reads, x)
}

func component(name, version, more string) string {
	return fmt.Sprintf(`{"name":%q,"version":%q,"main":"https://cdn.first.test/%s-%s.js","description":"Version %s","x-owner":{"team":"é"},"configSchema":{"type":"object"%s}}`,
		name, version, name, version, version, more)
}

func element(name, version, config string) string {
	return fmt.Sprintf(`{"component":{"name":%q,"version":%q},"config":%s}`, name, version, config)
}

func app(title string, groups []string, elements ...string) string {
	list, _ := json.Marshal(groups)
	return fmt.Sprintf(`{"title":%q,"groups":%s,"elements":[%s]}`, title, list, strings.Join(elements, ","))
}

func patch(version int, ops ...string) string {
	return fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},%s]`, version, strings.Join(ops, ","))
}

func title(s string) string {
	return fmt.Sprintf(`{"op":"replace","path":"/apps/0/title","value":%q}`, s)
}

// text is n bytes that do not compress to nothing.
func text(seed, n int) string {
	var b strings.Builder
	for x := uint32(seed + 1); b.Len() < n; x = x*1664525 + 1013904223 {
		fmt.Fprintf(&b, "%x ", x>>8)
	}
	return b.String()[:n]
}

// fill puts every kind of row into an empty store, and returns what it answers afterwards.
func (w *world) fill() golden {
	apps := w.fillApps()
	folders, ids := w.fillAssets()
	w.fillReviews()
	g := golden{Now: w.clock, Callers: callers, Repeats: w.repeats}
	w.readApps(&g, apps)
	w.readAssets(&g, folders, ids)
	var out bytes.Buffer
	if err := w.reviews.Export(context.Background(), reviews.Caller{Operator: true}, &out); err != nil {
		w.t.Fatal(err)
	}
	g.Reviews = strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	return g
}

func (w *world) fillApps() []string {
	w.do("editor", "POST", "/components/", "", component("poll", "1.0.0", `,"required":["question"]`))
	w.do("editor", "POST", "/components/", "component", component("quiz", "1.0.0", `,"properties":{"rounds":{"type":"integer","default":3}}`))
	w.do("editor", "POST", "/components/", "", component("quiz", "1.10.0", ""))
	w.do("editor", "POST", "/components/", "", component("quiz", "1.9.0", ""))
	w.do("editor", "POST", "/components/", "", component("@first/odd name", "build 7", ""))
	w.do("editor", "POST", "/components/", "", component("doomed", "0.1.0", ""))
	w.do("editor", "POST", "/components/", "", component("doomed", "0.2.0", ""))
	blog, shop := urn+":site=blog", urn+":site=shop"

	// Small changes to one field: most versions are deltas.
	front := w.do("editor", "POST", "/apps/", "front", app("Front page", []string{blog, shop},
		element("poll", "1.0.0", `{"question":"Tea?","big":9007199254740993,"price":1.10}`), element("quiz", "1.0.0", `{"rounds":1}`), element("doomed", "0.1.0", `{}`))).ID
	for v := range 70 {
		ops := []string{title(fmt.Sprintf("Front page, state %d — é", v+1))}
		if v%7 == 3 {
			ops = append(ops, fmt.Sprintf(`{"op":"replace","path":"/apps/0/elements/1/config","value":{"rounds":%d,"note":%q}}`, v, text(v, 40+v*9)))
		}
		if v == 40 {
			ops = append(ops, `{"op":"add","path":"/apps/0/elements/-","value":`+element("@first/odd name", "build 7", `{"x":[]}`)+`}`)
		}
		as := []string{"editor", "blog"}[v%2]
		w.do(as, "PATCH", "/apps/"+front, "", patch(v, ops...))
	}
	w.do("editor", "POST", "/apps/versions/restore", "restore", fmt.Sprintf(`{"appId":%q,"appVersion":"5"}`, front))
	w.do("editor", "PATCH", "/apps/"+front, "", patch(71, title("after a restore")))

	// Bodies that share nothing: snapshots.
	big := w.do("founder", "POST", "/apps/", "", app("Archive", []string{blog}, element("quiz", "1.10.0", `{"text":"`+text(1000, 3000)+`"}`))).ID
	for v := range 12 {
		w.do("founder", "PATCH", "/apps/"+big, "", patch(v, fmt.Sprintf(`{"op":"replace","path":"/apps/0/elements/0/config/text","value":%q}`, text(2000+v*37, 3000))))
	}
	single := w.do("other", "POST", "/apps/", "", app("One version, no element", []string{other})).ID

	put := func(as, app, tag, key string, v int) {
		w.do(as, "PUT", "/apps/"+app+"/tags/"+tag, key, fmt.Sprintf(`{"appVersion":"%d"}`, v))
	}
	put("editor", front, "production", "", 3)
	put("editor", front, "production", "moved", 40)
	put("blog", front, "staging", "", 72)
	put("editor", front, "Pre-2025.1_x", "", 0)
	put("editor", front, "gone", "", 1)
	w.do("editor", "DELETE", "/apps/"+front+"/tags/gone", "deleted", "")
	put("owner", big, "production", "", 12)
	put("other", single, "production", "", 0)
	w.do("editor", "DELETE", "/components/doomed", "component-deleted", "")
	return []string{front, big, single}
}

func (w *world) fillAssets() (folders, ids []string) {
	folder := func(as, lib, body string) string {
		return w.do(as, "POST", lib+"/folders", "", `{"create":[`+body+`]}`).Folders[0].ID
	}
	news := folder("editor", library, `{"label":"News"}`)
	world := folder("editor", library, `{"label":"World","path":"/`+news+`"}`)
	press := folder("editor", library, fmt.Sprintf(`{"label":"Press","path":"/%s/%s","inherit":false,"permissions":[
		{"operation":"view","group":%q},{"operation":"edit","role":{"id":"writer","name":"Writers"}},{"operation":"manage","user":{"id":"member","name":"A member"}}]}`, news, world, urn+":group=press"))
	inner := folder("writer", library, fmt.Sprintf(`{"label":"Inner","path":"/%s/%s/%s"}`, news, world, press))
	closed := folder("editor", library, `{"label":"closed","inherit":false}`)
	trash := folder("editor", library, `{"label":"Trash","permissions":[{"operation":"view","role":{"id":"writer"}}]}`)
	below := folder("editor", library, `{"label":"Below the trash","path":"/`+trash+`"}`)
	changed := folder("editor", library, `{"label":"before"}`)
	w.do("editor", "POST", library+"/folders", "", fmt.Sprintf(`{"update":[{"id":%q,"label":"Ärger","path":"/%s"}]}`, changed, news))
	w.do("editor", "POST", library+"/folder/"+changed+"/permissions", "", `{"create":[{"operation":"edit","user":{"id":"`+urn+`:user=press"}},{"operation":"view","role":{"id":"reader"}}]}`)
	w.do("editor", "POST", library+"/folder/"+changed+"/permissions", "", `{"remove":[{"operation":"view","role":{"id":"reader"}}]}`)

	add := func(as, lib string, items ...string) {
		for _, a := range w.do(as, "POST", lib+"/assets", "", `{"add":[`+strings.Join(items, ",")+`]}`).Added {
			ids = append(ids, lib+"/asset/"+a.ID)
		}
	}
	item := func(id, generator, content, more string) string {
		return fmt.Sprintf(`{"id":%q,"generator":{"id":%q},"content":%s%s}`, id, generator, content, more)
	}
	in := func(folders ...string) string {
		list, _ := json.Marshal(folders)
		return `,"folders":` + string(list)
	}
	rich := `{"content":"<p>Caf\u00e9 &amp; <b>harbour</b></p>","big":9007199254740993,"dec":1.10,"attachment":[{"version":"1.0","type":"photo","url":{"href":"https://x.first.test/?a=1&b=2"},"provider_url":"http://p.first.test"},
		{"type":"rich","version":"1.0","provider_url":{"href":"http://p.first.test"},"width":12345678901234567890}],"attributedTo":{"id":"u","username":"nick","displayName":"Nick Name","url":{"href":"https://n.first.test"}},"socialnet":{"retweets":3}}`
	add("editor", library, item("1", "feed", rich, in(news)+`,"safe_tags":["sea","harbour"],"via":1,"rights":-2`), item("2", "feed", `{"content":"plain harbour"}`, ""), item("gone", "feed", `{"content":"removed soon"}`, in(news)))
	add("writer", library, item("3", "desk", `{"content":"secret of the press"}`, in(press)+`,"safe_tags":["sea"]`), item("4", "desk", `{"content":"inner harbour"}`, in(inner, press)))
	add("editor", library, item("5", "desk", `{"content":"in a deleted folder"}`, in(trash)), item("6", "desk", `{"content":"below a deleted folder, and in the news"}`, in(below, news)),
		item("7", "desk", `{"content":"closed 東京 #tag @name a_b"}`, in(closed)), item("8", "desk", `{"content":"without a folder now"}`, in(changed)))
	for i := range 30 {
		add("editor", library, item(fmt.Sprint("many ", i), "crawler", fmt.Sprintf(`{"content":"number %d of many, %s"}`, i, text(5000+i, 60)), fmt.Sprintf(`,"safe_tags":["t%d"],"via":%d%s`, i%3, i%2, in([]string{news, world, changed}[i%3]))))
	}
	add("editor", library, item("2", "feed", `{"content":"replaced harbour"}`, in(world)+`,"rights":7`))
	id := func(i int) string { return ids[i][strings.LastIndex(ids[i], "/")+1:] }
	w.do("editor", "POST", library+"/assets", "", `{"remove":["`+id(2)+`"]}`)
	w.do("editor", "POST", library+"/folder/"+closed+"/assets", "", fmt.Sprintf(`{"assign":[%q,%q]}`, id(0), id(1)))
	w.do("editor", "POST", library+"/folder/"+changed+"/assets", "", fmt.Sprintf(`{"remove":[%q]}`, id(8)))
	w.do("editor", "POST", library+"/attributes", "", fmt.Sprintf(`{"assets":[%q,%q,%q],"add":[{"key":"color","value":"amber"},{"key":"color","value":"blue"},{"key":"k:é","value":""}]}`, id(0), id(1), id(3)))
	w.do("editor", "POST", library+"/attributes", "", fmt.Sprintf(`{"assets":[%q],"set":[{"key":"color","value":"green"}],"remove":[{"key":"k:é","value":""}]}`, id(1)))
	w.do("editor", "POST", library+"/folders", "", `{"delete":["`+trash+`"]}`)

	shelf := folder("editor", archived, `{"label":"Shelf"}`)
	add("editor", archived, item("1", "feed", `{"content":"the same id in another library"}`, in(shelf)))
	add("other", foreign, item("1", "feed", `{"content":"another network"}`, ""))
	for _, f := range []string{news, world, press, inner, closed, trash, below, changed} {
		folders = append(folders, library+"/folder/"+f)
	}
	return append(folders, archived+"/folder/"+shelf), ids
}

func (w *world) fillReviews() {
	review := func(id, author, more string, ratings string) string {
		return fmt.Sprintf(`{"id":%q,%s,"title":"Title of %s — é","body_html":"<p>Text of <a href=\"https://x.first.test/?a=1&amp;b=2\">%s</a>.</p>","created":"2019-02-03T04:05:06.789+02:00","ratings":[%s]%s}`, id, author, id, id, ratings, more)
	}
	collection := func(source, id, dimensions string, reviews ...string) string {
		return fmt.Sprintf(`{"source":%q,"title":"Article %s","created":"2019-01-01T00:00:00Z","id":%q,"dimensions":%s,"reviews":[%s]}`+"\n", source, id, id, dimensions, strings.Join(reviews, ","))
	}
	named := `"imported_display_name":"Visitor","imported_email":"visitor@first.test","imported_url":"https://visitor.first.test"`
	files := []string{
		collection("one.first.test", "YQ==", `["default"]`, review("1", `"author_id":"a-1"`, "", "80"), review("2", named, `,"parent_id":"1","subparts":{"pro":"fast","con":"","é":"ü"}`, "20"),
			review("3", `"imported_display_name":"Another"`, `,"parent_id":"2"`, "100")) +
			collection("one.first.test", "Yg==", `["look","feel","price"]`, review("1", named, "", "1,50,100"), review("2", `"author_id":"a-1"`, `,"subparts":{}`, "33,34,35")) +
			collection("two.first.test", "YQ==", `["default"]`, review("1", `"imported_display_name":"n","imported_email":null,"imported_url":""`, "", "7")),
		collection("one.first.test", "YQ==", `["default"]`, review("3", `"imported_display_name":"Another"`, "", "99"), review("4", `"author_id":"a-2"`, "", "60")) +
			collection("two.first.test", "_-8", `["default"]`, review("only", `"author_id":"a-3"`, "", "10")),
	}
	for _, file := range files {
		report, err := w.reviews.Import(context.Background(), reviews.Caller{Operator: true}, strings.NewReader(file), nil)
		if err != nil || report.Errors > 0 {
			w.t.Fatal(report, err)
		}
	}
}

func (w *world) readApps(g *golden, apps []string) {
	for _, as := range []string{"editor", "owner", "other", "member"} {
		w.look(g, as, "/apps/?sort=createdAt&limit=500")
		for _, id := range apps {
			w.look(g, as, "/apps/"+id)
			w.look(g, as, "/apps/"+id+"/tags/")
		}
		w.look(g, as, "/tags/production?appId="+strings.Join(apps, "&appId="))
	}
	w.look(g, "editor", "/apps/?usingComponent=quiz")
	w.look(g, "editor", "/apps/?usingComponent=doomed")
	for v := range 73 {
		w.look(g, "editor", fmt.Sprintf("/apps/%s/versions/%d", apps[0], v))
	}
	for v := range 13 {
		w.look(g, "owner", fmt.Sprintf("/apps/%s/versions/%d", apps[1], v))
	}
	w.look(g, "editor", "/apps/"+apps[0]+"/tagged/production")
	w.look(g, "editor", "/apps/"+apps[0]+"/tagged/gone")
	w.look(g, "editor", "/apps/"+apps[0]+"/tagged/Pre-2025.1_x")
	for _, name := range []string{"", "poll", "quiz", "%40first%2Fodd%20name", "doomed"} {
		w.look(g, "member", "/components/"+name)
	}
}

func (w *world) readAssets(g *golden, folders, ids []string) {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for _, as := range []string{"editor", "writer", "press", "member"} {
		w.look(g, as, library+"/folders?limit=500")
		for _, f := range folders {
			w.look(g, as, f)
			w.look(g, as, f+"/permissions")
			lib, id, _ := strings.Cut(f, "/folder/")
			w.look(g, as, lib+"/assets?order=asc&limit=500&folder="+id)
		}
		for _, id := range ids {
			w.look(g, as, id)
		}
		for _, q := range []string{"", "&query=harbour", "&query=cafe", "&query=" + "%E6%9D%B1", "&tags=sea", "&generator=crawler&tags=t1", "&via=1", "&rights=-2", "&rights=7"} {
			w.look(g, as, library+"/assets?limit=500"+q)
		}
		for _, key := range []string{"color", "k%3A%C3%A9", "none"} {
			w.look(g, as, library+"/attributes?key="+key)
		}
	}
	w.look(g, "editor", archived+"/assets")
	w.look(g, "other", foreign+"/assets")
}

func TestMake(t *testing.T) {
	dir := os.Getenv("VITRINE_FIXTURES")
	if dir == "" {
		t.Skip("VITRINE_FIXTURES names no directory to put the stores into")
	}
	ctx := context.Background()
	write := func(name string, content []byte) {
		t.Helper()
		var out bytes.Buffer
		z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		z.Write(content)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".gz"), out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes, %d compressed", name, len(content), out.Len())
	}

	path := filepath.Join(t.TempDir(), "first.db")
	db, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	stores := archive.Stores{Apps: db.Apps(), Assets: db.Assets(), Reviews: db.Reviews()}
	inFile := newWorld(t, stores).fill()
	var exported bytes.Buffer
	if _, err := archive.Export(ctx, stores, &exported); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write("first.db", content)
	write("first.archive", exported.Bytes())

	c := cluster.Shared(t)
	url := c.Database(t)
	pg, err := postgres.Open(ctx, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	stores = archive.Stores{Apps: pg.Apps(), Assets: pg.Assets(), Reviews: pg.Reviews()}
	inServer := newWorld(t, stores).fill()
	var again bytes.Buffer
	if _, err := archive.Export(ctx, stores, &again); err != nil {
		t.Fatal(err)
	}
	if err := pg.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(exported.Bytes(), again.Bytes()) {
		t.Error("the two stores do not hold the same")
	}
	dump := c.Command("pg_dump", "--inserts", "--no-owner", "--no-privileges", "--dbname="+url)
	dump.Stderr = os.Stderr
	sql, err := dump.Output()
	if err != nil {
		t.Fatal(err)
	}
	// Lines that begin with a backslash are for psql alone.
	lines := slices.DeleteFunc(strings.SplitAfter(string(sql), "\n"), func(l string) bool { return strings.HasPrefix(l, `\`) })
	write("first.sql", []byte(strings.Join(lines, "")))

	text, err := json.Marshal(inFile)
	if err != nil {
		t.Fatal(err)
	}
	textAgain, err := json.Marshal(inServer)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, textAgain) {
		t.Error("the two stores do not answer the same")
	}
	write("first.json", text)
}
