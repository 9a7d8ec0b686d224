//go:build proof

package access

import (
	"flag"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

var wantedWorlds = flag.Int("worlds", 0, "random worlds; 0 = the short form")

// TestListsHoldWhatCanBeRead makes random worlds and asks as random callers: every list holds what
// the caller can read one by one, which is what the model says, also after everything was changed.
func TestListsHoldWhatCanBeRead(t *testing.T) {
	worlds := *wantedWorlds
	if worlds == 0 {
		worlds = 40
		if testing.Short() {
			worlds = 6
		}
	}
	requests, found := 0, 0
	for seed := range worlds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := newRandom(newWorld(t), uint64(seed))
			for range 2 {
				for range 5 {
					found += m.compare(m.caller())
				}
				m.change()
			}
			requests += *m.sent
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d worlds, %d requests, %d things found in lists", worlds, requests, found)
	if found < worlds {
		t.Error("hardly anything was found: this shows nothing")
	}
}

// compare compares what c reads and lists with the model, and returns how many things the lists had.
func (m *random) compare(c caller) int {
	return m.compareApps(c) + m.compareFolders(c) + m.compareAssets(c)
}

func (m *random) reads(c caller, path string, want int) {
	m.t.Helper()
	if r := m.send(c, get(path)); r.status != want {
		m.t.Errorf("%s: status %d, want %d", r.what, r.status, want)
	}
}

// walk goes through all pages of a list and returns what it holds.
func (m *random) walk(c caller, path, name string) []string {
	ids := []string{}
	for path != "" && len(ids) < 1000 {
		r := m.send(c, get(path))
		if r.status != 200 {
			m.t.Fatalf("%s: status %d: %s", r.what, r.status, r.body)
		}
		out := map[string]any{}
		r.read(&out)
		for _, item := range out[name].([]any) {
			ids = append(ids, item.(map[string]any)["id"].(string))
		}
		path = nextPage(path, r)
	}
	return ids
}

func (m *random) same(what string, got, want []string) {
	m.t.Helper()
	if !slices.Equal(got, want) {
		m.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (m *random) compareApps(c caller) (n int) {
	for _, a := range m.apps {
		m.reads(c, "/apps/"+a.id, status(c.readsApp(a)))
		m.reads(c, "/apps/"+a.id+"/versions/0", status(c.readsApp(a)))
	}
	for _, sort := range []string{"createdAt", "-createdAt", "updatedAt", "-updatedAt"} {
		using := one(m, append(someComponents, ""))
		var list []*modelApp
		for _, a := range m.apps {
			if c.readsApp(a) && (using == "" || a.component == using) {
				list = append(list, a)
			}
		}
		slices.SortFunc(list, func(a, b *modelApp) int {
			ta, tb := a.created, b.created
			if strings.HasSuffix(sort, "updatedAt") {
				ta, tb = a.updated, b.updated
			}
			if strings.HasPrefix(sort, "-") {
				ta, tb = tb, ta
			}
			if ta != tb {
				return int(ta - tb)
			}
			return strings.Compare(a.id, b.id)
		})
		want := []string{}
		for _, a := range list {
			want = append(want, a.id)
		}
		path := fmt.Sprintf("/apps/?sort=%s&limit=%d", sort, 1+m.IntN(4))
		if using != "" {
			path += "&usingComponent=" + using
		}
		m.same(c.name+": "+path, m.walk(c, path, "apps"), want)
		n += len(want)
	}
	return n
}

func (m *random) compareFolders(c caller) (n int) {
	if !c.inNetwork() {
		m.reads(c, library+"/folders", 403)
		return 0
	}
	want := map[*modelFolder][]string{} // visible children
	for _, f := range m.folders {
		if c.sees(f) {
			want[f.parent] = append(want[f.parent], f.id)
		}
		m.reads(c, library+"/folder/"+f.id, status(c.sees(f) || f.isGone() && c.level(f) == 3))
	}
	for _, parent := range append([]*modelFolder{nil}, m.folders...) {
		got := m.walk(c, library+"/folders?limit=500&path="+url.QueryEscape(parent.path()), "folders")
		slices.Sort(got)
		slices.Sort(want[parent])
		m.same(c.name+": folders in "+parent.path(), got, append([]string{}, want[parent]...))
		n += len(got)
		if parent == nil || !c.sees(parent) {
			continue
		}
		var out struct{ Folder struct{ Children []string } }
		m.must(c, "GET", library+"/folder/"+parent.id, "", 200).read(&out)
		slices.Sort(out.Folder.Children)
		m.same(c.name+": children of "+parent.id, out.Folder.Children, append([]string{}, want[parent]...))
	}
	return n
}

func (m *random) compareAssets(c caller) (n int) {
	if !c.inNetwork() {
		m.reads(c, library+"/assets", 403)
		return 0
	}
	for _, a := range m.assets {
		m.reads(c, library+"/asset/"+a.id, status(c.reads(a)))
	}
	n += m.search(c, "", func(*modelAsset) bool { return true })
	n += m.search(c, "&query=words+asset1", func(a *modelAsset) bool { return a.name == "asset1" })
	for _, f := range m.folders {
		if !c.sees(f) {
			m.reads(c, library+"/assets?folder="+f.id, 404)
			m.reads(c, library+"/assets?folderTree="+f.id, 404)
			continue
		}
		n += m.search(c, "&folder="+f.id, func(a *modelAsset) bool { return slices.Contains(a.folders, f) })
		n += m.search(c, "&folderTree="+f.id, func(a *modelAsset) bool {
			return slices.ContainsFunc(a.folders, func(in *modelFolder) bool {
				return c.sees(in) && slices.Contains(strings.Split(in.path(), "/"), f.id)
			})
		})
	}
	var out struct{ Attributes []struct{ Value string } }
	m.must(c, "GET", library+"/attributes?key=name", "", 200).read(&out)
	got, want := []string{}, []string{}
	for _, a := range out.Attributes {
		got = append(got, a.Value)
	}
	for _, a := range m.assets {
		if c.finds(a) {
			want = append(want, a.name)
		}
	}
	slices.Sort(want)
	m.same(c.name+": values", got, want)
	return n
}

// search walks a search newest first and looks at its total.
func (m *random) search(c caller, query string, matches func(*modelAsset) bool) int {
	want := []string{}
	for _, a := range slices.Backward(m.assets) {
		if c.finds(a) && matches(a) {
			want = append(want, a.id)
		}
	}
	path := fmt.Sprintf("%s/assets?limit=%d%s", library, 1+m.IntN(6), query)
	m.same(c.name+": "+path, m.walk(c, path, "assets"), want)
	r := m.send(c, get(path))
	m.holds(r, fmt.Sprintf(`"total":%d,`, len(want)), "the total", true)
	return len(want)
}
