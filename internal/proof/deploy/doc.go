// Package deploy proves that the files of examples/deploy do what its README says, and that the README can be followed.
//
// nginx, Caddy and HAProxy are started with the files as they are, but for addresses and places; through each of them
// every request gets the answer that it gets without a proxy, byte by byte, events come at once and go on coming after
// a long silence, and no write is sent twice. The commands of the README run, in their order, on a machine of their own: a
// root directory without Go, with its own network, processes and mounts, in which a small stand-in for systemd starts
// what the units say. There a store of the first release is upgraded and keys are changed under load.
// The units are judged by systemd-analyze, and the program makes no system call that they forbid. The image of the
// container is tried as a tree that nobody can write.
//
// These tests need Linux, the programs that they try and, for machines of their own, root. What needs something that is not there is
// skipped; where VITRINE_CI is set it fails.
//
// The long form keeps a stream idle for as long as one likes, with the timeouts as they are in the files:
//
//	go test ./internal/proof/deploy -run Idle -idle 70s
package deploy
