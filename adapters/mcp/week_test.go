package mcp_test

import (
	"encoding/base64"
	"fmt"
	"testing"
)

// The tasks of an editor's week, each done by calls alone, three at most. did says what came of it.
func TestTheTasksOfAnEditorsWeek(t *testing.T) {
	w := newWorld(t)
	front := w.app("Front page", "countdown", "1.0.0", `{"title":"Sale 2025","until":"2025-12-24"}`,
		`{"title":"Fair","until":"2026-05-01","color":"red"}`)
	pictures := w.app("Pictures of the harbour", "gallery", "1.0.0",
		`{"items":[{"url":"https://a.example/1.jpg","alt":"A boat"},{"url":"https://a.example/2.jpg"}],`+
			`"text":"Since 2025"}`)
	w.publish(front, 0)
	w.publish(pictures, 0)
	found := func(q string) string { return text(w.want("find_apps", object{"q": q}), "apps", 0, "id") }
	read := func(id string) object { return w.want("get_app", object{"id": id}) }
	// edit reads an app, and changes the element at an index.
	edit := func(id string, index int, op object) object {
		app := read(id)
		if index >= 0 {
			op["key"] = text(app, "elements", index, "key")
		}
		return w.want("edit_app", object{"id": id, "version": text(app, "version"), "operations": []object{op}})
	}
	propose := func(id string, more ...object) object {
		return w.want("propose_release", object{"name": "week", "moves": append(more, object{"app": id})})
	}
	version := func(o object) string { return text(o, "version") }
	set := func(pointer string, value any) object { return object{"op": "set", "pointer": pointer, "value": value} }
	for i, task := range []struct {
		ask  string
		do   func() string
		want string
	}{
		{"find the front page", func() string { return found("front") }, front},
		{"what is on it?", func() string { return text(read(front), "elements", 1, "config", "title") }, "Fair"},
		{"change the countdown to Friday", func() string {
			return version(edit(front, 0, set("/until", "Friday")))
		}, "1"},
		{"and propose it", func() string { return text(propose(front), "needs") }, "1"},
		{"change the countdown to Saturday and propose it", func() string {
			edit(front, 0, set("/until", "Saturday"))
			return text(propose(front), "state")
		}, "open"},
		{"what would change?", func() string {
			return text(w.want("compare_versions", object{"id": front, "from": "production"}), "difference", 0, "value")
		}, "Saturday"},
		{"find every app that still says 2025", func() string {
			apps := w.want("find_apps", object{"q": "2025", "in": []string{"content"}})
			return fmt.Sprint(len(apps["apps"].([]any)), text(apps, "apps", 0, "found", 0, "text"))
		}, "2Sale 2025"},
		{"write 2026 on the front page", func() string {
			return version(edit(front, 0, set("/title", "Sale 2026")))
		}, "3"},
		{"and on the pictures", func() string { return version(edit(pictures, 0, set("/text", "Since 2026"))) }, "1"},
		{"propose both", func() string { return text(propose(front, object{"app": pictures}), "state") }, "open"},
		{"call it Spring page", func() string {
			edit(front, -1, set("/title", "Spring page"))
			return found("spring")
		}, front},
		{"is there a component for pictures?", func() string {
			return text(w.want("find_components", object{"q": "gallery"}), "components", 0, "version")
		}, "1.1.0"},
		{"how is it configured?", func() string {
			return text(w.want("get_component", object{"name": "gallery", "version": "1.0.0"}), "example", "items", 0,
				"alt")
		}, "A boat"},
		{"would blue fit the countdown?", func() string {
			return text(w.want("check_config", object{"component": "countdown",
				"config": object{"title": "x", "until": "2026", "color": "blue"}}), "violations", 0, "pointer")
		}, "/color"},
		{"make the fair green", func() string { return version(edit(front, 1, set("/color", "green"))) }, "5"},
		{"put the fair first", func() string {
			edit(front, 1, object{"op": "move", "index": 0})
			return text(read(front), "elements", 0, "config", "title")
		}, "Fair"},
		{"put pictures below", func() string {
			return version(edit(front, -1, object{"op": "add", "component": object{"name": "gallery"},
				"config": object{"items": []any{}}}))
		}, "7"},
		{"take the sale away", func() string { return version(edit(front, 1, object{"op": "remove"})) }, "8"},
		{"what did Monday's version say?", func() string {
			return text(w.want("get_app", object{"id": front, "version": "1"}), "elements", 0, "config", "until")
		}, "Friday"},
		{"what do visitors see?", func() string {
			return text(w.want("get_app", object{"id": front, "tag": "production"}), "elements", 0, "config", "until")
		}, "2025-12-24"},
		{"add a picture of the market", func() string {
			return version(edit(pictures, 0, object{"op": "add", "pointer": "/items/-",
				"value": object{"url": "https://a.example/3.jpg", "alt": "The market"}}))
		}, "2"},
		{"describe the second picture", func() string {
			return version(edit(pictures, 0, set("/items/1/alt", "A pier")))
		}, "3"},
		{"take the first picture out", func() string {
			return version(edit(pictures, 0, object{"op": "remove", "pointer": "/items/0"}))
		}, "4"},
		{"only try to remove the text", func() string {
			app := read(pictures)
			return text(w.want("edit_app", object{"id": pictures, "version": version(app), "dryRun": true,
				"operations": []object{{"op": "remove", "pointer": "/text", "key": text(app, "elements", 0, "key")}}}),
				"dryRun")
		}, "true"},
		{"upload the programme", func() string {
			return text(w.want("add_file", object{"name": "programme.pdf", "title": "The programme",
				"bytes": base64.StdEncoding.EncodeToString([]byte("%PDF-1.7\n0123456789abcdef"))}), "files", 0, "name")
		}, "programme.pdf"},
		{"find it", func() string { return text(w.want("find_assets", object{"q": "programme"}), "total") }, "1"},
		{"make a page for the market", func() string {
			return version(w.want("create_app",
				object{"title": "Market", "groups": []string{site}, "elements": []object{
					{"component": "countdown", "config": object{"title": "Market", "until": "Sunday"}}}}))
		}, "0"},
		{"which apps have a countdown?", func() string {
			return fmt.Sprint(len(w.want("find_apps", object{"component": "countdown"})["apps"].([]any)))
		}, "2"},
		{"which are live?", func() string {
			return fmt.Sprint(len(w.want("find_apps", object{"tag": "production"})["apps"].([]any)))
		}, "2"},
		{"propose to take the market page back to nothing", func() string {
			return text(propose(pictures, object{"app": front, "to": "none"}), "needs")
		}, "1"},
	} {
		before := w.calls
		if got := task.do(); got != task.want {
			t.Errorf("task %d, %s: %q, want %q", i+1, task.ask, got, task.want)
		}
		if n := w.calls - before; n > 3 {
			t.Errorf("task %d, %s: %d calls", i+1, task.ask, n)
		}
	}
}
