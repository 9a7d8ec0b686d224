package main

import (
	"context"
	"log/slog"
	"time"
)

// chore is work that serve does again and again beside answering requests, first when it starts.
type chore struct {
	name  string
	every time.Duration
	do    func(context.Context) error
}

// choresEvery is how often the loop looks for chores that are due. A scheduled release is run within 2 s of its time.
const choresEvery = 500 * time.Millisecond

// doChores does chores one after the other in a goroutine, until the function that it returns is called. A failure is logged when it begins,
// and the chore is done again at its next turn.
func doChores(ctx context.Context, log *slog.Logger, chores ...chore) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		next, failing := make([]time.Time, len(chores)), make([]bool, len(chores))
		for ctx.Err() == nil {
			for i, c := range chores {
				if time.Now().Before(next[i]) {
					continue
				}
				next[i] = time.Now().Add(c.every)
				err := c.do(ctx)
				if err != nil && !failing[i] && ctx.Err() == nil {
					log.Warn("this is tried again", "what", c.name, "cause", err.Error())
				}
				failing[i] = err != nil
			}
			select {
			case <-ctx.Done():
			case <-time.After(choresEvery):
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
