// Package archive writes everything that the stores of a program hold into one file, and builds stores of any engine
// from it: apps with every version, tags, components, the results that are stored for idempotency keys, libraries with
// folders and assets, and reviews. It moves a program from one engine to another, and it is a backup that can be read
// without an engine.
//
//	archive.Export(ctx, archive.Stores{Apps: a.Apps(), Assets: a.Assets(), Reviews: a.Reviews()}, file)
//	archive.Import(ctx, archive.Stores{Apps: b.Apps(), Assets: b.Assets(), Reviews: b.Reviews()}, file, nil)
//
// An archive is NDJSON, with one JSON object on each line. The first line names the version of the format. Then there is
// a line for each thing. The last line has the number of lines before it and their SHA-256. Each object has one member,
// whose name says what the line is. The right column says where a line stands:
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
// Bodies, manifests and records are in an archive byte for byte as they are stored. So an export of imported stores
// gives the same archive, whatever the engines. An archive may be compressed with gzip before it is imported.
//
// The whole archive is checked before anything is written. The number of lines and the checksum show that it is as it
// was exported. The Auditors of the domains then check that the services could have written what the lines say: versions
// have no gaps, tags point to versions that exist, folders form no cycles, ordinals are in order, counts are right, and
// so on. If a rule is broken, the error is ErrDamaged with the line and the rule, and the stores stay empty. The limits
// of the services, such as the length of a title, are rules too. If the services of a program have other limits than the
// default, pass them as Options.
//
// The apps are read in one snapshot, and so is each library, and the reviews of each network. So a store may be written
// while it is exported. Between two snapshots there may be writes, though, so only a store that is not written meanwhile
// is exported as of one moment.
//
// An archive holds everything, such as e-mail addresses in reviews, and the keys that encrypt the ids and cursors of
// assets. Keep it as safe as the store itself.
//
// The feeds of changes are not in an archive. Those of the imported stores are new and empty. A cursor of a feed of the
// exported stores is ErrInvalid there, so a follower begins without a cursor, or with Now. Ids and the cursors of all other
// lists stay valid.
//
// The positions of webhooks are not in an archive. The imported store may run beside the one that was exported, and
// would repeat its deliveries. So in the imported store every webhook is new, and begins with the changes to come.
package archive
