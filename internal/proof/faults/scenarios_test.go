//go:build proof

package faults

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// request is one request to the service.
type request struct {
	name   string
	method string
	path   string
	body   string
	key    string // Idempotency-Key
	status int    // when nothing fails
}

const (
	poll = `{"name":"poll","version":"1.0.0","main":"https://example.test/poll.js","configSchema":{"type":"object",` +
		`"required":["question"]}}`
	quiz = `{"name":"quiz","version":"%s","main":"https://example.test/quiz.js",` +
		`"configSchema":{"properties":{"rounds":{"type":"integer"}}}}`
)

func post(path, body string) request { return request{method: "POST", path: path, body: body} }

func newApp(title string) string {
	return `{"title":"` + title + `","groups":["` + urn + `:site=1"],"elements":[` +
		`{"component":{"name":"poll","version":"1.0.0"},"config":{"question":"Tea?"}},` +
		`{"component":{"name":"quiz","version":"1.0.0"},"config":{"rounds":3}}]}`
}

func patch(app string, version int, title string) request {
	return request{method: "PATCH", path: "/apps/" + app,
		body: fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},`+
			`{"op":"replace","path":"/apps/0/title","value":"%s"},{"op":"replace",`+
			`"path":"/apps/0/elements/1/config","value":{"rounds":%d}}]`, version, title, version)}
}

func collection(id string, score int) string {
	var list []string
	for i := range 3 {
		list = append(list,
			fmt.Sprintf(`{"id":"%d","imported_display_name":"Visitor","title":"Title","body_html":"<p>Text %d.</p>",`+
				`"created":"2019-02-03T04:05:06Z","ratings":[%d]}`, i, i*score, score))
	}
	return `{"source":"import.test","title":"Article","created":"2019-01-01T00:00:00Z","id":"` + id +
		`","dimensions":["default"],"reviews":[` + strings.Join(list, ",") + "]}\n"
}

func newAsset(id, text string, folders ...string) string {
	list := ""
	if len(folders) > 0 {
		list = `"` + strings.Join(folders, `","`) + `"`
	}
	return fmt.Sprintf(`{"id":"%s","generator":{"id":"g"},"content":{"content":"%s"},"folders":[%s],"safe_tags":["t"]}`,
		id, text, list)
}

// fill puts something of everything into an empty store.
func fill(w *world) names {
	var n names
	w.must(201, post("/components/", poll))
	w.must(201, post("/components/", fmt.Sprintf(quiz, "1.0.0")))
	w.must(201, post("/components/", fmt.Sprintf(quiz, "1.1.0")))
	n.app = w.must(201, post("/apps/", newApp("first"))).ID
	n.other = w.must(201, post("/apps/", newApp("second"))).ID
	for v := range 4 {
		w.must(200, patch(n.app, v, fmt.Sprint("title ", v)))
	}
	w.must(201, request{method: "PUT", path: "/apps/" + n.app + "/tags/production", body: `{"appVersion":"1"}`})
	w.must(201, request{method: "PUT", path: "/apps/" + n.app + "/tags/staging", body: `{"appVersion":"4"}`})
	folders := w.must(200,
		post(library+"/folders",
			`{"create":[{"label":"A","permissions":[{"operation":"edit","role":{"id":"writer"}}]},`+
				`{"label":"B"}]}`)).Folders
	n.folder, n.deleted = folders[0].ID, folders[1].ID
	n.inner = w.must(200, post(library+"/folders", `{"create":[{"label":"C","path":"/`+n.folder+`"}]}`)).Folders[0].ID
	added := w.must(200,
		post(library+"/assets",
			`{"add":[`+newAsset("1", "red café", n.folder)+","+newAsset("2", "red", n.inner)+","+newAsset("3", "blue")+
				"]}")).Added
	n.asset, n.second = added[0].ID, added[1].ID
	w.must(200, post(library+"/attributes", `{"assets":["`+n.asset+`"],"add":[{"key":"color","value":"amber"}]}`))
	w.must(200, post(library+"/folders", `{"delete":["`+n.deleted+`"]}`))
	w.must(200, post("/x/reviews/import", collection("YQ==", 80)+collection("Yg==", 60)))
	return n
}

// scenarios are the changes that the service knows, each of them one request.
func scenarios(n names) []request {
	library := func(name, path, body string) request { return request{name, "POST", library + path, body, "", 200} }
	return []request{
		{"create an app", "POST", "/apps/", newApp("third"), "key", 201},
		{"patch", "PATCH", "/apps/" + n.app, patch(n.app, 4, "patched").body, "", 200},
		{"restore", "POST", "/apps/versions/restore", `{"appId":"` + n.app + `","appVersion":"0"}`, "", 201},
		{"put a tag", "PUT", "/apps/" + n.app + "/tags/new", `{"appVersion":"2"}`, "", 201},
		{"move a tag", "PUT", "/apps/" + n.app + "/tags/production", `{"appVersion":"3"}`, "key", 201},
		{"delete a tag", "DELETE", "/apps/" + n.app + "/tags/production", "", "", 204},
		{"add a component", "POST", "/components/", fmt.Sprintf(quiz, "2.0.0"), "", 201},
		{"delete a component", "DELETE", "/components/quiz", "", "", 204},
		library("create folders", "/folders",
			`{"create":[{"label":"D","path":"/`+n.folder+
				`","permissions":[{"operation":"view","role":{"id":"r"}}]},{"label":"E"}]}`),
		library("move a folder", "/folders", `{"update":[{"id":"`+n.inner+`","path":"/","label":"moved"}]}`),
		library("delete a folder", "/folders", `{"delete":["`+n.folder+`"]}`),
		library("restore a folder", "/folders", `{"update":[{"id":"`+n.deleted+`","deleted":false}]}`),
		library("change permissions", "/folder/"+n.folder+"/permissions",
			`{"create":[{"operation":"manage","role":{"id":"boss"}}],"remove":[{"operation":"edit",`+
				`"role":{"id":"writer"}}]}`),
		library("add assets", "/assets",
			`{"add":[`+newAsset("4", "red red café", n.folder, n.inner)+","+newAsset("5", "green")+"]}"),
		library("update an asset", "/assets", `{"add":[`+newAsset("1", "now cafe alone", n.folder, n.inner)+"]}"),
		library("remove assets", "/assets", `{"remove":["`+n.asset+`","`+n.second+`"]}`),
		library("assign assets", "/folder/"+n.folder+"/assets", `{"assign":["`+n.second+`"],"remove":["`+n.asset+`"]}`),
		library("change attributes", "/attributes",
			`{"assets":["`+n.asset+`","`+n.second+
				`"],"set":[{"key":"color","value":"blue"}],"add":[{"key":"size","value":"1"}]}`),
		{"import reviews", "POST", "/x/reviews/import",
			collection("YQ==", 81) + collection("Yg==", 60) + collection("Yw==", 40), "", 200},
	}
}

// chosen are all of them, and in the shortest form a few, other ones each time.
func chosen(n names) []request {
	list := scenarios(n)
	if !testing.Short() {
		return list
	}
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:4]
}
