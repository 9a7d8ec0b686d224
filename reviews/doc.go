// Package reviews checks, imports, exports, lists and erases ratings and reviews. Its file format is NDJSON: each line is a
// JSON object, the record of one collection of reviews.
//
// Check reads a file and yields its problems. Service.Import also stores what is accepted, and Service.Export writes it back
// in the same format. Service.ListCollections and Service.ListReviews read what is stored, and Service.Delete erases it.
// Service.As returns a Session for one caller; the client of a remote service has the methods of a Session. Rules lists every
// rule of the format with an example, and rules.md beside this file is the same list to read. RecordSchema is a JSON Schema
// of the rules that such a schema can state. Rejects copies the lines that have an error, to be mended.
//
// Every stored collection belongs to a network. An import, a dry run, an export and a list read and write one network alone, so
// their answers say nothing about the reviews of another one. The same source and id in two networks are two collections. The
// caller must moderate the network as a whole, urn:<vendor>:<network>; to moderate some of its sites is not enough. A Caller
// with a malformed URN gets ErrInvalid.
//
// # Problems
//
//   - An error in a member of a collection rejects the line with all of its reviews. An error in a review rejects that
//     review. A line that is not JSON, or not UTF-8, is rejected and has one problem; it counts neither as a collection, nor
//     its reviews as reviews. Reading goes on with the next line.
//   - A problem is reported at the value that is wrong. A missing member is reported at the object that lacks it, members that
//     exclude each other at their object, and a repeated item at the item: the dimension, the review, the record.
//   - The offset of a problem is the first byte of that value. It is the first byte of the name for an unknown or repeated
//     member, of the tag for body_html, of the escape for U+0000 and for half a surrogate pair, and the byte itself if the line
//     is not JSON or not UTF-8. The pointer repeats 256 bytes of a name, and then ends that name with "…". Inside a value that
//     is refused, the pointer ends after 512 bytes.
//   - A problem has the ids of its collection and its review if they could be read, and are strings and not empty. In a line
//     that is not JSON, or has more than 256 problems, the id of the collection must stand before the problem.
//   - The value of a problem is the text at its offset: the whole JSON value or name; in body_html, the text from the tag on;
//     or the one escape that is wrong. Report.WithoutEmail removes the values that may contain an email address.
//   - The problems of a line come in the order of their offsets. If a line has more than a thousand problems, each thousand of
//     them is in this order.
//   - A value is refused if its member is unknown or repeated, or if its type is wrong. It is searched for repeated names, U+0000
//     and halves of surrogate pairs, and for nothing else. The first 4,096 unknown names of an object are compared with those
//     that follow.
//   - Only the first fault of each body_html is reported. White space inside a tag is allowed where HTML allows it. An href, an
//     imported_url and a time may have 64 KiB.
//   - A repeated id is an error also if the review or the collection that had it first was rejected. Ids are compared as the text
//     that they decode to, whatever escapes they are written with.
//
// # What is stored
//
//   - The content of a record is its members and their values. White space, the order of members and the escapes of a string are
//     not part of it: they are not kept, and changing them is no update. Whether a member is absent, null or empty is part of it.
//   - A review larger than 16 MiB is an error, and so is a collection that is larger without its reviews. The size is counted as
//     written in the file, with white space. Behind 16 MiB of a review, or of a member of a collection, the text is only checked
//     to be JSON.
//   - A collection of which every review was rejected is not made, and a stored one stays as it is. A collection that has no
//     reviews in the file is made or changed.
//   - The count and the mean of a collection are exact: every import and every deletion keeps how many reviews have each rating. A
//     list of reviews compares times as moments, in microseconds. What is finer makes no difference.
//   - Replies to an erased review become replies to its parent, or replies to none. A collection whose last review was erased stays.
//     Only another import brings anything back, also one that runs at the same time. A backup or an export that was made before
//     still has it. The SQLite store overwrites what is erased, and its DB.Vacuum also removes what is left of rows that were moved.
//     In PostgreSQL erased rows stay in the files until VACUUM FULL.
//   - An import that was killed is run again. What it has stored is unchanged then, and the report says so. There is no other
//     checkpoint that could disagree with the store.
//
// # Files of another kind
//
// A file may look like one JSON array, JSON over several lines, a table, a spreadsheet, UTF-16 or a zip archive. If no line of it
// is a record, its only problem is that it is of this kind. Up to a thousand problems wait until the first record is found. If
// there is none among these lines, the kind is reported instead of them, and problems are reported again from the first record
// on.
//
// In a file that begins with [, the first record behind a line that is a record and a comma is taken for the last element of an
// array. It does not count as a record, and is an error if another record follows. A file without lines is a warning.
//
// # Text
//
// An accepted body_html is harmless HTML. Titles, names and subparts are plain text with any characters, so escape them where they
// are shown. Only Export returns imported_email.
//
// # Errors
//
// Errors wrap ErrInvalid, ErrForbidden, ErrNotFound, ErrSpool, ErrBusy, ErrFull or ErrUnknown. For the first three, errors.As finds
// an *Error that says what is wrong and where.
package reviews
