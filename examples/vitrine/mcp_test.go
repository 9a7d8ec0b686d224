package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// The guide of adapters/mcp, with the demo: its visitor makes the key of an agent, which finds an app, changes the
// countdown of it and proposes that, and publishes nothing. With -mcp=false there is no such endpoint.
func TestAnAssistantWorksOnTheDemo(t *testing.T) {
	s := start(t, t.TempDir(), nil, "-demo", "-db", "memory:", "-base-path", "/base")
	v := s.signedIn()
	var made struct{ Key string }
	text := v.post("/x/keys/", `{"name":"Assistant","kind":"secret","agent":true,"moderates":["`+demoNetwork+`"]}`, 201)
	if err := json.Unmarshal([]byte(text), &made); err != nil {
		t.Fatal(err)
	}
	call := func(token, tool string, arguments any) (status int, header http.Header, out map[string]any) {
		t.Helper()
		body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
			"params": map[string]any{"name": tool, "arguments": arguments}})
		r, _ := http.NewRequestWithContext(t.Context(), "POST", s.base+"/x/mcp", strings.NewReader(string(body)))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		said, _ := io.ReadAll(answer.Body)
		var got struct {
			Result struct {
				IsError           bool
				StructuredContent map[string]any
			}
		}
		if err := json.Unmarshal(said, &got); err != nil || got.Result.IsError {
			t.Fatalf("%s: %v %s", tool, err, said)
		}
		return answer.StatusCode, answer.Header, got.Result.StructuredContent
	}
	if status, header, _ := call("", "find_apps", nil); status != 401 || header.Get("Www-Authenticate") != "Bearer" {
		t.Errorf("without a key: %d %v", status, header)
	}
	first := func(list any) map[string]any { return list.([]any)[0].(map[string]any) }
	_, _, apps := call(made.Key, "find_apps", map[string]any{"component": "@demo/countdown", "tag": "production"})
	id := first(apps["apps"])["id"]
	_, _, app := call(made.Key, "get_app", map[string]any{"id": id})
	key := ""
	for _, e := range app["elements"].([]any) {
		if e := e.(map[string]any); e["component"].(map[string]any)["name"] == "@demo/countdown" {
			key = e["key"].(string)
		}
	}
	_, _, edited := call(made.Key, "edit_app", map[string]any{"id": id, "version": app["version"], "operations": []any{
		map[string]any{"op": "set", "key": key, "pointer": "/title", "value": "Until Friday"}}})
	_, _, proposal := call(made.Key, "propose_release", map[string]any{"name": "Friday", "moves": []any{
		map[string]any{"app": id}}})
	_, _, live := call(made.Key, "get_app", map[string]any{"id": id, "tag": "production"})
	if edited["version"] == app["version"] || proposal["state"] != "open" || live["version"] == edited["version"] {
		t.Errorf("edited %v, proposed %v, live is %v", edited["version"], proposal, live["version"])
	}
	history := v.send("GET", "/apps/"+id.(string)+"/history/?limit=1", "", 200)
	if release := v.send("GET", "/x/releases/"+proposal["id"].(string), "", 200); !strings.Contains(history,
		`"agent":"Assistant"`) || !strings.Contains(release, `"agent":"Assistant"`) {
		t.Errorf("%s %s", history, release)
	}
	without := start(t, t.TempDir(), nil, "-db", "memory:", "-mcp=false")
	r, err := http.Post(without.base+"/x/mcp", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != 401 || r.Header.Get("Www-Authenticate") != "svctoken" { // as any path that names nothing
		t.Errorf("-mcp=false: %d %v", r.StatusCode, r.Header)
	}
}
