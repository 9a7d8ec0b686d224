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

// atHangup reads everything in all again at each SIGHUP, until stop is called. One that takes long delays no other, since each
// has a goroutine and a channel of its own.
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

// again reads it again. What cannot be read stays as it was, and the reason is logged.
func (r reload) again(log *slog.Logger) {
	if err := r.read(); err != nil {
		log.Error("SIGHUP: "+r.what+" stay as they were", "cause", err.Error())
	} else {
		log.Info("SIGHUP: " + r.what + " were read again")
	}
}
