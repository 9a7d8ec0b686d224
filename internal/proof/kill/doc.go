// Package kill shows that a killed server loses nothing that it has acknowledged: whatever a client
// was answered is there when the store is opened again, nothing is there in part, and the store is
// whole.
//
// The example server runs on a SQLite file. Writers change apps, tags and assets over HTTP at the
// same time, while another process imports reviews into the same file. At a random moment both are
// killed (SIGKILL). Then the invariants of the file are checked: an integrity check, versions without gaps, tags that point
// to versions, an index of assets equal to the assets. The next server on the file is compared with the responses that each
// writer got. A write without a response may be there as a whole or not at all.
//
// A control shows that the tests detect a loss: a server that acknowledges before it commits must fail them.
//
// The long form, which prints its figures:
//
//	go test -tags proof ./internal/proof/kill -v -timeout 0 -args -kills 10000
package kill
