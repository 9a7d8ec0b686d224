//go:build unix

package program

import "syscall"

// apart is a group of processes of its own, which a Ctrl-C does not reach.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
