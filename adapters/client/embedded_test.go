package client_test

import (
	"context"
	"io"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

// The embedded services, for one caller.
type (
	embeddedApps struct {
		svc *appsvc.Service
		by  appsvc.Caller
	}
	embeddedAssets struct {
		svc *assets.Service
		by  assets.Caller
	}
	embeddedReviews struct {
		svc *reviews.Service
		by  reviews.Caller
	}
)

func (e embeddedApps) Apps(ctx context.Context, in appsvc.ListApps) ([]appsvc.App, string, error) {
	return e.svc.Apps(ctx, e.by, in)
}
func (e embeddedApps) CreateApp(ctx context.Context, in appsvc.NewApp) (appsvc.App, error) {
	return e.svc.CreateApp(ctx, e.by, in)
}
func (e embeddedApps) App(ctx context.Context, id string) (appsvc.App, error) {
	return e.svc.App(ctx, e.by, id)
}
func (e embeddedApps) Version(ctx context.Context, id string, v appsvc.Version) (appsvc.App, error) {
	return e.svc.Version(ctx, e.by, id, v)
}
func (e embeddedApps) Versions(ctx context.Context, in appsvc.ListVersions) ([]appsvc.App, bool, error) {
	return e.svc.Versions(ctx, e.by, in)
}
func (e embeddedApps) Patch(ctx context.Context, id string, patch []byte) (appsvc.App, error) {
	return e.svc.Patch(ctx, e.by, id, patch)
}
func (e embeddedApps) Restore(ctx context.Context, in appsvc.Restore) (appsvc.App, error) {
	return e.svc.Restore(ctx, e.by, in)
}
func (e embeddedApps) Tags(ctx context.Context, in appsvc.ListTags) (appsvc.TagPage, error) {
	return e.svc.Tags(ctx, e.by, in)
}
func (e embeddedApps) Tag(ctx context.Context, appID, name string, embed bool) (appsvc.TagPage, error) {
	return e.svc.Tag(ctx, e.by, appID, name, embed)
}
func (e embeddedApps) TaggedApp(ctx context.Context, appID, name string) (appsvc.App, error) {
	return e.svc.TaggedApp(ctx, e.by, appID, name)
}
func (e embeddedApps) PutTag(ctx context.Context, in appsvc.PutTag) (appsvc.TagPage, error) {
	return e.svc.PutTag(ctx, e.by, in)
}
func (e embeddedApps) DeleteTag(ctx context.Context, appID, name, key string) error {
	return e.svc.DeleteTag(ctx, e.by, appID, name, key)
}
func (e embeddedApps) TagsNamed(ctx context.Context, name string, appIDs []string) ([]appsvc.Tag, error) {
	return e.svc.TagsNamed(ctx, e.by, name, appIDs)
}
func (e embeddedApps) Components(ctx context.Context, after string) ([]appsvc.Component, bool, error) {
	return e.svc.Components(ctx, e.by, after)
}
func (e embeddedApps) CreateComponent(ctx context.Context, manifest []byte, key string) (appsvc.Component, error) {
	return e.svc.CreateComponent(ctx, e.by, manifest, key)
}
func (e embeddedApps) Component(ctx context.Context, name string) (appsvc.Component, error) {
	return e.svc.Component(ctx, e.by, name)
}
func (e embeddedApps) DeleteComponent(ctx context.Context, name, key string) error {
	return e.svc.DeleteComponent(ctx, e.by, name, key)
}

func (e embeddedAssets) Search(ctx context.Context, lib assets.Library, in assets.Search) (assets.Page, error) {
	return e.svc.Search(ctx, e.by, lib, in)
}
func (e embeddedAssets) ChangeAssets(ctx context.Context, lib assets.Library, in assets.ChangeAssets) (assets.ChangedAssets, error) {
	return e.svc.ChangeAssets(ctx, e.by, lib, in)
}
func (e embeddedAssets) Asset(ctx context.Context, lib assets.Library, id string) (assets.Asset, error) {
	return e.svc.Asset(ctx, e.by, lib, id)
}
func (e embeddedAssets) Folders(ctx context.Context, lib assets.Library, in assets.ListFolders) ([]assets.Folder, error) {
	return e.svc.Folders(ctx, e.by, lib, in)
}
func (e embeddedAssets) ChangeFolders(ctx context.Context, lib assets.Library, in assets.ChangeFolders) ([]assets.Folder, error) {
	return e.svc.ChangeFolders(ctx, e.by, lib, in)
}
func (e embeddedAssets) Folder(ctx context.Context, lib assets.Library, id string) (assets.Folder, error) {
	return e.svc.Folder(ctx, e.by, lib, id)
}
func (e embeddedAssets) Permissions(ctx context.Context, lib assets.Library, folder string) ([]assets.Permission, error) {
	return e.svc.Permissions(ctx, e.by, lib, folder)
}
func (e embeddedAssets) ChangePermissions(ctx context.Context, lib assets.Library, folder string, in assets.ChangePermissions) ([]assets.Permission, error) {
	return e.svc.ChangePermissions(ctx, e.by, lib, folder, in)
}
func (e embeddedAssets) AssignAssets(ctx context.Context, lib assets.Library, folder string, in assets.AssignAssets) (assets.AssignedAssets, error) {
	return e.svc.AssignAssets(ctx, e.by, lib, folder, in)
}
func (e embeddedAssets) Attributes(ctx context.Context, lib assets.Library, key string) ([]assets.Attribute, error) {
	return e.svc.Attributes(ctx, e.by, lib, key)
}
func (e embeddedAssets) ChangeAttributes(ctx context.Context, lib assets.Library, in assets.ChangeAttributes) (assets.ChangedAttributes, error) {
	return e.svc.ChangeAttributes(ctx, e.by, lib, in)
}

func (e embeddedReviews) Import(ctx context.Context, file io.Reader, dryRun bool) (reviews.Report, error) {
	return e.svc.Import(ctx, e.by, file, &reviews.ImportOptions{DryRun: dryRun})
}
