//go:build proof

package access

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

var wantedPlots = flag.Int("plots", 0, "random plots; 0 = the short form")

// TestNobodyGainsARight searches for allowed steps that together give a right that none of them gives. In a random
// library one or two callers act together, and no moderator. Whatever they do, a right that anybody has afterwards
// on what was there before is one that this caller had, or one that they could give. A folder they can give when
// one of them manages it. An asset they can give when one of them may change it: to whom they like when one of them
// manages some folder, else to those who have that right on a folder that one of them edits. The service itself is
// asked who has which right; a model of the rules is not needed.
func TestNobodyGainsARight(t *testing.T) {
	plots := *wantedPlots
	if plots == 0 {
		plots = 500
		if testing.Short() {
			plots = 100
		}
	}
	tried, done, given := 0, 0, 0
	for seed := range plots {
		p := newPlot(t, uint64(seed))
		for range 100 {
			tried++
			what, err := p.step()
			if err != nil {
				continue
			}
			done++
			p.said = append(p.said, what)
			if given += p.check(); t.Failed() {
				t.Fatalf("seed %d: together %v, steps %q", seed, p.together, p.said)
			}
		}
		if p.receiveOriginals(); t.Failed() {
			t.Fatalf("seed %d: together %v, steps %q", seed, p.together, p.said)
		}
	}
	t.Logf("%d plots, %d steps tried, %d allowed, %d times a right was given that could be given", plots, tried, done,
		given)
	if done < 3*plots || given < plots {
		t.Error("hardly anything was allowed: this shows nothing")
	}
}

// Rights on folders and assets.
const (
	hidden = iota
	viewed
	edited
	managed
)

// plot is a library, and those who act together in it.
type plot struct {
	*rand.Rand
	t        *testing.T
	svc      *assets.Service
	people   []vitrine.Caller
	together []int    // who of the people
	folders  []string // ids, also of those that were made meanwhile
	assets   []string
	there    map[string]bool  // ids of what was there before
	before   []map[string]int // what each of the people could do then, by id
	gives    []map[string]int // what those who act together could give to each of the people
	edited   map[string]bool  // ids of folders that one of those who act together could edit at some time
	said     []string         // the steps that were allowed
}

const plotRole = "desk"

var (
	background  = context.Background()
	plotLibrary = assets.Library{Network: "example.test", ID: "example.test"}
	plotGroup   = network + ":group=team"
	plotMaker   = vitrine.Caller{URN: network + ":user=maker", Moderates: []string{network}}
)

func newPlot(t *testing.T, seed uint64) *plot {
	ids := 0
	p := &plot{Rand: rand.New(rand.NewPCG(seed, 11)), t: t, there: map[string]bool{}, edited: map[string]bool{}}
	p.svc = assets.New(memory.New(), &assets.Options{
		Now:   func() time.Time { return time.UnixMilli(start) },
		NewID: func() string { ids++; return fmt.Sprintf("id%03d", ids) },
	})
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		c := vitrine.Caller{URN: network + ":user=" + name}
		if i%2 == 0 {
			c.Roles = []string{plotRole}
		}
		if i > 2 {
			c.Groups = []string{plotGroup}
		}
		p.people = append(p.people, c)
	}
	p.together = p.Perm(len(p.people))[:1+p.IntN(2)]
	for range 4 + p.IntN(4) {
		p.must(p.createFolder(plotMaker))
	}
	for i := range 3 + p.IntN(4) {
		p.must(p.add(plotMaker, fmt.Sprint("there ", i), p.some(p.folders, 2), "text"))
	}
	deleted := p.some(p.folders, 2)
	operation := assets.Operation(p.one([]string{"edit", "manage"}))
	for _, i := range p.together { // they are no strangers
		id := p.one(p.folders)
		g := assets.Permission{Operation: operation, User: &assets.Subject{ID: p.people[i].URN}}
		_, err := p.svc.As(plotMaker).ChangePermissions(background, plotLibrary,
			assets.ChangePermissionsRequest{Folder: id, Create: []assets.Permission{g}})
		p.must("a grant", err)
		if f, err := p.svc.As(plotMaker).Folder(background, plotLibrary, id); err == nil && f.Path != "/" &&
			p.IntN(3) == 0 {
			deleted = append(deleted, f.Path[strings.LastIndexByte(f.Path, '/')+1:])
		}
	}
	p.must(p.changeFolders(plotMaker, "delete", assets.ChangeFoldersRequest{Delete: deleted}))
	deleted = p.restore(deleted)
	for _, id := range slices.Concat(p.folders, p.assets) {
		p.there[id] = true
	}
	for _, by := range p.people {
		p.before = append(p.before, p.rights(by))
	}
	p.must(p.changeFolders(plotMaker, "delete", assets.ChangeFoldersRequest{Delete: deleted}))
	for i := range p.people {
		p.gives = append(p.gives, p.givesTo(i))
	}
	for _, i := range p.together {
		for id, right := range p.before[i] {
			p.edited[id] = p.edited[id] || right >= edited
		}
	}
	return p
}

// givesTo returns what those who act together could give to one of the people, before they began.
func (p *plot) givesTo(person int) map[string]int {
	out := map[string]int{}
	best := func(id string) (right int) {
		for _, i := range p.together {
			right = max(right, p.before[i][id])
		}
		return right
	}
	most := hidden // of any asset that they may change
	for _, id := range p.folders {
		switch best(id) {
		case managed:
			out[id], most = managed, edited
		case edited:
			most = max(most, min(edited, p.before[person][id]))
		}
	}
	for _, id := range p.assets {
		if best(id) == edited {
			out[id] = most
		}
	}
	return out
}

// restore brings back those deleted folders that those who act together can bring back, and returns them: one of
// them manages each of these, and what is deleted above it.
func (p *plot) restore(deleted []string) (back []string) {
	for range deleted { // a folder may stand before the one above it
		for _, id := range deleted {
			for _, i := range p.together {
				if _, err := p.svc.As(p.people[i]).Permissions(background, plotLibrary, id); err != nil ||
					slices.Contains(back, id) {
					continue
				}
				no := false
				if _, err := p.changeFolders(plotMaker, "restore",
					assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: id, Deleted: &no}}}); err == nil {
					back = append(back, id)
				}
			}
		}
	}
	return back
}

func (p *plot) must(what string, err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

// one returns one of list, some at most so many of it.
func (p *plot) one(list []string) string { return list[p.IntN(len(list))] }

func (p *plot) some(list []string, most int) []string {
	out := []string{}
	for _, i := range p.Perm(len(list))[:p.IntN(min(most, len(list))+1)] {
		out = append(out, list[i])
	}
	return out
}

// rights returns all rights that a caller has: it asks for what takes them and changes nothing. Of a deleted folder
// there is none.
func (p *plot) rights(by vitrine.Caller) map[string]int {
	out := map[string]int{}
	for _, id := range p.folders {
		f, err := p.svc.As(by).Folder(background, plotLibrary, id)
		if err != nil || f.Deleted {
			continue
		}
		out[id] = viewed
		if _, err := p.svc.As(by).AssignAssets(background, plotLibrary,
			assets.AssignAssetsRequest{Folder: id}); err == nil {
			out[id] = edited
		}
		if _, err := p.svc.As(by).Permissions(background, plotLibrary, id); err == nil {
			out[id] = managed
		}
	}
	changed, err := p.svc.As(by).ChangeAttributes(background, plotLibrary,
		assets.ChangeAttributesRequest{Assets: p.assets})
	p.must("who may change assets", err)
	read := []string{}
	for i, id := range p.assets {
		if _, err := p.svc.As(by).Asset(background, plotLibrary, id); err == nil {
			out[id], read = viewed, append(read, id)
		}
		if changed.Result[i] == 200 {
			out[id] = edited
		}
	}
	p.explained(by, out)
	page, err := p.svc.As(by).Search(background, plotLibrary, assets.SearchRequest{Limit: 500})
	p.must("a search", err)
	found := []string{}
	for _, a := range page.Assets {
		found = append(found, a.ID)
	}
	if slices.Sort(read); !slices.Equal(slices.Sorted(slices.Values(found)), read) {
		p.t.Errorf("%s finds %q and reads %q", by.URN, found, read)
	}
	return out
}

// explained compares the rights that a caller has with what explain says about them.
func (p *plot) explained(by vitrine.Caller, rights map[string]int) {
	for _, id := range slices.Concat(p.folders, p.assets) {
		in, told := assets.ExplainRequest{Folder: id}, hidden
		_, reads := p.svc.As(by).Folder(background, plotLibrary, id)
		if slices.Contains(p.assets, id) {
			in.Asset, in.Folder = id, ""
			_, reads = p.svc.As(by).Asset(background, plotLibrary, id)
		}
		why, err := p.svc.As(by).Explain(background, plotLibrary, in)
		for i, v := range []*assets.Verdict{&why.View, &why.Edit, why.Manage} {
			if v != nil && v.Allowed && why.View.Allowed {
				told = i + 1
			}
		}
		if told != rights[id] || (err == nil) != (reads == nil) {
			p.t.Errorf("%s has right %d on %s and is told %+v, %v", by.URN, rights[id], id, why, err)
		}
	}
}

// check compares the rights of all people with those before, and returns how many were granted by somebody who could
// grant them.
func (p *plot) check() (given int) {
	for i, by := range p.people {
		for id, right := range p.rights(by) {
			if right >= edited && slices.Contains(p.together, i) {
				p.edited[id] = true
			}
			had := p.before[i][id]
			switch {
			case !p.there[id] || right <= had:
			case right <= p.gives[i][id]:
				given++
			default:
				p.t.Errorf("%s has right %d on %s, had %d, and those who act together could give %d", by.URN, right, id,
					had, p.gives[i][id])
			}
		}
	}
	return given
}

// step does something at random as one of those who act together. It returns an error if that is not allowed.
func (p *plot) step() (what string, err error) {
	by := p.people[p.together[p.IntN(len(p.together))]]
	switch p.IntN(10) {
	case 0:
		what, err = p.createFolder(by)
	case 1, 2, 3:
		what, err = p.updateFolder(by)
	case 4:
		what, err = p.changeFolders(by, "delete", assets.ChangeFoldersRequest{Delete: []string{p.one(p.folders)}})
	case 5, 6:
		what, err = p.permit(by)
	case 7:
		what, err = p.addAgain(by)
	case 8:
		what, err = p.assign(by)
	default:
		what, err = p.remove(by)
	}
	return strings.TrimPrefix(by.URN, network+":user=") + " " + what, err
}

func (p *plot) changeFolders(by vitrine.Caller, what string, in assets.ChangeFoldersRequest) (string, error) {
	out, err := p.svc.As(by).ChangeFolders(background, plotLibrary, in)
	for _, f := range out.Folders {
		if !slices.Contains(p.folders, f.ID) {
			p.folders = append(p.folders, f.ID)
		}
	}
	sent, _ := json.Marshal(in)
	return what + " " + string(sent), err
}

// path is that of a folder or of the top level, as a moderator knows it.
func (p *plot) path() string {
	if len(p.folders) == 0 || p.IntN(4) == 0 {
		return "/"
	}
	f, err := p.svc.As(plotMaker).Folder(background, plotLibrary, p.one(p.folders))
	p.must("a folder", err)
	return strings.TrimSuffix(f.Path, "/") + "/" + f.ID
}

func (p *plot) createFolder(by vitrine.Caller) (string, error) {
	inherit := p.IntN(3) > 0
	in := assets.NewFolder{Label: "x", Path: p.path(), Inherit: &inherit}
	if p.IntN(2) == 0 || by.Moderates != nil {
		in.Permissions = p.permissions()
	}
	return p.changeFolders(by, "create", assets.ChangeFoldersRequest{Create: []assets.NewFolder{in}})
}

func (p *plot) updateFolder(by vitrine.Caller) (string, error) {
	in := assets.FolderChange{ID: p.one(p.folders)}
	if p.IntN(2) == 0 {
		path := p.path()
		in.Path = &path
	}
	for _, member := range []**bool{&in.Inherit, &in.Deleted} {
		if p.IntN(3) == 0 {
			yes := p.IntN(2) == 0
			*member = &yes
		}
	}
	return p.changeFolders(by, "update", assets.ChangeFoldersRequest{Update: []assets.FolderChange{in}})
}

func (p *plot) permissions() (list []assets.Permission) {
	for range p.IntN(3) {
		g := assets.Permission{Operation: assets.Operation(p.one([]string{"view", "edit", "manage"}))}
		switch p.IntN(5) {
		case 0:
			g.Role = &assets.Subject{ID: plotRole}
		case 1:
			g.Group = &plotGroup
		default:
			g.User = &assets.Subject{ID: p.one([]string{"a", "b", "c", "d", "e"})}
		}
		list = append(list, g)
	}
	return list
}

func (p *plot) permit(by vitrine.Caller) (string, error) {
	id := p.one(p.folders)
	in := assets.ChangePermissionsRequest{Create: p.permissions()}
	have, err := p.svc.As(plotMaker).Permissions(background, plotLibrary, id)
	p.must("permissions", err)
	for _, g := range have {
		if p.IntN(2) == 0 {
			in.Remove = append(in.Remove, assets.Permission{ID: g.ID})
		}
	}
	in.Folder = id
	_, err = p.svc.As(by).ChangePermissions(background, plotLibrary, in)
	sent, _ := json.Marshal(in)
	return "permissions of " + id + " " + string(sent), err
}

func (p *plot) add(by vitrine.Caller, foreign string, folders []string, text string) (string, error) {
	content, _ := json.Marshal(map[string]string{"content": text})
	in := assets.NewAsset{ID: foreign, Generator: assets.Generator{ID: "g"}, Content: content, Folders: folders}
	out, err := p.svc.As(by).ChangeAssets(background, plotLibrary,
		assets.ChangeAssetsRequest{Add: []assets.NewAsset{in}})
	if err == nil && !slices.Contains(p.assets, out.Added[0].ID) {
		p.assets = append(p.assets, out.Added[0].ID)
	}
	return fmt.Sprintf("add %q to %q", foreign, folders), err
}

// addAgain adds an asset of those that were there, or one that may be new, to some folders; half of the time to
// those that it is in too.
func (p *plot) addAgain(by vitrine.Caller) (string, error) {
	folders := p.some(p.folders, 2)
	if p.IntN(3) == 0 {
		return p.add(by, p.one([]string{"new 0", "new 1"}), folders, "text")
	}
	i := p.IntN(3)
	a, err := p.svc.As(plotMaker).Asset(background, plotLibrary, p.assets[i])
	if err == nil && p.IntN(2) == 0 {
		for _, f := range a.Folders {
			folders = append(folders, f.ID)
		}
	}
	return p.add(by, fmt.Sprint("there ", i), folders, "text")
}

// assign puts an asset into a folder or takes one out. It is done when one of the two was allowed.
func (p *plot) assign(by vitrine.Caller) (string, error) {
	id, in := p.one(p.folders), assets.AssignAssetsRequest{Assign: p.some(p.assets, 1), Remove: p.some(p.assets, 1)}
	in.Folder = id
	out, err := p.svc.As(by).AssignAssets(background, plotLibrary, in)
	if err == nil &&
		!slices.ContainsFunc(slices.Concat(out.Assign, out.Remove), func(i assets.ItemStatus) bool {
			return i.Status == 200
		}) {
		err = vitrine.ErrForbidden
	}
	return fmt.Sprintf("assign %+v in %s", out, id), err
}

func (p *plot) remove(by vitrine.Caller) (string, error) {
	if p.IntN(3) > 0 { // an asset that is gone shows nothing
		return "", vitrine.ErrForbidden
	}
	id := p.one(p.assets)
	_, err := p.svc.As(by).ChangeAssets(background, plotLibrary, assets.ChangeAssetsRequest{Remove: []string{id}})
	return "remove " + id, err
}

// receiveOriginals lets a moderator add the assets that the attackers may have registered before. Each asset is for
// some folders. Whoever sees none of these folders must not read the asset. There is one exception: if
// an attacker could edit one of these folders at some time, the asset may also be in another folder, where it stays.
func (p *plot) receiveOriginals() {
	for _, foreign := range []string{"new 0", "new 1"} {
		var places []string
		for _, id := range p.some(p.folders, 2) {
			if f, err := p.svc.As(plotMaker).Folder(background, plotLibrary, id); err == nil && !f.Deleted {
				places = append(places, id)
			}
		}
		if len(places) == 0 {
			continue
		}
		what, err := p.add(plotMaker, foreign, places, "original")
		if err != nil {
			continue // it is elsewhere
		}
		p.said = append(p.said, "maker "+what)
		if slices.ContainsFunc(places, func(id string) bool { return p.edited[id] }) {
			continue
		}
		for _, by := range p.people {
			can := p.rights(by)
			page, err := p.svc.As(by).Search(background, plotLibrary, assets.SearchRequest{Query: "original"})
			p.must("a search", err)
			sees := slices.ContainsFunc(places, func(id string) bool { return can[id] >= viewed })
			for _, a := range page.Assets {
				if strings.Contains(string(a.Body), `"id":"`+foreign+`"`) && !sees {
					p.t.Errorf("%s reads the original of %q, which is for %q", by.URN, foreign, places)
				}
			}
		}
	}
}
