package assets_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
)

// modelService says in its own, slow words what the asset manager must answer: it looks at every
// folder and every asset, knows no terms, and shares no code with the service.
type modelService struct {
	folders map[string]*modelFolder
	assets  []*modelAsset // in the order of adding
}

type modelFolder struct {
	id, parent, label string
	inherit, deleted  bool
	grants            []modelGrant
}

// modelGrant gives right 1 (view), 2 (edit) or 3 (manage) to one of "user …", "role …", "group …".
type modelGrant struct {
	right int
	to    string
}

type modelAsset struct {
	id, generator, foreign string
	texts                  map[string][][]string // the words of each, by where it is: text or attachments
	tags                   map[string]bool
	author, lang, host     string
	via                    int64 // 0 = none
	folders                map[string]bool
	attributes             map[assets.Attribute]bool
	created                int64 // milliseconds since the epoch
}

// modelCaller is a caller, and who it is in grants.
type modelCaller struct {
	vitrine.Caller
	moderator bool
	is        []string
}

func (m *modelService) parent(f *modelFolder) *modelFolder { return m.folders[f.parent] }

// reach returns the folders whose grants count for f.
func (m *modelService) reach(f *modelFolder) []*modelFolder {
	if f.inherit && f.parent != "" {
		return append(m.reach(m.parent(f)), f)
	}
	return []*modelFolder{f}
}

// right is 0 for nothing at all.
func (m *modelService) right(by modelCaller, f *modelFolder) int {
	if by.moderator {
		return 3
	}
	best, grants := 0, 0
	reach := m.reach(f)
	for _, at := range reach {
		for _, g := range at.grants {
			grants++
			if slices.Contains(by.is, g.to) {
				best = max(best, g.right)
			}
		}
	}
	if top := reach[0]; grants == 0 && top.parent == "" && top.inherit {
		return 1
	}
	return best
}

func (m *modelService) alive(f *modelFolder) bool {
	return f == nil || !f.deleted && m.alive(m.parent(f))
}

func (m *modelService) sees(by modelCaller, f *modelFolder) bool {
	return m.alive(f) && m.right(by, f) > 0
}

func (m *modelService) below(f, top *modelFolder) bool {
	return f != nil && (f == top || m.below(m.parent(f), top))
}

func (m *modelService) depth(f *modelFolder) int {
	if f == nil {
		return 0
	}
	return 1 + m.depth(m.parent(f))
}

func (m *modelService) height(f *modelFolder) int {
	height := 0
	for _, g := range m.folders {
		if m.below(g, f) {
			height = max(height, m.depth(g)-m.depth(f)+1)
		}
	}
	return height
}

// path is that of what is in f.
func (m *modelService) path(f *modelFolder) string {
	if f == nil {
		return "/"
	}
	return strings.TrimSuffix(m.path(m.parent(f)), "/") + "/" + f.id
}

func (m *modelService) inSight(by modelCaller, a *modelAsset) bool {
	if len(a.folders) == 0 {
		return true
	}
	for id := range a.folders {
		if m.sees(by, m.folders[id]) {
			return true
		}
	}
	return false
}

func (m *modelService) reads(by modelCaller, a *modelAsset) bool {
	return by.moderator || m.inSight(by, a)
}

func (m *modelService) edits(by modelCaller, a *modelAsset) bool {
	for id := range a.folders {
		if f := m.folders[id]; m.alive(f) && m.right(by, f) >= 2 {
			return true
		}
	}
	return by.moderator
}

// elsewhere reports whether again, a repeat of a, names a folder that a is not in, and leaves out one that a is
// in and the caller may read.
func (m *modelService) elsewhere(by modelCaller, a, again *modelAsset) bool {
	more, less := false, false
	for id := range again.folders {
		more = more || !a.folders[id]
	}
	for id := range a.folders {
		f := m.folders[id]
		less = less || !again.folders[id] && (m.sees(by, f) || !m.alive(f) && m.right(by, f) == 3)
	}
	return more && less
}

// managesDeleted reports whether the caller manages all deleted ones of a folder and those above it.
func (m *modelService) managesDeleted(by modelCaller, f *modelFolder) bool {
	return f == nil || (!f.deleted || m.right(by, f) == 3) && m.managesDeleted(by, m.parent(f))
}

// modelSearch is a search whose query is these words, words that begin so, phrases, and what must not be there.
type modelSearch struct {
	assets.SearchRequest
	words, prefixes  []string
	phrases, without [][]string
	withoutPrefixes  []string
}

// textsIn returns the words of the texts in which a search looks.
func (a *modelAsset) textsIn(in []string) (texts [][]string) {
	if in == nil {
		in = []string{"text"}
	}
	for _, where := range in {
		texts = append(texts, a.texts[where]...)
		if where == "attributes" {
			for x := range a.attributes {
				texts = append(texts, strings.Fields(strings.NewReplacer("é", "e", "=", " ").Replace(x.Value)))
			}
		}
	}
	return texts
}

// anyWord reports whether a text has a word that is as fn says.
func anyWord(texts [][]string, fn func(string) bool) bool {
	return slices.ContainsFunc(texts, func(words []string) bool { return slices.ContainsFunc(words, fn) })
}

// anyPhrase reports whether a text has these words one after the other.
func anyPhrase(texts [][]string, phrase []string) bool {
	return slices.ContainsFunc(texts, func(words []string) bool {
		return strings.Contains(" "+strings.Join(words, " ")+" ", " "+strings.Join(phrase, " ")+" ")
	})
}

// meant reports whether a word may be meant by one that was typed.
func meant(typed, word string) bool {
	a, b := []rune(typed), []rune(word)
	edits := min(len(a)/4, 2)
	if len(typed) > 100 || strings.ContainsAny(typed, "0123456789") {
		edits = 0
	}
	return typed == word || edits > 0 && len(b) > 0 && a[0] == b[0] && assets.Distance(a, b) <= edits
}

// search returns the assets found, oldest first in the sort of s. Only the filters of s are looked at.
func (m *modelService) search(by modelCaller, s modelSearch) (found []*modelAsset, err error) {
	for _, id := range []string{s.Folder, s.FolderTree} {
		if f := m.folders[id]; id != "" && (f == nil || !m.sees(by, f)) {
			return nil, vitrine.ErrNotFound
		}
	}
	for _, a := range m.assets {
		if m.inSight(by, a) && a.isIn(m, by, s.SearchRequest) && a.has(s) {
			found = append(found, a)
		}
	}
	if s.Sort == "createdAt" {
		slices.SortStableFunc(found, func(a, b *modelAsset) int { return cmp.Compare(a.created, b.created) })
	}
	return found, nil
}

// isIn reports whether the asset is where s looks.
func (a *modelAsset) isIn(m *modelService, by modelCaller, s assets.SearchRequest) bool {
	if s.Folder != "" && !a.folders[s.Folder] || s.Filed != "" && (s.Filed == "any") != (len(a.folders) > 0) {
		return false
	}
	if s.FolderTree == "" {
		return true
	}
	for id := range a.folders {
		if f := m.folders[id]; m.below(f, m.folders[s.FolderTree]) && m.sees(by, f) {
			return true
		}
	}
	return false
}

// has reports whether the asset has all that s asks for.
func (a *modelAsset) has(s modelSearch) bool {
	ok := (s.Generator == "" || s.Generator == a.generator) && (s.Via == nil || *s.Via == a.via)
	ok = ok && (s.ForeignID == "" || s.ForeignID == a.foreign)
	created := time.UnixMilli(a.created)
	ok = ok && !created.Before(s.CreatedFrom) && (s.CreatedBefore.IsZero() || created.Before(s.CreatedBefore))
	texts := a.textsIn(s.In)
	for _, w := range s.words {
		ok = ok && anyWord(texts, func(word string) bool { return word == w || s.Typos && meant(w, word) })
	}
	for _, p := range s.prefixes {
		ok = ok && anyWord(texts, func(word string) bool { return strings.HasPrefix(word, p) })
	}
	for _, p := range s.phrases {
		ok = ok && anyPhrase(texts, p)
	}
	for _, p := range s.without {
		ok = ok && !anyPhrase(texts, p)
	}
	for _, p := range s.withoutPrefixes {
		ok = ok && !anyWord(texts, func(word string) bool { return strings.HasPrefix(word, p) })
	}
	tagged := func(tag string) bool {
		for have := range a.tags {
			if plain(have) == plain(tag) {
				return true
			}
		}
		return false
	}
	for _, tag := range s.Tags {
		ok = ok && tagged(tag)
	}
	ok = ok && (s.TagsAny == nil || slices.ContainsFunc(s.TagsAny, tagged)) && !slices.ContainsFunc(s.NotTags, tagged)
	ok = ok && !slices.Contains(s.NotGenerators, a.generator)
	ok = ok && (s.Author == "" || plain(s.Author) == plain(a.author))
	ok = ok && (s.Lang == "" || strings.HasPrefix(strings.ToLower(a.lang)+"-", strings.ToLower(s.Lang)+"-"))
	ok = ok && (s.Link == "" || a.host == s.Link || strings.HasSuffix(a.host, "."+s.Link))
	for _, want := range s.Attributes {
		one := false
		key, value, any := strings.Cut(want, ":")
		for have := range a.attributes {
			one = one || plain(have.Key) == plain(key) && (!any || value == have.Value)
		}
		ok = ok && one
	}
	return ok
}

// plain is a name as it is compared with others.
func plain(name string) string {
	return strings.NewReplacer("é", "e", "ö", "o").Replace(strings.ToLower(name))
}

// facet counts what the found assets have in a field.
func (m *modelService) facet(by modelCaller, name string, found []*modelAsset) []assets.FacetValue {
	counts, shown := map[string]int64{}, map[string]map[string]int64{}
	for _, a := range found {
		had := map[string]bool{}
		count := func(value, spelling string) {
			if shown[value] == nil {
				shown[value] = map[string]int64{}
			}
			had[value] = true
			shown[value][spelling]++
		}
		same := func(value string) { count(value, value) }
		switch name {
		case "generator":
			same(a.generator)
		case "via":
			if a.via != 0 {
				same(fmt.Sprint(a.via))
			}
		case "tags":
			for tag := range a.tags {
				count(plain(tag), tag)
			}
		case "attribute":
			keys := map[string]bool{}
			for at := range a.attributes {
				keys[at.Key] = true
			}
			for key := range keys {
				count(plain(key), key)
			}
		case "folder":
			for id := range a.folders {
				if m.sees(by, m.folders[id]) {
					same(id)
				}
			}
		default:
			for at := range a.attributes {
				if "attribute:"+plain(at.Key) == plain(name) {
					same(at.Value)
				}
			}
		}
		for value := range had {
			counts[value]++
		}
	}
	var list []assets.FacetValue
	for value, n := range counts {
		spellings := slices.SortedFunc(maps.Keys(shown[value]), func(a, b string) int {
			other := func(s string) int { return min(1, strings.Compare(s, value)*strings.Compare(s, value)) }
			return cmp.Or(cmp.Compare(shown[value][b], shown[value][a]), cmp.Compare(other(a), other(b)),
				strings.Compare(a, b))
		})
		list = append(list, assets.FacetValue{Value: spellings[0], Count: n})
	}
	slices.SortFunc(list, func(a, b assets.FacetValue) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value))
	})
	return list[:min(len(list), 20)]
}

// ancestors returns the hidden folders on the way to what a list of the folders in a place shows, as paths.
func (m *modelService) ancestors(by modelCaller, place string) []string {
	ids := map[string]bool{}
	readable := func(f *modelFolder) bool { return m.sees(by, f) || !m.alive(f) && m.right(by, f) == 3 }
	for f := m.folders[place]; f != nil && len(m.children(by, place)) > 0; f = m.parent(f) {
		ids[m.path(f)] = !readable(f)
	}
	for _, f := range m.folders {
		for _, g := range m.folders {
			if f.parent == place && !m.sees(by, f) && m.below(g, f) && m.sees(by, g) {
				ids[m.path(f)] = true
			}
		}
	}
	maps.DeleteFunc(ids, func(_ string, hidden bool) bool { return !hidden })
	return slices.Sorted(maps.Keys(ids))
}

// moveOut adds what closes f to its grants, if it moves away from that.
func (m *modelService) moveOut(f modelFolder, to *modelFolder) modelFolder {
	closing := func(g *modelFolder) (list []*modelFolder) {
		if g != nil {
			for _, at := range m.reach(g) {
				if len(at.grants) > 0 || !at.inherit {
					list = append(list, at)
				}
			}
		}
		return list
	}
	there := closing(to)
	var grants []modelGrant
	for _, g := range closing(m.parent(&f)) {
		if grants = append(grants, g.grants...); !slices.Contains(there, g) {
			f.inherit = false
		}
	}
	if !f.inherit {
		for _, g := range grants {
			if !slices.Contains(f.grants, g) {
				f.grants = append(slices.Clip(f.grants), g)
			}
		}
	}
	return f
}

// children returns the folders in f, or at the top, that the caller sees, in order.
func (m *modelService) children(by modelCaller, parent string) []string {
	var list []*modelFolder
	for _, f := range m.folders {
		if f.parent == parent && m.sees(by, f) {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *modelFolder) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.label), strings.ToLower(b.label)), strings.Compare(a.id, b.id))
	})
	ids := []string{}
	for _, f := range list {
		ids = append(ids, f.id)
	}
	return ids
}

func (m *modelService) values(by modelCaller, key string) []assets.Attribute {
	set := map[assets.Attribute]bool{}
	for _, a := range m.assets {
		for at := range a.attributes {
			if at.Key == key && m.inSight(by, a) {
				set[at] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(set), func(a, b assets.Attribute) int {
		return strings.Compare(a.Value, b.Value)
	})
}

func (m *modelService) asset(id string) *modelAsset {
	for _, a := range m.assets {
		if a.id == id {
			return a
		}
	}
	return nil
}
