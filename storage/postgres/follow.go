package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// An update of this process rings the bells after its commit. While somebody waits, a goroutine looks at the numbers of the spaces, and
// rings those whose number has changed: another process has committed. That is the same on a primary, on a standby and behind
// a pooler. NOTIFY would be faster, but it lets one commit after the other of all spaces wait for the disk, and works on neither of the
// last two.
const (
	lookEvery = 250 * time.Millisecond
	lookOn    = 5 * time.Second // how long the goroutine goes on after nobody waits any more
	ringEvery = time.Minute     // how often it rings all bells, since those who have given up waiting do not say so
)

func (s *store) Changed(prefix string) <-chan struct{} {
	c := s.bells.Changed(prefix)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Err() == nil && !s.looking {
		s.looking = true
		s.looks.Go(s.look)
	}
	return c
}

// look rings the bells of changed spaces. It returns some time after nobody waits any more, and when the store is closed.
func (s *store) look() {
	var before map[string]int64
	last, rung := time.Now(), time.Now()
	for {
		now, err := s.numbers(s.closing)
		switch {
		case err != nil: // the next look finds what this one has not
		case before == nil || time.Since(rung) > ringEvery: // nobody knows what was committed before the first look
			s.bells.RingAll()
			before, rung = now, time.Now()
		default:
			for space, n := range now {
				if n != before[space] {
					s.bells.Ring(space)
				}
			}
			before = now
		}
		select {
		case <-time.After(lookEvery):
		case <-s.closing.Done():
			return
		}
		s.mu.Lock()
		if s.bells.Awaited() {
			last = time.Now()
		}
		if s.looking = time.Since(last) < lookOn; !s.looking {
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
	}
}

// numbers returns the number of each space.
func (s *store) numbers(ctx context.Context) (map[string]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, s.busy)
	defer cancel()
	all := map[string]int64{}
	return all, s.ask(ctx, stmt{sql: "SELECT name, number FROM vitrine_space", take: func(rows pgx.Rows) error {
		var name []byte
		var number int64
		_, err := pgx.ForEachRow(rows, []any{&name, &number}, func() error {
			all[string(name)] = number
			return nil
		})
		return err
	}})
}
