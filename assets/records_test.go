package assets_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// recordDesk is a desk above a store of keys and values.
type recordDesk struct {
	*desk
	db    storage.Store
	space string
}

func newRecordDesk(t *testing.T) recordDesk {
	db := memory.New()
	t.Cleanup(func() { db.Close() })
	d := recordDesk{&desk{t: t, Service: assets.New(db, nil)}, db, keyval.Space("assets", lib.Network, lib.ID)}
	folder, _ := d.folder("a", "", true)
	for n := range 5 {
		d.label(d.asset(fmt.Sprint(n), "some words "+fmt.Sprint("unique", n), folder),
			assets.Attribute{Key: "k", Value: fmt.Sprint("v", n)})
	}
	return d
}

// faults returns what the audit of the records finds.
func (d recordDesk) faults() (list []string) {
	d.t.Helper()
	for f, err := range assets.Maintenance(assets.Limits{}, nil).Audit(ctx, d.db) {
		if err != nil {
			d.t.Fatal(err)
		}
		list = append(list, f.String())
	}
	return list
}

// change replaces a value past the Service. fn gets nil if there is none, and returns nil to delete it.
func (d recordDesk) change(kind string, fn func(value []byte) []byte) {
	d.t.Helper()
	key := d.space + " " + kind
	err := d.db.Update(ctx, d.space, storage.UpdateOptions{}, func(t storage.Tx) error {
		if strings.HasSuffix(kind, "/*") { // the first of this kind
			for e, err := range t.Scan(ctx, storage.Prefix(strings.TrimSuffix(key, "*"))) {
				if err != nil {
					return err
				}
				key = e.Key
				break
			}
		}
		values, err := t.Get(ctx, key)
		if err != nil {
			return err
		}
		if v := fn(slices.Clone(values[0])); v != nil {
			return t.Put(ctx, storage.Entry{Key: key, Value: v})
		}
		return t.Delete(ctx, key)
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

func TestTheAuditOfRecordsFindsContradictions(t *testing.T) {
	const differ = "the lists of some terms are not those that follow from the records"
	gone := func([]byte) []byte { return nil }
	swap := func(old, new string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(new), 1) }
	}
	is := func(text string) func([]byte) []byte { return func([]byte) []byte { return []byte(text) } }
	state := func(member string, value any) func([]byte) []byte {
		return func(b []byte) []byte {
			var m map[string]any
			if err := json.Unmarshal(b, &m); err != nil {
				t.Fatal(err)
			}
			m[member] = value
			b, _ = json.Marshal(m)
			return b
		}
	}
	for _, c := range []struct {
		name, kind string
		fn         func([]byte) []byte
		want       string
	}{
		{"nothing", "current", func(b []byte) []byte { return b }, ""},
		{"an asset is lost", "asset/a3", gone, "the State counts 5 assets, and there are 4"},
		{"an asset is lost, and the index has it", "asset/a3", gone, differ},
		{"the count", "current", state("count", 7), "the State counts 7 assets, and there are 5"},
		{"the highest ordinal", "current", state("last", 4), "the asset 5 is above the highest ordinal, 4"},
		{"the time", "asset/a2", func(b []byte) []byte { b[23]--; return b }, "published is not createdAt"},
		{"a folder of an asset", "folder/*", gone, "which does not exist"},
		{"a folder that is below nothing", "folder/x", is(`{"id":"x","label":"x","parent":"nowhere"}`), "nowhere"},
		{"a folder that is below itself", "folder/x", is(`{"id":"x","label":"x","parent":"x"}`), "x"},
		{"a word of an asset", "asset/a2", func(b []byte) []byte {
			return bytes.Replace(b, []byte("unique1"), []byte("unique9"), 1)
		}, differ},
		{"a library without a name", "library", gone, "is missing, or names another library"},
		{"the name of another library", "library", is(`{"Network":"x","ID":"y"}`),
			"is missing, or names another library"},
		{"no key", "current", state("key", nil), "has no key"},
		{"an ordinal that is too high", "current", state("last", 1<<41), "want 0 to"},
		{"no time", "current", state("at", 1<<60), "no year from 1 to 9999"},
		{"a folder without a label", "folder/x", is(`{"id":"x","label":""}`), "label"},
		{"a folder under another key", "folder/y", is(`{"id":"x","label":"x"}`), "is the folder"},
		{"a permission on another folder", "folder/x", is(`{"id":"x","label":"x","permissions":[{"rId":"y"}]}`),
			"is not the resource of this folder"},
		{"an asset of another generator", "asset/a2", swap(`"generator":{"id":"`, `"generator":{"id":"x`),
			"the origin is not that"},
		{"a tag twice", "asset/a2", swap(`"safe_tags":[`, `"safe_tags":["a","a"`),
			"not in the form in which it is stored"},
		{"a tag that is empty", "asset/a2", swap(`"safe_tags":[`, `"safe_tags":[""`), "/safe_tags/0"},
		{"an attribute twice", "asset/a2", swap(`"attributes":[`, `"attributes":[{"key":"k","value":"v1"},`),
			"not in the form in which it is stored"},
		{"a body in another form", "asset/a2", swap(`"safe_tags":[`, `"safe_tags": [`),
			"not in the form in which it is stored"},
		{"a content in another form", "asset/a2", swap(`{"id"`, `{ "id"`), "not in the form in which it is stored"},
		{"an asset without a number", "asset/=72", is("1"), "is the key of no asset"},
		{"a record of no kind", "assets/a1", is("1"), "no kind of records"},
	} {
		d := newRecordDesk(t)
		d.change(c.kind, c.fn)
		faults := d.faults()
		if c.want == "" && faults != nil || c.want != "" &&
			!slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, c.want) }) {
			t.Errorf("%s: the faults are %q, want %q", c.name, faults, c.want)
		}
		if err := assets.RebuildIndex(ctx, d.db, lib); err != nil {
			t.Fatal(err)
		}
		if faults := d.faults(); slices.ContainsFunc(faults, func(f string) bool {
			return strings.Contains(f, " index")
		}) {
			t.Errorf("%s, with the index built anew: %q", c.name, faults)
		}
	}
}

// The audit reads records that no Service has written, such as those of an archive.
func TestTheAuditFindsForgedFiles(t *testing.T) {
	for old, new := range map[string]string{`"id":"`: `"no":"`, `"sha256":"`: `"sha257":"`, `"bytes":"`: `"bites":"`,
		`"name":"a b.bin"`: `"name":"a/b.bin"`} {
		d := newRecordDesk(t)
		d.upload(moderator, "%PDF-1.7")
		d.change("asset/a6", func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(new), 1) })
		if faults := d.faults(); !slices.ContainsFunc(faults, func(f string) bool {
			return strings.Contains(f, "has a file with the id")
		}) {
			t.Errorf("%s: the faults are %q", new, faults)
		}
	}
	for _, of := range []assets.Library{lib, {Network: lib.Network, ID: "other"}} {
		d := newRecordDesk(t)
		a, err := d.As(moderator).Upload(ctx, of, assets.UploadRequest{}, strings.NewReader("%PDF-1.7"))
		if err != nil {
			t.Fatal(err)
		}
		id := d.shown(a).Content.ID
		present := ""
		for f := range assets.StoreFiles(d.db).List(ctx) {
			present = f.Name
		}
		for _, name := range []string{"", "x", id + "-0", present} {
			d.change("gone/x", func([]byte) []byte { return []byte(`{"names":["` + name + `"]}`) })
			if faults := d.faults(); of != lib && len(faults) != 1 || of == lib && name != id+"-0" && len(faults) != 1 {
				t.Errorf("%q of %s is gone: %q", name, of.ID, faults)
			}
		}
	}
}

func TestTheAuditFindsTwoAssetsOfOneOrigin(t *testing.T) {
	d := newRecordDesk(t)
	var second []byte
	d.change("asset/a2", func(value []byte) []byte { second = value; return value })
	d.change("asset/a3", func([]byte) []byte { return second })
	if err := assets.RebuildIndex(ctx, d.db, lib); err != nil {
		t.Fatal(err)
	}
	faults := d.faults()
	const want = `asset/a3": another asset has the same generator and foreign id`
	if !slices.ContainsFunc(faults, func(f string) bool { return strings.HasSuffix(f, want) }) {
		t.Errorf("the faults are %q, want %q", faults, want)
	}
}

func TestTheAuditNamesAnAssetThatIsCut(t *testing.T) {
	d := newRecordDesk(t)
	d.change("asset/a2", func(b []byte) []byte { return b[:len(b)-1] })
	if faults := d.faults(); len(faults) == 0 || !strings.HasPrefix(faults[0], `"`+d.space+` asset/a2"`) {
		t.Errorf("the faults are %q", faults)
	}
}

// A search must not find half of the assets, and nobody waits for a change until the end.
func TestAnIndexIsBuiltAnewBesideChanges(t *testing.T) {
	d := newRecordDesk(t)
	for n := range 500 {
		d.asset(fmt.Sprint("more", n), "some words")
	}
	d.change("index1", func([]byte) []byte { return []byte("damaged") })
	if _, err := d.As(moderator).Search(ctx, lib, assets.SearchRequest{Query: "words"}); err == nil {
		t.Error("a search in a damaged index finds something")
	}
	done := make(chan error)
	go func() { done <- assets.RebuildIndex(context.WithoutCancel(ctx), d.db, lib) }()
	for n, ended := 0, false; !ended; n++ {
		select {
		case err := <-done:
			if ended = true; err != nil {
				t.Fatal(err)
			}
		default:
		}
		page, err := d.As(moderator).Search(ctx, lib, assets.SearchRequest{Query: "words"})
		switch {
		case err == nil && page.Total < 505:
			t.Fatalf("a search finds %d of 505", page.Total)
		case err == nil:
			d.asset(fmt.Sprint("beside", n), "some words")
		case !errors.Is(err, storage.ErrBusy) && !ended && !strings.Contains(err.Error(), "damaged"):
			t.Fatal(err)
		}
	}
	if faults := d.faults(); faults != nil {
		t.Errorf("%q", faults)
	}
}

// Libraries with long and odd names are told apart.
func TestLongNamesOfLibraries(t *testing.T) {
	db := memory.New()
	var want []assets.Library
	for _, id := range []string{strings.Repeat("!", 128), strings.Repeat("!", 127) + "/", strings.Repeat("𝄞", 128),
		strings.Repeat("𝄞", 127) + "x"} {
		l := assets.Library{Network: strings.Repeat("n/", 100), ID: id}
		want = append(want, l)
		network := vitrine.Caller{URN: "urn:vitrine:x:user=y", Moderates: []string{"urn:vitrine:" + l.Network}}
		in := assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "a"}}}
		if _, err := assets.New(db, nil).As(network).ChangeFolders(ctx, l, in); err != nil {
			t.Fatal(err)
		}
	}
	var got []assets.Library
	for l, err := range assets.New(db, nil).Libraries(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, l)
	}
	slices.SortFunc(want, func(a, b assets.Library) int { return strings.Compare(a.ID, b.ID) })
	if !slices.Equal(got, want) {
		t.Errorf("the libraries are %q, want %q", got, want)
	}
}

func TestNothingIsLeftOfARemovedAsset(t *testing.T) {
	d := newRecordDesk(t)
	id := d.asset("s", "confidential")
	d.asset("other", "confident")
	if !strings.Contains(d.dump(), "confidential") {
		t.Fatal("there is nothing to remove")
	}
	if _, err := d.As(moderator).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Remove: []string{id}}); err != nil {
		t.Fatal(err)
	}
	if err := assets.EraseRemoved(d.As(moderator), ctx, lib); err != nil {
		t.Fatal(err)
	}
	if dump := d.dump(); strings.Contains(dump, "confidential") || strings.Contains(dump, "new1/") {
		t.Errorf("there is still %q", dump)
	}
	if faults := d.faults(); faults != nil {
		t.Errorf("%q", faults)
	}
	if n := d.total(moderator, assets.SearchRequest{Query: "confid*"}); n != 1 {
		t.Errorf("%d assets are left, want 1", n)
	}
}

// dump returns all keys and values.
func (d recordDesk) dump() string {
	d.t.Helper()
	var b strings.Builder
	err := d.db.View(ctx, func(r storage.Reader) error {
		b.Reset()
		for e, err := range r.Scan(ctx, storage.Range{}) {
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%s %s\n", e.Key, e.Value)
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return b.String()
}
