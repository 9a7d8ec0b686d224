// Package assets is the asset manager: content items in libraries, searched, grouped into folders
// with permissions, and labelled with attributes (contract, sections 2.5 to 2.11 and 4.2).
//
// A [Service] on a [Store] holds every rule. A method takes who asks, a [Caller], and which
// [Library], and answers what that caller may see of it, and nothing else: what is hidden reads
// like what is absent.
//
//	svc := assets.New(memory.NewAssets(), nil)
//	page, err := svc.Search(ctx, by, lib, assets.Search{Query: "launch", Limit: 20})
//
// # Who may do what
//
// Moderators of the library's network may do everything. Other members act by permissions on
// folders, from view over edit to manage. A folder's permissions are its own and, while it inherits,
// those of its parent. A folder is open to every member when the whole way up inherits and holds
// no permission. An asset is visible when it is in no folder, or in one that is visible.
// [Service.Explain] says why a caller may or may not do something.
//
// # Search
//
// The service turns an asset into terms: one for each word of its text and its author's names, one
// for each folder, tag and other facet. A search is a list of sets of terms, of each of which an
// asset must have one. So a driver keeps one inverted index and knows nothing of words or rights;
// and since the tree is not part of the index, moving, deleting or sharing a folder changes no asset.
//
// # Content is not to be trusted
//
// Content comes from elsewhere. URLs in it are http or https, but its HTML is stored and answered as
// it was sent: whoever shows it must clean it first.
//
// # Decisions
//
// Where the contract is silent:
//
//   - Ids of assets are their place in the library, enciphered under a key of the library: they tell
//     nothing, and are good in that library alone. Cursors are made alike.
//   - A request body's lists are worked off in this order: removals before additions in ChangeAssets,
//     AssignAssets, ChangeAttributes and ChangePermissions; create, update, delete in ChangeFolders.
//   - The answer to ChangeAssets has each asset once, at its first mention, as it is after the last one. All
//     mentions of one asset are stored as one change; whether it needs a folder is judged by the first.
//   - A change of assets, attributes or folders whose answer would be longer than Limits.PageBytes is refused as a
//     whole, unless it is of one item only.
//   - A repeat that changes nothing leaves updatedAt alone; so does a change of folders or attributes,
//     which are not the content.
//   - via, rights and attributes stand in an asset's answer where it has any.
//   - A folder below a deleted one reads as deleted. A deleted folder can be read, with its permissions,
//     by those who may manage it, and be updated only if the update brings it back with deleted:false.
//   - folderTree finds what is in any folder of the tree that the caller sees, also where one between
//     is hidden. A path of ListFolders likewise leads through hidden folders to those that are seen.
//   - Since and Until of ListFolders name a folder that the caller may read; one deleted meanwhile will do
//     for those who may manage it.
//   - An empty page has no cursors; hasPrev and hasNext say what is on both sides of the one it was asked with.
//   - An id given for a permission to create has no effect. Permissions granted with a new folder are limited
//     by what the caller holds on its parent. A user is the same under the id and the URN, and names of
//     users and roles do not make permissions different.
//   - In a text, tags that stand inside a line (<b>, <a>, <span> …) leave nothing behind, all others a
//     space. Strokes count as diacritics (ł, ø, đ …), and the length mark ー as Katakana.
//   - Characters: labels, tags, generator ids, attribute keys and library ids have 1 to 128, foreign ids 1 to
//     1,024, attribute values 0 to 1,024, what a permission names 1 to 512. An asset has up to 100
//     tags and 1,000 attributes, and is in up to 1,000 folders; a list of attributes to add, set or remove has
//     up to 1,000; a folder has up to 1,000 permissions of its own.
//   - One request stores assets with up to 200,000 terms together: what more asks for is 400 as a whole.
//   - The values of an attribute's key are answered up to Limits.PageBytes; of more the key is 400.
//   - An asset that a change of attributes leaves as it was has status 200 and is not among the assets.
//     One that is removed and added, or set to what it is, is left as it was, in its place too.
//   - A library begins with any write of a moderator that is answered with success, also one of nothing.
//   - What would take an asset over its attributes or folders is 400 for that asset alone in ChangeAttributes
//     and AssignAssets, and for the whole request in ChangeAssets. An asset that is over them keeps what it has.
//   - A tag has no comma: a search is given tags joined by commas.
//   - Optional members of content may be null.
package assets
