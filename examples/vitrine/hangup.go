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

// atHangup runs all reloads at each SIGHUP, until stop is called. Each has a goroutine and a channel of its own, so that a slow one
// delays no other.
func atHangup(log *slog.Logger, all []reload) (stop func()) {
	var channels []chan os.Signal
	for _, r := range all {
		hangups := make(chan os.Signal, 1) // however many signals come during a read, one more read follows
		signal.Notify(hangups, syscall.SIGHUP)
		channels = append(channels, hangups)
		go func() {
			for range hangups {
				r.again(log)
			}
		}()
	}
	return func() {
		for _, hangups := range channels {
			signal.Stop(hangups)
			close(hangups)
		}
	}
}

// again reads it again. An error is logged, and the old value stays.
func (r reload) again(log *slog.Logger) {
	if err := r.read(); err != nil {
		log.Error("SIGHUP: "+r.what+" stay as they were", "cause", err.Error())
	} else {
		log.Info("SIGHUP: " + r.what + " were read again")
	}
}
