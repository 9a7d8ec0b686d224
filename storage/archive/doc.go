// Package archive moves all that stores hold from one engine to another, and is a backup that no
// engine is needed to read: apps with every version, tags, components, answers kept for repeats,
// libraries with folders and assets, and reviews.
//
//	archive.Export(ctx, archive.Stores{Apps: a.Apps(), Assets: a.Assets(), Reviews: a.Reviews()}, file)
//	archive.Import(ctx, archive.Stores{Apps: b.Apps(), Assets: b.Assets(), Reviews: b.Reviews()}, file, nil)
//
// An archive is NDJSON: a line that names the format, a line for each thing, and a last line with
// the number of lines before it and their SHA-256. Each line is an object with one member, which
// says what it is:
//
//	{"vitrine":2}
//	{"component":{"id":…,"name":…,"version":…,"main":…,"manifest":{…}}}    by name, then as added
//	{"version":{"app":…,"version":0,"owner":…,"createdAt":…,"body":{…},…}} by app, then upwards
//	{"version":{…,"restoredFrom":3,"body":{…}}}                            one that Restore made
//	{"tag":{"app":…,"name":…,"version":3}}                                 behind the versions of its app
//	{"move":{"app":…,"tag":…,"number":2,"at":…,"by":…,"from":1,"to":3}}    behind the tags of its app, by tag, then upwards
//	{"answer":{"by":…,"key":…,"request":"base64",…}}                       by caller and key
//	{"library":{"network":…,"id":…,"key":"base64",…}}
//	{"folder":{"id":…,"parent":…,"label":…,"permissions":[…]}}             of the library above
//	{"asset":{"ordinal":1,"origin":"base64","folders":[…],"body":{…}}}     of the library above, as added
//	{"collection":{"network":…,"source":…,"id":…,"tally":"base64",…}}      by network, then as added
//	{"review":{"id":…,"data":{…}}}                                         of the collection above
//	{"end":{"lines":17,"sha256":"…"}}
//
// The first version of the format, {"vitrine":1}, is read as well. Its collections have no network, and
// go into reviews.DefaultNetwork.
//
// Bodies, manifests and records stand in it byte for byte as they are stored, so exporting what was
// imported gives the same archive, whatever the engines. Importing accepts it gzipped too.
//
// An archive is checked whole before anything is written: that it is as it was exported, and that its
// lines make up a store that the services could have written. The latter are the domains' own rules, in
// their Auditors: versions without gaps, tags of versions that exist, folders without circles, ordinals in
// their order, counts that are those of the rows, and all others. One that breaks a rule is ErrDamaged with the
// line and the rule, and the stores stay empty. The limits of services, such as the length of a title,
// are rules too: give those of a Service that has others than the default as Options.
//
// The apps are those of one moment, each library is, and so are the reviews of each network: an
// archive of a store that is written to meanwhile is sound, and one of a store at rest is the store. An
// archive holds everything, imported e-mail addresses and the keys that cursors are sealed with
// included: treat it like the store itself.
//
// The positions of webhooks are not in it: an imported store may be beside the one that was exported, and would repeat
// its deliveries. There every webhook is new, and begins with the changes that come.
package archive
