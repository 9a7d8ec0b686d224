package mcp_test

import (
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
)

// An assistant learns who has changed what, and undoes changes by the version before them.
func TestHistoryAndRestore(t *testing.T) {
	w := newWorld(t)
	id := w.app("Front", "countdown", "1.0.0", `{"title":"a","until":"2026"}`)
	w.publish(id, 0)
	edit := object{"id": id, "version": "0", "note": "for Friday", "operations": []object{
		{"op": "set", "key": "0.0", "pointer": "/title", "value": "b"}}}
	w.want("edit_app", edit)
	made := w.want("get_history", object{"id": id})
	if text(made, "versions", 0, "by") != callers["lea"].URN || text(made, "versions", 0, "agent") != "Draft writer" ||
		text(made, "versions", 0, "note") != "for Friday" || text(made, "versions", 1, "tags") != "[production]" ||
		text(made, "versions", 0, "changes", 0, "path") != "/apps/0/elements/0/config/title" {
		t.Errorf("%v", made)
	}
	if moved := w.want("get_history", object{"id": id, "tag": "production"}); text(moved, "moves", 0, "to") != "0" ||
		text(moved, "moves", 0, "release") == "" || text(moved, "moves", 0, "from") != "" {
		t.Errorf("%v", moved)
	}
	restore := object{"id": id, "version": "0", "restore": "production", "note": "undone"}
	if stale := w.refused("stale_version", "/version", "restore_version", restore); text(stale, "version") != "1" {
		t.Errorf("%v", stale)
	}
	restore["version"] = "1"
	if back := w.want("restore_version", restore); text(back, "version") != "2" ||
		text(back, "difference", 0, "value") != "a" {
		t.Errorf("%v", back)
	}
	made = w.want("get_history", object{"id": id})
	if text(made, "versions", 0, "restoredFrom") != "0" || text(made, "versions", 0, "note") != "undone" {
		t.Errorf("%v", made)
	}
	w.refused("not_found", "/restore", "restore_version", object{"id": id, "version": "2", "restore": "none"})
	w.refused("not_found", "", "get_history", object{"id": "none"})
	if apps := w.want("find_apps", object{}); text(apps, "apps", 0, "updatedBy") != callers["lea"].URN {
		t.Errorf("%v", apps)
	}
}

// A long history comes in parts.
func TestALongHistory(t *testing.T) {
	w := newWorld(t)
	id := w.app("Front", "gallery", "1.1.0", `{}`)
	for i := range 45 {
		config := object{}
		for j := range 20 {
			config[text([]any{"left", "right"}, (i+j)%2)+text(j)] = 1
		}
		w.want("edit_app", object{"id": id, "version": text(i), "operations": []object{
			{"op": "set", "key": "0.0", "config": config}}})
	}
	versions := 0
	for in := (object{"id": id}); ; {
		page := w.want("get_history", in)
		versions += len(page["versions"].([]any))
		if in["cursor"] = page["cursor"]; in["cursor"] == nil {
			break
		}
	}
	if versions != 46 {
		t.Errorf("%d versions", versions)
	}
}

// An assistant sees what became of its proposals, and changes one that is open in place of making another.
func TestAProposalIsChanged(t *testing.T) {
	w := newWorld(t)
	id := w.app("Front", "countdown", "1.0.0", `{"title":"a","until":"2026"}`)
	w.publish(id, 0)
	first := w.want("propose_release", object{"name": "r", "moves": []object{{"app": id, "to": "none"}}})
	again := w.want("propose_release",
		object{"id": text(first, "id"), "name": "better", "moves": []object{{"app": id, "tag": "draft"}}})
	open := w.want("find_releases", object{"state": "open", "app": id})
	if text(again, "version") != "1" || len(open["releases"].([]any)) != 1 ||
		text(open, "releases", 0, "name") != "better" || text(open, "releases", 0, "agent") != "Draft writer" ||
		text(open, "releases", 0, "moves", 0, "tag") != "draft" {
		t.Errorf("%v %v", again, open)
	}
	done := w.want("find_releases", object{"state": "done"})
	if text(done, "releases", 0, "approvals") != "1" {
		t.Errorf("%v", done)
	}
	rel, err := w.apps.As(callers["lea"]).CreateRelease(t.Context(), appsvc.CreateReleaseRequest{Name: "hers",
		Moves: []appsvc.ReleaseMove{{AppID: id, Tag: "production", To: appsvc.NoTag()}}})
	if err != nil {
		t.Fatal(err)
	}
	w.refused("forbidden", "", "propose_release", object{"id": rel.ID, "name": "r", "moves": []object{{"app": id}}})
	w.refused("invalid", "/state", "find_releases", object{"state": "nonsense"})
}

// An assistant knows for whom it works, and finds the folders for its files.
func TestMeAndFolders(t *testing.T) {
	w := newWorld(t)
	if is := w.want("get_me", object{}); text(is, "urn") != callers["lea"].URN || text(is, "agent") != "Draft writer" ||
		text(is, "moderates") != "["+network+"]" || text(is, "reads") != "[]" {
		t.Errorf("%v", is)
	}
	lib := assets.Library{Network: library, ID: library}
	made, err := w.assets.As(callers["lea"]).ChangeFolders(t.Context(), lib, assets.ChangeFoldersRequest{
		Create: []assets.NewFolder{{Label: "Pictures"}}})
	if err != nil {
		t.Fatal(err)
	}
	id := made.Folders[0].ID
	if _, err := w.assets.As(callers["lea"]).ChangeFolders(t.Context(), lib, assets.ChangeFoldersRequest{
		Create: []assets.NewFolder{{Label: "Spring", Path: "/" + id}}}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		in   object
		want string
	}{{object{}, "Pictures"}, {object{"in": id}, "Spring"}, {object{"q": "spr"}, "Spring"}} {
		found := w.want("find_folders", test.in)
		if len(found["folders"].([]any)) != 1 || text(found, "folders", 0, "label") != test.want {
			t.Errorf("%v: %v", test.in, found)
		}
	}
	w.want("add_file", object{"name": "1.pdf", "title": "Spring", "alt": "Tulips by the lighthouse",
		"bytes": "JVBERi0xLjcK"})
	for _, q := range []string{"tulips", "light*", "spring"} {
		if found := w.want("find_assets", object{"q": q}); text(found, "total") != "1" {
			t.Errorf("%q: %v", q, found)
		}
	}
	w.refused("not_found", "/in", "find_folders", object{"in": "none"})
	if people := w.want("find_people", object{"app": w.app("a", "gallery", "1.0.0")}); text(people, "people") != "[]" {
		t.Errorf("%v", people)
	}
}
