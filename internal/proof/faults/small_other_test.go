//go:build proof && !linux

package faults

import "errors"

var errNoMount = errors.New("file systems are mounted on Linux only")

func onSmallDisk(string) error { return errNoMount }
func onFixedDisk(string) error { return errNoMount }
