package main

import (
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

// reload is something that is read again at SIGHUP.
type reload struct {
	what string       // in the log, such as "the keys"
	read func() error // an error changes nothing
}

// atHangup reads everything in all again at each SIGHUP, until stop is called. What cannot be read stays as it was, and
// the reason is logged.
func atHangup(log *slog.Logger, all []reload) (stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			for _, r := range all {
				if err := r.read(); err != nil {
					log.Error("SIGHUP: "+r.what+" stay as they were", "cause", err.Error())
				} else {
					log.Info("SIGHUP: " + r.what + " were read again")
				}
			}
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
	}
}
