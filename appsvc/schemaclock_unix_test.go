//go:build unix

package appsvc

import (
	"syscall"
	"time"
)

// spent is the processor time that this process has used. Unlike the time of day it does not run
// while others use the machine.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
