//go:build proof

package access

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// A caller cannot find out whether something exists that it may not see: everything that it reads, lists in every
// order, pages and their links, totals, values, children, headers and lengths, is the same in a world without that.
func TestWhatIsHiddenLeavesNoTrace(t *testing.T) {
	answers := 0
	for i, c := range knownCallers() {
		if testing.Short() && i%6 != 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			whole := newWorld(t).build(everything, everything, everything)
			bare := newWorld(t).build(c.keepsApp, c.keepsFolder, c.keepsAsset)
			for _, path := range c.readings() {
				a, b := whole.readAll(c, path), bare.readAll(c, path)
				answers += len(a)
				for i := range max(len(a), len(b)) {
					if i >= len(a) || i >= len(b) || a[i] != b[i] {
						t.Errorf("%s, page %d: with what is hidden\n%s\nand without\n%s", path, i, at(a, i), at(b, i))
						break
					}
				}
			}
		})
	}
	t.Logf("%d answers compared", answers)
}

// digests are the ETags of assets: digests of bodies that have ids.
var digests = regexp.MustCompile(`(?m)^Etag \["[A-Za-z0-9_-]{20}"\]\n`)

// A cursor of one search, used in another, tells no more: what is before and behind it is what the
// caller sees there.
func TestCursorsTellNothing(t *testing.T) {
	for i, c := range knownCallers() {
		if levels.at(c, "open") == '!' || testing.Short() && i%3 != 0 {
			continue
		}
		var answers [2][]string
		for i, w := range []*world{newWorld(t).build(everything, everything, everything),
			newWorld(t).build(c.keepsApp, c.keepsFolder, c.keepsAsset)} {
			path := library + "/assets?limit=1"
			for path != "" {
				r := w.send(c, get(path))
				path = nextPage(path, r)
				var page struct{ Paging struct{ Prev, Next string } }
				r.read(&page)
				for _, word := range []string{"words", "grant", "gone", "open", "cut", "loose"} {
					for _, cursor := range []string{"until=" + page.Paging.Prev, "since=" + page.Paging.Next} {
						r := w.send(c, get(library+"/assets?limit=2&query="+word+"&"+cursor))
						answers[i] = append(answers[i], word+" "+cursor[:5]+": "+w.withNames(r.seen()))
					}
				}
			}
		}
		for i := range max(len(answers[0]), len(answers[1])) {
			if a, b := at(answers[0], i), at(answers[1], i); a != b {
				t.Errorf("%s: with what is hidden\n%s\nand without\n%s", c.name, a, b)
				break
			}
		}
	}
}

func at(pages []string, i int) string {
	if i < len(pages) {
		return pages[i]
	}
	return "there is no such page"
}

func (c caller) keepsApp(name string) bool { return c.keepsToList(name) }

// keepsFolder keeps also the hidden folders above visible ones: their ids stand in paths.
func (c caller) keepsFolder(name string) bool {
	for other := range levels {
		if level := levels.at(c, other); strings.HasPrefix(other+"/", name+"/") && level != '-' && level != '!' {
			return true
		}
	}
	return gone[name] != "" && gone.at(c, name) == 'm'
}

func (c caller) keepsAsset(name string) bool {
	right := rights.at(c, name)
	return right != '-' && right != '!'
}

// readings are the requests of a caller, with names in the place of ids.
func (c caller) readings() []string {
	paths := []string{"/components/", "/components/used", "/components/dropped"}
	ids := ""
	for _, a := range appsOf {
		if !c.keepsApp(a.name) {
			continue
		}
		app := "/apps/{app:" + a.name + "}"
		ids += "&appId={app:" + a.name + "}"
		paths = append(paths, app, app+"/versions/", app+"/versions?limit=1", app+"/versions/0",
			app+"/tags/?embedApps=true", app+"/tags?limit=1", app+"/tagged/old")
	}
	for _, query := range []string{"", "?limit=1", "?limit=2&sort=createdAt", "?sort=updatedAt&limit=1",
		"?sort=-updatedAt&limit=2",
		"?usingComponent=used&limit=1", "?usingComponent=dropped", "?usingComponent=unused"} {
		paths = append(paths, "/apps/"+query)
	}
	paths = append(paths, "/tags/old?appId="+absentApp+ids)
	for _, query := range []string{"", "?limit=2", "?limit=3&order=asc", "?query=words&limit=2", "?query=grant",
		"?query=gone", "?tags=tag&limit=1",
		"?generator=g.example&limit=4", "?query=wo*&facets=tags,generator,attribute,attribute:name&limit=5",
		"?query=words+of&tags=tag&order=asc&limit=2", "?query=none"} {
		paths = append(paths, library+"/assets"+query)
	}
	for _, a := range assetsOf {
		if c.keepsAsset(a.name) {
			paths = append(paths, library+"/asset/{asset:"+a.name+"}", library+"/explain?asset={asset:"+a.name+"}")
		}
	}
	paths = append(paths, library+"/folders", library+"/folders?limit=1", library+"/folders?deleted=true",
		library+"/attributes?key=name", library+"/attributes?key=all", library+"/attributes?key=none")
	for _, f := range foldersOf {
		if !c.keepsFolder(f.name) {
			continue
		}
		id := "{folder:" + f.name + "}"
		paths = append(paths, library+"/folder/"+id, library+"/folder/"+id+"/permissions", library+"/folders?id="+id,
			library+"/assets?limit=1&folder="+id, library+"/assets?limit=2&folderTree="+id,
			library+"/folders?path={path:"+f.name+"}", library+"/explain?folder="+id)
	}
	return paths
}

// readAll reads a path and the pages after it, up to some number, and returns them with names in the
// place of ids.
func (w *world) readAll(c caller, path string) []string {
	var pages []string
	next := w.withIDs(path)
	for next != "" && len(pages) < 50 {
		r := w.send(c, get(next))
		pages = append(pages, w.withNames(r.seen()))
		next = nextPage(next, r)
	}
	return pages
}

var (
	cursorOf = regexp.MustCompile(`"prev":"([^"]+)","hasPrev":true`)
	linkOf   = regexp.MustCompile(`^<https?://[^/]+([^>]+)>; rel="next"$`)
	newerOf  = regexp.MustCompile(`"next":"([^"]+)","hasNext":true`)
	untilOf  = regexp.MustCompile(`[?&](until|since)=[^&]*`)
)

// nextPage is where the page after this one is, "" for none.
func nextPage(path string, r reply) string {
	if m := linkOf.FindStringSubmatch(r.header.Get("Link")); m != nil {
		return m[1]
	}
	plain := untilOf.ReplaceAllString(path, "")
	joint := "?"
	if strings.Contains(plain, "?") {
		joint = "&"
	}
	if strings.Contains(path, "order=asc") || strings.Contains(path, "since=") {
		if m := newerOf.FindStringSubmatch(r.body); m != nil {
			return plain + joint + "since=" + m[1]
		}
		return ""
	}
	if m := cursorOf.FindStringSubmatch(r.body); m != nil {
		return plain + joint + "until=" + m[1]
	}
	return ""
}

// kinds are the things that have ids, by what the paths of readings call them.
func (w *world) kinds() map[string]map[string]string {
	paths := map[string]string{}
	for name := range w.folders {
		paths[name] = w.path(name)
	}
	return map[string]map[string]string{"app": w.apps, "folder": w.folders, "asset": w.assets, "path": paths}
}

func (w *world) withIDs(path string) string {
	var pairs []string
	for kind, ids := range w.kinds() {
		for name, id := range ids {
			pairs = append(pairs, "{"+kind+":"+name+"}", id)
		}
	}
	return strings.NewReplacer(pairs...).Replace(path)
}

// What is random in answers: cursors, and ids of components and of permissions.
var randomParts = regexp.MustCompile(
	`("prev":|"next":)"[^"]*"|after=[A-Za-z0-9_-]+|http://[0-9.:]+|[A-Z2-7]{26}|[0-9a-f]{8}-[0-9a-f-]{27}`)

func (w *world) withNames(text string) string {
	text = digests.ReplaceAllString(text, "Etag [of the body]\n")
	var pairs []string
	for kind, ids := range w.kinds() {
		for name, id := range ids {
			if kind != "path" {
				pairs = append(pairs, id, "{"+kind+":"+name+"}")
			}
		}
	}
	return randomParts.ReplaceAllStringFunc(strings.NewReplacer(pairs...).Replace(text), func(s string) string {
		return fmt.Sprintf("<%d>", len(s))
	})
}
