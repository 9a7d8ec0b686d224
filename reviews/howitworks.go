package reviews

// This page lists the files, defines the words that the code uses, follows a line through a check and an import, and
// explains how reviews are erased and exported.
//
// # Files
//
// The API, from the package documentation to the records:
//
//	doc.go                              package documentation
//	service.go, session.go              Service, and a Service for one Caller
//	access.go                           the network of a request, and the right to it
//	check.go, import.go, report.go      Check and Import, and the Report of both
//	problem.go, rejects.go, redact.go   problems of a file, copies of rejected lines, reports without email addresses
//	read.go                             lists and single collections, and ReviewRecord
//	show.go                             collections as pages show them
//	statistics.go                       CollectionRecord, with the mean and the histogram of the ratings
//	export.go, delete.go                Export, Delete
//	feed.go                             Changes, Follow and Event: the feed of changes
//	rules.go, schema.go, rules.md       the rules, as a list, as a JSON Schema and as a page
//	records.go                          keys and values of what is stored
//	tally.go                            the counts of ratings
//	dimensions.go                       dimensions of a file in the order of the stored ones
//	parent.go                           the review that a reply names, in the store
//	consistency.go                      Maintenance: contradictions between records
//
// Package internal/format reads a file, from its bytes to its problems and to what an import stores. It knows no store;
// its documentation lists its files.
//
// # Words
//
// doc.go says what a record, a collection and its dimensions are.
//
//	line        a line of the file. It is long if it has more than 1 MiB (longLine).
//	block       whole lines of the file: 512 KiB, up to the end of the last line
//	job         a goroutine that checks a block
//	result      a format.Result: the problems of a line, its counts and, in an import, what to store
//	discard     skip a value, reporting only repeated names, U+0000 and halves of surrogate pairs
//	Incoming    what an import stores of a line: the collection and its accepted reviews
//	queue       the results of an importer that wait for the next transaction
//
// # A line in a check
//
//  1. Checker.Problems calls format.Checker.Read in the goroutine of the caller. pipeline.run reads a block of whole
//     lines. A job checks it while the next block is read.
//  2. lineChecker.check lets jsontext decide whether the line is JSON. If it is not, fault finds the place, and
//     rejectLine reports it.
//  3. readCollection walks over the line from left to right. collectionMember, readReview and reviewMember apply the
//     rules of each member, and report adds a problem to lineChecker.found. If reviews comes before dimensions,
//     dimensionsAhead counts the dimensions.
//  4. The job collects the Results, 256 at a time.
//  5. pipeline.drain passes the results of the jobs to format.Checker.line, in the order of the file. The Checker
//     applies the rules that span lines, sorts the problems of each line, and yields them.
//
// Memory: one block more than there are jobs, up to four times 256 results for each block, 1,000 problems in each
// lineChecker.found and in format.Checker.early, about 25 bytes for each collection of the file, and one long line with
// the ids of its reviews.
//
// # A line in an import
//
//  1. Session.Import sets Store of a format.Checker. A lineChecker then also fills an Incoming: keep adds the
//     collection, and keepReview each accepted review, both in the canonical form.
//  2. importer.add is this Store, and adds the results of lines to the queue.
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
