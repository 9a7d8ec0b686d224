package sqlite

import "time"

// pollEvery is how often the store looks for commits of other processes, while somebody waits for one.
const pollEvery = 100 * time.Millisecond

// Changed is told of commits of this process at once, and of those of others by a goroutine that looks for them. The goroutine runs
// while somebody waits.
func (s *store) Changed(prefix string) <-chan struct{} {
	changed := s.Bells.Changed(prefix)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.polling && !s.closed {
		s.polling = true
		s.polls.Go(s.poll)
	}
	return changed
}

func (s *store) poll() {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for s.awaited() {
		select {
		case <-tick.C:
			s.writer.lookForOthers()
		case <-s.closing:
			return
		}
	}
}

// awaited reports whether somebody waits for a change. If not, the next one who does starts another goroutine.
func (s *store) awaited() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.polling = s.Bells.Awaited()
	return s.polling
}
