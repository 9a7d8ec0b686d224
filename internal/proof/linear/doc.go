// Package linear shows that the app service is linearizable: every operation takes effect at one
// moment between its call and its answer, whoever asks, whichever process answers, and whenever a
// process is killed.
//
// Clients patch, restore, tag and read two apps at the same time. What they were answered is a
// history, and porcupine looks for an order of the operations that explains all of it by the
// sequential model in internal/proof/appmodel. A history that it cannot decide in time counts as a failure.
// The service runs in memory, in SQLite, in two openings of one SQLite file (as two processes have
// it) and as the example server over HTTP, where the process is killed meanwhile: an operation
// without an answer may have taken effect or not.
//
// In one process a follower reads the feed of changes during every history. It must get each change once, in the order in
// which they were made, and nothing else. Histories of an asset library need no porcupine, since the feed gives the order
// of the changes: the answer to each change must follow from the changes before it in the feed, and the answer to each
// read from the state of the library at some moment between its call and its answer.
//
// Mutants show that the tests detect errors (mutants_test.go): each changes a line of the source for the worse,
// and the tests must fail for each.
//
// The long form, which prints its figures:
//
//	go test -tags proof ./internal/proof/linear -v -timeout 0 -args -memory 1000000 -sqlite 20000 -shared 20000 -http 20000
package linear
