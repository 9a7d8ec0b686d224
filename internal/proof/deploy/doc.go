// Package deploy proves that the files of examples/deploy do what its README says, and that the README can be followed.
//
// nginx, Caddy and HAProxy are started with the files as they are, except for addresses and directories. Through each
// of them every request must get the same answer as without a proxy, byte by byte; events must arrive at once, also
// after a long silence; and no write may be sent twice. The commands of the README run, in their order, as on a machine
// of their own: in a root directory without Go, with its own network, processes and mounts, and with scripts for
// systemctl, sudo and podman. The files of examples/deploy/postgres are read; the cluster that they describe is not
// started. systemd-analyze judges the units, and the program must make no system call that they forbid. The image of
// the container is tried as a directory tree that cannot be written.
//
// These tests need Linux, the programs that they try and, for a root directory of their own, root. A test that lacks
// one of these is skipped or, if VITRINE_CI is set, fails.
//
// The long form keeps a stream idle for as long as one likes, with the timeouts as they are in the files:
//
//	go test -tags proof ./internal/proof/deploy -run Idle -idle 70s
package deploy
