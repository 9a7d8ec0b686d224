// Package memory keeps everything in the process's memory. It is for tests, for first steps, and for programs
// whose data may end with the process.
//
// The state of a store is a set of immutable trees behind an atomic pointer. A View loads the pointer and reads these
// trees without a lock. An Update builds changed trees, which share most nodes with the old ones, and stores the
// new pointer when it is committed. There is such a pointer for all apps, one for all libraries of assets, and one for the
// reviews of each network. Updates that change the same pointer wait for each other; Views wait for nothing.
//
// This is the smallest complete driver, so it is also an example for the author of another one.
package memory
