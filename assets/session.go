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

// As returns a Session for this caller. The caller's rights are looked up in each call, so a
// Session never grants a right that was revoked meanwhile, except those that the Caller itself states, such as Moderates and
// Roles.
func (s *Service) As(by vitrine.Caller) *Session { return &Session{s.made(), by} }

// Search returns a page of the assets that match the request. It is Service.Search for the caller
// of the Session; each other method of a Session likewise stands for the method of the Service with
// the same name, which documents it.
func (s *Session) Search(ctx context.Context, lib Library, in SearchRequest) (SearchPage, error) {
	return s.service.Search(ctx, s.by, lib, in)
}

// AllAssets yields what a search finds.
func (s *Session) AllAssets(ctx context.Context, lib Library, in SearchRequest) iter.Seq2[Asset, error] {
	return s.service.AllAssets(ctx, s.by, lib, in)
}

// Asset returns one asset.
func (s *Session) Asset(ctx context.Context, lib Library, id string) (Asset, error) {
	return s.service.Asset(ctx, s.by, lib, id)
}

// ChangeAssets removes and then adds assets, all or nothing.
func (s *Session) ChangeAssets(ctx context.Context, lib Library, in ChangeAssetsRequest) (ChangedAssets, error) {
	return s.service.ChangeAssets(ctx, s.by, lib, in)
}

// AssignAssets takes assets out of a folder and puts assets into it.
func (s *Session) AssignAssets(ctx context.Context, lib Library, in AssignAssetsRequest) (AssignedAssets, error) {
	return s.service.AssignAssets(ctx, s.by, lib, in)
}

// ListFolders returns a page of the folders that the caller sees, by label.
func (s *Session) ListFolders(ctx context.Context, lib Library, in ListFoldersRequest) (vitrine.Page[Folder], error) {
	return s.service.ListFolders(ctx, s.by, lib, in)
}

// AllFolders yields the folders that the caller sees, by label.
func (s *Session) AllFolders(ctx context.Context, lib Library, in ListFoldersRequest) iter.Seq2[Folder, error] {
	return s.service.AllFolders(ctx, s.by, lib, in)
}

// Folder returns one folder.
func (s *Session) Folder(ctx context.Context, lib Library, id string) (Folder, error) {
	return s.service.Folder(ctx, s.by, lib, id)
}

// ChangeFolders creates, updates and deletes folders, all or nothing, and then purges deleted ones.
func (s *Session) ChangeFolders(ctx context.Context, lib Library, in ChangeFoldersRequest) (ChangedFolders, error) {
	return s.service.ChangeFolders(ctx, s.by, lib, in)
}

// Permissions returns the permissions that a folder itself has.
func (s *Session) Permissions(ctx context.Context, lib Library, folder string) ([]Permission, error) {
	return s.service.Permissions(ctx, s.by, lib, folder)
}

// ChangePermissions changes the permissions of a folder and returns those it has then.
func (s *Session) ChangePermissions(ctx context.Context, lib Library, in ChangePermissionsRequest) ([]Permission, error) {
	return s.service.ChangePermissions(ctx, s.by, lib, in)
}

// Attributes returns the distinct values that assets have for a key.
func (s *Session) Attributes(ctx context.Context, lib Library, key string) ([]Attribute, error) {
	return s.service.Attributes(ctx, s.by, lib, key)
}

// ChangeAttributes changes the attributes of assets. Each asset has a status of its own.
func (s *Session) ChangeAttributes(ctx context.Context, lib Library, in ChangeAttributesRequest) (ChangedAttributes, error) {
	return s.service.ChangeAttributes(ctx, s.by, lib, in)
}

// Explain tells what the caller may do with an asset or a folder, and by which rule.
func (s *Session) Explain(ctx context.Context, lib Library, in ExplainRequest) (Explanation, error) {
	return s.service.Explain(ctx, s.by, lib, in)
}

// Changes returns a page of the feed of changes of a library.
func (s *Session) Changes(ctx context.Context, lib Library, in vitrine.ChangesRequest) (vitrine.ChangesPage[Event], error) {
	return s.service.Changes(ctx, s.by, lib, in)
}

// Follow yields the entries of the feed of changes of a library, and waits for more.
func (s *Session) Follow(ctx context.Context, lib Library, in vitrine.ChangesRequest) iter.Seq2[Event, error] {
	return s.service.Follow(ctx, s.by, lib, in)
}
