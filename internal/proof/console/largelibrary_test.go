//go:build proof

package console

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

// A long run, which prints how long the page takes with a library as large as sites have:
//
//	go test -tags proof ./internal/proof/console -run LargeLibrary -v -timeout 0 -args -assets 1000000 -times 100
var (
	libraryAssets = flag.Int("assets", 2000,
		"size of the library that TestLargeLibrary looks at; it has a folder for each 100 assets, up to 10,000")
	libraryTimes = flag.Int("times", 2, "how often TestLargeLibrary does each thing")
	libraryFile  = flag.String("library", "", "a file that keeps the library of TestLargeLibrary for the next run")
)

// largeLibrary is a library of folders in three levels, whose labels say where they are: "F7" has "F7.3", which has
// "F7.3.5". Half of those at the top have a permission, and so have as many others that there are 2,000 in all.
type largeLibrary struct {
	leaves, middles, tops []string // labels
	words                 []string // the most frequent one first
}

// newLargeLibrary stores the library in a file, unless it is there already.
func newLargeLibrary(t *testing.T, path string) largeLibrary {
	t.Helper()
	l := largeLibrary{words: words(20_000)}
	tops := max(2, min(*libraryAssets, 1_000_000)/10_000)
	for a := range tops {
		l.tops = append(l.tops, fmt.Sprint("F", a))
		for b := range 9 {
			l.middles = append(l.middles, fmt.Sprintf("F%d.%d", a, b))
			for c := range 10 {
				l.leaves = append(l.leaves, fmt.Sprintf("F%d.%d.%d", a, b, c))
			}
		}
	}
	if _, err := os.Stat(path); err == nil {
		return l
	}
	db, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	l.store(t, assets.New(db, &assets.Options{Limits: assets.Limits{Page: 5000, Items: 5000}}))
	return l
}

func (l largeLibrary) store(t *testing.T, svc *assets.Service) {
	ctx, lib := context.Background(), assets.Library{Network: "example.test", ID: "example.test"}
	moderator := vitrine.Caller{URN: ann.URN, Moderates: ann.Moderates}
	ids, paths := map[string]string{}, map[string]string{"": ""}
	grants, every := 0, max(1, (len(l.leaves)+len(l.middles))*2/3950)
	for level, labels := range [][]string{l.tops, l.middles, l.leaves} {
		for list := range slices.Chunk(labels, 500) {
			var in assets.ChangeFoldersRequest
			for i, label := range list {
				f := assets.NewFolder{Label: label, Path: paths[label[:max(0, strings.LastIndexByte(label, '.'))]]}
				if grants < 2000 && (level == 0 && i%2 == 0 || level > 0 && i%every == 0) {
					grants++
					f.Permissions = []assets.Permission{{Operation: assets.Edit,
						Role: &assets.Subject{ID: fmt.Sprint("role", grants%10)}}}
				}
				in.Create = append(in.Create, f)
			}
			made, err := svc.As(moderator).ChangeFolders(ctx, lib, in)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range made.Folders {
				ids[f.Label], paths[f.Label] = f.ID, strings.TrimSuffix(f.Path, "/")+"/"+f.ID
			}
		}
	}
	t.Logf("%d folders, %d of them with a permission", len(ids), grants)
	random := rand.New(rand.NewPCG(1, 2))
	often := rand.NewZipf(random, 1.2, 8, uint64(len(l.words)-1))
	for from := 0; from < *libraryAssets; from += 5000 {
		var in assets.ChangeAssetsRequest
		for i := from; i < min(from+5000, *libraryAssets); i++ {
			text := make([]string, 8+random.IntN(20))
			for i := range text {
				text[i] = l.words[often.Uint64()]
			}
			content, err := json.Marshal(map[string]any{"content": "<p>" + strings.Join(text, " ") + "</p>",
				"lang": []string{"en", "de", "fr"}[random.IntN(3)],
				"attributedTo": map[string]any{"id": fmt.Sprint("a", i%5000),
					"displayName": fmt.Sprint("Author ", i%5000)}})
			if err != nil {
				t.Fatal(err)
			}
			via, rights := int64(random.IntN(8)), int64(random.IntN(4))
			in.Add = append(in.Add,
				assets.NewAsset{ID: fmt.Sprint("p", i),
					Generator: assets.Generator{ID: fmt.Sprintf("source%d.example.test", random.IntN(12))},
					Content:   content,
					Folders:   []string{ids[l.leaves[random.IntN(len(l.leaves))]]},
					SafeTags:  []string{fmt.Sprint("tag", often.Uint64()%40)}, Via: &via, Rights: &rights})
		}
		made, err := svc.As(moderator).ChangeAssets(ctx, lib, in)
		if err != nil {
			t.Fatal(err)
		}
		var some []string // each tenth one has attributes
		for i := 0; i < len(made.Added); i += 10 {
			some = append(some, made.Added[i].ID)
		}
		if _, err := svc.As(moderator).ChangeAttributes(ctx, lib,
			assets.ChangeAttributesRequest{Assets: some, Add: []assets.Attribute{
				{Key: "state", Value: []string{"draft", "checked", "final"}[from/5000%3]},
				{Key: "season", Value: []string{"spring", "summer", "autumn", "winter"}[from/5000%4]}}}); err != nil {
			t.Fatal(err)
		}
	}
}

// words returns n words, which differ.
func words(n int) []string {
	syllables := []string{"ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "wu"}
	out := make([]string, n)
	for i := range out {
		for j := 1; j <= 10_000; j *= 10 {
			out[i] += syllables[i/j%10]
		}
	}
	return out
}

// took is how long one interaction took, in milliseconds: until the browser painted next, as its own measure of
// interactions has it, and until its outcome was painted.
type took struct{ Paint, Shown float64 }

// watch does something with the page and returns how long it took. ready is a function of the page that says whether
// the outcome is there; it is asked after each change of the page, with arg.
func (p *person) watch(ready string, arg any, do func()) took {
	p.T.Helper()
	p.Run(new(any), `async (arg) => {
		const ready = `+ready+`;
		const w = window.watched = { paint: 0 };
		// Of several keys the last one counts; a shorter event than 16 ms is in no entry.
		const began = (event) => (w.began = event.timeStamp);
		const note = (entries) => entries.forEach((e) => e.interactionId > 0 &&
			(w.paint = Math.max(w.paint, e.duration)));
		const events = new PerformanceObserver((list) => note(list.getEntries()));
		events.observe({ type: "event", durationThreshold: 16 });
		const changes = new MutationObserver(() => {
			if (w.began === undefined || w.at || !ready(arg)) return;
			w.at = true;
			requestAnimationFrame(() => {
				const painted = new MessageChannel();
				painted.port1.onmessage = () => {
					w.shown = performance.now() - w.began;
					setTimeout(() => {
						note(events.takeRecords());
						for (const x of [events, changes]) x.disconnect();
						for (const type of ["keydown", "click"]) removeEventListener(type, began, true);
						w.done = true;
					}, 50);
				};
				painted.port2.postMessage(0);
			});
		});
		for (const type of ["keydown", "click"]) addEventListener(type, began, true);
		changes.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
	}`, arg)
	do()
	p.Until(`() => window.watched.done`)
	var t took
	p.Run(&t, `async () => window.watched`)
	return t
}

// A library of many assets, folders and permissions is searched and browsed, by somebody who sees all of it and by
// somebody who sees a part. It logs the times and has no limits for them.
func TestLargeLibrary(t *testing.T) {
	path := cmp.Or(*libraryFile, filepath.Join(t.TempDir(), "library.db"))
	if testing.Short() {
		t.Skip("this story is told without -short")
	}
	l := newLargeLibrary(t, path)
	w := newWorld(t, "-db", path)
	for name, by := range map[string]httpapi.Principal{"who sees all": ann,
		"who sees a part": {Caller: vitrine.Caller{URN: network + ":user=eve",
			Roles: []string{"role1", "role2", "role3", "role4"}}}} {
		t.Run(name, func(t *testing.T) {
			p := &person{w.signIn(by, "/assets").For(t), w}
			p.See(`//ul[@aria-label="Assets"]/li[20]`)
			random := rand.New(rand.NewPCG(3, 4))
			measured := map[string][]took{}
			measure := func(what, ready string, arg any, do func()) {
				t.Helper()
				p.Run(new(any), `async () => scrollTo(0, 0)`)
				measured[what] = append(measured[what], p.watch(ready, arg, do))
			}
			const (
				search = `//main//input[@type="search" and @aria-label="Search"]`
				founds = `(word) => { const all = [...document.querySelectorAll(".asset p")]; return all.length > ` +
					`0 && all.every((x) => x.textContent.includes(word)); }`
				inside = `(label) => { const all = [...document.querySelectorAll(".asset .chips > .detail")]; ` +
					`return document.querySelector('[aria-selected="true"] .called > span')?.textContent === label ` +
					`&& all.length > 0 && all.every((x) => (x.textContent + ".").startsWith(label + ".")); }`
				open = `(label) => [...document.querySelectorAll('[role="group"] .called > span')].some((x) => ` +
					`x.textContent.startsWith(label + "."))`
				details = `() => [...document.querySelectorAll("dialog li")].some((x) => ` +
					`x.textContent.startsWith("You may"))`
			)
			for i := range *libraryTimes {
				word := l.words[[]int{0, 3, 12, 60, 300, 1500}[i%6]+random.IntN(2)]
				measure("search", founds, word, func() { p.Retype(search, keyDelete+word) }) // by keys
				n := 1 + random.IntN(20)
				measure("open an asset", details, nil, func() {
					p.Click(fmt.Sprintf(`//ul[@aria-label="Assets"]/li[%d]//button[contains(@class, "open")]`, n))
				})
				p.Click(`//dialog` + named("Close"))
				p.Retype(search, keyDelete)
				var tops []string
				p.Run(&tops,
					`async () => [...document.querySelectorAll('[role="tree"] > li[aria-expanded="false"] > .row > `+
						`.called > span:first-child')].map((x) => x.textContent).filter((x) => x !== "")`)
				top := tops[random.IntN(len(tops))]
				twisty := `/ancestor::span[contains(@class, "row")]/span[contains(@class, "twisty")]`
				measure("open a folder in the tree", open, top, func() { p.Click(folder(top) + twisty) })
				measure("show a folder's assets", inside, top, func() { p.Click(folder(top)) })
				var below string
				p.Run(&below,
					`async (top) => [...document.querySelectorAll('[role="group"] .called > span')].find((x) => `+
						`x.textContent.startsWith(top + ".")).textContent`, top)
				measure("show a folder's assets", inside, below, func() { p.Click(folder(below)) })
				p.Run(new(any), `async () => scrollTo(0, 0)`)
				p.Click(named("folder: " + below))
				p.Run(new(any), `async () => scrollTo(0, 0)`)
				p.Click(folder(top) + twisty)
			}
			for _, what := range []string{"search", "open an asset", "open a folder in the tree",
				"show a folder's assets"} {
				p.T.Logf("%-26s next paint %s · outcome shown %s", what,
					quantiles(measured[what], func(x took) float64 { return x.Paint }),
					quantiles(measured[what], func(x took) float64 { return x.Shown }))
			}
		})
	}
}

// quantiles returns the median, the 95th percentile and the most, in milliseconds.
func quantiles(all []took, of func(took) float64) string {
	var values []float64
	for _, x := range all {
		values = append(values, of(x))
	}
	slices.Sort(values)
	at := func(q float64) float64 { return values[min(len(values)-1, int(q*float64(len(values))))] }
	return fmt.Sprintf("p50 %4.0f, p95 %4.0f, most %4.0f ms", at(0.5), at(0.95), at(1))
}
