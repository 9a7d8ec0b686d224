package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vitrine-go/vitrine/storage"
)

// tells lets a follower read a log that another goroutine writes, perhaps through another opening. The follower reads
// only when a channel of Changed was closed.
func tells(follower, writer storage.Store) error {
	const n = 40
	written := make(chan error, 1)
	go func() {
		for i := range n {
			if err := fill(writer, fmt.Sprintf("tells log/%02d", i), ""); err != nil {
				written <- err
				return
			}
			if i%8 == 0 {
				time.Sleep(time.Millisecond) // so that the follower waits now and then
			}
		}
		written <- nil
	}()
	for seen := 0; seen < n; {
		changed := follower.Changed("tells")
		err := follower.View(ctx, func(r storage.Reader) error {
			log, err := scanned(r, storage.Prefix("tells log/"))
			if count := len(log) / 2; err == nil && count < seen {
				err = fmt.Errorf("a follower sees %d entries after it has seen %d", count, seen)
			}
			seen = len(log) / 2
			return err
		})
		if err != nil {
			return err
		}
		if seen < n {
			if _, told := comes(changed); !told {
				return fmt.Errorf("nobody has told a follower of %d entries of %d", n-seen, n)
			}
		}
	}
	return <-written
}

func changedBelow(s storage.Store) error {
	all, below, same := s.Changed(""), s.Changed("assets/n/"), s.Changed("assets/n/l")
	if err := fill(s, "assets/n/l 1", ""); err != nil {
		return err
	}
	for prefix, c := range map[string]<-chan struct{}{"": all, "assets/n/": below, "assets/n/l": same} {
		if _, told := comes(c); !told {
			return fmt.Errorf("an update of assets/n/l does not close the channel of %q", prefix)
		}
	}
	return nil
}

func endedContext(s storage.Store) error {
	if err := fill(s, "a 1", ""); err != nil {
		return err
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	called := func() error { return errors.New("a function is called though the context has ended") }
	view := s.View(over, func(storage.Reader) error { return called() })
	write := s.Update(over, "a", storage.UpdateOptions{}, func(storage.Tx) error { return called() })
	if !errors.Is(view, context.Canceled) || !errors.Is(write, context.Canceled) {
		return fmt.Errorf("calls with a context that has ended return %v and %v", view, write)
	}
	// One that waits for another update of its space goes on when its context ends.
	waiting, giveUp := context.WithCancel(ctx)
	defer giveUp()
	err := update(s, "a", func(storage.Tx) error {
		given := make(chan error, 1)
		go func() {
			given <- s.Update(waiting, "a", storage.UpdateOptions{Large: true}, func(storage.Tx) error {
				return called()
			})
		}()
		time.Sleep(10 * time.Millisecond)
		giveUp()
		if err, ended := comes(given); !ended || !errors.Is(err, context.Canceled) {
			return fmt.Errorf("an update that waits for another one when its context ends returns: %t; %v", ended, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = s.View(ctx, func(r storage.Reader) error {
		_, get := r.Get(over, "a 1")
		var scan error
		for _, scan = range r.Scan(over, storage.Range{}) {
		}
		if get == nil || scan == nil {
			return errors.New("reads go on though their context has ended")
		}
		return nil
	})
	return errors.Join(err, contains(s, "a 1", ""))
}

func closing(s storage.Store) error {
	changed := s.Changed("")
	began, closed := make(chan struct{}), make(chan error, 1)
	go func() {
		<-began
		closed <- s.Close()
	}()
	err := update(s, "a", func(t storage.Tx) error {
		close(began)
		select {
		case err := <-closed:
			closed <- err
			return errors.New("the call of Close does not wait for an update")
		case <-time.After(20 * time.Millisecond):
		}
		return t.Put(ctx, storage.Entry{Key: "a 1"})
	})
	if err := errors.Join(err, <-closed); err != nil {
		return err
	}
	for _, c := range []<-chan struct{}{changed, s.Changed("later")} {
		select {
		case <-c:
		default:
			return errors.New("a channel of Changed is open after Close")
		}
	}
	called := func() error { return errors.New("a function is called after Close") }
	view, write := s.View(ctx, func(storage.Reader) error { return called() }),
		update(s, "a", func(storage.Tx) error { return called() })
	if !errors.Is(view, storage.ErrClosed) || !errors.Is(write, storage.ErrClosed) {
		return fmt.Errorf("after Close, calls return %v and %v", view, write)
	}
	return s.Close()
}
