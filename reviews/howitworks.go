package reviews

// This page says what is in which file and defines the words that the code uses. Then it follows a line through the code, in a check
// and in an import, and says how reviews are erased and exported.
//
// # Files
//
// What a program uses, from the package documentation to the records:
//
//	doc.go, errors.go                   what is promised, what goes wrong
//	service.go, session.go              Service, and a Service for one Caller
//	access.go                           the network of a request, and the right to it
//	check.go, import.go, report.go      Check and Import, and the Report of both
//	problem.go, rejects.go, email.go    what is wrong in a file, the lines that have errors, reports without email addresses
//	read.go                             lists and single collections, and ReviewRecord
//	show.go                             collections as pages show them
//	statistics.go                       CollectionRecord, with the mean and the histogram of the ratings
//	export.go, delete.go                Export, Delete
//	rules.go, schema.go, rules.md       the rules, as a list, as a JSON Schema and as a page
//	records.go                          what is stored, as keys and values
//	audit.go                            what is wrong with what is stored
//	importold.go                        archives of before
//
// How a file is read, from its bytes to what is stored:
//
//	lines.go, filekind.go               blocks of lines; files that are compressed or no NDJSON
//	pipeline.go                         the goroutines that check blocks
//	linechecker.go                      the rules of one line: whether it is JSON, objects, values that are refused
//	collectioncheck.go, reviewcheck.go  the members of a collection and of a review
//	values.go, html.go, timestamp.go,   the values of members
//	address.go
//	json.go                             strings and their escapes, the end of a value, the text that a problem shows
//	filechecker.go                      the rules that span lines
//	incoming.go, tally.go               what is stored of a line, and the counts of ratings
//	dimensions.go                       dimensions of a file in the order of the stored ones
//	parent.go                           the review that a reply names, in the store
//
// # Words
//
//	line        a line of the file. It is long if it has more bytes than a block is read of at once.
//	record      the JSON object of a line: one collection with its reviews. doc.go shows one.
//	collection  the reviews of one article on one site, with a title and dimensions. In the code, mostly its members but reviews.
//	dimensions  the member of a collection that names what its reviews rate, such as price and quality
//	block       whole lines of the file: 512 KiB, and what the last of these lines has behind that
//	job         a goroutine that checks a block
//	result      a lineResult: the problems of a line, its counts and, in an import, what is to be stored of it
//	discard     to read a refused value, looking only for repeated names, U+0000 and halves of surrogate pairs
//	incoming    what is to be stored of a line: the collection and its accepted reviews
//	queue       the results of an importer that wait for the next transaction
//
// # A line in a check
//
//  1. Checker.Problems calls pipeline.run in the goroutine of the caller. lines.next reads a block of whole lines, and a job checks it
//     while the next one is read. The last line of a block is read to its end, however long it is.
//  2. lineChecker.check has jsontext say whether the line is JSON. If it is not, fault finds out where, and refuse reports that.
//  3. readCollection walks over the line from left to right. collectionMember, readReview and reviewMember apply the rules of what they meet,
//     and report adds a problem to lineChecker.found. If the member reviews comes before dimensions, dimensionsAhead counts these.
//  4. The job collects the lineResults, 256 at a time.
//  5. pipeline.drain hands the results of the jobs to fileChecker.line, in the order of the file. The fileChecker applies the rules that span
//     lines, puts the problems of each line in order, and yields them.
//
// Memory: a block more than there are jobs, up to four times 256 results for each block, 1,000 problems in each lineChecker.found and in
// fileChecker.early, some 25 bytes for each collection of the file, and one long line with the ids of its reviews.
//
// # A line in an import
//
//  1. Service.Import makes a pipeline with forImport set. So a lineChecker also fills an incoming: keep adds the collection, and
//     keepReview each accepted review, both in the canonical form.
//  2. importer.add is fileChecker.store, and adds the results of lines to the queue.
//  3. At 1 MiB or 1,000 entries, commit stores the queue in one transaction, in the goroutine that has called Import: it reads all
//     collections of the queue at once, and of those that are stored the reviews that the lines have, and puts what differs.
//     The jobs go on until their channels are full. Import commits the rest at the end of the file.
//
// # Reviews of an author in Delete
//
//  1. eraser.find looks through the collections in a View, 1,000 at a time, and reads their reviews. A View keeps no writer
//     waiting, however long this takes. It ends at the collection with which 1,000 reviews of the author were found.
//  2. eraser.erase erases these in one Update. It asks each review again whether it is the author's, since an import may have
//     replaced it meanwhile.
//  3. eraser.reviews subtracts the ratings from the tally. reparent looks for replies to what is erased, and gives them another
//     parent.
//  4. All of this is repeated after that collection, until there are no more. The error of an Update ends Delete; what the
//     Updates before it have erased stays erased, and is counted.
//  5. scrub removes what is left of the erased records in the files of the store.
//
// A dry run takes the same steps in Views, and writes nothing.
//
// # A collection in Export
//
//  1. Export opens one View, which is one moment of the network, and writes a line for each collection.
//  2. exportCollection writes the stored bytes of the collection and of its reviews, with brackets and commas around them.
//     Nothing is decoded. rows.inOrder says in which order, with parents before their replies.
//
// Memory: 256 reviews of up to 16 KiB or one longer one, a buffer of 64 KiB, and the ids of all reviews of the collection.
