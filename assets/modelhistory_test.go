package assets_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// Whatever callers do and ask, the service answers as a model of it does.
func TestTheServiceAgreesWithItsModel(t *testing.T) {
	t.Run("few", agreesWithItsModel)
	t.Run("index", func(t *testing.T) { assets.FacetsByIndex(t); agreesWithItsModel(t) })
}

func agreesWithItsModel(t *testing.T) {
	inMemory := memory.New()
	for seed := range 24 {
		var store storage.Store = inMemory
		if seed%8 == 3 {
			store = proof.LateReads(memory.New())
		}
		h := newHistory(t, store, uint64(seed))
		for range 120 {
			h.act()
			if h.IntN(4) == 0 {
				h.look()
			}
		}
		h.walk()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// depth is how deep the folders of a history go.
const depth = 4

var foundWords = map[string][]string{ // each word as it is written
	"red": {"red", "Red", "<b>RED</b>"}, "redder": {"redder", "Re<i>dder</i>"}, longWord + "1": {longWord + "1"},
	longWord + "2": {longWord + "2"},
	"cafe":         {"café", "cafe\u0301", "CAF&Eacute;"}, "漢": {"漢", "X漢"}, "rot": {"#rot", "@rot_"},
	"launch": {"launch", "Laun\u00adch"}, "lunch": {"lunch"}, "lanuch": {"lanuch"},
	"celebrating": {"celebrating"}, "clebratign": {"clebratign"}, "🙂": {"🙂"}, "coeur": {"cœur"},
}

var (
	authors = []string{"Ann", "ann", "Böb", longValue}
	tongues = []string{"en", "en-GB", "eng", "de"}
	hosts   = []string{"a.example", "b.a.example", "ba.example"}
)

// longWord begins words, and longValue attributes, that are longer than a term of the index.
var longWord, longValue = strings.Repeat("ක", 200), strings.Repeat("v", 300)

// history is a random run of requests to a service and to the model of it, in a library of its own.
type history struct {
	randomData
	t       *testing.T
	svc     *assets.Service
	lib     assets.Library
	model   *modelService
	callers []modelCaller
	steady  bool // repeats of assets do not change createdAt
}

func newHistory(t *testing.T, s storage.Store, seed uint64) *history {
	d := randomData{rand.New(rand.NewPCG(seed, 1))}
	ids := 0
	h := &history{
		randomData: d, t: t, lib: assets.Library{Network: fmt.Sprint("n", seed), ID: "lib"},
		model: &modelService{folders: map[string]*modelFolder{}},
		svc: assets.New(s, &assets.Options{
			Now:    func() time.Time { return time.UnixMilli(1_700_000_000_000 + d.Int64N(1000)) },
			NewID:  func() string { ids++; return fmt.Sprintf("Id%03d", ids) },
			Limits: assets.Limits{Depth: depth, Query: 4096, SearchTime: time.Minute}, // a slow machine is no fault
		}),
	}
	urn := "urn:vitrine:" + h.lib.Network
	for i, name := range []string{"ann", "bob", "cy", "mod"} {
		c := modelCaller{Caller: vitrine.Caller{URN: urn + ":user=" + name}, is: []string{"user " + name},
			moderator: name == "mod"}
		if c.moderator {
			c.Moderates = []string{"urn:other:x", urn}
		}
		if i%2 == 0 {
			c.Roles, c.is = []string{"x", "writer"}, append(c.is, "role x", "role writer")
		}
		if i > 0 {
			c.Groups, c.is = []string{urn + ":site=1"}, append(c.is, "group "+urn+":site=1")
		}
		h.callers = append(h.callers, c)
	}
	_, err := h.svc.As(h.callers[3].Caller).Search(ctx, h.lib, assets.SearchRequest{})
	h.compare("Search before the library exists", err, vitrine.ErrNotFound)
	for len(h.model.folders) == 0 {
		h.createFolder(h.callers[3])
	}
	return h
}

// compare reports an error that is of another kind than the model's.
func (h *history) compare(call string, err, want error) {
	h.t.Helper()
	if !errors.Is(err, want) || want == nil && err != nil {
		h.t.Fatalf("%s: error %v, want %v", call, err, want)
	}
}

func (h *history) caller() modelCaller { return pick(h.randomData, h.callers) }

// folder returns the id of a folder, sometimes of one that is not there.
func (h *history) folder() string {
	return pick(h.randomData, append(slices.Sorted(maps.Keys(h.model.folders)), "Id999"))
}

func (h *history) assets(n int) []string {
	ids := []string{"absent", "AAAAAAAAAAAAAAAAAAAAAA"}
	for _, a := range h.model.assets {
		ids = append(ids, a.id)
	}
	return h.some(n, func() string { return pick(h.randomData, ids) })
}

func (h *history) act() {
	by := h.caller()
	switch h.IntN(12) {
	case 0, 1:
		h.createFolder(by)
	case 2, 3:
		h.updateFolder(by)
	case 4:
		h.deleteFolder(by)
	case 5:
		h.permit(by)
	case 6, 7, 8:
		h.add(by)
	case 9:
		h.remove(by)
	case 10:
		h.assign(by)
	case 11:
		h.label(by)
	}
}

// permissions returns random grants in both forms.
func (h *history) permissions() (list []assets.Permission, grants []modelGrant) {
	for range h.IntN(3) {
		p := assets.Permission{Operation: pick(h.randomData,
			[]assets.Operation{assets.View, assets.Edit, assets.Manage})}
		g := modelGrant{right: slices.Index([]assets.Operation{"", assets.View, assets.Edit, assets.Manage},
			p.Operation)}
		urn := "urn:vitrine:" + h.lib.Network
		switch h.IntN(4) {
		case 0:
			p.Role, g.to = &assets.Subject{ID: "writer"}, "role writer"
		case 1:
			group := urn + ":site=" + pick(h.randomData, []string{"1", "10"})
			p.Group, g.to = &group, "group "+group
		case 2:
			p.User, g.to = &assets.Subject{ID: "ann", Name: pick(h.randomData, []string{"", "A"})}, "user ann"
		case 3:
			p.User, g.to = &assets.Subject{ID: urn + ":user=bob"}, "user bob"
		}
		list = append(list, p)
		if !slices.Contains(grants, g) {
			grants = append(grants, g)
		}
	}
	return list, grants
}

// place returns the path of a folder and the folder, nil for the top, and whether the caller sees it.
func (h *history) place(by modelCaller) (path string, f *modelFolder, seen bool) {
	if h.IntN(4) == 0 {
		return "/", nil, true
	}
	f = h.model.folders[h.folder()]
	if f == nil {
		return "/Id999", nil, false
	}
	return h.model.path(f), f, h.model.sees(by, f)
}

// nest returns the error of putting something so high into parent.
func (h *history) nest(by modelCaller, parent *modelFolder, height int) error {
	switch {
	case parent == nil && !by.moderator, parent != nil && h.model.right(by, parent) < 2:
		return vitrine.ErrForbidden
	case h.model.depth(parent)+height > depth:
		return vitrine.ErrInvalid
	}
	return nil
}

func (h *history) createFolder(by modelCaller) {
	path, parent, seen := h.place(by)
	f := &modelFolder{label: pick(h.randomData, []string{"b", "A", "a", "B"}), inherit: h.IntN(3) > 0}
	in := assets.NewFolder{Label: f.label, Path: path, Inherit: &f.inherit}
	in.Permissions, f.grants = h.permissions()
	want := h.nest(by, parent, 1)
	if !seen {
		want = vitrine.ErrNotFound
	}
	if want == nil && len(f.grants) > 0 && parent != nil && h.model.right(by, parent) < 3 {
		want = vitrine.ErrForbidden
	}
	got, err := h.svc.As(by.Caller).ChangeFolders(ctx, h.lib,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{in}})
	h.compare("create a folder", err, want)
	if want == nil {
		if parent != nil {
			f.parent = parent.id
		}
		f.id = got.Folders[0].ID
		h.model.folders[f.id] = f
		h.checkFolder(by, got.Folders[0], f, false)
	}
}

// manage returns the error of naming a folder to change it.
func (h *history) manage(by modelCaller, f *modelFolder, restore bool) error {
	switch {
	case f == nil, !h.model.alive(f) && (!restore || h.model.right(by, f) < 3), h.model.right(by, f) == 0:
		return vitrine.ErrNotFound
	case h.model.right(by, f) < 3:
		return vitrine.ErrForbidden
	}
	return nil
}

func (h *history) updateFolder(by modelCaller) {
	in := assets.FolderChange{ID: h.folder()}
	f := h.model.folders[in.ID]
	if h.IntN(2) == 0 {
		deleted := h.IntN(4) == 0
		in.Deleted = &deleted
	}
	want := h.manage(by, f, in.Deleted != nil && !*in.Deleted)
	next := modelFolder{}
	if f != nil {
		next = *f
	}
	if h.IntN(2) == 0 {
		next.inherit = h.IntN(3) > 0
		inherit := next.inherit
		in.Inherit = &inherit
	}
	if want == nil && in.Deleted != nil && !*in.Deleted && !h.model.alive(h.model.parent(f)) {
		want = vitrine.ErrInvalid
	}
	if h.IntN(2) == 0 {
		path, parent, seen := h.place(by)
		in.Path = &path
		if errors.Is(want, vitrine.ErrInvalid) && h.model.managesDeleted(by, h.model.parent(f)) {
			want = nil
		}
		id := ""
		if parent != nil {
			id = parent.id
		}
		if want == nil {
			switch moved := id != f.parent; {
			case !seen:
				want = vitrine.ErrNotFound
			case moved && h.model.below(parent, f):
				want = vitrine.ErrInvalid
			case moved:
				want = h.nest(by, parent, h.model.height(f))
			}
			if in.Open = h.IntN(6) == 0; in.Open && !by.moderator && want == nil {
				want = vitrine.ErrForbidden
			}
			if id != f.parent && f.inherit && next.inherit && !in.Open {
				next = h.model.moveOut(next, parent)
			}
			next.parent = id
		}
	}
	if in.Deleted != nil {
		next.deleted = *in.Deleted
	}
	got, err := h.svc.As(by.Caller).ChangeFolders(ctx, h.lib,
		assets.ChangeFoldersRequest{Update: []assets.FolderChange{in}})
	h.compare(fmt.Sprintf("update folder %s", in.ID), err, want)
	if want == nil {
		*f = next
		h.checkFolder(by, got.Folders[0], f, false)
	}
}

func (h *history) deleteFolder(by modelCaller) {
	ids := h.some(2, h.folder)
	var want error
	for _, id := range ids {
		if want == nil {
			want = h.manage(by, h.model.folders[id], false)
		}
	}
	_, err := h.svc.As(by.Caller).ChangeFolders(ctx, h.lib, assets.ChangeFoldersRequest{Delete: ids})
	h.compare("delete folders", err, want)
	if want == nil {
		for _, id := range ids {
			h.model.folders[id].deleted = true
		}
	}
}

func (h *history) permit(by modelCaller) {
	id := h.folder()
	f := h.model.folders[id]
	create, granted := h.permissions()
	remove, revoked := h.permissions()
	want := h.manage(by, f, false)
	got, err := h.svc.As(by.Caller).ChangePermissions(ctx, h.lib,
		assets.ChangePermissionsRequest{Folder: id, Create: create, Remove: remove})
	h.compare("change permissions", err, want)
	if want == nil {
		had := len(f.grants)
		f.grants = slices.DeleteFunc(slices.Clone(f.grants), func(g modelGrant) bool {
			return slices.Contains(revoked, g)
		})
		for _, g := range granted {
			if !slices.Contains(f.grants, g) {
				f.grants = append(f.grants, g)
			}
		}
		f.inherit = f.inherit && (had == 0 || len(f.grants) > 0)
		if len(got) != len(f.grants) {
			h.t.Fatalf("folder %s has %d permissions, want %d", id, len(got), len(f.grants))
		}
	}
}

func (h *history) add(by modelCaller) {
	a := &modelAsset{
		generator: pick(h.randomData, []string{"g.example", "G.example"}), foreign: fmt.Sprint(h.IntN(12)),
		texts: map[string][][]string{},
		tags:  map[string]bool{}, folders: map[string]bool{}, attributes: map[assets.Attribute]bool{},
	}
	in := assets.NewAsset{ID: a.foreign, Generator: assets.Generator{ID: a.generator}, Folders: h.some(2, h.folder)}
	text := func(where string, most int) (written string) {
		var words []string
		for range h.IntN(most + 1) {
			word := pick(h.randomData, slices.Sorted(maps.Keys(foundWords)))
			form := pick(h.randomData, foundWords[word])
			if written += form + ". "; form == "X漢" {
				words = append(words, "x")
			}
			words = append(words, word)
		}
		a.texts[where] = append(a.texts[where], words)
		return written
	}
	a.author, a.lang = pick(h.randomData, authors), pick(h.randomData, tongues)
	a.host = pick(h.randomData, hosts)
	in.Content, _ = json.Marshal(map[string]any{
		"content": text("text", 5), "extra": 1.5, "lang": a.lang,
		"attributedTo": map[string]string{"username": text("text", 2), "displayName": text("text", 2), "id": a.author},
		"attachment": []any{map[string]string{"version": "1.0", "type": "photo", "title": text("attachments", 3)},
			map[string]any{"version": "1.0", "type": "link", "url": map[string]string{"href": "https://" + a.host}}},
	})
	if h.IntN(2) == 0 {
		in.SafeTags = h.some(2, h.tag)
		for _, tag := range in.SafeTags {
			a.tags[tag] = true
		}
	}
	if h.IntN(2) == 0 {
		a.via = 1 + h.Int64N(2)
		in.Via = &a.via
	}
	i := slices.IndexFunc(h.model.assets, func(b *modelAsset) bool {
		return b.generator == a.generator && b.foreign == a.foreign
	})
	if h.IntN(2) == 0 && (i < 0 || !h.steady) {
		at := h.time()
		in.CreatedAt = &at
		a.created = at.UnixMilli()
	}
	for range h.IntN(3) {
		x := h.attribute()
		in.Attributes, a.attributes[x] = append(in.Attributes, x), true
	}
	var want error
	for _, id := range in.Folders {
		f := h.model.folders[id]
		a.folders[id] = true
		switch {
		case want != nil:
		case f == nil || !h.model.sees(by, f):
			want = vitrine.ErrNotFound
		case h.model.right(by, f) < 2:
			want = vitrine.ErrForbidden
		}
	}
	if want == nil &&
		(i < 0 && len(in.Folders) == 0 && !by.moderator || i >= 0 && !h.model.edits(by, h.model.assets[i])) {
		want = vitrine.ErrForbidden
	}
	if want == nil && i >= 0 && h.model.elsewhere(by, h.model.assets[i], a) {
		want = vitrine.ErrConflict
	}
	got, err := h.svc.As(by.Caller).ChangeAssets(ctx, h.lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{in}})
	h.compare("add an asset", err, want)
	if want != nil {
		return
	}
	a.id = got.Added[0].ID
	if i < 0 {
		if in.CreatedAt == nil {
			a.created = got.Added[0].CreatedAt
		}
		h.model.assets = append(h.model.assets, a)
		return
	}
	old := h.model.assets[i]
	if a.id != old.id {
		h.t.Fatalf("a repeat of %s has the id %s", old.id, a.id)
	}
	old.texts, old.author, old.lang, old.host = a.texts, a.author, a.lang, a.host
	maps.Copy(old.folders, a.folders)
	maps.Copy(old.attributes, a.attributes)
	if in.CreatedAt != nil {
		old.created = a.created
	}
	if in.SafeTags != nil {
		old.tags = a.tags
	}
	if in.Via != nil {
		old.via = a.via
	}
}

func (h *history) tag() string { return pick(h.randomData, []string{"t", "T", "a b", "é"}) }

func (h *history) remove(by modelCaller) {
	ids := h.assets(2)
	var want error
	removed := []string{}
	for _, id := range ids {
		if a := h.model.asset(id); a != nil && h.model.reads(by, a) {
			removed = append(removed, id)
			if !h.model.edits(by, a) {
				want = vitrine.ErrForbidden
			}
		}
	}
	got, err := h.svc.As(by.Caller).ChangeAssets(ctx, h.lib, assets.ChangeAssetsRequest{Remove: ids})
	h.compare("remove assets", err, want)
	if want == nil {
		h.model.assets = slices.DeleteFunc(h.model.assets, func(a *modelAsset) bool {
			return slices.Contains(removed, a.id)
		})
		if !slices.Equal(got.Removed, removed) {
			h.t.Fatalf("removed %v, want %v", got.Removed, removed)
		}
	}
}

func (h *history) assign(by modelCaller) {
	id := h.folder()
	f := h.model.folders[id]
	in := assets.AssignAssetsRequest{Assign: h.assets(3), Remove: h.assets(3)}
	var want error
	switch {
	case f == nil || !h.model.sees(by, f):
		want = vitrine.ErrNotFound
	case h.model.right(by, f) < 2:
		want = vitrine.ErrForbidden
	}
	in.Folder = id
	got, err := h.svc.As(by.Caller).AssignAssets(ctx, h.lib, in)
	h.compare("assign assets", err, want)
	if want != nil {
		return
	}
	for i, item := range got.Remove {
		a, status := h.model.asset(in.Remove[i]), 404
		if a != nil && h.model.reads(by, a) {
			status = 200
			if a.folders[id] && len(a.folders) == 1 && !by.moderator {
				status = 403
			} else {
				delete(a.folders, id)
			}
		}
		h.checkStatus(item, in.Remove[i], status)
	}
	for i, item := range got.Assign {
		a, status := h.model.asset(in.Assign[i]), 404
		if a != nil && h.model.reads(by, a) {
			status = 403
			if a.folders[id] || h.model.edits(by, a) {
				a.folders[id], status = true, 200
			}
		}
		h.checkStatus(item, in.Assign[i], status)
	}
}

func (h *history) checkStatus(got assets.ItemStatus, id string, status int) {
	if got != (assets.ItemStatus{ID: id, Status: status}) {
		h.t.Fatalf("status %+v, want %d for %s", got, status, id)
	}
}

func (h *history) attribute() assets.Attribute {
	if h.IntN(2) == 0 { // many values
		return assets.Attribute{Key: "many", Value: fmt.Sprint(h.IntN(60))}
	}
	return assets.Attribute{Key: pick(h.randomData, []string{"k", "K"}),
		Value: pick(h.randomData, []string{"", "1", "é", "1=2", longValue + "1", longValue + "2"})}
}

func (h *history) label(by modelCaller) {
	in := assets.ChangeAttributesRequest{Assets: h.assets(3)}
	for _, list := range []*[]assets.Attribute{&in.Add, &in.Set, &in.Remove} {
		for range h.IntN(3) * (1 + h.IntN(2)*h.IntN(8)) {
			*list = append(*list, h.attribute())
		}
	}
	got, err := h.svc.As(by.Caller).ChangeAttributes(ctx, h.lib, in)
	h.compare("change attributes", err, nil)
	for i, id := range in.Assets {
		a, status := h.model.asset(id), 404
		if a != nil && h.model.reads(by, a) {
			status = 403
			if h.model.edits(by, a) {
				status = 200
				for _, x := range in.Remove {
					delete(a.attributes, x)
				}
				for _, x := range in.Set {
					maps.DeleteFunc(a.attributes, func(y assets.Attribute, _ bool) bool { return y.Key == x.Key })
					a.attributes[x] = true
				}
				for _, x := range in.Add {
					a.attributes[x] = true
				}
			}
		}
		if got.Result[i] != status {
			h.t.Fatalf("attributes of %s: status %d, want %d", id, got.Result[i], status)
		}
	}
}

// randomData makes random requests.
type randomData struct{ *rand.Rand }

func pick[T any](d randomData, from []T) T { return from[d.IntN(len(from))] }

// some returns up to most different strings, sorted.
func (d randomData) some(most int, one func() string) []string {
	var out []string
	for range d.IntN(most + 1) {
		out = append(out, one())
	}
	slices.Sort(out)
	return slices.Compact(out)
}
