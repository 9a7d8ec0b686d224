package postgres

import (
	"context"
	"errors"
)

// A group runs updates of a space in one transaction. Their functions are called one after the other, each over what those before it
// have written. What a function wants to read and the group has not is noted, and its call fails with errAgain. When all have been
// called, the group reads what is missing in one trip, the first time together with the lock of the space, and calls those functions
// again. So the functions of a group that read the same way take one trip together. At last everything is written with the COMMIT, in
// another trip.
//
// A function that fails or panics leaves nothing. One that writes too much, or needs too many trips, gets a transaction of its own.
type group struct {
	all   *overlay // what the functions have written that are done
	found map[string][]byte
	read  map[ask]portion

	// What is missing.
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

// fill reads what is missing.
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

// call is one call of a function in a group. It is the source of what the function reads.
type call struct {
	*group
	failed error // errAgain or errAlone; then nothing of this call counts
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

// query is not for groups.
func (c *call) query(context.Context, stmt) error {
	c.failed = errAlone
	return errAlone
}
