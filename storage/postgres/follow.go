package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// lookEvery is how often the store looks for commits of other processes, while somebody waits for one. It compares the
// numbers of the spaces, which works on a primary, on a standby and behind a pooler. NOTIFY would be faster, but it
// serializes the commits of all spaces, and works neither on a standby nor behind a pooler.
const lookEvery = 250 * time.Millisecond

// Changed notices commits of this process at once, and polls for those of others.
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
		return // the next look tries again
	}
	for space, n := range now {
		if n != s.seen[space] {
			s.bells.Ring(space)
		}
	}
	s.seen = now
}
