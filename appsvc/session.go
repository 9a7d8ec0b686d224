package appsvc

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine"
)

// Session is a Service for one caller: the methods that act for a caller, without the parameter by. The client of a
// remote service (adapters/client) has these methods too, so a program can be written for both.
//
// Service.As makes one, at no cost. A Session keeps the rights that the Caller had then, so a server makes one for each
// request. It is safe for concurrent use.
type Session struct {
	service *Service
	by      vitrine.Caller
}

// As returns a Session for this caller.
func (s *Service) As(by vitrine.Caller) *Session { return &Session{s.made(), by} }

// CreateApp stores a new app with version 0. The caller becomes its owner, and the service gives it a random id.
//
// The configs are validated before the transaction, which checks that the components are still the same. If one was
// replaced meanwhile, nothing is stored, and the caller may repeat the call.
//
// It returns:
//   - ErrInvalid if the caller has a malformed URN, or if the input or the idempotency key is malformed or breaks a
//     limit;
//   - ErrForbidden unless the caller moderates each of the groups, or if Options.Check rejects the change;
//   - ErrUnprocessable if a component is unknown or was deleted meanwhile, a config breaks its schema, validating the
//     configs would take too long (CodeCost), or the idempotency key was used for another request;
//   - ErrConflict if a component was replaced meanwhile;
//   - ErrTooLarge if the app with the manifests of its components has more than Limits.AppBytes, by default 16 MiB.
func (s *Session) CreateApp(ctx context.Context, in CreateAppRequest) (App, error) {
	return s.service.CreateApp(ctx, s.by, in)
}

// App returns the latest version of an app. Like every method that takes the id of an app, it returns
// ErrNotFound if there is no such app, or if the caller neither owns it nor moderates or reads one of its groups. Both
// errors are equal, so nobody learns which ids exist.
func (s *Session) App(ctx context.Context, id string) (App, error) {
	return s.service.App(ctx, s.by, id)
}

// Version returns a version of an app; Latest stands for the highest. The groups of the latest version decide who may
// read any of them: whoever may not read the app now may not read its past either. It returns ErrNotFound if the app
// has no such version, and ErrInvalid for the zero Version.
func (s *Session) Version(ctx context.Context, id string, v vitrine.Version) (App, error) {
	return s.service.Version(ctx, s.by, id, v)
}

// ListApps returns a page of the apps that the caller may read, each as its latest version: those that it owns, and
// those that have one of the groups that it moderates or reads, or a site of such a network. Apps of the same time are
// in the order of their ids. A page also ends before the app that would bring it above Limits.PageBytes. With Summary
// no body is read.
//
// The cursor is a position in the order. So an app that is created or changed between two pages appears only if it
// comes after this position: with UpdatedAscending a change moves an app to the end, where it appears again.
//
// It returns ErrInvalid if Sort is unknown, if Limit is out of range, if Group is no URN of a group, if Query has more
// than 16 words or more characters than a title, if UsingVersion has no UsingComponent, or if After is not a cursor of
// this list in this order.
func (s *Session) ListApps(ctx context.Context, in ListAppsRequest) (vitrine.Page[App], error) {
	return s.service.ListApps(ctx, s.by, in)
}

// AllApps yields the apps that the caller may read, from in.After on, page by page. in.Limit is the size of a page. The
// first error is the last pair.
func (s *Session) AllApps(ctx context.Context, in ListAppsRequest) iter.Seq2[App, error] {
	return s.service.AllApps(ctx, s.by, in)
}

// ListVersions returns a page of the versions of an app with their content, newest first; ListHistory returns what
// changed instead. A page also ends before the version that would bring it above Limits.PageBytes. Versions that are
// added between two pages do not appear, since the list leads to lower versions.
//
// It returns ErrNotFound as App does, and ErrInvalid if Limit is out of range or After is not a cursor of this list.
func (s *Session) ListVersions(ctx context.Context, in ListVersionsRequest) (vitrine.Page[App], error) {
	return s.service.ListVersions(ctx, s.by, in)
}

// AllVersions yields the versions of an app, newest first, page by page. in.Limit is the size of a page. The first
// error is the last pair.
func (s *Session) AllVersions(ctx context.Context, in ListVersionsRequest) iter.Seq2[App, error] {
	return s.service.AllVersions(ctx, s.by, in)
}

// ListHistory returns a page of the history of an app: who made each version and when, which version it was restored
// from, which tags point to it, and what changed. It returns no content, so it is small and quick also where the app
// is large. The page ends before the limit when the bodies that it has read, the newest not counted, have four times
// Limits.PageBytes, by default 64 MiB.
//
// It returns ErrNotFound if there is no such app, and ErrInvalid if Limit is out of range or After is not a cursor of
// this list.
func (s *Session) ListHistory(ctx context.Context, in ListHistoryRequest) (vitrine.Page[HistoryEntry], error) {
	return s.service.ListHistory(ctx, s.by, in)
}

// AllHistory yields the history of an app, newest version first, page by page. in.Limit is how many entries are read at
// a time. It ends with the first error, which comes in the last pair.
func (s *Session) AllHistory(ctx context.Context, in ListHistoryRequest) iter.Seq2[HistoryEntry, error] {
	return s.service.AllHistory(ctx, s.by, in)
}

// Diff returns the patch that turns the version from of an app into the version to: the title, the groups and the
// elements. Each may be Latest. Manifests are not part of it, since Patch copies those that components have at that
// time. from may be the later one: then the patch leads back. The same versions always have the same diff.
//
// A changed member of a config is one replace operation at that member, an added one is one add, and a removed one is
// one remove. An element that was inserted, removed or moved is one operation too, since elements are matched by their
// keys, and keep them if the patch is applied. An element that differs only in the order of members is unchanged.
// Numbers keep their text. The patch has at most Limits.PatchOps operations, by default 1,000. If it would need more,
// if applying it would be too much work for Patch, or if the comparison takes too many steps, the operations are
// coarser: they replace whole configs, all groups, or all elements.
//
// Diff returns ErrNotFound if there is no such app or version, and ErrInvalid for the zero Version. Patch may reject
// the patch; the package comment lists the cases under "History".
func (s *Session) Diff(ctx context.Context, id string, from, to vitrine.Version) (Diff, error) {
	return s.service.Diff(ctx, s.by, id, from, to)
}

// Patch applies a JSON Patch to the latest version of an app and stores the result as the next version. Its paths
// address {"apps":[app]}, the document that GET /apps/{id} returns over HTTP. One of its operations must be a test of
// the version, which is a string there: {"op":"test","path":"/apps/0/version","value":"3"}. One may be
// {"op":"add","path":"/note","value":"…"}: a note of up to 1,024 characters, which the history and the feed have with
// the new version. A patch that changes nothing stores nothing and returns the latest version.
//
// Applying and validating take time, so they work on a snapshot, and other writers need not wait. The transaction
// that stores the result checks that nothing it was made from has changed: the version of the app, the rights of the
// caller, and the components that the configs were validated against. So of two patches for the same version at
// most one is stored.
//
// It returns:
//   - ErrInvalid if the caller has a malformed URN, if the text is not a JSON Patch, or if it does not test the
//     version;
//   - ErrTooLarge if the patch has more than Limits.PatchOps operations or Limits.PatchBytes, by default 1,000 and 1
//     MiB, if the patched document has more than Limits.DocumentBytes, by default 4 MiB, or if applying the patch takes
//     too much work;
//   - ErrConflict with CodeStaleVersion if the app has another version than the patch tests, or if the app was changed
//     or a component was replaced while Patch was at work;
//   - ErrConflict with CodeTestFailed if another test of the patch fails;
//   - ErrUnprocessable if an operation does not apply, if the patch changes what only the service writes, if the result
//     is not an app or breaks a limit, if a component is unknown or was deleted while Patch was at work, if a config
//     breaks its schema, or if validating the configs would take too long (CodeCost);
//   - ErrNotFound if there is no such app, or the caller may not read it;
//   - ErrForbidden if the caller may only read the app, if it may not change the groups as the patch does, or if
//     Options.Check rejects the change.
func (s *Session) Patch(ctx context.Context, id string, patch []byte) (App, error) {
	return s.service.Patch(ctx, s.by, id, patch)
}

// Edit reads an app, lets fn build a patch, and stores the result. It retries if somebody else has changed
// the app meanwhile; see EditApp.
func (s *Session) Edit(ctx context.Context, id string, fn func(App, *PatchBuilder) error) (App, error) {
	return EditApp(ctx, s, id, fn)
}

// Restore stores the content of a version of an app as its new latest version: its title, groups and elements. It
// copies the stored content, with the manifests in the elements. It does not validate the configs again, since the
// components may be deleted, and it moves no tag. Restoring the latest version makes a new version too.
//
// Unlike a patch, a restore does not test the version: two concurrent restores are both stored, one after the other.
// The replaced content stays readable as a version.
//
// It returns:
//   - ErrNotFound if there is no such app or version; Pointer of the error says which of the two;
//   - ErrForbidden if the caller may only read the app, or may not add or remove the groups that differ from those of
//     the latest version, or if groups differ, the app has a protected tag, and the caller does not moderate every
//     group, or if Options.Check rejects the change;
//   - ErrTooLarge if the app would have more than Limits.AppBytes, by default 16 MiB;
//   - ErrInvalid for the zero Version, a note that is too long, or a malformed idempotency key;
//   - ErrUnprocessable if the idempotency key was used for another request.
func (s *Session) Restore(ctx context.Context, in RestoreRequest) (App, error) {
	return s.service.Restore(ctx, s.by, in)
}

// DeleteApp deletes an app: from then on it does not exist for anybody, with its versions and its tags. UndeleteApp
// restores it unchanged. The caller must own it or moderate one of its groups.
//
// It returns ErrNotFound if there is no such app or the caller may not read it, ErrForbidden if the caller may only
// read it or Options.Check rejects the change, and ErrConflict with CodeWrongState if the app has a protected tag or is
// in a scheduled release.
func (s *Session) DeleteApp(ctx context.Context, id string) error {
	return s.service.DeleteApp(ctx, s.by, id)
}

// UndeleteApp brings a deleted app back, with all its versions and tags, and returns its latest version. The caller
// must own it or moderate one of its groups.
//
// It returns ErrNotFound if no app has this id, deleted or not, or if the caller may not change it. It returns
// ErrConflict with CodeWrongState if the app is not deleted.
func (s *Session) UndeleteApp(ctx context.Context, id string) (App, error) {
	return s.service.UndeleteApp(ctx, s.by, id)
}

// EraseApp permanently removes a deleted app, with all its versions, their notes, its tags and their moves. In the
// feed, the ids of the app and of those who changed it stay until their entries are removed. On SQLite no file of the
// store contains any of it when EraseApp returns. The caller must moderate every group of the app.
//
// It returns ErrNotFound and ErrConflict as UndeleteApp does, ErrForbidden if the caller does not moderate every group,
// and ErrBusy if the app is erased but readers of a file keep copies of it in the log, which the next erasure removes.
func (s *Session) EraseApp(ctx context.Context, id string) error {
	return s.service.EraseApp(ctx, s.by, id)
}

// ListTags returns a page of the tags of an app, by name in byte order. Next is the last name of the page. A page also
// ends before the tag that would bring it above Limits.PageBytes, which matters with Embed: the bodies count, and two
// tags that point to the same version both have it. It returns ErrNotFound as App does, and ErrInvalid if Limit is out
// of range.
func (s *Session) ListTags(ctx context.Context, in ListTagsRequest) (vitrine.Page[Tag], error) {
	return s.service.ListTags(ctx, s.by, in)
}

// AllTags yields the tags of an app, from in.After on, page by page. The first error is the last pair.
func (s *Session) AllTags(ctx context.Context, in ListTagsRequest) iter.Seq2[Tag, error] {
	return s.service.AllTags(ctx, s.by, in)
}

// Tag returns one tag of an app. It returns ErrNotFound as App does, or if the app has no tag of this name.
func (s *Session) Tag(ctx context.Context, in TagRequest) (Tag, error) {
	return s.service.Tag(ctx, s.by, in)
}

// ListTagMoves returns a page of the history of a tag, newest first; the tag may have been deleted. The From of a move
// is the To of the move before it in time. A tag that has not moved since a release that recorded no moves has an empty
// history.
//
// It returns ErrNotFound as App does, or if the app never had a tag of this name, and ErrInvalid if Limit is out of
// range or After is not a cursor of this history. A page is bounded by Limit alone, and not by bytes.
func (s *Session) ListTagMoves(ctx context.Context, in ListTagMovesRequest) (vitrine.Page[TagMove], error) {
	return s.service.ListTagMoves(ctx, s.by, in)
}

// AllTagMoves yields the history of a tag, newest first, page by page. The first error is the last pair.
func (s *Session) AllTagMoves(ctx context.Context, in ListTagMovesRequest) iter.Seq2[TagMove, error] {
	return s.service.AllTagMoves(ctx, s.by, in)
}

// TaggedApp returns the version of an app that a tag points to. This is how apps are delivered: it is the one method
// that a caller with TagsOnly may call. Such a caller gets the app without its owner, its editor and its groups, and
// ErrForbidden for a tag that is not among its Tags. Tag and version come from one snapshot, so a move of the tag is
// seen as a whole or not at all. TaggedApp returns ErrNotFound as App does, or if the app has no tag of this name.
func (s *Session) TaggedApp(ctx context.Context, appID, name string) (App, error) {
	return s.service.TaggedApp(ctx, s.by, appID, name)
}

// Deliver returns the versions of apps to which a tag points, in the order of appIDs, with the defaults of their
// configs. An app that cannot be read has an error of its own. Deliver itself returns ErrForbidden if the caller has
// TagsOnly and the tag is not among its Tags. All apps are read from one snapshot.
func (s *Session) Deliver(ctx context.Context, tag string, appIDs []string) ([]Delivery, error) {
	return s.service.Deliver(ctx, s.by, tag, appIDs)
}

// PutTag creates a tag or moves it, and records the move. If the tag already points to the version, nothing is stored.
// With Latest the tag points to the version that is the latest in the transaction; it does not follow later changes.
//
// With Rollback the tag goes back to where it pointed before its last move that was not rolled back: two rollbacks undo
// two moves, and none redoes a move. If the tag did not exist before that move, it is deleted, and the Tag has no
// AppVersion. A rollback needs no approvals.
//
// It returns:
//   - ErrInvalid if no tag can have the name, for the zero Version or one beside Rollback, if From names no version
//     although it should, for a Note that is too long or no text, or for a malformed idempotency key;
//   - ErrNotFound as App does, if the app has no such version, or for a roll back if it never had the tag;
//   - ErrForbidden if the caller may only read the app, if the tag is protected and the caller does not moderate every
//     group of the app, or if Options.Check rejects the change; with CodeNeedsRelease if the tag needs approvals;
//   - ErrConflict with CodeMoved if the tag does not point where From says; PointsTo of the error is where it
//     points;
//   - ErrConflict with CodeWrongState if no move is left to roll back;
//   - ErrUnprocessable with CodeLimit if the tag is new and the app has Limits.Tags tags already, by default 1,000, or
//     if the name is new and the app has had tags of Limits.TagNames names, by default 10,000;
//   - ErrUnprocessable with CodeKeyReused if the idempotency key was used for another request.
func (s *Session) PutTag(ctx context.Context, in PutTagRequest) (Tag, error) {
	return s.service.PutTag(ctx, s.by, in)
}

// DeleteTag removes a tag, and records that. Its history stays. It returns:
//   - ErrInvalid for a malformed idempotency key;
//   - ErrNotFound as App does, or if the app has no tag of this name;
//   - ErrForbidden if the caller may only read the app, if the tag is protected and the caller does not moderate every
//     group of the app, or if Options.Check rejects the change; with CodeNeedsRelease if the tag needs approvals;
//   - ErrUnprocessable if the idempotency key was used for another request.
func (s *Session) DeleteTag(ctx context.Context, in DeleteTagRequest) error {
	return s.service.DeleteTag(ctx, s.by, in)
}

// TagsNamed returns the tag of this name of each of the apps, in the order of appIDs, each app once. It leaves out apps
// without such a tag and apps that the caller may not read, so it tells nothing about these. It returns ErrInvalid
// unless there are 1 to Limits.AppIDs ids, by default 100, and ErrNotFound if no tag can have the name.
func (s *Session) TagsNamed(ctx context.Context, name string, appIDs []string) ([]Tag, error) {
	return s.service.TagsNamed(ctx, s.by, name, appIDs)
}

// TaggedAppIn returns what TaggedApp would return after a release had run: the version to which it moves the tag. If
// the release does not move the tag, or is done, that is the version where the tag points now. It is not for callers
// with TagsOnly.
//
// It returns ErrNotFound as TaggedApp and Release do, and ErrConflict if the release is cancelled (CodeWrongState), or
// if some move could not be made (CodeConflicts). Approvals are not checked.
func (s *Session) TaggedAppIn(ctx context.Context, appID, name, releaseID string) (App, error) {
	return s.service.TaggedAppIn(ctx, s.by, appID, name, releaseID)
}

// CreateRelease stores a release. It moves nothing.
//
// It returns ErrInvalid if a text, a list or a time is out of range, or if a tag is moved twice. If the caller could
// not make some move by PutTag or DeleteTag, apart from missing approvals, it returns their error for the first such
// move: ErrNotFound or ErrForbidden.
func (s *Session) CreateRelease(ctx context.Context, in CreateReleaseRequest) (Release, error) {
	return s.service.CreateRelease(ctx, s.by, in)
}

// UpdateRelease changes a release that is open or scheduled. A change of moves removes all approvals, and a change of
// more than the time removes that of the caller, who cannot approve it any more. With a time the release is scheduled,
// with the rights of this caller, which are checked again when it runs.
//
// It returns the errors of CreateRelease, ErrForbidden also if the caller could not make a present move of the release,
// ErrNotFound unless the caller may read every app of the release, and ErrConflict: CodeStaleVersion if it has another
// version, CodeWrongState if it was run or cancelled.
func (s *Session) UpdateRelease(ctx context.Context, in UpdateReleaseRequest) (Release, error) {
	return s.service.UpdateRelease(ctx, s.by, in)
}

// Release returns a release. It returns ErrNotFound unless the caller may read every app of it.
func (s *Session) Release(ctx context.Context, id string) (Release, error) {
	return s.service.Release(ctx, s.by, id)
}

// ListReleases returns a page of the releases that the caller may see, newest first. A page reads at most 1,000
// releases, so it may be empty although Next is set. It returns ErrInvalid if State is unknown, if Limit is out of
// range, or if After is not a cursor of this list.
func (s *Session) ListReleases(ctx context.Context, in ListReleasesRequest) (vitrine.Page[Release], error) {
	return s.service.ListReleases(ctx, s.by, in)
}

// AllReleases yields the releases that the caller may see, newest first, page by page. The first error is the last
// pair.
func (s *Session) AllReleases(ctx context.Context, in ListReleasesRequest) iter.Seq2[Release, error] {
	return s.service.AllReleases(ctx, s.by, in)
}

// ApproveRelease adds the caller's approval to a release that is open or scheduled. A second one of the same person
// changes nothing.
//
// It returns the errors of UpdateRelease. It also returns ErrForbidden if the caller is the key of a program, has made
// or changed the release, or was invited or given rights by somebody who has, directly or through others. Where the
// rule of a tag is independent, it is also ErrForbidden if the caller gave rights to somebody who has made or changed
// the release.
func (s *Session) ApproveRelease(ctx context.Context, id string, seen vitrine.Version) (Release, error) {
	return s.service.ApproveRelease(ctx, s.by, id, seen)
}

// RunRelease makes all moves of a release that is open or scheduled, at one moment. If one of them cannot be made, none
// is: the release is open then, its Conflicts have the reasons, and the error has CodeConflicts and the same list.
//
// Otherwise it returns the errors of UpdateRelease, and ErrConflict with CodeNeedsApproval if fewer approvals than
// needed count. See TagRule.Independent for which count together.
func (s *Session) RunRelease(ctx context.Context, id string, seen vitrine.Version) (Release, error) {
	return s.service.RunRelease(ctx, s.by, id, seen)
}

// CancelRelease cancels a release that is open or scheduled. Like every method that takes seen, the version of the
// release that the caller has seen, it changes no other version. It returns the errors of UpdateRelease.
func (s *Session) CancelRelease(ctx context.Context, id string, seen vitrine.Version) (Release, error) {
	return s.service.CancelRelease(ctx, s.by, id, seen)
}

// UndoRelease rolls back all moves of a release that is done, in one transaction. It needs no approvals. The release is
// cancelled then, and keeps its RanAt. It returns the errors of RunRelease; a tag that was moved since is a conflict.
func (s *Session) UndoRelease(ctx context.Context, id string, seen vitrine.Version) (Release, error) {
	return s.service.UndoRelease(ctx, s.by, id, seen)
}

// CreateComponent stores a version of a component. The result has the manifest as it is stored, with the id, and the
// warnings of its configSchema. Apps do not change: an element gets the new version when a patch names it.
// CheckComponent says before what that would break.
//
// A version that was deleted gets the id that it had.
//
// It returns:
//   - ErrForbidden unless the caller may manage components;
//   - ErrTooLarge if the manifest has more than Limits.ManifestBytes, by default 1 MiB;
//   - ErrInvalid if the manifest or the idempotency key is malformed, if the configSchema is rejected (the package
//     comment says under "Components and configs" what it may be), or if there was such a version that was deleted and
//     had another manifest or another id;
//   - ErrInvalid with CodeExists, the pointer /version and Same if there is a component with the same name and version,
//     and with the pointer /id if another component has the id;
//   - ErrUnprocessable if the idempotency key was used for another request.
func (s *Session) CreateComponent(ctx context.Context, in CreateComponentRequest) (Component, error) {
	return s.service.CreateComponent(ctx, s.by, in)
}

// CheckComponent returns the elements that would not conform to a component if they had it. It checks the latest and
// every tagged version, each once, of each app that the caller may read. Each element is checked as by a patch that
// only changes the version of its component. Nothing is stored.
//
// A page ends after 1,000 broken elements, before the one that would bring it above Limits.PageBytes (by default 4
// MiB), or after 5 seconds. So a page may have no broken elements although Next is set. Each page reads the apps as
// they are at its time.
//
// It returns ErrForbidden unless the caller may manage components, ErrInvalid with the pointer /name if the manifest
// has another name, ErrInvalid if After is not a cursor of a check of this component, and otherwise the errors of
// CreateComponent.
func (s *Session) CheckComponent(ctx context.Context, in CheckComponentRequest) (ComponentCheck, error) {
	return s.service.CheckComponent(ctx, s.by, in)
}

// AllBrokenElements yields the elements that CheckComponent finds broken, page by page. Each page is as of its own
// time. The first error is the last pair.
func (s *Session) AllBrokenElements(ctx context.Context, in CheckComponentRequest) iter.Seq2[BrokenElement, error] {
	return s.service.AllBrokenElements(ctx, s.by, in)
}

// Upgrade gives all matching elements of each app that the caller may change another version of their component, and
// applies a patch to each of their configs. Each app is validated and stored as Patch does it, as one new version of
// the latest version, in one transaction. An app that would become invalid is not changed, and its Violations say why.
// With DryRun nothing is stored, and the result is the same. Apps without such elements are left out.
//
// A page ends after 100 apps, a second, or before the app that would bring it above Limits.PageBytes. It may have no
// apps although Next is set.
//
// It returns ErrNotFound if there is no component of this name, ErrUnprocessable with CodeUnknownComponent if it has no
// such version, ErrInvalid or ErrTooLarge if the patch is malformed or has more than Limits.PatchOps or
// Limits.PatchBytes, ErrInvalid if After is not a cursor of this upgrade, and ErrConflict with CodeStaleVersion if the
// component was replaced meanwhile.
func (s *Session) Upgrade(ctx context.Context, in UpgradeRequest) (vitrine.Page[UpgradedApp], error) {
	return s.service.Upgrade(ctx, s.by, in)
}

// Component returns the latest version of a component: the highest one if all its versions are semantic versions,
// otherwise the one created last. Every caller without TagsOnly may read it. It returns ErrNotFound if there is no
// component of this name.
func (s *Session) Component(ctx context.Context, name string) (Component, error) {
	return s.service.Component(ctx, s.by, name)
}

// ListComponents returns a page of components, each as its latest version, by name in byte order. Their Manifest is
// nil; Component returns it. A request cannot limit the number of components: a page ends before the component that
// would bring its JSON above Limits.PageBytes. Every caller without TagsOnly may read components.
func (s *Session) ListComponents(ctx context.Context, in ListComponentsRequest) (vitrine.Page[Component], error) {
	return s.service.ListComponents(ctx, s.by, in)
}

// AllComponents yields the latest version of each component, from in.After on, page by page. The first error is the
// last pair.
func (s *Session) AllComponents(ctx context.Context, in ListComponentsRequest) iter.Seq2[Component, error] {
	return s.service.AllComponents(ctx, s.by, in)
}

// DeleteComponent removes every version of a component; one version cannot be deleted alone. Elements keep their copies
// of the manifest, so apps read as before. But a patch that changes the config of such an element is ErrUnprocessable
// from then on, until the component is created again or the element gets another one.
//
// It returns ErrForbidden unless the caller may manage components, ErrNotFound if there is no component of this name,
// and ErrUnprocessable if the idempotency key was used for another request.
func (s *Session) DeleteComponent(ctx context.Context, in DeleteComponentRequest) error {
	return s.service.DeleteComponent(ctx, s.by, in)
}

// ListComponentVersions returns a page of the versions of a component, the one created last first. The Manifest of each
// has only id, name, version, main, title and description; ComponentVersion returns the whole manifest. Every caller
// without TagsOnly may read them. A page also ends before the manifest that would bring it above Limits.PageBytes. Next
// is the last version of the page, or "" on the last page.
//
// It returns ErrNotFound if there is no component of this name, and ErrInvalid if Limit is out of range or After is not
// a version of the component: for instance, because the component was deleted, and created again with other versions,
// between two pages.
func (s *Session) ListComponentVersions(
	ctx context.Context, in ListComponentVersionsRequest,
) (vitrine.Page[Component], error) {
	return s.service.ListComponentVersions(ctx, s.by, in)
}

// AllComponentVersions yields the versions of a component from in.After on, the one created last first, page by page.
// in.Limit is the size of a page. The first error is the last pair.
func (s *Session) AllComponentVersions(
	ctx context.Context, in ListComponentVersionsRequest,
) iter.Seq2[Component, error] {
	return s.service.AllComponentVersions(ctx, s.by, in)
}

// ComponentVersion returns one version of a component. Its Manifest has all members of the request of CreateComponent,
// and an id and a description even if the request had none: a random id, and null. Every caller without TagsOnly may
// read it. It returns ErrNotFound if there is no such version.
func (s *Session) ComponentVersion(ctx context.Context, name, version string) (Component, error) {
	return s.service.ComponentVersion(ctx, s.by, name, version)
}

// Changes returns a page of the feed of changes. The changes of one app are in the order of their commits, and so are
// those of components. Changes does not wait for more. A caller that continues from Next sees each change exactly once.
// A caller sees no changes of an app that it may not read now, except that each removal of a group which the caller
// moderates or reads is an event of type AppLeft.
//
// It returns ErrGone if entries after the cursor were removed, or if the feed has another identity now, and ErrInvalid
// if After is not a cursor of this feed, if a type is unknown, or if Limit is out of range. A program that gets ErrGone
// asks for the cursor of vitrine.Now first, and then reads all apps again. A page reads at most 10,000 entries, so it
// may be empty although More is true.
func (s *Session) Changes(ctx context.Context, in ChangesRequest) (vitrine.ChangesPage[Event], error) {
	return s.service.Changes(ctx, s.by, in)
}

// Follow yields the entries of the feed as Changes returns them, and waits for more. It ends with an error as its last
// pair: the error of ctx when ctx is done. To resume, pass the Cursor of the last event that was handled as After. A
// cursor is gone with its entry, so a follower of rare Types asks for all types and stores the Cursor of each event.
// in.Limit is the number of entries that are read at a time.
//
// A slow follower costs nothing: neither entries nor a snapshot of the store are kept for it.
func (s *Session) Follow(ctx context.Context, in ChangesRequest) iter.Seq2[Event, error] {
	return s.service.Follow(ctx, s.by, in)
}
