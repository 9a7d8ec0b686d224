// Package archive moves all that stores hold from one engine to another, and is a backup that no
// engine is needed to read: apps with every version, tags, components, answers kept for repeats,
// libraries with folders and assets, and reviews.
//
//	archive.Export(ctx, archive.Stores{Apps: a.Apps(), Assets: a.Assets(), Reviews: a.Reviews()}, file)
//	archive.Import(ctx, archive.Stores{Apps: b.Apps(), Assets: b.Assets(), Reviews: b.Reviews()}, file)
//
// An archive is NDJSON: a line that names the format, a line for each thing, and a last line with
// the number of lines before it and their SHA-256. Each line is an object with one member, which
// says what it is:
//
//	{"vitrine":1}
//	{"component":{"id":…,"name":…,"version":…,"main":…,"manifest":{…}}}    by name, then as added
//	{"version":{"app":…,"version":0,"owner":…,"createdAt":…,"body":{…},…}} by app, then upwards
//	{"tag":{"app":…,"name":…,"version":3}}                                 behind the versions of its app
//	{"answer":{"by":…,"key":…,"request":"base64",…}}                       by caller and key
//	{"library":{"network":…,"id":…,"key":"base64",…}}
//	{"folder":{"id":…,"parent":…,"label":…,"permissions":[…]}}             of the library above
//	{"asset":{"ordinal":1,"origin":"base64","folders":[…],"body":{…}}}     of the library above, as added
//	{"collection":{"source":…,"id":…,"tally":"base64","fields":{…}}}
//	{"review":{"id":…,"data":{…}}}                                         of the collection above
//	{"end":{"lines":17,"sha256":"…"}}
//
// Bodies, manifests and records stand in it byte for byte as they are stored, so exporting what was
// imported gives the same archive, whatever the engines. Importing accepts it gzipped too.
//
// The apps are those of one moment, each library is, and so are the reviews: an archive of a store
// that is written to meanwhile is sound, and one of a store at rest is the store. An archive holds
// everything, imported e-mail addresses and the keys that cursors are sealed with included: treat
// it like the store itself.
package archive
