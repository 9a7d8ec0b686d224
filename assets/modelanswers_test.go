package assets_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
)

// look compares all that a random caller can see, and some of what it can ask.
func (h *history) look() {
	by := h.caller()
	h.lookAtFolders(by)
	h.lookAtAssets(by)
	for range 6 {
		h.lookFor(by, h.search())
	}
	for _, key := range []string{"k", "K", "many", "none"} {
		got, err := h.svc.As(by.Caller).Attributes(ctx, h.lib, key)
		h.compare("Attributes", err, nil)
		if want := h.model.values(by, key); !slices.Equal(got, want) {
			h.t.Fatalf("Attributes(%q) for %s: %v, want %v", key, by.URN, got, want)
		}
	}
}

func (h *history) lookAtFolders(by modelCaller) {
	for id, f := range h.model.folders {
		got, err := h.svc.As(by.Caller).Folder(ctx, h.lib, id)
		var want error
		if !h.model.sees(by, f) && (h.model.alive(f) || h.model.right(by, f) < 3) {
			want = vitrine.ErrNotFound
		}
		h.compare("Folder", err, want)
		if want == nil {
			h.checkFolder(by, got, f, true)
		} else if absent := h.errorOf(h.svc.As(by.Caller).Folder(ctx, h.lib, "absent")); err.Error() != absent.Error() {
			h.t.Fatalf("a hidden folder reads %q, an absent one %q", err, absent)
		}
		list, err := h.svc.As(by.Caller).ListFolders(ctx, h.lib,
			assets.ListFoldersRequest{Paths: []string{h.model.path(f)}})
		h.compare("ListFolders", err, nil)
		h.checkList(list.Items, h.model.children(by, id))
		h.checkAncestors(list, h.model.ancestors(by, id))
		why, err := h.svc.As(by.Caller).Explain(ctx, h.lib, assets.ExplainRequest{Folder: id})
		if h.compare("Explain", err, want); err == nil {
			alive, right := h.model.alive(f), h.model.right(by, f)
			for i, allowed := range []bool{alive && right >= 1, alive && right >= 2, right >= 3} {
				if got := []assets.Verdict{why.View, why.Edit, *why.Manage}[i]; got.Allowed != allowed ||
					got.Rule == "" {
					h.t.Fatalf("Explain(%s) for %s: %+v; want %v for the %d.", id, by.URN, got, allowed, i)
				}
			}
		}
	}
	list, err := h.svc.As(by.Caller).ListFolders(ctx, h.lib, assets.ListFoldersRequest{})
	h.compare("ListFolders", err, nil)
	h.checkList(list.Items, h.model.children(by, ""))
	h.checkAncestors(list, h.model.ancestors(by, ""))
}

func (h *history) checkAncestors(list assets.FolderPage, want []string) {
	var got []string
	for _, a := range list.Ancestors {
		got = append(got, strings.TrimSuffix(a.Path, "/")+"/"+a.ID)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		h.t.Fatalf("ancestors %v, want %v", got, want)
	}
}

func (h *history) errorOf(_ any, err error) error { return err }

func (h *history) checkList(got []assets.Folder, want []string) {
	ids := []string{}
	for _, f := range got {
		ids = append(ids, f.ID)
	}
	if !slices.Equal(ids, want) {
		h.t.Fatalf("folders %v, want %v", ids, want)
	}
}

func (h *history) checkFolder(by modelCaller, got assets.Folder, f *modelFolder, full bool) {
	path := "/"
	if p := h.model.parent(f); p != nil {
		path = h.model.path(p)
	}
	if got.ID != f.id || got.Path != path || got.Label != f.label || got.Inherit != f.inherit ||
		got.Deleted == h.model.alive(f) {
		h.t.Fatalf("folder %+v, want %+v in %s", got, *f, path)
	}
	if full && !slices.Equal(got.Children, h.model.children(by, f.id)) {
		h.t.Fatalf("children %v of %s for %s, want %v", got.Children, f.id, by.URN, h.model.children(by, f.id))
	}
	if manages := h.model.right(by, f) == 3; (got.Permissions != nil) != manages || manages &&
		len(got.Permissions) != len(f.grants) {
		h.t.Fatalf("permissions %v of %s for %s, want %v", got.Permissions, f.id, by.URN, f.grants)
	}
}

func (h *history) lookAtAssets(by modelCaller) {
	absent := h.errorOf(h.svc.As(by.Caller).Asset(ctx, h.lib, "absent"))
	for _, a := range h.model.assets {
		got, err := h.svc.As(by.Caller).Asset(ctx, h.lib, a.id)
		if !h.model.reads(by, a) {
			if !errors.Is(err, vitrine.ErrNotFound) || err.Error() != absent.Error() {
				h.t.Fatalf("a hidden asset reads %q, an absent one %q", err, absent)
			}
			continue
		}
		h.compare("Asset", err, nil)
		h.checkAsset(by, got, a)
	}
}

func (h *history) checkAsset(by modelCaller, got assets.Asset, a *modelAsset) {
	want := map[string]bool{}
	for id := range a.folders {
		if h.model.sees(by, h.model.folders[id]) {
			want[id] = true
		}
	}
	have := map[string]bool{}
	for _, f := range got.Folders {
		have[f.ID] = true
	}
	if !maps.Equal(have, want) || len(have) != len(got.Folders) || got.ID != a.id {
		h.t.Fatalf("asset %s is in %v for %s, want %v", a.id, have, by.URN, want)
	}
	var body struct {
		Content struct {
			ID        string
			Generator struct{ ID string }
			Published string
			Extra     json.Number
		}
		CreatedAt  string
		Tags       []string `json:"safe_tags"`
		Via        int64
		Attributes []assets.Attribute
	}
	if err := json.Unmarshal(got.AppendJSON(nil), &body); err != nil {
		h.t.Fatal(err)
	}
	c := body.Content
	if got.CreatedAt != a.created || c.ID != a.foreign || c.Generator.ID != a.generator ||
		c.Published != body.CreatedAt || c.Extra != "1.5" || body.Via != a.via ||
		!sameSet(body.Tags, a.tags) || !sameSet(body.Attributes, a.attributes) {
		h.t.Fatalf("asset %s, want %+v", got.AppendJSON(nil), a)
	}
}

func sameSet[T comparable](list []T, set map[T]bool) bool {
	for _, v := range list {
		if !set[v] {
			return false
		}
	}
	return len(list) == len(set)
}

// search returns random filters.
func (h *history) search() (s modelSearch) {
	word := func() string {
		return pick(h.randomData, append(slices.Sorted(maps.Keys(foundWords)), "none", "launhc", "celebratin"))
	}
	phrase := func() []string {
		if a := h.anAsset(); a != nil && h.IntN(3) > 0 { // one that there is
			if texts := a.textsIn([]string{"text", "attachments", "attributes"}); len(texts) > 0 {
				if words := pick(h.randomData, texts); len(words) > 0 {
					from := h.IntN(len(words))
					return words[from:min(len(words), from+1+h.IntN(3))]
				}
			}
		}
		return []string{word(), word()}
	}
	s.Typos = h.IntN(3) == 0
	if h.IntN(3) == 0 {
		s.In = [][]string{{"text"}, {"attachments"}, {"attributes", "text"}, {"text", "attachments", "text"},
			{"attributes"}, {"attachments", "text", "attributes"}}[h.IntN(6)]
	}
	between := func() string { return pick(h.randomData, []string{" ", ",", "#", " *"}) }
	if h.IntN(2) == 0 {
		s.words = h.some(2, word)
		for _, w := range s.words {
			s.Query += between() + w
		}
	}
	if h.IntN(2) == 0 {
		s.prefixes = h.some(1, word)
		for i, w := range s.prefixes {
			if runes := []rune(w); len(runes) > 2 {
				w = string(runes[:2+h.IntN(len(runes)-1)])
			}
			if w == "🙂" { // too short
				w = "la"
			}
			s.prefixes[i] = w
			s.Query += between() + w + pick(h.randomData, []string{"*", "**", "*,"})
		}
	}
	if h.IntN(3) == 0 {
		s.phrases = append(s.phrases, phrase())
		s.Query += ` "` + strings.Join(s.phrases[0], pick(h.randomData, []string{" ", ", ", " - "})) + `"`
	}
	if s.Query != "" && h.IntN(3) == 0 && len(s.words)+len(s.prefixes)+len(s.phrases) > 0 {
		switch h.IntN(3) {
		case 0:
			s.without = append(s.without, []string{word()})
			s.Query += " -" + s.without[0][0]
		case 1:
			s.without = append(s.without, phrase())
			s.Query += ` -"` + strings.Join(s.without[0], " ") + `"`
		case 2:
			s.withoutPrefixes = append(s.withoutPrefixes, "la")
			s.Query += " -La*"
		}
	}
	switch h.IntN(4) {
	case 0:
		s.Folder = h.folder()
	case 1:
		s.FolderTree = h.folder()
	}
	if h.IntN(4) == 0 {
		s.Generator = pick(h.randomData, []string{"g.example", "G.example", "g"})
	}
	if s.Generator != "" && h.IntN(2) == 0 {
		s.ForeignID = fmt.Sprint(h.IntN(12))
	}
	s.Sort = pick(h.randomData, []string{"", "added", "createdAt"})
	if h.IntN(4) == 0 {
		via := h.Int64N(3)
		if via > 0 {
			s.Via = &via
		}
	}
	if h.IntN(4) == 0 {
		s.Tags = h.some(2, h.tag)
	}
	if h.IntN(8) == 0 {
		s.TagsAny = append(h.some(2, h.tag), h.tag())
	}
	if h.IntN(8) == 0 {
		s.NotTags = h.some(2, h.tag)
	}
	if h.IntN(8) == 0 {
		s.NotGenerators = []string{"G.example"}
	}
	for _, f := range []struct {
		field *string
		from  []string
	}{{&s.Author, authors}, {&s.Lang, tongues}, {&s.Link, hosts}, {&s.Filed, []string{"none", "any"}}} {
		if h.IntN(8) == 0 {
			*f.field = pick(h.randomData, f.from)
		}
	}
	if h.IntN(4) == 0 {
		a := h.attribute()
		s.Attributes = append(s.Attributes, a.Key+":"+a.Value)
	}
	if h.IntN(4) == 0 {
		s.Attributes = append(s.Attributes, h.attribute().Key)
	}
	if h.IntN(4) == 0 {
		s.CreatedFrom = h.time()
	}
	if h.IntN(4) == 0 {
		s.CreatedBefore = h.time()
	}
	s.Facets = h.some(4, func() string {
		return pick(h.randomData,
			[]string{"generator", "tags", "via", "rights", "folder", "attribute", "attribute:k", "attribute:K",
				"attribute:many",
				"attribute:none"})
	})
	return s
}

// anAsset returns an asset, nil if there is none.
func (h *history) anAsset() *modelAsset {
	if len(h.model.assets) == 0 {
		return nil
	}
	return pick(h.randomData, h.model.assets)
}

// time returns a time near those at which assets are added, or some weeks earlier.
func (h *history) time() time.Time {
	weeks := time.Duration(max(0, h.IntN(8)-4)) * 12 * 24 * time.Hour // mostly the same
	return time.UnixMilli(1_700_000_000_000 +
		h.Int64N(1100) - 50).Add(time.Duration(h.IntN(2))*time.Microsecond - weeks)
}

func (h *history) lookFor(by modelCaller, m modelSearch) {
	found, wantErr := h.model.search(by, m)
	var want []string
	for _, a := range found {
		want = append(want, a.id)
	}
	s := m.SearchRequest
	s.Limit = 1 + h.IntN(5)
	page, err := h.svc.As(by.Caller).Search(ctx, h.lib, s)
	h.compare(fmt.Sprintf("Search(%+v)", s), err, wantErr)
	if wantErr != nil {
		return
	}
	slices.Reverse(want)
	total := int64(len(want))
	first := want[:min(s.Limit, len(want))]
	if got := idsOf(page); !slices.Equal(got, first) || page.Total != total {
		h.t.Fatalf("Search(%+v) for %s: %v of %d, want %v of %d", s, by.URN, got, page.Total, first, total)
	}
	for _, a := range page.Assets {
		h.checkAsset(by, a, h.model.asset(a.ID))
	}
	if len(page.Facets) != len(s.Facets) {
		h.t.Fatalf("Search(%+v): %d facets, want %d", s, len(page.Facets), len(s.Facets))
	}
	for i, f := range page.Facets {
		if want := h.model.facet(by, s.Facets[i], found); f.Name != s.Facets[i] || !slices.Equal(f.Values, want) {
			h.t.Fatalf("Search(%+v) for %s: facet %+v, want %+v", s, by.URN, f, want)
		}
	}
	h.walkPages(by, s, page, want)
}

// walkPages goes to the end of a search and back.
func (h *history) walkPages(by modelCaller, s assets.SearchRequest, page assets.SearchPage, want []string) {
	there, back, sort := idsOf(page), []string{}, s.Sort
	for page.HasPrev {
		s.Until = page.Prev
		if h.IntN(2) == 0 {
			s.Sort = "" // the cursor has it
		}
		page = h.page(by, s)
		there = append(there, idsOf(page)...)
	}
	if !slices.Equal(there, want) {
		h.t.Fatalf("a walk by until meets %v, want %v", there, want)
	}
	s.Until, s.Order, s.Sort = "", "asc", sort
	for page = h.page(by, s); ; page = h.page(by, s) {
		if page.HasPrev != (s.Since != "") {
			h.t.Fatalf("hasPrev is %v on a page since %q", page.HasPrev, s.Since)
		}
		back = append(back, idsOf(page)...)
		s.Since = page.Next
		if !page.HasNext {
			break
		}
	}
	slices.Reverse(back)
	if !slices.Equal(back, want) {
		h.t.Fatalf("a walk by since meets %v, want %v", back, want)
	}
}

func (h *history) page(by modelCaller, s assets.SearchRequest) assets.SearchPage {
	page, err := h.svc.As(by.Caller).Search(ctx, h.lib, s)
	h.compare("Search", err, nil)
	return page
}

func idsOf(p assets.SearchPage) []string {
	ids := []string{}
	for _, a := range p.Assets {
		ids = append(ids, a.ID)
	}
	return ids
}

// walk goes through all assets by cursors while others are added and removed, also those that the
// cursors stand on, and must meet each that stays exactly once, whatever the sort.
func (h *history) walk() {
	h.steady = true
	for _, sort := range []string{"added", "createdAt"} {
		h.walkBy(sort)
	}
}

func (h *history) walkBy(sort string) {
	mod := h.callers[3]
	before := map[string]bool{}
	for _, a := range h.model.assets {
		before[a.id] = h.model.inSight(mod, a)
	}
	met := map[string]int{}
	s := assets.SearchRequest{Limit: 2, Order: "asc", Sort: sort}
	for {
		page := h.page(mod, s)
		for _, id := range idsOf(page) {
			met[id]++
		}
		s.Since = page.Next
		if !page.HasNext {
			break
		}
		s.Sort = pick(h.randomData, []string{sort, ""})
		if h.IntN(2) == 0 {
			gone := page.Assets[len(page.Assets)-1].ID
			_, err := h.svc.As(mod.Caller).ChangeAssets(ctx, h.lib, assets.ChangeAssetsRequest{Remove: []string{gone}})
			h.compare("remove", err, nil)
			h.model.assets = slices.DeleteFunc(h.model.assets, func(a *modelAsset) bool { return a.id == gone })
		}
		if len(met) < 200 {
			h.add(mod)
		}
		if len(met) > 60 {
			break
		}
	}
	for id, n := range met {
		if n != 1 {
			h.t.Fatalf("the walk met %s %d times", id, n)
		}
	}
	for id, visible := range before {
		if a := h.model.asset(id); visible && len(met) <= 60 && met[id] != 1 && a != nil {
			h.t.Fatalf("the walk met %s, which was there all the time, %d times", id, met[id])
		}
	}
}
