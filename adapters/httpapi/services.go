package httpapi

import (
	"context"
	"io"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

// The handler knows the domains by these three interfaces and not by their types, so that a program can wrap a service
// in a type of its own, for an audit or another rule. Only requests to the handler go through such a type. A rule for
// all callers of a service belongs into its Options.Check. The interfaces may get more methods in a minor version, so
// such a type embeds the service.

// Apps are the methods of the app service that the handler calls; *appsvc.Service implements and documents it. The
// status of an error follows from the sentinel that it wraps, such as vitrine.ErrNotFound; an error that wraps none
// becomes a 500 and is logged. The result of Deliver is used again for half a second, or until the channel of Changed
// is closed.
type Apps interface {
	AdmitChange(ctx context.Context, by vitrine.Caller, id string) (context.Context, error)
	AdmitTagChange(ctx context.Context, by vitrine.Caller, id, name string) error
	AdmitCreateComponent(ctx context.Context, by vitrine.Caller) error
	ApproveRelease(ctx context.Context, by vitrine.Caller, id string, seen vitrine.Version) (appsvc.Release, error)
	App(ctx context.Context, by vitrine.Caller, id string) (appsvc.App, error)
	CancelRelease(ctx context.Context, by vitrine.Caller, id string, seen vitrine.Version) (appsvc.Release, error)
	Changed() <-chan struct{}
	Changes(ctx context.Context, by vitrine.Caller, in appsvc.ChangesRequest) (vitrine.ChangesPage[appsvc.Event], error)
	CheckComponent(ctx context.Context, by vitrine.Caller, in appsvc.CheckComponentRequest) (appsvc.ComponentCheck, error)
	Component(ctx context.Context, by vitrine.Caller, name string) (appsvc.Component, error)
	ComponentVersion(ctx context.Context, by vitrine.Caller, name, version string) (appsvc.Component, error)
	CreateApp(ctx context.Context, by vitrine.Caller, in appsvc.CreateAppRequest) (appsvc.App, error)
	CreateComponent(ctx context.Context, by vitrine.Caller, in appsvc.CreateComponentRequest) (appsvc.Component, error)
	CreateRelease(ctx context.Context, by vitrine.Caller, in appsvc.CreateReleaseRequest) (appsvc.Release, error)
	Deliver(ctx context.Context, by vitrine.Caller, tag string, appIDs []string) ([]appsvc.Delivery, error)
	DeleteApp(ctx context.Context, by vitrine.Caller, id string) error
	DeleteComponent(ctx context.Context, by vitrine.Caller, in appsvc.DeleteComponentRequest) error
	DeleteTag(ctx context.Context, by vitrine.Caller, in appsvc.DeleteTagRequest) error
	Diff(ctx context.Context, by vitrine.Caller, id string, from, to vitrine.Version) (appsvc.Diff, error)
	EraseApp(ctx context.Context, by vitrine.Caller, id string) error
	ListApps(ctx context.Context, by vitrine.Caller, in appsvc.ListAppsRequest) (vitrine.Page[appsvc.App], error)
	ListComponentVersions(ctx context.Context, by vitrine.Caller, in appsvc.ListComponentVersionsRequest) (vitrine.Page[appsvc.Component], error)
	ListComponents(ctx context.Context, by vitrine.Caller, in appsvc.ListComponentsRequest) (vitrine.Page[appsvc.Component], error)
	ListHistory(ctx context.Context, by vitrine.Caller, in appsvc.ListHistoryRequest) (vitrine.Page[appsvc.HistoryEntry], error)
	ListReleases(ctx context.Context, by vitrine.Caller, in appsvc.ListReleasesRequest) (vitrine.Page[appsvc.Release], error)
	ListTagMoves(ctx context.Context, by vitrine.Caller, in appsvc.ListTagMovesRequest) (vitrine.Page[appsvc.TagMove], error)
	ListTags(ctx context.Context, by vitrine.Caller, in appsvc.ListTagsRequest) (vitrine.Page[appsvc.Tag], error)
	ListVersions(ctx context.Context, by vitrine.Caller, in appsvc.ListVersionsRequest) (vitrine.Page[appsvc.App], error)
	Patch(ctx context.Context, by vitrine.Caller, id string, patch []byte) (appsvc.App, error)
	PutTag(ctx context.Context, by vitrine.Caller, in appsvc.PutTagRequest) (appsvc.Tag, error)
	Release(ctx context.Context, by vitrine.Caller, id string) (appsvc.Release, error)
	Restore(ctx context.Context, by vitrine.Caller, in appsvc.RestoreRequest) (appsvc.App, error)
	RunRelease(ctx context.Context, by vitrine.Caller, id string, seen vitrine.Version) (appsvc.Release, error)
	Tag(ctx context.Context, by vitrine.Caller, in appsvc.TagRequest) (appsvc.Tag, error)
	TaggedApp(ctx context.Context, by vitrine.Caller, appID, name string) (appsvc.App, error)
	TaggedAppIn(ctx context.Context, by vitrine.Caller, appID, name, releaseID string) (appsvc.App, error)
	TagRules(ctx context.Context) ([]appsvc.TagRule, error)
	TagsNamed(ctx context.Context, by vitrine.Caller, name string, appIDs []string) ([]appsvc.Tag, error)
	UndeleteApp(ctx context.Context, by vitrine.Caller, id string) (appsvc.App, error)
	UndoRelease(ctx context.Context, by vitrine.Caller, id string, seen vitrine.Version) (appsvc.Release, error)
	UpdateRelease(ctx context.Context, by vitrine.Caller, in appsvc.UpdateReleaseRequest) (appsvc.Release, error)
	Upgrade(ctx context.Context, by vitrine.Caller, in appsvc.UpgradeRequest) (vitrine.Page[appsvc.UpgradedApp], error)
	Version(ctx context.Context, by vitrine.Caller, id string, v vitrine.Version) (appsvc.App, error)
	Watch(by vitrine.Caller, in appsvc.ChangesRequest) (next func(after string) (from string, wake <-chan struct{}), stop func())
}

// Assets are the methods of the asset manager that the handler calls; *assets.Service implements it. See Apps.
type Assets interface {
	Admit(by vitrine.Caller, lib assets.Library) error
	AdmitAssignAssets(ctx context.Context, by vitrine.Caller, lib assets.Library, folder string) error
	AdmitChange(ctx context.Context, by vitrine.Caller, lib assets.Library) error
	AdmitChangePermissions(ctx context.Context, by vitrine.Caller, lib assets.Library, folder string) error
	Asset(ctx context.Context, by vitrine.Caller, lib assets.Library, id string) (assets.Asset, error)
	AssignAssets(ctx context.Context, by vitrine.Caller, lib assets.Library, in assets.AssignAssetsRequest) (assets.AssignedAssets, error)
	Attributes(ctx context.Context, by vitrine.Caller, lib assets.Library, key string) ([]assets.Attribute, error)
	Changed() <-chan struct{}
	Changes(ctx context.Context, by vitrine.Caller, lib assets.Library, in vitrine.ChangesRequest) (vitrine.ChangesPage[assets.Event], error)
	ChangeAssets(ctx context.Context, by vitrine.Caller, lib assets.Library, in assets.ChangeAssetsRequest) (assets.ChangedAssets, error)
	ChangeAttributes(ctx context.Context, by vitrine.Caller, lib assets.Library, in assets.ChangeAttributesRequest) (assets.ChangedAttributes, error)
	ChangeFolders(ctx context.Context, by vitrine.Caller, lib assets.Library, in assets.ChangeFoldersRequest) (assets.ChangedFolders, error)
	ChangePermissions(ctx context.Context, by vitrine.Caller, lib assets.Library, in assets.ChangePermissionsRequest) ([]assets.Permission, error)
	Explain(ctx context.Context, by vitrine.Caller, lib assets.Library, in assets.ExplainRequest) (assets.Explanation, error)
	Folder(ctx context.Context, by vitrine.Caller, lib assets.Library, id string) (assets.Folder, error)
	ListFolders(ctx context.Context, by vitrine.Caller, lib assets.Library, in assets.ListFoldersRequest) (vitrine.Page[assets.Folder], error)
	Permissions(ctx context.Context, by vitrine.Caller, lib assets.Library, folder string) ([]assets.Permission, error)
	Search(ctx context.Context, by vitrine.Caller, lib assets.Library, in assets.SearchRequest) (assets.SearchPage, error)
}

// Reviews are the methods of the reviews that the handler calls; *reviews.Service implements it. See Apps.
type Reviews interface {
	Admit(by vitrine.Caller, network string) error
	Changed() <-chan struct{}
	Changes(ctx context.Context, by vitrine.Caller, in reviews.ChangesRequest) (vitrine.ChangesPage[reviews.Event], error)
	Delete(ctx context.Context, by vitrine.Caller, in reviews.DeleteRequest) (reviews.Deleted, error)
	Export(ctx context.Context, by vitrine.Caller, network string, w io.Writer) error
	Import(ctx context.Context, by vitrine.Caller, in reviews.ImportRequest) (reviews.Report, error)
	ListCollections(ctx context.Context, by vitrine.Caller, in reviews.ListCollectionsRequest) (vitrine.Page[reviews.CollectionRecord], error)
	ListReviews(ctx context.Context, by vitrine.Caller, in reviews.ListReviewsRequest) (vitrine.Page[reviews.ReviewRecord], error)
	NetworkOf(by vitrine.Caller) (string, error)
	Show(ctx context.Context, by vitrine.Caller, in reviews.ListReviewsRequest) (reviews.Shown, error)
}
