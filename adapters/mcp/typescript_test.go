package mcp_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// installed returns a directory in which npm has installed a package. The test is skipped if it cannot, but in CI.
func installed(t *testing.T, name string) string {
	dir := t.TempDir()
	install := exec.Command("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", name)
	install.Dir = dir
	if said, err := install.CombinedOutput(); err != nil {
		if os.Getenv("VITRINE_CI") != "" {
			t.Fatalf("npm: %v: %s", err, said)
		}
		t.Skipf("npm cannot install %s: %v: %s", name, err, said)
	}
	return dir
}

// The official client for TypeScript connects, lists the tools, and gets what each says, right and wrong, as its schema
// has it. The test needs npm.
func TestTheTypeScriptClient(t *testing.T) {
	dir := installed(t, "@modelcontextprotocol/sdk@1.32.2")
	script, err := os.ReadFile("testdata/client.mjs")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "client.mjs"), script, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	id := w.app("Front page", "countdown", "1.0.0", `{"title":"a","until":"2026"}`)
	type call struct {
		Name      string `json:"name"`
		Arguments object `json:"arguments"`
		wrong     bool
	}
	set := []object{{"op": "set", "key": "0.0", "pointer": "/title", "value": "b"}}
	config := object{"title": "a", "until": "2026"}
	element := []object{{"component": "countdown", "config": config}}
	var plan []call
	for _, c := range []struct {
		name         string
		right, wrong object
	}{
		{"find_apps", object{"q": "front"}, object{"cursor": "x"}},
		{"get_app", object{"id": id}, object{"id": "none"}},
		{"edit_app", object{"id": id, "version": "0", "operations": set},
			object{"id": id, "version": "0", "operations": set}},
		{"compare_versions", object{"id": id, "from": "0"}, object{"id": id, "from": "9"}},
		{"find_components", object{}, object{"q": 1}},
		{"get_component", object{"name": "countdown"}, object{"name": "none"}},
		{"check_config", object{"component": "countdown", "config": config},
			object{"component": "none", "config": config}},
		{"create_app", object{"title": "a", "groups": []string{site}, "elements": element}, object{"title": "a"}},
		{"comment", object{"id": id, "text": "a"}, object{"id": id}},
		{"propose_release", object{"name": "r", "moves": []object{{"app": id}}}, object{"name": "r"}},
		{"find_assets", object{}, object{"type": "x"}},
		{"find_folders", object{}, object{"in": "none"}},
		{"find_collections", object{}, object{"cursor": "none"}},
		{"find_reviews", object{}, object{"since": "yesterday"}},
		{"get_history", object{"id": id}, object{"id": "none"}},
		{"find_people", object{"app": id}, object{"app": "none"}},
		{"find_releases", object{}, object{"state": "none"}},
		{"restore_version", object{"id": id, "version": "1", "restore": "0"}, object{"id": id, "version": "1"}},
		{"add_file", object{"name": "a.pdf", "bytes": "JVBERi0xLjcK"}, object{"name": "a.pdf", "bytes": "AAAA"}},
	} {
		plan = append(plan, call{c.name, c.right, false}, call{c.name, c.wrong, true})
	}
	in, _ := json.Marshal(object{"url": w.url + "/x/mcp", "token": "agent", "plan": plan})
	run := exec.Command("node", "client.mjs")
	var says bytes.Buffer
	run.Dir, run.Stdin, run.Stderr = dir, bytes.NewReader(in), &says
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, says.Bytes())
	}
	var got struct {
		Tools   []string
		Results []struct {
			IsError           bool
			StructuredContent object
		}
		Many int
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Tools) != len(w.schemas) || len(got.Results) != len(plan) || got.Many != 100 {
		t.Fatalf("%d tools, %d results, %d of 100 calls at once", len(got.Tools), len(got.Results), got.Many)
	}
	for i, r := range got.Results {
		if r.IsError != plan[i].wrong || r.IsError != (text(r.StructuredContent, "code") != "") {
			t.Errorf("%s %v: %+v", plan[i].Name, plan[i].Arguments, r)
		}
	}
}
