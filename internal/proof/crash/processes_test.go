//go:build proof

package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/cluster"
)

// house is a fleet of which each process must answer what any of them has acknowledged.
type house struct {
	*testing.T
	*fleet
	editor, reader *client
	writes         int                          // so far; each goes through the next process
	etags          map[string][processes]string // by path, what each process has given last
}

func TestAWriteOfOneProcessIsSeenByTheOthers(t *testing.T) {
	binary := build(t)
	for _, store := range []struct {
		name string
		open func(t *testing.T) string
	}{
		{"SQLite", func(t *testing.T) string { return filepath.Join(t.TempDir(), "one.db") }},
		{"PostgreSQL", func(t *testing.T) string { return cluster.Schema(t) }},
	} {
		t.Run(store.name, func(t *testing.T) {
			h := &house{T: t, fleet: newFleet(t, binary, store.open(t)), etags: map[string][processes]string{}}
			var err error
			if h.editor, err = h.client(urn+":user=editor", true); err != nil {
				t.Fatal(err)
			}
			if h.reader, err = h.client(urn+":user=reader", false); err != nil {
				t.Fatal(err)
			}
			h.apps()
			h.components()
			h.assets()
			h.folders()
			h.reviews()
		})
	}
}

// rounds is how often each thing is written: by each process, and without -short twice by each.
func rounds() int {
	if testing.Short() {
		return processes
	}
	return 2 * processes
}

// write sends a request through the next process, and decodes its answer.
func (h *house) write(method, path, key string, body any, want int, out any) {
	h.Helper()
	h.writes++
	text, _, err := h.editor.send(h.writes%processes,
		Request{Method: method, Path: path, Key: key, Body: body, Want: want}, nil)
	if err == nil && out != nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		h.Fatal(err)
	}
}

// sees reads through each process. All must answer the same, with the text has. What has an ETag must not be sent to
// who knows it, and must have another one than when it was read before, but for an asset: its folders do not change it.
func (h *house) sees(who *client, path, has string) {
	h.Helper()
	before := h.etags[path]
	var first []byte
	for i := range processes {
		known := http.Header{}
		if before[i] != "" && !strings.Contains(path, "/asset/") {
			known.Set("If-None-Match", before[i])
		}
		text, header, err := who.send(i, Request{Method: "GET", Path: path, Want: http.StatusOK}, known)
		if err != nil {
			h.Fatal(err)
		}
		if first == nil {
			first = text
		}
		if !bytes.Equal(text, first) || !bytes.Contains(text, []byte(has)) {
			h.Errorf("write %d, through process %d: process %d answers GET %s with %s, want %s, and what process 0 "+
				"answers: %s",
				h.writes, h.writes%processes, i, path, text, has, first)
		}
		before[i] = header.Get("ETag")
		if before[i] == "" {
			continue
		}
		same := http.Header{"If-None-Match": {before[i]}}
		if _, _, err := who.send(i, Request{Method: "GET", Path: path, Want: http.StatusNotModified},
			same); err != nil || before[i] != before[0] {
			h.Errorf("process %d gives %s the ETag %s, process 0 %s: %v", i, path, before[i], before[0], err)
		}
	}
	h.etags[path] = before
}

// hidden asks each process for what is not to be seen.
func (h *house) hidden(who *client, path string) {
	h.Helper()
	for i := range processes {
		if _, _, err := who.send(i, Request{Method: "GET", Path: path, Want: http.StatusNotFound}, nil); err != nil {
			h.Error(err)
		}
	}
}

func (h *house) apps() {
	for i := range rounds() {
		var made struct{ ID string }
		body := map[string]any{"title": fmt.Sprintf("made %d", i), "groups": []string{urn}}
		key := fmt.Sprintf("key-%d", i)
		h.write("POST", "/apps/", key, body, http.StatusCreated, &made)
		id := made.ID
		for range processes { // each knows the answer that one has given
			if h.write("POST", "/apps/", key, body, http.StatusCreated, &made); made.ID != id {
				h.Errorf("key %s has made %s and %s", key, id, made.ID)
			}
		}
		h.sees(h.editor, "/apps/"+id, `"made `)
		h.sees(h.editor, "/apps/?limit=1", id)
		titles := []string{"made"}
		for v := range processes {
			titles = append(titles, fmt.Sprintf("title %d", v))
			h.write("PATCH", "/apps/"+id, "", patch(titles), http.StatusOK, nil)
			h.sees(h.editor, "/apps/"+id, titles[v+1])
			h.sees(h.editor, "/apps/"+id+"/versions/", titles[v+1])
			h.sees(h.editor, "/apps/?sort=-updatedAt&limit=1", titles[v+1])
			h.write("PUT", "/apps/"+id+"/tags/production", "", map[string]string{"appVersion": fmt.Sprint(v + 1)},
				http.StatusCreated, nil)
			h.sees(h.editor, "/apps/"+id+"/tagged/production", titles[v+1])
			h.sees(h.editor, "/apps/"+id+"/tags/", fmt.Sprintf(`"appVersion":"%d"`, v+1))
		}
		h.write("DELETE", "/apps/"+id+"/tags/production", "", nil, http.StatusNoContent, nil)
		h.hidden(h.editor, "/apps/"+id+"/tagged/production")
	}
}

// patch is the patch that makes the newest of an app's versions, whose titles are given.
func patch(titles []string) any {
	n := len(titles) - 1
	return []map[string]string{
		{"op": "test", "path": "/apps/0/version", "value": strconv.Itoa(n - 1)},
		{"op": "replace", "path": "/apps/0/title", "value": titles[n]},
	}
}

// components have schemas, which processes keep compiled.
func (h *house) components() {
	for i, kind := range []string{"string", "integer", "boolean", "string"} {
		version := fmt.Sprint(i, ".0.0") // a deleted one comes again with the same manifest alone
		schema := map[string]any{"type": "object", "properties": map[string]any{"c": map[string]string{"type": kind}}}
		h.write("POST", "/components/", "",
			map[string]any{"name": "part", "version": version, "main": "https://" + network + "/part.js",
				"configSchema": schema}, http.StatusCreated, nil)
		h.sees(h.editor, "/components/part", "part")
		app := func(c any) any {
			return map[string]any{"title": fmt.Sprint("app ", i), "groups": []string{urn}, "elements": []any{
				map[string]any{"component": map[string]string{"name": "part", "version": version},
					"config": map[string]any{"c": c}}}}
		}
		for of, value := range map[string]any{"string": "text", "integer": 5, "boolean": true} {
			want := http.StatusUnprocessableEntity
			if of == kind {
				want = http.StatusCreated
			}
			for range processes {
				h.write("POST", "/apps/", "", app(value), want, nil)
			}
		}
		h.sees(h.editor, "/apps/?limit=1&usingComponent=part", fmt.Sprint("app ", i))
		h.write("DELETE", "/components/part", "", nil, http.StatusNoContent, nil)
		h.hidden(h.editor, "/components/part")
		for range processes {
			h.write("POST", "/apps/", "", app("text"), http.StatusUnprocessableEntity, nil)
		}
	}
}

// idsAnswer is an answer about assets and folders.
type idsAnswer struct {
	Added, Folders []struct{ ID string }
	Permissions    []struct{ ID string }
}

// add adds an asset, or replaces the one with that name.
func (h *house) add(name, text string, folders ...string) (id string) {
	h.Helper()
	one := map[string]any{"id": name, "generator": map[string]string{"id": "g"},
		"content": map[string]string{"content": text}, "folders": append([]string{}, folders...)}
	var out idsAnswer
	h.write("POST", library+"/assets", "", map[string]any{"add": []any{one}}, http.StatusOK, &out)
	return out.Added[0].ID
}

// finds searches for a word through each process.
func (h *house) finds(who *client, word string, total int) {
	h.Helper()
	h.sees(who, library+"/assets?limit=1&query="+word, fmt.Sprintf(`"total":%d,`, total))
}

func (h *house) assets() {
	attribute := func(change string, ids []string, value string) {
		h.Helper()
		h.write("POST", library+"/attributes", "",
			map[string]any{"assets": ids, change: []map[string]string{{"key": "k", "value": value}}}, http.StatusOK,
			nil)
	}
	var ids []string
	for i := range rounds() {
		ids = append(ids, h.add(fmt.Sprint("a", i), fmt.Sprintf("common before%d", i)))
		h.finds(h.reader, "common", i+1)
		h.finds(h.reader, fmt.Sprint("before", i), 1)
		h.add(fmt.Sprint("a", i), fmt.Sprintf("common after%d", i))
		h.finds(h.reader, fmt.Sprint("before", i), 0)
		h.finds(h.reader, fmt.Sprint("after", i), 1)
		h.sees(h.reader, library+"/asset/"+ids[i], fmt.Sprint("after", i))
		attribute("add", ids[i:], fmt.Sprint("value", i))
		h.sees(h.reader, library+"/attributes?key=k", fmt.Sprint("value", i))
		attribute("set", ids[i:], "same")
		h.sees(h.reader, library+"/attributes?key=k", `[{"key":"k","value":"same"}]`)
	}
	for i, id := range ids {
		h.write("POST", library+"/assets", "", map[string]any{"remove": []string{id}}, http.StatusOK, nil)
		h.finds(h.reader, "common", len(ids)-1-i)
		h.hidden(h.reader, library+"/asset/"+id)
	}
}

// folders are given to the reader, and taken away, by themselves and with what is above them.
func (h *house) folders() {
	folder := func(change string, folder map[string]any) (id string) {
		h.Helper()
		var out idsAnswer
		h.write("POST", library+"/folders", "", map[string]any{change: []any{folder}}, http.StatusOK, &out)
		return out.Folders[0].ID
	}
	for i := range rounds() {
		word := fmt.Sprint("secret", i)
		top := folder("create", map[string]any{"label": "top", "inherit": false})
		inner := folder("create", map[string]any{"label": "inner", "path": "/" + top})
		asset := h.add(word, word, inner)
		shown := func(yes bool) {
			h.Helper()
			if !yes {
				h.finds(h.reader, word, 0)
				h.hidden(h.reader, library+"/asset/"+asset)
				h.hidden(h.reader, library+"/folder/"+inner)
				return
			}
			h.finds(h.reader, word, 1)
			h.sees(h.reader, library+"/asset/"+asset, asset)
			h.sees(h.reader, library+"/folder/"+inner, "inner")
			h.sees(h.reader, library+"/assets?folder="+inner, asset)
		}
		shown(false)
		var granted idsAnswer
		grant := map[string]any{"operation": "view", "user": map[string]string{"id": urn + ":user=reader"}}
		h.write("POST", library+"/folder/"+top+"/permissions", "", map[string]any{"create": []any{grant}},
			http.StatusOK, &granted)
		shown(true)
		folder("update", map[string]any{"id": inner, "inherit": false})
		shown(false)
		folder("update", map[string]any{"id": inner, "inherit": true})
		shown(true)
		h.finds(h.editor, word, 1)
		folder("update", map[string]any{"id": top, "deleted": true})
		shown(false)
		folder("update", map[string]any{"id": top, "deleted": false})
		shown(true)
		h.write("POST", library+"/folder/"+top+"/permissions", "",
			map[string]any{"remove": []any{map[string]string{"id": granted.Permissions[0].ID}}}, http.StatusOK, nil)
		shown(false)
		h.write("POST", library+"/folder/"+inner+"/assets", "", map[string]any{"remove": []string{asset}},
			http.StatusOK, nil)
		h.finds(h.reader, word, 1) // in no folder
	}
}

func (h *house) reviews() {
	w := newImporter(0)
	for i := range rounds() {
		h.write("POST", "/x/reviews/import?network="+network, "", w.file(i), http.StatusOK, nil)
		for range processes {
			var out report
			h.write("POST", "/x/reviews/import?dryRun=true", "", w.file(i), http.StatusOK, &out)
			if out != (report{Unchanged: collections * perLine}) {
				h.Errorf("import %d is answered by process %d with %+v", i, h.writes%processes, out)
			}
		}
	}
}
