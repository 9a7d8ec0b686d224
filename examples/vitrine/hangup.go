package main

import (
	"os"
	"os/signal"
	"syscall"
)

// reload calls read at each SIGHUP, until stop is called, in a goroutine of its own, so that a file that is slow to
// read delays no other. what names what is read, such as "keys". An error of read is logged; it has changed nothing.
func (s *server) reload(what string, read func() error) (stop func()) {
	failed := s.figures.reloads.WithLabelValues(what)
	hangups := make(chan os.Signal, 1) // however many signals come during a read, one more read follows
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			err := read()
			failed.Set(oneIf(err != nil))
			if err != nil {
				s.log.Error("SIGHUP: the "+what+" stay as they were", "cause", withUser(err))
			} else {
				s.log.Info("SIGHUP: the " + what + " were read again")
			}
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
	}
}
