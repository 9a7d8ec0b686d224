package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// A group runs updates of a space in one transaction. It calls their functions one after the other; each sees the
// writes of those before it. If a function reads data that the group does not have, the group notes what is missing,
// and the call fails with errAgain. When all have been called, the group reads the missing data in one round trip, the
// first time together with the lock of the space, and calls those functions again. At last it sends all writes and the
// COMMIT in another round trip.
//
// The writes of a function that fails or panics are discarded. A function that writes too much, or needs too many round
// trips, gets a transaction of its own.
type group struct {
	all   *overlay // the writes of the functions that are done
	found map[string][]byte
	read  map[ask]portion

	// The missing data.
	keys     map[string]bool
	portions map[ask]*portion
}

const (
	maxMembers = 32      // of a group
	maxTrips   = 16      // of a group
	groupBytes = 1 << 20 // that an update in a group may write
)

var (
	errAgain = errors.New("postgres: the update needs more from the server; its function is called again")
	errAlone = errors.New("postgres: the update needs a transaction of its own; its function is called again")
)

// run calls the functions of members.
func (g *group) run(se *session, members []*member) error {
	for trips := 0; len(members) > 0; trips++ {
		if trips > 0 {
			if err := g.fill(se); err != nil {
				return err
			}
		}
		var again []*member
		for _, m := range members {
			c := &call{group: g}
			t := &tx{reader: reader{c, newOverlay()}, most: groupBytes}
			t.full = func(context.Context) error {
				c.failed = errAlone
				return errAlone
			}
			t.sql = func() (pgx.Tx, error) { return nil, t.full(context.Background()) }
			m.result = m.call(t)
			switch {
			case m.result == errGone:
			case c.failed == errAgain && trips < maxTrips:
				again = append(again, m)
			case c.failed != nil:
				m.result = errAlone
			case m.result == nil:
				g.all.add(t.own)
			}
		}
		members = again
	}
	return nil
}

// fill reads the missing data.
func (g *group) fill(se *session) error {
	var keys []string
	for key := range g.keys {
		g.found[key] = nil
		keys = append(keys, key)
	}
	var portions []*portion
	for _, p := range g.portions {
		portions = append(portions, p)
	}
	if err := se.fetch(context.Background(), keys, g.found, portions); err != nil {
		return err
	}
	for _, p := range portions {
		g.read[p.ask] = *p
	}
	clear(g.keys)
	clear(g.portions)
	return nil
}

// call is one call of a function in a group. It is the source from which the function reads.
type call struct {
	*group
	failed error // errAgain or errAlone; then this call has no effect
}

func (c *call) fetch(ctx context.Context, keys []string, found map[string][]byte, portions []*portion) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, key := range keys {
		value, known := c.all.get(key)
		if !known {
			value, known = c.found[key]
		}
		if found[key] = value; !known {
			c.keys[key] = true
			c.failed = errAgain
		}
	}
	for _, p := range portions {
		if read, known := c.read[p.ask]; known {
			*p = c.all.over(read)
		} else {
			c.group.portions[p.ask] = &portion{ask: p.ask}
			c.failed = errAgain
		}
	}
	return c.failed
}

// query fails: a group runs no query for one function.
func (c *call) query(context.Context, stmt) error {
	c.failed = errAlone
	return errAlone
}
