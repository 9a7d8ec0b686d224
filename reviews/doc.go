// Package reviews checks, imports and exports ratings and reviews in the format of the contract,
// section 4.3: NDJSON, one collection of reviews a line.
//
// Check reads a file and yields what is wrong with it, Service.Import stores what is accepted as
// well, Service.Export writes it back. Rules lists every rule, rules.md beside this file is the
// same list to read, and RecordSchema is the part of it that a JSON Schema can state.
//
// What the contract leaves open is decided so:
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
//   - The problems of a line come in the order of their offsets. Of a line with more than a thousand, each
//     thousand is put in order by itself.
//   - A value that is refused, because its member is unknown or repeated or its type is wrong, is
//     looked into for repeated names, U+0000 and halves of surrogate pairs, and for nothing else.
//   - Of each body_html the first fault is reported. White space inside tags is allowed where HTML
//     has it. An href, an imported_url and a time are looked at up to 64 KiB and refused beyond.
//   - A repeated id is an error also when the review or the collection that had it first was
//     rejected, and ids count as the text they decode to, whatever escapes they are written with.
//   - The content of a record is its members and values. White space, the order of members and the
//     way a string is escaped are not part of it: they are neither an update nor kept. Whether a
//     member is absent, null or empty is.
//   - A review of more than 16 MiB, or a collection of more without its reviews, is an error: so much
//     is stored of one. It counts as written in the file, white space included.
//   - An import that was killed is run again. What it stored before is unchanged then, and its
//     report says so; there is no other checkpoint that could disagree with the store.
//
// body_html is accepted as harmless HTML. Titles, names and subparts are plain text and may hold
// anything: escape them where they are shown. imported_email leaves by Export only.
//
// Errors wrap ErrForbidden, ErrNotFound, ErrBusy, ErrFull and ErrUnknown.
package reviews
