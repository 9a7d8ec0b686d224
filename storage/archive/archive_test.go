package archive_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
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
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

const network = "urn:vitrine:example.test"

var ctx = context.Background()

func inMemory() archive.Stores {
	return archive.Stores{Apps: appsvc.NewRecords(memory.New()), Assets: assets.NewRecords(memory.New()), Reviews: reviews.NewRecords(memory.New())}
}

func inSQLite(t *testing.T) archive.Stores {
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "vitrine.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return archive.Stores{Apps: appsvc.NewRecords(db), Assets: assets.NewRecords(db), Reviews: reviews.NewRecords(db)}
}

func check(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// fill does a bit of everything with a store, the same for the same seed.
func fill(t testing.TB, s archive.Stores, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	id := func() string { return fmt.Sprintf("%016x", random.Uint64()) }
	clock := time.UnixMilli(1_700_000_000_000)
	now := func() time.Time { clock = clock.Add(time.Millisecond); return clock }
	fillApps(t, appsvc.NewWith(s.Apps, &appsvc.Options{NewID: id, Now: now}), random)
	for _, name := range []string{"example.test", "second \u00e9 library"} {
		fillLibrary(t, assets.NewWith(s.Assets, &assets.Options{NewID: id, Now: now}), assets.Library{Network: "example.test", ID: name}, random)
	}
	for _, network := range []string{"example.test", reviews.DefaultNetwork} {
		fillReviews(t, reviews.NewWith(s.Reviews, nil), network, random)
	}
}

func fillApps(t testing.TB, svc *appsvc.Service, random *rand.Rand) {
	t.Helper()
	me := vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}, Components: true}
	for _, version := range []string{"2.0.0", "1.0.0", "10.0.0"} {
		_, err := svc.CreateComponent(ctx, me, appsvc.CreateComponentRequest{Manifest: fmt.Appendf(nil, `{"name":"@scope/poll","version":%q,"main":"https://example.test/poll.js",`+
			`"configSchema":{"type":"object"},"more":["\u0041\/<>",1.10,9007199254740993]}`, version), IdempotencyKey: "create-" + version})
		check(t, err)
	}
	for i := range 4 {
		app, err := svc.CreateApp(ctx, me, appsvc.CreateAppRequest{
			Title: fmt.Sprintf("App %d \u2028 <b>", i), Groups: []string{network + ":site=1"}, IdempotencyKey: fmt.Sprint("create-", i),
			Elements: []appsvc.NewElement{{Component: appsvc.ComponentRef{Name: "@scope/poll", Version: "1.0.0"}, Config: []byte(`{"b":1.10,"a":"\u0061\/<>"}`)}},
		})
		check(t, err)
		for range random.IntN(100) {
			_, err := svc.Patch(ctx, me, app.ID, fmt.Appendf(nil, `[{"op":"test","path":"/apps/0/version","value":"%s"},`+
				`{"op":"add","path":"/apps/0/elements/0/config/k%d","value":%d}]`, app.Version, random.IntN(9), random.Int64()))
			check(t, err)
			app.Version = app.Version.Next()
		}
		restored, err := svc.Restore(ctx, me, appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.NewVersion(random.Int64N(app.Version.Number() + 1))})
		check(t, err)
		app.Version = restored.Version
		for n := range 2 { // a tag that is gone
			_, err := svc.PutTag(ctx, me, appsvc.PutTagRequest{AppID: app.ID, Name: "gone", Version: vitrine.NewVersion(n)})
			check(t, err)
		}
		check(t, svc.DeleteTag(ctx, me, appsvc.DeleteTagRequest{AppID: app.ID, Name: "gone"}))
		for _, name := range []string{"production", "staging"} {
			_, err := svc.PutTag(ctx, me, appsvc.PutTagRequest{AppID: app.ID, Name: name, Version: vitrine.Latest})
			check(t, err)
		}
		for range random.IntN(5) {
			_, err := svc.PutTag(ctx, me, appsvc.PutTagRequest{AppID: app.ID, Name: fmt.Sprint("tag", random.IntN(9)),
				Version: vitrine.NewVersion(random.Int64N(app.Version.Number() + 1)), IdempotencyKey: fmt.Sprint("tag-", random.Int64())})
			check(t, err)
		}
	}
}

func fillLibrary(t testing.TB, svc *assets.Service, lib assets.Library, random *rand.Rand) {
	t.Helper()
	me := vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}}
	made, err := svc.ChangeFolders(ctx, me, lib, assets.ChangeFoldersRequest{Create: []assets.NewFolder{
		{Label: "Drafts", Permissions: []assets.Permission{{Operation: assets.Edit, Role: &assets.Subject{ID: "editors"}}}}, {Label: "Old"},
	}})
	check(t, err)
	below, err := svc.ChangeFolders(ctx, me, lib, assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "Below", Path: "/" + made[0].ID}}})
	check(t, err)
	gone := true
	_, err = svc.ChangeFolders(ctx, me, lib, assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: made[1].ID, Deleted: &gone}}})
	check(t, err)
	var add []assets.NewAsset
	for i := range 5 + random.IntN(20) {
		post := assets.NewAsset{ID: fmt.Sprint(i), Generator: assets.Generator{ID: "blog.example"}, Content: fmt.Appendf(nil, `{"content":"<p>Cr\u00e8me %d</p>","extra":1.10}`, random.IntN(5))}
		if i%2 == 0 {
			post.Folders, post.SafeTags = []string{made[0].ID, below[0].ID}, []string{"lamp", "light"}
		}
		add = append(add, post)
	}
	changed, err := svc.ChangeAssets(ctx, me, lib, assets.ChangeAssetsRequest{Add: add})
	check(t, err)
	_, err = svc.ChangeAttributes(ctx, me, lib, assets.ChangeAttributesRequest{Assets: []string{changed.Added[2].ID}, Add: []assets.Attribute{{Key: "k", Value: "v"}, {Key: "k", Value: "w"}}})
	check(t, err)
	_, err = svc.ChangeAssets(ctx, me, lib, assets.ChangeAssetsRequest{Remove: []string{changed.Added[0].ID, changed.Added[1].ID}})
	check(t, err)
}

func fillReviews(t testing.TB, svc *reviews.Service, network string, random *rand.Rand) {
	t.Helper()
	var file strings.Builder
	for _, id := range []string{"bGFtcA==", "YmVk"} {
		fmt.Fprintf(&file, `{"source":"shop","title":"A lamp","created":"2019-01-01T00:00:00Z","id":%q,"dimensions":["default"],"reviews":[`, id)
		count := 2 + random.IntN(30)
		for i := range count {
			fmt.Fprintf(&file, `{"id":"%d","imported_display_name":"Visitor","imported_email":"someone@example.test","title":"\u0042right","body_html":"<p>&lt;</p>","created":"2019-02-03T04:05:06Z","ratings":[%d]`, i, 1+random.IntN(100))
			if i == 1 {
				file.WriteString(`,"parent_id":"0"`)
			}
			file.WriteByte('}')
			if i < count-1 {
				file.WriteByte(',')
			}
		}
		file.WriteString("]}\n")
	}
	report, err := svc.Import(ctx, vitrine.Caller{Operator: true}, reviews.ImportRequest{Network: network, File: strings.NewReader(file.String())})
	check(t, err)
	if report.Rejected > 0 || report.Errors > 0 {
		t.Fatalf("the file of the test has errors: %+v", report)
	}
}

func export(t testing.TB, s archive.Stores) ([]byte, archive.Counts) {
	t.Helper()
	var out bytes.Buffer
	n, err := archive.Export(ctx, s, &out)
	check(t, err)
	return out.Bytes(), n
}

func TestExportAndImportGiveTheSameArchive(t *testing.T) {
	for seed := range uint64(3) {
		comesBack(t, inMemory(), seed)
		comesBack(t, inSQLite(t), seed)
	}
}

// comesBack imports an archive into empty stores, and checks that an export of them is the same archive.
func comesBack(t *testing.T, target archive.Stores, seed uint64) {
	t.Helper()
	source := inMemory()
	fill(t, source, seed)
	first, had := export(t, source)
	if read, err := archive.Check(ctx, bytes.NewReader(first), nil); err != nil || read != had {
		t.Fatalf("seed %d: exported %+v, Check says %+v, %v", seed, had, read, err)
	}
	if got, err := archive.Import(ctx, target, bytes.NewReader(first), nil); err != nil || got != had {
		t.Fatalf("seed %d: exported %+v, imported %+v, %v", seed, had, got, err)
	}
	if second, _ := export(t, target); !bytes.Equal(first, second) {
		t.Errorf("seed %d: the archives differ:\n%s\n%s", seed, first, second)
	}
}

// What cannot be seen in an archive: the target goes on as the source would have.
func TestAnImportedStoreCanBeUsed(t *testing.T) {
	source, target := inMemory(), inSQLite(t)
	fill(t, source, 1)
	data, _ := export(t, source)
	_, err := archive.Import(ctx, target, bytes.NewReader(data), nil)
	check(t, err)
	me := vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}}
	lib, moderator := assets.Library{Network: "example.test", ID: "example.test"}, vitrine.Caller{URN: me.URN, Moderates: me.Moderates}
	var saw []string
	for _, s := range []archive.Stores{source, target} {
		apps, _, err := unpage(appsvc.NewWith(s.Apps, nil).ListApps(ctx, me, appsvc.ListAppsRequest{UsingComponent: "@scope/poll"}))
		check(t, err)
		soon := func() time.Time { return time.UnixMilli(1_700_000_060_000) }
		again, err := appsvc.NewWith(s.Apps, &appsvc.Options{Now: soon}).CreateApp(ctx, me, appsvc.CreateAppRequest{
			Title: "App 2 \u2028 <b>", Groups: []string{network + ":site=1"}, IdempotencyKey: "create-2",
			Elements: []appsvc.NewElement{{Component: appsvc.ComponentRef{Name: "@scope/poll", Version: "1.0.0"}, Config: []byte(`{"b":1.10,"a":"\u0061\/<>"}`)}},
		})
		check(t, err)
		page, err := assets.NewWith(s.Assets, nil).Search(ctx, moderator, lib, assets.SearchRequest{Query: "creme", Limit: 3})
		check(t, err)
		stats, err := reviews.NewWith(s.Reviews, nil).Collection(ctx, vitrine.Caller{Operator: true}, reviews.CollectionRequest{Network: reviews.DefaultNetwork, Source: "shop", ID: "YmVk"})
		check(t, err)
		saw = append(saw, fmt.Sprintf("%+v\n%s\n%+v\n%+v", apps, again.ID, page, stats))
	}
	if saw[0] != saw[1] {
		t.Errorf("the source answers\n%s\nthe target\n%s", saw[0], saw[1])
	}
}

// The same collection in two networks is written, and read back, twice. Networks come in the order of
// their names, whatever was imported first.
func TestNetworksComeBackFromAnArchive(t *testing.T) {
	source, target := inMemory(), inMemory()
	for seed, network := range []string{"b", "a", "c"} {
		fillReviews(t, reviews.NewWith(source.Reviews, nil), network, rand.New(rand.NewPCG(uint64(seed), 0)))
	}
	data, counts := export(t, source)
	if counts.Collections != 6 || !slices.Equal(networksIn(data), []string{"a", "a", "b", "b", "c", "c"}) {
		t.Errorf("%+v, networks %q", counts, networksIn(data))
	}
	_, err := archive.Import(ctx, target, bytes.NewReader(data), nil)
	check(t, err)
	if again, _ := export(t, target); !bytes.Equal(again, data) {
		t.Error("another archive comes out")
	}
	var had, has bytes.Buffer
	for _, network := range []string{"a", "b", "c"} {
		check(t, reviews.NewWith(source.Reviews, nil).Export(ctx, vitrine.Caller{Operator: true}, reviews.ExportRequest{Network: network, To: &had}))
		check(t, reviews.NewWith(target.Reviews, nil).Export(ctx, vitrine.Caller{Operator: true}, reviews.ExportRequest{Network: network, To: &has}))
	}
	if !bytes.Equal(had.Bytes(), has.Bytes()) {
		t.Error("the reviews are others")
	}
}

// networksIn are the networks of the collections of an archive, in its order.
func networksIn(data []byte) (names []string) {
	for line := range strings.Lines(string(data)) {
		if _, rest, found := strings.Cut(line, `{"collection":{"network":"`); found {
			name, _, _ := strings.Cut(rest, `"`)
			names = append(names, name)
		}
	}
	return names
}

func TestAGzippedArchiveIsImported(t *testing.T) {
	source, target := inMemory(), inMemory()
	fill(t, source, 1)
	data, _ := export(t, source)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(data)
	check(t, z.Close())
	zipped.Write(make([]byte, 512)) // as tapes are filled up
	_, err := archive.Import(ctx, target, &zipped, nil)
	check(t, err)
	if again, _ := export(t, target); !bytes.Equal(data, again) {
		t.Error("another archive comes out")
	}
}

func TestImportRefusesAStoreWithData(t *testing.T) {
	empty, _ := export(t, inMemory())
	full := inMemory()
	fill(t, full, 1)
	for what, to := range map[string]archive.Stores{
		"apps":    {Apps: full.Apps, Assets: assets.NewRecords(memory.New()), Reviews: reviews.NewRecords(memory.New())},
		"assets":  {Apps: appsvc.NewRecords(memory.New()), Assets: full.Assets, Reviews: reviews.NewRecords(memory.New())},
		"reviews": {Apps: appsvc.NewRecords(memory.New()), Assets: assets.NewRecords(memory.New()), Reviews: full.Reviews},
	} {
		if _, err := archive.Import(ctx, to, bytes.NewReader(empty), nil); !errors.Is(err, archive.ErrNotEmpty) {
			t.Errorf("%s: error %v, want %v", what, err, archive.ErrNotEmpty)
		}
	}
}

func TestADamagedArchiveIsRefused(t *testing.T) {
	source := inMemory()
	fill(t, source, 1)
	whole, _ := export(t, source)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	refused := func(what string, parts ...[]byte) {
		t.Helper()
		data := bytes.Join(parts, nil)
		if _, err := archive.Check(ctx, bytes.NewReader(data), nil); !errors.Is(err, archive.ErrDamaged) {
			t.Errorf("%s: Check: error %v, want %v", what, err, archive.ErrDamaged)
		}
		if _, err := archive.Import(ctx, inMemory(), bytes.NewReader(data), nil); err == nil {
			t.Errorf("%s: Import: no error", what)
		}
	}
	join := func(list ...[]byte) []byte { return bytes.Join(list, nil) }
	refused("nothing")
	refused("no archive", []byte("{}\n"))
	refused("another format", []byte(`{"vitrine":3}`))
	refused("a repeated member", []byte(`{"vitrine":2,"vitrine":2}`))
	refused("an asset in no library", lines[0], []byte(`{"asset":{}}`))
	refused("a review in no collection", lines[0], []byte(`{"review":{}}`))
	refused("something behind the end", whole, lines[1])
	refused("a second archive behind it", whole, whole)
	refused("a line longer than any", lines[0], bytes.Repeat([]byte(" "), 65<<20))
	step, changes := 5, 100
	if proof.Short() {
		step, changes = 25, 20
	}
	for i := 0; i < len(lines)-1; i += step {
		refused(fmt.Sprint("line ", i, " and the rest are gone"), lines[:i]...)
		refused(fmt.Sprint("line ", i, " is gone"), join(lines[:i]...), join(lines[i+1:]...))
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range changes {
		changed, at := bytes.Clone(whole), random.IntN(len(whole)-1)
		changed[at] ^= 1 << random.IntN(7)
		refused(fmt.Sprintf("byte %d is %q instead of %q", at, changed[at], whole[at]), changed)
	}
}

// cut is a writer that fails after some bytes.
type cut struct{ left int }

func (c *cut) Write(p []byte) (int, error) {
	c.left -= len(p)
	if c.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestAWriterThatFailsFailsTheExport(t *testing.T) {
	source := inMemory()
	fill(t, source, 1)
	whole, _ := export(t, source)
	for _, size := range []int{0, 1, len(whole) / 2, len(whole) - 1} {
		if _, err := archive.Export(ctx, source, &cut{size}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%d bytes are taken: error %v", size, err)
		}
	}
}

// What is wrong with a file is told in the words of archives, not of Go.
func TestErrorsOfDamageAreReadable(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "this is no archive",
		"hello\n":             "this is no archive",
		"[1]\n":               "this is no archive",
		"{\"vitrine\":1}\n":   "this is no archive, or one of a newer release",
		"{\"vitrine\":3}\n":   "this is no archive, or one of a newer release",
		"{\"vitrine\":\"1\"}": "this is no archive",
		"{\"vitrine\":2}\n":   "damaged archive: line 2: the archive ends before its last line",
		"{\"vitrine\":2}\n{\"collection\":{\"source\":\"s\",\"id\":\"c\"}}\n": "damaged archive: line 2: this is no line of an archive: a collection has no network",
		"{\"vitrine\":2}\nx\n":                     "damaged archive: line 2: this is no line of an archive",
		"{\"vitrine\":2}\n{\"tag\":{\"app\":5}}\n": "damaged archive: line 2: this is no line of an archive: the value at /tag/app is not what belongs there",
		"{\"vitrine\":2}\n{\"spam\":5}\n":          "damaged archive: line 2: this is no line of an archive",
	} {
		_, err := archive.Check(ctx, strings.NewReader(text), nil)
		if !errors.Is(err, archive.ErrDamaged) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "Go ") || strings.Contains(err.Error(), "json") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// unpage takes a page apart.
func unpage[T any](p vitrine.Page[T], err error) (items []T, next string, _ error) {
	return p.Items, p.Next, err
}

// listed takes a page apart, and reports whether another one follows.
func listed[T any](p vitrine.Page[T], err error) (items []T, more bool, _ error) {
	return p.Items, p.Next != "", err
}

// Moves of a tag are exported in portions.
func TestEveryMoveOfATagIsInTheArchive(t *testing.T) {
	me := vitrine.Caller{URN: network + ":user=me", Moderates: []string{network}}
	for _, count := range []int{1, 255, 256, 257, 512, 513} {
		source, target := inMemory(), inMemory()
		svc := appsvc.NewWith(source.Apps, nil)
		app, err := svc.CreateApp(ctx, me, appsvc.CreateAppRequest{Title: "x", Groups: []string{network}})
		check(t, err)
		_, err = svc.Restore(ctx, me, appsvc.RestoreRequest{AppID: app.ID, Version: vitrine.Latest})
		check(t, err)
		for n := range count {
			_, err := svc.PutTag(ctx, me, appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: vitrine.NewVersion(n % 2)})
			check(t, err)
		}
		data, counts := export(t, source)
		if counts.TagMoves != int64(count) {
			t.Errorf("%d moves: the archive has %d", count, counts.TagMoves)
		}
		if _, err := archive.Import(ctx, target, bytes.NewReader(data), nil); err != nil {
			t.Fatalf("%d moves: %v", count, err)
		}
		if again, _ := export(t, target); !bytes.Equal(again, data) {
			t.Errorf("%d moves: another archive comes out", count)
		}
	}
}
