package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/proof"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/archive"
)

// fewLines returns a short archive with a line of each kind, without the last line.
func fewLines(t testing.TB) []string {
	t.Helper()
	source := inMemory()
	fill(t, source, 1)
	whole, _ := export(t, source)
	const each = 4
	var kept []string
	seen := map[string]int{}
	version := regexp.MustCompile(`"version":(\d+)`)
	for _, l := range linesOf(whole) {
		kind := l[:strings.IndexByte(l, ':')]
		switch kind {
		case `{"version"`:
			if n := version.FindStringSubmatch(l[len(kind)+1:]); len(n[1]) > 1 || n[1] > "2" {
				continue
			}
		case `{"tag"`:
			l = version.ReplaceAllString(l, `"version":1`)
		case `{"move"`:
			if !strings.Contains(l, `"tag":"gone"`) {
				continue
			}
		case `{"answer"`:
			if seen[kind]++; seen[kind] > each {
				continue
			}
		}
		kept = append(kept, l)
	}
	if _, err := archive.Check(ctx, bytes.NewReader(summed(strings.Join(kept, ""))), nil); err != nil {
		t.Fatal(err)
	}
	return kept
}

// readWhole reads all that services can show of the stores, and reports what they cannot.
func readWhole(t testing.TB, s archive.Stores) {
	t.Helper()
	within, cancel := context.WithTimeout(ctx, 5*time.Minute) // the end of what would not end by itself
	defer cancel()
	var networks []string
	apps := appsvc.NewWith(s.Apps, nil)
	check(t, s.Apps.View(within, func(r appsvc.Reader) error {
		for id, err := range r.IDs(within) {
			if err != nil {
				return err
			}
			head, err := r.Head(within, id)
			if err != nil {
				return err
			}
			networks = append(networks, head.Groups...)
		}
		return nil
	}))
	slices.Sort(networks)
	me := vitrine.Caller{URN: network + ":user=me", Moderates: slices.Compact(networks)}
	list, _, err := unpage(apps.ListApps(within, me, appsvc.ListAppsRequest{}))
	check(t, err)
	for _, app := range list {
		_, err := app.Body.Content()
		check(t, err)
		for v := range app.Version.Number() + 1 {
			_, err := apps.Version(within, me, app.ID, vitrine.NewVersion(v))
			check(t, err)
		}
		_, err = apps.ListTags(within, me, appsvc.ListTagsRequest{AppID: app.ID, Embed: true})
		check(t, err)
	}
	_, _, err = listed(apps.ListComponents(within, me, appsvc.ListComponentsRequest{}))
	check(t, err)
	for lib, err := range s.Assets.Libraries(within) {
		check(t, err)
		readLibrary(t, within, assets.NewWith(s.Assets, nil), lib)
	}
	service, operator := reviews.NewWith(s.Reviews, nil), vitrine.Caller{Operator: true}
	named, err := service.Networks(within, operator)
	check(t, err)
	for _, name := range named {
		check(t, service.Export(within, operator, reviews.ExportRequest{Network: name, To: io.Discard}))
		for c, err := range service.AllCollections(within, operator, reviews.ListCollectionsRequest{Network: name}) {
			check(t, err)
			for _, err := range service.AllReviews(within, operator, reviews.ListReviewsRequest{Network: name, Source: c.Source, Collection: c.ID}) {
				check(t, err)
			}
		}
	}
}

func readLibrary(t testing.TB, within context.Context, svc *assets.Service, lib assets.Library) {
	t.Helper()
	all := "urn:vitrine:" + lib.Network
	for _, by := range []vitrine.Caller{{URN: all + ":user=me", Moderates: []string{all}}, {URN: all + ":user=you"}} {
		for _, query := range []string{"", "creme"} {
			since := ""
			for {
				page, err := svc.Search(within, by, lib, assets.SearchRequest{Query: query, Limit: 3, Since: since, Order: assets.Ascending})
				check(t, err)
				for _, a := range page.Assets {
					_, err := svc.Asset(within, by, lib, a.ID)
					check(t, err)
				}
				if !page.Paging.HasNext {
					break
				}
				since = page.Paging.Next
			}
		}
		folders, err := svc.ListFolders(within, by, lib, assets.ListFoldersRequest{})
		check(t, err)
		for _, f := range folders.Items {
			_, err := svc.Folder(within, by, lib, f.ID)
			check(t, err)
		}
		_, err = svc.Attributes(within, by, lib, "k")
		check(t, err)
	}
}

// accepted imports the lines. If they are accepted, services read the store whole, and an export of it
// is accepted too; if not, the store is still empty.
func accepted(t testing.TB, lines string) bool {
	t.Helper()
	to := inMemory()
	if _, err := archive.Import(ctx, to, bytes.NewReader(summed(lines)), nil); err != nil {
		if !errors.Is(err, archive.ErrDamaged) {
			t.Fatalf("the error is none of the archive's: %v\n%s", err, lines)
		}
		check(t, to.Empty(ctx))
		return false
	}
	readWhole(t, to)
	again, _ := export(t, to)
	if _, err := archive.Check(ctx, bytes.NewReader(again), nil); err != nil {
		t.Fatalf("what was exported cannot be imported: %v\n%s", err, again)
	}
	return true
}

var values = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?\d+|true|false|null`)

// valuesIn returns where the values of a line are, names of members aside.
func valuesIn(line string) [][]int {
	return slices.DeleteFunc(values.FindAllStringIndex(line, -1), func(at []int) bool { return strings.HasPrefix(line[at[1]:], ":") })
}

// mutated changes something in some lines: a value, or where a line stands.
func mutated(lines []string, random *rand.Rand) string {
	out := slices.Clone(lines)
	for range 1 + random.IntN(3) {
		i, j := 1+random.IntN(len(out)-1), 1+random.IntN(len(out)-1)
		switch random.IntN(8) {
		case 0:
			out = slices.Delete(out, i, i+1)
		case 1:
			out[i], out[j] = out[j], out[i]
		case 2:
			out = slices.Insert(out, i, out[j])
		default:
			out[i] = mutatedLine(out[i], out[j], random)
		}
	}
	return strings.Join(out, "")
}

// mutatedLine changes a value of the line into one of the other or into one that is odd.
func mutatedLine(line, other string, random *rand.Rand) string {
	all, others := valuesIn(line), valuesIn(other)
	if len(all) == 0 {
		return line
	}
	at := all[random.IntN(len(all))]
	odd := []string{`""`, "0", "-1", "1", "2", "9223372036854775807", "null", "true", "false", `"\u0000"`, `"a"`, "[]", "{}", `"urn:v:n"`}
	value := odd[random.IntN(len(odd))]
	if len(others) > 0 && random.IntN(2) == 0 {
		from := others[random.IntN(len(others))]
		value = other[from[0]:from[1]]
	}
	return line[:at[0]] + value + line[at[1]:]
}

// However the lines of an archive are changed: what is accepted can be read, and nothing is left of the
// rest.
func TestAcceptedArchivesCanBeRead(t *testing.T) {
	lines := fewLines(t)
	if !accepted(t, strings.Join(lines, "")) {
		t.Fatal("the archive is not accepted before it is changed")
	}
	random := rand.New(rand.NewPCG(1, 2))
	count := 0
	times := 1500
	if proof.Short() {
		times = 200
	}
	for range times {
		if accepted(t, mutated(lines, random)) {
			count++
		}
	}
	t.Logf("%d of %d changed archives are accepted", count, times)
	if count == 0 || count == times {
		t.Error("the changes find nothing out")
	}
}

func FuzzImport(f *testing.F) {
	for _, text := range []string{"", "{}", `{"vitrine":2}`} {
		f.Add(text, uint64(0))
	}
	lines := fewLines(f)
	for i, l := range lines { // one by one: the fuzzer spends its time on making long texts shorter
		f.Add(l, uint64(i+1))
	}
	// The text stands for itself; with a seed the lines of the short archive are changed by it, with a line
	// of the text among them.
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		if seed == 0 {
			accepted(t, strings.TrimSuffix(text, "\n")+"\n")
			return
		}
		random := rand.New(rand.NewPCG(seed, 0))
		changed := lines
		if text != "" {
			changed = slices.Insert(slices.Clone(lines), 1+random.IntN(len(lines)-1), fmt.Sprintln(strings.ReplaceAll(text, "\n", " ")))
		}
		accepted(t, mutated(changed, random))
	})
}
