// Package memory keeps everything in the process's memory: for tests, for trying things out, and
// for embedders whose data may end with the process.
//
// A store is a value of immutable trees behind one atomic pointer. A View reads the trees it finds
// there, without a lock, for as long as it likes; an Update builds new trees beside them and puts
// them in place when it is done. Writers wait for one another, readers for nobody.
package memory
