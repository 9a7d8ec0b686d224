package reviews

// This page follows three lines through the code, and then defines the words that the code uses.
//
// # A short line in a check
//
//  1. Checker.Problems calls pipeline.run in the goroutine of the caller. lines.next reads a block of whole lines, and
//     crew.work gives it to a worker goroutine. A file that is smaller than a block is checked in the goroutine of run.
//  2. lineChecker.block sets the window to one line after the other, and calls read. read calls begin, which resets what is
//     known of the line, and then readRecord.
//  3. readRecord reads the JSON from left to right: readCollection and collectionMember, then reviews, readReview and
//     reviewMember. Each applies the rules of what it reads, and report adds a problem to lineChecker.found.
//  4. If the reviews stand before dimensions, reviewsMember steps over them, and deferredReviews reads them later.
//  5. read ends with flush. A sender collects the findings of many lines in a batch, and sends it to the goroutine of run.
//  6. There, crew.drain replays the batches in the order of the file. fileChecker applies the rules that span lines, puts
//     the problems of each line in order, and yields them.
//
// Memory: up to two blocks more than there are workers, up to three batches for each block, 256 problems in each found,
// 1,000 in each list of fileChecker, and some 15 bytes for each collection of the file and each review of the line.
//
// # A short line in an import
//
//  1. Service.Import makes a pipeline with load set. So lineChecker also fills an incoming: takeCollection adds a copy of
//     the collection, and keepReview of each accepted review, in canonical form.
//  2. importer is the sink. Its method result calls fileChecker.count, and adds the incoming to the queue.
//  3. At 1 MiB or 1,000 entries, commit stores the queue in one transaction, in the goroutine that has called Import. The
//     workers go on until their channels are full. Import commits the rest at the end of the file.
//
// # A line that is longer than a block, in an import
//
//  1. lines.next returns the first 512 KiB of the line. run drains all blocks before it and calls pipeline.longLine, which
//     starts a goroutine for readLong. The goroutine of run replays its batches, and reports progress about every 100 ms.
//  2. readLong sets window.rest, from which fill reads on. copyRecord steps over the record, and the window copies it to the
//     spool. Only this step reads the record from the client, with at most 1 MiB of it in memory.
//  3. readFrom sets the window to the beginning of the copy. readCollection reads the collection, and defers the reviews.
//  4. deferredReviews flushes the result of the collection, and reads the copy again from the reviews on. When keepReview
//     has 1 MiB of reviews, it flushes them as a part, which the goroutine of run stores meanwhile.
//  5. Before the window grows beyond 1 MiB, it calls admit, which enters the Gate. keepReview settles a large review. When
//     the window has read it and shrinks, it calls shed, which leaves the Gate. For a large collection, takeField enters the
//     Gate, and the import stays inside until the end of the line.
//  6. read flushes the last part, or settles it if the import is inside the Gate. Then readLong leaves the Gate. If the JSON
//     is wrong, restOfLine.finish reads over the rest of the line. In the end the spool is removed.
//
// Memory: a window of 1 MiB and up to four parts of less than 2 MiB. In the Gate: a window of 16 MiB and 64 KiB, and 16 MiB
// of a collection. A check has the large window without a Gate, and copies only reviews before dimensions to the spool.
//
//	block     whole lines of the file, or the first 512 KiB of a longer line
//	finding   a Problem or a lineResult. A batch has up to 256 of each. The sink gets them: fileChecker or importer.
//	drain     to replay the batches of the oldest blocks until at most n blocks are pending
//	window    the part of a line that is in memory
//	pin       to keep the beginning of a value in the window. A value that the window cannot hold overflows.
//	stepOver  to read a value as JSON, without the rules of the format. discard reads a refused value, with three rules.
//	fault     why a line is not JSON, not UTF-8 or too deep. The verdict is broken then, and dropLine drops other problems.
//	deferred  reviews that are read when the rest of the collection is known
//	part      some reviews of a long line, with a lineResult of their own
//	flush     to hand over the problems and the lineResult so far, and begin the next lineResult
//	settle    to flush, and wait until the result is stored or refused, so that its memory can be used again
//	spool     the temporary file of a long line, and window.tee its writer. A Spool bounds all spools together.
//	queue     the results and problems of an importer that wait for the next transaction
//	large     a review of more than 1 MiB, or a collection that is larger than that without its reviews
//	Gate      bounds how many imports have a large review or collection in memory. A pass is the place of one of them.
