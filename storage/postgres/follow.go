package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// lookEvery is how often the store looks for commits of other processes, while somebody waits for one. The numbers of the spaces tell,
// on a primary, on a standby and behind a pooler. NOTIFY would be faster, but it lets one commit after the other of all spaces wait for
// the disk, and works on neither of the last two.
const lookEvery = 250 * time.Millisecond

// Changed is told of commits of this process at once, and of those of others by looking for them.
func (s *store) Changed(prefix string) <-chan struct{} {
	c := s.bells.Changed(prefix)
	s.bells.Watch(lookEvery, s.look)
	return c
}

// look rings the bells of the spaces whose numbers have changed since the last look.
func (s *store) look() {
	ctx, cancel := context.WithTimeout(s.closing, s.busy)
	defer cancel()
	now := map[string]int64{}
	err := s.ask(ctx, stmt{sql: "SELECT name, number FROM vitrine_space", take: func(rows pgx.Rows) error {
		var name []byte
		var number int64
		_, err := pgx.ForEachRow(rows, []any{&name, &number}, func() error {
			now[string(name)] = number
			return nil
		})
		return err
	}})
	if err != nil {
		return // the next look finds what this one has not
	}
	for space, n := range now {
		if n != s.seen[space] {
			s.bells.Ring(space)
		}
	}
	s.seen = now
}
