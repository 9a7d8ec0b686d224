package main

import (
	"context"
	"sync"
	"time"
)

// repeat calls do in a goroutine, at once and then at this interval, until stop is called. what names the work in the
// log. The first of several failures in a row is logged, and do is called again at its next time.
func (s *server) repeat(
	ctx context.Context, every time.Duration, what string, do func(context.Context) error,
) (stop func()) {
	return beside(ctx, func(ctx context.Context) {
		failing := false
		for ctx.Err() == nil {
			err := do(ctx)
			if err != nil && !failing && ctx.Err() == nil {
				s.log.Warn("this is tried again", "what", what, "cause", err.Error())
			}
			failing = err != nil
			select {
			case <-ctx.Done():
			case <-time.After(every):
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
