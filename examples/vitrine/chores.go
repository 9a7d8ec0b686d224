package main

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// chore is work that serve repeats in the background, first when it starts.
type chore struct {
	name  string
	every time.Duration
	do    func(context.Context) error
}

// dueEvery is how often releases that are due are run.
const dueEvery = 500 * time.Millisecond

// start runs the chore in a goroutine, until stop is called. The first of several failures in a row is logged, and the chore runs again
// at its next time.
func (c chore) start(ctx context.Context, log *slog.Logger) (stop func()) {
	return beside(ctx, func(ctx context.Context) {
		failing := false
		for ctx.Err() == nil {
			err := c.do(ctx)
			if err != nil && !failing && ctx.Err() == nil {
				log.Warn("this is tried again", "what", c.name, "cause", err.Error())
			}
			failing = err != nil
			select {
			case <-ctx.Done():
			case <-time.After(c.every):
			}
		}
	})
}

// beside calls fn in a goroutine. stop cancels the context of fn and waits until it has returned.
func beside(ctx context.Context, fn func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { fn(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}
