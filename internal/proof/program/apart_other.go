//go:build !unix

package program

import "syscall"

func apart() *syscall.SysProcAttr { return nil }
