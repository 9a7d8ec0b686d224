package main

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// chore is work that serve does again and again beside answering requests, first when it starts.
type chore struct {
	name  string
	every time.Duration
	do    func(context.Context) error
}

// dueEvery is how often the releases whose time has come are run.
const dueEvery = 500 * time.Millisecond

// start does the chore in a goroutine, until stop is called. A failure is logged when it begins, and the chore is done again at its next turn.
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

// beside calls fn in a goroutine. stop ends the context of fn and waits until it has returned.
func beside(ctx context.Context, fn func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { fn(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}
