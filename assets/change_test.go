package assets_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/internal/proof/asked"
	"github.com/vitrine-go/vitrine/storage"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// seenAsset and seenFolder write an asset and a folder as the test compares them.
func seenAsset(a *assets.Asset) string {
	if a == nil {
		return "none"
	}
	var folders []string
	for _, f := range a.Folders {
		folders = append(folders, f.Label)
	}
	return fmt.Sprint(a.UpdatedAt > 0, folders)
}

func seenFolder(f *assets.Folder) string {
	if f == nil {
		return "none"
	}
	return fmt.Sprint(f.Label, " ", len(f.Permissions), " ", f.Deleted)
}

// A rule sees each asset and each folder that a request changes once, as it was and as it is, also those that the
// caller does not see; its rows and the change are committed together, and its error refuses both.
func TestCheckSeesEachChange(t *testing.T) {
	ctx, db := context.Background(), memory.New()
	lib := assets.Library{Network: "example.test", ID: "main"}
	me := vitrine.Caller{URN: "urn:vitrine:example.test:user=me", Moderates: []string{"urn:vitrine:example.test"}}
	ann := vitrine.Caller{URN: "urn:vitrine:example.test:user=ann"}
	var seen []string
	var refuse error
	svc := assets.New(db, &assets.Options{Check: func(ctx context.Context, by vitrine.Caller, c assets.Change) error {
		line := "folder " + seenFolder(c.FolderBefore) + " -> " + seenFolder(c.FolderAfter)
		if c.FolderBefore == nil && c.FolderAfter == nil {
			line = "asset " + seenAsset(c.Before) + " -> " + seenAsset(c.After)
		}
		_, who, _ := strings.Cut(by.URN, "user=")
		seen = append(seen, who+" "+line)
		if c.Library != lib || c.At == 0 {
			t.Errorf("%s: of %v at %d", line, c.Library, c.At)
		}
		rows := c.Rows("log")
		if values, err := rows.Get(ctx, "last"); err != nil || len(seen) > 1 && values[0] == nil {
			t.Errorf("%s: the row is %q, %v", line, values, err)
		}
		return errors.Join(rows.Put(ctx, storage.Entry{Key: "last", Value: []byte(line)}), refuse)
	}})
	edit := assets.Permission{Operation: assets.Edit, User: &assets.Subject{ID: "ann"}}
	made, err := svc.As(me).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{Create: []assets.NewFolder{
		{Label: "open", Permissions: []assets.Permission{edit}}, {Label: "secret", Permissions: []assets.Permission{
			{Operation: assets.Edit, User: &assets.Subject{ID: "bob"}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	open, secret := made.Folders[0].ID, made.Folders[1].ID
	add := func(by vitrine.Caller, text string, folders ...string) (assets.ChangedAssets, error) {
		item := assets.NewAsset{ID: "1", Generator: assets.Generator{ID: "blog"}, Folders: folders,
			Content: []byte(`{"content": "` + text + `"}`)}
		return svc.As(by).ChangeAssets(ctx, lib, assets.ChangeAssetsRequest{Add: []assets.NewAsset{item, item}})
	}
	added, err := add(me, "one", open, secret)
	if err != nil {
		t.Fatal(err)
	}
	id := added.Added[0].ID
	label, deleted := "closed", true
	asked.SeesEachChange(t, db, &seen, &refuse, []asked.Step{
		{Do: func() error { _, err := add(ann, "two", open); return err },
			Want: []string{"ann asset true [open secret] -> true [open secret]"}},
		{Do: func() error { _, err := add(ann, "two", open); return err }}, // it changes nothing
		{Do: func() error {
			_, err := svc.As(me).AssignAssets(ctx, lib,
				assets.AssignAssetsRequest{Folder: secret, Remove: []string{id}})
			return err
		}, Want: []string{"me asset true [open secret] -> true [open]"}},
		{Do: func() error {
			_, err := svc.As(me).ChangePermissions(ctx, lib,
				assets.ChangePermissionsRequest{Folder: open, Remove: []assets.Permission{edit}})
			return err
		}, Want: []string{"me folder open 1 false -> open 0 false"}},
		{Do: func() error {
			_, err := svc.As(me).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{
				Update: []assets.FolderChange{{ID: open, Label: &label, Deleted: &deleted}}})
			return err
		}, Want: []string{"me folder open 0 false -> closed 0 true"}},
		{Do: func() error {
			_, err := svc.As(me).ChangeFolders(ctx, lib, assets.ChangeFoldersRequest{Purge: []string{open}})
			return err
		}, Want: []string{"me asset true [] -> none", "me folder closed 0 true -> none"}},
	})
	for fault, err := range assets.Maintenance(assets.Limits{}, nil).Audit(ctx, db) {
		t.Error(fault, err)
	}
}
