package reviews

// This page says what is in which file and defines the words that the code uses. Then it follows three lines through the code:
// a short one in a check, a short one in an import, and a long one in an import. At last it says how reviews are erased and
// exported.
//
// # Files
//
// What a program uses, from the package documentation to the rows:
//
//	doc.go, errors.go, caller.go        what is promised, what goes wrong, who calls
//	service.go, session.go              Service, and a Service for one Caller
//	access.go                           the network of a request, and the right to it
//	check.go, import.go, report.go      Check and Import, and the Report of both
//	problem.go, rejects.go, email.go    what is wrong in a file, the lines that have errors, reports without email addresses
//	read.go                             lists and single collections, and ReviewRecord
//	statistics.go                       CollectionRecord, with the mean and the histogram of the ratings
//	export.go, delete.go                Export, Delete
//	rules.go, schema.go, rules.md       the rules, as a list, as a JSON Schema and as a page
//	records.go                          what is stored, as keys and values
//	recordaudit.go, audit.go            what is wrong with what is stored; importold.go reads archives of before
//
// How a file is read, from its bytes to what is stored:
//
//	lines.go, filekind.go               blocks of lines; files that are compressed or no NDJSON
//	pipeline.go, workerbatch.go         the goroutines, and what they send each other
//	window.go, column.go                the part of a line that is in memory, and columns
//	tokens.go, text.go, discard.go      JSON: values, strings, and values that are refused
//	linechecker.go, members.go          the rules of one line: what all objects have in common
//	collectioncheck.go, reviewcheck.go  the members of a collection and of a review
//	parent.go, threads.go               the review that a reply names, in a file and in the store
//	values.go, html.go, timestamp.go,   the values of members
//	address.go, base64.go
//	problemvalue.go                     the text that a problem shows
//	filechecker.go                      the rules that span lines
//	longline.go, tempfile.go, spool.go  lines that are longer than a block
//	gate.go                             how many imports have a large review in memory
//	incoming.go, tally.go               what is stored of a line, and the counts of ratings
//	dimensions.go                       dimensions of a file in the order of the stored ones
//	fingerprint.go, fingerprintset.go   sets of ids that take little memory
//
// # Words
//
//	line        a line of the file. It is long if it does not fit into a block.
//	record      the JSON object of a line: one collection with its reviews. doc.go shows one.
//	collection  the reviews of one article on one site, with a title and dimensions. In the code, mostly its members but reviews.
//	dimensions  the member of a collection that names what its reviews rate, such as price and quality
//	block       whole lines of the file, 512 KiB at most, or the first 512 KiB of a long line
//	worker      a goroutine that checks blocks. Of a sender and its batches, it is also the goroutine of readLong.
//	finding     a Problem, or a lineResult: the counts of a line and, in an import, what is to be stored of it
//	receiver    what gets the findings of a lineChecker, in order: a sender in a worker, the sink in the goroutine of run
//	batch       up to 256 problems and 256 lineResults, which a sender passes to the goroutine of run together
//	sink        the receiver of the findings of all lines: a fileChecker in a check, an importer in an import
//	pending     said of a block that a worker has, until all of its batches were replayed
//	drain       drain(n) replays the batches of the oldest blocks to the sink, until at most n blocks are pending
//	window      the part of a line that is in memory
//	pin         to keep the beginning of a value in the window. A value that the window cannot hold overflows.
//	stepOver    to read a value as JSON, without the rules of the format
//	discard     to read a refused value, looking only for repeated names, U+0000 and halves of surrogate pairs
//	fault       why a line is not JSON, not UTF-8 or nested too deep. The methods that read return broken then, and dropLine
//	            drops the problems of the line that were not handed over yet.
//	deferred    said of reviews that are read when the rest of the collection is known
//	incoming    what is to be stored of a line, or of a part of it: the collection and its accepted reviews
//	part        some of the reviews of a long line, with a lineResult of their own
//	flush       to hand over the problems and the lineResult so far, and begin the next lineResult
//	handled     said of a lineResult that was stored, rejected, or given up after an error. Its memory can be used again then.
//	queue       the results and problems of an importer that wait for the next transaction
//	large       a review of more than 1 MiB, or a collection that is larger than that without its reviews
//	tempFile    the temporary file of a long line. window.tee writes to it. A Spool bounds all of these files together.
//	Gate        bounds how many imports have a large review or collection in memory
//	pass        lets one import into the Gate and out again, and remembers whether it is inside
//
// # A short line in a check
//
//  1. Checker.Problems calls pipeline.run in the goroutine of the caller. lines.next reads a block of whole lines, and
//     workerPool.work gives it to a worker goroutine. A file that is smaller than a block is checked in the goroutine of run.
//  2. lineChecker.block sets the window to one line after the other, and calls read for each. read first calls begin, which
//     resets what is known of the line. Then it calls readRecord.
//  3. readRecord reads the JSON from left to right: readCollection and collectionMember, then reviews, readReview and
//     reviewMember. Each applies the rules of what it reads, and report adds a problem to lineChecker.found.
//  4. If no member dimensions stands before the member reviews, reviewsMember steps over the reviews, and deferredReviews
//     reads them later.
//  5. read ends with flush. The sender of the worker collects the findings of many lines in a batch, and sends it to the
//     goroutine of run.
//  6. There, workerPool.drain replays the batches in the order of the file. fileChecker applies the rules that span lines,
//     puts the problems of each line in order, and yields them.
//
// Memory: up to two blocks more than there are workers, up to three batches for each block, one batch that is replayed, four in
// the batchPool, 256 problems in each lineChecker.found, 1,000 in each of the lists fileChecker.line and fileChecker.early, and
// some 15 bytes for each collection of the file and each review of the line.
//
// # A short line in an import
//
//  1. Service.Import makes a pipeline with forImport set. So a lineChecker also fills an incoming: keepCollection adds a copy of
//     the collection, and keepReview a copy of each accepted review, both in canonical form.
//  2. importer is the sink. Its method result calls fileChecker.count, and adds the incoming to the queue.
//  3. At 1 MiB or 1,000 entries, commit stores the queue in one transaction, in the goroutine that has called Import. The
//     workers go on until their channels are full. Import commits the rest at the end of the file.
//
// # A long line in an import
//
//  1. lines.next returns the first 512 KiB of the line. run drains all blocks before it and calls pipeline.longLine, which
//     starts a goroutine for readLong. The goroutine of run replays the batches of readLong. It reports progress after each
//     batch, and at least every 100 ms.
//  2. readLong sets window.rest to a reader of the rest of the line, from which fill reads on. copyRecord steps over the record,
//     while the window copies it to the tempFile. Only this step reads the record from the client, with at most 1 MiB of it in
//     memory.
//  3. readFrom sets the window to the beginning of the copy. readCollection reads the collection, and defers the reviews.
//  4. deferredReviews flushes the result of the collection, and reads the copy again from the reviews on. When keepReview
//     has 1 MiB of reviews, it flushes them as a part, which the goroutine of run stores meanwhile.
//  5. Before the window grows beyond 1 MiB, it calls beforeLarge, which enters the Gate. keepReview flushes a large review and
//     waits until it was handled. When the window shrinks again, it calls afterLarge, which leaves the Gate. For a large
//     collection, keepField enters the Gate, and the import stays inside until the end of the line.
//  6. read flushes the last part, and waits until that was handled if the import is inside the Gate. Then readLong leaves the
//     Gate. restOfLine.finish reads over what is left of the line, if anything, and moves on to the next line. At last the
//     tempFile is removed.
//
// Memory: a window of 1 MiB and up to four parts of less than 2 MiB each; and while a part is compared with the store, one
// stored review at a time, and the ids of the ancestors of reviews that get another parent. In the Gate: a window of 16 MiB +
// 64 KiB, copies of the id and the parent_id in it, and 16 MiB of a collection. A check needs no Gate: its window may grow so far
// at any time. It copies only deferred reviews to the tempFile.
//
// Between two parts of a line, other transactions may run. A Delete may erase the parent of a reply that is in a later part, and
// another import may make that parent a reply to it. So before a part is stored, incoming.lostParents looks whether the parents
// of its replies are still there, and an ancestry whether a reply would close a circle.
//
// # Reviews of an author in Delete
//
//  1. eraser.find looks through the collections in a View, 1,000 rows at a time, and reads their reviews. A View keeps no writer
//     waiting, however long this takes. It ends at the collection with which 1,000 reviews of the author were found.
//  2. eraser.eraseFound erases these in one Update. It asks each review again whether it is the author's, since an import may
//     have replaced it meanwhile.
//  3. eraser.erase subtracts the ratings from the tally. reparent looks for replies to what is erased, and gives them another
//     parent.
//  4. All of this is repeated after that collection, until there are no more. The error of an Update ends Delete; what the
//     Updates before it have erased stays erased, and is counted.
//  5. Store.Scrub removes what is left of the erased rows in the files of the store.
//
// A dry run takes the same steps in Views, with a View.
//
// # A collection in Export
//
//  1. Export opens one View, which is one moment of the network, and writes a line for each collection.
//  2. exportCollection writes the stored bytes of the collection and of its reviews, with brackets and commas around them.
//     Nothing is decoded, except the reviews that are replies.
//  3. exporter.add lets a reply wait if its parent comes later in the store. Only its id is kept, and the review is read again.
//
// Memory: one review, a buffer of 64 KiB, some 15 bytes for each review of the collection, and the ids of replies that wait.
