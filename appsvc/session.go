package appsvc

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine"
)

// Session is a Service for one caller: the methods that act for a caller, without the parameter by. The client of a remote
// service (adapters/client) has these methods too, so a program can be written for both.
//
// Service.As makes one, at no cost. A Session keeps the rights that the Caller had then, so a server makes one for each request. It is
// safe for concurrent use.
type Session struct {
	service *Service
	by      vitrine.Caller
}

// As returns a Session for this caller.
func (s *Service) As(by vitrine.Caller) *Session { return &Session{s.made(), by} }

// CreateApp stores a new app with version 0. Like every method of a Session, it calls the method of Service
// with the same name.
func (s *Session) CreateApp(ctx context.Context, in CreateAppRequest) (App, error) {
	return s.service.CreateApp(ctx, s.by, in)
}

// App returns the latest version of an app.
func (s *Session) App(ctx context.Context, id string) (App, error) {
	return s.service.App(ctx, s.by, id)
}

// Version returns a version of an app.
func (s *Session) Version(ctx context.Context, id string, v vitrine.Version) (App, error) {
	return s.service.Version(ctx, s.by, id, v)
}

// ListApps returns a page of the apps that the caller may read.
func (s *Session) ListApps(ctx context.Context, in ListAppsRequest) (vitrine.Page[App], error) {
	return s.service.ListApps(ctx, s.by, in)
}

// AllApps yields the apps that the caller may read.
func (s *Session) AllApps(ctx context.Context, in ListAppsRequest) iter.Seq2[App, error] {
	return s.service.AllApps(ctx, s.by, in)
}

// ListVersions returns a page of the versions of an app.
func (s *Session) ListVersions(ctx context.Context, in ListVersionsRequest) (vitrine.Page[App], error) {
	return s.service.ListVersions(ctx, s.by, in)
}

// AllVersions yields the versions of an app.
func (s *Session) AllVersions(ctx context.Context, in ListVersionsRequest) iter.Seq2[App, error] {
	return s.service.AllVersions(ctx, s.by, in)
}

// ListHistory returns a page of the history of an app.
func (s *Session) ListHistory(ctx context.Context, in ListHistoryRequest) (vitrine.Page[HistoryEntry], error) {
	return s.service.ListHistory(ctx, s.by, in)
}

// AllHistory yields the history of an app.
func (s *Session) AllHistory(ctx context.Context, in ListHistoryRequest) iter.Seq2[HistoryEntry, error] {
	return s.service.AllHistory(ctx, s.by, in)
}

// Diff returns the patch that turns one version of an app into another.
func (s *Session) Diff(ctx context.Context, id string, from, to vitrine.Version) (Diff, error) {
	return s.service.Diff(ctx, s.by, id, from, to)
}

// Patch applies a JSON Patch to the latest version of an app.
func (s *Session) Patch(ctx context.Context, id string, patch []byte) (App, error) {
	return s.service.Patch(ctx, s.by, id, patch)
}

// Edit reads an app, lets fn build a patch, and stores the result. It retries if somebody else has changed
// the app meanwhile; see EditApp.
func (s *Session) Edit(ctx context.Context, id string, fn func(App, *PatchBuilder) error) (App, error) {
	return EditApp(ctx, s, id, fn)
}

// Restore stores the content of a version of an app as its new latest version.
func (s *Session) Restore(ctx context.Context, in RestoreRequest) (App, error) {
	return s.service.Restore(ctx, s.by, in)
}

// DeleteApp deletes an app.
func (s *Session) DeleteApp(ctx context.Context, id string) error {
	return s.service.DeleteApp(ctx, s.by, id)
}

// UndeleteApp brings a deleted app back.
func (s *Session) UndeleteApp(ctx context.Context, id string) (App, error) {
	return s.service.UndeleteApp(ctx, s.by, id)
}

// EraseApp removes a deleted app for good.
func (s *Session) EraseApp(ctx context.Context, id string) error {
	return s.service.EraseApp(ctx, s.by, id)
}

// ListTags returns a page of the tags of an app.
func (s *Session) ListTags(ctx context.Context, in ListTagsRequest) (vitrine.Page[Tag], error) {
	return s.service.ListTags(ctx, s.by, in)
}

// AllTags yields the tags of an app.
func (s *Session) AllTags(ctx context.Context, in ListTagsRequest) iter.Seq2[Tag, error] {
	return s.service.AllTags(ctx, s.by, in)
}

// Tag returns one tag of an app.
func (s *Session) Tag(ctx context.Context, in TagRequest) (Tag, error) {
	return s.service.Tag(ctx, s.by, in)
}

// ListTagMoves returns a page of the history of a tag, newest first.
func (s *Session) ListTagMoves(ctx context.Context, in ListTagMovesRequest) (vitrine.Page[TagMove], error) {
	return s.service.ListTagMoves(ctx, s.by, in)
}

// AllTagMoves yields the history of a tag, newest first.
func (s *Session) AllTagMoves(ctx context.Context, in ListTagMovesRequest) iter.Seq2[TagMove, error] {
	return s.service.AllTagMoves(ctx, s.by, in)
}

// TaggedApp returns the version of an app that a tag points to.
func (s *Session) TaggedApp(ctx context.Context, appID, name string) (App, error) {
	return s.service.TaggedApp(ctx, s.by, appID, name)
}

// Deliver returns the versions of apps to which a tag points, as pages get them.
func (s *Session) Deliver(ctx context.Context, tag string, appIDs []string) ([]Delivery, error) {
	return s.service.Deliver(ctx, s.by, tag, appIDs)
}

// PutTag creates a tag or moves it.
func (s *Session) PutTag(ctx context.Context, in PutTagRequest) (Tag, error) {
	return s.service.PutTag(ctx, s.by, in)
}

// DeleteTag removes a tag.
func (s *Session) DeleteTag(ctx context.Context, in DeleteTagRequest) error {
	return s.service.DeleteTag(ctx, s.by, in)
}

// TagsNamed returns the tag of this name of each of the apps, in the order of appIDs.
func (s *Session) TagsNamed(ctx context.Context, name string, appIDs []string) ([]Tag, error) {
	return s.service.TagsNamed(ctx, s.by, name, appIDs)
}

// TaggedAppIn returns what TaggedApp would return if a release had run.
func (s *Session) TaggedAppIn(ctx context.Context, appID, name, releaseID string) (App, error) {
	return s.service.TaggedAppIn(ctx, s.by, appID, name, releaseID)
}

// CreateRelease stores a release, which moves nothing until it is run.
func (s *Session) CreateRelease(ctx context.Context, in CreateReleaseRequest) (Release, error) {
	return s.service.CreateRelease(ctx, s.by, in)
}

// UpdateRelease changes a release that is open or scheduled.
func (s *Session) UpdateRelease(ctx context.Context, in UpdateReleaseRequest) (Release, error) {
	return s.service.UpdateRelease(ctx, s.by, in)
}

// Release returns a release.
func (s *Session) Release(ctx context.Context, id string) (Release, error) {
	return s.service.Release(ctx, s.by, id)
}

// ListReleases returns a page of the releases that the caller may see, newest first.
func (s *Session) ListReleases(ctx context.Context, in ListReleasesRequest) (vitrine.Page[Release], error) {
	return s.service.ListReleases(ctx, s.by, in)
}

// AllReleases yields the releases that the caller may see, newest first.
func (s *Session) AllReleases(ctx context.Context, in ListReleasesRequest) iter.Seq2[Release, error] {
	return s.service.AllReleases(ctx, s.by, in)
}

// ApproveRelease adds the caller's approval to a release.
func (s *Session) ApproveRelease(ctx context.Context, id string, seen vitrine.Version) (Release, error) {
	return s.service.ApproveRelease(ctx, s.by, id, seen)
}

// RunRelease makes all moves of a release, or none.
func (s *Session) RunRelease(ctx context.Context, id string, seen vitrine.Version) (Release, error) {
	return s.service.RunRelease(ctx, s.by, id, seen)
}

// CancelRelease ends a release that was not run.
func (s *Session) CancelRelease(ctx context.Context, id string, seen vitrine.Version) (Release, error) {
	return s.service.CancelRelease(ctx, s.by, id, seen)
}

// UndoRelease rolls all moves of a release back.
func (s *Session) UndoRelease(ctx context.Context, id string, seen vitrine.Version) (Release, error) {
	return s.service.UndoRelease(ctx, s.by, id, seen)
}

// CreateComponent stores a version of a component.
func (s *Session) CreateComponent(ctx context.Context, in CreateComponentRequest) (Component, error) {
	return s.service.CreateComponent(ctx, s.by, in)
}

// CheckComponent says which elements would not conform to a component if they had it.
func (s *Session) CheckComponent(ctx context.Context, in CheckComponentRequest) (ComponentCheck, error) {
	return s.service.CheckComponent(ctx, s.by, in)
}

// AllBrokenElements yields the elements that CheckComponent finds broken.
func (s *Session) AllBrokenElements(ctx context.Context, in CheckComponentRequest) iter.Seq2[BrokenElement, error] {
	return s.service.AllBrokenElements(ctx, s.by, in)
}

// Upgrade brings a version of a component to the apps that use it.
func (s *Session) Upgrade(ctx context.Context, in UpgradeRequest) (vitrine.Page[UpgradedApp], error) {
	return s.service.Upgrade(ctx, s.by, in)
}

// Component returns the latest version of a component.
func (s *Session) Component(ctx context.Context, name string) (Component, error) {
	return s.service.Component(ctx, s.by, name)
}

// ListComponents returns a page of components, each as its latest version.
func (s *Session) ListComponents(ctx context.Context, in ListComponentsRequest) (vitrine.Page[Component], error) {
	return s.service.ListComponents(ctx, s.by, in)
}

// AllComponents yields the latest version of each component.
func (s *Session) AllComponents(ctx context.Context, in ListComponentsRequest) iter.Seq2[Component, error] {
	return s.service.AllComponents(ctx, s.by, in)
}

// DeleteComponent removes every version of a component.
func (s *Session) DeleteComponent(ctx context.Context, in DeleteComponentRequest) error {
	return s.service.DeleteComponent(ctx, s.by, in)
}

// ListComponentVersions returns a page of the versions of a component.
func (s *Session) ListComponentVersions(ctx context.Context, in ListComponentVersionsRequest) (vitrine.Page[Component], error) {
	return s.service.ListComponentVersions(ctx, s.by, in)
}

// AllComponentVersions yields the versions of a component.
func (s *Session) AllComponentVersions(ctx context.Context, in ListComponentVersionsRequest) iter.Seq2[Component, error] {
	return s.service.AllComponentVersions(ctx, s.by, in)
}

// ComponentVersion returns one version of a component.
func (s *Session) ComponentVersion(ctx context.Context, name, version string) (Component, error) {
	return s.service.ComponentVersion(ctx, s.by, name, version)
}

// Changes returns a page of the feed of changes.
func (s *Session) Changes(ctx context.Context, in ChangesRequest) (vitrine.ChangesPage[Event], error) {
	return s.service.Changes(ctx, s.by, in)
}

// Follow yields the entries of the feed of changes, and waits for more.
func (s *Session) Follow(ctx context.Context, in ChangesRequest) iter.Seq2[Event, error] {
	return s.service.Follow(ctx, s.by, in)
}
