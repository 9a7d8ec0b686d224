//go:build proof && linux

package hygiene

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// room is how many connections the shortened server has room for.
const room = 200

// flood opens idle connections of three kinds, and keeps them open until the test of it returns.
func (s *server) flood(n int, test func() error) error {
	open := make([]*client, n)
	var all sync.WaitGroup
	const hands = 10
	errs := make([]error, hands)
	for hand := range hands {
		all.Go(func() {
			for i := hand; i < n && errs[hand] == nil; i += hands {
				open[i], errs[hand] = s.dial()
				if errs[hand] != nil {
					return
				}
				switch i % 3 {
				case 1: // some headers
					_, _ = io.WriteString(open[i], "GET /healthz HTTP/1.1\r\nHost: x\r\n")
				case 2: // a request, and then nothing
					_, _ = io.WriteString(open[i], "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
				}
			}
		})
	}
	all.Wait()
	defer func() {
		for _, c := range open {
			if c != nil {
				c.Close()
			}
		}
	}()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return test()
}

func idleFlood(s *server) error {
	end, err := s.uploading() // a request that is under way all the time
	if err != nil {
		return err
	}
	defer end()
	return s.flood(5*room, func() error {
		for range 10 {
			if err := s.alive(); err != nil {
				return fmt.Errorf("in a flood: %w", err)
			}
			if n, _, err := s.descriptors(); err != nil || n > room+10 {
				return fmt.Errorf("%d sockets are open, with room for %d connections; %v", n, room, err)
			}
		}
		if err := end(); err != nil {
			return fmt.Errorf("a request that was under way in a flood: %w", err)
		}
		return nil
	})
}

func fewDescriptors(s *server) error {
	return s.flood(400, func() error {
		for range 10 {
			if err := s.alive(); err != nil {
				return fmt.Errorf("in a flood: %w", err)
			}
		}
		if log := s.Log(); strings.Contains(log, "too many open files") {
			return fmt.Errorf("descriptors ran out: %.2000s", log)
		}
		return nil
	})
}
