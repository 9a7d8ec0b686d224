//go:build proof

package access

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// random is a world of random things, and what the model knows of them.
type random struct {
	*world
	*rand.Rand
	moment  int
	apps    []*modelApp
	folders []*modelFolder
	assets  []*modelAsset
}

// What random things are made of: few of each, so that they meet.
var (
	someURNs          = []string{network + ":user=a", network + ":user=b", elsewhere + ":user=a", "urn:vitrine:example.te:user=a"}
	someURNsModerated = []string{network, network + ":site=1", network + ":site=10", network + ":site=2", elsewhere, "urn:vitrine:example.te", "urn:other:example.test"}
	someSites         = []string{network, network + ":site=1", network + ":site=10", network + ":site=2", elsewhere + ":site=1", "urn:vitrine:example.te:site=1"}
	someRoles         = []string{"desk", "night desk"}
	someGroups        = []string{network + ":group=team", network + ":group=tea"}
	someComponents    = []string{"used", "unused"}
	operations        = []string{"", "view", "edit", "manage"}
)

func newRandom(w *world, seed uint64) *random {
	m := &random{world: w, Rand: rand.New(rand.NewPCG(seed, 7))}
	for _, name := range someComponents {
		w.addComponent(name)
	}
	for range 4 + m.IntN(6) {
		m.addApp()
	}
	for range 3 + m.IntN(10) {
		m.addFolder()
	}
	for i := range 4 + m.IntN(12) {
		m.addAsset(fmt.Sprintf("asset%d", i))
	}
	for _, f := range m.folders {
		if m.IntN(6) == 0 {
			m.remove(f, true)
		}
	}
	return m
}

// one returns one of list, some returns some of it.
func one[T any](m *random, list []T) T { return list[m.IntN(len(list))] }

func some[T any](m *random, list []T, most int) []T {
	out := []T{}
	for _, i := range m.Perm(len(list))[:m.IntN(min(most, len(list))+1)] {
		out = append(out, list[i])
	}
	return out
}

func (m *random) caller() caller {
	p := httpapi.Principal{URN: one(m, someURNs), Roles: some(m, someRoles, 2), Groups: some(m, someGroups, 2)}
	if m.IntN(2) == 0 {
		p.Moderates = some(m, someURNsModerated, 2)
	}
	if m.IntN(3) == 0 {
		p.Reads = some(m, someURNsModerated, 2)
	}
	return caller{name: fmt.Sprintf("%+v", p), Principal: p}
}

func (m *random) step() int64 {
	m.moment++
	m.tick(m.moment / 2) // two changes share a moment
	return m.now.Load()
}

func (m *random) addApp() {
	a := &modelApp{owner: one(m, someURNs), created: m.step(), component: one(m, append(someComponents, ""))}
	a.updated, a.groups = a.created, append([]string{}, one(m, someSites))
	elements := "[]"
	if a.component != "" {
		elements = fmt.Sprintf(`[{"component":{"name":%q,"version":"1.0.0"},"config":{}}]`, a.component)
	}
	var out struct{ ID string }
	m.must(as(a.owner), "POST", "/apps/", fmt.Sprintf(`{"title":"x","groups":%s,"elements":%s}`, text(a.groups), elements), 201).read(&out)
	a.id = out.ID
	m.apps = append(m.apps, a)
}

func (f *modelFolder) below() string {
	if f == nil {
		return ""
	}
	return f.parent.below() + "/" + f.id
}

func (f *modelFolder) path() string {
	if f == nil {
		return "/"
	}
	return f.below()
}

func (m *random) grants() ([]modelGrant, string) {
	list, sent := []modelGrant{}, []string{}
	for range max(0, m.IntN(5)-2) {
		g := modelGrant{level: 1 + m.IntN(3)}
		switch m.IntN(3) {
		case 0:
			g.kind, g.id = "user", one(m, append([]string{"a", "b"}, someURNs...))
			sent = append(sent, fmt.Sprintf(`{"operation":%q,"user":{"id":%q}}`, operations[g.level], g.id))
		case 1:
			g.kind, g.id = "role", one(m, someRoles)
			sent = append(sent, fmt.Sprintf(`{"operation":%q,"role":{"id":%q}}`, operations[g.level], g.id))
		default:
			g.kind, g.id = "group", one(m, someGroups)
			sent = append(sent, fmt.Sprintf(`{"operation":%q,"group":%q}`, operations[g.level], g.id))
		}
		list = append(list, g)
	}
	return list, "[" + strings.Join(sent, ",") + "]"
}

func (m *random) addFolder() {
	m.step()
	f := &modelFolder{inherit: m.IntN(4) > 0}
	if len(m.folders) > 0 && m.IntN(3) > 0 {
		f.parent = one(m, m.folders)
	}
	var sent string
	f.grants, sent = m.grants()
	f.id = m.folderIn(library, fmt.Sprintf(`{"label":"f%d","path":%q,"inherit":%t,"permissions":%s}`, m.IntN(5), f.parent.path(), f.inherit, sent))
	m.folders = append(m.folders, f)
}

func (m *random) addAsset(name string) {
	m.step()
	a := &modelAsset{name: name, folders: some(m, m.folders, 3)}
	ids := []string{}
	for _, f := range a.folders {
		ids = append(ids, f.id)
	}
	a.id = m.assetIn(library, name, ids)
	m.must(builder, "POST", library+"/attributes", fmt.Sprintf(`{"assets":[%q],"add":[{"key":"name","value":%q}]}`, a.id, name), 200)
	m.assets = append(m.assets, a)
}

func (m *random) update(f *modelFolder, member string) {
	m.must(builder, "POST", library+"/folders", fmt.Sprintf(`{"update":[{"id":%q,%s}]}`, f.id, member), 200)
}

func (m *random) remove(f *modelFolder, deleted bool) {
	if f.isGone() && deleted || f.parent != nil && f.parent.isGone() {
		return
	}
	m.update(f, fmt.Sprintf(`"deleted":%t`, deleted))
	f.deleted = deleted
}

// change changes groups of apps, folders and their permissions, and where assets are.
func (m *random) change() {
	for _, a := range m.apps {
		if m.IntN(2) == 0 {
			continue
		}
		a.groups, a.updated = []string{one(m, someSites)}, m.step()
		m.must(builder, "PATCH", "/apps/"+a.id, patch(fmt.Sprint(a.version), fmt.Sprint("x", a.version), a.groups), 200)
		a.version++
	}
	for _, f := range m.folders {
		switch m.IntN(4) {
		case 0:
			m.remove(f, !f.deleted)
		case 1:
			if !f.isGone() {
				f.inherit = !f.inherit
				m.update(f, fmt.Sprintf(`"inherit":%t`, f.inherit))
			}
		case 2:
			if !f.isGone() {
				grants, sent := m.grants()
				f.grants = append(f.grants, grants...)
				m.must(builder, "POST", library+"/folder/"+f.id+"/permissions", `{"create":`+sent+`}`, 200)
			}
		default:
			to := one(m, m.folders)
			if !f.isGone() && !to.isGone() && !slices.Contains(strings.Split(to.path(), "/"), f.id) {
				m.update(f, fmt.Sprintf(`"path":%q`, to.path()))
				f.parent = to
			}
		}
	}
	for _, a := range m.assets {
		f := one(m, m.folders)
		if m.IntN(2) == 0 || f.isGone() || slices.Contains(a.folders, f) {
			continue
		}
		m.must(builder, "POST", library+"/folder/"+f.id+"/assets", fmt.Sprintf(`{"assign":[%q]}`, a.id), 200)
		a.folders = append(a.folders, f)
	}
}
