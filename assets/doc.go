// Package assets is the asset manager: content items in libraries, searched, grouped into folders
// with permissions, and labelled with attributes.
//
// A [Service] on a [Store] holds every rule. A method takes the [Caller] and the [Library], and returns only
// what the caller may see. A hidden asset or folder gives the same error as one that does not exist.
//
//	svc := assets.New(memory.New().Assets(), nil)
//	page, err := svc.Search(ctx, by, lib, assets.SearchRequest{Query: "launch", Limit: 20})
//
// [Service.As] gives a [Session], the same methods for one caller. The client of a remote service, package
// adapters/client, has the methods of a Session, so a program can be written for both. A list comes in pages,
// with an iterator beside it: Search and AllAssets, ListFolders and AllFolders. What the methods return
// marshals to the JSON of the HTTP API and back.
//
// # Errors
//
// An error about a request is an [*Error]: errors.Is finds its kind, such as [ErrNotFound], and errors.As its
// code, its place in the request and its sentence. The place is a JSON pointer into the body or the name of a
// query parameter, as they are over HTTP, so that a form can show the sentence at its field.
//
// # Who may do what
//
// Moderators of the library's network may do everything. Other members act by permissions on
// folders: view, edit and manage, each of which includes those before it. A folder has its own permissions
// and, while it inherits, those of its parent. A folder is open to every member if it and all folders above it
// inherit and none of them has a permission. An asset is visible if it is in no folder, or in one that is
// visible. Changing an asset takes edit on one of its folders; only moderators change an asset in no folder.
// [Service.Explain] says by which rule somebody may or may not do something.
//
// No two allowed steps give a right that neither of them gives:
//
//   - To put an asset into a folder takes edit on the folder and the right to change the asset; to take it
//     out of its last folder takes a moderator, since an asset in no folder is visible to all members.
//   - To grant permissions takes manage on the folder, on a new folder manage on its parent.
//   - A folder that loses its last permission stops inheriting too, so that only moderators see it. Only they
//     can make it inherit again, as nobody else may manage it. Revoking never publishes.
//   - To move a folder takes manage on it and edit on its new parent, and a moderator at the top level.
//   - A folder below a deleted one comes back with that. To move it out and bring it back at once takes
//     manage on the deleted one too.
//   - Adding an asset again is refused with [ErrConflict] when it names a folder the asset is not in and leaves
//     out one that it is in: content meant for one place never appears in another. Folders that the caller
//     may not read do not count.
//   - A URN in a [Caller] that is malformed is [ErrInvalid], and never a right.
//
// # Search
//
// The service turns an asset into terms: one for each word of its text and its author's names, and one
// for each folder, tag and other facet. A search is a list of sets of terms; an asset must have at least one
// term of each set. A driver therefore keeps one inverted index and knows nothing of words or rights. The
// folder tree is not part of the index, so moving, deleting or sharing a folder changes no asset.
//
//	page, err := svc.Search(ctx, by, lib, assets.SearchRequest{
//		Query:  "launch* berlin", // a word that begins so, and a word
//		Tags:   []string{"approved"},
//		Facets: []string{"generator", "attribute:campaign"},
//	})
//
// A facet has the 20 most frequent values of a field among everything that the caller would find, on whatever page,
// each with its exact count. It is computed from the same index: the assets that have a term are intersected with those
// that the search finds. So it counts only what the caller sees, and names no hidden folder.
//
//   - A word that ends in * stands for every word that begins so. It has at least two characters before the *, after
//     folding, or one of Han, Hiragana or Katakana. Any other * separates words: foo*bar is two words.
//   - AddedFrom and AddedBefore are about the time of adding. Nothing is found if AddedFrom is not earlier.
//   - The key of an AttributeFilter has no colon, and that of a facet no comma, since they are separators over HTTP.
//   - A facet that is asked for twice is returned once. The facet "attribute" has the keys of attributes as its values.
//   - A search that takes longer than Limits.SearchTime, two seconds, is [ErrBusy].
//   - Programs from before v0.1.0 stored words and attributes of more than 250 bytes so that only the whole of them could be found,
//     and attributes so that their keys could not be counted. The first search that needs more stores them anew, which may
//     take longer than one search has: then it is ErrBusy, and the next one goes on.
//
// # Content is not to be trusted
//
// Content comes from elsewhere. URLs in it are http or https, but its HTML is stored and returned as
// it was sent: whoever shows it must sanitize it first.
//
// # Changes
//
// Every request that changed something in a library has an entry in the library's feed of changes, an [Event], written in
// the transaction of the change. Service.Changes returns a page of the feed, and Service.Follow waits for what comes;
// both are for moderators of the network. A follower that resumes from a cursor sees every later change exactly once. Cursors
// are encrypted and belong to the library. Entries are kept for Options.KeepChanges; an older cursor is [ErrGone], and
// so is one of a feed that has another identity, as after a restore from a backup.
//
// # Ids and cursors
//
//   - The id of an asset is its ordinal in the library, encrypted under a key of the library. An id tells
//     nothing and is valid in its library only. Cursors of searches are made in the same way.
//   - Ids of folders are the cursors of ListFolders. After and Before take the id of a folder that the caller
//     may read; those who may manage a folder may use it as a cursor after it was deleted.
//   - An empty page of a search has no cursors. HasPrev and HasNext then speak of both sides of the cursor
//     that the request had.
//
// # Details of changes
//
//   - ChangeAssets, AssignAssets, ChangeAttributes and ChangePermissions remove first and add afterwards.
//     ChangeFolders creates, then updates, then deletes.
//   - The answer to ChangeAssets has each asset once, at its first mention, as it is after the last one. All
//     mentions of one asset are stored as one change. The first mention decides whether the asset needs a folder.
//   - A change of several assets, attributes or folders is refused as a whole if its answer would be longer
//     than Limits.PageBytes.
//   - Taking an asset out of a folder that it is not in is a success, and so is putting it into one that it is in.
//   - A repeat that changes nothing leaves updatedAt alone. So does a change of folders or attributes, which
//     are not content.
//   - An asset that a change of attributes leaves as it was has StatusOK and is not among the changed assets.
//     An attribute that is removed and added again, or set to the value it has, keeps its place.
//   - ChangeAttributes and AssignAssets give StatusInvalid to an asset that would have too many attributes or
//     folders; ChangeAssets refuses the whole request. An asset that is over a lowered limit keeps what it has.
//   - The first successful write of a moderator creates the library, even if it changes nothing else.
//
// # Folders and permissions
//
//   - ListFolders finds folders by their place, by a part of their label, or those that were deleted. A deleted folder is
//     listed for those who may bring it back. What is only below it is not, since it comes back with that one.
//   - A folder below a deleted one counts as deleted. Those who may manage a deleted folder can read it and its
//     permissions, and update it only if the update restores it (Deleted set to false).
//   - FolderTree of a search covers every folder of the tree that the caller sees, also below a hidden one. A
//     path of ListFolders may lead through hidden folders too.
//   - The ID of a permission to create is ignored. A user is the same under the id and the URN. Permissions that
//     differ only in the names of users and roles are equal. A user id has no colon, so it is never taken for a URN.
//
// # Content and limits
//
//   - The members via, rights and attributes are in an asset's JSON only if the asset has any.
//   - Optional members of content may be null.
//   - Tags that stand inside a line (<b>, <a>, <span> …) leave nothing behind when HTML becomes text; all
//     others leave a space. Strokes count as diacritics (ł, ø, đ …), and the length mark ー as Katakana.
//   - A tag has no comma, since a search over HTTP takes tags joined by commas.
//   - Labels, tags, generator ids, attribute keys and library ids have 1 to 128 characters, foreign ids 1 to
//     1,024, attribute values 0 to 1,024, subjects of permissions 1 to 512.
//   - A search has up to 512 bytes of text in 16 words, 16 tags, 16 attributes and 8 facets, a list of folders up to 100
//     ids and 100 paths.
//   - An asset has up to 100 tags and 1,000 attributes and is in up to 1,000 folders. A list of attributes to
//     add, set or remove has up to 1,000. A folder has up to 1,000 permissions of its own.
//   - The content of an asset has at most 256 KiB as it is sent; longer content is [ErrTooLarge].
//   - The assets that one request stores have up to 200,000 terms together; a larger request is [ErrInvalid].
//   - Attributes returns values up to Limits.PageBytes; a key with more is [ErrInvalid].
package assets
