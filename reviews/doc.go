// Package reviews checks, imports and exports ratings and reviews in a format of its own: NDJSON, one
// collection of reviews a line.
//
// Check reads a file and yields what is wrong with it, Service.Import stores what is accepted as
// well, Service.Export writes it back. Service.ListCollections and ListReviews read what is stored, and Service.Delete
// erases it. Service.As binds a caller; the client of a remote service has the methods of the Session that it returns.
// Rules lists every rule with an example, rules.md beside this file is the same list to read, and RecordSchema is the part of
// it that a JSON Schema can state. Rejects copies the lines that had an error, to be mended.
//
// Every stored collection belongs to a network, and nothing crosses: an import, a dry run, an export
// and the counts of one network read and write that network alone, so that nobody learns from their
// answers what another one holds. The same source and id in two networks are two collections. The
// caller must moderate the network as a whole, urn:<vendor>:<network>; moderating some of its sites is
// not enough, and a malformed URN in a caller is ErrInvalid, never a right.
//
// The details of the format:
//
//   - An error in a member of a collection rejects the line with all its reviews, one in a review
//     that review. A line that is no JSON, or no UTF-8, is rejected, reported once, and counts neither
//     as a collection nor its reviews as reviews; reading goes on with the next.
//   - A problem names the value that is wrong. A missing member is reported at the object that
//     lacks it, members that exclude each other at their object, a repeated item at the item:
//     the dimension, the review, the record. Its offset is the first byte of that value; of the
//     name for an unknown or repeated member, of the tag for body_html, of the escape for U+0000 and
//     half a surrogate pair, of the byte itself where the line is no JSON or no UTF-8. The pointer
//     repeats no more than 256 bytes of a name, and then ends that name with "…"; nor does it go on
//     after 512 bytes inside a value that is refused.
//   - A problem has the ids of its collection and review where they could be read: they are strings and
//     not empty. In a line that is not JSON, or has more than 256 problems, the id of the collection must come before
//     the problem.
//   - Its value is the text at its offset: the whole JSON value or name, in body_html the text from the tag on, or the
//     one escape that is wrong. Report.WithoutEmail removes the values that may contain an email
//     address.
//   - The problems of a line come in the order of their offsets. Of a line with more than a thousand, each
//     thousand is put in order by itself.
//   - A value that is refused, because its member is unknown or repeated or its type is wrong, is
//     looked into for repeated names, U+0000 and halves of surrogate pairs, and for nothing else. The
//     first 4,096 unknown names of an object are compared with those that follow.
//   - Of each body_html the first fault is reported. White space inside tags is allowed where HTML
//     has it. An href, an imported_url and a time are looked at up to 64 KiB and refused beyond.
//   - A repeated id is an error also when the review or the collection that had it first was
//     rejected, and ids count as the text they decode to, whatever escapes they are written with.
//   - The content of a record is its members and values. White space, the order of members and the
//     way a string is escaped are not part of it: they are neither an update nor kept. Whether a
//     member is absent, null or empty is.
//   - A review larger than 16 MiB is an error, and so is a collection that is larger without its reviews. The size
//     is counted as written in the file, white space included. Beyond 16 MiB of a review, or of a member of a
//     collection, the text is only checked to be JSON.
//   - A collection of which every review was rejected is not made, and one that is stored stays as it is. A
//     collection that has no reviews in the file is made, or changed.
//   - A file that looks like one JSON array, JSON over several lines, a table, a spreadsheet, UTF-16 or a zip archive is
//     one error of its kind, until a line is a valid record. In a file that begins with [, the
//     first record behind a line that is a record and a comma is taken for the last element of the array: it does not count
//     as a record, and is an error if others follow. Up to a thousand problems are held back until then. If none of these lines is a record, only
//     the kind of the file is reported, and problems are reported again from the first record on. A file without lines
//     is a warning.
//   - The count and the mean of a collection are exact: every import and every deletion keeps how many reviews have
//     each rating. A list of reviews compares times as moments, in microseconds; what is finer makes no difference.
//   - Replies to an erased review become replies to its parent, or replies to none. A
//     collection that lost its last review stays. Only another import brings anything back, also one that runs meanwhile.
//     A backup or an export that was made before keeps what it has. The SQLite store overwrites what is erased; its DB.Vacuum
//     also removes what is left of rows that were moved. In PostgreSQL erased rows stay in the files until VACUUM FULL.
//   - An import that was killed is run again. What it stored before is unchanged then, and its
//     report says so; there is no other checkpoint that could disagree with the store.
//
// body_html is accepted as harmless HTML. Titles, names and subparts are plain text and may hold
// anything: escape them where they are shown. imported_email leaves by Export only.
//
// Errors wrap ErrInvalid, ErrForbidden, ErrNotFound, ErrBusy, ErrFull and ErrUnknown. Of the first three,
// errors.As finds an *Error that says what is wrong and where.
package reviews
