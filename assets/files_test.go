package assets_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/assets/filestest"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// pdf is a file that is stored as it is, of at least so many bytes.
func pdf(size int) string { return "%PDF-1.7\n" + strings.Repeat("0123456789abcde\n", size/16) }

// picture is a JPEG of this width, half as high.
func picture(t testing.TB, width int) string {
	t.Helper()
	p := image.NewGray(image.Rect(0, 0, width, width/2))
	p.SetGray(width/2, width/4, color.Gray{200})
	var b bytes.Buffer
	if err := jpeg.Encode(&b, p, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// shown is what an asset shows of its file.
type shown struct {
	Content struct {
		ID, Content string
		Generator   assets.Generator
		Attachment  []struct {
			Type, Title, Description string
			Width, Height            int
			URL, Thumbnail           struct{ Href string }
			File                     struct {
				ID, Name, Type, SHA256 string
				Size                   int64
				Focus                  assets.Focus
				Widths                 []int
			}
		}
	}
}

func (d *desk) shown(a assets.Asset) (out shown) {
	d.t.Helper()
	if err := json.Unmarshal(a.Body, &out); err != nil || len(out.Content.Attachment) != 1 {
		d.t.Fatalf("%s: %v", a.Body, err)
	}
	return out
}

func (d *desk) upload(by vitrine.Caller, body string, folders ...string) assets.Asset {
	d.t.Helper()
	a, err := d.As(by).Upload(ctx, lib, assets.UploadRequest{Name: "a b.bin", Folders: folders},
		strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	return a
}

// bytesOf returns the bytes of an asset's file, and the error of asking for them.
func (d *desk) bytesOf(a assets.Asset, width int) (string, error) {
	d.t.Helper()
	f := d.shown(a).Content.Attachment[0].File
	file, err := d.File(ctx, assets.FileRequest{ID: f.ID, Name: f.Name, Width: width})
	if err != nil {
		return "", err
	}
	defer file.Bytes.Close()
	b, err := io.ReadAll(file.Bytes)
	return string(b), err
}

// sound fails the test if the store has a fault, or more bytes of files than these assets have.
func (d *desk) sound(db storage.Store, have ...assets.Asset) {
	d.t.Helper()
	for fault, err := range assets.Maintenance(assets.Limits{}, nil).Audit(ctx, db) {
		d.t.Errorf("%v, %v", fault, err)
	}
	var names []string
	for _, a := range have {
		names = append(names, d.shown(a).Content.ID)
	}
	err := db.View(ctx, func(r storage.Reader) error {
		for e, err := range r.Scan(ctx, storage.Prefix("files/")) {
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(names, func(id string) bool { return strings.Contains(e.Key, id) }) {
				d.t.Errorf("%s is left", e.Key)
			}
		}
		return nil
	})
	if err != nil {
		d.t.Error(err)
	}
}

func TestAFileIsAnAsset(t *testing.T) {
	db := memory.New()
	d := &desk{t: t, Service: assets.New(db, nil)}
	folder, _ := d.folder("f", "", true, grants...)
	in := assets.UploadRequest{Name: `"x" <y>.jpg`, Title: "Ships & <b>boats</b>", Alt: "A ship",
		Folders: []string{folder}}
	body := picture(t, 700)
	a, err := d.As(writer).Upload(ctx, lib, in, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	s := d.shown(a)
	at, sum := s.Content.Attachment[0], fmt.Sprintf("%x", sha256.Sum256([]byte(body)))
	if s.Content.Generator.ID != "files" || s.Content.Content != "Ships &amp; &lt;b&gt;boats&lt;/b&gt;" ||
		at.Type != "photo" || at.Title != in.Name || at.Description != in.Alt || at.Width != 700 || at.Height != 350 ||
		at.File.Type != "image/jpeg" || at.File.Size != int64(len(body)) || at.File.SHA256 != sum ||
		at.File.Focus != (assets.Focus{X: 0.5, Y: 0.5}) || !slices.Equal(at.File.Widths, []int{320, 640}) ||
		at.URL.Href != "/x/file/"+at.File.ID+"/%22x%22%20%3Cy%3E.jpg?v="+sum[:16] {
		t.Errorf("the asset is %s", a.Body)
	}
	if got, err := d.bytesOf(a, 0); got != body || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, err := d.bytesOf(a, 1280); got != body || err != nil {
		t.Errorf("in a greater width: %d bytes, %v", len(got), err)
	}
	small, err := d.bytesOf(a, 320)
	if p, _, e := image.DecodeConfig(strings.NewReader(small)); err != nil || e != nil || p.Width != 320 ||
		p.Height != 160 {
		t.Errorf("the rendition is %v, %v, %v", p, err, e)
	}
	_, err = d.bytesOf(a, 321)
	d.want("another width", err, "invalid")
	for query, in := range map[string]assets.SearchRequest{"the title": {Query: "boats"},
		"the name":             {Query: "jpg", In: []string{"attachments"}},
		"the alternative text": {Query: "ship", In: []string{"attachments"}},
		"its identity":         {Generator: "files", ForeignID: at.File.ID}} {
		if d.total(moderator, in) != 1 {
			t.Errorf("it is not found by %s", query)
		}
	}
	below, err := assets.New(db, &assets.Options{BasePath: "app-service/v4/"}).As(moderator).Asset(ctx, lib, a.ID)
	if href := d.shown(below).Content.Attachment[0].URL.Href; err != nil || href != "/app-service/v4"+at.URL.Href {
		t.Errorf("below a base path the address is %s, %v", href, err)
	}
	d.sound(db, a)

	// The bytes are replaced, and the name stays.
	_, err = d.As(viewer).ReplaceFile(ctx, lib, assets.ReplaceFileRequest{Asset: a.ID, IfMatch: a.ETag()},
		strings.NewReader(body))
	d.want("replaced by a viewer", err, "forbidden")
	next := pdf(3 << 20)
	seen, err := d.As(writer).Asset(ctx, lib, a.ID)
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.As(writer).ReplaceFile(ctx, lib, assets.ReplaceFileRequest{Asset: a.ID, IfMatch: seen.ETag()},
		strings.NewReader(next))
	if err != nil {
		t.Fatal(err)
	}
	if at := d.shown(b).Content.Attachment[0]; at.Type != "link" || at.File.ID != s.Content.ID || at.Title != in.Name ||
		at.Description != in.Alt || at.Width != 0 || len(at.File.Widths) != 0 {
		t.Errorf("replaced: %s", b.Body)
	}
	if got, err := d.bytesOf(b, 640); got != next || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if d.total(moderator, assets.SearchRequest{Query: "boats"}) != 1 {
		t.Error("it is not found any more")
	}
	_, err = d.As(writer).ReplaceFile(ctx, lib, assets.ReplaceFileRequest{Asset: a.ID, IfMatch: seen.ETag()},
		strings.NewReader(next))
	if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Code != vitrine.CodeChanged {
		t.Errorf("with an older ETag: %v", err)
	}
	if err := d.Upkeep(ctx); err != nil {
		t.Error(err)
	}
	d.sound(db, b)

	// Texts and focus.
	edit := assets.EditFileRequest{Asset: a.ID, IfMatch: b.ETag(), Title: text("Now"), Focus: &assets.Focus{X: 1}}
	c, err := d.As(writer).EditFile(ctx, lib, edit)
	if s := d.shown(c); err != nil || s.Content.Content != "Now" ||
		s.Content.Attachment[0].File.Focus != (assets.Focus{X: 1}) ||
		s.Content.Attachment[0].Description != in.Alt || d.total(moderator, assets.SearchRequest{Query: "boats"}) != 0 {
		t.Errorf("edited: %s, %v", c.Body, err)
	}
	_, err = d.As(writer).EditFile(ctx, lib, edit)
	d.want("edited again", err, "conflict")
	edit.IfMatch = ""
	_, err = d.As(writer).EditFile(ctx, lib, edit)
	if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Code != vitrine.CodePrecondition {
		t.Errorf("without an ETag: %v", err)
	}
	edit.IfMatch, edit.Focus = c.ETag(), &assets.Focus{Y: 1.01}
	_, err = d.As(writer).EditFile(ctx, lib, edit)
	d.want("a focus outside", err, "invalid")
	d.sound(db, c)

	// Removing it takes the bytes along, and the feed names the file.
	removed, err := d.As(writer).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Remove: []string{a.ID}})
	if err != nil || len(removed.Removed) != 1 {
		t.Fatalf("%+v, %v", removed, err)
	}
	_, err = d.bytesOf(c, 0)
	d.want("the bytes of a removed file", err, "not found")
	var files []string
	page, err := d.Outbox(ctx, lib, vitrine.ChangesRequest{})
	if err != nil || page.More {
		t.Fatal(page, err)
	}
	for _, e := range page.Changes {
		files = append(files, e.Files...)
	}
	if want := []string{s.Content.ID, s.Content.ID}; !slices.Equal(files, want) { // replaced and removed
		t.Errorf("the feed names %q, want %q", files, want)
	}
	if err := d.Upkeep(ctx); err != nil {
		t.Error(err)
	}
	d.sound(db)
}

// Who may add an asset to a folder may upload there, and who may change an asset may replace its file.
func TestWhoMayUpload(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	folder, _ := d.folder("f", "", true, grants...)
	open, _ := d.folder("open", "", true)
	for _, test := range []struct {
		by      vitrine.Caller
		folders []string
		want    string
	}{{moderator, nil, "ok"}, {member, nil, "forbidden"}, {writer, nil, "forbidden"}, {writer, []string{folder}, "ok"},
		{manager, []string{folder}, "ok"}, {viewer, []string{folder}, "forbidden"},
		{member, []string{folder}, "not found"},
		{member, []string{open}, "forbidden"}, {writer, []string{folder, open}, "forbidden"},
		{moderator, []string{folder, open}, "ok"}, {moderator, []string{"none"}, "not found"},
		{outsider, nil, "forbidden"},
		{vitrine.Caller{URN: member.URN, TagsOnly: true}, nil, "forbidden"}} {
		read := false
		_, err := d.As(test.by).Upload(ctx, lib, assets.UploadRequest{Folders: test.folders},
			io.MultiReader(readerFunc(func([]byte) (int, error) { read = true; return 0, io.EOF }),
				strings.NewReader(pdf(9))))
		d.want(fmt.Sprintf("%s into %q", test.by.URN, test.folders), err, test.want)
		if read != (test.want == "ok") {
			t.Errorf("%s into %q: the body was read: %t", test.by.URN, test.folders, read)
		}
	}
	post := d.asset("1", "x", folder)
	_, err := d.As(manager).ReplaceFile(ctx, lib, assets.ReplaceFileRequest{Asset: post, IfMatch: "x"},
		strings.NewReader(pdf(9)))
	if !errors.Is(err, vitrine.ErrUnprocessable) {
		t.Errorf("an asset without a file: %v", err)
	}
}

// An agent adds assets and files where its person may, and changes and removes none. The feed has its name.
func TestAgentsAddAssets(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	folder, _ := d.folder("f", "", true, grants...)
	agent := writer
	agent.Agent, agent.Key = "Draft writer", "vt_12345678"
	there := d.asset("1", "x", folder)
	for _, test := range []struct {
		add    []assets.NewAsset
		remove []string
		want   string
	}{
		{[]assets.NewAsset{newAsset("2", "y", folder)}, nil, "ok"},
		{[]assets.NewAsset{newAsset("3", "y", folder)}, []string{there}, "forbidden"},
		{[]assets.NewAsset{newAsset("3", "y", folder), newAsset("1", "z", folder)}, nil, "forbidden"},
		{[]assets.NewAsset{newAsset("1", "x", folder)}, nil, "forbidden"},
		{[]assets.NewAsset{newAsset("3", "y")}, nil, "forbidden"},
		{nil, []string{"none"}, "forbidden"},
	} {
		_, err := d.As(agent).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: test.add, Remove: test.remove})
		d.want(fmt.Sprint(test.add, test.remove), err, test.want)
	}
	file := d.upload(agent, pdf(9), folder)
	_, err := d.As(agent).EditFile(ctx, lib, assets.EditFileRequest{Asset: file.ID, IfMatch: file.ETag()})
	d.want("its own file", err, "forbidden")
	changes, err := d.As(moderator).Changes(ctx, lib, vitrine.ChangesRequest{})
	if err != nil || d.total(moderator, assets.SearchRequest{}) != 3 {
		t.Fatal(err)
	}
	names := ""
	for _, e := range changes.Changes {
		text, _ := json.Marshal(e)
		names += e.By[len(network):] + "/" + e.Agent + " "
		if strings.Contains(string(text), `"agent":"Draft writer"`) != (e.Agent != "") {
			t.Errorf("%s", text)
		}
	}
	if want := ":user=mod/ :user=mod/ :user=writer/Draft writer :user=writer/Draft writer "; names != want {
		t.Errorf("the feed is by %s, want %s", names, want)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// What a caller says in the content of an asset makes no file of it.
func TestForgedFiles(t *testing.T) {
	db := memory.New()
	d := &desk{t: t, Service: assets.New(db, nil)}
	folder, _ := d.folder("f", "", true, grants...)
	a := d.upload(moderator, pdf(100))
	id := d.shown(a).Content.ID
	add := func(foreign, generator string) (assets.ChangedAssets, error) {
		return d.As(writer).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{{ID: foreign,
			Generator: assets.Generator{ID: generator}, Folders: []string{folder},
			Content: fmt.Appendf(nil,
				`{"attachment":[{"version":"1.0","type":"photo","file":{"id":%q,"name":"a b.bin"}}]}`, id)}}})
	}
	_, err := add(id, "files")
	d.want("the generator files", err, "forbidden")
	out, err := add(id, "other")
	if err != nil {
		t.Fatal(err)
	}
	forged := out.Added[0]
	_, err = d.As(writer).EditFile(ctx, lib,
		assets.EditFileRequest{Asset: forged.ID, IfMatch: forged.ETag(), Alt: text("x")})
	if !errors.Is(err, vitrine.ErrUnprocessable) {
		t.Errorf("editing the file of another: %v", err)
	}
	if _, err := d.As(writer).ChangeAssets(ctx, lib,
		assets.ChangeAssetsRequest{Remove: []string{forged.ID}}); err != nil {
		t.Error(err)
	}
	if err := d.Upkeep(ctx); err != nil {
		t.Error(err)
	}
	if got, err := d.bytesOf(a, 0); got != pdf(100) || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	d.sound(db, a)
}

// A file is not served while all of its folders are deleted, and purging them deletes its bytes.
func TestFilesInDeletedFolders(t *testing.T) {
	db := memory.New()
	d := &desk{t: t, Service: assets.New(db, nil)}
	first, path := d.folder("first", "", true)
	below, _ := d.folder("below", path, true)
	second, _ := d.folder("second", "", true)
	alone, both := d.upload(moderator, pdf(1), below), d.upload(moderator, pdf(2), below, second)
	served := func(what string, a assets.Asset, want string) {
		t.Helper()
		_, err := d.bytesOf(a, 0)
		d.want(what, err, want)
	}
	change := func(in assets.ChangeFoldersRequest) {
		t.Helper()
		if _, err := d.As(moderator).ChangeFolders(ctx, lib, in); err != nil {
			t.Fatal(err)
		}
	}
	served("at first", alone, "ok")
	change(assets.ChangeFoldersRequest{Delete: []string{first}})
	served("in deleted folders alone", alone, "not found")
	served("in another one, too", both, "ok")
	change(assets.ChangeFoldersRequest{Update: []assets.FolderChange{{ID: first, Deleted: flag(false)}}})
	served("restored", alone, "ok")
	change(assets.ChangeFoldersRequest{Delete: []string{first}})
	change(assets.ChangeFoldersRequest{Purge: []string{first}})
	served("purged", alone, "not found")
	served("not purged", both, "ok")
	d.sound(db, both) // without a sweep
}

func TestLimitsOfFiles(t *testing.T) {
	db := memory.New()
	d := &desk{t: t, Service: assets.New(db, &assets.Options{Limits: assets.Limits{File: 3000, Files: 7000}})}
	upload := func(in assets.Library, size int, known int64) (assets.Asset, error) {
		return d.As(moderator).Upload(ctx, in, assets.UploadRequest{Size: known}, strings.NewReader(pdf(size)))
	}
	_, err := upload(lib, 3000, 0)
	d.want("too large", err, "too large")
	_, err = upload(lib, 0, 3001)
	d.want("a size that is too large", err, "too large")
	a, err := upload(lib, 2900, 0)
	d.want("the first", err, "ok")
	_, err = upload(assets.Library{Network: lib.Network, ID: "other"}, 2900, 0)
	d.want("the second, in another library", err, "ok")
	for _, known := range []int64{0, 2909} {
		if _, err := upload(lib, 2900, known); !errors.Is(err, vitrine.ErrUnprocessable) {
			t.Errorf("the third: %v", err)
		}
	}
	_, err = d.As(vitrine.Caller{URN: "urn:vitrine:other.test:user=x",
		Moderates: []string{"urn:vitrine:other.test"}}).Upload(
		ctx, assets.Library{Network: "other.test", ID: "other.test"}, assets.UploadRequest{},
		strings.NewReader(pdf(2900)))
	d.want("of another network", err, "ok")
	if _, err := d.As(moderator).ReplaceFile(ctx, lib, assets.ReplaceFileRequest{Asset: a.ID, IfMatch: a.ETag()},
		strings.NewReader(pdf(2950))); err != nil {
		t.Errorf("replaced while there is room: %v", err)
	}
	if _, err := d.As(moderator).ChangeAssets(ctx, lib,
		assets.ChangeAssetsRequest{Remove: []string{a.ID}}); err != nil {
		t.Fatal(err)
	}
	_, err = upload(lib, 2900, 0)
	d.want("once there is room", err, "ok")
	for fault, err := range assets.Maintenance(assets.Limits{}, nil).Audit(ctx, db) {
		t.Errorf("%v, %v", fault, err)
	}
}

// An upload that fails leaves nothing, wherever it fails, or what is swept a day later.
func TestUploadsThatFail(t *testing.T) {
	db := memory.New()
	now := time.Now()
	d := &desk{t: t, Service: assets.New(db, &assets.Options{Now: func() time.Time { return now }})}
	broken := errors.New("the client has gone")
	for what, body := range map[string]io.Reader{"a file": strings.NewReader(pdf(3 << 20)),
		"a picture": strings.NewReader(picture(t, 700))} {
		_, err := d.As(moderator).Upload(ctx, lib, assets.UploadRequest{},
			io.MultiReader(io.LimitReader(body, 2000), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) {
			t.Errorf("%s that breaks off: %v", what, err)
		}
	}
	_, err := d.As(moderator).Upload(ctx, lib, assets.UploadRequest{}, strings.NewReader(picture(t, 700)[:1000]))
	if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Code != vitrine.CodeNotApplicable {
		t.Errorf("a picture that ends early: %v", err)
	}
	_, err = d.As(moderator).Upload(ctx, lib, assets.UploadRequest{}, strings.NewReader("<!doctype html>"))
	if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Code != vitrine.CodeMediaType {
		t.Errorf("a page: %v", err)
	}
	d.sound(db)
	a := d.upload(moderator, pdf(5))
	body := picture(t, 2000)
	for left := range 20 {
		on := assets.New(&failing{db, int64(left)}, &assets.Options{Now: func() time.Time { return now }})
		_, err := on.As(moderator).Upload(ctx, lib, assets.UploadRequest{}, strings.NewReader(body))
		_, again := on.As(moderator).ReplaceFile(ctx, lib, assets.ReplaceFileRequest{Asset: a.ID, IfMatch: a.ETag()},
			strings.NewReader(body))
		for fault, err := range assets.Maintenance(assets.Limits{}, nil).Audit(ctx, db) {
			t.Fatalf("after %d updates: %v, %v", left, fault, err)
		}
		if err == nil && again == nil {
			if left < 10 {
				t.Errorf("an upload of a picture takes %d updates", left)
			}
			break
		}
		if left == 19 {
			t.Errorf("%v, %v", err, again)
		}
	}
	if a, err = d.As(moderator).Asset(ctx, lib, a.ID); err != nil {
		t.Fatal(err)
	}
	kept := append([]assets.Asset{a}, d.search(moderator, assets.SearchRequest{}).Assets...)
	now = now.Add(23 * time.Hour)
	if err := d.Upkeep(ctx); err != nil {
		t.Error(err)
	}
	now = now.Add(2 * time.Hour)
	faults := 0
	for range assets.Maintenance(assets.Limits{}, nil).Audit(ctx, later{db, func() time.Time { return now }}) {
		faults++
	}
	if faults == 0 {
		t.Error("nothing was left to sweep: the test shows nothing")
	}
	if err := d.Upkeep(ctx); err != nil {
		t.Error(err)
	}
	d.sound(db, kept...)
	if got, err := d.bytesOf(a, 0); err != nil || got == "" {
		t.Errorf("what has a record was swept: %v", err)
	}
}

// later is a store with another clock.
type later struct {
	storage.Store
	now func() time.Time
}

func (l later) Defaults() storage.Defaults { return storage.Defaults{Now: l.now} }

// Whoever reads a file that is replaced, removed or in deleted folders by then gets an error.
func TestADownloadEndsWithItsFile(t *testing.T) {
	d := newDesk(t, assets.Limits{})
	for what, change := range map[string]func(assets.Asset, string) error{
		"removed": func(a assets.Asset, _ string) error {
			_, err := d.change(moderator, assets.ChangeAssetsRequest{Remove: []string{a.ID}})
			return err
		},
		"replaced": func(a assets.Asset, _ string) error {
			in := assets.ReplaceFileRequest{Asset: a.ID, IfMatch: a.ETag()}
			_, err := d.As(moderator).ReplaceFile(ctx, lib, in, strings.NewReader(pdf(1)))
			return err
		},
		"deleted": func(_ assets.Asset, folder string) error {
			_, err := d.purge(moderator, assets.ChangeFoldersRequest{Delete: []string{folder}})
			return err
		},
	} {
		folder, _ := d.folder(what, "", true)
		a := d.upload(moderator, pdf(3<<20), folder)
		f := d.shown(a).Content.Attachment[0].File
		file, _ := d.File(ctx, assets.FileRequest{ID: f.ID, Name: f.Name})
		defer file.Bytes.Close()
		_, err := io.CopyN(io.Discard, file.Bytes, 100)
		if err := errors.Join(err, change(a, folder)); err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, file.Bytes)
		if !errors.Is(err, fs.ErrNotExist) || n > 1<<20 {
			t.Errorf("%s: %d more bytes, %v", what, n, err)
		}
	}
	// From any place.
	b := d.upload(moderator, pdf(3<<20))
	whole, err := d.bytesOf(b, 0)
	f := d.shown(b).Content.Attachment[0].File
	file, _ := d.File(ctx, assets.FileRequest{ID: f.ID, Name: f.Name})
	defer file.Bytes.Close()
	for _, at := range []int64{5, 1 << 20, 3<<20 - 7, 0, 2<<20 + 1} {
		part := make([]byte, 1<<20)
		_, e := file.Bytes.Seek(at, io.SeekStart)
		n, _ := io.ReadFull(file.Bytes, part)
		if err != nil || e != nil || string(part[:n]) != whole[at:min(at+1<<20, int64(len(whole)))] {
			t.Errorf("from %d on there are %d other bytes, %v, %v", at, n, err, e)
		}
	}
}

// While a body arrives and its chunks are written nobody waits for the upload, and a store without room takes nothing.
func TestASlowUploadHoldsNobodyUp(t *testing.T) {
	db := memory.New()
	d := &desk{t: t, Service: assets.New(db, nil)}
	from, to := io.Pipe()
	ended := make(chan error)
	go func() {
		_, err := d.As(moderator).Upload(ctx, lib, assets.UploadRequest{}, from)
		ended <- err
	}()
	if _, err := io.WriteString(to, pdf(1<<20)); err != nil {
		t.Fatal(err)
	}
	d.asset("1", "meanwhile")
	d.upload(moderator, pdf(100))
	_ = to.CloseWithError(io.ErrClosedPipe)
	if err := <-ended; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v", err)
	}
	if n := d.total(moderator, assets.SearchRequest{}); n != 2 {
		t.Errorf("%d assets", n)
	}
	reached, goOn := make(chan struct{}), make(chan struct{})
	held := assets.New(&heldStore{db, reached, goOn}, nil)
	go func() {
		_, err := held.As(moderator).Upload(ctx, lib, assets.UploadRequest{}, strings.NewReader(pdf(2<<20)))
		ended <- err
	}()
	for range 2 {
		<-reached
		d.asset("1", "between chunks")
		goOn <- struct{}{}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	full := assets.New(&fullStore{db}, nil)
	_, err := full.As(moderator).Upload(ctx, lib, assets.UploadRequest{}, strings.NewReader(pdf(100)))
	if !errors.Is(err, vitrine.ErrFull) {
		t.Errorf("without room: %v", err)
	}
	if n := d.total(moderator, assets.SearchRequest{}); n != 3 {
		t.Errorf("%d assets", n)
	}
}

// heldStore waits before it writes a large chunk of a file.
type heldStore struct {
	storage.Store
	reached, goOn chan struct{}
}

func (h *heldStore) Update(
	ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error,
) error {
	if o.Large {
		h.reached <- struct{}{}
		<-h.goOn
	}
	return h.Store.Update(ctx, space, o, fn)
}

// fullStore has no room for files.
type fullStore struct{ storage.Store }

func (f *fullStore) Update(
	ctx context.Context, space string, o storage.UpdateOptions, fn func(storage.Tx) error,
) error {
	if strings.HasPrefix(space, "files/") {
		return storage.ErrFull
	}
	return f.Store.Update(ctx, space, o, fn)
}

func TestFilesInTheStore(t *testing.T) {
	filestest.Run(t, func(testing.TB) assets.Files { return assets.StoreFiles(memory.New()) })
}

// hiding are Files of which List yields nothing and Open returns an error.
type hiding struct {
	assets.Files
	err error
}

func (h hiding) List(context.Context) iter.Seq2[assets.StoredFile, error] {
	return func(func(assets.StoredFile, error) bool) {}
}

func (h hiding) Open(context.Context, string, int64, int64) (io.ReadCloser, error) { return nil, h.err }

// An audit that cannot find out whether bytes are missing returns an error: they are neither there nor missing.
func TestAnAuditOfBytesThatCannotBeRead(t *testing.T) {
	db := memory.New()
	d := &desk{t: t, Service: assets.New(db, nil)}
	d.upload(moderator, pdf(9))
	audit := func(err error) (faults int, failed error) {
		for _, err := range assets.Maintenance(assets.Limits{}, hiding{assets.StoreFiles(db), err}).Audit(ctx, db) {
			if err != nil {
				return faults, err
			}
			faults++
		}
		return faults, nil
	}
	if faults, err := audit(fs.ErrNotExist); faults != 1 || err != nil {
		t.Errorf("missing bytes: %d faults, %v", faults, err)
	}
	if faults, err := audit(storage.ErrBusy); faults != 0 || !errors.Is(err, storage.ErrBusy) {
		t.Errorf("bytes that cannot be read: %d faults, %v", faults, err)
	}
}

// exact are Files that keep whatever they are given, as those of a program may do.
type exact struct{ assets.Files }

func (e exact) Put(ctx context.Context, name string, size int64, from io.Reader) error {
	b, err := io.ReadAll(from)
	if err == nil && int64(len(b)) != size {
		err = fmt.Errorf("%s: %d bytes, want %d", name, len(b), size)
	}
	return cmp.Or(err, e.Files.Put(ctx, name, size, bytes.NewReader(b)))
}

func TestEachRenditionIsGivenAlone(t *testing.T) {
	db := memory.New()
	d := &desk{t: t, Service: assets.New(db, &assets.Options{Files: exact{assets.StoreFiles(db)}})}
	a := d.upload(moderator, picture(t, 1300))
	d.sound(db, a)
	for _, width := range []int{320, 640, 1280} {
		b, err := d.bytesOf(a, width)
		if p, format, wrong := image.DecodeConfig(strings.NewReader(b)); err != nil || wrong != nil ||
			format != "jpeg" || p.Width != width {
			t.Errorf("%d: %d bytes, %s %d wide, %v, %v", width, len(b), format, p.Width, err, wrong)
		}
	}
}

// altered are Files whose bytes have changed: each reader ends early, or has another last byte.
type altered struct {
	assets.Files
	short bool
}

func (a altered) Open(ctx context.Context, name string, offset, size int64) (io.ReadCloser, error) {
	r, err := a.Files.Open(ctx, name, offset, size)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	if a.short {
		b = b[:len(b)-1]
	} else {
		b[len(b)-1]++
	}
	return io.NopCloser(bytes.NewReader(b)), errors.Join(err, r.Close())
}

func TestAnAuditReadsAllBytes(t *testing.T) {
	db := memory.New()
	d := &desk{t: t, Service: assets.New(db, nil)}
	d.upload(moderator, pdf(3<<20))
	for name, files := range map[string]assets.Files{"": assets.StoreFiles(db),
		"SHA-256": altered{assets.StoreFiles(db), false}, "only the first": altered{assets.StoreFiles(db), true}} {
		var faults []string
		for fault, err := range assets.Maintenance(assets.Limits{}, files).Audit(ctx, db) {
			faults = append(faults, fault.Wrong)
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Join(faults, " "); (name == "") != (got == "") || !strings.Contains(got, name) {
			t.Errorf("%q: %s", name, got)
		}
	}
}

// A record that cannot be read holds up neither the others of its library nor other libraries, and is told.
func TestUpkeepGoesOnBehindWhatIsDamaged(t *testing.T) {
	db := memory.New()
	d := &desk{t: t, Service: assets.New(db, nil)}
	space := keyval.Space("assets", lib.Network, lib.ID)
	other := assets.Library{Network: lib.Network, ID: "z"} // behind lib
	for _, l := range []assets.Library{lib, other} {
		a, err := d.As(moderator).Upload(ctx, l, assets.UploadRequest{Name: "x.pdf"}, strings.NewReader(pdf(9)))
		if err == nil {
			_, err = d.As(moderator).ChangeAssets(ctx, l, assets.ChangeAssetsRequest{Remove: []string{a.ID}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	damaged := keyval.Key(space, "gone/", "0")
	if err := db.Update(ctx, space, storage.UpdateOptions{}, func(t storage.Tx) error {
		return t.Put(ctx, storage.Entry{Key: damaged, Value: []byte("{")})
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.Upkeep(ctx); err == nil || !strings.Contains(err.Error(), damaged) {
			t.Errorf("Upkeep returns %v, want an error about %q", err, damaged)
		}
	}
	for f := range assets.StoreFiles(db).List(ctx) {
		t.Errorf("%s is left", f.Name)
	}
}
