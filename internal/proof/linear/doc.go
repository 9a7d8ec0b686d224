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
// A follower of the feed of changes goes along with every history in a process. What it meets must be the order of the
// changes: each once, none that was not made. Clients of a library of assets are checked by the feed alone: every answer
// must follow from the changes before it in the feed, and so must every read for one moment between its call
// and its answer.
//
// That the histories can tell is shown by mutants: real lines of the source, changed for the worse
// one at a time (mutants_test.go). Each must be caught.
//
// The long form, which prints its figures:
//
//	go test ./internal/proof/linear -v -timeout 0 -args -memory 1000000 -sqlite 20000 -shared 20000 -http 20000
package linear
