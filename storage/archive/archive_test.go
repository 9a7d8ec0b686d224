package archive_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/archive"
	"github.com/vitrine-go/vitrine/storage/memory"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

const network = "urn:vitrine:example.test"

var ctx = context.Background()

// engines opens an empty store of each engine.
var engines = map[string]func(t *testing.T) archive.Stores{
	"memory": func(*testing.T) archive.Stores {
		return archive.Stores{Apps: memory.NewApps(), Assets: memory.NewAssets(), Reviews: memory.NewReviews()}
	},
	"sqlite": func(t *testing.T) archive.Stores {
		db, err := sqlite.Open(filepath.Join(t.TempDir(), "vitrine.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return archive.Stores{Apps: db.Apps(), Assets: db.Assets(), Reviews: db.Reviews()}
	},
}

func check(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// fill does a bit of everything with a store, the same for the same seed but for random ids.
func fill(t *testing.T, s archive.Stores, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	fillApps(t, appsvc.New(s.Apps, nil), random)
	for _, name := range []string{"example.test", "second \u00e9 library"} {
		fillLibrary(t, assets.New(s.Assets, nil), assets.Library{Network: "example.test", ID: name}, random)
	}
	fillReviews(t, reviews.New(s.Reviews), random)
}

func fillApps(t *testing.T, svc *appsvc.Service, random *rand.Rand) {
	t.Helper()
	me := appsvc.Caller{URN: network + ":user=me", Moderates: []string{network}, ManageComponents: true}
	for _, version := range []string{"2.0.0", "1.0.0", "10.0.0"} {
		_, err := svc.CreateComponent(ctx, me, fmt.Appendf(nil, `{"name":"@scope/poll","version":%q,"main":"https://example.test/poll.js",`+
			`"configSchema":{"type":"object"},"more":["\u0041\/<>",1.10,9007199254740993]}`, version), "")
		check(t, err)
	}
	for i := range 4 {
		app, err := svc.CreateApp(ctx, me, appsvc.NewApp{
			Title: fmt.Sprintf("App %d \u2028 <b>", i), Groups: []string{network + ":site=1"}, IdempotencyKey: fmt.Sprint("create-", i),
			Elements: []appsvc.NewElement{{Component: appsvc.ComponentRef{Name: "@scope/poll", Version: "1.0.0"}, Config: []byte(`{"b":1.10,"a":"\u0061\/<>"}`)}},
		})
		check(t, err)
		for range random.IntN(100) {
			_, err := svc.Patch(ctx, me, app.ID, fmt.Appendf(nil, `[{"op":"test","path":"/apps/0/version","value":"%d"},`+
				`{"op":"add","path":"/apps/0/elements/0/config/k%d","value":%d}]`, app.Version, random.IntN(9), random.Int64()))
			check(t, err)
			app.Version++
		}
		for range random.IntN(5) {
			_, err := svc.PutTag(ctx, me, appsvc.PutTag{AppID: app.ID, Name: fmt.Sprint("tag", random.IntN(9)), Version: appsvc.Version(random.Int64N(int64(app.Version) + 1))})
			check(t, err)
		}
	}
}

func fillLibrary(t *testing.T, svc *assets.Service, lib assets.Library, random *rand.Rand) {
	t.Helper()
	me := assets.Caller{URN: network + ":user=me", Moderates: []string{network}}
	made, err := svc.ChangeFolders(ctx, me, lib, assets.ChangeFolders{Create: []assets.NewFolder{
		{Label: "Drafts", Permissions: []assets.Permission{{Operation: assets.Edit, Role: &assets.Subject{ID: "editors"}}}}, {Label: "Old"},
	}})
	check(t, err)
	gone := true
	_, err = svc.ChangeFolders(ctx, me, lib, assets.ChangeFolders{Update: []assets.FolderChange{{ID: made[1].ID, Deleted: &gone}}})
	check(t, err)
	var add []assets.NewAsset
	for i := range 5 + random.IntN(20) {
		post := assets.NewAsset{ID: fmt.Sprint(i), Generator: assets.Generator{ID: "blog.example"}, Content: fmt.Appendf(nil, `{"content":"<p>Cr\u00e8me %d</p>","extra":1.10}`, random.IntN(5))}
		if i%2 == 0 {
			post.Folders = []string{made[0].ID}
		}
		add = append(add, post)
	}
	changed, err := svc.ChangeAssets(ctx, me, lib, assets.ChangeAssets{Add: add})
	check(t, err)
	_, err = svc.ChangeAssets(ctx, me, lib, assets.ChangeAssets{Remove: []string{changed.Added[0].ID, changed.Added[1].ID}})
	check(t, err)
}

func fillReviews(t *testing.T, svc *reviews.Service, random *rand.Rand) {
	t.Helper()
	var file strings.Builder
	for _, id := range []string{"bGFtcA==", "YmVk"} {
		fmt.Fprintf(&file, `{"source":"shop","title":"A lamp","created":"2019-01-01T00:00:00Z","id":%q,"dimensions":["default"],"reviews":[`, id)
		count := 1 + random.IntN(30)
		for i := range count {
			fmt.Fprintf(&file, `{"id":"%d","imported_display_name":"Visitor","imported_email":"someone@example.test","title":"\u0042right","body_html":"<p>&lt;</p>","created":"2019-02-03T04:05:06Z","ratings":[%d]}`, i, 1+random.IntN(100))
			if i < count-1 {
				file.WriteByte(',')
			}
		}
		file.WriteString("]}\n")
	}
	report, err := svc.Import(ctx, reviews.Caller{Operator: true}, strings.NewReader(file.String()), nil)
	check(t, err)
	if report.Rejected > 0 || report.Errors > 0 {
		t.Fatalf("the file of the test has errors: %+v", report)
	}
}

func export(t *testing.T, s archive.Stores) ([]byte, archive.Counts) {
	t.Helper()
	var out bytes.Buffer
	n, err := archive.Export(ctx, s, &out)
	check(t, err)
	return out.Bytes(), n
}

func TestAnArchiveOfWhatWasImportedIsTheSame(t *testing.T) {
	for seed := range uint64(3) {
		source := engines["memory"](t)
		fill(t, source, seed)
		first, had := export(t, source)
		if read, err := archive.Check(ctx, bytes.NewReader(first)); err != nil || read != had {
			t.Fatalf("seed %d: exported %+v, Check says %+v, %v", seed, had, read, err)
		}
		for engine, open := range engines {
			target := open(t)
			if got, err := archive.Import(ctx, target, bytes.NewReader(first)); err != nil || got != had {
				t.Fatalf("seed %d, %s: exported %+v, imported %+v, %v", seed, engine, had, got, err)
			}
			if second, _ := export(t, target); !bytes.Equal(first, second) {
				t.Errorf("seed %d, %s: the archives differ:\n%s\n%s", seed, engine, first, second)
			}
		}
	}
}

// What cannot be seen in an archive: the target goes on as the source would have.
func TestAnImportedStoreGoesOn(t *testing.T) {
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			source, target := engines["memory"](t), open(t)
			fill(t, source, 1)
			data, _ := export(t, source)
			_, err := archive.Import(ctx, target, bytes.NewReader(data))
			check(t, err)
			me := appsvc.Caller{URN: network + ":user=me", Moderates: []string{network}}
			lib, moderator := assets.Library{Network: "example.test", ID: "example.test"}, assets.Caller{URN: me.URN, Moderates: me.Moderates}
			var saw []string
			for _, s := range []archive.Stores{source, target} {
				apps, _, err := appsvc.New(s.Apps, nil).Apps(ctx, me, appsvc.ListApps{UsingComponent: "@scope/poll"})
				check(t, err)
				again, err := appsvc.New(s.Apps, nil).CreateApp(ctx, me, appsvc.NewApp{
					Title: "App 2 \u2028 <b>", Groups: []string{network + ":site=1"}, IdempotencyKey: "create-2",
					Elements: []appsvc.NewElement{{Component: appsvc.ComponentRef{Name: "@scope/poll", Version: "1.0.0"}, Config: []byte(`{"b":1.10,"a":"\u0061\/<>"}`)}},
				})
				check(t, err)
				page, err := assets.New(s.Assets, nil).Search(ctx, moderator, lib, assets.Search{Query: "creme", Limit: 3})
				check(t, err)
				stats, err := reviews.New(s.Reviews).Stats(ctx, reviews.Key{Source: "shop", ID: "YmVk"})
				check(t, err)
				saw = append(saw, fmt.Sprintf("%+v\n%s\n%+v\n%+v", apps, again.ID, page, stats))
			}
			if saw[0] != saw[1] {
				t.Errorf("the source answers\n%s\nthe target\n%s", saw[0], saw[1])
			}
		})
	}
}

func TestAGzippedArchiveIsImported(t *testing.T) {
	source, target := engines["memory"](t), engines["memory"](t)
	fill(t, source, 1)
	data, _ := export(t, source)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(data)
	check(t, z.Close())
	zipped.Write(make([]byte, 512)) // as tapes are filled up
	_, err := archive.Import(ctx, target, &zipped)
	check(t, err)
	if again, _ := export(t, target); !bytes.Equal(data, again) {
		t.Error("another archive comes out")
	}
}

func TestAStoreThatHoldsSomethingIsLeftAlone(t *testing.T) {
	empty, _ := export(t, engines["memory"](t))
	full := engines["memory"](t)
	fill(t, full, 1)
	for what, to := range map[string]archive.Stores{
		"apps":    {Apps: full.Apps, Assets: memory.NewAssets(), Reviews: memory.NewReviews()},
		"assets":  {Apps: memory.NewApps(), Assets: full.Assets, Reviews: memory.NewReviews()},
		"reviews": {Apps: memory.NewApps(), Assets: memory.NewAssets(), Reviews: full.Reviews},
	} {
		if _, err := archive.Import(ctx, to, bytes.NewReader(empty)); !errors.Is(err, archive.ErrNotEmpty) {
			t.Errorf("%s: error %v, want %v", what, err, archive.ErrNotEmpty)
		}
	}
}

func TestADamagedArchiveIsRefused(t *testing.T) {
	source := engines["memory"](t)
	fill(t, source, 1)
	whole, _ := export(t, source)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	refused := func(what string, parts ...[]byte) {
		t.Helper()
		data := bytes.Join(parts, nil)
		if _, err := archive.Check(ctx, bytes.NewReader(data)); !errors.Is(err, archive.ErrDamaged) {
			t.Errorf("%s: Check: error %v, want %v", what, err, archive.ErrDamaged)
		}
		if _, err := archive.Import(ctx, engines["memory"](t), bytes.NewReader(data)); err == nil {
			t.Errorf("%s: Import: no error", what)
		}
	}
	join := func(list ...[]byte) []byte { return bytes.Join(list, nil) }
	refused("nothing")
	refused("no archive", []byte("{}\n"))
	refused("another format", []byte(`{"vitrine":2}`))
	refused("a repeated member", []byte(`{"vitrine":1,"vitrine":1}`))
	refused("an asset in no library", lines[0], []byte(`{"asset":{}}`))
	refused("a review in no collection", lines[0], []byte(`{"review":{}}`))
	refused("something behind the end", whole, lines[1])
	refused("a second archive behind it", whole, whole)
	refused("a line longer than any", lines[0], bytes.Repeat([]byte(" "), 65<<20))
	for i := 0; i < len(lines)-1; i += 5 {
		refused(fmt.Sprint("line ", i, " and the rest are gone"), lines[:i]...)
		refused(fmt.Sprint("line ", i, " is gone"), join(lines[:i]...), join(lines[i+1:]...))
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		changed, at := bytes.Clone(whole), random.IntN(len(whole)-1)
		changed[at] ^= 1 << random.IntN(7)
		refused(fmt.Sprintf("byte %d is %q instead of %q", at, changed[at], whole[at]), changed)
	}
}

// cut is a writer that fails after some bytes.
type cut struct{ left int }

func (c *cut) Write(p []byte) (int, error) {
	if c.left -= len(p); c.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestAWriterThatFailsFailsTheExport(t *testing.T) {
	source := engines["memory"](t)
	fill(t, source, 1)
	whole, _ := export(t, source)
	for _, size := range []int{0, 1, len(whole) / 2, len(whole) - 1} {
		if _, err := archive.Export(ctx, source, &cut{size}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%d bytes are taken: error %v", size, err)
		}
	}
}

func FuzzImport(f *testing.F) {
	for _, text := range []string{"", "{}", `{"vitrine":1}`} {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"vitrine":1}
{"component":{"id":"1","name":"poll","version":"1","main":"m","manifest":{}}}
{"version":{"app":"a","version":0,"owner":"o","createdAt":1,"updatedAt":1,"updatedBy":"o","body":{"title":"","owner":{"urn":"o"},"groups":[],"elements":[]}}}
{"tag":{"app":"a","name":"t","version":0}}
{"answer":{"by":"o","key":"k","request":"AA==","result":"AA==","expires":1}}
{"library":{"network":"n","id":"l","key":"AAAAAAAAAAAAAAAAAAAAAA==","last":1,"at":1,"count":1,"tree":1}}
{"folder":{"id":"f","parent":"","label":"l","inherit":true,"deleted":false,"permissions":[]}}
{"asset":{"ordinal":1,"origin":"AAAAAAAAAAAAAAAAAAAAAA==","createdAt":1,"updatedAt":1,"folders":[],"body":{"content":{"content":"a"},"safe_tags":[]}}}
{"collection":{"source":"s","id":"c","tally":"e30=","fields":{}}}
{"review":{"id":"r","data":{}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append(bytes.Clone(data), '\n') // and the last line that fits
		data = fmt.Appendf(data, `{"end":{"lines":%d,"sha256":"%x"}}`, bytes.Count(data, []byte("\n")), sha256.Sum256(data))
		to := archive.Stores{Apps: memory.NewApps(), Assets: memory.NewAssets(), Reviews: memory.NewReviews()}
		if _, err := archive.Import(ctx, to, bytes.NewReader(data)); err != nil {
			return
		}
		again := archive.Stores{Apps: memory.NewApps(), Assets: memory.NewAssets(), Reviews: memory.NewReviews()}
		var out bytes.Buffer
		if _, err := archive.Export(ctx, to, &out); err != nil {
			t.Fatalf("what was imported cannot be exported: %v", err)
		}
		if _, err := archive.Import(ctx, again, &out); err != nil {
			t.Fatalf("what was exported cannot be imported: %v", err)
		}
	})
}

// What is wrong with a file is told in the words of archives, not of Go.
func TestDamageIsToldInPlainWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "this is no archive",
		"hello\n":              "this is no archive",
		"[1]\n":                "this is no archive",
		"{\"vitrine\":2}\n":    "this is no archive, or one of a newer release",
		"{\"vitrine\":\"1\"}":  "this is no archive",
		"{\"vitrine\":1}\n":    "damaged archive: line 2: the archive ends before its last line",
		"{\"vitrine\":1}\nx\n": "damaged archive: line 2: this is no line of an archive",
		"{\"vitrine\":1}\n{\"tag\":{\"app\":5}}\n": "damaged archive: line 2: this is no line of an archive: the value at /tag/app is not what belongs there",
		"{\"vitrine\":1}\n{\"spam\":5}\n":          "damaged archive: line 2: this is no line of an archive",
	} {
		_, err := archive.Check(ctx, strings.NewReader(text))
		if !errors.Is(err, archive.ErrDamaged) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "Go ") || strings.Contains(err.Error(), "json") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
