//go:build unix

package main

import (
	"math"
	"syscall"
)

// descriptors is how many files and connections the system lets this process have.
func descriptors() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}
