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
//	go doc assets.Session               who may do what
//	go doc assets.SearchRequest         words, phrases, facets: what a search finds
//	go doc assets.ChangeAssetsRequest   adding, changing and removing assets
//	go doc assets.UploadRequest         pictures and other files, and where their bytes are
//	go doc assets.Folder                folders and their permissions
//	go doc assets.Library               libraries, ids and cursors
//	go doc assets.Options               what a program sets, and its rules: Check
//	go doc assets.Event                 the feed of changes, and vitrine.Follow: who follows it
//	go doc assets.Limits                what the service accepts
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
// # Content is not to be trusted
//
// Content comes from elsewhere. The URLs of the members that this package knows, such as attachments
// and icons, are http or https. Members that it does not know are not checked, and HTML is stored
// and returned as it was sent: whoever shows content must sanitize it first.
package assets
