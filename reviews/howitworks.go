package reviews

// This page lists the files, defines the words that the code uses, follows a line through a check and an import, and
// explains how reviews are erased and exported.
//
// # Files
//
// The API, from the package documentation to the records:
//
//	doc.go, errors.go                   package documentation, errors
//	service.go, session.go              Service, and a Service for one Caller
//	access.go                           the network of a request, and the right to it
//	check.go, import.go, report.go      Check and Import, and the Report of both
//	problem.go, rejects.go, email.go    problems of a file, copies of rejected lines, reports without email addresses
//	read.go                             lists and single collections, and ReviewRecord
//	show.go                             collections as pages show them
//	statistics.go                       CollectionRecord, with the mean and the histogram of the ratings
//	export.go, delete.go                Export, Delete
//	feed.go                             Changes, Follow and Event: the feed of changes
//	rules.go, schema.go, rules.md       the rules, as a list, as a JSON Schema and as a page
//	records.go                          keys and values of what is stored
//	consistency.go                      Maintenance: contradictions between records
//
// Reading a file, from its bytes to what is stored:
//
//	lines.go, filekind.go               blocks of lines; files that are compressed or no NDJSON
//	pipeline.go                         the goroutines that check blocks
//	linechecker.go                      the rules of one line: JSON, objects, discarded values
//	collectioncheck.go, reviewcheck.go  the members of a collection and of a review
//	values.go, htmlcheck.go,            the values of members
//	timestamp.go, fieldformats.go
//	jsonscan.go                         strings and their escapes, the end of a value, the text that a problem shows
//	filechecker.go                      the rules that span lines
//	incoming.go, tally.go               what is stored of a line, and the counts of ratings
//	dimensions.go                       dimensions of a file in the order of the stored ones
//	parent.go                           the review that a reply names, in the store
//
// # Words
//
// doc.go says what a record, a collection and its dimensions are.
//
//	line        a line of the file. It is long if it has more than 1 MiB (longLine).
//	block       whole lines of the file: 512 KiB, up to the end of the last line
//	job         a goroutine that checks a block
//	result      a lineResult: the problems of a line, its counts and, in an import, what to store
//	discard     skip a value, reporting only repeated names, U+0000 and halves of surrogate pairs
//	incoming    what an import stores of a line: the collection and its accepted reviews
//	queue       the results of an importer that wait for the next transaction
//
// # A line in a check
//
//  1. Checker.Problems calls pipeline.run in the goroutine of the caller. lines.next reads a block of whole lines. A
//     job checks it while the next block is read.
//  2. lineChecker.check lets jsontext decide whether the line is JSON. If it is not, fault finds the place, and
//     rejectLine reports it.
//  3. readCollection walks over the line from left to right. collectionMember, readReview and reviewMember apply the
//     rules of each member, and report adds a problem to lineChecker.found. If reviews comes before dimensions,
//     dimensionsAhead counts the dimensions.
//  4. The job collects the lineResults, 256 at a time.
//  5. pipeline.drain passes the results of the jobs to fileChecker.line, in the order of the file. The fileChecker
//     applies the rules that span lines, sorts the problems of each line, and yields them.
//
// Memory: one block more than there are jobs, up to four times 256 results for each block, 1,000 problems in each
// lineChecker.found and in fileChecker.early, about 25 bytes for each collection of the file, and one long line with
// the ids of its reviews.
//
// # A line in an import
//
//  1. Session.Import creates a pipeline with forImport set. A lineChecker then also fills an incoming: keep adds the
//     collection, and keepReview each accepted review, both in the canonical form.
//  2. importer.add is fileChecker.store, and adds the results of lines to the queue.
//  3. At 1 MiB or 1,000 entries, commit stores the queue in one transaction, in the goroutine of Import: it reads all
//     collections of the queue at once, and the stored ones of their reviews, and writes the differences. Meanwhile the
//     jobs continue until their channels are full. Import commits the rest at the end of the file.
//
// # Reviews of an author in Delete
//
//  1. eraser.find searches the collections in a View, 1,000 at a time, and reads their reviews. A View blocks no
//     writer. It ends with the collection in which 1,000 reviews of the author are reached.
//  2. eraser.erase erases these in one Update. It checks again whether each review is the author's, since an import may
//     have replaced it.
//  3. eraser.reviews subtracts the ratings from the tally. reparent finds the replies to erased reviews, and gives them
//     another parent.
//  4. The next round begins after that collection, until there are no more. The error of an Update ends Delete; what
//     earlier Updates have erased stays erased, and is counted.
//  5. scrub removes the remains of the erased records from the files of the store.
//
// A dry run takes the same steps in Views, and writes nothing.
//
// # A collection in Export
//
//  1. Export opens one View, which is a snapshot of the network, and writes a line for each collection.
//  2. exportCollection writes the stored bytes of the collection and of its reviews, with brackets and commas around
//     them. Nothing is decoded. rows.inOrder has the order, with parents before their replies.
//
// Memory: 256 reviews of up to 16 KiB or one longer one, a buffer of 64 KiB, and the ids of all reviews of the
// collection.
