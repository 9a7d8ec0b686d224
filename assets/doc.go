// Package assets is the asset manager: content items in libraries, searched, grouped into folders
// with permissions, and labelled with attributes.
//
// A [Service] on a [storage.Store] applies every rule. [Service.As] gives a [Session] for a [vitrine.Caller]. Its
// methods take the [Library], and return only what the caller may see. A hidden asset or folder gives the same error as
// one that does not exist.
//
//	svc := assets.New(memory.New(), nil)
//	page, err := svc.As(by).Search(ctx, lib, assets.SearchRequest{Query: "launch", Limit: 20})
//
// The client of a remote service, package adapters/client, has the methods of a Session, so a program can be written
// for both. A list comes in pages, with an iterator beside it: Search and
// AllAssets, ListFolders and AllFolders. Assets, folders, permissions, attributes, events and a
// SearchPage marshal to the JSON of the HTTP API and back.
//
// An app that shows an asset keeps what it shows, such as the URL and the text, and not the id: a page may not read
// assets.
//
// # Errors
//
// An error about a request is an [*vitrine.Error]. errors.Is finds its kind, such as [vitrine.ErrNotFound].
// errors.As finds its code, its place in the request and its sentence. The place is a JSON pointer
// into the body or the name of a query parameter, as they are over HTTP, so that a form can show
// the sentence at its field.
//
// # Who may do what
//
// Moderators of the library's network may do everything. Other members of the network, who are its
// users, may view what is open, and need a permission on a folder for everything else. There are
// three operations: view, edit and manage. Edit includes view, and manage includes both.
//
//   - A folder has its own permissions and, while it inherits, those of its parent.
//   - A folder is open if it and all folders above it inherit and none of them has a permission.
//     Every member may view it.
//   - A member may view an asset that is in no folder, or in at least one folder that is not
//     deleted and that the member may view.
//   - To change an asset takes edit on one of its folders that is not deleted. Only moderators
//     change an asset that is in no folder.
//
// [Session.Explain] says by which rule somebody may or may not do something.
//
// Nobody can gain a right by doing two allowed things one after the other:
//
//   - To put an asset into a folder takes edit on the folder and the right to change the asset. To
//     take it out of its last folder takes a moderator, since an asset in no folder is visible to
//     all members.
//   - To grant permissions takes manage on the folder. To create a folder with permissions takes
//     manage on its parent.
//   - A folder that loses its last permission also stops inheriting, so that only moderators see
//     it. Only they can make it inherit again, as nobody else may manage it. So revoking a
//     permission never makes a folder visible to more members.
//   - To move a folder takes manage on it and edit on its new parent. Only moderators move a folder
//     to the top level. A folder that moves away from folders from which it inherits permissions keeps these as its
//     own and inherits no more, unless a moderator asks for the contrary.
//   - A folder below a deleted one counts as deleted, until that one is restored. To move it out
//     and restore it in one request takes manage on each deleted folder above it too.
//   - Adding an asset that exists is [vitrine.ErrConflict] if the request names a folder that the asset is
//     not in and leaves out one that it is in. So a request that puts an asset into a new folder
//     names all folders in which its content changes. Folders that the caller may not read do not
//     count as left out. A request that puts the asset into no new folder replaces the content
//     wherever the asset is.
//
// # Search
//
// The service turns an asset into terms: one for each word of its text and of its author's names,
// and one for each folder, tag and other facet. A search is a list of sets of terms; an asset must
// have at least one term of each set. The package therefore keeps one inverted index, which knows nothing
// of words or rights. The folder tree is not part of the index, so moving, deleting or sharing a
// folder changes no asset.
//
//	page, err := svc.As(by).Search(ctx, lib, assets.SearchRequest{
//		Query:  "launch* berlin", // a word that begins with launch, and the word berlin
//		Tags:   []string{"approved"},
//		Facets: []string{"generator", "attribute:campaign"},
//	})
//
// A facet has the most frequent values of a field, 20 unless the search asks for more, among all assets that the search
// finds, on whatever page, each with its exact count. It is computed from the same index: the assets that have a term
// are intersected with those that the search finds. So it counts only assets that the caller sees. The facet of folders
// leaves out those that the caller does not see.
//
//   - Words are folded, in assets and in searches: case does not matter, and neither do diacritics of Latin, Greek and
//     Cyrillic letters, marks of Arabic and points of Hebrew ones, ligatures, and the compatible forms of Unicode, such
//     as letters of full width. The strokes of đ, ħ, ł, ø and ŧ count as diacritics, the marks of й, ў and ї do not.
//     Digits of all scripts are alike, and so are apostrophes, þ and th, ð and d, ة and ه, ى, ی and ي, ک and ك. Soft
//     hyphens, marks of direction and the skin tones of emoji are left out.
//   - mueller finds Müller, and müller finds Mueller: ä, ö, ü, ø and å have the spellings ae, oe, ue, oe and aa.
//   - Each character of Han, Hiragana and Katakana is a word of its own, and so is one of Thai, Lao, Khmer, Burmese and
//     the like, with its marks. The length mark ー counts as Katakana. An emoji is a word, and one that is joined from
//     several is found by each of them.
//   - ™, © and the like are no letters, and superscripts and subscripts end a word. C++, C# and .NET are words that c
//     and net find too.
//   - Words that a hyphen, an apostrophe or a change to superscript joins are also found as one: wifi finds wi-fi, and
//     h2o finds H₂O.
//   - "some words" in quotes are a phrase: they are adjacent in one text, in this order. A quote that is not closed
//     reaches to the end, and one behind a letter or digit begins no phrase. Words without a space between them are a
//     phrase without quotes, such as e-mail and 3.2.1, unless a comma or another separator is between them, and so is
//     a run of a script without spaces. The last word of a phrase may end in *.
//   - A word of Hangul outside of quotes stands for every word that begins so.
//   - A - at the beginning or behind a space excludes the word, the prefix or the phrase behind it, unless that is a
//     number. A query that only excludes finds all else.
//   - A query is cut after Limits.Words and Limits.Query, and SearchPage.Cut is true; one with an exclusion is
//     ErrInvalid then.
//   - The index has no places of words. It has adjacent words that are both short, as common ones are; any other phrase
//     is looked for in all assets that have its words.
//   - With Typos a word of 4 letters or more also finds words one edit away, and one of 8 letters or more also finds
//     words two edits away. Digits are no letters.
//   - In the text that is searched, the markup of an inline HTML element (<b>, <a>, <span> …) is
//     removed, and that of any other element becomes a space. So one word may be partly bold, and
//     the words of two paragraphs stay apart. The readings of ruby are words apart from their base. Scripts, styles,
//     templates, noscript and comments are no text.
//   - A word that ends in * stands for every word that begins so. It has at least two characters
//     before the *, after folding, or one of a script without spaces or of Hangul. Any other * separates
//     words: foo*bar is two words.
//   - CreatedFrom and CreatedBefore limit the search to assets that were first published in this time. A zero time
//     sets no limit. If both are given and CreatedFrom is not the earlier one, nothing is found.
//   - The order of a library is that of adding. With the Sort createdAt, a search is sorted by Asset.CreatedAt. A
//     cursor keeps the sort of its search, so the next request need not name it again; naming another one is
//     [vitrine.ErrInvalid].
//   - ForeignID finds an asset by its identity: the id of the content in the service that Generator names.
//   - Tags and keys of attributes are folded, too: Snow finds snow, and a facet counts both together, in the spelling
//     that most of the found assets have. Session.Attributes and ChangeAttributes compare them exactly.
//   - An author is compared as a whole, folded. A language includes the more special ones, as en includes en-GB, and a
//     host those below it, as example.com includes www.example.com.
//   - A facet that is asked for twice is returned once. The values of the facet "attribute" are the
//     keys of attributes.
//   - A search that takes longer than Limits.SearchTime, by default two seconds, is [vitrine.ErrBusy].
//
// # Files
//
// Session.Upload adds an asset with a file: a picture, a video, sound or a PDF. Its content is made by the service,
// with the generator files and one attachment; ChangeAssets adds no asset with this generator, and what other content
// says about a file means nothing. EditFile changes the texts, and ReplaceFile the bytes. Both want the [Asset.ETag]
// with which the caller has read the asset, so nobody overwrites what they have not seen. Everything else holds for
// these assets as for all others: folders, attributes, search, the feed, removal.
//
// Who may read an asset is decided by its folders. Its bytes are for everybody who has their address: the id in it has
// 128 random bits. Service.File returns them as long as the asset is there, and is in no folder or in one that is not
// deleted.
//
// The bytes are in the store, in chunks, or where [Options].Files keeps them. Each upload has bytes of its own, and the
// record that names them is committed last. So no reader sees a part of a file. Service.Upkeep deletes what was removed
// or replaced.
//
// # Content is not to be trusted
//
// Content comes from elsewhere. The URLs of the members that this package knows, such as attachments
// and icons, are http or https. Members that it does not know are not checked, and HTML is stored
// and returned as it was sent: whoever shows content must sanitize it first.
//
// # Changes
//
// Every request that changed something in a library has an entry in the library's feed of changes,
// an [Event], written in the transaction of the change. Session.Changes returns a page of the feed,
// and Session.Follow also waits for further entries. Both are for moderators of the network. A
// follower that resumes from a cursor sees every later change exactly once. Cursors are encrypted
// and belong to the library. Entries are kept for at least Options.KeepChanges. A cursor is
// [vitrine.ErrGone] if an entry after it was removed, or if the feed has another identity by then, as after
// a restore from a backup. A store that was built from an archive (storage/archive) has new feeds,
// in which a cursor of the exported store is ErrGone too, and [vitrine.ErrInvalid] if v0.2.0 made the archive.
//
// # Ids and cursors
//
//   - The id of an asset is its ordinal in the library, encrypted with a key of the library. An id
//     reveals nothing and is valid in its library only. Cursors of searches are made in the same
//     way.
//   - Ids of folders are the cursors of ListFolders. After and Before take the id of a folder that
//     the caller may read. Those who may manage a folder may use it as a cursor after it was
//     deleted.
//   - An empty page of a search has no cursors. Its HasPrev and HasNext say what is on either side
//     of the cursor that the request had.
//
// # Details of changes
//
//   - ChangeAssets, AssignAssets, ChangeAttributes and ChangePermissions remove first and add
//     afterwards. ChangeFolders creates, then updates, then deletes.
//   - Several items of one ChangeAssets may name the same asset. They are stored as one change. The
//     response has the asset once, where its first item stands, as it is after the last one. If
//     the first item of a new asset names no folder, only a moderator may add it.
//   - ChangeAssets, ChangeAttributes and ChangeFolders are rejected as a whole if the response has
//     more than one asset or folder and is longer than Limits.ResponseBytes.
//   - Taking an asset out of a folder that it is not in is a success, and so is putting it into one
//     that it is in.
//   - ChangeAssets sets updatedAt when it changes the content, the tags, via or the rights of an
//     asset, or puts it into another folder. A repeat that changes nothing leaves it as it is.
//     AssignAssets and ChangeAttributes never change updatedAt.
//   - An asset that a change of attributes leaves as it was has the status 200 and is not among the
//     changed assets. An attribute that is removed and added again, or set to the value it has,
//     keeps its place.
//   - ChangeAttributes and AssignAssets give the status 400 to an asset that would have too many
//     attributes or folders; ChangeAssets rejects the whole request. An asset that is over a
//     lowered limit keeps what it has.
//   - The library with the id of its network always exists. Any other one is created by the first
//     successful write of a moderator, even if that changes nothing else.
//
// # Folders and permissions
//
//   - ListFolders finds folders by their place, by a part of their label, or those that were
//     deleted. A deleted folder is listed for those who may manage it. A folder that is only below
//     a deleted one is not listed, since it is restored together with that one.
//   - A folder below a deleted one counts as deleted. Those who may manage a deleted folder can
//     read it and its permissions, and update it only if the update restores it (Deleted set to
//     false).
//   - FolderTree of a search covers every folder of the tree that the caller sees, also below a
//     hidden one. A path of ListFolders may lead through hidden folders too, and FolderPage.Ancestors has their ids.
//   - The ID of a permission to create is ignored. A permission may name a user of the network by
//     id or by URN; both mean the same user. Permissions that differ only in the names of users and
//     roles are equal. A user id has no colon, so it is never taken for a URN.
//
// # Content and limits
//
//   - The members via, rights and attributes are in an asset's JSON only if the asset has any.
//   - Optional members of content may be null. Of what services write for nothing, "" for an address or an object is
//     taken too. Both are left out, and so is an object that has nothing else. A size may be digits in a text, the
//     version of an attachment may be the number 1.0 or missing, and a type that is not one of oEmbed becomes link.
//   - Labels, tags, generator ids, attribute keys and library ids have 1 to 128 characters, foreign
//     ids 1 to 1,024, attribute values 0 to 1,024, subjects of permissions 1 to 512.
//   - A search has up to 2,000 bytes of text in 64 words, three lists of up to 16 tags, 16 attributes, 16 generators to
//     leave out, and 8 facets of up to 1,000 values. A list of folders has up to 100 ids and 100 paths. An asset is
//     found by the first 1,000 hosts that it has links to.
//   - An asset has up to 100 tags and 1,000 attributes and is in up to 1,000 folders. A list of
//     attributes to add, set or remove has up to 1,000. A folder has up to 1,000 permissions of its
//     own, and all folders of a library together 100,000; more is [vitrine.ErrTooLarge].
//   - The content of an asset has at most 256 KiB as it is sent; longer content is [vitrine.ErrTooLarge].
//   - A file has up to 64 MiB, and the files of a network have up to 10 GB together. Bytes of uploads that have failed
//     do not count.
//   - The assets that one request stores have up to 200,000 terms together; a larger request is
//     [vitrine.ErrInvalid].
//   - A request has up to 1,000 items of assets, folders or permissions, or 5,000 ids of assets to
//     assign or to label, its lists together. A library has up to 10,000 folders, counting deleted
//     ones. A search finds an asset by the first 20,000 words of its text.
//   - A caller makes one large change at a time, of more than 256 items or 1 MiB of content. Others
//     of the same caller wait for it.
//   - Attributes returns values up to Limits.ResponseBytes; a key with more is [vitrine.ErrInvalid].
//   - These bounds are the defaults of [Limits], which may be lowered later. What is stored over a
//     limit can still be read, reduced and replaced by as much, but it cannot grow. Only a library
//     whose id is longer than Limits.Name cannot be used.
package assets
