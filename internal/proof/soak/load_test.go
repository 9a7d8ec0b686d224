//go:build proof

package soak

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// kinds are what goes on at the same time.
var kinds = []kind{
	{"patches", (*world).patches},
	{"tags", (*world).tags},
	{"reads", (*world).reads},
	{"changes of assets", (*world).assets},
	{"searches", (*world).searches},
	{"imports", (*world).imports},
	{"exports", (*world).exports},
	{"followers", (*world).followers},
	{"slow clients", (*world).slow},
	{"refusals", (*world).refusals},
	{"backups", (*world).backup},
}

const (
	patchedApps = 8  // the first of the apps
	taggedApp   = 8  // the next one
	manyAssets  = 60 // that stay in the library
)

// prepare fills the store with what the load works on.
func (w *world) prepare() {
	w.t.Helper()
	w.send("POST", "/components/",
		`{"name":"map","version":"1.0.0","main":"https://cdn.example.test/map.js",`+
			`"configSchema":{"properties":{"zoom":{"default":3}}}}`, 201)
	for i := range patchedApps + 1 {
		var made struct{ ID string }
		w.read(w.send("POST", "/apps/",
			fmt.Sprintf(`{"title":"app %d","groups":[%q],"elements":[{"component":{"name":"map","version":"1.0.0"},`+
				`"config":{"text":%q}}]}`, i, network, strings.Repeat("0123456789", 500)), 201), &made)
		w.apps = append(w.apps, app{id: made.ID})
	}
	w.send("POST", library+"/assets",
		`{"add":[`+list(manyAssets, func(i int) string { return asset(fmt.Sprint("kept", i)) })+`]}`, 200)
	w.imports(0)
	if w.t.Failed() {
		w.t.FailNow()
	}
}

func list(n int, item func(int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = item(i)
	}
	return strings.Join(all, ",")
}

func asset(id string) string {
	return fmt.Sprintf(`{"id":%q,"generator":{"id":"blog.example"},"content":{"content":"a queue outside the `+
		`harbour, worth the wait %s"},"safe_tags":["harbour"]}`, id, id)
}

// patches patches apps, each with one client, and restores one.
func (w *world) patches(round int) {
	var all sync.WaitGroup
	for i := range patchedApps {
		all.Go(func() {
			a := &w.apps[i]
			for n := range 25 {
				w.send("PATCH", "/apps/"+a.id,
					fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace",`+
						`"path":"/apps/0/title","value":"round %d, %d"},`+
						`{"op":"add","path":"/apps/0/elements/0/config/n","value":%[3]d}]`, a.version, round, n), 200)
				a.version++
			}
			w.send("POST", "/apps/versions/restore", fmt.Sprintf(`{"appId":%q,"appVersion":"%d"}`, a.id, a.version-3),
				201, "Idempotency-Key", fmt.Sprintf("restore-%s-%d", a.id, a.version))
			a.version++
		})
	}
	all.Wait()
}

// tags sets and deletes tags of an app, each request twice under one idempotency key.
func (w *world) tags(round int) {
	path := "/apps/" + w.apps[taggedApp].id + "/tags/"
	for n := range 10 {
		key := fmt.Sprintf("%d-%d-%d", round, n, time.Now().UnixNano())
		for range 2 {
			w.send("PUT", path+"t"+strconv.Itoa(n), `{"appVersion":"0"}`, 201, "Idempotency-Key", key)
		}
		w.send("DELETE", path+"t"+strconv.Itoa(n), "", 204)
	}
}

// reads reads apps in every way.
func (w *world) reads(int) {
	id := w.apps[0].id
	for _, path := range []string{"/apps/" + id, "/apps/" + id + "?withDefaults=true", "/apps/", "/apps/?limit=3",
		"/apps/" + id + "/versions/?limit=5", "/apps/" + id + "/history/?limit=20",
		"/apps/" + id + "/versions/0", "/apps/" + id + "/versions/0/diff/1", "/apps/" + w.apps[taggedApp].id + "/tags/",
		"/components/", "/components/map", "/x/me", "/openapi.json", "/cors.html", "/healthz"} {
		for range 5 {
			w.get(path, 200)
			w.send("GET", path, "", 200, "Accept-Encoding", "gzip")
		}
	}
}

// assets adds assets to the library, labels them and removes them.
func (w *world) assets(round int) {
	var made struct{ Added []struct{ ID string } }
	w.read(w.send("POST", library+"/assets",
		`{"add":[`+list(20, func(i int) string { return asset(fmt.Sprintf("new%d-%d", round, i)) })+`]}`, 200), &made)
	ids := list(len(made.Added), func(i int) string { return strconv.Quote(made.Added[i].ID) })
	w.send("POST", library+"/attributes", fmt.Sprintf(`{"assets":[%s],"add":[{"key":"colour","value":"blue"}]}`, ids),
		200)
	w.send("POST", library+"/assets", fmt.Sprintf(`{"remove":[%s]}`, ids), 200)
}

// searches searches the library.
func (w *world) searches(round int) {
	for _, query := range []string{"query=queue", "query=harb*&facets=generator", "query=queue+wait&limit=5",
		"attribute=colour:blue", "tags=harbour&order=asc", fmt.Sprintf("query=kept%d", round%manyAssets), "limit=500"} {
		for range 3 {
			w.get(library+"/assets?"+query, 200)
		}
	}
	w.get(library+"/folders", 200)
	w.get(library+"/attributes?key=colour", 200)
}

// reviews is a file of two collections, the second one with a line that needs a temporary file.
func reviews(round int) string {
	collection := func(id string, reviews, size int) string {
		return fmt.Sprintf(`{"source":"https://old.example.test","title":"T","created":"2020-01-02T03:04:05Z",`+
			`"id":%q,"dimensions":["default"],"reviews":[`, id) +
			list(reviews, func(i int) string {
				return fmt.Sprintf(`{"id":"r%d","imported_display_name":"N","title":"round %d",`+
					`"body_html":"<p>%s</p>","created":"2020-01-02T03:04:05Z","ratings":[50]}`, i, round,
					strings.Repeat("text ", size/5))
			}) + "]}\n"
	}
	return collection("YQ==", 50, 100) + collection("Yg==", 40, 50<<10)
}

// imports imports reviews, as they are and compressed, and a file that breaks off.
func (w *world) imports(round int) {
	file := reviews(round)
	w.send("POST", "/x/reviews/import", file, 200, "Content-Type", "application/x-ndjson")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, file)
	_ = z.Close()
	w.send("POST", "/x/reviews/import?dryRun=true", packed.String(), 200, "Content-Type", "application/x-ndjson",
		"Content-Encoding", "gzip")
	w.abandon(fmt.Sprintf("POST /x/reviews/import HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: "+
		"application/x-ndjson\r\nContent-Length: %d\r\n\r\n%s", w.token("editor"), 2*len(file), file[:len(file)/2]), 0)
}

// exports exports the reviews, and lets an export go in the middle.
func (w *world) exports(int) {
	w.get("/x/reviews/export", 200)
	w.get("/x/reviews/collections?network=example.test", 200)
	w.abandon(fmt.Sprintf("GET /x/reviews/export HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n",
		w.token("editor")), 1)
}

// followers follow the feeds from their beginnings, as streams and in pages.
func (w *world) followers(int) {
	var all sync.WaitGroup
	for i := range 4 {
		for feed, events := range map[string]int{"/x/changes": 20, library + "/changes": 3} {
			all.Go(func() { w.follow(feed, "follower"+strconv.Itoa(i), events) })
			all.Go(func() { w.get(feed+"?limit=50", 200) })
		}
	}
	all.Wait()
}

// follow reads so many events of a stream, or as many as come within a comment, and leaves.
func (w *world) follow(path, user string, events int) {
	r, err := http.NewRequest("GET", w.URL+path, nil)
	if err != nil {
		w.t.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+w.token(user))
	r.Header.Set("Accept", "text/event-stream")
	answer, err := w.client.Do(r)
	if err != nil {
		w.t.Errorf("stream %s: %v", path, err)
		return
	}
	defer answer.Body.Close()
	if answer.StatusCode != 200 {
		w.t.Errorf("stream %s: %s", path, answer.Status)
	}
	in := bufio.NewReader(answer.Body)
	for met := 0; met < events; {
		line, err := in.ReadString('\n')
		if err != nil {
			w.t.Errorf("stream %s: %v", path, err)
			return
		}
		if strings.HasPrefix(line, "data: ") {
			met++
		}
		if strings.HasPrefix(line, ":") {
			return
		}
	}
}

// slow are clients that never end their headers, that do not send what they announce, that take nothing, and that say
// nothing at all.
func (w *world) slow(int) {
	authorization := "Authorization: Bearer " + w.token("slow") + "\r\n"
	for _, text := range []string{
		"",
		"GET /apps/ HTTP/1.1\r\nHost: x\r\nX: ",
		"POST /apps/ HTTP/1.1\r\nHost: x\r\n" + authorization +
			"Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{",
		"GET /apps/" + w.apps[1].id + "/versions/?limit=500 HTTP/1.1\r\nHost: x\r\n" + authorization + "\r\n",
		"GET /x/changes HTTP/1.1\r\nHost: x\r\n" + authorization + "Accept: text/event-stream\r\n\r\n",
		"GET /apps/ HTTP/1.1\r\nHost: x\r\n" + authorization + "\r\nGET /apps/ HTTP/1.1\r\nHost: x\r\n" +
			authorization + "\r\n",
	} {
		w.abandon(text, 0)
	}
}

// abandon sends a text over a connection of its own, reads some bytes of what comes, and closes the connection.
func (w *world) abandon(text string, read int) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
	if err != nil {
		w.t.Error(err)
		return
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(conn, text) // the server may have refused it before its end
	if read == 0 {
		time.Sleep(50 * time.Millisecond) // it stays for a moment
		return
	}
	if _, err := io.ReadFull(conn, make([]byte, read)); err != nil {
		w.t.Errorf("%.40q: %v", text, err)
	}
}

// refusals are requests that are refused.
func (w *world) refusals(int) {
	for range 5 {
		w.send("GET", "/apps/", "", 401, "Authorization", "Bearer junk")
		w.get("/apps/none", 404)
		w.get("/none", 404)
		w.send("POST", "/apps/", `{"title":1}`, 400)
		w.send("DELETE", "/apps/", "", 405)
		w.send("POST", "/apps/", `{"title":"`+strings.Repeat("x", 5<<20)+`"}`, 413)
		w.send("PATCH", "/apps/"+w.apps[taggedApp].id,
			`[{"op":"test","path":"/apps/0/version","value":"7"},{"op":"replace","path":"/apps/0/title","value":"x"}]`,
			409)
	}
}

// backup copies the store while the server writes.
func (w *world) backup(round int) {
	out := w.path(fmt.Sprint("copy", round, ".db"))
	if said, err := exec.Command(w.binary, "backup", "-db", w.db(), out).CombinedOutput(); err != nil {
		w.t.Errorf("backup: %v\n%s", err, said)
	}
	if err := os.Remove(out); err != nil {
		w.t.Error(err)
	}
}
