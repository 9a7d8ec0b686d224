// Package linear shows that the app service is linearizable: every operation takes effect at one
// moment between its call and its answer, whoever asks and whichever process answers.
//
// Clients patch, restore, tag and read two apps at the same time. What they were answered is a history, and porcupine
// looks for an order of the operations that explains all of it by the sequential model in model_test.go, in which a
// write of unknown outcome takes effect once between its call and its return, or never. A history that it cannot decide
// in time counts as a failure. The service runs in memory, in SQLite, and in several openings of one SQLite file or of
// one PostgreSQL database, as several processes have them. What a kill may do is in package crash.
//
// A follower reads the feed of changes during every history. It must get each change once, in the order in which they
// were made, and nothing else. Histories of an asset library need no porcupine, since the feed gives the order of the
// changes: the answer to each change must follow from the changes before it in the feed, and the answer to each read
// from the state of the library at some moment between its call and its answer.
//
// The long form prints its figures:
//
//	go test -tags proof ./internal/proof/linear -run Histories -v -timeout 0 \
//		-args -memory 1000000 -sqlite 20000 -shared 20000
package linear
