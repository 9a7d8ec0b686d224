package ondisk

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
)

// When EraseApp returns, the files of the store contain nothing of the app.
func TestAnErasedAppIsInNoFile(t *testing.T) {
	db, dir := open(t)
	s := appsvc.New(db, nil)
	app, err := s.As(moderator).CreateApp(ctx,
		appsvc.CreateAppRequest{Title: "Café au lait", Groups: []string{network}})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{{"Tee mit Milch", "wet paint"},
		{"Xylophone " + strings.Repeat("quagga ", 100), "Zither of a person"}} {
		if _, err := s.As(moderator).Edit(ctx, app.ID, func(_ appsvc.App, p *appsvc.PatchBuilder) error {
			p.SetTitle(change[0]).Note(change[1])
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.As(moderator).PutTag(ctx,
		appsvc.PutTagRequest{AppID: app.ID, Name: "draft", Version: vitrine.NewVersion(0)}); err != nil {
		t.Fatal(err)
	}
	if found := filesWith(t, dir, "Xylophone"); len(found) == 0 {
		t.Fatal("the text is in no file before")
	}
	if err := s.As(moderator).DeleteApp(ctx, app.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.As(moderator).EraseApp(ctx, app.ID); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Xylophone", "xylophone", "Zither", "Café au", "Tee mit", "wet paint", "quagga"} {
		if found := filesWith(t, dir, text); len(found) > 0 {
			t.Errorf("%q is in %v", text, found)
		}
	}
}

// When a purge returns, the files contain nothing of its folders, and of the assets that were in no other one.
func TestPurgedAssetsAreInNoFile(t *testing.T) {
	db, dir := open(t)
	s := assets.New(db, nil)
	folder := func(label string) string {
		out, err := s.As(moderator).ChangeFolders(ctx, lib,
			assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: label}}})
		if err != nil {
			t.Fatal(err)
		}
		return out.Folders[0].ID
	}
	doomed, kept := folder("doomed"), folder("kept")
	var in assets.ChangeAssetsRequest
	for i := range 450 {
		a := assets.NewAsset{ID: fmt.Sprint(i), Generator: assets.Generator{ID: "g"}, Folders: []string{doomed},
			Content: json.RawMessage(fmt.Sprintf(`{"content":"confidential secret%dz"}`, i))}
		if i%3 == 2 {
			a.Folders = []string{doomed, kept}
		}
		in.Add = append(in.Add, a)
	}
	if _, err := s.As(moderator).ChangeAssets(ctx, lib, in); err != nil {
		t.Fatal(err)
	}
	if found := filesWith(t, dir, "secret1z"); len(found) == 0 {
		t.Fatal("the text is in no file before")
	}
	if _, err := s.As(moderator).ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Delete: []string{doomed}}); err != nil {
		t.Fatal(err)
	}
	out, err := s.As(moderator).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{Purge: []string{doomed}})
	if err != nil || out.Purged.Assets != 300 {
		t.Fatalf("purged %+v, %v", out.Purged, err)
	}
	for i := range 450 {
		if word := fmt.Sprintf("secret%dz", i); (len(filesWith(t, dir, word)) > 0) != (i%3 == 2) {
			t.Errorf("%s is in %v", word, filesWith(t, dir, word))
		}
	}
	if found := filesWith(t, dir, "doomed"); len(found) > 0 {
		t.Errorf("the folder is in %v", found)
	}
}

// When Upkeep returns, the files of the store contain nothing of the bytes that were replaced or removed, and when a
// purge returns, nothing of those in its folders.
func TestTheBytesOfRemovedFilesAreInNoFile(t *testing.T) {
	db, dir := open(t)
	s := assets.New(db, nil)
	pdf := func(word string) *strings.Reader {
		return strings.NewReader("%PDF-1.7\n" + strings.Repeat(word, 300_000))
	}
	upload := func(word string, folders ...string) assets.Asset {
		t.Helper()
		a, err := s.As(moderator).Upload(ctx, lib, assets.UploadRequest{Folders: folders}, pdf(word))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	gone := func(word string, after func() error) {
		t.Helper()
		if found := filesWith(t, dir, word); len(found) == 0 {
			t.Errorf("%s is in no file before", word)
		}
		if err := after(); err != nil {
			t.Error(err)
		}
		if found := filesWith(t, dir, word); len(found) > 0 {
			t.Errorf("%s is in %v", word, found)
		}
	}
	upkeep := func() error { return s.Upkeep(ctx) }
	a, kept := upload("replaced-"), upload("kept-")
	b, err := s.As(moderator).ReplaceFile(ctx, lib, assets.ReplaceFileRequest{Asset: a.ID, IfMatch: a.ETag()},
		pdf("removed-"))
	if err != nil {
		t.Fatal(err)
	}
	gone("replaced-", upkeep)
	if _, err := s.As(moderator).ChangeAssets(ctx, lib,
		assets.ChangeAssetsRequest{Remove: []string{b.ID}}); err != nil {
		t.Fatal(err)
	}
	gone("removed-", upkeep)
	out, err := s.As(moderator).ChangeFolders(ctx, lib,
		assets.ChangeFoldersRequest{Create: []assets.NewFolder{{Label: "doomed"}}})
	if err != nil {
		t.Fatal(err)
	}
	doomed := out.Folders[0].ID
	upload("purged-", doomed)
	gone("purged-", func() error {
		_, err := s.As(moderator).ChangeFolders(ctx, lib,
			assets.ChangeFoldersRequest{Delete: []string{doomed}, Purge: []string{doomed}})
		return err
	})
	if found := filesWith(t, dir, "kept-"); len(found) == 0 || kept.ID == "" {
		t.Error("what was not removed is gone")
	}
}
