package assets

import (
	"context"
	"iter"

	"github.com/vitrine-go/vitrine"
)

// Session is a Service for one caller: it has the methods that act for a caller, without the Caller.
// The client of a remote service, package adapters/client, has them again. A program that names the
// methods it needs in an interface runs with both.
//
// A Session has nothing but the Service and the Caller. It is safe for concurrent use and needs
// no closing.
type Session struct {
	service *Service
	by      vitrine.Caller
}

// As returns a Session for this caller. The caller's rights are looked up in each call, so a Session never grants a
// right that was revoked meanwhile, except those that the Caller itself states, such as Moderates and Roles.
func (s *Service) As(by vitrine.Caller) *Session { return &Session{s.made(), by} }

// Search returns a page of the assets that match the request and that the caller sees, with the
// total of such assets and the facets that the request asks for. All numbers are exact, and count
// only assets that the caller sees, so they reveal nothing about others. The page, its total and
// its facets are of the same state of the library.
//
// An empty Query puts no condition on the text. A Query that is not empty but has no word, such as
// "*" or "<b>", finds nothing.
//
// Besides the errors that the comment of Service names for every method, it returns ErrInvalid if a
// field is malformed or exceeds its limit, or if a cursor is not of this library; ErrNotFound if the
// caller does not see a folder of the request; and ErrBusy if waiting for the store, or the search, takes longer than
// Limits.SearchTime. Reading the folders of the library, which many searches may wait for after a
// folder was changed, does not count.
func (s *Session) Search(ctx context.Context, lib Library, in SearchRequest) (SearchPage, error) {
	return s.service.Search(ctx, s.by, lib, in)
}

// AllAssets yields the assets that a search finds, beginning with the page that the request asks
// for. It goes on towards newer assets if the search is ascending and towards older ones otherwise.
// It reads a page at a time, and yields every asset once, even while others are added. It does not
// count facets. It yields an error once, as its last pair.
func (s *Session) AllAssets(ctx context.Context, lib Library, in SearchRequest) iter.Seq2[Asset, error] {
	return s.service.AllAssets(ctx, s.by, lib, in)
}

// Asset returns one asset. It returns ErrNotFound if no asset has this id or the caller may not see
// it. A moderator may also read an asset whose folders are all deleted, which no search finds.
func (s *Session) Asset(ctx context.Context, lib Library, id string) (Asset, error) {
	return s.service.Asset(ctx, s.by, lib, id)
}

// ChangeAssets removes assets and then adds assets, all or nothing.
//
// An asset is identified by its generator and its foreign id. Adding one that the library has
// already replaces its content, and those of its tags, via, rights and createdAt that are given. The asset
// keeps its id, its attributes and its folders, and gets those of the request too.
// So the same request may be sent again: the second time it changes nothing, except that what it
// removes by id is not there any more.
//
// It returns
//
//   - ErrNotFound if the caller does not see a folder of the request;
//   - ErrForbidden if the caller may not edit such a folder, an asset to remove or an asset to
//     replace, or adds an asset to no folder without being a moderator;
//   - ErrConflict if an item names a folder that the asset is not in and leaves out one that it is
//     in. The asset may exist: Error.ID is its id. Or an earlier item of the request adds it:
//     Error.ID is "". Otherwise content that was sent for one folder would also appear in another;
//   - ErrTooLarge if a content is longer than Limits.Content;
//   - ErrInvalid if an item is malformed, the request has more than Limits.Items, the response would
//     be longer than Limits.ResponseBytes, or the assets have more terms than Limits.Terms.
func (s *Session) ChangeAssets(ctx context.Context, lib Library, in ChangeAssetsRequest) (ChangedAssets, error) {
	return s.service.ChangeAssets(ctx, s.by, lib, in)
}

// AssignAssets takes assets out of a folder and puts assets into it. Each asset has a status of its
// own, and one that cannot be changed does not keep the others from being changed:
//
//   - 200: the asset is in the folder, or not in it any more, as the request asks. It may have
//     been so before.
//   - 404: the caller does not see the asset.
//   - 403: the asset is to be put into the folder and the caller may not change it, or
//     it is to be taken out of its only folder and the caller is no moderator. An asset in no
//     folder is visible to every member.
//   - 400: the asset would be in more than Limits.AssetFolders folders.
//
// It returns ErrNotFound if the caller does not see the folder, ErrForbidden if the caller may not
// edit it, and ErrInvalid if the request has more ids than Limits.AssetIDs, or the assets have more
// terms than Limits.Terms.
func (s *Session) AssignAssets(ctx context.Context, lib Library, in AssignAssetsRequest) (AssignedAssets, error) {
	return s.service.AssignAssets(ctx, s.by, lib, in)
}

// ListFolders returns a page of the folders that the caller sees, with the ids of their children.
// They are ordered by label, folded as words of assets are, and then by id. With in.Deleted it lists deleted
// folders instead: those that were deleted themselves and that the caller may manage.
//
// The path or the id of a folder that the caller does not see finds nothing, and is no error.
// ListFolders returns ErrInvalid if After or Before is not the id of a folder that the caller may
// read, if both are given, if Limit is out of range, or if IDs or Paths has more than Limits.IDs.
func (s *Session) ListFolders(ctx context.Context, lib Library, in ListFoldersRequest) (vitrine.Page[Folder], error) {
	return s.service.ListFolders(ctx, s.by, lib, in)
}

// AllFolders yields the folders of a list, beginning with the page that the request asks for. It
// yields an error once, as its last pair.
func (s *Session) AllFolders(ctx context.Context, lib Library, in ListFoldersRequest) iter.Seq2[Folder, error] {
	return s.service.AllFolders(ctx, s.by, lib, in)
}

// Folder returns one folder, with the ids of its children. Callers who may manage a folder may read
// it also when it is deleted or below a deleted one, since they may restore it. Folder returns
// ErrNotFound if the caller may not read the folder.
func (s *Session) Folder(ctx context.Context, lib Library, id string) (Folder, error) {
	return s.service.Folder(ctx, s.by, lib, id)
}

// ChangeFolders creates, updates and deletes folders, all or nothing, and then purges deleted ones.
//
// Deleting a folder hides it and all folders below it. It can be restored; its assets are not deleted. Purging a
// deleted folder removes it for good, with the folders below it and the assets that are in no other folder. Only
// moderators may purge. The files of the store then contain nothing of these assets. A purge takes many short updates
// after the rest of the request. If it is interrupted, or returns ErrBusy because a reader keeps copies of what was
// removed, the same purge can be requested again.
//
// It returns
//
//   - ErrNotFound if the caller does not see a folder or a parent, or if it is deleted and the
//     request does not restore it;
//   - ErrForbidden if the caller sees a folder and lacks the right for the change: edit on the
//     parent of a new folder and on the new parent of a moved one, manage on a folder to update or
//     delete, and manage on the parent of a new folder that has permissions. At the top level, only
//     moderators create folders and move folders there;
//   - ErrInvalid if a field is malformed, the request has more than Limits.Items, the library would
//     have more than Limits.Folders, a folder would be moved below itself, restored while a folder
//     above it is deleted, nested deeper than Limits.Depth (and deeper than it was) or given more than
//     Limits.Permissions, or if the response would be longer than Limits.ResponseBytes;
//   - ErrTooLarge if the library would have more than Limits.AllPermissions.
func (s *Session) ChangeFolders(ctx context.Context, lib Library, in ChangeFoldersRequest) (ChangedFolders, error) {
	return s.service.ChangeFolders(ctx, s.by, lib, in)
}

// Permissions returns the permissions that a folder itself has, without those that it inherits, in
// the order in which they were granted. Who may restore a deleted folder may also read its
// permissions.
//
// It returns ErrNotFound if the caller may not read the folder (see Folder), and ErrForbidden if
// the caller may not manage it.
func (s *Session) Permissions(ctx context.Context, lib Library, folder string) ([]Permission, error) {
	return s.service.Permissions(ctx, s.by, lib, folder)
}

// ChangePermissions changes the permissions of a folder and returns those that it has then. A
// permission to remove that the folder does not have is ignored, and so is one to create that it
// has already.
//
// When a folder loses its last permission, it also stops inheriting, and only moderators see it.
// Otherwise it could become open, and removing a permission would make the folder visible to every
// member.
//
// It returns ErrNotFound if the caller does not see the folder or the folder is deleted,
// ErrForbidden if the caller may not manage it, and ErrInvalid if a permission is malformed, the
// request has more than Limits.Items, or the folder would have more than Limits.Permissions and more
// than it had, and ErrTooLarge if that is so for the library and Limits.AllPermissions.
func (s *Session) ChangePermissions(
	ctx context.Context, lib Library, in ChangePermissionsRequest,
) ([]Permission, error) {
	return s.service.ChangePermissions(ctx, s.by, lib, in)
}

// Attributes returns the attributes that assets have with this key: each value once, in byte order.
// Assets that the caller does not see do not count. It returns ErrInvalid if the key is empty or
// malformed, or if its values take more than Limits.ResponseBytes.
func (s *Session) Attributes(ctx context.Context, lib Library, key string) ([]Attribute, error) {
	return s.service.Attributes(ctx, s.by, lib, key)
}

// ChangeAttributes changes the attributes of assets. Each asset has a status of its own, and one
// that cannot be changed does not keep the others from being changed:
//
//   - 200: the asset has the attributes that the request asks for. If it had them before, it
//     is not among ChangedAttributes.Assets.
//   - 404: the caller does not see the asset.
//   - 403: the caller sees the asset and may not change it.
//   - 400: the asset would have more than Limits.Attributes.
//
// It returns ErrInvalid, and changes nothing, if an attribute is malformed, the request has more ids
// than Limits.AssetIDs or a list of more than Limits.Attributes, the response would be longer than
// Limits.ResponseBytes, or the assets have more terms than Limits.Terms.
func (s *Session) ChangeAttributes(
	ctx context.Context, lib Library, in ChangeAttributesRequest,
) (ChangedAttributes, error) {
	return s.service.ChangeAttributes(ctx, s.by, lib, in)
}

// Explain returns what the caller, or with in.About somebody else, may do with an asset or a
// folder, and by which rule. The verdicts come from the same rules that all other methods ask.
// Explain reveals nothing that other methods hide: it names no folder that the caller may not read.
//
// It returns ErrNotFound if the caller may not read the asset or the folder; ErrForbidden if in.About
// is given and the caller is no moderator; and ErrInvalid if not exactly one of Asset and Folder is
// given, if the user is malformed or not of the network, or if in.About has too many roles or groups.
func (s *Session) Explain(ctx context.Context, lib Library, in ExplainRequest) (Explanation, error) {
	return s.service.Explain(ctx, s.by, lib, in)
}

// Changes returns a page of the feed of changes of a library, in the order in which the changes
// were committed. It does not wait for changes: at the end of the feed, it returns an empty page.
// Whoever goes on from Next misses no change and meets none twice. A page also ends
// before the entry that would bring it above Limits.PageBytes.
//
// It returns ErrForbidden unless the caller moderates the network; ErrInvalid if After is not a
// cursor of this feed or Limit is out of range; and ErrGone if entries after the cursor were
// removed, or if the feed has another identity, as after a restore from a backup. A follower that
// gets ErrGone asks with vitrine.Now for a cursor, reads the whole library, and goes on from the cursor.
func (s *Session) Changes(
	ctx context.Context, lib Library, in vitrine.ChangesRequest,
) (vitrine.ChangesPage[Event], error) {
	return s.service.Changes(ctx, s.by, lib, in)
}

// Follow yields the entries of the feed as Changes returns them, and waits for more. It ends only
// with an error, which is its last pair: one of Changes, or that of ctx when ctx is done. After a
// restart, a follower goes on with the Cursor of the last event that it has dealt with as in.After.
// A slow follower takes no memory for the entries that it has not read, and keeps no snapshot of the store.
func (s *Session) Follow(ctx context.Context, lib Library, in vitrine.ChangesRequest) iter.Seq2[Event, error] {
	return s.service.Follow(ctx, s.by, lib, in)
}
