// Package powerloss shows that an update which was acknowledged survives the loss of power at any
// moment, whatever the machine had not written yet.
//
// A plain kill cannot show this, since the kernel keeps what a dead process wrote. So the SQLite
// driver runs under strace, which records every write and every sync in their order, and, in the
// same order, a mark for each acknowledgement. From that record disks are made, as they may be
// after a loss of power between two calls: what was synced is there; of what was not, nothing is
// there, or all, or some writes, some pages, some sectors, or a write in part. Names in the
// directory count as lost until the directory was synced. Each disk must open, hold every update
// acknowledged before that moment and nothing in part.
//
// Two controls, the same driver with synchronous=NORMAL and synchronous=OFF, must lose updates.
// They are built with that line of the source replaced; the driver itself has no such switch.
//
// The long form, which prints its figures (strace must be there):
//
//	go test -tags proof ./internal/proof/powerloss -v -timeout 0 -args -images 100000
package powerloss
