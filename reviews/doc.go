// Package reviews checks, imports, exports, lists and erases ratings and reviews. Its file format is NDJSON: each line
// is a JSON object, the record of one collection of reviews. A collection has the reviews of one article on one site.
// This is a record, written here on several lines:
//
//	{
//	  "source": "example.test",           the site that the reviews come from
//	  "id": "bGFtcA==",                   the id of the article there, as Base64
//	  "title": "A lamp",
//	  "created": "2019-01-01T00:00:00Z",
//	  "dimensions": ["price", "quality"], what is rated; ["default"] if there is one rating alone
//	  "reviews": [{
//	    "id": "1",
//	    "title": "Bright",
//	    "body_html": "<p>Very bright.</p>",
//	    "created": "2019-02-03T04:05:06Z",
//	    "ratings": [80, 65],              one for each dimension, each an integer from 1 to 100
//	    "author_id": "7"                  or imported_display_name, for an author without a user profile
//	  }]
//	}
//
// Further members of a review are optional: imported_email and imported_url of an author without a profile, subparts
// for extra data, and parent_id for the review that this one replies to.
//
// The functions and methods are:
//
//   - Check reads a file and yields its problems. It needs no store.
//   - Session.Import applies the same rules, and stores what is accepted. Session.Export writes it back in the same
//     format.
//   - Session.ListCollections and Session.ListReviews read what is stored, and Session.Delete erases it.
//   - Session.Show reads what a web page shows of a collection, for callers who may read nothing else.
//   - Session.Changes reads the feed of changes of a network, and Session.Follow waits for more.
//   - Service.As returns a Session for one caller. The client of a remote service has the methods of a Session.
//   - Rules lists every rule of the format with an example. The file rules.md of this package shows the same list.
//   - RecordSchema returns a JSON Schema of the rules that such a schema can state.
//   - Rejects copies the lines that have an error to another file, where people correct them.
//
// Package convert, below this one, makes the format of tables that shops export.
//
// Every stored collection belongs to a network. Every import, dry run, export, list and deletion works in one network
// alone, so its result says nothing about the reviews of another one. The same source and id in two networks are two
// collections. The caller must moderate the network as a whole, urn:<vendor>:<network>, or be an operator
// (Caller.Operator); to moderate some of its sites is not enough. Unless it is an operator, a Caller with TagsOnly gets
// ErrForbidden, and one with a malformed URN gets ErrInvalid.
//
// # Problems
//
//   - An error in a member of a collection rejects the line with all of its reviews. An error in a review rejects that
//     review. A line that is not JSON, not UTF-8, nested deeper than 64 levels, or longer than 32 MiB, is rejected and
//     has that one problem. Such a line is not counted as a collection, and its reviews are not counted. Reading goes
//     on with the next line.
//   - A problem is reported at the value that is wrong. A missing member is reported at the object that lacks it,
//     members that exclude each other at their object, and a repeated item at the item: the dimension, the review, the
//     record.
//   - The offset of a problem is the first byte of that value. It is the first byte of the name for an unknown or
//     repeated member, of the tag for body_html, of the escape for U+0000 and for half a surrogate pair, and the byte
//     itself if the line is not JSON or not UTF-8.
//   - The pointer of a problem shows at most 256 bytes of a name. A longer name is cut and ends with "…". A pointer of
//     512 bytes gets no further name: a problem deeper inside has the pointer of a value around it.
//   - A problem has the ids of its collection and its review if these are strings and are not empty. The problem that a
//     line is not JSON has the id of the collection if that comes before it, but no id of a review.
//   - The value of a problem is the text at its offset: the whole JSON value or name; in body_html, the text from the
//     tag on; or the one escape that is wrong. At most 80 characters of it are given. It is empty where a member is
//     missing, where a line is not JSON, and where the problem is about the file. Report.WithoutEmail removes the
//     values that may contain an email address.
//   - The problems of a line come in the order of their offsets. If a line has more than a thousand problems, each
//     thousand of them is in this order.
//   - A value is rejected if its member is unknown or repeated, or if its type is wrong. It is searched for repeated
//     names, U+0000 and halves of surrogate pairs, and for nothing else. Repeated names are found among the first 4,096
//     different unknown names of an object; a later name is compared with these alone.
//   - The rule body-html reports only the first fault of each text. White space inside a tag is allowed where HTML
//     allows it. An href, an imported_url and a time may have 64 KiB.
//   - A repeated id is an error also if the review or the collection that had it first was rejected, unless the line of
//     the first was not JSON. Ids are compared as the text that they decode to, whatever escapes they are written with.
//
// # Warnings about the whole file
//
// Some mistakes break no rule of a value, and show in the file as a whole. A warning rejects nothing. Each of these
// rules gives one warning for a file, after all other problems, once the file was read to its end:
//
//   - scale: the file has 20 ratings or more, and none above 10. They may be stars: 1 to 5 become 20 to 100.
//   - id-text: an id of a collection decodes to bytes that are not printable UTF-8. Then it was probably not encoded:
//     kettle and 8812 are valid Base64 by chance.
//   - created-future: a time is more than 14 hours after the clock (ReadOptions.Now). A local time may be so far ahead
//     of UTC.
//   - email: an imported_email is neither empty nor null, and does not look like an email address.
//   - overwrite: an import, or a dry run, changes more than half of the reviews that were stored in the network. It is
//     compared with the network as a whole, so a network with one review has this warning if the file changes that
//     review.
//
// A warning of id-text, created-future or email is at the first such value of the file, and its message has the number
// of them. The other two are at line 1.
//
// # What is stored
//
//   - The content of a record is its members and their values. White space, the order of members and the escapes of a
//     string are not part of it: they are not kept, and changing them is no update. Whether a member is absent, null or
//     empty is part of it.
//   - A line is stored in one transaction. A transaction stores lines of up to about 1 MiB together.
//   - A collection of which every review was rejected is not made, and a stored one stays as it is. A collection that
//     has no reviews in the file is made or changed.
//   - A stored collection keeps the order of its dimensions. A file may have the same dimensions in another order: the
//     ratings of its reviews go by the names, and importing it again changes nothing. Other names are an error
//     (stored-dimensions) as long as the collection has reviews.
//   - The count of a collection is exact, and so is its mean before it is rounded to two decimals: every import and
//     every deletion updates the number of reviews with each rating. A list of reviews compares times as moments, in
//     microseconds. What is finer makes no difference.
//   - Replies to an erased review become replies to its parent, or stop being replies if it had none. A collection
//     whose last review was erased stays. An erased review comes back only if it is imported again, which an import
//     that runs at the same time may do. A backup or an export that was made before still has it. The files of a SQLite
//     store have no byte of it when Delete returns nil; if somebody reads from the log of the store for a minute,
//     Delete returns ErrCopies, and the same request removes the rest later. In PostgreSQL, erased rows may stay in the
//     files until vacuum has removed them, and parts of their bytes until VACUUM FULL.
//   - Every transaction of an import or a deletion that changed something has one entry in the feed of changes of the
//     network, written in the same transaction. It names collections and counts reviews, and has nothing of a single
//     review or its author. So the feed has the source and the id of a collection also after that was erased, for
//     Options.KeepChanges.
//   - An import that was killed is repeated from the beginning of the file. It reports what is stored already as
//     unchanged, and stores the rest. The store is the only checkpoint, so there is no other record of progress that
//     could disagree with it.
//
// # Files of another kind
//
// A file may look like one JSON array, JSON over several lines or a table. If no line of it is a record, its only
// problem is that it is of this kind (rule file-kind): a table of a million lines has one problem, and not a million.
// The same is said of a file in a binary form: a zip or tar archive, a spreadsheet, UTF-16, a file that is compressed
// with something else than gzip. No line of it is a record, also if it looks like one: an archive that does not
// compress has the lines of its files as they are.
//
// So the problems of a file of text wait until the first record is found, and are reported then. If a thousand of them
// wait and no record was found, file-kind is reported in their place. Problems that follow are dropped until there is a
// record, and reported from there on.
//
// A JSON array may have an element on each line, with a comma after every element but the last. The last element alone
// looks like a record of NDJSON. So in a file that begins with [, the first record after a line that is a JSON value
// and a comma does not count as a record. If a further record follows, the file is no JSON array, and the line that did
// not count is an error. It is reported unless file-kind was reported before.
//
// A file that is empty, or has only blank lines, gets the warning file-empty.
//
// # Text
//
// An accepted body_html is harmless HTML. Titles, names and subparts are plain text with any characters, so escape them
// where they are shown. Only Export returns imported_email.
//
// # Errors
//
// Errors wrap ErrInvalid, ErrForbidden, ErrNotFound, ErrBusy, ErrFull or ErrUnknown of package vitrine, or its
// ErrClosed if the store was closed. For the first three, errors.As finds a [*vitrine.Error] that says what is wrong
// and where. Errors of reading a file, of writing to one, and of a context are returned as they are. A fault in the
// text of a file is a Problem and not an error: the check or the import goes on.
package reviews
